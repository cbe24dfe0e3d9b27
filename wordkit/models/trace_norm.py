"""The trace Lasso penalty Omega(w) = ||P Diag(w)||_*, and what certifies a solution: its dual norm and the duality gap.

Grave, "A Markovian approach to distributional semantics with application to semantic compositionality", thesis 2014, chapter 7.
P is (k, p) with k <= p after :func:`row_factor`; w, u are (p,). The dual norm has no closed form, but it is the least operator
norm of a matrix with a given diagonal, Omega*(u) = min ||M||_op with diag(P^T M) = u: any such M bounds it from above, and
u.w / Omega(w) bounds it from below for any w. Columns of P that are zero must have been left out.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from wordkit._kernels import reweighted_step
from wordkit.models.anderson import Anderson

Array = np.ndarray
# Of the search for the dual norm: differences that are kept, mu's fall, its share at the end as a multiple of the tolerance.
_DIFFERENCES, _FALL, _BIAS, _LOWEST = 4, 0.1, 2.0, 1e-14


def row_factor(P: Array) -> Array:
    """A matrix with the same Gram matrix P^T P and no more rows than columns: all that the penalty depends on (Proposition 3)."""
    return triangle(P) if P.shape[0] > P.shape[1] else P


def triangle(A: Array) -> Array:
    """R of A = QR."""
    return np.asarray(np.linalg.qr(A, mode="r"))


def singular_values(P: Array, w: Array) -> Array:
    """Singular values of P Diag(w), ascending, (min(k, p),)."""
    return np.linalg.svd(P * w, compute_uv=False)[::-1]


def penalty_from_gram(P: Array, w: Array) -> float:
    """The penalty to half the digits, in a third of the time."""
    A = P * w
    values = np.linalg.eigvalsh(A @ A.T if A.shape[0] <= A.shape[1] else A.T @ A)
    return float(np.sqrt(np.maximum(values, 0.0)).sum())


def trace_norm_penalty(P: Array, w: Array) -> float:
    """||P Diag(w)||_*, the sum of the singular values; P is (k, p), w (p,)."""
    P, w = np.asarray(P, dtype=np.float64), np.asarray(w, dtype=np.float64)
    if P.ndim != 2 or w.shape != (P.shape[1],):
        raise ValueError(f"P is {P.shape} and w {w.shape}, expected (k, p) and (p,)")
    return float(singular_values(row_factor(P), w).sum())


def smaller_gram(M: Array) -> Array:
    """M M^T or M^T M, whichever is smaller."""
    return M @ M.T if M.shape[0] <= M.shape[1] else M.T @ M


def operator_norm(M: Array) -> float:
    """Greatest singular value of M."""
    return norm_by_gram(smaller_gram(M))


def norm_by_gram(gram: Array) -> float:
    """The norm of a matrix of which :func:`smaller_gram` is given."""
    size = len(gram)
    if not size:
        return 0.0
    if not np.isfinite(gram).all():
        return math.inf
    values, _, found, _, failed = lapack.dsyevr(gram, compute_v=0, range="I", il=size, iu=size)
    if failed or found != 1:  # the search for one eigenvalue fails now and then where all are found
        values = np.linalg.eigvalsh(gram)[-1:]
    return math.sqrt(max(float(values[0]), 0.0))


def norm_is_below(gram: Array, bound: float) -> bool:
    """Whether that norm is below ``bound``, but for rounding: a Cholesky factorization tells it sooner than the norm is found."""
    return bool(reweighted_step.is_below(gram, bound))


def column_products(A: Array, B: Array) -> Array:
    """diag(A^T B)."""
    return np.einsum("ij,ij->j", A, B)


def feasible(P: Array, M: Array, u: Array, squares: Array) -> Array:
    """The matrix nearest to M along the columns of P with diag(P^T M) = u; ``squares`` are the columns' squared lengths."""
    return M + P * ((u - column_products(P, M)) / squares)


class Smoothed(NamedTuple):
    """P Diag(w) seen through S = (P Diag(w)^2 P^T + mu I)^1/2, whose eigenvectors are V and eigenvalues ``roots`` (k,).

    ``w``: (p,). ``vectors``: V (k, k). ``turned``: S^-1/2 V^T P (k, p). ``weights``: D = diag(P^T S^-1 P), so that w * D is the
    gradient of tr S. ``omega``: the trace norm, which is tr S for mu = 0. ``trace``, ``inverse``: tr S and tr S^-1.
    """

    w: Array
    vectors: Array
    roots: Array
    turned: Array
    weights: Array
    omega: float
    trace: float
    inverse: float

    def polar(self) -> Array:
        """S^-1 P Diag(w): operator norm below 1, and diag(P^T .) = w * D."""
        return (self.vectors / np.sqrt(self.roots)) @ (self.turned * self.w)

    def feasible(self, u: Array, squares: Array, scale: float = 1.0) -> Array:
        """V^T M (k, p) for the M with diag(P^T M) = u that is nearest to ``scale`` times the polar factor along the columns of P;
        M's norm is its."""
        M, w = np.empty_like(self.turned), scale * self.w
        reweighted_step.mend(self.turned, self.roots, w, (u - w * self.weights) / squares, M)
        return M


def smoothed(P: Array, w: Array, mu: float) -> Smoothed:
    """P Diag(w) with (P Diag(w)^2 P^T + mu I)^1/2; one (k, k) eigenproblem and two products of k^2 p."""
    return smoothed_by(P, w, squared_spectrum(P, w), mu)


def squared_spectrum(P: Array, w: Array) -> tuple[Array, Array]:
    """Eigenvalues (k,), none below 0, and eigenvectors (k, k) of P Diag(w)^2 P^T."""
    k = len(P)
    values, rows = np.empty(k), np.empty((k, k))
    if not reweighted_step.spectrum(np.ascontiguousarray(P), w, values, rows):
        raise np.linalg.LinAlgError("no eigenvalues were found")
    return values, rows.T


def smoothed_by(P: Array, w: Array, spectrum: tuple[Array, Array], mu: float) -> Smoothed:
    """What :func:`smoothed` gives, of a spectrum that is known."""
    values, vectors = spectrum
    roots, turned, weights = np.empty(len(P)), np.empty(P.shape), np.empty(P.shape[1])
    sums = reweighted_step.smooth(np.ascontiguousarray(P), values, vectors.T, mu, roots, turned, weights)
    return Smoothed(w, vectors, roots, turned, weights, *sums)


def norm_from_below(M: Array, start: Array, steps: int = 3) -> tuple[float, Array]:
    """A lower bound of the operator norm of M (k, p) by power iteration from ``start`` (p,), and where that came to."""
    norm, size = 0.0, math.sqrt(float(start @ start))
    for _ in range(steps):
        image = M.T @ (M @ start)
        length = math.sqrt(float(image @ image))
        if not 0 < length < math.inf:
            return norm, start
        norm, start, size = math.sqrt(length / size), image / length, 1.0
    last = M @ start
    return math.sqrt(float(last @ last)), start


class DualNorm(NamedTuple):
    """``low`` <= Omega*(u) <= ``high``; ``direction`` w attains the lower bound."""

    low: float
    high: float
    direction: Array


def dual_norm(P: Array, u: Array, *, tol: float = 1e-3, iterations: int = 200) -> DualNorm:
    """Bracket Omega*(u) = max u.w / Omega(w) to a relative width of ``tol``.

    Starts from max |u_i| / ||p_i|| and the operator norm of P Diag(u_i / ||p_i||^2), then looks for the fixed point of
    w = u / diag(P^T (P Diag(w)^2 P^T + mu)^-1/2 P), whose polar factor is optimal in the one bound, and w in the other, but for
    mu: which falls to where its share is below ``tol``, and from there on steps are extrapolated.
    """
    squares = column_products(P, P)
    if not len(u) or not np.any(u):
        return DualNorm(0.0, 0.0, np.zeros_like(u))

    def scaled(w: Array) -> Array:
        return w / math.sqrt(float(w**2 @ squares) / len(w))

    ratios = np.abs(u) / np.sqrt(squares)
    best = int(np.argmax(ratios))
    low, high = float(ratios[best]), operator_norm(P * (u / squares))
    direction = np.zeros_like(u)
    direction[best] = math.copysign(1.0, u[best])
    anderson = Anderson(_DIFFERENCES)
    w, mu = scaled(u / squares), 1.0
    for step in range(iterations):
        if high - low <= tol * high:
            break
        view = smoothed(P, w, mu)
        omega = max(view.omega, np.finfo(float).tiny)
        if float(u @ w) > low * omega:
            low, direction = float(u @ w) / omega, w
        # The polar factor has diag(P^T M) = w D in the direction of u only in the limit; it is scaled, then mended. Its norm is
        # found where it ends the search: whether it does is told sooner.
        own = w * view.weights
        gram = smaller_gram(view.feasible(u, squares, float(u @ own) / float(own @ own)))
        if step == iterations - 1 or norm_is_below(gram, low / (1.0 - tol)):
            high = min(high, norm_by_gram(gram))
        image = scaled(u / view.weights)
        least = max((_BIAS * tol * omega / len(P)) ** 2, _LOWEST)
        if mu > least:
            w, mu = image, max(_FALL * mu, least)
        else:
            w = scaled(anderson.step(w, image, np.sqrt(view.weights)))
    return DualNorm(min(low, high), high, direction)
