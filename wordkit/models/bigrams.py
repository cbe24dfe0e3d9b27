"""Counts of bigrams of words, over chains (a word and the next) or trees (a word and one that hangs on it)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from wordkit.models.tree_corpus import TreeCorpus

_SENTENCES = 1024
_MERGE_AT = 1 << 22  # codes that wait to be counted: 32 MiB

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Bigrams:
    """Sparse counts of V words, numbered by falling count.

    Attributes:
        size: V. successors: (starts int64 (V + 1,), numbers int32 (n,), counts int64 (n,)): the words after, or under, each word.
        predecessors: the same the other way round. left, right: (V,) int64 sums of the two. total: of all counts.
        n_dropped: bigrams that are not counted, since one of their words is none of the V.
    """

    size: int
    successors: Rows
    predecessors: Rows
    left: np.ndarray
    right: np.ndarray
    total: int
    n_dropped: int = 0

    @classmethod
    def from_counts(
        cls, rows: np.ndarray, columns: np.ndarray, counts: np.ndarray, size: int, n_dropped: int = 0
    ) -> Bigrams:
        """From bigrams (first word, second word, how often); the same one may come several times."""
        shape = (size, size)
        table = scipy.sparse.coo_array(
            (np.asarray(counts, dtype=np.int64), (rows, columns)), shape=shape
        ).tocsr()
        table.sum_duplicates()
        turned = scipy.sparse.csr_array(table.T)
        turned.sort_indices()
        return cls(
            size, _rows(table), _rows(turned), np.asarray(table.sum(axis=1), np.int64).ravel(),
            np.asarray(table.sum(axis=0), np.int64).ravel(), int(table.data.sum()), n_dropped,
        )  # fmt: skip

    @classmethod
    def from_corpus(cls, corpus: TreeCorpus, number_of: np.ndarray, size: int) -> Bigrams:
        """Of a corpus, read once.

        Args:
            number_of: (words of the corpus,) number of each of its words here, from 0 to ``size`` - 1, or -1.
        """
        codes, counts = np.empty(0, np.int64), np.empty(0, np.int64)
        waiting: list[np.ndarray] = []
        dropped = 0
        for trees in corpus.batches(_SENTENCES):
            parent, child = (number_of[trees.words[side]] for side in trees.arcs())
            kept = (parent >= 0) & (child >= 0)
            dropped += int(np.count_nonzero(~kept))
            waiting.append(parent[kept].astype(np.int64) * size + child[kept])
            if sum(map(len, waiting)) > _MERGE_AT:
                codes, counts = _counted(codes, counts, waiting)
        codes, counts = _counted(codes, counts, waiting)
        return cls.from_counts(codes // max(size, 1), codes % max(size, 1), counts, size, dropped)

    def class_counts(self, classes: np.ndarray, n_classes: int) -> np.ndarray:
        """(n_classes, n_classes) int64: bigrams of the classes (V,) of words; classes below 0 are left out."""
        out = np.zeros((n_classes, n_classes), dtype=np.int64)
        starts, numbers, counts = self.successors
        first = np.repeat(classes, np.diff(starts))
        second = classes[numbers]
        known = (first >= 0) & (second >= 0)
        np.add.at(out, (first[known], second[known]), counts[known])
        return out

    def mutual_information(self, classes: np.ndarray) -> float:
        """Average mutual information of the classes of a bigram's two words, in bits; 0 where there is no bigram.

        I = (1 / T) sum over c, d of N(c, d) log2 [N(c, d) T / (l_c r_d)], l and r row and column sums of N (Brown et al. 1992).
        """
        table = self.class_counts(classes, int(classes.max(initial=-1)) + 1).astype(np.float64)
        total = table.sum()
        if not total:
            return 0.0
        c, d = np.nonzero(table)
        cells = table[c, d]
        return float(
            (cells * np.log2(cells * total / (table.sum(axis=1)[c] * table.sum(axis=0)[d]))).sum() / total
        )


def _rows(table: scipy.sparse.csr_array) -> Rows:
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.int64)


def _counted(
    codes: np.ndarray, counts: np.ndarray, waiting: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Sorted codes with their counts, those that waited added; ``waiting`` is empty then."""
    fresh, fresh_counts = np.unique(np.concatenate([np.empty(0, np.int64), *waiting]), return_counts=True)
    waiting.clear()
    both, place = np.unique(np.concatenate([codes, fresh]), return_inverse=True)
    sums = np.zeros(len(both), dtype=np.int64)
    np.add.at(sums, place, np.concatenate([counts, fresh_counts]))
    return both, sums
