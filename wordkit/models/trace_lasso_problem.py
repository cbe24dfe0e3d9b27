"""One trace Lasso problem, min 1/2 ||y - Xw||^2 + lam ||P Diag(w)||_*, its objective and its certified gap.

X is (n, p), P (k, p), y (n,). This is the scale of the solvers: ``lam`` here is n times the lambda of the estimators. Both
matrices have been cut to at most p rows and hold no zero column of P.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from wordkit._kernels import reweighted_step
from wordkit.models.trace_norm import (
    Array,
    column_products,
    feasible,
    operator_norm,
    row_factor,
    singular_values,
    triangle,
)


class Gap(NamedTuple):
    """``primal`` objective and ``gap``, its distance to a dual objective: never below the distance to the optimum.

    ``norm``: operator norm of the matrix that proves it, above 1 by as much as the residual must be scaled.
    """

    primal: float
    gap: float
    norm: float


class Proof(NamedTuple):
    """What the residual r = y - Xw proves: the dual objective at s r is s y.r - s^2/2 r.r, and s r is feasible up to
    s = 1 / Omega*(X^T r / lam).

    ``primal``: the objective without ``constant``, which is in both. ``square``: r.r. ``along``: y.r.
    """

    primal: float
    square: float
    along: float
    constant: float

    def gap(self, norm: float) -> Gap:
        """Gap where ``norm`` >= Omega*(X^T r / lam), for the best s that is feasible."""
        best = self.along / self.square if self.square > 0 else 0.0
        most = 1.0 / norm if norm > 0 else math.inf
        scale = min(max(best, -most), most)
        dual = scale * (self.along - 0.5 * scale * self.square)
        return Gap(self.primal + self.constant, self.primal - dual, norm)

    def norm_for(self, gap: float) -> float:
        """The norm at which :meth:`gap` gives ``gap``: below it the gap is smaller. Infinite where any will do, 0 if none."""
        wanted = self.primal - gap
        if not wanted > 0:
            return math.inf
        if not self.along > 0:
            return 0.0
        rest = self.along**2 - 2 * wanted * self.square
        return (self.along + math.sqrt(rest)) / (2 * wanted) if rest >= 0 else 0.0


@dataclass(frozen=True)
class Problem:
    """Data of a problem.

    Attributes:
        X, y, P, lam: as in the module's text; ``P is X`` for the trace Lasso itself.
        zero_loss: the objective at w = 0, which gaps are relative to (a reduced problem keeps that of the whole).
        constant: part of the loss that was cut off with the rows.
    """

    X: Array
    y: Array
    P: Array
    lam: float
    zero_loss: float
    constant: float = 0.0
    squares: Array = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "squares", column_products(self.P, self.P))

    @classmethod
    def of(cls, X: Array, y: Array, lam: float, P: Array | None = None) -> Problem:
        """The problem with its rows cut to the number of columns: X = QR, y becomes Q^T y."""
        zero_loss = 0.5 * float(y @ y)
        factor, target, constant = cut_rows(X, y)
        return cls(factor, target, factor if P is None else row_factor(P), lam, zero_loss, constant)

    def at(self, lam: float) -> Problem:
        """The same data with another lambda."""
        return replace(self, lam=lam)

    @cached_property
    def correlations(self) -> Array:
        """X^T y."""
        return self.X.T @ self.y

    def solve_weighted(self, D: Array) -> Array:
        """The minimizer (X^T X + Diag(D))^-1 X^T y with D > 0, through an n x n system.

        With X / sqrt(D) in place of X the diagonal is the identity, so that columns about to vanish do not spoil it.
        """
        w = np.empty(len(D))
        if not reweighted_step.solve(np.ascontiguousarray(self.X), self.y, D, w):
            raise np.linalg.LinAlgError("not positive definite")
        return w

    def penalty(self, w: Array) -> float:
        return float(singular_values(self.P, w).sum())

    def objective(self, w: Array, omega: float | None = None) -> float:
        """The objective at w; ``omega`` where the penalty is known."""
        residual = self.y - self.X @ w
        omega = self.penalty(w) if omega is None else omega
        return 0.5 * float(residual @ residual) + self.lam * omega + self.constant

    def gap(self, w: Array, M: Array, omega: float | None = None) -> Gap:
        """Certified gap of w with the help of M (k, p), any matrix whose diag(P^T M) is close to X^T(y - Xw)/lam."""
        residual = self.y - self.X @ w
        norm = operator_norm(feasible(self.P, M, self.X.T @ residual / self.lam, self.squares))
        return self.proof(residual, self.penalty(w) if omega is None else omega).gap(norm)

    def proof(self, residual: Array, omega: float) -> Proof:
        """What ``residual`` = y - Xw proves about w, of which ``omega`` is the penalty."""
        square = float(residual @ residual)
        return Proof(0.5 * square + self.lam * omega, square, float(self.y @ residual), self.constant)


class Solution(NamedTuple):
    """What a solver returns.

    ``w``: (p,); ``objective``, ``gap`` and ``norm`` as in :class:`Gap`; ``iterations``; ``converged``: the gap is below the
    tolerance; ``dual``: (p,) directions of the coefficients that vanished, for a warm start; ``trace``: a pair
    (seconds, objective, gap) a check, where it was asked for.
    """

    w: Array
    objective: float
    gap: float
    norm: float
    iterations: int
    converged: bool
    dual: Array | None = None
    trace: tuple[Any, ...] | list[Any] = ()


def cut_rows(X: Array, y: Array) -> tuple[Array, Array, float]:
    """R and Q^T y of X = QR where X has more rows than columns, and the loss 1/2 ||y - Q Q^T y||^2 that goes with the rest."""
    n, p = X.shape
    if n <= p:
        return X, y, 0.0
    both = triangle(np.column_stack([X, y]))
    return both[:p, :p], both[:p, p], 0.5 * float(both[p, p] ** 2)
