"""Anderson extrapolation of a fixed-point map: the next point from the last few pairs of points and images."""

from __future__ import annotations

import numpy as np


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
        self._images: list[np.ndarray] = []
        self._residuals: list[np.ndarray] = []
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def resume(self) -> None:
        """Begin at another point of a map that is much the same: differences are kept, the last point is not."""
        self._last = None

    def step(self, x: np.ndarray, image: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The next point after ``x`` with image g(x); ``weights`` (n,) multiply the residuals that are made small."""
        residual = image - x
        if self._last is not None:
            self._images.append(image - self._last[0])
            self._residuals.append(residual - self._last[1])
            del self._images[: -self.memory], self._residuals[: -self.memory]
        self._last = image, residual
        if not self._images:
            return image
        past = np.array(self._residuals) * weights
        normal = past @ past.T
        trace = float(np.trace(normal))
        if not 0 < trace < np.inf:
            return image
        normal.flat[:: len(normal) + 1] += 1e-10 * trace
        mixing = np.linalg.solve(normal, past @ (residual * weights))
        return image - mixing @ np.array(self._images)
