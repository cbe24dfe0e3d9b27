"""Co-occurrence counts in NumPy and Fractions: every pair of places looked at, straight from the definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def table(stream, first: int, last: int, V: int, before, after) -> np.ndarray:
    """(V, V): weights summed over pairs of places of a stream of numbers; what is neither a word nor V ends a line."""
    stream, out = np.asarray(stream), np.zeros((V, V), dtype=np.int64)
    line = np.cumsum((stream < 0) | (stream > V))
    for weights, step in ((before, -1), (after, 1)):
        for d, weight in enumerate(weights, 1):
            p = np.arange(first, last)
            q = p + step * d
            inside = (q >= 0) & (q < len(stream))
            p, q = p[inside], q[inside]
            paired = (
                (line[p] == line[q]) & (stream[p] >= 0) & (stream[p] < V) & (stream[q] >= 0) & (stream[q] < V)
            )
            np.add.at(out, (stream[p[paired]], stream[q[paired]]), weight)
    return out


def of_sentences(sentences, words, window: int, context: str, weighting: str) -> np.ndarray:
    """(V, V) exact sums over sentences of words, as float64; words that are not listed keep their places."""
    index = {word: i for i, word in enumerate(words)}
    sums: dict[tuple[int, int], Fraction] = {}
    for sentence in sentences:
        for p, word in enumerate(sentence):
            for q, other in enumerate(sentence):
                side = "left" if q < p else "right"
                near = 0 < abs(p - q) <= window and context in ("both", side)
                if near and word in index and other in index:
                    cell = index[word], index[other]
                    weight = Fraction(1, abs(p - q)) if weighting == "harmonic" else Fraction(1)
                    sums[cell] = sums.get(cell, Fraction(0)) + weight
    out = np.zeros((len(words), len(words)))
    for cell, value in sums.items():
        out[cell] = float(value)
    return out


def pmi(counts, *, positive: bool = False, shift: float = 0.0) -> np.ndarray:
    """Dense PMI of a dense table; cells of no count are 0."""
    counts = np.asarray(counts, dtype=np.float64)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    ratio = np.where(counts > 0, counts * counts.sum(), 1) / np.where(counts > 0, expected, 1)
    values = np.where(counts > 0, np.log(ratio) - (np.log(shift) if shift else 0), 0)
    return np.maximum(values, 0) if positive else values
