"""Weights that rerank n-best lists: a vector, or a tensor of low rank, ready to score; and what learns each of them online."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordkit import rng
from wordkit._kernels import tensor_sweep, vector_steps
from wordkit.checks import array_of, require, value_of
from wordkit.models.nbest_corpus import PackedLists
from wordkit.models.tensor_shape import MAPPINGS, MOST_ORDER, mode_places
from wordkit.parallel import map_blocks

_LISTS = 64  # scored at once
STARTS = ("constant", "zero")
INITIAL_NOISE = 0.01  # of each initial entry, relative, where there is more than one component

Arrays = dict[str, np.ndarray]


@dataclass(eq=False)
class VectorWeights:
    """A weight a feature: ``weights`` float64 (V,). ``parameters``: how many numbers were learned."""

    weights: np.ndarray

    @property
    def parameters(self) -> int:
        return len(self.weights)

    def score_lists(
        self, packed: PackedLists, low: int, high: int, scores: np.ndarray, best: np.ndarray
    ) -> None:
        vector_steps.vector_scores(*packed.arrays(), low, high, self.weights, scores, best)

    def feature_weights(self) -> np.ndarray:
        return self.weights

    def arrays(self) -> Arrays:
        return {"weights": self.weights}

    def values(self) -> dict[str, Any]:
        return {"shape": "vector"}


@dataclass(eq=False)
class Layout:
    """Where V features stand: the first ``plain`` beside the tensor, the others in it.

    ``modes``: sizes. ``mapping``: which mode runs fastest. ``positions``: int64 (V - plain,), None for the sequential ones.
    """

    features: int
    plain: int
    modes: tuple[int, ...]
    mapping: str
    positions: np.ndarray | None = None

    def __post_init__(self) -> None:
        positions = np.arange(self.features - self.plain) if self.positions is None else self.positions
        self.places = np.zeros((self.features, len(self.modes)), np.int32)
        self.places[self.plain :] = mode_places(positions, self.modes, self.mapping)

    def arrays(self) -> Arrays:
        return {} if self.positions is None else {"positions": self.positions}

    def values(self) -> dict[str, Any]:
        return {"plain": self.plain, "modes": list(self.modes), "mapping": self.mapping}

    @classmethod
    def from_state(cls, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any], features: int) -> Layout:
        """Inverse of :meth:`arrays` and :meth:`values`; ValueError for what is no layout of so many features."""
        plain = value_of(values, "plain", int, 0, features)
        modes = value_of(values, "modes", list)
        require(1 <= len(modes) <= MOST_ORDER, "modes are none or too many")
        require(all(type(size) is int and 0 < size < 2**31 for size in modes), "modes are no sizes")
        require(
            sum(modes) < 2**31 and math.prod(modes) >= features - plain, "modes have no room for the features"
        )
        mapping = value_of(values, "mapping", str)
        require(mapping in MAPPINGS, f"mapping is {mapping!r}")
        positions = None
        if "positions" in arrays:
            positions = array_of(arrays, "positions", np.int64, (features - plain,))
            require(bool((positions >= 0).all()), "positions are negative")
        return cls(features, plain, tuple(modes), mapping, positions)


@dataclass(eq=False)
class TensorWeights:
    """A tensor in components: ``vectors`` float64 (H, n_1 + ... + n_D); ``plain`` float64: weights of the features beside it."""

    layout: Layout
    vectors: np.ndarray
    plain: np.ndarray

    @property
    def parameters(self) -> int:
        return self.vectors.size + self.plain.size

    def score_lists(
        self, packed: PackedLists, low: int, high: int, scores: np.ndarray, best: np.ndarray
    ) -> None:
        tensor_sweep.tensor_scores(
            *packed.arrays(), low, high, self.vectors, self.layout.places, self.plain, scores, best
        )

    def feature_weights(self) -> np.ndarray:
        places = self.layout.places
        weights = np.zeros(self.layout.features)
        for vector in self.vectors:
            product = vector[places[:, 0]].copy()
            for d in range(1, places.shape[1]):
                product *= vector[places[:, d]]
            weights += product
        weights[: self.layout.plain] = self.plain
        return weights

    def arrays(self) -> Arrays:
        return {"vectors": self.vectors, "plain": self.plain, **self.layout.arrays()}

    def values(self) -> dict[str, Any]:
        return {"shape": "tensor", **self.layout.values()}


Weights = VectorWeights | TensorWeights


def score_all(weights: Weights, packed: PackedLists, threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """float64 (R,) scores of all candidates, and int32 (S,) the place of the first best of each list."""
    scores, best = np.empty(len(packed.scores)), np.empty(len(packed), np.int32)

    def block(low: int) -> None:
        weights.score_lists(packed, low, min(low + _LISTS, len(packed)), scores, best)

    map_blocks(block, range(0, len(packed), _LISTS), threads)
    return scores, best


def weights_from_state(arrays: Mapping[str, np.ndarray], values: Mapping[str, Any], features: int) -> Weights:
    """Inverse of ``arrays`` and ``values`` of weights; ValueError for what is none."""
    if value_of(values, "shape", str) == "vector":
        weights = array_of(arrays, "weights", np.float64, (features,))
        require(bool(np.isfinite(weights).all()), "weights are not finite")
        return VectorWeights(weights)
    require(values["shape"] == "tensor", f"shape is {values['shape']!r}")
    layout = Layout.from_state(arrays, values, features)
    vectors = array_of(arrays, "vectors", np.float64, (None, sum(layout.modes)))
    plain = array_of(arrays, "plain", np.float64, (layout.plain,))
    require(len(vectors) > 0, "vectors are none")
    require(bool(np.isfinite(vectors).all() and np.isfinite(plain).all()), "weights are not finite")
    return TensorWeights(layout, vectors, plain)


# --- learning ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steps:
    """How to step: ``C`` the longest step, ``rival`` by ``model`` or ``cost``, ``step`` ``exact`` or ``printed``."""

    C: float = 1.0
    rival: str = "model"
    step: str = "exact"
    perceptron: bool = False


class VectorLearner:
    """Perceptron or MIRA on a weight a feature.

    Attributes:
        weights: float64 (V,). sums: float64 (V,), or empty where no average is wanted.
    """

    def __init__(self, features: int, steps: Steps, *, averaged: bool) -> None:
        self.how = steps
        self.weights = np.zeros(features)
        self.sums = np.zeros(features if averaged else 0)

    def learn(self, packed: PackedLists, order: np.ndarray, seen: int, totals: np.ndarray) -> int:
        """Step on some lists; how many of them were looked at while all numbers were finite."""
        how = self.how
        return vector_steps.vector_steps(
            *packed.arrays(), packed.scores, packed.oracles, order, seen, self.weights, self.sums, how.C,
            how.rival == "cost", how.step == "printed", how.perceptron, totals,
        )  # fmt: skip

    def epoch_done(self) -> None:
        """Nothing to keep."""

    def current(self, seen: int) -> VectorWeights:
        """The weights after so many lists: averaged over them, or as they are."""
        return VectorWeights(self.weights - self.sums / seen if len(self.sums) else self.weights.copy())

    def state(self) -> Arrays:
        """All that changes, copied."""
        return {"learning_weights": self.weights.copy(), "learning_sums": self.sums.copy()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Inverse of :meth:`state`."""
        self.weights = array_of(arrays, "learning_weights", np.float64, self.weights.shape).copy()
        self.sums = array_of(arrays, "learning_sums", np.float64, self.sums.shape).copy()
        require(bool(np.isfinite(self.weights).all()), "weights are not finite")


def initial_vectors(modes: tuple[int, ...], rank: int, seed: int, start: str = "constant") -> np.ndarray:
    """float64 (H, n_1 + ... + n_D): constant entries with |W|_F = 1; zeros for order 1, which is a vector.

    Equal components would stay equal: with more than one, each entry is changed by some seeded noise.

    Args:
        start: ``constant``; or ``zero`` for the same with zeros in the last mode's vectors, so that W = 0 and nothing is
            preferred at first, and steps on these vectors bring the others to life.
    """
    vectors = np.zeros((rank, sum(modes)))
    if len(modes) == 1:
        return vectors
    vectors += math.exp(-(math.log(rank) + 0.5 * sum(map(math.log, modes))) / len(modes))
    if rank > 1:
        vectors *= 1 + INITIAL_NOISE * rng.stream(seed, rng.NOISE).standard_normal(vectors.shape)
        grams = np.ones((rank, rank))
        for part in np.split(vectors, np.cumsum(modes)[:-1], axis=1):
            grams *= part @ part.T
        vectors *= grams.sum() ** (-0.5 / len(modes))
    if start == "zero":
        vectors[:, -modes[-1] :] = 0
    return vectors


class TensorLearner:
    """Tensor-MIRA: a sweep over all mode vectors at each list (Cao and Khudanpur 2014, section 4).

    Args:
        start: see :func:`initial_vectors`.
        average: None; ``modes`` for the average of each mode vector, whose outer product is not the average of the tensors;
            ``tensors`` for the average of the tensors at the ends of the epochs, which has their components together.

    Attributes:
        vectors: float64 (H, n_1 + ... + n_D). plain: float64, weights beside the tensor.
    """

    def __init__(
        self, layout: Layout, rank: int, steps: Steps, *, average: str | None, seed: int, start: str = "constant"
    ) -> None:  # fmt: skip
        self.layout, self.how, self.average = layout, steps, average
        self.vectors = initial_vectors(layout.modes, rank, seed, start)
        self.plain = np.zeros(layout.plain)
        averaged = average is not None
        self.vector_sums = np.zeros(self.vectors.shape if averaged else (0, self.vectors.shape[1]))
        self.plain_sums = np.zeros(layout.plain if averaged else 0)
        self.ends = np.empty((0, *self.vectors.shape))

    def learn(self, packed: PackedLists, order: np.ndarray, seen: int, totals: np.ndarray) -> int:
        """Step on some lists; how many of them were looked at while all numbers were finite."""
        squared = np.add.reduceat(self.vectors**2, np.cumsum([0, *self.layout.modes[:-1]]), axis=1)
        how = self.how
        return tensor_sweep.tensor_steps(
            *packed.arrays(), packed.scores, packed.oracles, order, seen, self.vectors, self.layout.places, self.plain,
            self.vector_sums, self.plain_sums, np.ascontiguousarray(squared), how.C, how.rival == "cost", how.step == "printed",
            totals,
        )  # fmt: skip

    def epoch_done(self) -> None:
        """Keep the tensor for the average, if one is wanted."""
        if self.average == "tensors":
            self.ends = np.concatenate([self.ends, self.vectors[None]])

    def current(self, seen: int) -> TensorWeights:
        """The weights after so many lists: averaged, or as they are."""
        plain = self.plain - self.plain_sums / seen if len(self.plain_sums) else self.plain.copy()
        vectors = self.vectors.copy()
        if self.average == "modes":
            vectors -= self.vector_sums / seen
        elif self.average == "tensors":
            vectors = self.ends.reshape(-1, self.vectors.shape[1]).copy()
            vectors[:, : self.layout.modes[0]] /= len(self.ends)
        return TensorWeights(self.layout, vectors, plain)

    def state(self) -> Arrays:
        """All that changes, copied."""
        own = (self.vectors, self.plain, self.vector_sums, self.plain_sums, self.ends)
        return {f"learning_{name}": array.copy() for name, array in zip(_TENSOR_STATE, own, strict=True)}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Inverse of :meth:`state`."""
        shapes = (self.vectors.shape, self.plain.shape, self.vector_sums.shape, self.plain_sums.shape)
        own = [
            array_of(arrays, f"learning_{name}", np.float64, shape).copy()
            for name, shape in zip(_TENSOR_STATE, (*shapes, (None, *self.vectors.shape)), strict=True)
        ]
        require(all(bool(np.isfinite(array).all()) for array in own), "weights are not finite")
        self.vectors, self.plain, self.vector_sums, self.plain_sums, self.ends = own


_TENSOR_STATE = ("vectors", "plain", "vector_sums", "plain_sums", "ends")
Learner = VectorLearner | TensorLearner
