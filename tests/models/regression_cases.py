"""Made-up regressions of section 7.5 of Grave's thesis, small."""

from __future__ import annotations

import numpy as np

from wordkit.models.trace_lasso_problem import Problem


def design(kind: str, n: int, p: int, seed: int = 0) -> np.ndarray:
    """Rows from a Gaussian with covariance I, blocks of eight at 0.8, or 0.95^|i-j|."""
    draw = np.random.default_rng(seed)
    places = np.arange(p)
    covariance = {
        "identity": np.eye(p),
        "blocks": np.where(np.equal.outer(places // 8, places // 8), 0.8, 0.0) + 0.2 * np.eye(p),
        "toeplitz": 0.95 ** np.abs(np.subtract.outer(places, places)),
    }[kind]
    return draw.standard_normal((n, p)) @ np.linalg.cholesky(covariance).T


def regression(kind: str, n: int, p: int, k: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A design and a target with k coefficients and a signal-to-noise ratio of 11."""
    X = design(kind, n, p, seed)
    draw = np.random.default_rng(seed + 1)
    k = min(k, p)
    signal = X[:, :k] @ draw.uniform(-1, 1, k)
    return X, signal + draw.standard_normal(n) * np.sqrt(signal.var() / 11)


def unit_columns(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=0)


def problem_of(kind: str, n: int, p: int, share: float, seed: int = 0) -> Problem:
    """Centred, with unit columns; ``share`` of the lambda that makes the Lasso zero."""
    X, y = regression(kind, n, p, seed=seed)
    X = unit_columns(X - X.mean(axis=0))
    y = y - y.mean()
    return Problem.of(X, y, share * float(np.abs(X.T @ y).max()))
