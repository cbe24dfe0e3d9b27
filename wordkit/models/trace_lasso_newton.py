"""Newton's method for a small trace Lasso problem whose coefficients all stay: P Diag(w) keeps full column rank.

There the penalty tr (P Diag(w)^2 P^T)^1/2 is smooth. With T = S^-1/2 V^T P, S = V Diag(e) V^T its root, the gradient is w D and
the Hessian Diag(D) - 2 w_i w_j sum_ab T_ai T_bi T_aj T_bj / (e_a + e_b). A coefficient on its way to zero meets a kink: a step
goes at most nearly to it, and what has become tiny is returned as zero.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.linalg import lapack

from wordkit.models.trace_lasso_problem import Problem, Solution
from wordkit.models.trace_norm import Array, Smoothed, smoothed

LARGEST = 128  # coefficients: the Hessian costs the fourth power
_STEPS = 40
_NEARLY = 0.95  # of the way to a zero
_TINY = 1e-7  # of the greatest coefficient: zero
_LEAST = 1e-16  # mu beside the square of the greatest singular value
_SLOPE = 1e-3  # share of the promised descent that is asked for


def newton(problem: Problem, w: Array, *, target: float) -> Solution | None:
    """From ``w`` (p,) without zeros to a gap of ``target``, or to a point where coefficients have vanished.

    Returns:
        the solution, ``iterations`` 0; None where that is not reached.
    """
    gram = problem.X.T @ problem.X
    view = _seen(problem, w)
    for _ in range(_STEPS):
        largest = float(np.abs(w).max())
        vanished = np.abs(w) <= _TINY * largest
        if vanished.any():
            return Solution(np.where(vanished, 0.0, w), math.inf, math.inf, math.inf, 0, False)
        omega = view.omega
        gradient = gram @ w - problem.correlations + problem.lam * (w * view.weights)
        _, direction, failed = lapack.dposv(
            (gram + problem.lam * _hessian(view)).T, -gradient, lower=1, overwrite_a=1
        )
        slope = float(gradient @ direction)
        if failed or not slope < 0:
            return None
        if -slope <= target:
            found = problem.gap(w, view.polar(), omega)
            if found.gap <= target:
                return Solution(w, *found, 0, True)
        shrinking = direction * w < 0
        size = 1.0
        if shrinking.any():
            size = min(1.0, _NEARLY * float((-w[shrinking] / direction[shrinking]).min()))
        now = problem.objective(w, omega)
        while True:
            following = w + size * direction
            view = _seen(problem, following)
            there = problem.objective(following, view.omega)
            if there <= now + _SLOPE * size * slope + 1e-14 * abs(now):
                break
            size *= 0.5
            if size < 1e-6:
                return None
        w = following
    return None


def _seen(problem: Problem, w: Array) -> Smoothed:
    """P Diag(w), smoothed by no more than its rounding."""
    return smoothed(problem.P, w, _LEAST * float((w**2).max()) * float(problem.squares.max()))


def _hessian(view: Smoothed) -> Array:
    """Of the penalty, (p, p)."""
    rows, columns, twice = _pairs(len(view.roots))
    pairs = view.turned[rows] * (view.turned[columns] * view.w)
    pairs *= np.sqrt(twice / (view.roots[rows] + view.roots[columns]))[:, None]
    hessian = -(pairs.T @ pairs)
    hessian.reshape(-1)[:: len(hessian) + 1] += view.weights
    return hessian


@functools.lru_cache(maxsize=4)
def _pairs(size: int) -> tuple[Array, Array, Array]:
    """Indices of the upper triangle of a square of that size, and how much each counts."""
    rows, columns = np.triu_indices(size)
    return rows, columns, np.where(rows == columns, 2.0, 4.0)
