"""Sentences of CoNLL files and plain text as arrays of ids, a block at a time: no Python object a token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.conll import FORMATS, TAG_COLUMN, read_conll_blocks
from wordkit.formats.conll_block import COLUMNS, ConllBlock, column_index
from wordkit.formats.opening import Input
from wordkit.formats.text import TypeTable, read_token_ids
from wordkit.formats.vectors_sniff import refuse_vectors
from wordkit.tally import Tally

STRUCTURES = ("tree", "chain")
TOKENS = ("form", "lemma", "lemma/pos")
LABELS = ("none", "deprel")
TEXT_FORMATS = ("auto", "text", "conll", *(name for name in FORMATS if name != "auto"))
_SNIFFED_BYTES, _MOST_SNIFFED = 1 << 16, 1 << 24
_CONLL_ID = re.compile(rb"[01](?:[-.][0-9]+)?[ \t]")
_EMPTY_FIELDS = re.compile(rb"(?<![^ \t])_(?![^ \t\r])")
_MANY_FIELDS = 8  # of CoNLL: so many in one line of text, two of them `_`, would be a strange accident


class SentenceBlock(NamedTuple):
    """Some sentences. ``ids``: int32, provisional ids of their tokens; ``lengths``: int64, none of them 0; ``heads``: int32
    as in CoNLL blocks, or None; ``labels``: int32, provisional ids, or None."""

    ids: np.ndarray
    lengths: np.ndarray
    heads: np.ndarray | None = None
    labels: np.ndarray | None = None


def refuse_text(name: str, structure: str, token: str) -> None:
    """DataError if plain text lacks the words and arcs that are asked for."""
    if structure == "tree":
        raise DataError(
            name, 1, "plain text has no trees: a tree structure needs CoNLL, plain text --structure chain"
        )
    if token != "form":
        raise DataError(name, 1, "plain text has no lemmas: --token lemma and lemma/pos need CoNLL")


class CorpusTokens:
    """Reads sentences, and gives tokens and labels provisional ids in order of first occurrence.

    Arguments are those of :func:`wordkit.models.tree_corpus.read_corpus`.

    Attributes:
        n_long, n_long_tokens: sentences passed over because of their length, and their tokens.
    """

    def __init__(
        self,
        *,
        structure: str = "tree",
        format: str = "auto",
        token: str = "form",
        tag_column: str = TAG_COLUMN,
        labels: str = "none",
        max_length: int | None = 50,
        lowercase: bool = False,
        tally: Tally,
    ) -> None:
        for name, value, allowed in (
            ("structure", structure, STRUCTURES), ("format", format, TEXT_FORMATS), ("token", token, TOKENS),
            ("labels", labels, LABELS),
        ):  # fmt: skip
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
        if structure == "chain" and labels != "none":
            raise ValueError("labels are of the arcs of trees, a chain has none")
        if max_length is not None and max_length < 1:
            raise ValueError(f"max_length is {max_length}, expected at least 1, or None")
        self.tree, self.format, self.tally = structure == "tree", format, tally
        self.form = COLUMNS[column_index("lemma" if token != "form" else "form")]
        self.tag = COLUMNS[column_index(tag_column)] if token == "lemma/pos" else None
        self.label = labels if labels != "none" else None
        self.max_length, self.lowercase = max_length, lowercase
        self.n_long = self.n_long_tokens = 0
        self.types, self.tag_types, self.label_types = TypeTable(), TypeTable(), TypeTable()
        self._pairs, self._pair_codes = TypeTable(), [np.empty(0, dtype=np.int64)]

    def read(self, source: Input) -> Iterator[SentenceBlock]:
        """The sentences of an open input that are not too long; see the reader of its format for errors."""
        form = self.format
        if form == "auto":
            form = "text" if is_text(source, self.tree) else "conll"
        if form == "text":
            refuse_text(
                source.name, "tree" if self.tree else "chain", "form" if self.form == "form" else "lemma"
            )
            yield from self._read_text(source)
        else:
            yield from self._read_conll(source, "auto" if form == "conll" else form)

    def _read_text(self, source: Input) -> Iterator[SentenceBlock]:
        refuse_vectors(source)
        found = False
        for block in read_token_ids(source, self.types, self.tally):
            lengths = np.diff(block.line_ends, prepend=0)
            kept, mask = self._kept(lengths)
            found = found or bool(len(block.ids))
            lengths = lengths[kept]
            yield SentenceBlock(block.ids if mask is None else block.ids[mask], lengths[lengths > 0])
        if not found:
            raise DataError(source.name, None, "holds no token", "sentences, one a line")

    def _read_conll(self, source: Input, form: str) -> Iterator[SentenceBlock]:
        columns = [name for name in (self.form, self.tag, self.label) if name]
        heads = "tree" if self.tree else "none"
        for block in read_conll_blocks(source, columns, heads=heads, format=form, tally=self.tally):
            lengths = np.diff(block.offsets).astype(np.int64)
            kept, mask = self._kept(lengths)
            yield SentenceBlock(
                self._token_ids(block, mask),
                lengths[kept],
                None if block.heads is None else block.heads if mask is None else block.heads[mask],
                _encoded(self.label_types, block, self.label, mask) if self.label else None,
            )

    def _kept(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Which sentences are not too long, and which tokens are theirs (None: all); the others are counted."""
        if self.max_length is None or not len(lengths) or lengths.max() <= self.max_length:
            return np.ones(len(lengths), dtype=bool), None
        kept = lengths <= self.max_length
        self.n_long += int(np.count_nonzero(~kept))
        self.n_long_tokens += int(lengths[~kept].sum())
        return kept, np.repeat(kept, lengths)

    def _token_ids(self, block: ConllBlock, mask: np.ndarray | None) -> np.ndarray:
        ids = _encoded(self.types, block, self.form, mask)
        if self.tag is None or not len(ids):
            return ids
        # A pair of ids is a type of eight bytes: its string is made once a pair, not once a token.
        codes = ids.astype(np.int64) << 32 | _encoded(self.tag_types, block, self.tag, mask)
        before = len(self._pairs)
        starts = np.arange(0, 8 * len(codes), 8, dtype=np.int32)
        pairs = self._pairs.encode_spans(codes.tobytes(), starts, starts + np.int32(8))
        new = np.empty(len(self._pairs) - before, dtype=np.int64)
        fresh = pairs >= before
        new[pairs[fresh] - before] = codes[fresh]
        self._pair_codes.append(new)
        return pairs

    def words(self) -> list[str]:
        """The string of each provisional id, folded where asked for: then several may be equal."""
        names = self.types.words()
        if self.lowercase:
            names = [name.lower() for name in names]
        if self.tag is None:
            return names
        tags = self.tag_types.words()
        codes = np.concatenate(self._pair_codes)
        pairs = zip((codes >> 32).tolist(), (codes & 0xFFFFFFFF).tolist(), strict=True)
        return [f"{names[lemma]}/{tags[tag]}" for lemma, tag in pairs]

    def label_words(self) -> list[str]:
        """The string of each provisional label."""
        return self.label_types.words()


def _encoded(types: TypeTable, block: ConllBlock, column: str, mask: np.ndarray | None) -> np.ndarray:
    starts, ends = block.spans(column)
    if mask is not None:
        starts, ends = starts[mask], ends[mask]
    return types.encode_spans(block.data, starts, ends)


def is_text(source: Input, tree: bool) -> bool:
    """Whether an input is plain text rather than CoNLL: by its first line that is neither blank nor a comment.

    In CoNLL that line has fields between tabs, and the first is the number 1, a range or an empty node. Where trees are
    wanted, anything with a tab is left to the CoNLL reader, which says what is wrong with it.
    """
    size = _SNIFFED_BYTES
    while True:
        start = source.peek(size)
        lines = start.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if len(start) == size:
            lines.pop()  # may go on
        for line in lines:
            if line.strip(b" \t\r") and not line.startswith(b"#"):
                is_id = bool(_CONLL_ID.match(line))
                if tree:
                    return not (is_id or b"\t" in line)
                # Broken CoNLL too goes to the reader that says what is wrong with it.
                looks_so = len(line.split()) >= _MANY_FIELDS and len(_EMPTY_FIELDS.findall(line)) >= 2
                return not (looks_so or (is_id and line.count(b"\t") >= 3))
        if len(start) < size:
            return not tree
        if not lines or size > _MOST_SNIFFED:  # a line that long, or nothing but comments
            return not tree or not lines
        size *= 4
