"""De-noising of known word vectors, the synthetic task of Denis and Ralaivola (EACL 2017), section 4.

Words belong to one of two concepts: the hidden vectors are (1, 0) for the first half of the vocabulary and (0, 1) for the
second. The first half of the samples realizes words of the first half and is labelled 1, the rest is labelled -1. A learner
sees the samples, the labels and the vectors with Gaussian noise on them. PA keeps the noisy vectors, RPA re-embeds them.

Readings of the paper, and what they give for 500 samples of 1,000 words (means of 20 draws):

- "n/2 samples each realize one of the first p/2 words" is taken by its letter: one word a sample, drawn with replacement. A
  third of the test words has then been seen in training (1 - (1 - 2/p)^(0.4 n) = 0.33). Those RPA can set right, whatever the
  noise, and on the others it is as good as PA: 0.67 at a noise of 3 and 0.64 at 10, where PA has 0.54 and 0.51. That is
  Figure 1. Words drawn without replacement would leave RPA no better than PA. With 2 words a sample RPA has 0.79 and 0.65, PA
  0.64 and 0.53; with 5 words 0.82 and 0.76, 0.63 and 0.51.
- PA "directly learns from the noisy data", so vectors are not scaled to unit length here (``normalize="none"``).
- The embedding moves first. With w first, as Algorithm 1 is printed, RPA has 0.51 at a noise of 10 unless documents have
  unit length, and it does not learn Figure 2's example at all (C = 100: half the training samples right, where the embedding
  first has all of them): with a large C the block that moves first takes nearly all of the loss.
- The text says "variance" for the axis of Figure 1, the noise is N(0, sigma^2): the axis here is sigma. Were it sigma^2, the
  figure would end at a noise of 3.2, with RPA at 0.64 to 0.67.
- Each initialization draws samples and split too, not the noise alone: with 50 test samples one draw of them would move the
  whole curve by up to 0.07.

Run as a program it prints a small table: ``python -m wordkit.evaluation.denoising``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit.models.rpa import RPAClassifier
from wordkit.models.rpa_search import search
from wordkit.parallel import available_threads, map_blocks

ALGORITHMS = ("pa", "rpa")
UPDATE = "embedding-first"
# Footnote 1 of the paper; lambda means nothing to PA.
GRID: dict[str, tuple[Any, ...]] = {
    "C": (0.1, 0.5, 1.0, 2.0, 10.0),
    "lam": tuple(10.0**k for k in (-2, -1, 0, 1, 2)),
    "epochs": (1, 5, 10, 50),
}
QUICK_SIGMAS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
_WORDS, _NOISE, _SPLIT = range(3)  # parts of a draw, each with random numbers of its own


class DenoisingData(NamedTuple):
    """One draw of the task.

    Attributes:
        rows: float32 (n, p), the samples as 0-1 rows over words. labels: (n), 1 or -1.
        hidden: (p, 2), each word's concept. vectors: (p, 2), the same with noise.
        train, dev, test: sample numbers, 80, 10 and 10 of a hundred.
    """

    rows: scipy.sparse.csr_array
    labels: np.ndarray
    hidden: np.ndarray
    vectors: np.ndarray
    train: np.ndarray
    dev: np.ndarray
    test: np.ndarray


class NoisePoint(NamedTuple):
    """Accuracy of an algorithm at a noise level: mean and standard deviation over draws."""

    sigma: float
    algorithm: str
    accuracy: float
    std: float


class Example(NamedTuple):
    """What Figure 2 shows: samples (n, 2) and weights (2) of PA on noisy vectors, and of RPA on those it has learned."""

    labels: np.ndarray
    is_train: np.ndarray
    before: np.ndarray
    after: np.ndarray
    pa_weights: np.ndarray
    rpa_weights: np.ndarray


def denoising_data(
    n: int = 500, p: int = 1000, sigma: float = 1.0, seed: int = 1, *, words: int = 1
) -> DenoisingData:
    """n samples of some of p words, and 2-dimensional vectors with noise of standard deviation sigma.

    Each sample realizes ``words`` words of its half of the vocabulary, drawn with replacement; the paper's is one.

    Draws of one seed differ between values of sigma in the length of the noise alone.

    Raises:
        ValueError: fewer than 10 samples or 2 words, an odd number of either, or a negative noise.
    """
    if n < 10 or p < 2 or n % 2 or p % 2:
        raise ValueError(f"n = {n} samples of p = {p} words, expected even numbers, at least 10 and 2")
    if not sigma >= 0:
        raise ValueError(f"sigma is {sigma!r}, expected at least 0")
    first = np.repeat([True, False], n // 2)
    drawn = rng.stream(seed, rng.NOISE, _WORDS).integers(p // 2, size=(n, words))
    drawn += np.where(first, 0, p // 2)[:, None]
    ends = np.arange(n + 1) * words
    rows = scipy.sparse.csr_array((np.ones(drawn.size, dtype=np.float32), drawn.ravel(), ends), shape=(n, p))
    rows.sum_duplicates()
    rows.data[:] = 1
    hidden = np.repeat(np.eye(2), p // 2, axis=0)
    vectors = hidden + sigma * rng.stream(seed, rng.NOISE, _NOISE).standard_normal((p, 2))
    train, dev, test = np.split(
        rng.stream(seed, rng.NOISE, _SPLIT).permutation(n), [n * 8 // 10, n * 9 // 10]
    )
    return DenoisingData(rows, np.where(first, 1, -1), hidden, vectors, train, dev, test)


def denoising_accuracy(
    algorithm: str, data: DenoisingData, *, grid: Mapping[str, Sequence[Any]] = GRID, normalize: str = "none", seed: int = 1
) -> float:  # fmt: skip
    """Test accuracy of ``pa`` or ``rpa`` on one draw, with the grid's point that is best on the development part."""
    model = RPAClassifier(
        algorithm=algorithm,
        vectors=data.vectors,
        update=UPDATE,
        normalize=normalize,
        class_weight="none",
        seed=seed,
    )
    best = search(model, data.rows, data.labels, [(data.train, data.dev)], grid)[0]
    model.set_params(C=best.C, lam=best.lam, epochs=best.epochs)
    model.fit(data.rows[data.train], data.labels[data.train])
    return model.score(data.rows[data.test], data.labels[data.test])


def denoising_curve(
    sigmas: Sequence[float], *, n: int = 500, p: int = 1000, words: int = 1, initializations: int = 10, seed: int = 1,
    grid: Mapping[str, Sequence[Any]] = GRID, normalize: str = "none", threads: int = 1,
) -> list[NoisePoint]:  # fmt: skip
    """Figure 1: accuracy of PA and RPA at each noise level. Draw i has the seed ``seed + i``; threads change no result."""
    tasks = [(s, a, seed + i) for s in sigmas for a in ALGORITHMS for i in range(initializations)]

    def one(task: tuple[float, str, int]) -> float:
        sigma, algorithm, draw = task
        data = denoising_data(n, p, sigma, draw, words=words)
        return denoising_accuracy(algorithm, data, grid=grid, normalize=normalize, seed=draw)

    accuracies = np.reshape(map_blocks(one, tasks, threads), (-1, initializations))
    levels = [(s, a) for s in sigmas for a in ALGORITHMS]
    return [
        NoisePoint(float(sigma), algorithm, float(values.mean()), float(values.std()))
        for (sigma, algorithm), values in zip(levels, accuracies, strict=True)
    ]


def denoising_example(
    n: int = 200, p: int = 500, sigma: float = 2.0, *, C: float = 100.0, lam: float = 0.5, epochs: int = 10,
    normalize: str = "none", seed: int = 1,
) -> Example:  # fmt: skip
    """Figure 2, with its parameters: PA and RPA once each on one draw."""
    data = denoising_data(n, p, sigma, seed)
    is_train = np.zeros(n, dtype=bool)
    is_train[data.train] = True
    rows = data.rows[is_train]
    models = [
        RPAClassifier(
            algorithm=algorithm, vectors=data.vectors, update=UPDATE, C=C, lam=lam, epochs=epochs, normalize=normalize,
            class_weight="none", seed=seed,
        ).fit(rows, data.labels[is_train])
        for algorithm in ALGORITHMS
    ]  # fmt: skip
    before, after = (data.rows @ model.embedding_[0].astype(float) for model in models)
    pa, rpa = (model.coef_[0, 0].astype(float) for model in models)
    return Example(data.labels, is_train, before, after, pa, rpa)


def curve_table(points: Sequence[NoisePoint]) -> list[str]:
    """The points as lines of an aligned table, a noise level a line."""
    by_level: dict[float, dict[str, NoisePoint]] = {}
    for point in points:
        by_level.setdefault(point.sigma, {})[point.algorithm] = point
    lines = ["noise  " + "".join(f"{name.upper():<16}" for name in ALGORITHMS).rstrip()]
    for sigma, found in by_level.items():
        cells = (f"{found[name].accuracy:.3f} +- {found[name].std:.3f}" for name in ALGORITHMS)
        lines.append(f"{sigma:<7.1f}" + "  ".join(cells))
    return lines


def main() -> None:
    """Print the small table."""
    points = denoising_curve(QUICK_SIGMAS, initializations=8, threads=available_threads())
    print("\n".join(curve_table(points)))


if __name__ == "__main__":
    main()
