"""Anderson extrapolation of a fixed-point map: the next point from the last few pairs of points and images."""

from __future__ import annotations

import numpy as np

from wordkit._kernels import reweighted_step


class Anderson:
    """Extrapolates x -> g(x) by the combination of past steps whose weighted residual g(x) - x is least.

    Args:
        memory: how many differences are kept.
    """

    def __init__(self, memory: int = 8) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Begin anew: the map has changed."""
        self._added = 0  # differences so far; the last ``memory`` of them are kept, in turn
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def resume(self) -> None:
        """Begin at another point of a map that is much the same: differences are kept, the last point is not."""
        self._last = None

    def step(self, x: np.ndarray, image: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The next point after ``x`` with image g(x); ``weights`` (n,) multiply the residuals that are made small."""
        residual = image - x
        if self._last is not None:
            if not self._added:
                self._images = np.empty((self.memory, len(x)))
                self._residuals = np.empty((self.memory, len(x)))
            place = self._added % self.memory
            np.subtract(image, self._last[0], out=self._images[place])
            np.subtract(residual, self._last[1], out=self._residuals[place])
            self._added += 1
        self._last = image, residual
        kept = min(self._added, self.memory)
        if not kept:
            return image
        following = np.empty(len(x))
        found = reweighted_step.extrapolate(
            self._residuals[:kept], self._images[:kept], residual, image, weights, following
        )
        return following if found else image
