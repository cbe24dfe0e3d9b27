"""The K clusters of dual distributions over classes of sparse rows: their arrays and the offline pass over all weights.

Wang, Wang and Zhai, AAAI 2017, equations 12 to 16. What the arrays mean, and the steps of single rows, is in
``cython_ext/class_training.pyx``, the pass in ``class_pass.pyx``. The weights are many times as large as the documents that train
them, so the clusters are refreshed all together: some products of matrices for one pass, where K passes over single clusters
would wait for the memory. For the same reason classes change their places in a row of weights, and records of features are whole
lines of the cache: a step costs the lines that it touches at random, each of which takes as long as hundreds of additions.

Second order: among the classes without exact scores the soft-max of a row x is about rho_j (1 + (W_j - R_c).(x - m_c)), R_c their
mean weights, so that beside rho_j S_c the term rho_j C (W_j - R_c) is due, C the second moment of x about the mean m. Kept is the
diagonal, the sum of rate x (x - m)^2 by feature, but the features of a row are not independent: the whole lies between it and,
for n features a row, n times it ((v.x)^2 <= n sum of v_i^2 x_i^2), and is taken for half of that. On 40,000 made-up rows of 60
features and 600 classes, 3 epochs, accuracy was 0.61 without the second order, 0.62 with the diagonal, 0.67 with 4, 0.76 with
24 and 0.74 with 55 times it (log-likelihoods -1.50, -1.47, -1.32, -1.26, -1.47; gd 0.81, NS 0.70); on the questions of TREC and
the words of Brown, with 8 to 9 features, 4 and 8 times it are alike, and 32 times it loses.

Summed over the clusters the term moves a weight w towards a mean a of the R_c, by f = sum of rho_jc C_c, and is taken implicitly:
w = (w + f a) / (1 + f).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse

from wordkit._kernels import class_pass
from wordkit.checks import array_of, require
from wordkit.models.dual_clusters import CONSTANT, MOST_SHARE, PENDING, REFRESHED, WEIGHT
from wordkit.models.exact_softmax import log_softmax
from wordkit.parallel import Workers

TAIL = 4  # a row of totals, as in class_training.pyx
GROUP = class_pass.GROUP_SIZE  # classes whose scores are exact together: numbers of a line of the cache
_FAR = 1e30  # products of larger numbers with others could be infinite
_NOTHING = -1e30  # the logarithm of no probability, as NONE in class_training.pyx
# Features that one thread takes at a time, and at most so many parts, whose scores are summed, on any number of threads.
_LEAST_FEATURES, _PARTS = 512, 16
_BLOCK = 1 << 6  # features at a time for the true weights
_LEAST_ROWS = 32  # rows a cluster between two passes, however few classes there are, and before the first
_GROWTH = 4  # of the rows before a pass over those before the last one, at most
# When the last pass is due, as a share of all rows. A pass disturbs what steps have found, and they must mend it: on 60,000 rows
# like venues accuracy is 0.650 so, 0.645 at 0.6, 0.638 at 0.8, and 0.575 at 0.9 with 10 exact classes (0.624 at 0.73).
_LAST_PASS = 0.7


def round_up(n: int) -> int:
    """The next multiple of 8."""
    return -(-n // 8) * 8


def aligned_zeros(rows: int, cells: int) -> np.ndarray:
    """float32 (rows, cells rounded up), each row in cache lines of its own: single rows and cells are touched at random."""
    width = -(-cells // GROUP) * GROUP
    memory = np.zeros(rows * width + GROUP, dtype=np.float32)
    first = -(memory.ctypes.data // memory.itemsize) % GROUP
    return memory[first : first + rows * width].reshape(rows, width)


def curvature_of(indptr: np.ndarray) -> float:
    """What the diagonal of the second moment of CSR rows is multiplied by: half the mean number of features."""
    return max(1.0, 0.5 * float(indptr[-1]) / max(1, len(indptr) - 1))


def _padded(columns: np.ndarray, width: int) -> np.ndarray:
    """The transpose of columns (N, m), with zeros up to a multiple of 8 rows and to ``width`` cells."""
    n, m = columns.shape
    out = np.zeros((round_up(m), width), dtype=np.float32)
    out[:m, :n] = columns.T
    return out


class ClassClusters:
    """Clusters and the pending part of the weights.

    Classes have columns, which are in the order of the clusters that they are likeliest in, so that those that are likely
    together lie side by side: a cluster's exact classes are groups of 16 columns, each a line of the cache in every row.

    Args:
        bias: float32 (N,) log prior of the classes, or zeros; alpha begins at its distribution.
        features: rows of the weights. clusters: K. beta: rows between two passes, as a share of N K; passes are never
            nearer than 32 rows a cluster.
        top: classes of a cluster with scores of their own, rounded up to groups. printed: the paper's algorithm, for which there
            are none.

    Attributes:
        order: int32 (N,): the class of each column. prior: float32 (N,), of the classes.
        shares: float32 (N, 2 K rounded up): of the columns alpha, and rho: the same without the exact classes, of sum 1.
        gram: float32 (K, as shares), rho^T shares. log_alpha: float64 (K, N).
        records: float32 (features, 4 K rounded up): A = W_true alpha, R = W_true rho, S, and sums of rate x^2.
        totals: float64 (5, K): constant of the bound, sum of rates and number of the pending rows, refreshes, constant of the
        bound of the rest.
        top_groups: int32 (K, groups), ascending.
    """

    def __init__(
        self, bias: np.ndarray, *, features: int, clusters: int, beta: float, top: int, printed: bool = False
    ) -> None:
        n, k = len(bias), clusters
        self.n, self.k, self.beta, self.printed = n, k, beta, printed
        self.order = np.arange(n, dtype=np.int32)
        self.prior = bias.copy()
        self.shares = np.zeros((n, round_up(2 * k)), dtype=np.float32)
        self.gram = np.zeros((k, round_up(2 * k)), dtype=np.float32)
        self.records = aligned_zeros(features, 4 * k)
        self.totals = np.zeros((5, k))
        groups = 0 if printed else min(-(-top // GROUP), -(-n // GROUP))
        self.top_groups = np.zeros((k, groups), dtype=np.int32)
        self.log_alpha = np.zeros((k, n))
        self._centre(np.arange(k), np.repeat(bias[None].astype(np.float64), k, axis=0))
        self._arrange()
        self._choose_exact()

    def arrays(self, totals: np.ndarray) -> tuple[np.ndarray, ...]:
        """What the training kernel takes."""
        return self.shares, self.gram, self.records, totals, self.top_groups

    @property
    def place(self) -> np.ndarray:
        """int32 (N,): the column of each class."""
        return np.argsort(self.order).astype(np.int32)

    @property
    def bias(self) -> np.ndarray:
        """The prior, by columns."""
        return self.prior[self.order]

    @property
    def alpha(self) -> np.ndarray:
        """(N, K), by columns."""
        return self.shares[:, : self.k]

    @property
    def rho(self) -> np.ndarray:
        """(N, K), by columns."""
        return self.shares[:, self.k : 2 * self.k]

    @property
    def pending(self) -> np.ndarray:
        """S (features, K)."""
        return self.records[:, 2 * self.k : 3 * self.k]

    def pass_times(self, total: int) -> list[int]:
        """After how many of ``total`` rows of a training passes are due, ascending: from the last backwards."""
        least = _LEAST_ROWS * self.k
        step = max(least, self.beta * self.n * self.k)
        times = [total if self.printed else _LAST_PASS * total]
        while times[-1] > least:
            times.append(max(times[-1] - step, times[-1] / _GROWTH))
        return sorted({math.ceil(time) for time in times})

    def refresh(self, cells: np.ndarray, curvature: float, workers: Workers) -> bool:
        """Equations (12) to (16): the pending part into the weights ``cells`` (features, width), new centres where rows were.

        ``curvature``: times the diagonal of the second moment, :func:`curvature_of` the rows.

        Returns whether all numbers were finite; if not, the centres are as they were.
        """
        n, k, width = self.n, self.k, cells.shape[1]
        due = np.flatnonzero(self.totals[WEIGHT] > 0)
        if not len(due):  # all classes are exact, or there were no rows
            self.totals[PENDING] = 0
            return True
        scales = (1 / np.maximum(self.totals[WEIGHT], 1e-30)).astype(np.float32)
        rho = _padded(self.rho, width)
        step = max(_LEAST_FEATURES, -(-len(cells) // _PARTS))
        parts = [(lo, min(lo + step, len(cells))) for lo in range(0, len(cells), step)]

        def fold(part: tuple[int, int]) -> np.ndarray:
            scores = np.zeros((k, width), dtype=np.float32)
            scratch = np.empty(class_pass.fold_scratch(k, width), dtype=np.float32)
            second = 0 if self.printed else curvature
            class_pass.fold(cells, self.records, rho[:k], scales, second, *part, scores, scratch)
            return scores

        with np.errstate(over="ignore", invalid="ignore"):
            totals = np.asarray(np.sum(workers.map(fold, parts), axis=0, dtype=np.float64))
            scores = totals[due, :n] + self.bias
        if not np.isfinite(scores).all():
            return False
        self._centre(due, scores)
        passes = int(self.totals[REFRESHED].max()) + 1
        moved = self._arrange() if passes & (passes - 1) == 0 else self.order[:0]
        self._choose_exact()
        rho = _padded(self.rho, width)
        alpha = _padded(self.alpha, width)[:k].reshape(k, -1, GROUP)
        exact = np.take_along_axis(alpha, self.top_groups[:, :, None], axis=1).reshape(k, -1)
        rest = (1 - exact.sum(axis=1, dtype=np.float64)).astype(np.float32)

        def measure(part: tuple[int, int]) -> None:
            scratch = np.empty((len(rho) + 1, width), np.float32)
            class_pass.measure(cells, self.records, rho, rest, exact, self.top_groups, moved, *part, scratch)

        workers.map(measure, parts)
        self.totals[REFRESHED, due] += 1
        self.totals[[WEIGHT, PENDING]] = 0
        return True

    def _centre(self, due: np.ndarray, scores: np.ndarray) -> None:
        """alpha of some clusters from the scores (clusters, N) at their means, and the constants of their bounds."""
        self.log_alpha[due] = log_alpha = log_softmax(scores)
        alpha = np.exp(log_alpha)
        self.alpha[:, due] = alpha.T
        # log Z(m) = E_alpha[W_j].m + H(alpha) + E_alpha[b], tight at the mean.
        self.totals[CONSTANT, due] = (alpha * (self.bias - log_alpha)).sum(axis=1)

    def _arrange(self) -> np.ndarray:
        """New columns: by the cluster with most of a class's rows, the likeliest first; returns the old by the new."""
        rows = self.alpha * np.maximum(self.totals[PENDING], 1)
        moved = np.lexsort((-rows.max(axis=1), rows.argmax(axis=1))).astype(np.int32)
        self.order, self.shares = self.order[moved], self.shares[moved]
        self.log_alpha = np.ascontiguousarray(self.log_alpha[:, moved])
        return moved

    def _choose_exact(self) -> None:
        """The likeliest groups of each cluster, and rho of the others."""
        number = self.top_groups.shape[1]
        firsts, bias = np.arange(0, self.n, GROUP), self.bias
        self.rho[:] = 0
        for c in range(self.k):
            masses = np.add.reduceat(self.alpha[:, c], firsts)
            groups = np.sort(np.argsort(-masses, kind="stable")[:number])
            rest = ~np.isin(np.arange(self.n) // GROUP, groups)
            self.top_groups[c] = groups
            if rest.any():
                log_rho = log_softmax(self.log_alpha[c, rest][None])[0]
                self.rho[rest, c] = np.exp(log_rho)
                self.totals[TAIL, c] = (np.exp(log_rho) * (bias[rest] - log_rho)).sum()
            else:
                self.totals[TAIL, c] = _NOTHING
        self.gram[:] = self.rho.T @ self.shares

    def true_cells(self, cells: np.ndarray) -> np.ndarray:
        """W - S rho^T (features, N) by classes, a new array; clusters and weights stay as they are."""
        out, place = np.empty((len(cells), self.n), dtype=np.float32), self.place
        for lo in range(0, len(out), _BLOCK):
            part = slice(lo, lo + _BLOCK)
            out[part] = (cells[part, : self.n] - self.pending[part] @ self.rho.T)[:, place]
        return out

    def true_scores(self, X: scipy.sparse.csr_array, cells: np.ndarray) -> np.ndarray:
        """Scores (n, N) of rows, by classes."""
        scores = (X @ cells)[:, : self.n]  # a slice of cells would be copied
        return (scores - (X @ self.pending) @ self.rho.T + self.bias)[:, self.place]

    # --- state ------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Arrays that :meth:`restore` takes."""
        return {
            "clusters_order": self.order, "clusters_shares": self.shares, "clusters_gram": self.gram,
            "clusters_log_alpha": self.log_alpha, "clusters_records": self.records, "clusters_totals": self.totals,
            "clusters_top": self.top_groups,
        }  # fmt: skip

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Inverse of :meth:`state` for clusters of the same parameters; ValueError for what cannot be a state."""
        found = {name: array_of(arrays, name, now.dtype, now.shape) for name, now in self.state().items()}
        for name, array in found.items():
            require(bool(np.isfinite(array).all()), f"{name} is not finite")
        order, top = found["clusters_order"], found["clusters_top"]
        require(bool((np.sort(order) == np.arange(self.n)).all()), "clusters_order is none of the classes")
        groups = -(-self.n // GROUP)
        require(bool(((top >= 0) & (top < groups)).all()), "clusters_top names a group that is not there")
        require(bool((np.diff(top, axis=1) > 0).all()), "clusters_top does not ascend")
        counts = found["clusters_totals"][[WEIGHT, PENDING, REFRESHED]]
        require(bool((counts >= 0).all()), "clusters_totals is negative")
        for name in ("clusters_shares", "clusters_gram"):
            require(bool(((found[name] >= 0) & (found[name] <= MOST_SHARE)).all()), f"{name} are no shares")
        require(
            bool((found["clusters_log_alpha"] <= MOST_SHARE - 1).all()),
            "clusters_log_alpha are no logarithms of shares",
        )
        records = found["clusters_records"]
        require(bool((abs(records) <= _FAR).all()), "clusters_records are too large")
        require(
            bool((records[:, 3 * self.k : 4 * self.k] >= 0).all()), "clusters_records have negative squares"
        )
        self.order = order.copy()
        self.shares, self.gram = found["clusters_shares"].copy(), found["clusters_gram"].copy()
        self.log_alpha = found["clusters_log_alpha"].copy()
        self.records[:], self.totals = found["clusters_records"], found["clusters_totals"].copy()
        self.top_groups = top.copy()
