"""Twins of the kernels of dual clustering: whole matrices in double precision, one instance after the other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

CAP, HUBER = 2.0, 2.0
MASK = (1 << 64) - 1


def mixed(x: int) -> int:
    """SplitMix64's output function."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def softmax(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum()


def log_sum(scores):
    return scores.max() + np.log(np.exp(scores - scores.max()).sum())


def draws(noise, key, counter, item, nce):
    """The item, and what the alias table draws beside it."""
    keep, alias, _, negative = noise
    items = [item]
    for s in range(negative):
        random = mixed((key + counter * negative + s) & MASK)
        place = (((random >> 32) * len(keep)) >> 32) & MASK
        other = (
            place
            if np.float32(random & 0xFFFFFFFF) * np.float32(2.3283064e-10) < keep[place]
            else int(alias[place])
        )
        if nce or other != item:
            items.append(other)
    return items


class Vectors:
    """Outputs V (stored, without what is pending) and, for the dual objectives, clusters as ``DualClusters`` has them."""

    def __init__(self, outputs, bias, *, objective, clusters=None, noise=None, key=0):
        self.V, self.b, self.objective, self.noise, self.key = (
            outputs.astype(float),
            bias.astype(float),
            objective,
            noise,
            key,
        )
        if clusters is not None:
            self.head, self.alpha = clusters.head, clusters.alpha.astype(float)
            self.S, _, self.squares, self.m, self.variance = clusters.rows.astype(float)
            self.VA = clusters.rows[1].astype(float)  # only the printed variant's, which stays as it was
            self.constant, self.weight, self.pending, self.refreshed = clusters.totals.copy()
            self.top, self.limits = clusters.top_items.copy(), clusters.limits.copy()

    def true(self):
        return self.V - self.alpha @ self.S

    def step(self, h, item, rate, counter):
        """Returns (what is due to the context, value of the objective)."""
        if self.objective in ("dcme", "printed"):
            return self.dual(h, item, rate)
        if self.objective == "gd":
            scores = self.V @ h + self.b
            g = -rate * softmax(scores)
            g[item] += rate
            error = g @ self.V
            self.V += np.outer(g, h)
            return error, scores[item] - log_sum(scores)
        nce = self.objective == "nce"
        items = draws(self.noise, self.key, counter, item, nce)
        scores = self.V[items] @ h + self.b[items] - (self.noise[2][items] if nce else 0)
        p = 1 / (1 + np.exp(-scores))
        g = -rate * p
        g[0] += rate
        error = np.zeros(len(h))
        for i, a in zip(items, g, strict=True):  # an item that is drawn twice is learned twice
            error += a * self.V[i]
            self.V[i] += a * h
        return error, np.log(p[0]) + np.log(1 - p[1:]).sum()

    def cluster(self, products, h):
        fresh = np.flatnonzero(self.refreshed == 0)
        if len(fresh):
            return int(fresh[np.argmin(self.pending[fresh])])
        return int(np.argmax(products @ h + self.constant))

    def dual(self, h, item, rate):
        exact = self.objective == "dcme"
        true = self.true() if exact else self.V
        products = self.alpha.T @ true if exact else self.VA
        c = self.cluster(products, h)
        a, x = self.alpha[:, c], h - self.m[c]
        q = self.variance[c] @ x**2
        share = min(1.0, HUBER / np.sqrt(q)) if q > 0 else 1.0
        second = products[c] + share * self.variance[c] * x
        log_tail = (
            products[c] @ h + self.constant[c] + (q / 2 if share == 1 else HUBER * (np.sqrt(q) - HUBER / 2))
        )
        score = true[item] @ h + self.b[item]
        head = true[: self.head] @ h + self.b[: self.head]
        total = log_sum(np.append(head, log_tail))
        p = np.exp(head - total)
        if (
            exact and item >= self.head
        ):  # what is taken from the item in the mean, over what the model says of it
            linear = score - self.b[item] - products[c] @ h - true[item] @ self.m[c] + products[c] @ self.m[c]
            rate *= min(CAP, a[item] * max(1 + linear, 0.1) * np.exp(log_tail - score))
        tail = rate * np.exp(log_tail - total)
        error = rate * true[item] - tail * second - rate * p @ true[: self.head]
        self.V[: self.head] -= rate * np.outer(p, h)
        self.V[item] += rate * h
        self.S[c] += tail * h
        self.squares[c] += tail * h**2
        if not exact:
            self.V[self.top[c]] -= rate * np.outer(a[self.top[c]], h)
        self.weight[c] += tail
        self.pending[c] += 1
        return error, score - total

    def due(self):
        """Clusters to refresh: none, or all if one is due; of the printed variant only those that are."""
        most, weight, least = self.limits
        instances = self.pending if self.objective == "printed" else self.pending.sum()
        due = (instances >= most) | ((self.weight >= weight) & (self.pending >= least))
        return np.flatnonzero(due if self.objective == "printed" or not due.any() else np.ones_like(due))

    def refresh(self, clusters, curvature):
        """Equations (12) to (17) for some clusters."""
        products = self.alpha.T @ self.true() if self.objective == "dcme" else self.VA
        above, below = self.V.copy(), np.ones_like(self.V)
        for c in clusters:
            mean = self.S[c] / self.weight[c] if self.weight[c] > 0 else self.m[c]
            C = np.maximum(self.squares[c] - self.S[c] * mean, 0) * curvature
            a = self.alpha[:, c].copy()
            below += np.outer(a, C)
            above += np.outer(a, C * products[c])
            a[self.top[c]] = 0  # these had it at once
            above -= np.outer(a, self.S[c])
            self.m[c] = mean
        self.V = above / below
        for c in clusters:
            scores = self.V @ self.m[c] + self.b
            scores[: self.head] = -np.inf
            self.alpha[:, c] = softmax(scores)
            self.VA[c] = self.alpha[:, c] @ self.V
            self.variance[c] = np.maximum(self.alpha[:, c] @ self.V**2 - self.VA[c] ** 2, 0) * curvature
            self.constant[c] = log_sum(scores) - self.VA[c] @ self.m[c]
            self.S[c] = self.squares[c] = self.weight[c] = self.pending[c] = 0
            self.refreshed[c] += 1
            self.top[c] = np.sort(np.argsort(-self.alpha[:, c])[: self.top.shape[1]])


BLOCK = 8  # targets whose contexts are read together


def train(vectors, H, words, bounds, window, lo, hi, rate, slope=0.0, decay=0.0):
    """Fixed windows over the targets lo to hi - 1 of sentences that end at ``bounds``; H (N, d) is changed in place.

    A word's row is as it was when a context first took it in, with the contexts of the block, and its gradients reach it when it
    leaves the window, after the block's steps, each of which is whole here. Returns (target after the last one done, sum of the
    objective); stops where a cluster is due.
    """
    gained, t, entered, errors = 0.0, lo, {}, {}
    ends = {p: (begin, end) for begin, end in pairwise(bounds) for p in range(begin, end)}

    def around(p):
        begin, end = ends[p]
        return [q for q in range(max(begin, p - window), min(end, p + window + 1)) if q != p]

    def settle(p, done):
        own = lo <= p < done
        row = sum((errors[q] for q in around(p) if q in errors and q < done), np.zeros(H.shape[1]))
        H[words[p]] = H[words[p]] * (1 - (decay * (rate + slope * (p - lo)) if own else 0)) + row

    def oldest(p):
        return max(ends[p][0], lo - window)

    due = False
    while t < hi and not due:
        block = []
        for p in range(t, hi):
            if len(block) == BLOCK:
                break
            if near := around(p):
                for q in [*near, p]:
                    entered.setdefault(q, H[words[q]].copy())
                block.append((p, np.mean([entered[q] for q in near], axis=0)))
            last = p + 1
        for p, h in block:
            error, gain = vectors.step(h, words[p], rate + slope * (p - lo), p)
            gained += gain
            errors[p] = error / len(around(p))
            due = vectors.objective in ("dcme", "printed") and bool(len(vectors.due()))
            if due:
                last = p + 1 if p != block[-1][0] else last
                break
        for p in range(t, last):
            if p - window >= oldest(p):
                settle(p - window, p + 1)
            if p + 1 == ends[p][1]:
                for q in range(max(oldest(p), p + 1 - window), p + 1):
                    settle(q, p + 1)
        t = last
    if t > lo and t < ends[t - 1][1]:
        for q in range(max(oldest(t - 1), t - window), min(ends[t - 1][1], t + window)):
            settle(q, t)
    return t, gained


def exact_classes(clusters):
    """Of each cluster."""
    columns = np.arange(clusters.n)
    return [clusters.order[np.isin(columns // 16, groups)] for groups in clusters.top_groups]


class Classes:
    """Weights W (features, N; stored, without what is pending) and clusters for sparse rows, all by classes, not columns.

    Which classes are exact depends on the order of columns: it is taken from the ``ClassClusters`` when it is done with its pass.
    """

    LEAST_OTHERS, MOST = 0.1, 0.999

    def __init__(self, weights, bias, *, objective, clusters=None, noise=None, key=0):
        self.W, self.b, self.objective, self.noise, self.key = (
            weights.astype(float),
            bias.astype(float),
            objective,
            noise,
            key,
        )
        if clusters is not None:
            k, n = clusters.k, len(bias)
            self.clusters = clusters
            self.alpha, self.rho = (x[clusters.place].astype(float) for x in (clusters.alpha, clusters.rho))
            self.S, self.squares = np.zeros((2, len(weights), k))
            self.A = self.W @ self.alpha  # only the printed variant's, which stays as it was
            self.constant, self.weight, self.pending, self.refreshed, self.tail = clusters.totals.copy()
            self.top = exact_classes(clusters)
            assert self.alpha.shape == (n, k)

    def true(self):
        return self.W - self.S @ self.rho.T

    def step(self, x, item, rate, counter):
        """Returns the value of the objective."""
        if self.objective in ("dcme", "printed"):
            return self.dual(x, item, rate)
        if self.objective == "gd":
            scores = x @ self.W + self.b
            g = -rate * softmax(scores)
            g[item] += rate
            self.W += np.outer(x, g)
            return scores[item] - log_sum(scores)
        nce = self.objective == "nce"
        items = draws(self.noise, self.key, counter, item, nce)
        scores = x @ self.W[:, items] + self.b[items] - (self.noise[2][items] if nce else 0)
        p = 1 / (1 + np.exp(-scores))
        for i, a in zip(items, -rate * p + rate * (np.arange(len(items)) == 0), strict=True):
            self.W[:, i] += a * x
        return np.log(p[0]) + np.log(1 - p[1:]).sum()

    def dual(self, x, item, rate):
        exact = self.objective == "dcme"
        true = self.true() if exact else self.W
        products = x @ (true @ self.alpha) if exact else x @ self.A
        fresh = np.flatnonzero(self.refreshed == 0)
        c = (
            int(fresh[np.argmin(self.pending[fresh])])
            if len(fresh)
            else int(np.argmax(products + self.constant))
        )
        a, scores = self.alpha[:, c], x @ true + self.b
        self.pending[c] += 1
        if not exact:
            self.W[:, item] += rate * x
            self.S[:, c] += rate * x
            self.weight[c] += rate
            return scores[item] - products[c] - self.constant[c]
        head = list(self.top[c])
        tail = x @ true @ self.rho[:, c] + self.tail[c]
        direct = head if item in head else [*head, item]
        taken = 0 if item in head else self.rho[item, c]
        tail += np.log(1 - min(taken, self.MOST))
        total = log_sum(np.append(scores[direct], tail))
        rest = np.delete(np.arange(len(a)), direct)
        mass = rate * np.exp(tail - total)
        back = mass / max(1 - taken, self.LEAST_OTHERS)
        gradient = -rate * np.exp(scores - total)
        gradient[rest] = -back * self.rho[rest, c]
        gradient[item] += rate
        self.W += np.outer(x, gradient + back * self.rho[:, c])  # all of it, without what S_c will take
        self.S[:, c] += back * x
        self.squares[:, c] += back * x**2
        self.weight[c] += back
        return scores[item] - total

    def refresh(self, curvature):
        """Equations (12) to (16) for all clusters with pending rows."""
        due = np.flatnonzero(self.weight > 0)
        means = self.S[:, due] / self.weight[due]
        spread = curvature * np.maximum(self.squares - self.S**2 / np.maximum(self.weight, 1e-30), 0)
        W = self.true()
        if self.objective == "dcme":
            centre = W @ self.rho
            W = (W + (spread * centre) @ self.rho.T) / (1 + spread @ self.rho.T)
        self.W, self.top = W, exact_classes(self.clusters)
        for c, mean in zip(due, means.T, strict=True):
            scores = mean @ W + self.b
            a = self.alpha[:, c] = softmax(scores)
            self.constant[c] = a @ (self.b - np.log(a))
            self.refreshed[c] += 1
        for c, exact in enumerate(self.top):
            others = np.delete(np.arange(len(self.b)), exact)
            a = self.alpha[others, c]
            self.rho[:, c] = 0
            self.rho[others, c] = rho = a / a.sum()
            self.tail[c] = rho @ (self.b[others] - np.log(rho)) if len(others) else -1e30
        self.A = W @ self.alpha
        self.S[:] = self.squares[:] = 0
        self.weight[:] = self.pending[:] = 0
