"""Made-up treebanks of any size, drawn from a hidden Markov tree model whose classes are as peaked as learned ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

CLASSES, FOLLOWERS, HOMONYMS = 256, 8, 0.2


def write_treebank(path: Path, *, sentences: int, length: int, words: int, seed: int = 1) -> int:
    """Write a CoNLL-X file and return its number of tokens.

    Words are Zipf-distributed; each has a class, a fifth of them two. A class has eight likely classes below it. Each token hangs
    on one of those before it, mostly on a near one.
    """
    random = np.random.default_rng(seed)
    weights = random.gamma(0.5, size=(CLASSES, FOLLOWERS)) + 1e-3
    follow = random.integers(0, CLASSES, (CLASSES, FOLLOWERS))
    follow_cdf = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    emit = _Emissions(random, words)
    total = 0
    with open(path, "w", encoding="ascii") as out:
        for lo in range(0, sentences, 4096):
            n = min(4096, sentences - lo)
            lengths = random.integers(max(1, length // 2), length * 3 // 2 + 1, n)
            longest = int(lengths.max())
            heads, classes = np.zeros((n, longest), np.int64), np.empty((n, longest), np.int64)
            classes[:, 0] = random.integers(0, CLASSES, n)
            for i in range(1, longest):
                back = np.minimum(random.geometric(0.4, n), i)
                heads[:, i] = i - back + 1
                parent = classes[np.arange(n), i - back]
                choice = (follow_cdf[parent] < random.random(n)[:, None]).sum(axis=1)
                classes[:, i] = follow[parent, np.minimum(choice, FOLLOWERS - 1)]
            tokens = emit(random, classes)
            for size, row, head in zip(lengths.tolist(), tokens.tolist(), heads.tolist(), strict=True):
                lines = [f"{i + 1}\tw{row[i]}\t_\t_\t_\t_\t{head[i]}\td\t_\t_\n" for i in range(size)]
                out.write("".join(lines) + "\n")
            total += int(lengths.sum())
    return total


class _Emissions:
    def __init__(self, random: np.random.Generator, words: int) -> None:
        own = random.permutation(words) % CLASSES
        second = np.where(random.random(words) < HOMONYMS, random.integers(0, CLASSES, words), own)
        pairs = np.concatenate(
            [np.stack([own, np.arange(words)], 1), np.stack([second, np.arange(words)], 1)]
        )
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        self.words = pairs[order, 1]
        weights = 1.0 / (self.words + 5.0)
        self.first = np.searchsorted(pairs[order, 0], np.arange(CLASSES + 1))
        self.cdf = np.concatenate([[0.0], np.cumsum(weights)])

    def __call__(self, random: np.random.Generator, classes: np.ndarray) -> np.ndarray:
        low, high = self.cdf[self.first[classes]], self.cdf[self.first[classes + 1]]
        place = np.searchsorted(self.cdf, low + random.random(classes.shape) * (high - low), side="right") - 1
        return self.words[np.clip(place, self.first[classes], self.first[classes + 1] - 1)]
