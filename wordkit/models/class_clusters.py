"""The K clusters of dual distributions over classes of sparse rows: their arrays and the offline pass over all weights.

Wang, Wang and Zhai, AAAI 2017, equations 12 to 16. What the arrays mean, and the steps of single rows, is in
``cython_ext/class_training.pyx``. The weights are many times as large as the documents that train them, so the clusters are
refreshed all together: some products of matrices for one pass, where K passes over single clusters would wait for the memory.

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

from wordkit.checks import array_of, require
from wordkit.models.dual_clusters import CONSTANT, PENDING, REFRESHED, WEIGHT
from wordkit.models.exact_softmax import log_softmax
from wordkit.parallel import Workers

TAIL = 4  # a row of totals, as in class_training.pyx
# Features that one thread takes at a time: their weights stay in the cache between two products.
_BLOCK = 1 << 8
_FIRST = 32  # rows a cluster before the first pass
_GROWTH = 1.0  # a pass is due when the rows since the last are this share of all before


def round_up(n: int) -> int:
    """The next multiple of 8."""
    return -(-n // 8) * 8


def curvature_of(indptr: np.ndarray) -> float:
    """What the diagonal of the second moment of CSR rows is multiplied by: half the mean number of features."""
    return max(1.0, 0.5 * float(indptr[-1]) / max(1, len(indptr) - 1))


class ClassClusters:
    """Clusters and the pending part of the weights.

    Args:
        bias: float32 (N,) log prior of the classes, or zeros; alpha begins at its distribution.
        features: rows of the weights. clusters: K. beta: rows between two passes, at most, as a share of N K.
        top: Q, classes of a cluster with scores of their own. printed: the paper's algorithm, for which there are none.

    Attributes:
        shares: float32 (N, 2 k_width): alpha, and rho: the same without the top classes, of sum 1.
        gram: float32 (K, 2 k_width), rho^T shares.
        sums: float32 (features, 3 k_width): A = W_true alpha, R = W_true rho, and S.
        squares: float32 (features, k_width), sums of rate x^2.
        totals: float64 (5, K): constant of the bound, sum of rates and number of the pending rows, refreshes, constant of the
        bound of the rest.
        top_items: int32 (K, Q). seen: rows before the last pass.
    """

    def __init__(
        self, bias: np.ndarray, *, features: int, clusters: int, beta: float, top: int, printed: bool = False
    ) -> None:
        n, k = len(bias), clusters
        self.n, self.k, self.width, self.beta, self.printed, self.seen = n, k, round_up(k), beta, printed, 0
        self.shares = np.zeros((n, 2 * self.width), dtype=np.float32)
        self.gram = np.zeros((k, 2 * self.width), dtype=np.float32)
        self.sums = np.zeros((features, 3 * self.width), dtype=np.float32)
        self.squares = np.zeros((features, self.width), dtype=np.float32)
        self.totals = np.zeros((5, k))
        self.top_items = np.zeros((k, 0 if printed else min(top, n - 1)), dtype=np.int32)
        self._centre(np.arange(k), np.repeat(bias[None], k, axis=0), bias)

    def arrays(self, totals: np.ndarray) -> tuple[np.ndarray, ...]:
        """What the training kernel takes."""
        return self.shares, self.gram, self.sums, totals, self.top_items, self.squares

    @property
    def alpha(self) -> np.ndarray:
        """(N, K)."""
        return self.shares[:, : self.k]

    @property
    def rho(self) -> np.ndarray:
        """(N, K)."""
        return self.shares[:, self.width : self.width + self.k]

    @property
    def centres(self) -> np.ndarray:
        """R (features, K)."""
        return self.sums[:, self.width : self.width + self.k]

    @property
    def pending(self) -> np.ndarray:
        """S (features, K)."""
        return self.sums[:, 2 * self.width : 2 * self.width + self.k]

    def until_due(self) -> int:
        """Rows until the next pass."""
        limit = min(self.beta * self.n * self.k, _GROWTH * self.seen)
        limit = math.ceil(max(limit, min(_FIRST * self.k, self.beta * self.n * self.k)))
        return max(0, limit - int(self.totals[PENDING].sum()))

    def refresh(self, cells: np.ndarray, bias: np.ndarray, curvature: float, workers: Workers) -> bool:
        """Equations (12) to (16): the pending part into the weights ``cells`` (features, width), new centres where rows were.

        ``curvature``: times the diagonal of the second moment, :func:`curvature_of` the rows.

        Returns whether all numbers were finite; if not, the centres are as they were.
        """
        n, k = self.n, self.k
        pending = self.pending
        due = np.flatnonzero(self.totals[WEIGHT] > 0)
        scales = (1 / np.maximum(self.totals[WEIGHT], 1e-30)).astype(np.float32)
        rho = np.ascontiguousarray(self.rho.T)
        blocks = [(lo, min(lo + _BLOCK, len(cells))) for lo in range(0, len(cells), _BLOCK)]

        def fold(block: tuple[int, int]) -> np.ndarray:
            part = slice(*block)
            rows, sums = cells[part, :n], pending[part]
            if self.printed:
                rows -= sums @ rho
            else:
                spread = self.squares[part, :k] - np.square(sums) * scales
                spread = np.float32(curvature) * np.maximum(spread, 0)
                rows -= (sums - spread * self.centres[part]) @ rho
                weight = spread @ rho
                weight += 1
                rows /= weight
            return (sums[:, due] * scales[due]).T @ rows

        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.sum(workers.map(fold, blocks), axis=0, dtype=np.float64) + bias
        if not np.isfinite(scores).all():
            return False
        self._centre(due, scores, bias)

        def measure(block: tuple[int, int]) -> None:
            self.sums[slice(*block), : 2 * self.width] = cells[slice(*block), :n] @ self.shares
            self.sums[slice(*block), 2 * self.width :] = 0
            self.squares[slice(*block)] = 0

        workers.map(measure, blocks)
        self.seen += int(self.totals[PENDING].sum())
        self.totals[REFRESHED, due] += 1
        self.totals[[WEIGHT, PENDING]] = 0
        return True

    def _centre(self, due: np.ndarray, scores: np.ndarray, bias: np.ndarray) -> None:
        """alpha of some clusters from the scores (clusters, N) at their means, and what belongs to it."""
        log_alpha = log_softmax(scores.astype(np.float64))
        alpha = np.exp(log_alpha)
        self.alpha[:, due] = alpha.T
        # log Z(m) = E_alpha[W_j].m + H(alpha) + E_alpha[b], tight at the mean.
        self.totals[CONSTANT, due] = (alpha * (bias - log_alpha)).sum(axis=1)
        q = self.top_items.shape[1]
        for c, row, at in zip(due, alpha, scores, strict=True):
            top = np.sort(np.argpartition(-row, q)[:q])
            rest = np.ones(self.n, dtype=bool)
            rest[top] = False
            log_rho = log_softmax(at[None, rest].astype(np.float64))[0]
            self.rho[:, c] = 0
            self.rho[rest, c] = np.exp(log_rho)
            self.totals[TAIL, c] = (np.exp(log_rho) * (bias[rest] - log_rho)).sum()
            self.top_items[c] = top
        self.gram[:] = self.rho.T @ self.shares

    def true_cells(self, cells: np.ndarray) -> np.ndarray:
        """W - S rho^T (features, N), a new array; clusters and weights stay as they are."""
        out = np.array(cells[:, : self.n])
        if not self.pending.any():
            return out
        for lo in range(0, len(out), _BLOCK):
            out[lo : lo + _BLOCK] -= self.pending[lo : lo + _BLOCK] @ self.rho.T
        return out

    def pending_scores(self, X: scipy.sparse.csr_array) -> np.ndarray:
        """X S rho^T (n, N), what the scores of rows by the weights alone have too much."""
        return (X @ self.pending) @ self.rho.T

    # --- state ------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, np.ndarray]:
        """Arrays that :meth:`restore` takes."""
        return {
            "clusters_shares": self.shares, "clusters_gram": self.gram, "clusters_sums": self.sums,
            "clusters_squares": self.squares,
            "clusters_totals": self.totals, "clusters_top": self.top_items, "clusters_seen": np.array([self.seen]),
        }  # fmt: skip

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Inverse of :meth:`state` for clusters of the same parameters; ValueError for what cannot be a state."""
        found = {name: array_of(arrays, name, now.dtype, now.shape) for name, now in self.state().items()}
        for name, array in found.items():
            require(bool(np.isfinite(array).all()), f"{name} is not finite")
        top, seen = found["clusters_top"], int(found["clusters_seen"][0])
        require(bool(((top >= 0) & (top < self.n)).all()), "clusters_top names a class that is not there")
        require(seen >= 0, "clusters_seen is negative")
        counts = found["clusters_totals"][[WEIGHT, PENDING, REFRESHED]]
        require(bool((counts >= 0).all()), "clusters_totals is negative")
        self.shares, self.gram = found["clusters_shares"].copy(), found["clusters_gram"].copy()
        self.squares = found["clusters_squares"].copy()
        self.sums, self.totals = found["clusters_sums"].copy(), found["clusters_totals"].copy()
        self.top_items, self.seen = top.copy(), seen
