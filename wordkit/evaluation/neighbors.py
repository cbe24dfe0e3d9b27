"""Nearest neighbours of word vectors, exactly, by blocked matrix products.

Two passes. Products in float32 of a block of queries with a block of vectors find, for each query, every row
whose score may be among the best, rounding allowed for; those few are scored again pair by pair in float64.
So the result is that of a plain double loop, and depends neither on threads, nor on block sizes, nor on the
other queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.evaluation.measures import MEASURES
from wordkit.parallel import map_blocks
from wordkit.tally import Tally

# Those of the measures whose first pass is a matrix product.
SIMILARITIES = ("cosine", "dot", "euclidean", "bhattacharyya")
QUERY_BLOCK, ROW_BLOCK = 128, 2048
# Outside these, float32 products could overflow or lose digits: float64 does the first pass too.
_SAFE_NORMS = (1e-12, 1e12)


class Neighbors(NamedTuple):
    """Result of :func:`nearest_neighbors`.

    Attributes:
        rows: int64 (queries, top): row numbers, best first, equal scores in file order; -1 where there are no
            more.
        scores: float64 (queries, top): higher is nearer; nan beside a -1.
        zero_vectors: how many vectors are zero (their cosine with anything is 0).
        invalid_vectors: how many hold nan or inf; they are nobody's neighbours.
    """

    rows: np.ndarray
    scores: np.ndarray
    zero_vectors: int
    invalid_vectors: int


class _Scorer:
    """Scores of one similarity. The approximate ones, of shape (queries, rows), are within ``slack`` of the
    exact ones.
    """

    def __init__(self, vectors: np.ndarray, queries: np.ndarray, similarity: str) -> None:
        if similarity not in SIMILARITIES:
            raise ValueError(f"similarity is {similarity!r}, expected one of {', '.join(SIMILARITIES)}")
        self.similarity = similarity
        self.vectors = vectors
        self.squares = np.empty(len(vectors))
        for lo in range(0, len(vectors), ROW_BLOCK):
            block = vectors[lo : lo + ROW_BLOCK].astype(np.float64)
            self.squares[lo : lo + len(block)] = (block * block).sum(axis=1)
            if similarity == "bhattacharyya" and (block < 0).any():
                row = lo + int(np.argmax((block < 0).any(axis=1)))
                raise ValueError(
                    f"row {row} holds negative values: Bhattacharyya coefficients are of probabilities"
                )
        self.norms = np.sqrt(self.squares)
        self.finite = np.isfinite(self.squares)
        self.largest = float(self.norms[self.finite].max(initial=0.0))
        norms = np.concatenate(
            [self.norms[self.finite], np.sqrt((queries.astype(np.float64) ** 2).sum(axis=1))]
        )
        norms = norms[norms > 0]
        safe = not norms.size or (norms.min() > _SAFE_NORMS[0] and norms.max() < _SAFE_NORMS[1])
        self.dtype = np.dtype(np.float32 if safe else np.float64)
        # Worst-case rounding of a sum of dim products, and of the factors around it.
        self.rounding = (vectors.shape[1] + 16) * float(np.finfo(self.dtype).eps)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.inverse = np.where(self.norms > 0, 1.0 / self.norms, 0.0)

    def prepared(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Left factors of the products for queries (float64), and each query's slack."""
        norms = np.sqrt((queries * queries).sum(axis=1))
        if self.similarity == "cosine":
            left, scale = queries / np.where(norms > 0, norms, 1.0)[:, None], np.ones(len(queries))
        elif self.similarity == "bhattacharyya":
            left = np.sqrt(queries)
            largest_sum = self.largest * np.sqrt(self.vectors.shape[1])  # |v|_1 <= sqrt(dim) |v|_2
            scale = np.sqrt(queries.sum(axis=1) * largest_sum)
        else:
            left, scale = queries, norms * self.largest
            if self.similarity == "euclidean":
                scale = scale + self.largest**2
        return left.astype(self.dtype), 2 * self.rounding * scale

    def approximate(self, left: np.ndarray, lo: int, hi: int, out: np.ndarray) -> np.ndarray:
        """(queries, hi - lo) in ``out``; for euclidean it is (|q|^2 - |q - v|^2) / 2, which orders alike."""
        block = self.vectors[lo:hi].astype(self.dtype, copy=False)
        with np.errstate(all="ignore"):  # rows with nan or inf
            if self.similarity == "bhattacharyya":
                block = np.sqrt(block)
            scores = np.matmul(left, block.T, out=out)
            if self.similarity == "cosine":
                scores *= self.inverse[lo:hi].astype(self.dtype)
            elif self.similarity == "euclidean":
                scores -= (self.squares[lo:hi] / 2).astype(self.dtype)
        if not self.finite[lo:hi].all():
            scores[:, ~self.finite[lo:hi]] = -np.inf
        return scores

    def exact(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """float64 scores of one query (float64) with some rows, each as if it were the only one."""
        scores = np.empty(len(rows))
        measure = MEASURES[self.similarity]
        for lo in range(0, len(rows), ROW_BLOCK):
            some = rows[lo : lo + ROW_BLOCK]
            scores[lo : lo + len(some)] = measure(self.vectors[some].astype(np.float64), query)
        return scores


class _Candidates:
    """For a block of queries: every row seen that may still be among the best, and the score to be beaten.

    They gather in arrays over all queries, and floors rise for all at once: a step of Python for each query and
    block of rows would keep other threads waiting.
    """

    def __init__(self, queries: int, top: int, slack: np.ndarray, dtype: np.dtype) -> None:
        self.top, self.slack = top, slack
        self.floor = np.full(queries, np.finfo(dtype).min, dtype=dtype)
        none = np.empty(0, dtype=np.int64)
        self.gathered = [
            (none, none, np.empty(0, dtype=dtype))
        ]  # query, row, score; rows ascend for each query
        self.count = 0
        self.patience = self.least_patience = queries * (
            4 * top + 64
        )  # floors rise when so many have gathered

    def add(self, scores: np.ndarray, lo: int) -> None:
        """Take in the scores (queries, rows) of a block of rows from ``lo`` on."""
        flat = np.flatnonzero((scores >= self.floor[:, None]).ravel())
        query, column = np.divmod(flat, scores.shape[1])
        self.gathered.append((query, column + lo, scores.ravel()[flat]))
        self.count += len(flat)
        if self.count > self.patience:
            self._raise_floors()

    def left(self) -> list[np.ndarray]:
        """Row numbers of each query's candidates, in file order."""
        self._raise_floors()
        query, rows, _ = self.gathered[0]
        return np.split(rows, np.searchsorted(query, np.arange(1, len(self.floor))))

    def _raise_floors(self) -> None:
        query, rows, scores = (np.concatenate(parts) for parts in zip(*self.gathered, strict=True))
        order = np.argsort(query, kind="stable")
        query, rows, scores = query[order], rows[order], scores[order]
        bounds = np.searchsorted(query, np.arange(len(self.floor) + 1)).tolist()
        for i, (start, end) in enumerate(pairwise(bounds)):
            if end - start > self.top:
                kth = np.partition(scores[start:end], end - start - self.top)[end - start - self.top]
                # The k-th score and the rival's may both be off by the slack; rounding to the scores' type goes down.
                floor = self.floor.dtype.type(float(kth) - 2 * self.slack[i])
                self.floor[i] = max(self.floor[i], np.nextafter(floor, self.floor.dtype.type(-np.inf)))
        keep = scores >= self.floor[query]
        self.gathered = [(query[keep], rows[keep], scores[keep])]
        self.count = int(np.count_nonzero(keep))
        self.patience = max(self.least_patience, 2 * self.count)  # where nearly all are equal they all stay


def _queries(queries: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """(row numbers or None, query vectors)."""
    queries = np.asarray(queries)
    if queries.ndim == 1 and (queries.dtype.kind in "iu" or queries.size == 0):
        rows = queries.astype(np.int64)
        if rows.size and (rows.min() < 0 or rows.max() >= len(vectors)):
            raise ValueError(f"a query row is outside 0 ... {len(vectors) - 1}")
        return rows, vectors[rows]
    if queries.ndim != 2 or queries.shape[1] != vectors.shape[1]:
        raise ValueError(
            f"queries are {queries.shape}, expected row numbers or (queries, {vectors.shape[1]})"
        )
    with np.errstate(over="ignore"):
        return None, queries.astype(np.float32)


def nearest_neighbors(
    queries: np.ndarray, vectors: np.ndarray, *, top: int = 10, similarity: str = "cosine", threads: int = 1
) -> Neighbors:
    """The ``top`` nearest rows of each query.

    Args:
        queries: row numbers (n,), each row then not its own neighbour; or vectors (n, dim), nothing left out.
        vectors: (rows, dim), read as float32.
        top: at least 1.
        similarity: ``cosine`` (0 with a zero vector), ``dot``, ``euclidean`` (the score is minus the
            distance), or ``bhattacharyya`` (sum of sqrt(p q), for rows of probabilities).
        threads: the result does not depend on it.

    Returns:
        A :class:`Neighbors`.

    Raises:
        ValueError: shapes, an unknown similarity, a query that holds nan or inf, negative values for
            ``bhattacharyya``.
    """
    vectors = np.asarray(vectors, dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[1] < 1 or top < 1:
        raise ValueError(f"vectors are {vectors.shape} and top is {top}, expected (rows, dim) and at least 1")
    own, wanted = _queries(queries, vectors)
    bad = ~np.isfinite(wanted).all(axis=1)
    if bad.any():
        raise ValueError(f"query {int(np.argmax(bad))} holds nan or inf")
    scorer = _Scorer(vectors, wanted, similarity)
    if similarity == "bhattacharyya" and (wanted < 0).any():
        raise ValueError("a query holds negative values: Bhattacharyya coefficients are of probabilities")

    def search(start: int) -> tuple[np.ndarray, np.ndarray]:
        some = slice(start, start + QUERY_BLOCK)
        return _search(scorer, wanted[some].astype(np.float64), None if own is None else own[some], top)

    parts = map_blocks(search, range(0, len(wanted), QUERY_BLOCK), threads)
    rows = np.concatenate([part[0] for part in parts]) if parts else np.empty((0, top), dtype=np.int64)
    scores = np.concatenate([part[1] for part in parts]) if parts else np.empty((0, top))
    return Neighbors(rows, scores, int((scorer.squares == 0).sum()), int((~scorer.finite).sum()))


def _search(
    scorer: _Scorer, queries: np.ndarray, own: np.ndarray | None, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and scores of one block of queries (float64)."""
    left, slack = scorer.prepared(queries)
    candidates = _Candidates(len(queries), top, slack, scorer.dtype)
    total = len(scorer.vectors)
    # One buffer for all blocks: fresh memory for each would cost as much as the products.
    buffer = np.empty(len(queries) * ROW_BLOCK, dtype=scorer.dtype)
    for lo in range(0, total, ROW_BLOCK):
        hi = min(lo + ROW_BLOCK, total)
        out = buffer[: len(queries) * (hi - lo)].reshape(len(queries), hi - lo)
        scores = scorer.approximate(left, lo, hi, out)
        if own is not None:
            inside = np.flatnonzero((own >= lo) & (own < hi))
            scores[inside, own[inside] - lo] = -np.inf
        candidates.add(scores, lo)
    rows, scores = np.full((len(queries), top), -1, dtype=np.int64), np.full((len(queries), top), np.nan)
    for i, found in enumerate(candidates.left()):
        exact = scorer.exact(queries[i], found)
        order = np.lexsort((found, -exact))[:top]
        rows[i, : len(order)], scores[i, : len(order)] = found[order], exact[order]
    return rows, scores


class WordNeighbors(NamedTuple):
    """Result of :func:`neighbors_of_words`.

    Attributes:
        lists: (query, [(word, score), ...]) of each query that has a finite vector, in their order.
        zero_vectors: how many vectors are zero.
    """

    lists: list[tuple[str, list[tuple[str, float]]]]
    zero_vectors: int


def neighbors_of_words(
    queries: Sequence[str],
    words: Sequence[str],
    vectors: np.ndarray,
    *,
    top: int,
    similarity: str,
    threads: int,
    source: str,
    tally: Tally,
) -> WordNeighbors:
    """The nearest words of words; arguments as for :func:`nearest_neighbors`.

    Args:
        queries: words; those without a finite vector are counted and passed over.
        words: one a row of ``vectors``.
        source: name of the vector file, for what the tally is told.

    Raises:
        WordkitError: vectors that the similarity is not defined for.
    """
    row_of = {word: row for row, word in enumerate(words)}
    known = []
    for query in queries:
        if query not in row_of:
            tally.warn("unknown word", DataError(source, None, f"the word {query!r} is not there"))
        elif not np.isfinite(vectors[row_of[query]]).all():
            fault = DataError(source, None, f"the vector of {query!r} is not finite")
            tally.warn("query with nan or inf", fault)
        else:
            known.append(query)
    if not known:
        return WordNeighbors([], 0)
    rows = np.array([row_of[query] for query in known])
    try:
        most = min(top, len(vectors))  # there are no more, however many were asked for
        found = nearest_neighbors(rows, vectors, top=most, similarity=similarity, threads=threads)
    except ValueError as error:
        raise WordkitError(f"{source}: {error}") from None
    if found.zero_vectors and similarity == "cosine":
        word = words[int(np.argmin(np.any(vectors, axis=1)))]
        fault = DataError(source, None, f"the vector of {word!r} is zero: its cosine with any other is 0")
        tally.warn("zero vector", fault, found.zero_vectors)
    lists = [
        (query, [(words[row], float(score)) for row, score in zip(near, scores, strict=True) if row >= 0])
        for query, near, scores in zip(known, found.rows.tolist(), found.scores, strict=True)
    ]
    return WordNeighbors(lists, found.zero_vectors)
