"""A run of whole CoNLL sentences as bytes and arrays, and how it comes out of a stream of bytes.

:class:`ConllBlock` is what the fast readers work on: nothing in it is a Python object per word.
:class:`BlockScanner` cuts a stream into such blocks and says what is wrong with a bad sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wordkit._kernels import conll_scan as kernel
from wordkit._kernels.span_text import join_spans
from wordkit.errors import DataError
from wordkit.tally import Tally

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_ALIASES = {
    "cpos": "upos",
    "cpostag": "upos",
    "pos": "xpos",
    "postag": "xpos",
    "phead": "deps",
    "pdeprel": "misc",
}
POLICIES = {"none": kernel.SKIP_HEADS, "any": kernel.PARSE_HEADS, "tree": kernel.TREE_HEADS}
_LARGEST_BLOCK = 0x7FFFFFFF
_LINES_FOR_WIDTH = 100


def column_index(name: str) -> int:
    """Where a column stands, from 0; CoNLL-X names (cpos, pos, phead, pdeprel) are accepted.

    Raises:
        ValueError: no such column.
    """
    name = name.lower()
    try:
        return COLUMNS.index(_ALIASES.get(name, name))
    except ValueError:
        raise ValueError(f"no column {name!r}; there are {', '.join(COLUMNS)}") from None


class ConllBlock:
    """Whole sentences: their bytes, where fields lie in them, heads. All positions are bytes of ``data``.

    For T words, S sentences and O other lines:

    ``data``: the bytes; ``width``: fields a line; ``columns``: names of the columns whose fields were looked
    for. ``heads``: (T,) int32, from 1 in each sentence, 0 the root, -1 for `_`; None where they were not
    read. ``offsets``: (S + 1,) int32, first word of each sentence. ``lines``: (T,) int64 line numbers of the
    input, from 1. ``sentence_spans``: (2, S) int32, bytes of each sentence with its comments.
    ``sentence_lines``: (S,) int64. ``other_kinds``, ``other_starts``: (O,) int32, comments (1), ranges (2)
    and empty nodes (3).
    """

    __slots__ = (
        "_bounds",
        "_first_line",
        "_others",
        "_sentences",
        "_texts",
        "_tokens",
        "columns",
        "data",
        "heads",
        "width",
    )

    def __init__(self, data: bytes, width: int, columns: Sequence[str], first_line: int, with_heads: bool,
                 tokens: np.ndarray, sentences: np.ndarray, others: np.ndarray) -> None:  # fmt: skip
        self.data, self.width, self.columns = data, width, tuple(columns)
        self._first_line, self._tokens, self._sentences, self._others = first_line, tokens, sentences, others
        self._texts: dict[str, list] = {}
        self._bounds: tuple[list[int], list[int], list[int], list[int]] | None = None
        self.heads: np.ndarray | None = tokens[1] if with_heads else None

    def __len__(self) -> int:
        return self._sentences.shape[1] - 1

    @property
    def n_words(self) -> int:
        return self._tokens.shape[1]

    @property
    def offsets(self) -> np.ndarray:
        return self._sentences[0]

    @property
    def lines(self) -> np.ndarray:
        return self._tokens[0] + np.int64(self._first_line)

    @property
    def sentence_spans(self) -> np.ndarray:
        return self._sentences[1:3, :-1]

    @property
    def sentence_lines(self) -> np.ndarray:
        return self._sentences[3, :-1] + np.int64(self._first_line)

    @property
    def other_kinds(self) -> np.ndarray:
        return self._others[0]

    @property
    def other_starts(self) -> np.ndarray:
        return self._others[1]

    def spans(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """First byte and end (T,) int32 of every word's field.

        Raises:
            ValueError: the column was not asked for when the block was read.
        """
        name = COLUMNS[column_index(column)]
        if name not in self.columns:
            raise ValueError(
                f"column {name!r} was not read (not in columns=, or the file has {self.width} columns)"
            )
        row = kernel.FIELD_ROWS + 2 * self.columns.index(name)
        return self._tokens[row], self._tokens[row + 1]

    def texts(self, column: str) -> list[str]:
        """The field of every word as text; made at the first call, the same list later: not to be changed."""
        texts = self._texts.get(column)
        if texts is None:
            starts, ends = self.spans(column)
            n = self.n_words
            out = np.empty(int((ends - starts).sum(dtype=np.int64)) + n - 1 if n else 0, dtype=np.uint8)
            join_spans(self.data, starts, ends, out)
            texts = self._texts[column] = str(out.data, "utf-8").split("\n") if n else []
        return texts

    def head_list(self) -> list[int]:
        """``heads`` as a list of T numbers, made once.

        Raises:
            ValueError: heads were not read.
        """
        heads = self._texts.get(":heads")
        if heads is None:
            if self.heads is None:
                raise ValueError("heads were not read (heads='none')")
            heads = self._texts[":heads"] = self.heads.tolist()
        return heads

    def bounds(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """First words (S + 1), first bytes, ends and first lines (S) of the sentences as lists, made once."""
        if self._bounds is None:
            first, start, end, line = self._sentences.tolist()
            self._bounds = first, start, end, [self._first_line + n for n in line[:-1]]
        return self._bounds


def _cut(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[:limit] + "..."


class BlockScanner:
    """Cuts byte blocks into :class:`ConllBlock` of whole sentences.

    Args:
        name: the input as errors name it.
        tally: what is done with bad sentences.
        columns: names of the columns whose fields are looked for.
        heads: ``none``, ``any`` (numbers or `_`) or ``tree`` (checked).
        widths: numbers of fields a line may have; the first hundred lines decide among them.
    """

    def __init__(
        self,
        name: str,
        tally: Tally,
        columns: Sequence[str],
        heads: str = "tree",
        widths: Sequence[int] = (10,),
    ) -> None:
        if heads not in POLICIES:
            raise ValueError(f"heads must be one of {', '.join(POLICIES)}, not {heads!r}")
        self.name, self.tally, self.widths = name, tally, tuple(widths)
        self.columns = tuple(dict.fromkeys(COLUMNS[column_index(column)] for column in columns))
        self.policy = POLICIES[heads]
        self.width = self.widths[0] if len(self.widths) == 1 else 0  # 0: not known yet
        self.sentences = self.skipped = 0
        self.faults: dict[int, DataError] = {}  # line to what is wrong with its bytes
        self._rest, self._line = b"", 1
        self._buffers: list[np.ndarray] = []

    def scan(self, data: bytes, final: bool) -> Iterator[ConllBlock]:
        """The block of the sentences that end in the bytes so far; what is left waits for the next call."""
        if self._rest:
            data = self._rest + data
        self._rest = data
        if len(data) > _LARGEST_BLOCK:
            raise DataError(self.name, self._line, "a sentence over 2 GiB", "blank lines between sentences")
        width = self.width = self.width or self._find_width(data, final)
        if not width:
            return
        wanted = [column for column in self.columns if COLUMNS.index(column) < width]
        tokens, sentences, others = self._room(len(data), len(wanted))
        state = np.zeros(kernel.STATE_SIZE, dtype=np.int64)
        places = np.array([COLUMNS.index(column) for column in wanted], dtype=np.int32)
        while status := kernel.scan(
            data, places, tokens, sentences, others, state, width, self.policy, final
        ):
            if not state[kernel.CLOSED] and self.tally.skip_invalid:
                break  # its end is not here yet: it is told of, once, when it is
            self.skipped += 1
            self.tally.invalid(self._error(status, state, data), "sentence")
        if state[kernel.STRAY]:
            line = self._line + int(state[kernel.BAD_LINE])
            kind = "comment lines after the last sentence"
            self.tally.warn(kind, DataError(self.name, line, kind), int(state[kernel.STRAY]))
        first_line, self._line = self._line, self._line + int(state[kernel.LINE])
        self._rest = data[state[kernel.POSITION] :]
        n = int(state[kernel.SENTENCES])
        self.sentences += n
        if n:
            arrays = (
                tokens[:, : state[kernel.TOKENS]],
                sentences[:, : n + 1],
                others[:, : state[kernel.OTHERS]],
            )
            with_heads = self.policy != kernel.SKIP_HEADS
            yield ConllBlock(data, width, wanted, first_line, with_heads, *(array.copy() for array in arrays))

    def _room(self, size: int, n_columns: int) -> list[np.ndarray]:
        """Arrays for a block of that size, used again for the next: blocks keep copies of what was filled."""
        room = size // (self.width + 1) + 1
        if not self._buffers or self._buffers[0].shape[1] < room or self._buffers[2].shape[1] < size // 2 + 1:
            shapes = (kernel.FIELD_ROWS + 2 * n_columns, room), (4, room + 1), (3, size // 2 + 1)
            self._buffers = [np.empty(shape, dtype=np.int32) for shape in shapes]
        return self._buffers

    def waiting(self) -> int:
        """Bytes kept for the next call."""
        return len(self._rest)

    def _find_width(self, data: bytes, final: bool) -> int:
        """The allowed width that most of the first lines have, the larger if two tie; 0: wait for more."""
        seen = dict.fromkeys(sorted(self.widths, reverse=True), 0)
        lines = at = 0
        while lines < _LINES_FOR_WIDTH:
            end = data.find(b"\n", at)
            if end < 0:
                if not final:
                    return 0
                end = len(data)
                if at >= end:
                    break
            line, at = data[at:end], end + 1
            if line.startswith(b"#") or not line.strip(b" \t\r"):
                continue
            lines += 1
            fields = line.count(b"\t") + 1
            if fields in seen:
                seen[fields] += 1
        return max(seen, key=seen.__getitem__)

    def _error(self, status: int, state: np.ndarray, data: bytes) -> DataError:
        line = self._line + int(state[kernel.BAD_LINE])
        if line in self.faults:
            return self.faults.pop(line)
        word, found = int(state[kernel.WORD]), int(state[kernel.FOUND])
        span, end = int(state[kernel.SPAN]), int(state[kernel.SPAN_END])
        field = "" if status in _TREE_STATUSES else data[span:end].decode("utf-8", "replace")
        return DataError(self.name, line, *self._wording(status, word, found, field, end))

    def _wording(self, status: int, word: int, found: int, field: str, end: int) -> tuple[str, str | None]:
        """What was found and what was expected; ``end`` is the number of words for a head out of range."""
        if status == kernel.BAD_COLUMNS:
            return f"{found} column{'s' * (found != 1)}", self._columns_expected(found, " " in field)
        if status == kernel.BAD_ID:
            if " " in field and self.width + 1 in self.widths:  # this line may be what made the width too low
                return f"{self.width} columns", self._columns_expected(self.width, True)
            return f"ID `{_cut(field)}`", "a number, a range (2-3) or an empty node (8.1)"
        if status == kernel.BAD_ID_ORDER:
            return f"ID {found}", f"{word}" + (" (is a blank line missing?)" if found == 1 else "")
        if status == kernel.EMPTY_FIELD:
            return f"word {word} has an empty {COLUMNS[found].upper()}", "a text or `_`"
        if status == kernel.BAD_HEAD:
            return f"head `{_cut(field)}` of word {word}", "a number or `_`"
        if status == kernel.NO_HEAD:
            return f"word {word} has no head (`_`)", "a tree: a head for every word"
        if status == kernel.HEAD_RANGE:
            return f"head {found} of word {word} is beyond the sentence", f"0 to {end}"
        if status == kernel.SELF_HEAD:
            return f"word {word} is its own head", "a tree"
        if status == kernel.CYCLE:
            return f"the heads from word {word} on go round in a circle", "a tree"
        return "a sentence without words", "lines that begin with 1, 2, ..."

    def _columns_expected(self, found: int, has_space: bool) -> str:
        """The file's width; one more for a line whose own space has set the width too low."""
        expected = found + 1 if self.width == found else self.width
        return f"{expected} (space instead of tab?)" if has_space and found < expected else f"{expected}"


_TREE_STATUSES = (kernel.HEAD_RANGE, kernel.SELF_HEAD, kernel.CYCLE, kernel.NO_WORDS)
