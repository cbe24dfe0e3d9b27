"""What a step of iteratively reweighted least squares for the trace Lasso is made of, in plain NumPy."""

from __future__ import annotations

import numpy as np


def spectrum(P, w):
    """Eigenvalues of P Diag(w)^2 P^T, none below 0, and its eigenvectors (k, k)."""
    values, vectors = np.linalg.eigh((P * w) @ (P * w).T)
    return np.maximum(values, 0), vectors


def smooth(P, values, vectors, mu):
    """Roots (k,), T = S^-1/2 V^T P (k, p) and diag(P^T S^-1 P) (p,), where V Diag(values + mu) V^T is the square of S."""
    roots = np.sqrt(values + mu)
    inverse = (vectors / roots) @ vectors.T
    return roots, (vectors / np.sqrt(roots)).T @ P, np.diag(P.T @ inverse @ P)


def mended(P, values, vectors, mu, w, d):
    """V^T (S^-1 P Diag(w) + P Diag(d)), of the eigenvectors V."""
    inverse = (vectors / np.sqrt(values + mu)) @ vectors.T
    return vectors.T @ (inverse @ P * w + P * d)


def solve(X, y, D):
    """(X^T X + Diag(D))^-1 X^T y."""
    return np.linalg.solve(X.T @ X + np.diag(D), X.T @ y)


def extrapolate(residuals, images, residual, image, weights):
    """``image`` less the combination of the rows of ``images`` that goes with the least weighted residual, ridged by 1e-10."""
    past = residuals * weights
    normal = past @ past.T
    ridge = 1e-10 * np.trace(normal) * np.eye(len(past))
    return image - np.linalg.solve(normal + ridge, past @ (residual * weights)) @ images
