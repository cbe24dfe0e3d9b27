"""The alternating direction method of multipliers for the trace Lasso (section 7.3.2), squared and logistic loss.

min f(w) + lam ||M||_* such that M = P Diag(w), over-relaxed, with a rho that follows the two residuals. The multiplier has
operator norm at most lam by construction, which makes it the certificate. The w-step has P's squared column lengths where the
thesis has unit ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from wordkit.models.trace_lasso_problem import Gap, Problem, Solution
from wordkit.models.trace_norm import Array, column_products

_RELAXED = 1.6
_APART = 5.0  # ratio of the residuals at which rho moves
_MOVE = 1.5


class Loss(Protocol):
    """What ADMM asks of a loss f on w (p,)."""

    squares: Array  # squared column lengths of P
    P: Array
    lam: float
    zero_loss: float

    def step(self, b: Array, rho: float) -> Array:
        """argmin f(w) - b.w + rho/2 sum squares_i w_i^2."""

    def gap(self, w: Array, M: Array, omega: float | None = None) -> Gap:
        """Certified gap with the help of M."""

    def start(self) -> float:
        """A first rho."""


class SquaredLoss:
    """1/2 ||y - Xw||^2 of a problem; one eigendecomposition serves every rho."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.squares, self.P, self.lam, self.zero_loss = (
            problem.squares,
            problem.P,
            problem.lam,
            problem.zero_loss,
        )
        self._scale = 1.0 / np.sqrt(self.squares)
        A = problem.X * self._scale
        values, vectors = np.linalg.eigh(A @ A.T)
        self._values, self._turned = np.maximum(values, 0.0), vectors.T @ A

    def step(self, b: Array, rho: float) -> Array:
        right = self._scale * (self.problem.correlations + b)
        along = self._turned.T @ ((self._turned @ right) / (self._values + rho))
        return self._scale * (right - along) / rho

    def gap(self, w: Array, M: Array, omega: float | None = None) -> Gap:
        return self.problem.gap(w, M, omega)

    def start(self) -> float:
        """Of the size of X^T X beside P's squared lengths."""
        return max(float(np.mean(column_products(self.problem.X, self.problem.X) / self.squares)), 1e-12)


def shrunk(T: Array, threshold: float) -> Array:
    """The proximal operator of threshold x trace norm: singular values less the threshold, through the smaller Gram matrix."""
    values, vectors = np.linalg.eigh(T @ T.T)
    singular = np.sqrt(np.maximum(values, 0.0))
    kept = singular > threshold
    left = vectors[:, kept]
    return (left * (1.0 - threshold / singular[kept])) @ (left.T @ T)


def admm(
    loss: Loss, *, tol: float = 1e-6, max_iter: int = 5000, w: Array | None = None, adaptive: bool = True,
    relaxation: float = _RELAXED, rho: float | None = None, check: int = 5, trace: bool = False,
    stop: Callable[[], None] | None = None,
) -> Solution:  # fmt: skip
    """Minimize to a gap of ``tol`` times the objective at 0, looked at every ``check`` iterations.

    Args:
        adaptive: let rho follow the residuals; otherwise it stays at ``rho``, or where the loss starts it.
        relaxation: 1 for none, up to 2.
    """
    started = time.perf_counter()
    P, lam = loss.P, loss.lam
    rho = loss.start() if rho is None else rho
    M = np.zeros_like(P) if w is None else P * w
    Y = np.zeros_like(P)
    w = np.zeros(P.shape[1]) if w is None else w
    best = Solution(w, np.inf, np.inf, np.inf, 0, False)
    record: list[tuple[float, float, float]] = []
    step = 0
    for step in range(1, max_iter + 1):
        if stop is not None:
            stop()
        w = loss.step(column_products(P, rho * M - Y), rho)
        image = P * w
        T = relaxation * image + (1 - relaxation) * M + Y / rho
        before, M = M, shrunk(T, lam / rho)
        Y = rho * (T - M)
        if step % check and step != max_iter:
            continue
        found = loss.gap(w, Y / lam if lam > 0 else Y)
        record.append((time.perf_counter() - started, found.primal, min(found.gap, best.gap)))
        if found.gap < best.gap:
            best = Solution(w, *found, step, found.gap <= tol * loss.zero_loss)
        if best.converged:
            break
        if adaptive:
            apart, moved = np.linalg.norm(image - M), rho * np.linalg.norm(M - before)
            rho *= _MOVE if apart > _APART * moved else 1 / _MOVE if moved > _APART * apart else 1.0
    return best._replace(iterations=step, trace=record if trace else [])
