"""Analogies question by question: float64 cosines with every row, a stable sort for the best."""

from __future__ import annotations

import numpy as np


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    """0 with a zero vector."""
    norms = np.sqrt((x * x).sum()) * np.sqrt((y * y).sum())
    return float((x * y).sum() / norms) if norms > 0 else 0.0


def scores(abc: np.ndarray, vectors: np.ndarray, method: str) -> np.ndarray:
    """Score of every row for the vectors a, b, c (3, dim)."""
    table = np.array([[cosine(v, word) for word in abc] for v in vectors.astype(np.float64)]).reshape(-1, 3)
    a, b, c = table.T
    if method == "add":
        return b + c - a
    f_a, f_b, f_c = (np.maximum((1 + x) / 2, 0) for x in (a, b, c))
    return f_b * f_c / (f_a + 0.001)


def answers(
    queries: np.ndarray, words: np.ndarray, rows: np.ndarray, vectors: np.ndarray, method: str
) -> list[int]:
    """The best row of each question, of equal ones the first, those of its own words left out; -1 where none is left."""
    found = []
    for query in queries:
        of_rows = scores(words[query].astype(np.float64), vectors, method)
        order = [row for row in np.argsort(-of_rows, kind="stable").tolist() if row not in rows[query]]
        found.append(order[0] if order else -1)
    return found


def log_likelihood(a: np.ndarray, b: np.ndarray, c: np.ndarray, outputs: np.ndarray, target: int) -> float:
    """log softmax of the target row's product with b - a + c over all rows."""
    products = outputs.astype(np.float64) @ (b - a + c).astype(np.float64)
    highest = products.max()
    return float(products[target] - highest - np.log(np.exp(products - highest).sum()))
