"""Plain text as numbers, read once, kept on disk: its words with their counts, and its tokens line after line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.opening import Input
from wordkit.formats.text import TypeTable, read_token_ids
from wordkit.formats.vectors_sniff import refuse_vectors
from wordkit.models.array_spool import ArraySpool
from wordkit.models.vocabulary import folded
from wordkit.tally import Tally

LINE_END = -1
_COUNTED_AT = 1 << 20  # tokens that wait to be counted
_PIECE = 1 << 18  # elements numbered at a time


class TextCorpus:
    """Lines of text from some inputs.

    Attributes:
        names: distinct words in order of first occurrence. counts: int64 (len(names),) how often each occurs.
        n_tokens: their sum. inputs: name, bytes and sha256 of each input.
    """

    def __init__(self, kept: bool, folder: str | os.PathLike[str] | None) -> None:
        self.names: list[str] = []
        self.counts = np.empty(0, dtype=np.int64)
        self.n_tokens = 0
        self.inputs: list[dict[str, Any]] = []
        self._types = TypeTable()
        self._waiting: list[np.ndarray] = []
        self._stream = ArraySpool(np.int32, folder) if kept else None
        self._place_of = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        """Length of the stream: a number a token, and one a line."""
        return 0 if self._stream is None else len(self._stream)

    def _read(self, source: Input, tally: Tally) -> None:
        refuse_vectors(source)
        before = self.n_tokens
        for block in read_token_ids(source, self._types, tally):
            self.n_tokens += len(block.ids)
            self._waiting.append(block.ids)
            if sum(map(len, self._waiting)) >= _COUNTED_AT:
                self._count()
            if self._stream is not None:
                self._stream.append(np.insert(block.ids, block.line_ends, np.int32(LINE_END)))
        if self.n_tokens == before:
            raise DataError(source.name, None, "holds no token", "sentences, one a line")
        self.inputs.append(source.record())

    def _count(self) -> None:
        if self._waiting:
            counts = np.bincount(np.concatenate(self._waiting), minlength=len(self._types)).astype(np.int64)
            counts[: len(self.counts)] += self.counts
            self.counts, self._waiting = counts, []

    def _close(self, lowercase: bool) -> None:
        self._count()
        names = self._types.words()
        if lowercase:
            self.names, self._place_of = folded(name.lower() for name in names)
            per_type, self.counts = self.counts, np.zeros(len(self.names), dtype=np.int64)
            np.add.at(self.counts, self._place_of, per_type)
        else:
            self.names, self._place_of = names, np.arange(len(names))
        self._types = TypeTable()  # no longer needed, and large

    def numbered(self, number_of: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Elements ``start`` to ``stop`` of the stream, between two line ends of their own.

        Args:
            number_of: (len(names),) int32 number of each name.

        Returns:
            int32 (stop - start + 2): numbers of the tokens, and -1 for the end of a line.
        """
        if self._stream is None:
            raise ValueError("the tokens of this corpus were not kept")
        numbers = np.append(number_of[self._place_of], np.int32(LINE_END)).astype(
            np.int32
        )  # the last is number -1
        out = np.full(stop - start + 2, LINE_END, dtype=np.int32)
        for lo in range(start, stop, _PIECE):
            hi = min(lo + _PIECE, stop)
            np.take(numbers, self._stream.read(lo, hi), out=out[1 + lo - start : 1 + hi - start], mode="wrap")
        return out


def read_text_corpus(
    sources: Iterable[str | os.PathLike[str] | Input],
    *,
    lowercase: bool = False,
    tally: Tally | None = None,
    keep: bool = True,
    cache_folder: str | os.PathLike[str] | None = None,
) -> TextCorpus:
    """Read text, one sentence or document a line, once, from start to end: pipes will do.

    Args:
        sources: inputs one after the other, ``-`` for standard input; open inputs stay open.
        lowercase: fold case.
        tally: what is done with bad lines; raised by default.
        keep: keep the tokens, in a temporary file; else there are only words and counts.
        cache_folder: where the temporary file is made.

    Raises:
        DataError: as :func:`wordkit.formats.text.read_token_ids`; an input that holds no token.
        WordkitError: an input that cannot be opened, a full disk.
        ValueError: no input.
    """
    corpus = TextCorpus(keep, cache_folder)
    tally = Tally() if tally is None else tally
    for source in sources:
        if isinstance(source, Input):
            corpus._read(source, tally)
        else:
            with Input(source, digest=True) as opened:
                corpus._read(opened, tally)
    if not corpus.inputs:
        raise ValueError("there is no input")
    corpus._close(lowercase)
    return corpus
