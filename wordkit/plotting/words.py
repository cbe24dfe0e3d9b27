"""Words on a plane, by their vectors: t-SNE, multidimensional scaling or principal components (Yogatama et al. 2015, Figure 4).

The methods are scikit-learn's, of the extra ``eval``. Where t-SNE and scaling end depends on where they begin: as in the paper
the best of several random beginnings is kept, by what each of them minimizes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from wordkit.errors import MissingLibrary, WordkitError
from wordkit.monitor import Monitor
from wordkit.plotting.figure import new_figure, save_figure
from wordkit.rng import PROJECTION, stream

METHODS = ("tsne", "mds", "pca")
SIMILARITIES = ("cosine", "euclidean")
PERPLEXITY = 30.0  # of few words: a third of the others
LEAST = 3  # words that a map is drawn of
_EXACT = 1000  # words up to which t-SNE sums over all pairs


@dataclass(frozen=True)
class Projection:
    """Places of words.

    Attributes:
        points: float64 (words, 2).
        measure: how good they are, by ``kl_divergence`` (t-SNE, lower is better), ``stress`` (scaling: root of the squared
            errors of all distances relative to the squared distances, lower is better), ``explained`` (share of the variance).
        value: its value.
        restarts: its values over all restarts, one for ``pca``.
    """

    points: np.ndarray
    measure: str
    value: float
    restarts: list[float]


def projection(
    vectors: np.ndarray,
    *,
    method: str = "tsne",
    similarity: str = "cosine",
    restarts: int = 10,
    perplexity: float | None = None,
    seed: int = 1,
    monitor: Monitor | None = None,
) -> Projection:
    """Places on a plane for vectors, near where the vectors are near.

    Args:
        vectors: (words, dim), finite.
        method: one of METHODS.
        similarity: ``cosine`` scales the vectors to length 1 first (zero vectors stay), ``euclidean`` takes them as they are.
        restarts: random beginnings, of which the best is kept; means nothing to ``pca``.
        perplexity: of t-SNE, below the number of words; None: 30, and a third of the other words where they are few.
        seed: of the beginnings.
        monitor: is told of the restarts.

    Raises:
        ValueError: an argument out of range.
        WordkitError: fewer than three vectors, or all the same; scikit-learn is not installed.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    if method not in METHODS or similarity not in SIMILARITIES:
        raise ValueError(f"there is no method {method!r} with the similarity {similarity!r}")
    if vectors.ndim != 2 or not np.isfinite(vectors).all() or restarts < 1:
        raise ValueError("vectors must be finite, of shape (words, dim), and restarts at least 1")
    if len(vectors) < LEAST:
        raise WordkitError(f"{len(vectors)} words are too few for a map, which needs {LEAST}")
    if perplexity is None:
        perplexity = max(1.0, min(PERPLEXITY, (len(vectors) - 1) / 3))
    elif method == "tsne" and not 1 <= perplexity < len(vectors):
        raise WordkitError(
            f"perplexity is {perplexity:g}, expected 1 at least and less than the {len(vectors)} words"
        )
    if similarity == "cosine":
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    if np.ptp(vectors, axis=0).max() <= 1e-9 * np.abs(vectors).max():
        raise WordkitError("all words have the same vector: there is no map of them")
    if vectors.shape[1] < 2:
        vectors = np.hstack([vectors, np.zeros_like(vectors)])
    with _scikit_learn():
        if method == "pca":
            return _pca(vectors)
        measure, once = ("stress", _mds) if method == "mds" else ("kl_divergence", partial(_tsne, perplexity))
        return _best(
            measure,
            (once(vectors, _generator(seed, i)) for i in range(restarts)),
            restarts,
            monitor or Monitor(),
        )


def _generator(seed: int, restart: int) -> np.random.Generator:
    return stream(seed, PROJECTION, restart)


@contextmanager
def _scikit_learn() -> Iterator[None]:
    """scikit-learn on one thread, so that sums are the same again, and silent of what its next versions will call things."""
    try:
        import sklearn.decomposition
        import sklearn.manifold  # noqa: F401
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise MissingLibrary("plot words needs", "scikit-learn", "eval") from None
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield


def _best(
    measure: str, found: Iterable[tuple[np.ndarray, float]], restarts: int, monitor: Monitor
) -> Projection:
    """The restart of the lowest value, the first of equal ones."""
    all_points, values = [], []
    monitor.begin(restarts, "restarts")
    for points, value in found:
        all_points.append(points)
        values.append(value)
        monitor.advance(1)
    best = int(np.argmin(values))
    return Projection(all_points[best], measure, values[best], values)


def _pca(vectors: np.ndarray) -> Projection:
    from sklearn.decomposition import PCA

    model = PCA(n_components=2, svd_solver="full")
    points = model.fit_transform(vectors)
    explained = float(np.sum(model.explained_variance_ratio_))
    return Projection(points, "explained", explained, [explained])


def _mds(vectors: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, float]:
    from sklearn.manifold import MDS

    distances = pdist(vectors)
    start = random.standard_normal((len(vectors), 2)) * distances.mean()
    points = MDS(n_components=2, n_init=1, max_iter=1000, eps=1e-6).fit_transform(vectors, init=start)
    return points, float(np.sqrt(np.sum((pdist(points) - distances) ** 2) / np.sum(distances**2)))


def _tsne(perplexity: float, vectors: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, float]:
    from sklearn.manifold import TSNE

    model = TSNE(
        perplexity=perplexity, init="random", learning_rate="auto", random_state=int(random.integers(2**31)),
        method="exact" if len(vectors) <= _EXACT else "barnes_hut", n_jobs=1,
    )  # fmt: skip
    points = model.fit_transform(vectors.astype(np.float32))
    return points.astype(np.float64), float(model.kl_divergence_)


def words_figure(
    words: Sequence[str],
    points: np.ndarray,
    path: str | os.PathLike[str],
    *,
    groups: Sequence[str] | None = None,
    title: str = "",
) -> str:
    """Draw words at their places (words, 2), a group in a colour.

    Args:
        groups: the group of each word, as the legend names it; words of the empty group are grey.

    Returns:
        As :func:`wordkit.plotting.figure.save_figure`.
    """
    side = min(30.0, 5.0 + 0.6 * np.sqrt(len(words)))
    figure, (axes,) = new_figure(side, 0.8 * side)
    color_of = _colors(groups or ())
    for group in dict.fromkeys(groups or [""] * len(words)):
        here = [i for i in range(len(words)) if groups is None or groups[i] == group]
        name = (
            f" {group}" if group.startswith("_") else group
        )  # which matplotlib would leave out of the legend
        axes.scatter(points[here, 0], points[here, 1], s=12, color=color_of(group), label=name or None)
        for i in here:  # a dollar sign is a word's own, not mathematics
            axes.annotate(
                words[i], points[i], xytext=(3, 2), textcoords="offset points", fontsize="small", color=color_of(group),
                parse_math=False,
            )  # fmt: skip
    axes.set_xticks([])
    axes.set_yticks([])
    axes.margins(0.08)
    axes.set_title(title, parse_math=False)
    if any(groups or ()):
        for text in axes.legend(fontsize="small").get_texts():
            text.set_parse_math(False)
    return save_figure(figure, path)


def _colors(groups: Sequence[str]) -> Callable[[str], Any]:
    """The colour of each group, in the order in which they come."""
    from matplotlib import colormaps

    names = [name for name in dict.fromkeys(groups) if name]
    palette = colormaps["tab10" if len(names) <= 10 else "tab20"]
    numbers = {name: number % palette.N for number, name in enumerate(names)}
    return lambda name: palette(numbers[name]) if name in numbers else "dimgrey"
