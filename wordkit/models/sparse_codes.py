"""Codes of words for a fixed dictionary: least squares with a penalty on the groups of a forest, solved to a proven tolerance."""

from __future__ import annotations

import math
import threading
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from wordkit._kernels import forest_codes
from wordkit.errors import ConvergenceWarning
from wordkit.models.forests import Forest
from wordkit.parallel import map_blocks

_SINGLE_STEPS = 60  # in float32; columns that are not done by then need float64 to be so
_ANY_GAP = 1e30  # a tolerance that every code meets
_MOST_DOUBLINGS = 40  # of rho from where it begins


@dataclass(frozen=True)
class Codes:
    """Solutions of n problems.

    Attributes:
        codes: (M, n), zeros exact. objectives: (n) float64, F at the codes. gaps: (n) float64, upper bounds of F - min F.
        iterations: (n) int32. converged: (n) bool, the gap is at most tol times the objective.
        rho: what the solver's weight came to, a good begin of the next call with a similar gram; 0 where it had none.
    """

    codes: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    rho: float = 0.0


class Inverses:
    """(2 gram + rho I)^-1 for rho = base times powers of 2, each made once, by whichever thread needs it first."""

    def __init__(self, gram: np.ndarray, base: float) -> None:
        self._gram, self.base = gram, base
        self._lock = threading.Lock()
        self._made: dict[int, np.ndarray] = {}

    def rho(self, power: int) -> float:
        return self.base * 2.0**power

    def __getitem__(self, power: int) -> np.ndarray:
        with self._lock:
            if power not in self._made:
                self._made[power] = self._make(self.rho(power))
            return self._made[power]

    def _make(self, rho: float) -> np.ndarray:
        shifted = 2 * self._gram.astype(np.float64)
        shifted[np.diag_indices(len(shifted))] += rho
        factor, failed = dpotrf(shifted, lower=True)
        if failed:
            raise ValueError("gram has a negative eigenvalue, expected D'D")
        inverse = np.tril(dpotri(factor, lower=True)[0])
        inverse += np.tril(inverse, -1).T
        return np.ascontiguousarray(inverse, dtype=self._gram.dtype)


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
    rho: float | None = None,
) -> Codes:
    """For each column x of X the a that minimizes |x - D a|^2 + lam sum over nodes of |a on the node's subtree|.

    A forest of :func:`~wordkit.models.forests.singletons` gives the l1 penalty (scikit-learn's Lasso with alpha =
    lam / (2 len(x))); lam = 0 least squares without one, the shortest solution where there are several.
    The bytes of the result do not depend on ``threads``.

    Args:
        gram: (M, M), D'D. correlations: (M, n), D'X; computed in float32 if this is float32 (columns whose gap it cannot
            show to be small, in float64 after that), else in float64. squares: (n), squared lengths of the columns of X.
        forest: over the M dimensions.
        lam: weight of the penalty, >= 0.
        nonnegative: over a >= 0 only.
        tol: a column is done when its duality gap is at most tol times its objective.
        max_iter: most steps of a column.
        start: (M, n), where to begin; zero by default.
        rho: weight of the solver's steps to begin with, as a call before has left it; found by the solver by default.

    Raises:
        ValueError: shapes that do not agree, numbers out of range or not finite.

    Warns:
        ConvergenceWarning: columns that were not done after ``max_iter`` steps.
    """
    if not (0 <= lam < np.inf and tol >= 0 and max_iter >= 0 and (rho is None or 0 < rho < np.inf)):
        raise ValueError(f"lam is {lam}, tol {tol}, max_iter {max_iter}, rho {rho}; expected numbers >= 0")
    tol = min(tol, _ANY_GAP)
    G, B, lengths = _checked(gram, correlations, squares, start, len(forest))
    M, n = B.shape
    if lam == 0 and not nonnegative:
        found = _least_squares(G, B, lengths)
        converged = np.ones(n, dtype=bool)
    else:
        rounding = float(np.finfo(np.promote_types(np.asarray(gram).dtype, np.float32)).eps)
        least = 4 * rounding * float(np.trace(G))  # so that 2 gram + rho I has no negative eigenvalue
        task = _Task(forest.parents, lam, nonnegative, tol, max(least, 1e-300), threads)
        found = _in_both_types(task, G, B, lengths, max_iter, start, rho or float(np.trace(G)) / M or 1.0)
        converged = found.gaps <= tol * found.objectives
    if not converged.all():
        worst = float(np.max(found.gaps[~converged] / np.maximum(found.objectives[~converged], 1e-300)))
        warnings.warn(
            f"{np.count_nonzero(~converged)} of {n} codes: gap up to {worst:.2g} of the objective after {max_iter} "
            f"iterations, tolerance {tol:g}; raise max_iter, tol or lam",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Codes(found.codes, found.objectives, found.gaps, found.iterations, converged, found.rho)


def _checked(
    gram: np.ndarray, correlations: np.ndarray, squares: np.ndarray, start: np.ndarray | None, M: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """gram, correlations and squares as the kernel takes them; ValueError where they do not agree or are not finite."""
    dtype = np.float32 if np.asarray(correlations).dtype == np.float32 else np.float64
    B = np.ascontiguousarray(correlations, dtype=dtype)
    G = np.ascontiguousarray(gram, dtype=dtype)
    lengths = np.ascontiguousarray(squares, dtype=np.float64)
    if B.ndim != 2 or B.shape[0] != M or G.shape != (M, M):
        raise ValueError(f"gram {G.shape} and correlations {B.shape} do not fit a forest of {M} nodes")
    if lengths.shape != B.shape[1:] or (start is not None and np.shape(start) != B.shape):
        raise ValueError(f"squares or start do not fit {B.shape[1]} columns of {M} values")
    for values in (G, B, lengths, *(() if start is None else (start,))):
        if not np.isfinite(values).all():
            raise ValueError("gram, correlations, squares or start hold nan or inf")
    return G, B, lengths


class _Found(NamedTuple):
    codes: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    iterations: np.ndarray
    rho: float


class _Task(NamedTuple):
    parents: np.ndarray
    lam: float
    nonnegative: bool
    tol: float
    least_rho: float
    threads: int


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
    return _Found(codes, np.maximum(objectives, 0), gaps, np.zeros(B.shape[1], dtype=np.int32), 0.0)


def _in_both_types(
    task: _Task,
    G: np.ndarray,
    B: np.ndarray,
    squares: np.ndarray,
    max_iter: int,
    start: np.ndarray | None,
    rho: float,
) -> _Found:
    """In the type of B, and in float64 what float32 has left."""
    if B.dtype == np.float64:
        return _alternate(task, G, B, squares, max_iter, start, rho)
    found = _alternate(task, G, B, squares, min(max_iter, _SINGLE_STEPS), start, rho)
    left = np.flatnonzero(~(found.gaps <= task.tol * found.objectives))
    if len(left) and max_iter > _SINGLE_STEPS:
        wide = (np.ascontiguousarray(B[:, left], dtype=np.float64), squares[left], max_iter - _SINGLE_STEPS)
        more = _alternate(task, G.astype(np.float64), *wide, found.codes[:, left], found.rho)
        found.codes[:, left] = more.codes
        found.objectives[left], found.gaps[left] = more.objectives, more.gaps
        found.iterations[left] += more.iterations
    return found


def _alternate(
    task: _Task,
    G: np.ndarray,
    B: np.ndarray,
    squares: np.ndarray,
    max_iter: int,
    start: np.ndarray | None,
    rho: float,
) -> _Found:
    """Blocks of columns by the kernel, each with its own way of rho."""
    M, n = B.shape
    smallest = max(float(np.linalg.eigvalsh(G.astype(np.float64))[0]), 0.0) if task.lam == 0 else 0.0
    codes, objectives, gaps, iterations = np.empty_like(B), np.empty(n), np.empty(n), np.empty(n, np.int32)
    inverses = Inverses(G, max(rho, task.least_rho))
    lowest = math.ceil(math.log2(task.least_rho / inverses.base))
    most = (
        256 if M <= 128 else 128
    )  # a block's arrays should stay in the second-level cache, its products be wide

    def solve(low: int) -> int:
        width = min(most, n - low)
        work, column, progress = (
            np.zeros((5, M * width), B.dtype),
            np.empty(width, np.int32),
            np.empty(4, np.int32),
        )
        work[0] = B[:, low : low + width].ravel()
        if start is not None:
            work[1] = np.asarray(start)[:, low : low + width].ravel()
        forest_codes.begin_block(progress, column, low)
        power = before = 0
        while doublings := forest_codes.advance(
            G, inverses[power], task.parents, task.lam, inverses.rho(power), inverses.rho(before), smallest, task.nonnegative,
            task.tol, max_iter, start is not None, work, column, progress, squares, codes, gaps, objectives, iterations,
        ):  # fmt: skip
            before, power = power, min(max(power + doublings, lowest), _MOST_DOUBLINGS)
        return power

    powers = map_blocks(solve, range(0, n, most), task.threads)
    median = sorted(powers)[len(powers) // 2] if powers else 0
    return _Found(codes, objectives, gaps, iterations, inverses.rho(median))
