"""The K clusters of dual distributions of DCME: their arrays, their offline refresh, and what threads add that learn apart.

Wang, Wang and Zhai, "Dual-Clustering Maximum Entropy with Application to Classification and Word Embedding", AAAI 2017.
N items with output vectors V (N, d), clusters with centres alpha (N, K). The true outputs are V - alpha S: a cluster's pending
sum S_c of rate x context is taken into V when it is refreshed, and nothing is late by that. The steps of single instances are in
``cython_ext/softmax_block.pxd``.

All clusters are refreshed together (the printed variant refreshes one that is due alone, as the paper has it): one pass over the
outputs serves all of them, a cluster of few instances does not grow stale beside outputs that the others have moved (where it
did, one of twenty took nearly all instances), and as nothing is pending afterwards, all products are those of the same outputs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from wordkit._kernels import cluster_refresh
from wordkit.checks import array_of, require
from wordkit.parallel import Workers

_BLOCK = 1 << 12  # items that one thread takes at a time
CONSTANT, WEIGHT, PENDING, REFRESHED = range(4)  # rows of totals, as in softmax_steps.pxd
SUMS, PRODUCTS, SQUARES, MEANS, VARIANCES = range(5)  # planes of rows
_LEAST_SHARE = 0.02  # as instances over items: the least between two refreshes where a cluster drifts
_LEAST_PENDING = 16  # instances a cluster before a refresh, however few there have been
_LEAST_LIMIT = (
    128  # the same where there have been many, however few items there are: a refresh costs as much
)
_LANES, _STRIPE = 8, 16  # as in cluster_refresh.pyx
MOST_SHARE = 1.001  # a share may be above 1 by so much, by rounding
_REACH = 40.0  # how far the level of exponentials may be from the highest of them


class Part(NamedTuple):
    """What one thread changes: (5, K, d) float32 and (4, K) float64, as :class:`DualClusters` has them."""

    rows: np.ndarray
    totals: np.ndarray


class _Sums(NamedTuple):
    """What a pass over the items finds for n clusters: exponentials of scores less a level (N, n), their sums and the highest
    scores (n,), and their sums with V and V^2 (n, d)."""

    shares: np.ndarray
    totals: np.ndarray
    highest: np.ndarray
    product: np.ndarray
    squares: np.ndarray

    def finite(self) -> bool:
        return bool(np.isfinite(self.totals).all() and np.isfinite(self.highest).all())


class DualClusters:
    """Clusters and the pending part of the outputs.

    Args:
        bias: float32 (N,) log prior of the items, or zeros; alpha begins at its distribution.
        clusters: K. d: length of the rows, a multiple of 8.
        beta: instances between two refreshes, as a share of N: of all clusters, with ``printed`` of one.
        growth: a refresh is due early when there have been as many instances as this share of those before.
        drift: a refresh is due early when the sum of rates of a cluster could have moved the score of its likeliest item by so
            much; infinite: never early.
        curvature: use the second-order term.
        head: the first items, whose probabilities are exact and which no cluster has; none with ``printed``.
        printed: the paper's algorithm: products are those of the last refresh, ``top`` items learn at once.
        top: Q, only with ``printed``.

    Attributes:
        alpha: float32 (N, K), another array after a refresh. gram: float32 (K, K), alpha^T alpha.
        rows: float32 (5, K, d): S, V_true^T alpha, sums of rate x h^2, m, variances of V by alpha.
        totals: float64 (4, K): constant of the bound, sum of rates, instances since the refresh, refreshes.
        seen: float64 (K,), instances before the last refresh. limits: float64 (3, K): instances that make a refresh due (equal
        numbers, of all; with ``printed`` of each); a cluster's sum of rates that does, and instances that it must have then.
        top_items: int32 (K, Q).
    """

    def __init__(
        self, bias: np.ndarray, *, clusters: int, d: int, beta: float, growth: float = 0.3,
        curvature: bool = True, drift: float = 24.0, printed: bool = False, top: int = 0, head: int = 0,
    ) -> None:  # fmt: skip
        n, k = len(bias), clusters
        self.n, self.drift, self.beta, self.growth, self.curvature, self.printed = (
            n,
            drift,
            beta,
            growth,
            curvature,
            printed,
        )
        self.head = head = 0 if printed else min(head, n - 1)
        shares = np.exp(bias.astype(float))
        shares[:head] = 0
        log_total = math.log(shares.sum())
        shares /= shares.sum()
        self.alpha = np.repeat(shares.astype(np.float32)[:, None], k, axis=1)
        self.gram = np.full((k, k), np.square(shares).sum(), dtype=np.float32)
        self.rows = np.zeros((5, k, d), dtype=np.float32)
        self.totals = np.zeros((4, k))
        self.totals[CONSTANT] = log_total
        self.seen = np.zeros(k)
        self.top_items = np.zeros((k, min(top, n) if printed else 0), dtype=np.int32)
        self._set_top(range(k))
        self.limits = np.full((3, k), np.inf)
        self.set_limits()

    @property
    def k(self) -> int:
        return self.alpha.shape[1]

    def set_limits(self) -> None:
        """When a refresh is due, from how many instances there have been."""
        instances, least = self.seen + self.totals[PENDING], _LEAST_PENDING
        if not self.printed:
            instances, least = instances.sum(), least * self.k
        due = np.minimum(max(self.beta * self.n, _LEAST_LIMIT), self.growth * instances)
        self.limits[0] = np.ceil(np.maximum(due, least))
        self.limits[2] = math.ceil(max(_LEAST_PENDING, _LEAST_SHARE * self.n))

    def arrays(self, part: Part) -> tuple[Any, ...]:
        """What the training kernels take."""
        return (self.alpha, self.gram, part.rows, part.totals, self.limits, self.top_items, self.head)

    def own(self) -> Part:
        """The arrays themselves, for a single thread."""
        return Part(self.rows, self.totals)

    def parts(self, threads: int) -> list[Part]:
        """A copy for each thread, or the arrays themselves for a single one."""
        if threads == 1:
            return [self.own()]
        return [Part(self.rows.copy(), self.totals.copy()) for _ in range(threads)]

    def merge(self, parts: list[Part]) -> None:
        """Take in what each thread has added to its copy; a step's additions do not depend on the sums that it meets."""
        if len(parts) > 1:
            self.rows += sum((part.rows - self.rows for part in parts[1:]), parts[0].rows - self.rows)
            self.totals += sum(
                (part.totals - self.totals for part in parts[1:]), parts[0].totals - self.totals
            )

    # --- the offline pass -------------------------------------------------------------------------------------------

    def due(self) -> list[int]:
        """The clusters to refresh: none, or all if a limit is reached; of the printed variant only those that are at theirs."""
        most, weight, least = self.limits
        pending = self.totals[PENDING]
        due = (pending if self.printed else pending.sum()) >= most
        due |= (self.totals[WEIGHT] >= weight) & (pending >= least)
        return np.flatnonzero(due if self.printed or not due.any() else np.ones_like(due)).tolist()

    def refresh(self, outputs: np.ndarray, bias: np.ndarray, clusters: list[int], workers: Workers) -> bool:
        """Equations (12) to (17): the pending part of some clusters into ``outputs``, new centres at the means of their contexts;
        of all but for the printed variant.

        Returns whether all numbers were finite; if not, the centres are as they were.
        """
        at = np.array(clusters, dtype=np.int32)
        pending = self.rows[SUMS, at]
        weight = self.totals[WEIGHT, at, None].astype(np.float32)
        mean = np.where(weight > 0, pending / np.maximum(weight, 1e-30), self.rows[MEANS, at])
        curvature = pending[:0]
        if self.curvature:
            curvature = np.maximum(self.rows[SQUARES, at] - pending * mean, 0)
        pull = pending - curvature * self.rows[PRODUCTS, at] if self.curvature else pending
        for c in clusters:  # these had it at once
            top = self.top_items[c]
            outputs[top] += self.alpha[top, c, None] * self.rows[SUMS, c]
        level = self.totals[CONSTANT, at] + np.einsum("ij,ij->i", self.rows[PRODUCTS, at], mean, dtype=float)
        sums = self._pass(outputs, bias, at, workers, pull, curvature, mean, level)
        # Where the level was far off, once more, for the sums alone.
        if np.isfinite(sums.highest).all() and (abs(sums.highest - level) > _REACH).any():
            level = sums.highest.astype(float)
            sums = self._pass(outputs, bias, at, workers, pull[:0], curvature, mean, level)
        if not sums.finite():
            return False
        self._centre(at, mean, sums, level)
        return True

    def _pass(
        self, outputs: np.ndarray, bias: np.ndarray, at: np.ndarray, workers: Workers, pull: np.ndarray,
        curvature: np.ndarray, mean: np.ndarray, level: np.ndarray,
    ) -> _Sums:  # fmt: skip
        """One pass over the items; nothing is pending where ``pull`` has no rows."""
        n, d = mean.shape
        lanes = -(-n // _LANES) * _LANES
        behind = ((0, lanes - n), (0, 0))
        mean, pull, curvature = (
            np.pad(rows, behind) if len(rows) else rows for rows in (mean, pull, curvature)
        )
        blocks = [(lo, min(lo + _BLOCK, self.n)) for lo in range(self.head, self.n, _BLOCK)]
        shares = np.empty((self.n, n), dtype=np.float32)
        shares[: self.head] = 0
        totals, highest = np.zeros((len(blocks), n)), np.full((len(blocks), n), -np.inf, dtype=np.float32)
        product = np.zeros((len(blocks), lanes, d), dtype=np.float32)
        squares = np.zeros((len(blocks), len(curvature), d), dtype=np.float32)

        def work(i: int) -> None:
            cluster_refresh.refresh(
                outputs, self.alpha, at, *blocks[i], pull, curvature, mean, bias, level.astype(np.float32), shares, totals[i],
                highest[i], product[i], squares[i], np.empty((_STRIPE + lanes, d), dtype=np.float32),
            )  # fmt: skip

        workers.map(work, range(len(blocks)))
        means = (rows.sum(axis=0, dtype=np.float64)[:n] for rows in (product, squares))
        return _Sums(shares, totals.sum(axis=0), highest.max(axis=0), *means)

    def _centre(self, at: np.ndarray, mean: np.ndarray, sums: _Sums, level: np.ndarray) -> None:
        """What belongs to new columns of alpha: products, the constants of their bounds; and no instances."""
        shares = sums.shares
        shares *= (1 / sums.totals).astype(np.float32)
        if len(at) == self.k:
            self.alpha = shares
        else:
            self.alpha[:, at] = shares
        self.gram[:, at] = self.alpha.T @ shares
        self.gram[at] = self.gram[:, at].T
        product = sums.product / sums.totals[:, None]
        self.rows[PRODUCTS, at], self.rows[MEANS, at] = product, mean
        if self.curvature:
            self.rows[VARIANCES, at] = np.maximum(sums.squares / sums.totals[:, None] - product**2, 0)
        if not self.printed:
            largest = shares.max(axis=0).astype(float)
            swing = largest * (1 - largest) * np.einsum("ij,ij->i", mean, mean, dtype=float)
            self.limits[1, at] = self.drift / np.maximum(swing, 1e-30)
        # log Z(m) = E_alpha[v].m + H(alpha) + E_alpha[b], tight at the mean.
        bound = np.einsum("ij,ij->i", self.rows[PRODUCTS, at], mean, dtype=float)
        self.totals[CONSTANT, at] = level + np.log(sums.totals) - bound
        self.rows[SUMS, at] = self.rows[SQUARES, at] = 0
        self.seen[at] += self.totals[PENDING, at]
        self.totals[WEIGHT, at] = self.totals[PENDING, at] = 0
        self.totals[REFRESHED, at] += 1
        self._set_top(at)
        self.set_limits()

    def _set_top(self, clusters: Any) -> None:
        q = self.top_items.shape[1]
        for c in clusters if q else ():
            places = np.argpartition(-self.alpha[:, c], q - 1)[:q] if q < self.n else np.arange(q)
            self.top_items[c] = np.sort(places)

    def turn(self, turn: np.ndarray, outputs: np.ndarray) -> None:
        """Follow outputs and contexts that were multiplied by an orthogonal matrix (d, d) when nothing was pending."""
        self.rows[MEANS] = self.rows[MEANS] @ turn
        self.measure(outputs)

    def measure(self, outputs: np.ndarray) -> None:
        """Make products and variances anew; what is pending is left out of the variances."""
        centres, squares = self.alpha.T @ outputs, self.alpha.T @ np.square(outputs)
        self.rows[PRODUCTS] = centres - self.gram @ self.rows[SUMS]
        self.rows[VARIANCES] = np.maximum(squares - np.square(centres), 0)

    def true_outputs(self, outputs: np.ndarray) -> np.ndarray:
        """V - alpha S (N, d), a new array; clusters and outputs stay as they are."""
        pending = self.alpha @ self.rows[SUMS]
        for c in range(self.k):
            top = self.top_items[c]
            pending[top] -= self.alpha[top, c, None] * self.rows[SUMS, c]
        return outputs - pending

    def append(self, bias: np.ndarray) -> None:
        """More items, of which the clusters have seen nothing: their share is what the prior says; ``bias`` is that of all."""
        old, n = self.n, len(bias)
        shares = np.exp(bias.astype(float) - bias.max())
        fresh = (shares[old:] / shares.sum()).astype(np.float32)
        kept = np.float32(1 - fresh.sum(dtype=float))
        self.alpha = np.concatenate([self.alpha * kept, np.repeat(fresh[:, None], self.k, axis=1)])
        self.n = n

    # --- state ------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Arrays that :meth:`restore` takes."""
        return {
            "clusters_alpha": self.alpha, "clusters_gram": self.gram, "clusters_rows": self.rows,
            "clusters_totals": self.totals, "clusters_seen": self.seen, "clusters_top": self.top_items,
            "clusters_limits": self.limits,
        }  # fmt: skip

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Inverse of :meth:`state` for clusters of the same parameters; ValueError for what cannot be a state."""
        shapes = {name: array.shape for name, array in self.state().items()}
        found = {name: array_of(arrays, name, now.dtype, shapes[name]) for name, now in self.state().items()}
        for name, array in found.items():
            right = array >= 0 if name == "clusters_limits" else np.isfinite(array)
            require(bool(right.all()), f"{name} is not finite")
        for name in ("alpha", "totals", "seen"):
            low = found[f"clusters_{name}"][1:] if name == "totals" else found[f"clusters_{name}"]
            require(bool((low >= 0).all()), f"clusters_{name} is negative")
        for name in ("clusters_alpha", "clusters_gram"):
            require(bool(((found[name] >= 0) & (found[name] <= MOST_SHARE)).all()), f"{name} are no shares")
        top = found["clusters_top"]
        require(bool(((top >= 0) & (top < self.n)).all()), "clusters_top names an item that is not there")
        self.alpha, self.gram = found["clusters_alpha"].copy(), found["clusters_gram"].copy()
        self.rows, self.totals = found["clusters_rows"].copy(), found["clusters_totals"].copy()
        self.seen, self.top_items = found["clusters_seen"].copy(), top.copy()
        self.limits = found["clusters_limits"].copy()
