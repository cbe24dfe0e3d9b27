"""Where features stand in a tensor of weights (Cao and Khudanpur 2014, section 3).

A tensor of order D with mode sizes n_1, ..., n_D has room for V features where their product is V or more. A set of weights that
a tensor of order D + 1 and rank one can hold can be held by one of order D and the same volume (join two modes into one), but not
the other way round (Theorem 1); the number of parameters, D V^(1/D) with equal modes, is least at D* = ln V rounded up or down.
So a higher order has less freedom and, up to D*, fewer parameters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

MAPPINGS = ("approximate", "sequential")
MOST_ORDER = 32


def mode_sizes(features: int, order: int) -> tuple[int, ...]:
    """Modes as equal as can be, the smaller ones first: those of V^(1/D) rounded down or up with the least volume >= V (3.2).

    >>> mode_sizes(1_333_333, 3)
    (110, 110, 111)
    """
    if features < 1 or not 1 <= order <= MOST_ORDER:
        raise ValueError(f"{features} features in a tensor of order {order}")
    low = max(1, round(features ** (1 / order)))
    while low**order > features:
        low -= 1
    while (low + 1) ** order <= features:
        low += 1
    larger = next(k for k in range(order + 1) if low ** (order - k) * (low + 1) ** k >= features)
    return (low,) * (order - larger) + (low + 1,) * larger


def order_of_fewest_parameters(features: int) -> int:
    """D* (3.1): ln V rounded down or up, whichever has fewer parameters D V^(1/D)."""
    if features < 1:
        raise ValueError(f"{features} features")
    low = max(1, math.floor(math.log(features)))
    return min((low, low + 1), key=lambda order: order * features ** (1 / order))


def check_modes(modes: Sequence[int], features: int, order: int) -> tuple[int, ...]:
    """Mode sizes that a user gave, if there is room for all features."""
    sizes = tuple(int(size) for size in modes)
    if len(sizes) != order or min(sizes, default=0) < 1 or math.prod(sizes) < features or sum(sizes) >= 2**31:
        shape = "x".join(map(str, sizes))
        raise ValueError(f"modes {shape} have no room for {features} features in a tensor of order {order}")
    return sizes


def sequential_positions(features: int) -> np.ndarray:
    """int64 (V,): each feature in its own place (3.4); the last mode is to run fastest."""
    return np.arange(features, dtype=np.int64)


def approximate_positions(surrogate: np.ndarray, modes: Sequence[int]) -> np.ndarray:
    """int64 (V,): the place of each feature by Figure 2; the first mode is to run fastest.

    Weights that are not negative in falling order, and negative ones in rising order, fill whole groups of all modes but the
    last, first those of the one sign, then those of the other; what is left of both comes behind. Equal weights keep their order.
    """
    upper = np.flatnonzero(surrogate >= 0)
    lower = np.flatnonzero(surrogate < 0)
    upper = upper[np.argsort(-surrogate[upper], kind="stable")]
    lower = lower[np.argsort(surrogate[lower], kind="stable")]
    group = math.prod(modes[:-1])
    e, f = len(upper) - len(upper) % group, len(lower) - len(lower) % group
    order = np.concatenate([upper[:e], lower[:f], upper[e:], lower[f:]])
    positions = np.empty(len(surrogate), np.int64)
    positions[order] = np.arange(len(order))
    return positions


def mode_places(positions: np.ndarray, modes: Sequence[int], mapping: str) -> np.ndarray:
    """int32 (V, D): for each position its place in each mode, counted on from the modes before.

    A position is a number of mixed radix, its lowest digit the first mode for ``approximate``, the last one for ``sequential``.
    """
    places = np.empty((len(positions), len(modes)), np.int32)
    offsets = np.concatenate([[0], np.cumsum(modes)[:-1]])
    digits = range(len(modes)) if mapping == "approximate" else range(len(modes) - 1, -1, -1)
    rest = positions
    for d in digits:
        rest, digit = np.divmod(rest, modes[d])
        places[:, d] = digit + offsets[d]
    if rest.any():
        raise ValueError("a position lies outside the tensor")
    return places


def singular_values(
    weights: np.ndarray, places: np.ndarray, modes: Sequence[int], count: int = 20
) -> np.ndarray:
    """The largest singular values of weights mapped to a matrix, as Figure 4 shows them for a surrogate.

    Args:
        weights: (V,). places: (V, 2), of :func:`mode_places`. modes: the matrix's two sizes.
    """
    if len(modes) != 2:
        raise ValueError("a matrix has two modes")
    matrix = np.zeros(tuple(modes))
    matrix[places[:, 0], places[:, 1] - modes[0]] = weights
    return np.linalg.svd(matrix, compute_uv=False)[:count]
