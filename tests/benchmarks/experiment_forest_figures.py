"""Figures 2 to 4 of Yogatama et al. 2015 through ``plot forest`` and ``plot words``, and what they are to show, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from tests.benchmarks.forest_rows import Rows, results, wordkit
from wordkit.formats.vectors import read_vectors
from wordkit.models.forests import forest_of_shape

HEAT_MAPS = {
    "animals": ("animal", "animals", "horse", "elephant", "dog", "cat", "bird", "fish", "wolf", "bear"),
    "countries": (
        "country",
        "countries",
        "england",
        "france",
        "germany",
        "spain",
        "italy",
        "russia",
        "china",
        "india",
    ),
}
TREES = ("animal", "horse", "elephant")
GROUPS = {
    "good": ("good", "great", "excellent", "wonderful", "happy", "beautiful", "pleasant", "perfect", "fine", "nice", "rich",
             "strong", "healthy", "delightful"),
    "bad": ("bad", "terrible", "awful", "horrible", "sad", "ugly", "unpleasant", "wrong", "poor", "nasty", "weak", "sick",
            "evil", "miserable"),
}  # fmt: skip


def figures(rows: Rows, dim: int, large: int, peer_dim: int) -> Iterator[str]:
    """Draw what vectors there are, and say of each figure what is in it; a line a figure."""
    forest = rows.vectors("FOREST", dim)
    if forest.exists():
        words, vectors = read_vectors(forest)
        codes = dict(zip(words, vectors, strict=True))
        for name, group in HEAT_MAPS.items():
            known = [word for word in group if word in codes]
            if len(known) > 1:
                path = rows.output / f"figure2.{name}.png"
                wordkit("plot", "forest", forest, *known, "--heat-map", "-o", path)
                yield f"{path.name}: {len(known)} words; {_agreement(np.stack([codes[word] for word in known]))}"
        known = [word for word in TREES if word in codes]
        if known:
            path = rows.output / "figure3.png"
            wordkit("plot", "forest", forest, *known, "-o", path)
            yield f"{path.name}: {', '.join(known)}, the first of {dim // 13} trees"
    for method, size in (("FOREST", large), ("SG", peer_dim)):
        vectors_file = rows.vectors(method, size)
        if vectors_file.exists():
            path = rows.output / f"figure4.{method}.png"
            yield f"{path.name}: {_map(vectors_file, path, f'{method}, M = {size}')}"


def _agreement(codes: np.ndarray) -> str:
    """How often two of the words have the same sign, by level of the forest; codes (words, M)."""
    levels, signs = forest_of_shape("3x3", dim=codes.shape[1]).levels, np.sign(codes)
    same = np.mean([one == other for one, other in combinations(signs, 2)], axis=0)
    shares = ", ".join(f"{same[levels == level].mean():.2f}" for level in range(int(levels.max()) + 1))
    return f"pairs of them that agree in sign, from the roots to the leaves: {shares}"


def _map(vectors: Path, path: Path, title: str) -> str:
    lines = "".join(f"{word}\t{group}\n" for group, words in GROUPS.items() for word in words)
    found = results("plot", "words", vectors, "--groups", "-o", path, "--title", title, stdin=lines)
    return f"{found['covered']} of {found['total']} words, KL divergence {found['kl_divergence']:.3f}"
