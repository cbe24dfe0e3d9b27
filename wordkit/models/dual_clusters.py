"""The K clusters of dual distributions of DCME: their arrays, their offline refresh, and what threads add that learn apart.

Wang, Wang and Zhai, "Dual-Clustering Maximum Entropy with Application to Classification and Word Embedding", AAAI 2017.
N items with output vectors V (N, d), clusters with centres alpha (N, K). The true outputs are V - alpha S: a cluster's pending
sum S_c of rate x context is taken into V when it is refreshed, and nothing is late by that. The steps of single instances are in
``cython_ext/softmax_steps.pxd``.
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
_LEAST_SHARE = 0.02  # as instances over items: the least between two refreshes of a cluster that drifts
_LEAST_PENDING = 16  # instances before a refresh, however young a cluster is
_LEAST_LIMIT = 128  # instances before a refresh of a grown cluster, however few items there are: a refresh costs about as much


_REACH = 40.0  # how far the level of exponentials may be from the highest of them


def _nan_first(value: float) -> float:
    return math.inf if math.isnan(value) else value


class Part(NamedTuple):
    """What one thread changes: (5, K, d) float32 and (4, K) float64, as :class:`DualClusters` has them."""

    rows: np.ndarray
    totals: np.ndarray


class _Sums(NamedTuple):
    """What a pass over the items finds: exponentials of scores, and their sums with V, V^2 and alpha (of squares at c);
    what the second order has moved V^T alpha (K, d)."""

    shares: np.ndarray
    total: float
    product: np.ndarray
    squares: np.ndarray
    gram: np.ndarray
    drifts: np.ndarray


class DualClusters:
    """Clusters and the pending part of the outputs.

    Args:
        bias: float32 (N,) log prior of the items, or zeros; alpha begins at its distribution.
        clusters: K. d: length of the rows, a multiple of 8.
        beta: instances of a cluster between two refreshes, as a share of N.
        growth: a young cluster is refreshed when it has grown by this share of all its instances; infinite: never early.
        curvature: use the second-order term.
        printed: the paper's algorithm: products are those of the last refresh, ``top`` items learn at once.
        top: Q, only with ``printed``.

    Attributes:
        alpha: float32 (N, K). gram: float32 (K, K), alpha^T alpha. rows: float32 (5, K, d): S, V_true^T alpha, sums of rate x
        h^2, m, variances of V by alpha. totals: float64 (4, K): constant of the bound, sum of rates, instances since the
        refresh, refreshes. seen: float64 (K,), instances before the last refresh. limits: float64 (3, K): instances that make a
        cluster due; sum of rates that does, and instances that there must be then.
        top_items: int32 (K, Q).
    """

    def __init__(
        self, bias: np.ndarray, *, clusters: int, d: int, beta: float, growth: float = 0.3,
        curvature: bool = True, drift: float = 3.0, printed: bool = False, top: int = 0, head: int = 0,
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
        """When each cluster is due, from its age."""
        due = np.minimum(
            max(self.beta * self.n, _LEAST_LIMIT), self.growth * (self.seen + self.totals[PENDING])
        )
        self.limits[0] = np.ceil(np.maximum(due, _LEAST_PENDING))
        self.limits[2] = np.ceil(max(_LEAST_PENDING, _LEAST_SHARE * self.n))

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
        """Clusters with as many pending instances as their limit."""
        most, weight, least = self.limits
        pending = self.totals[PENDING]
        return np.flatnonzero(
            (pending >= most) | (self.totals[WEIGHT] >= weight) & (pending >= least)
        ).tolist()

    def refresh(self, outputs: np.ndarray, bias: np.ndarray, c: int, workers: Workers) -> bool:
        """Equations (12) to (17) for cluster c: the pending part into ``outputs``, a new centre at the mean of its contexts.

        Returns whether all numbers were finite; if not, the centre is as it was.
        """
        weight = np.float32(self.totals[WEIGHT, c])
        pending = self.rows[SUMS, c].copy()
        mean = pending / weight if weight > 0 else np.zeros_like(pending)
        spread = np.zeros_like(pending)
        if self.curvature:
            spread = np.maximum(self.rows[SQUARES, c] - pending * mean, 0)
        top = self.top_items[c]
        outputs[top] += self.alpha[top, c, None] * pending  # these had it at once
        self.rows[SUMS, c] = 0
        level = self.totals[CONSTANT, c] + float(
            self.rows[PRODUCTS, c] @ mean
        )  # what the last alpha says of it
        sums, highest = self._pass(outputs, bias, c, workers, pending, spread, mean, level)
        if math.isfinite(highest) and abs(highest - level) > _REACH:  # once more, for the sums alone
            self.rows[PRODUCTS] -= sums.drifts
            nothing, level = np.zeros_like(pending), highest
            sums, highest = self._pass(outputs, bias, c, workers, nothing, nothing, mean, level)
        if not math.isfinite(highest):
            return False
        blocks = self._blocks()
        workers.map(
            lambda block: cluster_refresh.set_centre(self.alpha, c, *block, sums.shares, sums.total), blocks
        )
        self._centre(c, mean, sums, level + math.log(sums.total))
        return True

    def _blocks(self) -> list[tuple[int, int]]:
        return [(lo, min(lo + _BLOCK, self.n)) for lo in range(self.head, self.n, _BLOCK)]

    def _pass(
        self, outputs: np.ndarray, bias: np.ndarray, c: int, workers: Workers, pending: np.ndarray, spread: np.ndarray,
        mean: np.ndarray, level: float,
    ) -> tuple[_Sums, float]:  # fmt: skip
        """One pass over the items: their sums, and the highest score (NaN where one is not a number)."""
        d, k, blocks = len(mean), self.k, self._blocks()
        others = np.zeros(k, dtype=np.float32) if self.printed else self.rows[SUMS] @ mean
        shares = np.zeros(self.n, dtype=np.float32)
        centre = self.rows[PRODUCTS, c].copy()
        cuts = np.cumsum([d, d if self.curvature else 0, k, k * d])
        per_block = np.zeros((len(blocks), int(cuts[-1])), dtype=np.float32)

        def work(i: int) -> float:
            return cluster_refresh.refresh(
                outputs, self.alpha, c, *blocks[i], pending, spread, centre, mean, others, bias, level, shares,
                *np.split(per_block[i], cuts[:-1]), np.empty(d, dtype=np.float32),
            )  # fmt: skip

        highest = max(workers.map(work, range(len(blocks))), key=_nan_first)
        product, squares, gram, drifts = np.split(per_block.sum(axis=0, dtype=np.float64), cuts[:-1])
        total = float(shares.sum(dtype=float))
        return _Sums(shares, total, product, squares, gram, drifts.reshape(k, d).astype(np.float32)), highest

    def _centre(self, c: int, mean: np.ndarray, sums: _Sums, log_total: float) -> None:
        """What belongs to a new alpha: gram, products, the constant of its bound; and no instances."""
        gram = sums.gram / sums.total
        gram[c] /= sums.total  # a sum of squares
        product = sums.product / sums.total
        self.gram[:, c] = self.gram[c] = gram
        self.rows[MEANS, c] = mean
        if self.curvature:
            self.rows[PRODUCTS] -= sums.drifts
            self.rows[VARIANCES, c] = np.maximum(sums.squares / sums.total - product**2, 0)
        self.rows[PRODUCTS, c] = product
        if not self.printed:
            self.rows[PRODUCTS, c] -= self.gram[c] @ self.rows[SUMS]
            largest = float(sums.shares.max()) / sums.total
            self.limits[1, c] = self.drift / max(largest * (1 - largest) * float(mean @ mean), 1e-30)
        self.rows[SQUARES, c] = 0
        # log Z(m) = E_alpha[v].m + H(alpha) + E_alpha[b], tight at the mean.
        self.totals[CONSTANT, c] = log_total - float(self.rows[PRODUCTS, c].astype(float) @ mean)
        self.seen[c] += self.totals[PENDING, c]
        self.totals[WEIGHT, c] = self.totals[PENDING, c] = 0
        self.totals[REFRESHED, c] += 1
        self._set_top([c])
        self.set_limits()

    def _set_top(self, clusters: Any) -> None:
        q = self.top_items.shape[1]
        for c in clusters if q else ():
            places = np.argpartition(-self.alpha[:, c], q - 1)[:q] if q < self.n else np.arange(q)
            self.top_items[c] = np.sort(places)

    def synchronize(self, outputs: np.ndarray) -> None:
        """Make all products anew: the second-order terms of one cluster are not in those of the others."""
        self.rows[PRODUCTS] = self.alpha.T @ outputs - self.gram @ self.rows[SUMS]

    def turn(self, turn: np.ndarray, outputs: np.ndarray) -> None:
        """Follow outputs and contexts that were multiplied by an orthogonal matrix (d, d).

        Of pending squares only the diagonal is known, and so is the new one's part that comes from it.
        """
        weights = np.maximum(self.totals[WEIGHT], 1e-30)[:, None].astype(np.float32)
        spread = np.maximum(self.rows[SQUARES] - np.square(self.rows[SUMS]) / weights, 0)
        self.rows[[SUMS, MEANS]] = self.rows[[SUMS, MEANS]] @ turn
        self.rows[SQUARES] = spread @ np.square(turn) + np.square(self.rows[SUMS]) / weights
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
        top = found["clusters_top"]
        require(bool(((top >= 0) & (top < self.n)).all()), "clusters_top names an item that is not there")
        self.alpha, self.gram = found["clusters_alpha"].copy(), found["clusters_gram"].copy()
        self.rows, self.totals = found["clusters_rows"].copy(), found["clusters_totals"].copy()
        self.seen, self.top_items = found["clusters_seen"].copy(), top.copy()
        self.limits = found["clusters_limits"].copy()
