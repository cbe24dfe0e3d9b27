"""Sufficient statistics of a hidden Markov tree model, and the parameters that are read off them.

The model keeps pseudocounts, not probabilities: emissions (words x classes), transitions (labels x child classes x parent
classes) and starts (classes). Online EM (Grave's thesis, section 2.2.1; Cappe and Moulines 2009),

    S <- (1 - alpha_t) S + alpha_t s_t,    alpha_t = (offset + t)^-gamma,

would touch every cell at every batch. Here S is kept divided by P_t, the product of the (1 - alpha): decay costs nothing, a batch
adds (alpha_t / P_t) s_t to the cells it has touched, and probabilities are ratios, from which P_t falls out. When P_t gets small
everything is multiplied by it once. The statistics of a batch are divided by its tokens, and the first ones sum to one token.

Probabilities are smoothed as they are read, in proportion to what is there, so that the scale does not matter:

    O[w, c]    = max(emissions[w, c], floor_w) / totals_c,  floor_w = smoothing x the largest of row w
    T[l, i, j] = (transitions[l, i, j] + m_l b_li) / (parent_mass_lj + m_l)

where b_l is the distribution of the classes of words under label l and m_l is ``back_off`` times the mean of parent_mass_l over
classes: a parent class that was hardly seen has the children that words under this label have anyway. Columns sum to one,
those of classes that died too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from wordkit.checks import array_of, require
from wordkit.rng import INITIAL, SPLIT, stream

RESCALE_BELOW = (
    1e-9  # far from float32's smallest number, which the kernels' copy of the transitions must not reach
)
NOISE = 0.1  # of a class's emissions when it is split
BROWN_ZERO = (
    1e-5  # what stands for a zero of Brown clusters, relative to the row's largest (thesis, section 2.2.4)
)
# Maximum likelihood, but for zeros that no later iteration could leave and no float32 product could hold.
LEAST_SMOOTHING = 1e-30
LARGEST_STEP = (
    1 - 1e-6
)  # of online EM: the past must not vanish, since everything is kept divided by what is left of it
DEAD_SHARE = 1e-3  # of the mean class's mass: a class with less has died
_CELLS = 1 << 15  # of the emissions, worked on at once: they stay in the processor's cache


class Parameters(NamedTuple):
    """What inference reads: see :mod:`wordkit.models.hmtm_inference`.

    emissions (V, C) float64, floors (V,), emission_scale (C,): O = max(emissions, floors) * emission_scale. transitions (L, C, C)
    float32, back_off (L, C), transition_scale (L, C): T = (transitions + back_off[child]) * transition_scale[parent]. start (C,)
    float64.
    """

    emissions: np.ndarray
    floors: np.ndarray
    emission_scale: np.ndarray
    transitions: np.ndarray
    back_off: np.ndarray
    transition_scale: np.ndarray
    start: np.ndarray


class Statistics:
    """Pseudocounts of V words, C classes and L transition matrices.

    Attributes:
        emissions (V, C), transitions (L, C child, C parent), starts (C,): float64, divided by ``scale``.
        floors (V,), totals (C,): of the smoothed emissions. child_mass, parent_mass (L, C): row and column sums of transitions.
        scale: the product of the decays since the last rescaling.
        image: (L, C, C) float32, the transitions as the kernels read them.
    """

    ARRAYS = ("emissions", "transitions", "starts", "floors", "totals", "child_mass", "parent_mass")

    def __init__(
        self, words: int, classes: int, labels: int, *, smoothing: float, back_off: float, unseen: float = 0.0
    ) -> None:
        """All zero. ``unseen`` is the share of all tokens that stands in for word 0 if no training token was it."""
        self.smoothing, self.back_off, self.unseen = smoothing, back_off, unseen
        self.emissions = np.zeros((words, classes))
        self.transitions = np.zeros((labels, classes, classes))
        self.starts = np.zeros(classes)
        self.floors = np.zeros(words)
        self.totals = np.zeros(classes)
        self.child_mass, self.parent_mass = np.zeros((labels, classes)), np.zeros((labels, classes))
        self.scale = 1.0
        self.image = np.zeros((labels, classes, classes), dtype=np.float32)

    @staticmethod
    def size(words: int, classes: int, labels: int) -> int:
        """Bytes of the arrays."""
        return 8 * words * (classes + 1) + (8 + 4) * labels * classes * classes

    @property
    def classes(self) -> int:
        return self.emissions.shape[1]

    @property
    def labels(self) -> int:
        return len(self.transitions)

    # --- beginnings ------------------------------------------------------------------------------------------------

    def randomize(self, seed: int, label_shares: np.ndarray, root_share: float) -> None:
        """Uniform [0, 1] pseudocounts that sum to one token (and to its share of edges and roots)."""
        random = stream(seed, INITIAL)
        random.random(out=self.emissions)
        self.emissions /= self.emissions.sum()
        for matrix, share in zip(self.transitions, label_shares, strict=True):
            matrix[:] = random.random(matrix.shape)
            matrix *= (1 - root_share) * share / matrix.sum()
        self.starts[:] = random.random(self.starts.shape)
        self.starts *= root_share / self.starts.sum()
        self.settle()

    def from_clusters(
        self, clusters: np.ndarray, counts: np.ndarray, edges: np.ndarray, roots: np.ndarray
    ) -> None:
        """Counts of a hard clustering: one class a word.

        Args:
            clusters: (V,) class of each word, -1 for a word that may be in any.
            counts: (V,) how often it occurs.
            edges: (L, C, C) counts of label, child class, parent class.
            roots: (C,) counts of the classes of roots.
        """
        self.emissions[:] = 0
        known = np.flatnonzero(clusters >= 0)
        self.emissions[known, clusters[known]] = counts[known]
        self.emissions[clusters < 0] = counts[clusters < 0, None] / self.classes
        self.transitions[:], self.starts[:] = edges, roots
        for array in (self.emissions, self.transitions, self.starts):
            # A class that has no count at all is as likely as the rarest.
            least = array[array > 0].min(initial=1.0)
            largest = np.maximum(array.max(axis=-1, keepdims=True), least)
            np.maximum(array, BROWN_ZERO * largest, out=array)
        tokens = self.emissions.sum()
        for array in (self.emissions, self.transitions, self.starts):
            array /= tokens
        self.settle()

    def extend(self, counts: np.ndarray, tokens: int) -> None:
        """Rows for words that are appended; each begins as rare words are distributed, with its share of the tokens."""
        like = self.emissions[0] if self.emissions[0].any() else self.totals
        rows = np.outer(counts / tokens, like * (self.totals.sum() / like.sum()))
        self.emissions = np.concatenate([self.emissions, rows])
        self.floors = np.concatenate([self.floors, np.zeros(len(rows))])
        self.settle()

    def settle(self) -> None:
        """Take the scale into the numbers, and recompute all that is kept beside them."""
        self.transitions *= self.scale
        self.starts *= self.scale
        self.totals[:] = 0
        step = max(1, _CELLS // self.classes)
        for lo in range(0, len(self.emissions), step):
            rows = self.emissions[lo : lo + step]
            if self.scale != 1.0:
                rows *= self.scale
            floors = self.floors[lo : lo + step]
            np.multiply(rows.max(axis=1), self.smoothing, out=floors)
            self.totals += np.maximum(rows, floors[:, None]).sum(axis=0)
        self.scale = 1.0
        empty = np.flatnonzero(self.floors == 0)
        if len(empty):
            # Words that nothing counts are spread as all tokens are: no word's probability is zero.
            self.emissions[empty] = LEAST_SMOOTHING * self.totals
            self.floors[empty] = self.smoothing * LEAST_SMOOTHING * self.totals.max()
        if self.unseen:  # in proportion to the smoothed rows of all other words
            self.totals -= np.maximum(self.emissions[0], self.floors[0])
            self.emissions[0] = self.unseen * self.totals
            self.floors[0] = self.smoothing * self.emissions[0].max()
            self.totals += np.maximum(self.emissions[0], self.floors[0])
        self.child_mass[:] = self.transitions.sum(axis=2)
        self.parent_mass[:] = self.transitions.sum(axis=1)
        self.image[:] = self.transitions

    # --- steps -----------------------------------------------------------------------------------------------------

    def decay(self, alpha: float) -> float:
        """Let everything so far fade by 1 - alpha; returns what a batch's statistics are to be multiplied by."""
        alpha = min(alpha, LARGEST_STEP)
        if self.scale * (1 - alpha) < RESCALE_BELOW:
            self.settle()
        self.scale *= 1 - alpha
        return alpha / self.scale

    def parameters(self) -> Parameters:
        """The probabilities of the model in the form that inference reads."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(self.totals > 0, 1.0 / self.totals, 0.0)
        mass = self._back_off_mass()[:, None]
        distribution = self._child_distribution()
        return Parameters(
            self.emissions,
            self.floors,
            scale,
            self.image,
            np.ascontiguousarray(mass * distribution, dtype=np.float32),
            np.ascontiguousarray(1.0 / (self.parent_mass + mass), dtype=np.float32),
            self.start(),
        )

    def _back_off_mass(self) -> np.ndarray:
        """(L,) m_l of the module's formula; 1 where a label was not seen."""
        mass = self.back_off * self.parent_mass.mean(axis=1)
        return np.where(mass > 0, mass, 1.0)

    def _child_distribution(self) -> np.ndarray:
        """(L, C): of the classes of words under each label; those of all words where a label was not seen."""
        overall = self.totals / self.totals.sum()
        sums = self.child_mass.sum(axis=1, keepdims=True)
        return np.where(sums > 0, self.child_mass / np.where(sums > 0, sums, 1.0), overall)

    def start(self) -> np.ndarray:
        """Distribution (C,) of a root's class."""
        mass = self.starts.sum()
        overall = self.totals / self.totals.sum()
        smoothed = self.starts + (self.back_off * mass / self.classes if mass else 1.0) * overall
        return smoothed / smoothed.sum()

    def transition_matrix(self) -> np.ndarray:
        """T (L, C, C) in float64: T[l, i, j] = p(child class i | parent class j, label l)."""
        smoothed = (
            self.transitions + (self._back_off_mass()[:, None] * self._child_distribution())[:, :, None]
        )
        smoothed /= smoothed.sum(axis=1, keepdims=True)
        return smoothed

    def emission_matrix(self) -> np.ndarray:
        """O (V, C) in float64: O[w, c] = p(w | c)."""
        return np.maximum(self.emissions, self.floors[:, None]) / self.totals

    # --- classes ---------------------------------------------------------------------------------------------------

    def class_shares(self) -> np.ndarray:
        """(C,) share of all tokens that each class emits; sums to one."""
        return self.totals / self.totals.sum()

    def classes_of(self, words: np.ndarray | slice) -> np.ndarray:
        """(n, C) distribution over the classes of each word's tokens; rows sum to one."""
        rows = self.emissions[words]
        return rows / rows.sum(axis=1, keepdims=True)

    def dead(self) -> np.ndarray:
        """Numbers of the classes that emit next to nothing."""
        mass = self.emissions.sum(axis=0)  # smoothing gives every class something
        return np.flatnonzero(mass < DEAD_SHARE * mass.mean())

    def divide(self, origin: np.ndarray, seed: int, step: int) -> None:
        """Make new classes of parts of old ones (thesis, section 2.2.3).

        Args:
            origin: (new C,) the old class that each new one is a part of; a class named n times is cut into n parts, whose
                emissions are told apart by noise; one not named is dropped.
            seed, step: of the noise.
        """
        random = stream(seed, SPLIT, step)
        parts = np.bincount(origin, minlength=self.classes)[origin]
        old = self.emissions
        self.emissions = np.empty((len(old), len(origin)))
        noisy = np.flatnonzero(parts > 1)
        step_rows = max(1, _CELLS // len(origin))
        for lo in range(0, len(old), step_rows):
            rows = old[lo : lo + step_rows, origin] / parts
            rows[:, noisy] *= random.uniform(1 - NOISE, 1 + NOISE, (len(rows), len(noisy)))
            self.emissions[lo : lo + step_rows] = rows
        del old
        self.transitions = np.ascontiguousarray(
            self.transitions[:, origin][:, :, origin] / (parts[:, None] * parts)
        )
        self.starts = self.starts[origin] / parts
        shape = (self.labels, len(origin))
        self.totals, self.child_mass, self.parent_mass = (
            np.zeros(len(origin)),
            np.zeros(shape),
            np.zeros(shape),
        )
        self.image = np.zeros(self.transitions.shape, dtype=np.float32)
        self.settle()

    def grow(self, classes: int, seed: int, step: int) -> None:
        """Split classes in two, the heaviest first, until there are ``classes`` or twice as many as before."""
        count = min(classes - self.classes, self.classes)
        split = np.zeros(self.classes, dtype=np.int64)
        split[np.argsort(-self.totals, kind="stable")[:count]] = 1
        self.divide(np.repeat(np.arange(self.classes), 1 + split), seed, step)

    def revive(self, seed: int, step: int) -> int:
        """Give each class that died half of one of the heaviest; returns how many."""
        dead = self.dead()[: self.classes // 2]
        if len(dead):
            origin = np.arange(self.classes)
            origin[dead] = np.argsort(-self.totals, kind="stable")[: len(dead)]
            self.divide(origin, seed, step)
        return len(dead)

    # --- files -----------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """What a file keeps."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], state: Mapping[str, Any], words: int
    ) -> Statistics:
        """Inverse of :meth:`arrays` with the scalars of :meth:`state`; ValueError for what does not fit."""
        made = cls.__new__(cls)
        made.smoothing, made.back_off = float(state["smoothing"]), float(state["back_off"])
        made.unseen, made.scale = float(state["unseen"]), float(state["scale"])
        made.emissions = array_of(arrays, "emissions", np.float64, (words, None))
        classes = made.emissions.shape[1]
        made.transitions = array_of(arrays, "transitions", np.float64, (None, classes, classes))
        shape = (len(made.transitions), classes)
        made.starts = array_of(arrays, "starts", np.float64, (classes,))
        made.totals = array_of(arrays, "totals", np.float64, (classes,))
        made.floors = array_of(arrays, "floors", np.float64, (words,))
        made.child_mass = array_of(arrays, "child_mass", np.float64, shape)
        made.parent_mass = array_of(arrays, "parent_mass", np.float64, shape)
        require(classes > 0 and len(made.transitions) > 0, "the model has no class")
        for name in cls.ARRAYS:
            array = getattr(made, name)
            require(bool(np.isfinite(array).all() and (array >= 0).all()), f"{name} holds what is no count")
        require(made.totals.sum() > 0 and 0 < made.scale <= 1, "the statistics are empty")
        made.image = made.transitions.astype(np.float32)
        return made

    def state(self) -> dict[str, float]:
        """Scalars beside :meth:`arrays`."""
        return {
            "smoothing": self.smoothing,
            "back_off": self.back_off,
            "unseen": self.unseen,
            "scale": self.scale,
        }
