"""Sentences of CoNLL files as objects, made from a block when asked for, and their way back into a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from wordkit.formats.conll_block import COLUMNS, BlockScanner, ConllBlock, column_index
from wordkit.formats.opening import open_output
from wordkit.tally import Tally

_TEXTS = {
    "forms": "form",
    "lemmas": "lemma",
    "upos": "upos",
    "xpos": "xpos",
    "feats": "feats",
    "deprels": "deprel",
    "deps": "deps",
    "misc": "misc",
}
_MADE = (*_TEXTS, "comments", "heads", "line", "lines")  # attributes that are made at the first look
_MISC = COLUMNS.index("misc")
_HEAD, _DEPREL, _DEPS = (COLUMNS.index(name) for name in ("head", "deprel", "deps"))
_WIDTH = 10


class Sentence:
    """One sentence; what is not looked at costs nothing.

    Lists with one entry a word, made at the first look: ``forms``, ``lemmas``, ``upos``, ``xpos``, ``feats``,
    ``deprels``, ``deps``, ``misc`` (texts as in the file, `_` included) and ``heads`` (numbers from 1, 0 the
    root, -1 for `_`). Ranges and empty nodes are not words; they are in ``lines``.

    ``lines``: every line as text without line end, comments, ranges and empty nodes included; what a writer
    writes. ``comments``: those of them that begin with ``#``. ``line``: number of the first one in the input.

    A sentence keeps the block that it comes from in memory. A column that was not read is an AttributeError.
    """

    __slots__ = ("_block", "_index", *_MADE)

    comments: list[str]
    lines: list[str]
    forms: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    feats: list[str]
    deprels: list[str]
    deps: list[str]
    misc: list[str]
    heads: list[int]
    line: int

    def __init__(self, block: ConllBlock, index: int) -> None:
        self._block, self._index = block, index

    def __len__(self) -> int:
        first = self._block.bounds()[0]
        return first[self._index + 1] - first[self._index]

    def __repr__(self) -> str:
        return f"<Sentence line {self.line}, {len(self)} words>"

    def __getattr__(self, name: str) -> Any:
        # Only reached while the slot is empty: it is filled here and found at once from then on.
        if name not in _MADE:
            raise AttributeError(f"Sentence has no {name!r}")
        block, index = self._block, self._index
        first, start, end, line = block.bounds()
        value: Any
        try:
            if name in _TEXTS:
                value = block.texts(_TEXTS[name])[first[index] : first[index + 1]]
            elif name == "heads":
                value = block.head_list()[first[index] : first[index + 1]]
            elif name == "line":
                value = line[index]
            elif name == "comments":
                value = [text for text in self.lines if text.startswith("#")]
            else:
                raw = block.data[start[index] : end[index]].decode("utf-8").split("\n")
                value = [text.rstrip("\r") for text in raw if text.strip(" \t\r")]
        except ValueError as error:
            raise AttributeError(str(error)) from None
        setattr(self, name, value)
        return value

    def column(self, name: str) -> list[str]:
        """A column by the name that an option gives: ``form``, ``lemma``, ``upos`` or ``cpos``, ``xpos`` or
        ``pos``, ...

        Raises:
            ValueError: no such column, or it was not read.
        """
        first = self._block.bounds()[0]
        return self._block.texts(COLUMNS[column_index(name)])[first[self._index] : first[self._index + 1]]

    def set_misc(self, name: str, values: Sequence[object]) -> None:
        """Give every word the attribute ``name=value`` in MISC; all else in ``lines`` stays as it is.

        Args:
            values: one a word; None leaves that word without the attribute. An older value is replaced in its
                place.

        Lines of CoNLL-X with 8 or 9 columns are filled up with `_` to 10.

        Raises:
            ValueError: another number of values than words, or a text that would break the column.
        """
        if len(values) != len(self):
            raise ValueError(f"{len(values)} values for {len(self)} words")
        lines, misc, word = list(self.lines), [], 0
        for i, text in enumerate(lines):
            fields = text.split("\t")
            if not fields[0].isdigit():
                continue
            fields += ["_"] * (_WIDTH - len(fields))
            fields[_MISC] = _with_attribute(fields[_MISC], name, values[word])
            misc.append(fields[_MISC])
            lines[i] = "\t".join(fields)
            word += 1
        self.lines, self.misc = lines, misc

    def set_heads(self, heads: Sequence[int]) -> None:
        """Give every word another head; its relation and enhanced ones, which were those of the old head, become `_`.

        Args:
            heads: one a word, from 1, 0 the root, -1 for `_`.

        Raises:
            ValueError: another number of heads than words.
        """
        if len(heads) != len(self):
            raise ValueError(f"{len(heads)} heads for {len(self)} words")
        lines, word = list(self.lines), 0
        for i, text in enumerate(lines):
            fields = text.split("\t")
            if not fields[0].isdigit():
                continue
            fields[_HEAD] = "_" if heads[word] < 0 else str(heads[word])
            for place in (_DEPREL, _DEPS):
                if place < len(fields):
                    fields[place] = "_"
            lines[i] = "\t".join(fields)
            word += 1
        self.lines, self.heads = lines, [int(head) for head in heads]
        self.deprels = self.deps = ["_"] * word

    @classmethod
    def from_columns(
        cls,
        forms: Sequence[str],
        *,
        lemmas: Sequence[str] | None = None,
        upos: Sequence[str] | None = None,
        xpos: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        heads: Sequence[int] | None = None,
        deprels: Sequence[str] | None = None,
        deps: Sequence[str] | None = None,
        misc: Sequence[str] | None = None,
        comments: Iterable[str] = (),
    ) -> Sentence:
        """A sentence in CoNLL-U from lists with one entry a word; columns not given are `_`.

        Raises:
            ValueError: no word, lists of different lengths, an empty text or one with a tab or line end, a
                comment that does not begin with ``#``. Heads are not checked to form a tree.
        """
        n = len(forms)
        if n == 0:
            raise ValueError("a sentence has at least one word")
        head_texts = None if heads is None else ["_" if head < 0 else str(head) for head in heads]
        given = [forms, lemmas, upos, xpos, feats, head_texts, deprels, deps, misc]
        if any(column is not None and len(column) != n for column in given):
            raise ValueError(f"every column must have {n} entries")
        rows = zip(*[["_"] * n if column is None else column for column in given], strict=True)
        lines = [*comments]
        if any(not text.startswith("#") or _breaks(text) for text in lines):
            raise ValueError("a comment is one line that begins with #")
        for i, row in enumerate(rows, 1):
            if any(not text or _breaks(text) for text in row):
                raise ValueError(f"word {i} has an empty text or one with a tab or line end: {row!r}")
            lines.append("\t".join([str(i), *row]))
        scanner = BlockScanner("<columns>", Tally(), list(_TEXTS.values()), "any")
        (block,) = scanner.scan("".join([text + "\n" for text in lines]).encode("utf-8"), True)
        return cls(block, 0)


def _breaks(text: str) -> bool:
    return any(mark in text for mark in "\t\n\r\0")


def _with_attribute(misc: str, name: str, value: object) -> str:
    """MISC with ``name=value`` in the place of an older value, else last."""
    attribute = None if value is None else f"{name}={value}"
    if attribute is not None and ("|" in attribute or not name or _breaks(attribute)):
        raise ValueError(f"{attribute!r} cannot stand in MISC: it holds a bar, a tab or a line end")
    parts = [] if misc in ("_", "") else misc.split("|")
    at = next((i for i, part in enumerate(parts) if part.split("=", 1)[0] == name), len(parts))
    parts[at : at + 1] = [] if attribute is None else [attribute]
    return "|".join(parts) or "_"


def write_conll(path: str | os.PathLike[str], sentences: Iterable[Sentence]) -> int:
    """Write sentences as their ``lines``, each followed by a blank line so that files can be joined; how
    many.

    The file appears whole or not at all (see :func:`wordkit.formats.opening.open_output`).
    """
    n = 0
    with open_output(path) as out:
        for sentence in sentences:
            out.write(("\n".join(sentence.lines) + "\n\n").encode("utf-8"))
            n += 1
    return n
