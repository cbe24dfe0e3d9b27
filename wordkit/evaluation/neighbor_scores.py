"""First and second pass of a search for neighbours: scores of many rows by a matrix product, and of few exactly.

The first pass of a similarity s gives a number a, within ``slack`` of what it stands for. Of cosine, dot, euclidean,
bhattacharyya, hellinger and kl that is s itself (of euclidean something that orders alike). Of chi-squared and jensen-shannon it
is minus the Hellinger distance H, which bounds the others term by term (p and q without negative values, no sum asked for):

    H <= sum (p - q)^2 / (p + q) <= 2 H             ln 2 / 2 H <= Jensen-Shannon <= H / 2

so that rows whose H is greater than the k-th least one by a factor of more than 2, or 1 / ln 2, are no neighbours.
"""

from __future__ import annotations

import math

import numpy as np

from wordkit.evaluation.measures import KL_FLOOR, MEASURES, OF_PROBABILITIES

SIMILARITIES = tuple(MEASURES)
# Least and greatest share of H that the distance can be.
_SHARES = {"chi-squared": (1.0, 2.0), "jensen-shannon": (math.log(2) / 2, 0.5)}
_BY_HELLINGER = ("hellinger", *_SHARES)
_AT_ONCE = 64  # rows that are scored exactly before bounds are looked at again
# Outside these, float32 products could overflow or lose digits: float64 does the first pass too.
_SAFE_NORMS = (1e-12, 1e12)
_ROWS = 2048
_MEASURED = 128  # rows whose squares are summed at once: their copy in float64 stays in the cache


class Scorer:
    """Scores of one similarity with the rows of ``vectors``, float32 (rows, dim).

    Attributes:
        squares, norms: float64 (rows,). sums: the same, zero where the similarity is not for probabilities. finite: bool (rows,).
        dtype: of the first pass.

    Raises:
        ValueError: an unknown similarity; negative values, and a similarity for probabilities.
    """

    def __init__(self, vectors: np.ndarray, similarity: str) -> None:
        if similarity not in SIMILARITIES:
            raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(SIMILARITIES)}")
        self.similarity, self.vectors = similarity, vectors
        self.squares, self.sums = np.empty(len(vectors)), np.zeros(len(vectors))
        for lo in range(0, len(vectors), _MEASURED):
            block = vectors[lo : lo + _MEASURED].astype(np.float64)
            np.einsum("ij,ij->i", block, block, out=self.squares[lo : lo + len(block)])
            if similarity not in OF_PROBABILITIES:
                continue
            if similarity == "kl":
                clipped = np.maximum(block, KL_FLOOR)
                with np.errstate(invalid="ignore"):
                    self.sums[lo : lo + len(block)] = (clipped * np.log(clipped)).sum(axis=1)
            else:
                self.sums[lo : lo + len(block)] = block.sum(axis=1)
            if (block < 0).any():
                row = lo + int(np.argmax((block < 0).any(axis=1)))
                raise ValueError(f"row {row} holds negative values: {similarity} is for probabilities")
        self.norms = np.sqrt(self.squares)
        self.finite = np.isfinite(self.squares)
        self.largest = float(self.norms[self.finite].max(initial=0.0))
        self.largest_sum = float(np.abs(self.sums[self.finite]).max(initial=0.0))
        self.dtype = np.dtype(np.float32)
        self.use(np.empty((0, vectors.shape[1])))
        self.nearest, farthest = _SHARES.get(similarity, (1.0, 1.0))
        self.widening = farthest / self.nearest
        with np.errstate(divide="ignore", invalid="ignore"):
            self.inverse = np.where(self.norms > 0, 1.0 / self.norms, 0.0)

    def use(self, queries: np.ndarray) -> None:
        """Choose the type of the first pass by the lengths of rows and queries."""
        norms = np.concatenate(
            [self.norms[self.finite], np.sqrt((queries.astype(np.float64) ** 2).sum(axis=1))]
        )
        norms = norms[norms > 0]
        safe = not norms.size or (norms.min() > _SAFE_NORMS[0] and norms.max() < _SAFE_NORMS[1])
        self.dtype = np.dtype(np.float32 if safe else np.float64)
        # Worst-case rounding of a sum of dim products, and of the factors around it.
        self.rounding = (self.vectors.shape[1] + 16) * float(np.finfo(self.dtype).eps)

    def prepared(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For queries (float64): left factors of the products, what is subtracted from them, and each query's slack."""
        norms = np.sqrt((queries * queries).sum(axis=1))
        less = np.zeros(len(queries))
        if self.similarity == "cosine":
            left, scale = queries / np.where(norms > 0, norms, 1.0)[:, None], np.ones(len(queries))
        elif self.similarity == "bhattacharyya":
            left, scale = np.sqrt(queries), np.sqrt(queries.sum(axis=1) * self.largest_sum)
        elif self.similarity in _BY_HELLINGER:
            less = queries.sum(axis=1)
            left, scale = 2 * np.sqrt(queries), 2 * (less + self.largest_sum)  # 2 sqrt(a b) <= a + b
        elif self.similarity == "kl":
            clipped = np.maximum(queries, KL_FLOOR)
            logs = np.log(clipped)
            less = (clipped * logs).sum(axis=1) / 2
            left = np.concatenate([clipped, logs], axis=1) / 2
            # |log v| <= dim max(|log v_i|), and no entry is longer than the row
            longest = max(-math.log(KL_FLOOR), math.log(max(self.largest, 1.0)))
            longest *= math.sqrt(queries.shape[1])
            lengths = np.sqrt((logs * logs).sum(axis=1))
            scale = (norms + 1) * longest + lengths * (self.largest + 1) + np.abs(less) + self.largest_sum
        else:
            left, scale = queries, norms * self.largest
            if self.similarity == "euclidean":
                scale = scale + self.largest**2
        return left.astype(self.dtype), less.astype(self.dtype), 2 * self.rounding * scale

    def approximate(
        self, left: np.ndarray, less: np.ndarray, lo: int, hi: int, out: np.ndarray
    ) -> np.ndarray:
        """(queries, hi - lo) in ``out``; for euclidean it is (|q|^2 - |q - v|^2) / 2, which orders alike."""
        block = self.vectors[lo:hi].astype(self.dtype, copy=False)
        with np.errstate(all="ignore"):  # rows with nan or inf
            if self.similarity == "bhattacharyya" or self.similarity in _BY_HELLINGER:
                block = np.sqrt(block)
            elif self.similarity == "kl":
                clipped = np.maximum(block, self.dtype.type(KL_FLOOR))
                block = np.concatenate([np.log(clipped), clipped], axis=1)
            scores = np.matmul(left, block.T, out=out)
            if self.similarity == "cosine":
                scores *= self.inverse[lo:hi].astype(self.dtype)
            elif self.similarity == "euclidean":
                scores -= (self.squares[lo:hi] / 2).astype(self.dtype)
            elif self.similarity in _BY_HELLINGER or self.similarity == "kl":
                share = 2 if self.similarity == "kl" else 1
                scores -= (self.sums[lo:hi] / share).astype(self.dtype)
                scores -= less[:, None]
        if not self.finite[lo:hi].all():
            scores[:, ~self.finite[lo:hi]] = -np.inf
        return scores

    def floor(self, kth: float, slack: float) -> float:
        """The least number of the first pass that a neighbour may have, by the k-th best one seen."""
        return self.widening * (kth - slack) - slack

    def exact_best(
        self, query: np.ndarray, rows: np.ndarray, bounds: np.ndarray, slack: float, top: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Some of the rows, the ``top`` best among them, with their exact scores.

        Where the first pass gives bounds alone, the rows are scored from the best bound down, until the next one cannot be among
        the best any more.
        """
        if self.widening == 1.0 or len(rows) <= _AT_ONCE:
            return rows, self.exact(query, rows)
        order = np.argsort(-bounds, kind="stable")
        rows, highest = rows[order], self.nearest * (bounds[order].astype(np.float64) + slack)
        scores = np.empty(len(rows))
        done = 0
        while done < len(rows):
            size = max(_AT_ONCE, top)
            scores[done : done + size] = self.exact(query, rows[done : done + size])
            done = min(done + size, len(rows))
            kth = np.partition(scores[:done], done - top)[done - top] if done > top else -np.inf
            if done < len(rows) and highest[done] < kth:
                break
        return rows[:done], scores[:done]

    def exact(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """float64 scores of one query (float64) with some rows, each as if it were the only one."""
        scores = np.empty(len(rows))
        measure = MEASURES[self.similarity]
        for lo in range(0, len(rows), _ROWS):
            some = rows[lo : lo + _ROWS]
            scores[lo : lo + len(some)] = measure(self.vectors[some].astype(np.float64), query)
        return scores
