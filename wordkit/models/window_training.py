"""Training of input and output vectors over windows of text, a block of words after the other, by any of the objectives.

What a step does is in ``cython_ext/dual_clustering.pyx``. Here: blocks and threads, when clusters are refreshed, and the
turning of the vectors into their principal axes.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from wordkit._kernels import alias_table, dual_clustering
from wordkit.checks import array_of, require
from wordkit.models.dual_clusters import DualClusters
from wordkit.parallel import Workers

BLOCK = 50_000  # words between two looks at the monitor
_STRIDE = 2_048  # words that a thread does on clusters of its own
_TURN_ITEMS, _TURN_LEAST = 28, 100_000  # instances between two turns: a multiple of the items, the least


_OF_THREADS = ("_workers", "_scratch")  # kept by a trainer for its number of threads


class Diverged(Exception):
    """A number is not finite; ``position``: the word where it was seen."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class Noise(NamedTuple):
    """The distribution that NCE and negative sampling draw from, as an alias table; ``shift``: log(negative q)."""

    keep: np.ndarray
    alias: np.ndarray
    shift: np.ndarray
    negative: int

    @classmethod
    def of(cls, counts: np.ndarray, power: float, negative: int) -> Noise:
        """q in proportion to counts ** power; an item without a count is never drawn."""
        n = len(counts)
        with np.errstate(over="ignore"):
            weights = counts.astype(float) ** power * (counts > 0)
            if not np.isfinite(weights.sum()):  # of a high power the shares of the largest are left
                weights = (counts / counts.max()) ** power * (counts > 0)
        keep, alias = np.empty(n), np.empty(n, dtype=np.int32)
        total = alias_table.fill_table(weights, keep, alias, np.empty(n, dtype=np.int32), np.empty(n))
        shift = np.log(np.maximum(negative * weights / total, 1e-30)).astype(np.float32)
        return cls(keep.astype(np.float32), alias, shift, negative)


class Steps(NamedTuple):
    """What belongs to a block of words: random key, step size at its first word and change a word, decay."""

    key: int
    rate: float
    slope: float
    decay: float = 0.0


def padded(vectors: np.ndarray) -> np.ndarray:
    """A float32 copy with zeros behind each row, up to a multiple of 8 numbers."""
    out = np.zeros((vectors.shape[0], -(-vectors.shape[1] // 8) * 8), dtype=np.float32)
    out[:, : vectors.shape[1]] = vectors
    return out


class WindowTrainer:
    """Vectors under training.

    Args:
        inputs, outputs: float32 (N, d), d a multiple of 8; changed in place.
        bias: float32 (N,), log prior or zeros.
        objective: ``dcme``, ``printed``, ``nce``, ``ns`` or ``gd``.
        clusters: for the dual objectives; noise: for nce and ns.
        window, dynamic: width of the context on each side; whether targets draw theirs.
        threads: of them share inputs and outputs without locks, and have clusters of their own for some words.

    Attributes:
        since_turn: instances since the vectors were turned. sums: float64 (2,) objective and targets so far.
    """

    def __init__(
        self, inputs: np.ndarray, outputs: np.ndarray, bias: np.ndarray, *, objective: str, window: int,
        dynamic: bool = False, clusters: DualClusters | None = None, noise: Noise | None = None, threads: int = 1,
    ) -> None:  # fmt: skip
        self.inputs, self.outputs, self.bias = inputs, outputs, bias
        self.code = dual_clustering.OBJECTIVES[objective]
        self.clusters, self.noise, self.window, self.dynamic = clusters, noise, window, dynamic
        self.threads, self.since_turn = threads, 0
        self.sums = np.zeros(2)

    def use_threads(self, threads: int) -> None:
        """Go on with another number of threads."""
        if threads != self.threads:
            self.threads = threads
            for name in _OF_THREADS:
                self.__dict__.pop(name, None)

    @functools.cached_property
    def _workers(self) -> Workers:
        return Workers(self.threads)

    @functools.cached_property
    def _scratch(self) -> list[tuple[np.ndarray, np.ndarray]]:
        n, d = self.outputs.shape
        negative = self.noise.negative if self.noise else 0
        scores = n if self.code == dual_clustering.OBJECTIVES["gd"] else negative + 1
        if self.clusters:
            scores = dual_clustering.dual_scores(self.clusters.k, self.clusters.head)
        items = self.clusters.k if self.clusters else negative + 1
        cells = dual_clustering.scratch_size(self.window, d, scores)
        return [
            (np.empty(cells, dtype=np.float32), np.empty(items, dtype=np.int32)) for _ in range(self.threads)
        ]

    def train(self, words: np.ndarray, bounds: np.ndarray, lo: int, hi: int, steps: Steps) -> None:
        """Steps for the targets lo to hi - 1; ``words``: int32 items, ``bounds``: int64 where sentences begin and end.

        Raises:
            Diverged: a number is not finite; the vectors are of no use any more.
        """
        if self.clusters is not None and self.clusters.curvature:
            if self.since_turn >= max(_TURN_ITEMS * len(self.outputs), _TURN_LEAST):
                self._turn(lo)
            self.since_turn += hi - lo
        threads = min(self.threads, max(1, (hi - lo) // _STRIDE))
        cuts = np.linspace(lo, hi, threads + 1).astype(int).tolist()
        at, ends = cuts[:-1], cuts[1:]
        while active := [i for i in range(threads) if at[i] < ends[i]]:
            parts: list[Any] = self.clusters.parts(len(active)) if self.clusters else [None] * len(active)
            sums = np.zeros((len(active), 2))

            def one(j: int, parts: Any = parts, active: Any = active, sums: Any = sums) -> int:
                i = active[j]
                end = min(ends[i], at[i] + _STRIDE) if self.clusters and threads > 1 else ends[i]
                rate = steps.rate + steps.slope * (at[i] - lo)
                done, status = dual_clustering.train_words(
                    words, bounds, at[i], end, self.code, self._arrays(parts[j], steps.key), self.inputs, self.outputs,
                    self.bias, self.window, self.dynamic, steps.key, rate, steps.slope, steps.decay, *self._scratch[i],
                    sums[j],
                )  # fmt: skip
                at[i] = done
                return status

            if dual_clustering.BROKEN in self._workers.map(one, range(len(active))):
                raise Diverged(max(at))
            self.sums += sums.sum(axis=0)
            if self.clusters:
                self.clusters.merge(parts)
                self._refresh(self.clusters.due(), max(at))

    def _arrays(self, part: Any, key: int) -> tuple[Any, ...]:
        if self.clusters is not None:
            return self.clusters.arrays(part)
        return (*self.noise, key) if self.noise is not None else ()

    def _refresh(self, clusters: list[int], position: int) -> None:
        assert self.clusters is not None
        if clusters and not self.clusters.refresh(self.outputs, self.bias, clusters, self._workers):
            raise Diverged(position)

    def _turn(self, position: int) -> None:
        """Turn inputs and outputs into the principal axes of the outputs, which changes no score.

        There their covariance is diagonal, as the second order of the clusters takes it to be.
        """
        clusters = self.clusters
        assert clusters is not None
        self._refresh(list(range(clusters.k)), position)
        shares = clusters.alpha.mean(axis=1)
        centred = self.outputs - shares @ self.outputs
        covariance = (centred * shares[:, None]).T @ centred
        if not np.isfinite(covariance).all():
            raise Diverged(position)
        width = int(np.flatnonzero(np.any(self.inputs, axis=0)).max(initial=-1)) + 1  # the rest is padding
        _, axes = np.linalg.eigh(covariance[:width, :width].astype(np.float64))
        turn = np.eye(len(covariance), dtype=np.float32)
        turn[:width, :width] = axes[:, ::-1]
        self.outputs[:] = self.outputs @ turn
        self.inputs[:] = self.inputs @ turn
        clusters.turn(turn, self.outputs)
        self.since_turn = 0

    def true_outputs(self) -> np.ndarray:
        """Output vectors with all that is due to them, float32 (N, d)."""
        return self.clusters.true_outputs(self.outputs) if self.clusters else self.outputs

    def copy_state(self) -> dict[str, np.ndarray]:
        """A copy of all that training changes."""
        return {name: array.copy() for name, array in self.state().items()}

    def state(self) -> dict[str, np.ndarray]:
        """Arrays that :meth:`restore` takes."""
        clusters = self.clusters.state() if self.clusters else {}
        progress = np.array([self.since_turn], dtype=np.int64)
        return {
            "inputs": self.inputs, "outputs": self.outputs, **clusters, "epoch_sums": self.sums, "progress": progress,
        }  # fmt: skip

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        for name, now in (("inputs", self.inputs), ("outputs", self.outputs), ("epoch_sums", self.sums)):
            found = array_of(arrays, name, now.dtype, now.shape)
            require(bool(np.isfinite(found).all()), f"{name} is not finite")
            now[:] = found
        progress = array_of(arrays, "progress", np.int64, (1,))
        require(bool((progress >= 0).all()), "progress is negative")
        self.since_turn = int(progress[0])
        if self.clusters:
            self.clusters.restore(arrays)
