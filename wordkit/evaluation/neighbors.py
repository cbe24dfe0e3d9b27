"""Nearest neighbours of word vectors, exactly, by blocked matrix products.

Two passes. Products in float32 of a block of queries with a block of vectors find, for each query, every row
whose score may be among the best, rounding allowed for; those few are scored again pair by pair in float64.
So the result is that of a plain double loop, and depends neither on threads, nor on block sizes, nor on the
other queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.evaluation.measures import OF_PROBABILITIES
from wordkit.evaluation.neighbor_scores import SIMILARITIES, Scorer
from wordkit.monitor import Monitor
from wordkit.parallel import map_blocks
from wordkit.tally import Tally

__all__ = ["SIMILARITIES", "NeighborIndex", "Neighbors", "nearest_neighbors", "neighbors_of_words"]
QUERY_BLOCK, ROW_BLOCK = 256, 1024  # a block of float32 scores stays in the second-level cache
WORDS_AT_ONCE = 2048  # queries whose lists are held in memory


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


class _Candidates:
    """For a block of queries: every row seen that may still be among the best, and the score to be beaten.

    They gather in arrays over all queries, and floors rise for all at once: a step of Python for each query and
    block of rows would keep other threads waiting.
    """

    def __init__(self, queries: int, top: int, slack: np.ndarray, scorer: Scorer) -> None:
        self.top, self.slack, self.scorer = top, slack, scorer
        dtype = scorer.dtype
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

    def left(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Row numbers of each query's candidates, in file order, and their scores of the first pass."""
        self._raise_floors()
        query, rows, scores = self.gathered[0]
        ends = np.searchsorted(query, np.arange(1, len(self.floor)))
        return list(zip(np.split(rows, ends), np.split(scores, ends), strict=True))

    def _raise_floors(self) -> None:
        query, rows, scores = (np.concatenate(parts) for parts in zip(*self.gathered, strict=True))
        order = np.argsort(query, kind="stable")
        query, rows, scores = query[order], rows[order], scores[order]
        bounds = np.searchsorted(query, np.arange(len(self.floor) + 1)).tolist()
        for i, (start, end) in enumerate(pairwise(bounds)):
            if end - start > self.top:
                kth = np.partition(scores[start:end], end - start - self.top)[end - start - self.top]
                # The k-th score and the rival's may both be off by the slack; rounding to the scores' type goes down.
                floor = self.floor.dtype.type(self.scorer.floor(float(kth), float(self.slack[i])))
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


class NeighborIndex:
    """Vectors to search among, measured once for any number of searches.

    Args:
        vectors: (rows, dim), read as float32.
        similarity: one of :data:`wordkit.evaluation.measures.MEASURES`, higher is nearer: a distance has a minus. From ``kl`` on
            for rows of probabilities.

    Raises:
        ValueError: shapes, an unknown similarity, negative values where probabilities are asked for.
    """

    def __init__(self, vectors: np.ndarray, similarity: str = "cosine") -> None:
        vectors = np.asarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or vectors.shape[1] < 1:
            raise ValueError(f"vectors are {vectors.shape}, expected (rows, dim)")
        self.vectors, self.similarity = vectors, similarity
        self.scorer = Scorer(vectors, similarity)

    def search(self, queries: np.ndarray, *, top: int = 10, threads: int = 1) -> Neighbors:
        """The ``top`` nearest rows of each query; arguments, result and errors as of :func:`nearest_neighbors`."""
        if top < 1:
            raise ValueError(f"top is {top}, expected at least 1")
        scorer = self.scorer
        own, wanted = _queries(queries, self.vectors)
        bad = ~np.isfinite(wanted).all(axis=1)
        if bad.any():
            raise ValueError(f"query {int(np.argmax(bad))} holds nan or inf")
        if self.similarity in OF_PROBABILITIES and (wanted < 0).any():
            raise ValueError(f"a query holds negative values: {self.similarity} is for probabilities")
        scorer.use(wanted)

        def search(start: int) -> tuple[np.ndarray, np.ndarray]:
            some = slice(start, start + QUERY_BLOCK)
            return _search(scorer, wanted[some].astype(np.float64), None if own is None else own[some], top)

        parts = map_blocks(search, range(0, len(wanted), QUERY_BLOCK), threads)
        rows = np.concatenate([part[0] for part in parts]) if parts else np.empty((0, top), dtype=np.int64)
        scores = np.concatenate([part[1] for part in parts]) if parts else np.empty((0, top))
        return Neighbors(rows, scores, int((scorer.squares == 0).sum()), int((~scorer.finite).sum()))


def nearest_neighbors(
    queries: np.ndarray, vectors: np.ndarray, *, top: int = 10, similarity: str = "cosine", threads: int = 1
) -> Neighbors:
    """The ``top`` nearest rows of each query.

    Args:
        queries: row numbers (n,), each row then not its own neighbour; or vectors (n, dim), nothing left out.
        vectors: (rows, dim), read as float32.
        top: at least 1.
        similarity: one of :data:`wordkit.evaluation.measures.MEASURES`: ``cosine`` (0 with a zero vector), ``dot``,
            ``euclidean`` (the score is minus the distance), or one for rows of probabilities.
        threads: the result does not depend on it.

    Returns:
        A :class:`Neighbors`.

    Raises:
        ValueError: shapes, an unknown similarity, a query that holds nan or inf, negative values where probabilities are
            asked for.
    """
    return NeighborIndex(vectors, similarity).search(queries, top=top, threads=threads)


def _search(
    scorer: Scorer, queries: np.ndarray, own: np.ndarray | None, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and scores of one block of queries (float64)."""
    left, less, slack = scorer.prepared(queries)
    candidates = _Candidates(len(queries), top, slack, scorer)
    total = len(scorer.vectors)
    # One buffer for all blocks: fresh memory for each would cost as much as the products.
    buffer = np.empty(len(queries) * ROW_BLOCK, dtype=scorer.dtype)
    for lo in range(0, total, ROW_BLOCK):
        hi = min(lo + ROW_BLOCK, total)
        out = buffer[: len(queries) * (hi - lo)].reshape(len(queries), hi - lo)
        scores = scorer.approximate(left, less, lo, hi, out)
        if own is not None:
            inside = np.flatnonzero((own >= lo) & (own < hi))
            scores[inside, own[inside] - lo] = -np.inf
        candidates.add(scores, lo)
    rows, scores = np.full((len(queries), top), -1, dtype=np.int64), np.full((len(queries), top), np.nan)
    for i, (found, bounds) in enumerate(candidates.left()):
        found, exact = scorer.exact_best(queries[i], found, bounds, float(slack[i]), top)
        order = np.lexsort((found, -exact))[:top]
        rows[i, : len(order)], scores[i, : len(order)] = found[order], exact[order]
    return rows, scores


class WordNeighbors(NamedTuple):
    """Result of :func:`neighbors_of_words`.

    Attributes:
        queries: those that have a finite vector, in their order.
        lists: of each of them [(word, score), ...], made while they are iterated over, once.
        zero_vectors: how many vectors are zero.
    """

    queries: list[str]
    lists: Iterator[list[tuple[str, float]]]
    zero_vectors: int


def neighbors_of_words(
    queries: Sequence[str] | None,
    words: Sequence[str],
    vectors: np.ndarray,
    *,
    top: int,
    similarity: str,
    threads: int,
    source: str,
    tally: Tally,
    monitor: Monitor | None = None,
) -> WordNeighbors:
    """The nearest words of words; arguments as for :func:`nearest_neighbors`.

    Args:
        queries: words; those without a finite vector are counted and passed over. None: all words, those without one left out.
        words: one a row of ``vectors``.
        source: name of the vector file, for what the tally is told.
        monitor: told of every list.

    Raises:
        WordkitError: vectors that the similarity is not defined for.
    """
    rows = _rows_of(queries, words, vectors, source, tally)
    if not len(rows):
        return WordNeighbors([], iter(()), 0)
    try:
        index = NeighborIndex(vectors, similarity)
    except ValueError as error:
        raise WordkitError(f"{source}: {error}") from None
    finite = index.scorer.finite
    if not finite.all() and "row with nan or inf" not in tally.counts:  # vectors that were mapped, not read
        row = int(np.argmin(finite))
        fault = DataError(source, None, f"row {row + 1}: the vector of {words[row]!r} holds nan or inf")
        tally.warn("row with nan or inf", fault, int(np.count_nonzero(~finite)))
    zero_vectors = int((index.scorer.squares == 0).sum())
    if zero_vectors and similarity == "cosine":
        word = words[int(np.argmin(index.scorer.squares))]
        fault = DataError(source, None, f"the vector of {word!r} is zero: its cosine with any other is 0")
        tally.warn("zero vector", fault, zero_vectors)
    most = min(top, len(vectors))  # there are no more, however many were asked for
    monitor = Monitor() if monitor is None else monitor

    def lists() -> Iterator[list[tuple[str, float]]]:
        monitor.begin(len(rows), "words")
        for lo in range(0, len(rows), WORDS_AT_ONCE):
            some = rows[lo : lo + WORDS_AT_ONCE]
            found = index.search(some, top=most, threads=threads)
            monitor.advance(len(some))
            for near, scores in zip(found.rows.tolist(), found.scores.tolist(), strict=True):
                yield [(words[row], score) for row, score in zip(near, scores, strict=True) if row >= 0]

    return WordNeighbors([words[row] for row in rows], lists(), zero_vectors)


def _rows_of(
    queries: Sequence[str] | None, words: Sequence[str], vectors: np.ndarray, source: str, tally: Tally
) -> np.ndarray:
    """Rows of the queries that have a finite vector."""
    if queries is None:
        return np.flatnonzero(np.isfinite(vectors).all(axis=1))
    row_of = {word: row for row, word in enumerate(words)}
    known = []
    for query in queries:
        if query not in row_of:
            tally.warn("unknown word", DataError(source, None, f"the word {query!r} is not there"))
        elif not np.isfinite(vectors[row_of[query]]).all():
            fault = DataError(source, None, f"the vector of {query!r} is not finite")
            tally.warn("query with nan or inf", fault)
        else:
            known.append(row_of[query])
    return np.array(known, dtype=np.int64)
