"""Splits of labelled data and grids of parameters, for models that choose their parameters on held-out data."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wordkit import rng


def stratified_folds(labels: np.ndarray, k: int, seed: int) -> np.ndarray:
    """A fold number 0..k-1 for each of n labels (int32), every class spread evenly over the folds.

    Raises:
        ValueError: k is below 2 or above n.
    """
    n = len(labels)
    if not 2 <= k <= n:
        raise ValueError(f"{k} folds of {n} documents, expected 2 to {n}")
    shuffled = rng.stream(seed, rng.FOLDS).permutation(n)
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    folds = np.empty(n, dtype=np.int32)
    folds[by_class] = np.arange(n) % k
    return folds


def grid_points(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of a grid's values, the last name fastest."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
