"""Exact zeros: the trace Lasso on the coefficients that do not vanish, and the proof that the others do.

Where few coefficients are left, P_S Diag(w_S) has full column rank and the penalty is smooth: a small problem gives w_S to high
accuracy. The rest is zero at the optimum if some M with operator norm at most 1 has diag(P^T M) = u = X^T r / lam, M = U V^T on S.
Its other columns lie in the complement of U, and are looked for as the polar factor of the projected columns times v, with the
scale-free map v <- u / diag(P^T (P Diag(v)^2 P^T + I)^-1/2 P). That is where IRLS goes as mu -> 0, without its small numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wordkit.models.anderson import Anderson
from wordkit.models.trace_lasso_problem import Problem, Solution, cut_rows
from wordkit.models.trace_norm import (
    Array,
    column_products,
    feasible,
    operator_norm,
    smoothed,
)

_ROUNDS = 8  # of adding coefficients that cannot vanish
_STEPS = 25  # of the map for v
_NOTHING = 1e-10  # squared length, relative, of a column that lies in the span of others

# (problem on the support, start) -> its solution
Smooth = Callable[[Problem, Array], Solution]


class _Split(NamedTuple):
    """Rows of P turned so that the support has the first ones: ``own`` P_S, ``rest`` the others' in the complement, and all's."""

    support: Array
    own: Array
    rest: Array
    squares: Array


def _split(problem: Problem, support: Array) -> _Split | None:
    """None where the support spans everything. Columns in its span belong to it: nothing could certify that they are zero."""
    P = problem.P
    while 0 < support.sum() < len(P):
        Q, R = np.linalg.qr(P[:, support], mode="complete")
        size = int(support.sum())
        rest = Q[:, size:].T @ P
        squares = column_products(rest, rest)
        inside = ~support & (squares <= _NOTHING * problem.squares)
        if not inside.any():
            return _Split(support, R[:size], rest[:, ~support], squares[~support])
        support = support | inside
    return None


def solve_face(
    problem: Problem, support: Array, w: Array, v: Array, *, target: float, smooth: Smooth
) -> Solution | None:
    """Try to finish with the coefficients outside ``support`` exactly zero.

    Args:
        support: bool (p,). w: start on it. v: start of the directions outside, (p,), scale-free.
        target: the gap to reach.
        smooth: solves the problem on the support.

    Returns:
        the solution with its certified gap, reached or not; None where there is no face to try.
    """
    iterations = 0
    for _ in range(_ROUNDS):
        split = _split(problem, support)
        if split is None:
            return None
        support = split.support
        reduced = _restricted(problem, split)
        found = smooth(reduced, np.where(w == 0, v * 1e-6, w)[support])
        iterations += found.iterations
        w = np.zeros_like(w)
        w[support] = found.w
        residual = problem.y - problem.X @ w
        u = problem.X.T @ residual / problem.lam
        # |u_i| above the length that is left of a column: no M with norm 1 has that diagonal.
        excess = np.zeros_like(u)
        excess[~support] = np.abs(u[~support]) / np.sqrt(split.squares)
        vanished = support & (np.abs(w) < 1e-7 * np.abs(w).max())
        if excess.max() > 1 + 1e-7:
            entering = excess > max(1.0, np.partition(excess, -_entrants(support))[-_entrants(support)] * 0.999)
            v = np.where(entering, np.sign(u) * np.abs(w).max(), v)
            support = support | entering
        elif vanished.any() and not vanished.all():
            support = support & ~vanished
            w[vanished] = 0
        else:
            break
    else:
        return None
    return _certified(problem, split, w, u, v, residual, target=target, iterations=iterations)


def _entrants(support: Array) -> int:
    return max(1, int(support.sum()) // 4)


def _restricted(problem: Problem, split: _Split) -> Problem:
    X, y, constant = cut_rows(problem.X[:, split.support], problem.y)
    P = X if problem.P is problem.X and len(X) == len(split.own) else split.own
    return replace(problem, X=X, y=y, P=P, constant=problem.constant + constant)


def _certified(
    problem: Problem, split: _Split, w: Array, u: Array, v: Array, residual: Array, *, target: float, iterations: int
) -> Solution:
    """Look for the columns of M outside the support, as long as that goes well."""
    support, rest = split.support, split.rest
    left, singular, right = np.linalg.svd(split.own * w[support], full_matrices=False)
    kept = singular > 1e-14 * singular[0]
    polar = feasible(split.own, left[:, kept] @ right[kept], u[support], problem.squares[support])
    on_support, omega = operator_norm(polar), float(singular.sum())
    anderson = Anderson(6)
    u, v = u[~support], v[~support]
    best, best_v, before = np.inf, v, np.inf
    primal = problem.objective(w, omega)
    for step in range(_STEPS):
        view = smoothed(rest, v, 1.0)
        outside = operator_norm(feasible(rest, view.polar(rest, v), u, split.squares))
        gap = problem.gap_of(w, residual, max(on_support, outside), omega).gap
        iterations += 1
        if gap < best:
            best, best_v = gap, v
        if best <= target or outside <= on_support:
            break
        if step % 4 == 3:
            if best > 0.5 * before:
                break
            before = best
        v = anderson.step(v, u / view.weights, np.sqrt(view.weights))
    directions = np.zeros_like(w)
    directions[~support] = best_v
    return Solution(w, primal, best, iterations, best <= target, directions)
