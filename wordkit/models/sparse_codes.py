"""Codes of words for a fixed dictionary: least squares with a penalty on the groups of a forest, solved to a proven tolerance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from wordkit._kernels import forest_codes
from wordkit.errors import ConvergenceWarning
from wordkit.models.forests import Forest
from wordkit.parallel import map_blocks

_MANY = 256  # dimensions, from which on the largest eigenvalue is found by iteration
_EIGENVALUE_TOL = 1e-3


@dataclass(frozen=True)
class Codes:
    """Solutions of n problems.

    Attributes:
        codes: (M, n), zeros exact. objectives: (n) float64, F at the codes. gaps: (n) float64, upper bounds of F - min F.
        iterations: (n) int32. converged: (n) bool, the gap is at most tol times the objective.
    """

    codes: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray


def largest_eigenvalue(gram: np.ndarray) -> float:
    """An upper bound, close to it, of the largest eigenvalue of a symmetric matrix (M, M) without negative ones."""
    gram = np.asarray(gram, dtype=np.float64)
    if len(gram) < _MANY or not gram.any():
        return float(np.linalg.eigvalsh(gram)[-1]) * (1 + 1e-6)
    from scipy.sparse.linalg import eigsh  # a slow import

    found = eigsh(gram, k=1, tol=_EIGENVALUE_TOL, v0=np.ones(len(gram)), return_eigenvectors=False)
    return float(found[0]) * (1 + 2 * _EIGENVALUE_TOL)


def sparse_codes(
    gram: np.ndarray,
    correlations: np.ndarray,
    squares: np.ndarray,
    *,
    forest: Forest,
    lam: float,
    nonnegative: bool = False,
    tol: float = 1e-4,
    max_iter: int = 1000,
    threads: int = 1,
    start: np.ndarray | None = None,
    norm: float | None = None,
) -> Codes:
    """For each column x of X the a that minimizes |x - D a|^2 + lam sum over nodes of |a on the node's subtree|.

    A forest of :func:`~wordkit.models.forests.singletons` gives the l1 penalty (scikit-learn's Lasso with alpha =
    lam / (2 len(x))); lam = 0 least squares without one, the shortest solution where there are several.
    The bytes of the result do not depend on ``threads``.

    Args:
        gram: (M, M), D'D. correlations: (M, n), D'X; computed in float32 if this is float32, else in float64. squares: (n),
            squared lengths of the columns of X.
        forest: over the M dimensions.
        lam: weight of the penalty, >= 0.
        nonnegative: over a >= 0 only.
        tol: a column is done when its duality gap is at most tol times its objective. float32 can show gaps down to about
            1e-6 |x|^2.
        max_iter: most steps of a column.
        start: (M, n), where to begin; zero by default.
        norm: an upper bound of gram's largest eigenvalue, where it is known from a call before.

    Raises:
        ValueError: shapes that do not agree, numbers out of range or not finite.

    Warns:
        ConvergenceWarning: columns that were not done after ``max_iter`` steps.
    """
    dtype = np.float32 if np.asarray(correlations).dtype == np.float32 else np.float64
    B = np.ascontiguousarray(correlations, dtype=dtype)
    G = np.ascontiguousarray(gram, dtype=dtype)
    M = len(forest)
    if B.ndim != 2 or B.shape[0] != M or G.shape != (M, M):
        raise ValueError(f"gram {G.shape} and correlations {B.shape} do not fit a forest of {M} nodes")
    n = B.shape[1]
    lengths = np.ascontiguousarray(squares, dtype=np.float64)
    if lengths.shape != (n,) or (start is not None and np.shape(start) != (M, n)):
        raise ValueError(f"squares or start do not fit {n} columns of {M} values")
    if not (0 <= lam < np.inf and tol >= 0 and max_iter >= 0):
        raise ValueError(f"lam is {lam}, tol {tol}, max_iter {max_iter}; expected numbers >= 0")
    for values in (G, B, lengths, *(() if start is None else (start,))):
        if not np.isfinite(values).all():
            raise ValueError("gram, correlations, squares or start hold nan or inf")
    if lam == 0 and not nonnegative:
        found = _least_squares(G, B, lengths)
    else:
        found = _descend(G, B, lengths, forest, (lam, nonnegative, tol, max_iter), start, norm, threads)
    codes, objectives, gaps, iterations = found
    converged = gaps <= tol * objectives if lam or nonnegative else np.ones(n, dtype=bool)
    if not converged.all():
        worst = float(np.max(gaps[~converged] / np.maximum(objectives[~converged], 1e-300)))
        warnings.warn(
            f"{np.count_nonzero(~converged)} of {n} codes: gap up to {worst:.2g} of the objective after {max_iter} "
            f"iterations, tolerance {tol:g}; raise max_iter, tol or lam",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Codes(codes, objectives, gaps, iterations, converged)


_Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _least_squares(G: np.ndarray, B: np.ndarray, squares: np.ndarray) -> _Found:
    """Solutions through the eigenvectors of gram; directions of no length get no weight."""
    values, vectors = np.linalg.eigh(G.astype(np.float64))
    kept = values > max(values[-1], 0) * len(G) * np.finfo(G.dtype).eps
    values, vectors = values[kept], vectors[:, kept]
    turned = vectors.T @ B.astype(np.float64)
    codes = np.ascontiguousarray(vectors @ (turned / values[:, None]), dtype=B.dtype)
    rest = 2 * (turned - values[:, None] * (vectors.T @ codes))
    objectives = (
        squares - np.sum(codes * B, axis=0, dtype=np.float64) - np.sum(codes * (B - G @ codes), axis=0)
    )
    gaps = np.sum(rest**2 / (4 * values[:, None]), axis=0)
    return codes, np.maximum(objectives, 0), gaps, np.zeros(B.shape[1], dtype=np.int32)


def _descend(
    G: np.ndarray,
    B: np.ndarray,
    squares: np.ndarray,
    forest: Forest,
    settings: tuple[float, bool, float, int],
    start: np.ndarray | None,
    norm: float | None,
    threads: int,
) -> _Found:
    """Blocks of columns by the kernel; ``settings``: lam, nonnegative, tol, max_iter."""
    (M, n), (lam, nonnegative, tol, max_iter) = B.shape, settings
    norm = largest_eigenvalue(G) if norm is None else norm
    smallest = max(float(np.linalg.eigvalsh(G.astype(np.float64))[0]), 0.0) if lam == 0 else 0.0
    codes = np.zeros(B.shape, B.dtype) if start is None else np.array(start, B.dtype, order="C")
    objectives, gaps, iterations = np.empty(n), np.empty(n), np.empty(n, np.int32)
    width = (
        256 if M <= 128 else 128
    )  # a block's arrays should stay in the second-level cache, its products be wide

    def solve(low: int) -> None:
        forest_codes.solve_columns(
            G, B, squares, forest.parents, lam, norm or 1.0, smallest, nonnegative, tol, max_iter, low, min(low + width, n),
            start is not None, codes, gaps, objectives, iterations,
        )  # fmt: skip

    map_blocks(solve, range(0, n, width), threads)
    return codes, objectives, gaps, iterations
