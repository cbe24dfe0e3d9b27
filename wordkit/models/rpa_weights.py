"""The weights of an RPA classifier: arrays that the kernel changes in place, their means, and what reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wordkit._kernels import rpa_step
from wordkit.checks import array_of, require
from wordkit.parallel import map_blocks

_ROWS = 2048  # documents a scoring block
Matrix = tuple[np.ndarray, np.ndarray, np.ndarray]  # values, column numbers, row ends


class Weights:
    """Groups of m classes, each group with one embedding.

    Attributes:
        phi: float32 (groups, planes, features, k), embeddings, word-major.
        w: float32 (groups, planes, m, k), weights of the embedded part.
        one_hot: float32 (groups, planes, features, m), weights of the one-hot part, or (groups, planes, 0, m).
        n_seen: documents trained on. Plane 0 holds the current weights; with averaging plane 1 holds the sum of all changes
            times the number of documents before them, from which the means follow.
    """

    def __init__(self, phi: np.ndarray, w: np.ndarray, one_hot: np.ndarray, n_seen: int = 0) -> None:
        self.phi, self.w, self.one_hot, self.n_seen = phi, w, one_hot, n_seen
        self._scoring: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @classmethod
    def start(cls, base: np.ndarray, *, groups: int, m: int, one_hot: bool, average: bool) -> Weights:
        """Phi_0 = ``base`` (features, k) for every group, all else zero."""
        n, k = base.shape
        planes = 2 if average else 1
        phi = np.zeros((groups, planes, n, k), dtype=np.float32)
        phi[:, 0] = base
        w = np.zeros((groups, planes, m, k), dtype=np.float32)
        return cls(phi, w, np.zeros((groups, planes, n if one_hot else 0, m), dtype=np.float32))

    def state(self) -> dict[str, np.ndarray]:
        """The arrays that :meth:`from_state` takes; ``n_seen`` goes beside them."""
        return {"phi": self.phi, "w": self.w, "one_hot": self.one_hot}

    @classmethod
    def from_state(cls, arrays: Mapping[str, np.ndarray], n_seen: int) -> Weights:
        """From the arrays ``phi``, ``w`` and ``one_hot`` of a file; ValueError for shapes that do not fit or nan in them."""
        phi = array_of(arrays, "phi", np.float32, (None,) * 4)
        groups, planes, n, k = phi.shape
        w = array_of(arrays, "w", np.float32, (groups, planes, None, k))
        one_hot = array_of(arrays, "one_hot", np.float32, (groups, planes, None, w.shape[2]))
        require(
            one_hot.shape[2] in (0, n) and (k > 0 or one_hot.shape[2] == n), "one_hot has not a row a feature"
        )
        require(groups > 0 and w.shape[2] > 0 and n > 0, "weights are empty")
        weights = cls(phi, w, one_hot, n_seen)
        require(weights.are_finite(phi=True), "a weight is not a finite number")
        return weights

    @property
    def groups(self) -> int:
        return self.w.shape[0]

    @property
    def classes_per_group(self) -> int:
        return self.w.shape[2]

    @property
    def n_features(self) -> int:
        return self.phi.shape[2]

    @property
    def dim(self) -> int:
        return self.w.shape[3]

    def scoring(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """phi, w and one_hot without planes: the current ones, or their means, which are made once until training goes on."""
        if self._scoring is None:
            current = (self.phi[:, 0], self.w[:, 0], self.one_hot[:, 0])
            if self.w.shape[1] == 1:
                return current
            n = np.float32(max(self.n_seen, 1))
            sums = (self.phi[:, 1], self.w[:, 1], self.one_hot[:, 1])
            self._scoring = tuple(a - b / n for a, b in zip(current, sums, strict=True))  # type: ignore[assignment]
        assert self._scoring is not None
        return self._scoring

    def train(
        self, matrix: Matrix, documents: np.ndarray, targets: np.ndarray, *, first_classes: list[int], costs: np.ndarray,
        lam: float, update: str, iterations: int, normalize: str, sums: np.ndarray, threads: int,
    ) -> int:  # fmt: skip
        """Steps over ``documents`` in order, groups side by side; returns how many were done before a number was not finite.

        Args:
            matrix: rows that passed ``rpa_step.check_rows``. targets: class number of each row.
            first_classes: class of the first row of each group's w. costs: (classes, 2), see the kernel.
            sums: (groups, 3), losses, steps and inner iterations are added.
        """
        self._scoring = None
        m = self.classes_per_group

        def group(g: int) -> int:
            first = first_classes[g]
            return rpa_step.train_pass(
                *matrix, documents, targets, first, costs[first : first + m], lam, rpa_step.UPDATES[update], iterations,
                rpa_step.NORMALIZATIONS[normalize], self.phi[g], self.w[g], self.one_hot[g], float(self.n_seen),
                np.empty(4 * self.dim, dtype=np.float32), sums[g],
            )  # fmt: skip

        done = min(map_blocks(group, range(self.groups), threads))
        self.n_seen += done
        return done

    def scores(self, matrix: Matrix, normalize: str, threads: int) -> np.ndarray:
        """Decision values (rows, groups m) of rows that passed ``rpa_step.check_rows``."""
        phi, w, one_hot = self.scoring()
        n = len(matrix[2]) - 1
        scores = np.zeros((self.groups, n, self.classes_per_group))

        def block(task: tuple[int, int]) -> None:
            g, low = task
            rpa_step.score_rows(
                *matrix, low, min(low + _ROWS, n), rpa_step.NORMALIZATIONS[normalize], phi[g], w[g], one_hot[g],
                np.empty(self.dim, dtype=np.float32), scores[g],
            )  # fmt: skip

        map_blocks(block, [(g, low) for g in range(self.groups) for low in range(0, n, _ROWS)], threads)
        return scores.transpose(1, 0, 2).reshape(n, -1)

    def are_finite(self, *, phi: bool) -> bool:
        """Whether no weight is nan or infinite; the embedding, which is large, is looked at when ``phi``."""
        arrays = [self.w, self.one_hot, *([self.phi] if phi else [])]
        with np.errstate(invalid="ignore"):  # float64 sums of float32 numbers are finite if the numbers are
            return all(np.isfinite(array.sum(dtype=np.float64)) for array in arrays)

    def widen(self, vectors: np.ndarray) -> None:
        """Append features whose embedding starts at ``vectors`` (new features, k); their one-hot weights start at 0."""
        groups, planes, n, k = self.phi.shape
        phi = np.zeros((groups, planes, n + len(vectors), k), dtype=np.float32)
        phi[:, :, :n], phi[:, 0, n:] = self.phi, vectors
        self.phi = phi
        if self.one_hot.shape[2]:
            more = np.zeros((groups, planes, len(vectors), self.classes_per_group), dtype=np.float32)
            self.one_hot = np.concatenate([self.one_hot, more], axis=2)
        self._scoring = None
