"""Sentences of a corpus in temporary files: ids and structure as they were read, and the chunks that are read again."""

from __future__ import annotations

import os

import numpy as np

from wordkit.models.array_spool import ArraySpool
from wordkit.models.corpus_tokens import SentenceBlock

CHUNK_SENTENCES, CHUNK_TOKENS = 1 << 12, 1 << 18  # what is shuffled, and kept in memory, at a time
PIECE = 1 << 18  # elements looked at together where a whole array is gone through


class StoredSentences:
    """Sentences on disk, with provisional ids for words and labels, as they were read."""

    def __init__(self, trees: bool, labelled: bool, folder: str | os.PathLike[str] | None) -> None:
        self.ids = ArraySpool(np.int32, folder)
        self.offsets = ArraySpool(np.int64, folder)
        self.heads = ArraySpool(np.int32, folder) if trees else None
        self.labels = ArraySpool(np.int32, folder) if labelled else None
        self.offsets.append(np.zeros(1, dtype=np.int64))

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    def append(self, block: SentenceBlock) -> None:
        if not len(block.lengths):
            return
        self.offsets.append(len(self.ids) + np.cumsum(block.lengths))
        self.ids.append(block.ids)
        if self.heads is not None:
            assert block.heads is not None
            self.heads.append(block.heads)
        if self.labels is not None:
            assert block.labels is not None and block.heads is not None
            self.labels.append(np.where(block.heads == 0, np.int32(-1), block.labels))

    def counts(self, spool: ArraySpool, size: int) -> np.ndarray:
        """How often each id from 0 to ``size - 1`` occurs (int64)."""
        counts = np.zeros(size, dtype=np.int64)
        for lo in range(0, len(spool), PIECE):
            ids = spool.read(lo, min(lo + PIECE, len(spool)))
            counts += np.bincount(ids[ids >= 0], minlength=size)
        return counts

    def chunks(self) -> list[int]:
        """First sentences of the chunks, and the number of sentences; they depend on the sentences alone."""
        bounds, n = [0], self.n_sentences
        while bounds[-1] < n:
            first = bounds[-1]
            offsets = self.offsets.read(first, min(first + CHUNK_SENTENCES, n) + 1)
            fit = int(np.searchsorted(offsets, offsets[0] + CHUNK_TOKENS, side="right")) - 1
            bounds.append(first + max(fit, 1))
        return bounds
