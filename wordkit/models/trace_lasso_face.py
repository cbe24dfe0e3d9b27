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
    Smoothed,
    column_products,
    operator_norm,
    penalty_from_gram,
    singular_values,
    smoothed,
)

_ROUNDS = 12  # of adding coefficients that cannot vanish
_STEPS = 40  # of the map for v
_CLOSE = 10  # times the target: a gap that is worth more patience
_NOTHING = 1e-10  # squared length, relative, of a column that lies in the span of others
_ENTERING = 0.3, 0.03  # shares of the longest column of P Diag(v) that make others enter with it
_ROUNDING = 1e-6  # of a penalty from the Gram matrix
_SMALL = 0.01  # share of the mean coefficient with which one enters whose size is not known

# (problem on the support, start) -> its solution
Solve = Callable[[Problem, Array], Solution]


class _Split:
    """Rows of P turned so that the support has the first ones: ``own`` P_S, ``rest`` the others' in the complement, and all's.

    The last smoothed view of the rest is kept: along a path it is asked for again.
    """

    def __init__(self, P: Array, support: Array, own: Array, rest: Array, squares: Array) -> None:
        self.P, self.support, self.own, self.rest, self.squares = P, support, own, rest, squares
        self._view: Smoothed | None = None

    def view(self, v: Array) -> Smoothed:
        if self._view is None or not np.array_equal(self._view.w, v):
            self._view = smoothed(self.rest, v, 1.0)
        return self._view


class Faces:
    """What is kept between problems that differ in lambda only: the last face, the last differences of the map of IRLS, and
    ``given_up``: that a face near a solution without zeros was tried in vain."""

    def __init__(self) -> None:
        self.anderson = Anderson()
        self.given_up = False
        self._last: tuple[Array, _Split | None] | None = None

    def split(self, problem: Problem, support: Array) -> _Split | None:
        """None where the support spans everything."""
        last = self._last
        if (
            last is None
            or last[1] is None
            or last[1].P is not problem.P
            or not np.array_equal(last[0], support)
        ):
            self._last = last = support.copy(), _split(problem, support)
        return last[1]


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
            return _Split(P, support, R[:size], rest[:, ~support], squares[~support])
        support = support | inside
    return None


class _Outside(NamedTuple):
    """How the search for M's columns outside the support ended: the best gap, its v, and where there can be no M with norm 1
    which columns v points to (bool, outside)."""

    found: Gap
    v: Array
    entering: Array | None
    iterations: int


def solve_face(
    problem: Problem,
    support: Array,
    w: Array,
    v: Array,
    *,
    target: float,
    solve: Solve,
    faces: Faces | None = None,
) -> Solution | None:
    """Try to finish with the coefficients outside ``support`` exactly zero; those that cannot be zero are added.

    Args:
        support: bool (p,). w: start on it. v: start of the directions outside, (p,), scale-free.
        target: the gap to reach.
        solve: solves the problem on the support, whose coefficients may turn out to be zero.
        faces: of problems with the same P.

    Returns:
        the solution with its certified gap, reached or not; None where there is no face to try.
    """
    faces = Faces() if faces is None else faces
    iterations = 0
    tried = np.zeros_like(support)
    best: Solution | None = None
    for _ in range(_ROUNDS):
        split = faces.split(problem, support)
        if split is None:
            break
        support = split.support
        start = w[support]
        if not start.all():
            unknown = _SMALL * float(np.abs(start).mean()) * np.sign(problem.correlations[support])
            start = np.where(start == 0, unknown, start)
        found = solve(_restricted(problem, split), start)
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
        if zero.all():
            break
        if excess.max() > 1:
            least = max(1.0, float(np.partition(excess, -_entrants(support))[-_entrants(support)]))
            support = (support & ~zero) | (excess >= least)
            continue
        if zero.any():
            support = support & ~zero
            continue
        outside = _outside(problem, split, w, u, v, residual, found.norm, target)
        iterations += outside.iterations
        v = np.zeros_like(w)
        v[~support] = outside.v
        if best is None or outside.found.gap < best.gap:
            best = Solution(w, *outside.found, iterations, outside.found.gap <= target, v)
        if best.converged or outside.entering is None:
            break
        entering = np.zeros_like(support)
        entering[~support] = outside.entering
        scale = _SMALL * float(np.abs(w[support]).mean()) / float(np.abs(v[entering]).max())
        w = np.where(entering, scale * v, w)
        support = support | entering
    return None if best is None else best._replace(iterations=iterations)


def _entering(split: _Split, u: Array, view: Smoothed) -> Array | None:
    """The columns that v grows along, where they show that the dual norm of u is above 1 (then there is a way down along v)."""
    lengths = np.abs(view.w) * np.sqrt(split.squares)
    for share in _ENTERING:
        entering = lengths >= share * lengths.max()
        v = view.w[entering]
        if u[entering] @ v > (1 + _ROUNDING) * penalty_from_gram(split.rest[:, entering], v):
            return entering
    return None


def _entrants(support: Array) -> int:
    return max(1, int(support.sum()) // 4)


def _restricted(problem: Problem, split: _Split) -> Problem:
    X, y, constant = cut_rows(problem.X[:, split.support], problem.y)
    P = X if problem.P is problem.X and len(X) == len(split.own) else split.own
    return replace(problem, X=X, y=y, P=P, constant=problem.constant + constant)


def _outside(
    problem: Problem,
    split: _Split,
    w: Array,
    u: Array,
    v: Array,
    residual: Array,
    on_support: float,
    target: float,
) -> _Outside:
    """Look for M's columns outside the support, as long as that goes well; ``on_support`` is the norm of those on it."""
    support = split.support
    proof = problem.proof(residual, float(singular_values(split.own, w[support]).sum()))
    anderson = Anderson(6)
    u, v = u[~support], v[~support]
    best, best_v, before, step = Gap(np.inf, np.inf, np.inf), v, np.inf, 0
    for step in range(_STEPS):
        view = split.view(v)
        outside = operator_norm(view.feasible(u, split.squares))
        found = proof.gap(max(on_support, outside))
        if found.gap < best.gap:
            best, best_v = found, v
        if best.gap <= target or outside <= on_support:
            break
        if (entering := _entering(split, u, view)) is not None:
            if 2 * (support.sum() + entering.sum()) > len(problem.P):
                break
            return _Outside(best, v, entering, step + 1)
        if step % 4 == 3:
            if best.gap > (0.5 if best.gap > _CLOSE * target else 0.9) * before:
                break
            before = best.gap
        v = anderson.step(v, u / view.weights, np.sqrt(view.weights))
    return _Outside(best, best_v, None, step + 1)
