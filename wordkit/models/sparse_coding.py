"""Hierarchical sparse coding of words (Yogatama et al. 2015): what users call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordkit._kernels import forest_prox
from wordkit.models.forests import Forest


def tree_prox(
    A: np.ndarray,
    parents: Sequence[int] | np.ndarray | Forest,
    t: float | np.ndarray,
    *,
    nonnegative: bool = False,
) -> np.ndarray:
    """The proximal operator of the hierarchical penalty, a column at a time.

    Column a becomes the z that minimizes 1/2 |z - a|^2 + t times the sum over nodes of the length of z on the node's subtree.

    Args:
        A: (M, n), a value a node and column; float32 stays float32, all else becomes float64.
        parents: (M), each node's parent, -1 of a root, parents before children; or a forest.
        t: threshold, >= 0, of all columns or one each (n).
        nonnegative: minimize over z >= 0 only.

    Returns:
        A new array (M, n). Values are exactly 0 where the groups above them are shrunk away.

    Raises:
        ValueError: shapes that do not agree, parents that are no forest, a negative threshold, values that are not finite.
    """
    values = np.array(A, dtype=np.float32 if np.asarray(A).dtype == np.float32 else np.float64, order="C")
    forest = parents if isinstance(parents, Forest) else Forest(parents)
    if values.ndim != 2 or len(values) != len(forest):
        raise ValueError(f"A has shape {values.shape}, expected ({len(forest)}, n), a row a node")
    thresholds = np.asarray(t, dtype=values.dtype)
    if thresholds.shape not in ((), values.shape[1:]) or not (thresholds >= 0).all():
        raise ValueError(f"t must be a number >= 0, or one for each of the {values.shape[1]} columns")
    if not np.isfinite(values).all():
        raise ValueError("A holds nan or inf")
    columns = np.array(np.broadcast_to(thresholds, values.shape[1:]))
    forest_prox.shrink(values, forest.parents, columns, nonnegative, 0, values.shape[1])
    return values
