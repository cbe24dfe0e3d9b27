"""Algorithm 1 of Yogatama et al. (2015) in plain NumPy, float64, one draw after the other; nothing is fast here."""

from __future__ import annotations

import numpy as np

_MASK = 2**64 - 1
_SHARE = 8  # draws in succession that choose their rows by one number


def uniform(key: int, number: int) -> float:
    """Number ``number`` of SplitMix64's sequence from ``key``, in [0, 1)."""
    z = (key + (number + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return ((z ^ (z >> 31)) >> 11) / 2.0**53


def probabilities(threshold, alias) -> np.ndarray:
    """What an alias table draws each item with."""
    p = np.array(threshold, dtype=float)
    for slot, item in enumerate(alias):
        p[item] += 1 - threshold[slot]
    return p / len(p)


def pick(u: float, threshold, alias) -> int:
    """The item that the number u in [0, 1) stands for."""
    slot = int(u * len(threshold))
    return slot if u * len(threshold) - slot < threshold[slot] else int(alias[slot])


def draw(X: np.ndarray, sampling, t: int) -> tuple[int, int, float, float]:
    """Draw t of the cells of dense X: row, column, value, weight. ``sampling`` lends tables and key."""
    u = [uniform(sampling.key, place) for place in (3 * t, 3 * (t // _SHARE) + 1, 3 * t + 2)]
    C, V = X.shape
    if u[0] < sampling.zeros:
        c, v = int(u[1] * C), int(u[2] * V)
        return c, v, X[c, v], 1.0
    c = pick(u[1], sampling.row_threshold, sampling.row_alias)
    columns = np.flatnonzero(X[c])
    if sampling.sampling == "uniform":
        v = columns[int(u[2] * len(columns))]
        return c, v, X[c, v], abs(X[c, v]) / np.abs(X[X != 0]).mean()
    lo, hi = sampling.indptr[c], sampling.indptr[c + 1]
    v = columns[pick(u[2], sampling.threshold[lo:hi], sampling.alias[lo:hi])]
    return c, v, X[c, v], 1.0


def groups(parents) -> list[list[int]]:
    """Each node with all its descendants."""
    members: list[list[int]] = [[i] for i in range(len(parents))]
    for i in range(len(parents) - 1, -1, -1):
        if parents[i] >= 0:
            members[parents[i]] += members[i]
    return members


def prox(a: np.ndarray, parents, t: float) -> np.ndarray:
    """Block thresholdings of all groups, from the leaves to the roots."""
    a = a.copy()
    for group in reversed(groups(parents)):
        norm = np.linalg.norm(a[group])
        a[group] *= max(1 - t / norm, 0) if norm > 0 else 0
    return a


def omega(a: np.ndarray, parents) -> float:
    """The penalty: the sum of the groups' norms."""
    return sum(float(np.linalg.norm(a[group])) for group in groups(parents))


def step(a, d, x, w, rate, parents, lam, tau, printed, nonnegative):
    """New (a_v, d_c) after one draw."""
    e = x - d @ a
    if not printed:
        e /= 1 + 2 * rate * w * (d @ d + a @ a)
    moved = a + 2 * rate * w * e * d
    d = d + 2 * rate * (w * e * a - tau * d)
    if nonnegative:
        moved = np.maximum(moved, 0)
    threshold = lam if printed else rate * lam
    return (prox(moved, parents, threshold) if lam > 0 else moved), d


def run(X, sampling, A, D, n, *, parents, lam, tau, learning_rate, total, printed, nonnegative):
    """A and D after n draws of a run of ``total``, and the sum of w e^2; ``lam`` (V) and ``tau`` (C) are per visit."""
    A, D, loss = A.astype(float), D.astype(float), 0.0
    for t in range(n):
        c, v, x, w = draw(X, sampling, t)
        loss += w * (x - D[c] @ A[v]) ** 2
        rate = learning_rate * (1 - t / total)
        A[v], D[c] = step(A[v], D[c], x, w, rate, parents, lam[v], tau[c], printed, nonnegative)
    return A, D, loss


def objective(X, A, D, *, parents, zeros, lam, tau) -> float:
    """Expected loss of an epoch with the penalties, from the definition."""
    C, V = X.shape
    nnz, mean, total = np.count_nonzero(X), np.abs(X[X != 0]).mean(), 0.0
    for c in range(C):
        for v in range(V):
            error = (X[c, v] - D[c] @ A[v]) ** 2
            total += (1 - zeros) * abs(X[c, v]) / mean * error + zeros * nnz / (C * V) * error
    return total + lam * sum(omega(a, parents) for a in A) + tau * float(np.sum(D**2))
