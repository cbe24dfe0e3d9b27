"""The answer to "a is to b as c is to what" among all rows of a matrix, for many questions at once, and its log-likelihood.

A score of a row v is made of three products: v.b, v.c and v.a. Questions share words, so the products of the distinct words of
two thousand questions with a block of rows are one small matrix product in float32; a question then costs two additions
(3CosAdd) or multiplications (3CosMul) a row. What is found so is an upper bound of each score, rounding allowed for. The few
rows that may be the best are scored again in float64: the answer is that of a plain double loop, of equal ones the first row.
Questions are cut into chunks whose number does not depend on the threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wordkit.parallel import map_blocks

METHODS = ("add", "mul")
EPSILON = 0.001  # what 3CosMul adds to its divisor (Levy and Goldberg 2014)
# Questions a chunk; rows a block; questions whose scores are made at once: 128 x 1024 floats stay in the second-level cache.
CHUNK, ROW_BLOCK, QUERY_BLOCK = 2048, 1024, 128
_MOST_GATHERED = 1 << 20  # candidates a chunk holds before it scores them
_EPS = float(np.finfo(np.float32).eps)
Array = np.ndarray


class Terms(NamedTuple):
    """What a chunk's words contribute to the scores of a block of rows: float32 (words, rows) each; for b and c, and for a."""

    plus: Array
    minus: Array


class _Sum:
    """v.b + v.c - v.a, in float32."""

    join: np.ufunc = np.add

    def terms(self, products: Array) -> Terms:
        return Terms(products, np.negative(products))


class _Add(_Sum):
    """3CosAdd: cos(v, b) + cos(v, c) - cos(v, a); what is added up is greater by ``slack`` at most."""

    def __init__(self, dim: int) -> None:
        self.slack = 2 * (3 * (dim + 16) + 16) * _EPS

    def terms(self, products: Array) -> Terms:
        minus = np.negative(products)
        products += np.float32(self.slack / 4)
        return Terms(products, minus)

    def least(self, bound: Array, plus_b: Array, plus_c: Array, minus_a: Array) -> Array:
        """The least true scores with such upper bounds: float64."""
        return bound.astype(np.float64) - self.slack

    def exact(self, a: Array, b: Array, c: Array) -> Array:
        """Scores of cosines (float64)."""
        return b + c - a


class _Mul:
    """3CosMul: f(b) f(c) / (f(a) + EPSILON), f = (1 + cosine) / 2; what is multiplied is the greatest f(b), f(c) and 1 / f(a)."""

    join: np.ufunc = np.multiply

    def __init__(self, dim: int) -> None:
        self.error = (dim + 32) * _EPS

    def terms(self, products: Array) -> Terms:
        plus = products
        plus += 1
        plus *= 0.5
        minus = np.maximum(plus - np.float32(self.error), 0)
        minus += np.float32(EPSILON)
        np.divide(np.float32(1 + 8 * _EPS), minus, out=minus)
        plus += np.float32(self.error)
        np.maximum(plus, 0, out=plus)
        return Terms(plus, minus)

    def least(self, bound: Array, plus_b: Array, plus_c: Array, minus_a: Array) -> Array:
        """The least true scores with such upper bounds: float64."""
        b, c = (np.maximum(plus.astype(np.float64) - 2 * self.error, 0) for plus in (plus_b, plus_c))
        return b * c / (1 / minus_a.astype(np.float64) + 2 * self.error) * (1 - 32 * _EPS)

    def exact(self, a: Array, b: Array, c: Array) -> Array:
        """Scores of cosines (float64)."""
        f_a, f_b, f_c = (np.maximum((1 + cosine) / 2, 0) for cosine in (a, b, c))
        return f_b * f_c / (f_a + EPSILON)


class _Chunk:
    """Questions as places in the words that occur in them.

    ``words``: numbers of the distinct words; ``abc``: (3, questions), places in ``words``; ``pairs``: (2, distinct pairs of a
    and b), and ``pair``: each question's.
    """

    def __init__(self, queries: Array) -> None:
        self.words, places = np.unique(queries, return_inverse=True)
        places = places.reshape(queries.shape)
        self.abc = np.ascontiguousarray(places.T)
        codes, self.pair = np.unique(places[:, 0] * len(self.words) + places[:, 1], return_inverse=True)
        self.pairs = np.divmod(codes, len(self.words))

    def blocks(
        self, left: Array, vectors: Array, inverse: Array | None, rule: _Sum | _Mul
    ) -> Iterator[tuple[slice, int, Array, Terms]]:
        """(questions, first row, their scores of the rows from there on, terms), for every block; the scores are written over.

        Args:
            left: float32 (distinct words, dim); vectors: float32 (rows, dim); inverse: what the rows are multiplied by.
        """
        size = (min(QUERY_BLOCK, len(self.pair)), min(ROW_BLOCK, len(vectors)))
        buffers = np.empty((2, size[0] * size[1]), dtype=np.float32)
        for lo in range(0, len(vectors), ROW_BLOCK):
            block = vectors[lo : lo + ROW_BLOCK]
            if inverse is not None:
                block = (block * inverse[lo : lo + ROW_BLOCK, None]).astype(np.float32)
            terms = rule.terms(left @ block.T)
            moved = rule.join(terms.plus[self.pairs[1]], terms.minus[self.pairs[0]])
            for start in range(0, len(self.pair), QUERY_BLOCK):
                some = slice(start, min(start + QUERY_BLOCK, len(self.pair)))
                shape = (some.stop - start, len(block))
                scores, other = (buffer[: shape[0] * shape[1]].reshape(shape) for buffer in buffers)
                np.take(moved, self.pair[some], axis=0, out=scores, mode="clip")
                np.take(terms.plus, self.abc[2, some], axis=0, out=other, mode="clip")
                rule.join(scores, other, out=scores)
                yield some, lo, scores, terms


class _Excluded:
    """Rows that are no answer to a question: those of its own words."""

    def __init__(self, rows: Array) -> None:
        """``rows``: int64 (questions, 3), -1 where a word has none."""
        self.parts = []
        for start in range(0, len(rows), QUERY_BLOCK):
            some = rows[start : start + QUERY_BLOCK]
            flat, query = some.ravel(), np.repeat(np.arange(len(some)), some.shape[1])
            order = np.argsort(flat, kind="stable")
            self.parts.append((flat[order], query[order]))

    def apply(self, some: slice, lo: int, scores: Array) -> None:
        """Set the scores of the block that begins with row ``lo`` to minus infinity."""
        rows, query = self.parts[some.start // QUERY_BLOCK]
        first, last = np.searchsorted(rows, (lo, lo + scores.shape[1]))
        if first < last:
            scores[query[first:last], rows[first:last] - lo] = -np.inf


class _Best:
    """The best row of each question of a chunk: candidates gather, and are scored exactly at the end or when they are many."""

    def __init__(self, chunk: _Chunk, words: Array, vectors: Array, rule: _Add | _Mul) -> None:
        self.chunk, self.words, self.vectors, self.rule = chunk, words.astype(np.float64), vectors, rule
        count = chunk.abc.shape[1]
        self.floor = np.full(count, -np.inf)
        self.rows, self.scores = np.full(count, -1, dtype=np.int64), np.full(count, -np.inf)
        self.gathered: list[tuple[Array, Array, Array]] = []  # question, row, upper bound
        self.count = 0

    def add(self, some: slice, lo: int, scores: Array, terms: Terms) -> None:
        """Take in upper bounds (questions, rows) of the block of rows that begins with ``lo``."""
        top = scores.max(axis=1)
        hot = np.flatnonzero((top >= self.floor[some]) & (top > -np.inf))
        if not len(hot):
            return
        bounds, query = scores[hot], hot + some.start
        column = bounds.argmax(axis=1)
        a, b, c = self.chunk.abc[:, query]
        least = self.rule.least(
            top[hot], terms.plus[b, column], terms.plus[c, column], terms.minus[a, column]
        )
        self.floor[query] = np.maximum(self.floor[query], least)
        found, columns = np.divmod(np.flatnonzero(bounds >= self.floor[query, None]), bounds.shape[1])
        self.gathered.append((query[found], columns + lo, bounds[found, columns]))
        self.count += len(found)
        if self.count > _MOST_GATHERED:
            self.settle()

    def settle(self) -> None:
        """Score the candidates exactly and keep each question's best."""
        if not self.gathered:
            return
        query, rows, bounds = (np.concatenate(parts) for parts in zip(*self.gathered, strict=True))
        keep = bounds >= self.floor[query]
        query, rows = query[keep], rows[keep]
        scores = np.empty(len(query))
        for lo in range(0, len(query), 8 * ROW_BLOCK):
            part = slice(lo, lo + 8 * ROW_BLOCK)
            scores[part] = self._exact(query[part], rows[part])
        order = np.lexsort((rows, -scores, query))
        first = order[np.diff(query[order], prepend=-1) > 0]
        better = first[scores[first] > self.scores[query[first]]]  # an equal one has a later row
        self.rows[query[better]], self.scores[query[better]] = rows[better], scores[better]
        self.floor = np.maximum(self.floor, self.scores)
        self.gathered, self.count = [], 0

    def _exact(self, query: Array, rows: Array) -> Array:
        v = self.vectors[rows].astype(np.float64)
        a, b, c = (cosines(v, self.words[place]) for place in self.chunk.abc[:, query])
        return self.rule.exact(a, b, c)


def cosines(x: Array, y: Array) -> Array:
    """Cosine of each row of x with the same row of y (float64), each as if it were the only one; 0 with a zero vector."""
    products, norms = (x * y).sum(axis=1), np.sqrt((x * x).sum(axis=1)) * np.sqrt((y * y).sum(axis=1))
    return np.divide(products, norms, out=np.zeros(len(x)), where=norms > 0)


def _inverse_norms(vectors: Array) -> Array:
    """1 / norm of each row, 0 of a zero row: float64."""
    inverse = np.zeros(len(vectors))
    for lo in range(0, len(vectors), 8 * ROW_BLOCK):
        block = vectors[lo : lo + 8 * ROW_BLOCK].astype(np.float64)
        norms = np.sqrt((block * block).sum(axis=1))
        np.divide(1, norms, out=inverse[lo : lo + len(block)], where=norms > 0)
    return inverse


def _check(queries: Array, words: Array, vectors: Array) -> None:
    if words.ndim != 2 or vectors.ndim != 2 or words.shape[1] != vectors.shape[1] or not vectors.shape[1]:
        raise ValueError(f"words are {words.shape} and vectors {vectors.shape}, expected the same dimensions")
    if queries.ndim != 2 or queries.shape[1] != 3:
        raise ValueError(f"queries are {queries.shape}, expected (queries, 3)")
    if queries.size and (queries.min() < 0 or queries.max() >= len(words)):
        raise ValueError(f"a query names a word outside 0 ... {len(words) - 1}")


def _distinct(queries: Array) -> tuple[Array, Array]:
    """The distinct rows in the order of their first place, and which of them each row is."""
    if not len(queries):
        return queries, np.empty(0, dtype=np.int64)
    found, first, which = np.unique(queries, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # neighbours in a file share words
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return found[order], rank[which.ravel()]


def best_answers(
    queries: Array, words: Array, rows: Array, vectors: Array, *, method: str = "add", threads: int = 1
) -> Array:
    """The row v with the best score for each question a : b = c : v; a, b and c themselves are no answer.

    Args:
        queries: int (n, 3), numbers of the words a, b, c in ``words``.
        words: (words, dim), vectors of the words in the questions.
        rows: int (words,), the row of each in ``vectors``; -1 if it is none of them.
        vectors: float32 (rows, dim), finite; of any length, cosines are what counts (0 with a zero vector).
        method: ``add``, cos(v, b) - cos(v, a) + cos(v, c); or ``mul``, f(b) f(c) / (f(a) + 0.001) with f = (1 + cosine) / 2.
        threads: the result does not depend on it.

    Returns:
        int64 (n,): row numbers, of equal scores the first; -1 where no row is left.

    Raises:
        ValueError: shapes, ranges, an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(METHODS)}")
    _check(queries, words, vectors)
    distinct, which = _distinct(queries)
    inverse = _inverse_norms(vectors)
    unit = (words * _inverse_norms(words)[:, None]).astype(np.float32)
    rule: _Add | _Mul = _Add(vectors.shape[1]) if method == "add" else _Mul(vectors.shape[1])

    def answer(start: int) -> Array:
        some = distinct[start : start + CHUNK]
        chunk, excluded = _Chunk(some), _Excluded(rows[some])
        best = _Best(chunk, words[chunk.words], vectors, rule)
        for part, lo, scores, terms in chunk.blocks(unit[chunk.words], vectors, inverse, rule):
            excluded.apply(part, lo, scores)
            best.add(part, lo, scores, terms)
        best.settle()
        return best.rows

    found = map_blocks(answer, range(0, len(distinct), CHUNK), threads)
    return np.concatenate([np.empty(0, np.int64), *found])[which]


def log_normalizers(queries: Array, words: Array, outputs: Array, *, threads: int = 1) -> Array:
    """log sum over the rows v of exp(v . (b - a + c)), for each question.

    Args:
        queries, words: as for :func:`best_answers`, vectors as they are, not brought to one length.
        outputs: float32 (rows, dim).
        threads: the result does not depend on it.

    Returns:
        float64 (n,), products in float32; not finite where they overflow.

    Raises:
        ValueError: shapes, ranges.
    """
    _check(queries, words, outputs)
    distinct, which = _distinct(queries)
    left, rule = words.astype(np.float32), _Sum()

    def normalizers(start: int) -> Array:
        chunk = _Chunk(distinct[start : start + CHUNK])
        highest = np.full(len(chunk.pair), -np.inf, dtype=np.float32)
        total = np.zeros(len(chunk.pair))
        with np.errstate(over="ignore", invalid="ignore"):
            for some, _, scores, _ in chunk.blocks(left[chunk.words], outputs, None, rule):
                top = np.maximum(highest[some], scores.max(axis=1))
                np.exp(np.subtract(scores, top[:, None], out=scores), out=scores)
                total[some] = total[some] * np.exp((highest[some] - top).astype(np.float64)) + scores.sum(
                    axis=1
                )
                highest[some] = top
            return np.log(total) + highest

    found = map_blocks(normalizers, range(0, len(distinct), CHUNK), threads)
    return np.concatenate([np.empty(0), *found])[which]
