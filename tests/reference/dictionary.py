"""Dictionary learning as the paper prints it: one atom after the other, from dense sums (Mairal et al. 2010, Algorithm 2)."""

from __future__ import annotations

import numpy as np


def update(D, P, Q):
    """One pass over the atoms (M, C), from P = sum a a' (M, M) and Q = sum a x' (M, C)."""
    D = np.array(D, dtype=np.float64)
    for j in range(len(D)):
        if P[j, j] > 1e-12 * np.diag(P).max():
            moved = D[j] + (Q[j] - P[j] @ D) / P[j, j]
            D[j] = moved / max(1.0, np.linalg.norm(moved))
    return D


def squared_error(D, X, A):
    """sum |x - D' a|^2 over rows x of X (n, C), codes being the columns of A (M, n)."""
    return float(np.sum((X - A.T @ D) ** 2))
