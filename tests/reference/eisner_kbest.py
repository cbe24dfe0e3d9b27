"""All projective trees of a short sentence by going through all heads, and the best of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np


def is_tree(heads: Sequence[int]) -> bool:
    """Whether every word reaches the root 0."""
    for word in range(1, len(heads) + 1):
        for _ in heads:
            word = heads[word - 1] if word else 0
        if word:
            return False
    return True


def crossing(heads: Sequence[int]) -> bool:
    """Whether two arcs cross, that from the root included."""
    arcs = [tuple(sorted((head, word))) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


def projective_trees(n: int) -> Iterator[tuple[int, ...]]:
    """Heads of the projective trees of n words with one word on the root."""
    for heads in itertools.product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and is_tree(heads) and not crossing(heads):
            yield heads


def best_trees(arcs: np.ndarray, k: int) -> list[tuple[float, tuple[int, ...]]]:
    """Score and heads of the k best, best first."""
    n = len(arcs) - 1
    scored = [
        (sum(arcs[head, word] for word, head in enumerate(heads, 1)), heads) for heads in projective_trees(n)
    ]
    return sorted(scored, key=lambda pair: -pair[0])[:k]
