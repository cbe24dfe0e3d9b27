"""n-best lists on their way into a file: kept on disk until it is known which features they have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse

from wordkit.models.array_spool import ArraySpool
from wordkit.models.feature_index import SCORE_COLUMN, FeatureIndex

_KEPT = {
    "heads": np.int64, "scores": np.float64, "counts": np.int64, "keys": np.uint64, "lengths": np.int32, "places": np.int32,
    "values": np.int32,
}  # fmt: skip


@dataclass
class CandidateList:
    """The k candidates of a sentence.

    Attributes:
        qid: number of the list.
        scores: float64 (k,) of the parser, the first the greatest.
        counts: int64 (k, 3), matched, gold and proposed items; no gold: it is not known.
        keys: uint64 (V,) features that tell candidates apart; values: int32 (k, V) (:func:`feature_index.relative`).
    """

    qid: int
    scores: np.ndarray
    counts: np.ndarray
    keys: np.ndarray
    values: np.ndarray

    def shares(self) -> np.ndarray:
        """(k,) 2 matched / (gold + proposed), 0 where nothing is gold."""
        total = self.counts[:, 1] + self.counts[:, 2]
        known = self.counts[:, 1] > 0
        return np.where(known, 2 * self.counts[:, 0] / np.maximum(total, 1), 0.0)

    def rows(self, index: FeatureIndex) -> tuple[scipy.sparse.csr_array, int]:
        """Candidates x columns float32, and how many of the features have no column."""
        columns = index.columns(self.keys)
        known = columns >= 0
        score = (self.scores - self.scores[0]).astype(np.float32)
        rows, places = np.nonzero(self.values[:, known])
        at = np.flatnonzero(score)
        matrix = scipy.sparse.coo_array(
            (
                np.concatenate([score[at], self.values[:, known][rows, places].astype(np.float32)]),
                (
                    np.concatenate([at, rows]),
                    np.concatenate([np.full(len(at), SCORE_COLUMN), columns[known][places]]),
                ),
            ),
            shape=(len(score), 1 + len(index)),
        )
        return matrix.tocsr(), int(np.count_nonzero(~known))


class ListSpool:
    """Lists in a temporary file each array, read back in their order.

    ``len()`` is the number of lists.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._kept = {name: ArraySpool(dtype, folder) for name, dtype in _KEPT.items()}
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def append(self, one: CandidateList) -> None:
        """Add a list at the end."""
        rows, places = np.nonzero(one.values)
        heads = [one.qid, len(one.scores), len(one.keys), len(places)]
        parts = {
            "heads": np.array(heads), "scores": one.scores, "counts": one.counts.reshape(-1), "keys": one.keys,
            "lengths": np.bincount(rows, minlength=len(one.scores)), "places": places, "values": one.values[rows, places],
        }  # fmt: skip
        for name, array in parts.items():
            self._kept[name].append(array)
        self._n += 1

    def keys(self) -> np.ndarray:
        """The keys of all lists, one after the other."""
        return self._kept["keys"].mapped()

    def __iter__(self) -> Iterator[CandidateList]:
        at = dict.fromkeys(_KEPT, 0)

        def take(name: str, size: int) -> np.ndarray:
            at[name] += size
            return self._kept[name].read(at[name] - size, at[name])

        for _ in range(self._n):
            qid, k, distinct, size = take("heads", 4).tolist()
            scores, counts, keys = (
                take("scores", k),
                take("counts", 3 * k).reshape(k, 3),
                take("keys", distinct),
            )
            values = np.zeros((k, distinct), np.int32)
            values[np.repeat(np.arange(k), take("lengths", k)), take("places", size)] = take("values", size)
            yield CandidateList(qid, scores, counts, keys, values)
