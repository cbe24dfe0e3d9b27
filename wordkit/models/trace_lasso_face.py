"""Exact zeros: the trace Lasso on the coefficients that do not vanish, and the proof that the others do.

Where few coefficients are left, P_S Diag(w_S) has full column rank and the penalty is smooth: a small problem gives w_S to high
accuracy. The rest is zero at the optimum if some M with operator norm at most 1 has diag(P^T M) = u = X^T r / lam, with M = U V^T
on S. Its other columns lie in the complement of U, and are looked for as the polar factor of the projected columns times v, with
the scale-free map v <- u / diag(P^T (P Diag(v)^2 P^T + I)^-1/2 P). That is where IRLS goes as mu -> 0, without its small numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from wordkit.models.anderson import Anderson
from wordkit.models.trace_lasso_problem import Gap, Problem, Solution, cut_rows
from wordkit.models.trace_norm import (
    Array,
    column_products,
    operator_norm,
    singular_values,
    smoothed,
)

_ROUNDS = 8  # of adding coefficients that cannot vanish
_STEPS = 25  # of the map for v
_NOTHING = 1e-10  # squared length, relative, of a column that lies in the span of others

# (problem on the support, start) -> its solution
Solve = Callable[[Problem, Array], Solution]


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
    problem: Problem, support: Array, w: Array, v: Array, *, target: float, solve: Solve
) -> Solution | None:
    """Try to finish with the coefficients outside ``support`` exactly zero.

    Args:
        support: bool (p,). w: start on it. v: start of the directions outside, (p,), scale-free.
        target: the gap to reach.
        solve: solves the problem on the support, whose coefficients may turn out to be zero.

    Returns:
        the solution with its certified gap, reached or not; None where there is no face to try.
    """
    iterations = 0
    tried = np.zeros_like(support)
    for _ in range(_ROUNDS):
        split = _split(problem, support)
        if split is None:
            return None
        support = split.support
        reduced = _restricted(problem, split)
        found = solve(reduced, w[support])
        iterations += found.iterations
        w = np.zeros_like(w)
        w[support] = found.w
        residual = problem.y - problem.X @ w
        u = problem.X.T @ residual / problem.lam
        # |u_i| above the length that is left of a column: no M with norm 1 has that diagonal.
        tried |= support
        zero = support & (w == 0)
        excess = np.zeros_like(u)
        excess[~support] = np.abs(u[~support]) / np.sqrt(split.squares)
        excess[tried] = 0  # found to be zero, as far as the accuracy goes
        if excess.max() > 1:
            least = max(1.0, float(np.partition(excess, -_entrants(support))[-_entrants(support)]))
            support = (support & ~zero) | (excess >= least)
        elif zero.any():
            support = support & ~zero
        else:
            break
    else:
        return None
    return _certified(problem, split, w, u, v, residual, found.norm, target=target, iterations=iterations)


def _entrants(support: Array) -> int:
    return max(1, int(support.sum()) // 4)


def _restricted(problem: Problem, split: _Split) -> Problem:
    X, y, constant = cut_rows(problem.X[:, split.support], problem.y)
    P = X if problem.P is problem.X and len(X) == len(split.own) else split.own
    return replace(problem, X=X, y=y, P=P, constant=problem.constant + constant)


def _certified(
    problem: Problem,
    split: _Split,
    w: Array,
    u: Array,
    v: Array,
    residual: Array,
    on_support: float,
    *,
    target: float,
    iterations: int,
) -> Solution:
    """Look for M's columns outside the support, as long as that goes well; ``on_support`` is the norm of those on it."""
    support, rest = split.support, split.rest
    omega = float(singular_values(split.own, w[support]).sum())
    anderson = Anderson(6)
    u, v = u[~support], v[~support]
    best, best_v, before = Gap(np.inf, np.inf, np.inf), v, np.inf
    for step in range(_STEPS):
        view = smoothed(rest, v, 1.0)
        outside = operator_norm(view.feasible(u, split.squares))
        found = problem.gap_of(w, residual, max(on_support, outside), omega)
        iterations += 1
        if found.gap < best.gap:
            best, best_v = found, v
        if best.gap <= target or outside <= on_support:
            break
        if step % 4 == 3:
            if best.gap > 0.5 * before:
                break
            before = best.gap
        v = anderson.step(v, u / view.weights, np.sqrt(view.weights))
    directions = np.zeros_like(w)
    directions[~support] = best_v
    return Solution(w, *best, iterations, best.gap <= target, directions)
