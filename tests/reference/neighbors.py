"""Twin of ``wordkit.evaluation.neighbors``: every pair in a double loop."""

from __future__ import annotations

import math

import numpy as np

from wordkit.evaluation.measures import MEASURES


def similarity(x: np.ndarray, y: np.ndarray, name: str) -> float:
    x, y = x.astype(np.float64), y.astype(np.float64)
    if name == "euclidean":
        return -math.sqrt(((x - y) ** 2).sum())
    if name == "bhattacharyya":
        return float(np.sqrt(x * y).sum())
    if name in (
        "kl",
        "chi-squared",
        "jensen-shannon",
        "hellinger",
    ):  # tests/evaluation/test_measures.py holds them to SciPy
        return float(MEASURES[name](x[None], y[None])[0])
    dot = float((x * y).sum())
    if name == "dot":
        return dot
    norms = math.sqrt((x * x).sum()) * math.sqrt((y * y).sum())
    return min(1.0, max(-1.0, dot / norms)) if norms > 0 else 0.0


def nearest(
    query: np.ndarray, own: int | None, vectors: np.ndarray, top: int, name: str
) -> list[tuple[int, float]]:
    """(row, score), best first, equal scores in file order."""
    scored = [
        (row, similarity(query, vector, name))
        for row, vector in enumerate(vectors)
        if row != own and np.isfinite(vector).all()
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:top]
