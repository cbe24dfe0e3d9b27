"""The pairwise elastic net (Lorbert et al. 2010; Grave 2014, section 6.4.5): 1/(2n) ||y - Xw||^2 + lam |w|^T P |w|.

P = I + (1 - theta)(1 1^T - X^T X) with the smallest theta >= 0 that makes it positive semi-definite: 1 - theta is the least of
1 and -1 / kappa, kappa the (negative) least eigenvalue of 1 1^T - X^T X. With w = a - b, a, b >= 0, it is a smooth problem
with bounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.optimize

from wordkit.models.trace_lasso_problem import Solution

Array = np.ndarray
_ROUNDS = 6


def pairwise_matrix(X: Array) -> tuple[Array, float]:
    """P (p, p) and theta, for X with columns of unit length."""
    p = X.shape[1]
    spread = 1.0 - X.T @ X
    least = float(np.linalg.eigvalsh(spread)[0]) if p else 0.0
    share = 1.0 if least >= -1.0 else -1.0 / least
    # Products of unit columns are at most 1 but for rounding, and P must have no negative element.
    return np.eye(p) + share * np.maximum(spread, 0.0), 1.0 - share


def pairwise_gap(X: Array, y: Array, lam: float, P: Array, w: Array) -> tuple[float, float]:
    """Objective and certified gap, both times n (``lam`` too: 1/2 ||y - Xw||^2 + lam |w|^T P |w|).

    lam |w|^T P |w| has the conjugate max_a>=0 |u|.a - lam a^T P a, at most c^2 lam |w|^T P |w| for |u| <= 2 c lam P |w|.
    """
    residual = y - X @ w
    size = np.abs(w)
    weighted = P @ size
    penalty = lam * float(size @ weighted)
    primal = 0.5 * float(residual @ residual) + penalty
    if lam == 0:
        least = np.linalg.lstsq(X, y, rcond=None)[0]
        rest = y - X @ least
        return primal, primal - 0.5 * float(rest @ rest)
    u = np.abs(X.T @ residual)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(u == 0, 0.0, u / (2 * lam * weighted))
    c = float(ratios.max(initial=0.0))
    if not np.isfinite(c):
        return primal, primal
    curvature = float(residual @ residual) + 2 * c * c * penalty
    if not np.isfinite(curvature):
        return primal, primal
    scale = float(y @ residual) / curvature if curvature > 0 else 0.0
    return primal, primal - (scale * float(y @ residual) - 0.5 * scale**2 * curvature)


def pairwise_elastic_net(
    X: Array, y: Array, lam: float, P: Array, *, zero_loss: float, tol: float = 1e-6, max_iter: int = 20_000,
    w: Array | None = None, stop: Callable[[], None] | None = None,
) -> Solution:  # fmt: skip
    """Minimize 1/2 ||y - Xw||^2 + lam |w|^T P |w| to a gap of ``tol`` times ``zero_loss``; all is n times the estimators'
    scale."""
    p = X.shape[1]
    start = np.zeros(2 * p)
    if w is not None:
        start[:p], start[p:] = np.maximum(w, 0), np.maximum(-w, 0)

    def value(parts: Array) -> tuple[float, Array]:
        if stop is not None:
            stop()
        residual = X @ (parts[:p] - parts[p:]) - y
        size = parts[:p] + parts[p:]
        slope, weight = X.T @ residual, 2 * lam * (P @ size)
        objective = 0.5 * float(residual @ residual) + 0.5 * float(size @ weight)
        return objective, np.concatenate([weight + slope, weight - slope])

    best = Solution(np.zeros(p), np.inf, np.inf, np.inf, 0, False)
    iterations = 0
    for _ in range(_ROUNDS):
        found = scipy.optimize.minimize(
            value, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * p),
            options={"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 1e-16, "gtol": 1e-12, "maxcor": 30},
        )  # fmt: skip
        iterations += int(found.nit)
        start = found.x
        w = start[:p] - start[p:]
        primal, gap = pairwise_gap(X, y, lam, P, w)
        if gap < best.gap:
            best = Solution(w, primal, gap, np.inf, iterations, gap <= tol * zero_loss)
        if best.converged or iterations >= max_iter:
            break
    return best._replace(iterations=iterations)
