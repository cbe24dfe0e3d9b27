"""Hierarchical penalty in plain NumPy: thresholdings one after the other, the objective, and what its minimum must obey."""

from __future__ import annotations

import numpy as np


def random_parents(random, M):
    """Forests of any form; nodes of different trees may stand among each other."""
    kind = random.integers(5)
    if kind == 0:
        return np.full(M, -1, np.int32)  # singletons
    if kind == 1:
        return np.arange(-1, M - 1, dtype=np.int32)  # one path
    if kind == 2:
        return np.concatenate([[-1], np.zeros(max(M - 1, 0), np.int32)])[:M].astype(np.int32)  # a star
    parents = np.floor(random.random(M) * (np.arange(M) + 1)).astype(np.int32) - 1
    if kind == 3:  # whole trees one after the other, as files have them
        parents = np.where(random.random(M) < 0.2, -1, np.maximum(parents, np.arange(M) - 3)).astype(np.int32)
        parents = np.minimum(parents, np.arange(M) - 1).astype(np.int32)
    return parents


def subtrees(parents):
    """Nodes of each node's subtree, itself first."""
    members = [[i] for i in range(len(parents))]
    for i in range(len(parents) - 1, -1, -1):
        if parents[i] >= 0:
            members[parents[i]] += members[i]
    return members


def ancestors(parents, i):
    """The nodes above i."""
    above = []
    while parents[i] >= 0:
        i = parents[i]
        above.append(i)
    return above


def prox(A, parents, t, nonnegative=False):
    """The operator on columns: groups are thresholded as wholes, each after all groups inside it."""
    Z = np.array(A, dtype=float)
    if nonnegative:
        Z = np.maximum(Z, 0)
    groups = subtrees(parents)
    for i in range(len(parents) - 1, -1, -1):
        norms = np.sqrt((Z[groups[i]] ** 2).sum(axis=0))
        Z[groups[i]] *= np.where(norms > t, 1 - t / np.where(norms > t, norms, 1), 0)
    return Z


def omega(A, parents):
    """Sum of the subtrees' lengths, a column each."""
    A = np.asarray(A, dtype=float)
    return sum(np.sqrt((A[group] ** 2).sum(axis=0)) for group in subtrees(parents))


def objective(D, X, A, parents, lam):
    """|x - D a|^2 + lam Omega(a), a column each."""
    A = np.asarray(A, dtype=float)
    return ((X - D @ A) ** 2).sum(axis=0) + lam * omega(A, parents)


def codes(D, X, parents, lam, nonnegative=False, steps=3000):
    """Minimum by plain proximal gradients with momentum, as printed in every textbook."""
    G, B = D.T @ D, D.T @ X
    L = 2 * np.linalg.eigvalsh(G)[-1]
    A = Y = np.zeros_like(B)
    k = 1.0
    for _ in range(steps):
        following = prox(Y - 2 * (G @ Y - B) / L, parents, lam / L, nonnegative)
        next_k = (1 + np.sqrt(1 + 4 * k * k)) / 2
        Y = following + (k - 1) / next_k * (following - A)
        A, k = following, next_k
    return A


def alternate(D, X, parents, lam, rhos, nonnegative=False):
    """Relaxed alternating directions from zero, a step for each rho; u is rho-free where rho changes."""
    G, B = D.T @ D, D.T @ X
    Z, multiplier = np.zeros_like(B), np.zeros_like(B)
    for rho in rhos:
        A = np.linalg.solve(2 * G + rho * np.eye(len(G)), 2 * B + rho * Z - multiplier)
        V = 1.6 * A - 0.6 * Z + multiplier / rho
        Z = prox(V, parents, lam / rho, nonnegative)
        multiplier = rho * (V - Z)
    return Z


def stationarity(D, X, A, parents, lam, nonnegative=False):
    """How far each column is from a fixed point of a proximal gradient step: 0 if and only if it is a minimum."""
    A = np.asarray(A, dtype=float)
    G = D.T @ D
    L = 2 * np.linalg.eigvalsh(G)[-1]
    moved = prox(A - 2 * (G @ A - D.T @ X) / L, parents, lam / L, nonnegative)
    return np.sqrt(((moved - A) ** 2).sum(axis=0))


def subgradient_violation(D, X, a, parents, lam):
    """Violation of 0 in the subdifferential at one code ``a``, by the conditions on single groups.

    With g = 2 D'(x - D a): where a is not 0 at a node, g equals lam times the sum of a_i / |a on the group| over groups that
    hold i and are not zero, plus dual vectors of zero groups, which live on coordinates with a = 0. A tree that is zero must
    leave nothing of g when shrunk by lam; so must a subtree that is zero below nodes that are not.
    """
    g = 2 * D.T @ (X - D @ a)
    groups = subtrees(parents)
    norms = np.array([np.linalg.norm(a[group]) for group in groups])
    rest = g.copy()
    for group, norm in zip(groups, norms, strict=True):
        if norm > 0:
            rest[group] -= lam * a[group] / norm
    worst = 0.0
    for i, group in enumerate(groups):
        if norms[i] > 0:
            worst = max(worst, abs(rest[i]))
        elif parents[i] < 0 or norms[parents[i]] > 0:
            order = sorted(group)
            local = np.array([-1 if node == i else order.index(parents[node]) for node in order])
            left = prox(rest[order][:, None], local, lam)
            worst = max(worst, float(np.abs(left).max()))
    return worst
