"""Logistic loss with the trace Lasso penalty: sum log(1 + exp(-y_i (x_i.w + c))) + lam ||P Diag(w)||_*, by ADMM.

Targets are -1 and 1; the intercept c is not penalized. The dual problem maximizes the entropy sum h(a_i), 0 <= a_i <= 1, such
that Omega*(X^T (y a)) <= lam and, with an intercept, sum y_i a_i = 0; its point comes from the gradient at w.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.special import expit, xlogy

from wordkit.models.trace_lasso_problem import Gap
from wordkit.models.trace_norm import (
    Array,
    column_products,
    feasible,
    operator_norm,
    row_factor,
    singular_values,
)

_NEWTON = 50


class LogisticLoss:
    """The loss as :func:`wordkit.models.trace_lasso_admm.admm` takes it; ``intercept`` is that of the last step.

    Args:
        X: (n, p). y: -1 or 1 (n,), both there. P: (k, p), no column zero; X itself for None.
    """

    def __init__(
        self, X: Array, y: Array, lam: float, P: Array | None = None, *, fit_intercept: bool
    ) -> None:
        self.X, self.y, self.lam, self.fit_intercept = X, y, lam, fit_intercept
        self.P = row_factor(X if P is None else P)
        self.squares = column_products(self.P, self.P)
        positive = float(np.mean(y > 0))
        self.intercept = np.log(positive / (1 - positive)) if fit_intercept else 0.0
        self.zero_loss = self._loss(np.full(len(y), self.intercept))
        self._w = np.zeros(X.shape[1])

    def correlations(self) -> Array:
        """X^T (y a) at w = 0: its dual norm is the least lam that gives w = 0."""
        return self.X.T @ (self.y * self._shares(np.zeros(self.X.shape[1])))

    def start(self) -> float:
        return max(0.25 * float(np.mean(column_products(self.X, self.X) / self.squares)), 1e-12)

    def _loss(self, scores: Array) -> float:
        return float(np.logaddexp(0.0, -self.y * scores).sum())

    def _shares(self, w: Array) -> Array:
        """a (n,) at w, with sum y a = 0 where there is an intercept."""
        a = expit(-self.y * (self.X @ w + self.intercept))
        if self.fit_intercept:
            sums = [float(a[self.y == side].sum()) for side in (1, -1)]
            for side, own, other in ((1, *sums), (-1, *sums[::-1])):
                if own > other > 0:
                    a[self.y == side] *= other / own
        return a

    def step(self, b: Array, rho: float) -> Array:
        """Newton's method from the last w, with halved steps where a full one does not descend."""
        ridge = rho * self.squares
        w, c = self._w, self.intercept

        def value(w: Array, c: float) -> float:
            return self._loss(self.X @ w + c) - float(b @ w) + 0.5 * float(ridge @ w**2)

        now = value(w, c)
        for _ in range(_NEWTON):
            scores = self.X @ w + c
            a = expit(-self.y * scores)
            slope = -(self.y * a)
            curvature = np.maximum(a * (1 - a), 1e-10)
            gradient = self.X.T @ slope - b + ridge * w
            dw, dc = self._direction(gradient, float(slope.sum()), curvature, ridge)
            decrease = float(gradient @ dw) + float(slope.sum()) * dc
            if decrease <= 1e-13 * (1 + abs(now)):
                break
            size = 1.0
            while (
                following := value(w - size * dw, c - size * dc)
            ) > now - 1e-4 * size * decrease and size > 1e-8:
                size *= 0.5
            w, c, now = w - size * dw, c - size * dc, following
        self._w, self.intercept = w, c
        return w

    def _direction(
        self, gradient: Array, sum_slope: float, curvature: Array, ridge: Array
    ) -> tuple[Array, float]:
        """Newton direction in w and c: (X^T C X + Diag(ridge)) and the intercept's row, by elimination of w."""
        right = np.column_stack([gradient, self.X.T @ curvature]) if self.fit_intercept else gradient[:, None]
        solved = self._solve(right, curvature, ridge)
        if not self.fit_intercept:
            return solved[:, 0], 0.0
        cross = self.X.T @ curvature
        pivot = float(curvature.sum()) - float(cross @ solved[:, 1])
        dc = (sum_slope - float(cross @ solved[:, 0])) / max(pivot, 1e-12)
        return solved[:, 0] - dc * solved[:, 1], dc

    def _solve(self, right: Array, curvature: Array, ridge: Array) -> Array:
        scale = 1.0 / np.sqrt(ridge)
        A = np.sqrt(curvature)[:, None] * self.X * scale
        right = scale[:, None] * right
        n, p = A.shape
        small = A @ A.T if n <= p else A.T @ A
        small[np.diag_indices_from(small)] += 1.0
        factor = scipy.linalg.cho_factor(small, lower=True, overwrite_a=True, check_finite=False)
        if n > p:
            return scale[:, None] * scipy.linalg.cho_solve(factor, right, check_finite=False)
        inner = scipy.linalg.cho_solve(factor, A @ right, check_finite=False)
        return scale[:, None] * (right - A.T @ inner)

    def gap(self, w: Array, M: Array, omega: float | None = None) -> Gap:
        omega = float(singular_values(self.P, w).sum()) if omega is None else omega
        a = self._shares(w)
        norm = np.inf
        if self.lam > 0:
            u = self.X.T @ (self.y * a) / self.lam
            norm = operator_norm(feasible(self.P, M, u, self.squares))
        a = a * min(1.0, 1.0 / norm) if norm > 0 else a
        entropy = -float((xlogy(a, a) + xlogy(1 - a, 1 - a)).sum())
        primal = self._loss(self.X @ w + self.intercept) + self.lam * omega
        return Gap(primal, primal - entropy, norm)
