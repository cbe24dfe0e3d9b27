"""Twin of ``rpa_step``: Denis and Ralaivola (2017), Algorithm 1 and problem (5), with whole vectors and matrices."""

from __future__ import annotations

import numpy as np


def hinge(w, o, Phi, x, xo, y):
    return max(0.0, 1.0 - y * (w @ (Phi @ x) + o @ xo))


def objective(w, o, Phi, w0, o0, Phi0, x, xo, y, C, lam):
    """Problem (5) with xi at its best for the other variables."""
    return (
        0.5 * np.sum((w - w0) ** 2)
        + 0.5 * np.sum((o - o0) ** 2)
        + 0.5 * lam * np.sum((Phi - Phi0) ** 2)
        + C * hinge(w, o, Phi, x, xo, y) ** 2
    )


def moved_embedding(w, o, Phi, x, xo, y, C, lam):
    """Equation (12)."""
    tau = hinge(w, o, Phi, x, xo, y) / (w @ w * (x @ x) + lam / (2 * C))
    return Phi + tau * y * np.outer(w, x)


def step(w0, o0, Phi0, x, xo, y, C, lam, update, iterations, tolerance=1e-8):
    """(w, o, Phi) after one example. Phi is k x p; x is the embedded part's input, xo the one-hot part's."""
    w, o, Phi = w0.copy(), o0.copy(), Phi0.copy()
    previous = None
    if hinge(w, o, Phi, x, xo, y) == 0:
        return w, o, Phi
    for _ in range(iterations):
        if update == "embedding-first":
            Phi = moved_embedding(w, o, Phi0, x, xo, y, C, lam)
        if update != "printed":
            w, o = w0, o0
        z = Phi @ x
        tau = hinge(w, o, Phi, x, xo, y) / (z @ z + xo @ xo + 1 / (2 * C))
        w, o = w + tau * y * z, o + tau * y * xo
        if update == "fixed":
            return w, o, Phi
        if update != "embedding-first":
            Phi = moved_embedding(w, o, Phi0 if update == "coordinate" else Phi, x, xo, y, C, lam)
        value = objective(w, o, Phi, w0, o0, Phi0, x, xo, y, C, lam)
        if previous is not None and abs(value - previous) <= tolerance * value:
            break
        previous = value
    return w, o, Phi


def normalized(x, Phi, normalize):
    """x for the embedded part and for the one-hot part."""
    size = np.linalg.norm(x)
    if normalize == "none" or size == 0:
        return x, x
    length = np.linalg.norm(Phi @ x) if normalize == "document" and Phi.shape[0] else 0.0
    return x / (length or size), x / size


def train_pass(X, y_class, classes, C, lam, update, iterations, normalize, Phi, W, O):
    """One pass over dense rows X for the classes that share Phi; returns (Phi, W, O). W is m x k, O is m x p or m x 0."""
    Phi, W, O = Phi.copy(), W.copy(), O.copy()
    for row, target in zip(X, y_class, strict=True):
        x, xo = normalized(row, Phi, normalize)
        if not O.shape[1]:
            xo = np.zeros(0)
        for c, number in enumerate(classes):
            y = 1.0 if target == number else -1.0
            W[c], O[c], Phi = step(W[c], O[c], Phi, x, xo, y, C[c][int(y > 0)], lam, update, iterations)
    return Phi, W, O


def scores(X, normalize, Phi, W, O):
    out = np.zeros((len(X), len(W)))
    for i, row in enumerate(X):
        x, xo = normalized(row, Phi, normalize)
        out[i] = W @ (Phi @ x) + (O @ xo if O.shape[1] else 0.0)
    return out
