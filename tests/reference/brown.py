"""Brown clustering and exchange in NumPy: the objective from scratch for every candidate, nothing kept up to date."""

from __future__ import annotations

import numpy as np


def f(x):
    """x log x, 0 for 0."""
    x = np.asarray(x, dtype=np.float64)
    return x * np.log(np.where(x > 0, x, 1))


def objective(N) -> float:
    """T times the average mutual information of a table of counts, in nats, but for the T log T that never changes."""
    return float(f(N).sum() - f(N.sum(axis=1)).sum() - f(N.sum(axis=0)).sum())


def table(counts, classes, n_classes: int) -> np.ndarray:
    """Counts of classes, by a plain double loop over words; those of class -1 are left out."""
    out = np.zeros((n_classes, n_classes), dtype=np.int64)
    for v, c in enumerate(classes):
        for w, d in enumerate(classes):
            if c >= 0 and d >= 0:
                out[c, d] += counts[v, w]
    return out


def merged(N, a: int, b: int) -> np.ndarray:
    """The table with class b added to class a, b's row and column zero."""
    out = N.copy()
    out[a] += out[b]
    out[b] = 0
    out[:, a] += out[:, b]
    out[:, b] = 0
    return out


def losses(N, active) -> np.ndarray:
    """What every pair of active classes loses when they are merged; infinite elsewhere."""
    whole = objective(N)
    out = np.full(N.shape, np.inf)
    for a in np.flatnonzero(active):
        for b in np.flatnonzero(active):
            if a != b:
                out[a, b] = whole - objective(merged(N, a, b))
    return out


def first_best(loss) -> tuple[int, int]:
    """(smaller, larger) slot of the least loss, the first one with the larger slot in the outer loop."""
    best, at = np.inf, (0, 0)
    for a in range(len(loss)):
        for b in range(a):
            if loss[a, b] < best:
                best, at = loss[a, b], (b, a)
    return at


def greedy(counts, clusters: int) -> list[list[int]]:
    """Words by number into a window of ``clusters`` + 1 classes, whose counts are those among words taken in so far."""
    classes: list[list[int]] = []
    for word in range(len(counts)):
        classes.append([word])
        if len(classes) > clusters:
            label = np.full(len(counts), -1)
            for c, members in enumerate(classes):
                label[members] = c
            N = table(counts, label, len(classes))
            a, b = first_best(losses(N, np.ones(len(classes), bool)))
            classes[a] += classes.pop(b)
    return classes


def best_move(counts, classes, n_classes: int, word: int) -> tuple[int, np.ndarray]:
    """(best class of a word, the others being where they are; the objective with it in each)."""
    values = np.empty(n_classes)
    for c in range(n_classes):
        moved = np.array(classes)
        moved[word] = c
        values[c] = objective(table(counts, moved, n_classes))
    return int(np.argmax(values)), values


def rows(counts):
    """A dense (V, V) table as the kernels take it: (starts, numbers, counts) by rows."""
    starts = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))]).astype(np.int64)
    first, second = np.nonzero(counts)
    return starts, second.astype(np.int32), counts[first, second].astype(np.int64)
