"""Subgradient descent for the trace Lasso: the comparison of section 7.5.2, too slow for anything else.

Proposition 6: with P Diag(w) = U Diag(s) V^T, diag(P^T U V^T) is a subgradient of the penalty.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from wordkit.models.trace_lasso_irls import first_guess
from wordkit.models.trace_lasso_problem import Problem, Solution
from wordkit.models.trace_norm import Array, column_products

_RANK = 1e-12  # singular values below this share of the greatest are zero


def penalty_subgradient(P: Array, w: Array) -> tuple[Array, Array, float]:
    """diag(P^T U V^T), the matrix U V^T itself, and the penalty, from the singular value decomposition of P Diag(w)."""
    left, singular, right = np.linalg.svd(P * w, full_matrices=False)
    kept = singular > _RANK * max(float(singular[0]), np.finfo(float).tiny)
    polar = left[:, kept] @ right[kept]
    return column_products(P, polar), polar, float(singular.sum())


def subgradient(
    problem: Problem, *, tol: float = 1e-6, max_iter: int = 20_000, w: Array | None = None, check: int = 10,
    trace: bool = False, stop: Callable[[], None] | None = None,
) -> Solution:  # fmt: skip
    """Steps of length 1 / (L sqrt(t)), L the greatest eigenvalue of X^T X; the point with the least objective is kept."""
    started = time.perf_counter()
    w = first_guess(problem) if w is None else w
    lipschitz = float(np.linalg.norm(problem.X, 2)) ** 2 or 1.0
    best = Solution(w, np.inf, np.inf, np.inf, 0, False)
    record: list[tuple[float, float, float]] = []
    step = 0
    for step in range(1, max_iter + 1):
        if stop is not None:
            stop()
        slope, polar, omega = penalty_subgradient(problem.P, w)
        objective = problem.objective(w, omega)
        if step % check == 0 or step == max_iter:
            found = problem.gap(w, polar, omega)
            record.append(
                (time.perf_counter() - started, min(objective, best.objective), min(found.gap, best.gap))
            )
            if found.gap < best.gap:
                best = Solution(w, *found, step, found.gap <= tol * problem.zero_loss)
            if best.converged:
                break
        gradient = problem.X.T @ (problem.X @ w - problem.y) + problem.lam * slope
        w = w - gradient / (lipschitz * np.sqrt(step))
    return best._replace(iterations=step, trace=record if trace else [])
