"""Dual-clustering maximum entropy for classification: a linear soft-max over any number of classes on sparse rows.

Wang, Wang and Zhai, "Dual-Clustering Maximum Entropy with Application to Classification and Word Embedding", AAAI 2017, and its
baselines NCE, negative sampling and maximum likelihood. P(j | x) is proportional to exp(W_j.x + b_j), b_j the log share of class
j (``prior="unigram"``) or 0. The steps are in ``cython_ext/class_training.pyx``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit._kernels import class_training, dual_clustering
from wordkit.checks import array_of, records_of, require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.base import as_labels, row_arrays
from wordkit.models.class_clusters import ClassClusters, aligned_zeros, curvature_of
from wordkit.models.classifier import RowClassifier
from wordkit.models.dcme_parameters import (
    LOOKED_AT,
    check_clusters,
    check_parameters,
    default_beta,
    default_rate,
    default_top,
    log_prior,
    run_away,
    what_is_left,
)
from wordkit.models.exact_softmax import log_softmax, rows_at_once
from wordkit.models.window_training import Noise
from wordkit.monitor import Monitor
from wordkit.parallel import Workers, map_blocks

_WORK = 1 << 28  # multiply-adds between two looks at the monitor, some tenths of a second
_LEAST_ROWS = 64  # of a thread at a time
Matrix = tuple[np.ndarray, np.ndarray, np.ndarray]
Snapshot = tuple[int, int, dict[str, np.ndarray]]


class DualClusteringClassifier(RowClassifier):
    """Multinomial logistic regression over very many classes, learned by dual clustering or a baseline.

    Args:
        objective: ``dcme``, ``nce``, ``ns`` or ``gd``. variant: ``exact`` or ``printed`` (dcme; see the manual).
        clusters: K. beta: rows between two passes over the weights, at most, as a share of K times the classes; None: 1.2, or 1
            for the printed variant. top: Q (None: 48), a cluster's likeliest classes, whose scores are exact, rounded up to
            groups of 16 that are likely together; nothing to the printed variant.
        prior: ``unigram`` or ``none``; None: unigram, but none for ns. negative, noise_power: drawn classes a row, and the power
            of the counts that they are drawn by (nce, ns).
        epochs, learning_rate: passes; first step size, falling to 0 in a line (None: by objective).
        normalize: rows to unit length.
        shuffle: a new seeded order of rows each epoch. threads: more than one share their memory without locks: results
            differ from run to run, accuracies hardly.

    Attributes:
        classes_, class_counts_, n_features_in_, n_iter_: as :class:`RowClassifier`. coef_: float32 (classes, features).
        intercept_: float32 (classes,). history_: one dict an epoch (``objective`` a row).
    """

    # First step sizes for rows of unit length. The objective of the printed variant has no upper bound: at 0.05 the words of
    # Brown fall below their shares, at 0.5 they run away.
    RATES: ClassVar[dict[str, float]] = {"exact": 2.0, "printed": 0.02, "nce": 2.0, "ns": 2.0, "gd": 2.0}
    BETAS: ClassVar[dict[str, float]] = {"exact": 1.2, "printed": 1.0}
    TOP: ClassVar[dict[str, int]] = {"exact": 48, "printed": 48}

    def __init__(
        self, *, objective: str = "dcme", variant: str = "exact", clusters: int = 20, beta: float | None = None,
        top: int | None = None, prior: str | None = None, negative: int = 20, noise_power: float = 0.75, epochs: int = 5,
        learning_rate: float | None = None, normalize: bool = True, shuffle: bool = True, seed: int = 1, threads: int = 1,
    ) -> None:  # fmt: skip
        self.objective, self.variant, self.clusters, self.beta, self.top = (
            objective,
            variant,
            clusters,
            beta,
            top,
        )
        self.prior, self.negative, self.noise_power = prior, negative, noise_power
        self.epochs, self.learning_rate, self.normalize = epochs, learning_rate, normalize
        self.shuffle, self.seed, self.threads = shuffle, seed, threads

    position_: int  # rows done of the epoch that was interrupted
    history_: list[dict[str, Any]]
    cells_: np.ndarray  # (features, width) weights, without what is pending
    intercept_: np.ndarray
    clusters_: ClassClusters | None
    _noise: Noise | None
    _sums: np.ndarray  # (2) objective and rows of the epoch so far

    @property
    def coef_(self) -> np.ndarray:
        return self._weights().T

    def _weights(self) -> np.ndarray:
        """True weights (features, classes)."""
        return (
            self.clusters_.true_cells(self.cells_) if self.clusters_ else self.cells_[:, : len(self.classes_)]
        )

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> DualClusteringClassifier:
        """Train on rows X (n, features), sparse or dense, and labels y (n).

        Raises:
            ValueError: parameters or data that cannot be used.
            WordkitError: the numbers are not finite any more; the model is that of the last full epoch.
            Interrupted: the monitor asked to stop; :meth:`resume` goes on from there.
        """
        check_parameters(self)
        rows, labels, classes = self._labelled(X, y)
        self.classes_, self.n_features_in_ = classes, rows.shape[1]
        self.class_counts_ = np.bincount(self._targets(labels), minlength=len(classes))
        self._begin()
        return self.resume(rows, labels, monitor=monitor)

    def _begin(self) -> None:
        """Weights of 0."""
        n, features = len(self.classes_), self.n_features_in_
        self.intercept_ = log_prior(self, self.class_counts_)
        self.cells_ = aligned_zeros(features, n)
        self.clusters_ = self._noise = None
        if self.objective == "dcme":
            self.clusters_ = ClassClusters(
                self.intercept_, features=features, clusters=int(self.clusters), beta=default_beta(self), top=default_top(self),
                printed=self.variant == "printed",
            )  # fmt: skip
        elif self.objective != "gd":
            counts = np.maximum(self.class_counts_, 0.5)
            self._noise = Noise.of(counts, float(self.noise_power), int(self.negative))
        self.n_iter_ = self.position_ = 0
        self.history_ = []
        self._sums = np.zeros(2)

    def resume(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> DualClusteringClassifier:
        """Go on with an interrupted or loaded fit on the same data, up to ``epochs`` passes in all."""
        self._check_fitted("cells_")
        check_parameters(self)
        rows = self._rows(X)
        targets = self._targets(as_labels(y, rows.shape[0]))
        if self.position_ and self.position_ >= rows.shape[0]:
            raise WordkitError("the data are shorter than those that the fit was interrupted in")
        monitor = monitor or Monitor()
        monitor.begin((self.epochs - self.n_iter_) * rows.shape[0] - self.position_, "documents")
        matrix = self._matrix(rows)
        workers = Workers(int(self.threads))
        good = None
        try:
            while self.n_iter_ < self.epochs:
                good = self._snapshot(good)
                if not self._epoch(matrix, targets, monitor, workers):
                    raise self._go_back(
                        good, "a number is not finite", f", from its document {self.position_ + 1} on"
                    )
                likelihood = self._likelihood(matrix, targets)
                if run_away(likelihood, len(self.classes_)):
                    what = f" (log-likelihood of a document {likelihood:.4g})"
                    raise self._go_back(good, "the weights have run away", what)
                self._end_epoch(monitor)
        finally:
            workers.close()
        return self

    def _matrix(self, rows: scipy.sparse.csr_array) -> Matrix:
        """Arrays of the rows as the kernel takes them, of unit length where that is wanted."""
        data, indices, indptr = row_arrays(rows)
        class_training.check_rows(data, indices, indptr, self.n_features_in_)
        if self.normalize:
            squares = np.square(data, dtype=np.float64)
            totals = np.concatenate([[0.0], np.cumsum(squares)])
            lengths = np.sqrt(np.maximum(totals[indptr[1:]] - totals[indptr[:-1]], 1e-300))
            data = (data / np.repeat(lengths, np.diff(indptr))).astype(np.float32)
        return data, indices, indptr

    def _epoch(self, matrix: Matrix, targets: np.ndarray, monitor: Monitor, workers: Workers) -> bool:
        """One pass over the rows, or the rest of an interrupted one; False where a number is not finite."""
        order = self._order(len(targets)).astype(np.int64)
        key = int(rng.stream(self.seed, rng.SAMPLING, self.n_iter_).integers(2**62))
        rate, total = default_rate(self), len(order) * int(self.epochs)
        cells = max(1, len(matrix[0]) // len(order)) * self._cells_a_row()
        step = max(_LEAST_ROWS, _WORK // cells)
        before = self.n_iter_ * len(order)
        times = self.clusters_.pass_times(total) if self.clusters_ is not None else []
        passes = [time - before for time in reversed(times) if self.position_ < time - before <= len(order)]
        columns = self._columns(targets)
        while self.position_ < len(order):
            if monitor.stopping:
                raise Interrupted(
                    f"interrupted in epoch {self.n_iter_ + 1}, after {self.position_} documents of it"
                )
            end = min([self.position_ + step, len(order), *passes[-1:]])
            now = rate * (1 - (before + self.position_) / total)
            if not self._steps(
                matrix, columns, order, (self.position_, end), key, now, -rate / total, workers
            ):
                return False
            monitor.advance(end - self.position_)
            self.position_ = end
            if self.clusters_ is not None and passes and end == passes[-1]:
                passes.pop()
                curvature = curvature_of(matrix[2])
                if not self.clusters_.refresh(self.cells_, curvature, workers):
                    return False
                columns = self._columns(targets)
        flat = self.cells_.ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(np.dot(flat, flat)))  # without an array of as many booleans

    def _columns(self, targets: np.ndarray) -> np.ndarray:
        """Where classes have their weights."""
        return targets if self.clusters_ is None else self.clusters_.place[targets]

    def _cells_a_row(self) -> int:
        if self.clusters_ is not None:
            return 6 * self.clusters_.k + default_top(self)
        return int(self.negative) if self._noise is not None else 2 * len(self.classes_)

    def _steps(
        self, matrix: Matrix, columns: np.ndarray, order: np.ndarray, part: tuple[int, int], key: int, rate: float, slope: float,
        workers: Workers,
    ) -> bool:  # fmt: skip
        """Steps for the rows at part[0] to part[1] - 1 of the order, on all threads."""
        lo, hi = part
        threads = min(int(self.threads), max(1, (hi - lo) // _LEAST_ROWS))
        cuts = np.linspace(lo, hi, threads + 1).astype(int).tolist()
        clusters, noise = self.clusters_, self._noise
        own = (
            [clusters.totals.copy() if threads > 1 else clusters.totals for _ in range(threads)]
            if clusters
            else []
        )
        sums = np.zeros((threads, 2))
        code = dual_clustering.OBJECTIVES["printed" if clusters and clusters.printed else self.objective]
        negative = noise.negative if noise else 0
        cells = class_training.scratch_size(self.cells_.shape[1], negative, clusters.k if clusters else 0)
        bias = clusters.bias if clusters else self.intercept_

        def one(i: int) -> bool:
            arrays = clusters.arrays(own[i]) if clusters else (*noise, key) if noise else ()
            done = class_training.train_rows(
                *matrix, columns, order, cuts[i], cuts[i + 1], code, arrays, self.cells_, bias,
                rate + slope * (cuts[i] - lo), slope, np.empty(cells, dtype=np.float32),
                np.empty(negative + 2, dtype=np.int32), sums[i],
            )  # fmt: skip
            return done == cuts[i + 1] - cuts[i]

        whole = all(workers.map(one, range(threads)))
        if clusters and threads > 1:
            clusters.totals += np.sum([totals - clusters.totals for totals in own], axis=0)
        self._sums += sums.sum(axis=0)
        return whole

    def _end_epoch(self, monitor: Monitor) -> None:
        objective, rows = self._sums
        self.n_iter_ += 1
        self.position_ = 0
        self._sums[:] = 0
        record: dict[str, Any] = {"epoch": self.n_iter_, "objective": float(objective / max(rows, 1))}
        if self.clusters_ is not None:
            record["clusters_used"] = int(np.count_nonzero(self.clusters_.totals[3]))
        self.history_.append(record)
        monitor.epoch(record)

    def _snapshot(self, before: Snapshot | None) -> Snapshot:
        """Epochs done, documents of the next, and copies of the arrays; an earlier one's memory is written over."""
        arrays, _ = self.state()
        into = before[2] if before else {name: np.empty_like(array) for name, array in arrays.items()}
        for name, array in arrays.items():
            np.copyto(into[name], array)
        return self.n_iter_, self.position_, into

    def _likelihood(self, matrix: Matrix, targets: np.ndarray) -> float:
        """Exact, the mean over the first rows."""
        data, indices, indptr = matrix
        n = min(len(targets), LOOKED_AT, rows_at_once(len(self.classes_)))
        X = scipy.sparse.csr_array(
            (data[: indptr[n]], indices[: indptr[n]], indptr[: n + 1]), (n, self.n_features_in_)
        )
        with np.errstate(all="ignore"):
            if self.clusters_ is not None:
                scores = self.clusters_.true_scores(X, self.cells_)
            else:
                scores = (X @ self.cells_)[
                    :, : len(self.classes_)
                ] + self.intercept_  # a slice of cells would be copied
            return float(log_softmax(scores)[np.arange(n), targets[:n]].mean(dtype=np.float64))

    def _go_back(self, good: Snapshot, what: str, where: str) -> WordkitError:
        epoch = self.n_iter_ + 1
        self.n_iter_, self.position_, arrays = good
        self._restore(arrays)
        kept = what_is_left(self, self.position_ > 0)
        return WordkitError(
            f"{what} in epoch {epoch}{where}, with a learning rate of {default_rate(self):g}; {kept}; "
            f"use a smaller --learning-rate (by default {default_rate(self, True):g})"
            f"{' or --negative' if self.objective == 'ns' else ''}"
        )

    # --- prediction ------------------------------------------------------------------------------------------------

    def class_scores(self, X: Any) -> np.ndarray:
        """W_j.x + b_j, float32 (n, classes)."""
        self._check_fitted("cells_")
        rows = self._rows(X)
        data, indices, indptr = self._matrix(rows)
        scaled = scipy.sparse.csr_array((data, indices, indptr), shape=rows.shape)
        weights, n, step = self._weights(), rows.shape[0], rows_at_once(len(self.classes_))
        blocks = [(lo, min(lo + step, n)) for lo in range(0, n, step)]
        parts = map_blocks(
            lambda block: np.asarray(scaled[slice(*block)] @ weights) + self.intercept_,
            blocks,
            int(self.threads),
        )
        return np.concatenate(parts)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores (n, classes), or for two classes the log odds of the second (n)."""
        scores = self.class_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Exact log-probabilities, float64 (n, classes)."""
        return log_softmax(self.class_scores(X).astype(np.float64))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Exact probabilities, float64 (n, classes)."""
        return np.exp(self.predict_log_proba(X))

    # --- state -----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes; ``threads`` is not part of a model."""
        self._check_fitted("cells_")
        parameters = {key: value for key, value in self.get_params().items() if key != "threads"}
        arrays = {
            "weights": self.cells_[:, : len(self.classes_)], "bias": self.intercept_, "classes": np.asarray(self.classes_),
            "class_counts": self.class_counts_, "epoch_sums": self._sums,
            **(self.clusters_.state() if self.clusters_ else {}),
        }  # fmt: skip
        return arrays, {
            "parameters": parameters, "epochs_done": self.n_iter_, "position": self.position_, "history": self.history_,
        }  # fmt: skip

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        n, features = len(self.classes_), self.n_features_in_
        weights = array_of(arrays, "weights", np.float32, (features, n))
        bias = array_of(arrays, "bias", np.float32, (n,))
        sums = array_of(arrays, "epoch_sums", np.float64, (2,))
        for name, array in (("weights", weights), ("bias", bias), ("epoch_sums", sums)):
            require(bool(np.isfinite(array).all()), f"{name} are not finite")
        require(sums[1] >= 0, "epoch_sums has fewer rows than none")
        self.cells_[:, :n], self.intercept_[:], self._sums[:] = weights, bias, sums
        if self.clusters_ is not None:
            self.clusters_.restore(arrays)

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> DualClusteringClassifier:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        model = cls._of_parameters(values)
        check_parameters(model)
        model._take_classes(arrays)
        model.n_features_in_ = array_of(arrays, "weights", np.float32, (None, len(model.classes_))).shape[0]
        require(model.n_features_in_ > 0, "weights are of no feature")
        check_clusters(model, arrays)
        model._begin()
        model._restore(arrays)
        model.n_iter_ = value_of(values, "epochs_done", int, 0)
        model.position_ = value_of(values, "position", int, 0)
        model.history_ = records_of(values, "history")
        return model
