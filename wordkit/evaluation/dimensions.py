"""What the dimensions of vectors stand for: the words with the greatest values in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def words_of_dimension(
    words: Sequence[str], vectors: np.ndarray, dimension: int, top: int
) -> list[tuple[str, float]]:
    """The ``top`` words farthest from zero in a dimension, each with its value there; of equal ones the first in the file.

    Words whose value is zero, nan or infinite are left out: of sparse codes fewer may be left. The root of a tree of a forest is
    used by every word that uses the tree, so that its words are those of the tree.

    Args:
        vectors: (words, dim). dimension: from 0.

    Raises:
        ValueError: there is no such dimension.
    """
    if not 0 <= dimension < vectors.shape[1]:
        raise ValueError(f"there is no dimension {dimension}, the vectors have {vectors.shape[1]}, from 0")
    values = np.ascontiguousarray(vectors[:, dimension])
    sizes = np.where(np.isfinite(values), np.abs(values), 0)
    order = np.argsort(-sizes, kind="stable")[:top]
    return [(words[row], float(values[row])) for row in order.tolist() if sizes[row]]
