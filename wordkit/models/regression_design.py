"""Data of a linear regression as its solvers take them: checked, centred, with columns of unit length; and the way back.

The intercept is taken out by centring, columns are divided by their Euclidean length, constant ones (zero after centring) are
left out and keep the coefficient 0. A sparse matrix with more rows than columns is never made dense nor centred: its Gram
matrix is, and a factor of that stands for the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.models.base import as_matrix

_SQUARED = 1e-150, 1e150  # least and greatest size of a column's numbers whose squares are good numbers
_CONSTANT = 1e-12  # relative length of a centred column below which it is rounding


@dataclass(frozen=True)
class Design:
    """Centred, scaled data.

    Attributes:
        X: (m, q) float64, the q kept columns; m = n unless a factor stands for the rows. y: (m,).
        n: rows of the data. rest: 1/2 the squared part of y that a factor has left out.
        means, lengths: of the kept columns; lengths are 1 without ``normalize``. kept: bool (p,). y_mean: 0 without an intercept.
    """

    X: np.ndarray
    y: np.ndarray
    n: int
    rest: float
    means: np.ndarray
    lengths: np.ndarray
    kept: np.ndarray
    y_mean: float

    def original(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients (p,) and intercept for the data as they came, from w (q,) of the scaled columns."""
        coefficients = np.zeros(len(self.kept))
        coefficients[self.kept] = w / self.lengths
        return coefficients, self.y_mean - float(self.means @ coefficients[self.kept])

    def scaled(self, coefficients: np.ndarray) -> np.ndarray:
        """w (q,) of the scaled columns, from coefficients (p,) of the data."""
        return coefficients[self.kept] * self.lengths


def checked_matrix(X: Any, n_features: int | None = None, owner: str = "model") -> Any:
    """X as a float64 array or CSR matrix of finite numbers.

    Raises:
        ValueError: what :func:`wordkit.models.base.as_matrix` refuses; NaN or infinity, with row and column from 0.
    """
    X = as_matrix(X, n_features, owner)
    if scipy.sparse.issparse(X):
        X = scipy.sparse.csr_array(X, dtype=np.float64)
        bad = np.flatnonzero(~np.isfinite(X.data))
        if len(bad):
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            raise ValueError(f"Input X contains NaN or infinity (row {row}, column {X.indices[bad[0]]}).")
        return X
    X = np.asarray(X, dtype=np.float64)
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(f"Input X contains NaN or infinity (row {row}, column {column}).")
    return X


def checked_target(y: Any, n: int) -> np.ndarray:
    """y as float64 (n,); ValueError for anything else."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if scipy.sparse.issparse(y) or np.iscomplexobj(np.asarray(y)):
        raise ValueError("Complex data not supported" if not scipy.sparse.issparse(y) else "y is sparse")
    target = np.asarray(y).astype(np.float64)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {target.shape} instead.")
    if len(target) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(target)}]")
    if not np.isfinite(target).all():
        raise ValueError(f"Input y contains NaN or infinity (row {int(np.argmin(np.isfinite(target)))}).")
    return target


def prepare(
    X: Any, y: np.ndarray, *, fit_intercept: bool, normalize: bool, keep_rows: bool = False
) -> Design:
    """Centre and scale checked data.

    Args:
        X: (n, p), from :func:`checked_matrix`.
        y: (n,); not centred with ``keep_rows``, which says that rows must stay rows (logistic loss).
    """
    n = X.shape[0]
    _check_squares(X, y)
    if scipy.sparse.issparse(X) and X.shape[0] > X.shape[1] and not keep_rows:
        return _from_gram(X, y, fit_intercept, normalize)
    dense = X.toarray() if scipy.sparse.issparse(X) else X
    means = dense.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    size = np.sqrt(np.einsum("ij,ij->j", dense, dense))
    centred = dense - means
    lengths = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    kept = lengths > _CONSTANT * size
    y_mean = float(y.mean()) if fit_intercept and not keep_rows else 0.0
    scale = lengths[kept] if normalize else np.ones(int(kept.sum()))
    return Design(centred[:, kept] / scale, y - y_mean, n, 0.0, means[kept], scale, kept, y_mean)


def _check_squares(X: Any, y: np.ndarray) -> None:
    """ValueError where squares of the numbers, or their sums, pass what float64 can hold, or vanish in it."""
    for name, values in (("X", X), ("y", y[:, None])):
        sizes = abs(values)
        largest = sizes.max(axis=0)
        largest = np.asarray(
            largest.todense() if scipy.sparse.issparse(X) and name == "X" else largest
        ).ravel()
        bad = (largest > _SQUARED[1]) | ((largest < _SQUARED[0]) & (largest > 0))
        if bad.any():
            raise ValueError(
                f"{name} holds {largest[bad][0]:g}: the squares of such numbers are not within float64; scale it"
            )


def _from_gram(X: Any, y: np.ndarray, fit_intercept: bool, normalize: bool) -> Design:
    """Implicit centring: a factor F of the centred Gram matrix, F^T F = X^T X - n m m^T, with y turned alike."""
    n = X.shape[0]
    means = np.asarray(X.sum(axis=0)).ravel() / n if fit_intercept else np.zeros(X.shape[1])
    y_mean = float(y.mean()) if fit_intercept else 0.0
    target = y - y_mean
    gram = (X.T @ X).toarray()
    raw = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    gram -= n * np.outer(means, means)
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    kept = lengths > 1e-7 * raw  # differences of squares: half the digits
    scale = lengths[kept] if normalize else np.ones(int(kept.sum()))
    gram = gram[np.ix_(kept, kept)] / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(gram)
    solid = values > 1e-13 * max(float(values[-1]) if len(values) else 0.0, np.finfo(float).tiny)
    roots, vectors = np.sqrt(values[solid]), vectors[:, solid]
    along = vectors.T @ ((X.T @ target)[kept] / scale) / roots
    rest = max(0.5 * (float(target @ target) - float(along @ along)), 0.0)
    return Design(roots[:, None] * vectors.T, along, n, rest, means[kept], scale, kept, y_mean)
