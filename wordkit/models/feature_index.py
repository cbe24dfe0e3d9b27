"""Which features a reranker sees, and under which index: those that tell candidates apart in enough lists."""

from __future__ import annotations

import functools

import numpy as np

# Index 1 of a list, column 0, is the score of the parser; the features follow.
SCORE_COLUMN, FIRST_COLUMN = 0, 1


def relative(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts (k, U) less each feature's most common count in the list (the least of several), where they are not all the same.

    Differences between candidates, all that a reranker of a list sees, stay what they were; most features vanish.

    Returns:
        places (V,) of the features that are left, and their counts (k, V).
    """
    places = np.flatnonzero((counts != counts[0]).any(axis=0))
    left = counts[:, places]
    most, votes = np.zeros(len(places), counts.dtype), np.zeros(len(places), np.int64)
    for value in np.unique(left).tolist():
        times = np.count_nonzero(left == value, axis=0)
        better = times > votes
        most[better], votes[better] = value, times[better]
    return places, left - most


class FeatureIndex:
    """Columns of features.

    Args:
        keys: uint64 (F,), distinct; the key in place p has column ``FIRST_COLUMN + p``.
    """

    def __init__(self, keys: np.ndarray) -> None:
        self.keys = np.ascontiguousarray(keys, dtype=np.uint64)

    def __len__(self) -> int:
        return len(self.keys)

    @functools.cached_property
    def _order(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.keys, kind="stable")
        return self.keys[order], order

    def columns(self, keys: np.ndarray) -> np.ndarray:
        """int64 column of each key, -1 for those that have none."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        ordered, order = self._order
        at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
        return np.where(ordered[at] == keys, order[at] + FIRST_COLUMN, -1)


def chosen(keys: np.ndarray, classes: np.ndarray, min_count: int) -> tuple[np.ndarray, int]:
    """Keys that occur often enough, by class and then by first occurrence; and the number of distinct ones.

    Args:
        keys: uint64, one an occurrence. classes: of each.
    """
    distinct, first, times = np.unique(keys, return_index=True, return_counts=True)
    kept = np.flatnonzero(times >= min_count)
    order = np.lexsort((first[kept], classes[first[kept]]))
    return distinct[kept][order], len(distinct)
