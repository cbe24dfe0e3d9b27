"""Re-embedding Passive-Aggressive: linear text classification that learns its word vectors online.

Denis and Ralaivola, "Online Learning of Task-specific Word Representations with a Joint Biconvex Passive-Aggressive
Algorithm", EACL 2017. The step is in ``cython_ext/rpa_step.pyx``; here are the classes, epochs and weights around it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit._kernels import rpa_step
from wordkit.checks import array_of, records_of, require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.base import as_labels, one_of, positive, row_arrays, whole
from wordkit.models.classifier import RowClassifier
from wordkit.models.rpa_weights import Matrix, Weights
from wordkit.monitor import Monitor

ALGORITHMS = ("rpa", "pa", "pa-onehot")
UPDATES = ("coordinate", "embedding-first", "printed", "joint")
EMBEDDINGS = ("per-class", "shared")
NORMALIZATIONS = ("document", "input", "none")
CLASS_WEIGHTS = ("balanced", "none")
# What did best, or close to it, over the labelled sets that RPA was tried on: topics, sentiment, 6 and 50 question types.
DEFAULT_C = {"rpa": 0.01, "pa": 1.0, "pa-onehot": 1.0}
# Multiply-adds between two looks at the monitor, some tenths of a second: long enough for a class's rows to stay in the cache,
# short enough for Ctrl-C and progress.
_WORK = 1 << 31


class RPAClassifier(RowClassifier):
    """RPA, and PA-II on fixed vectors or one-hot features, one against all; two classes are one binary problem.

    Args:
        algorithm: ``rpa`` learns the embedding, ``pa`` keeps it, ``pa-onehot`` has none (Phi is the identity).
        dim: length k of random vectors, uniform(-1, 1); ``vectors`` decides where they are given.
        vectors: initial embedding, float array of shape (features, k), or None.
        update: ``coordinate`` solves each block exactly around the example's start, w first; ``embedding-first`` does the same in
            the other order; ``printed`` steps from the current iterate as Algorithm 1 is printed, ``joint`` takes the optimum of
            problem (5).
        C: aggressiveness; None for DEFAULT_C of the algorithm. lam: cost of moving the embedding (lambda of the paper).
        epochs: passes over the data. inner_iterations: most alternations an example (1: stochastic RPA).
        class_weight: ``balanced`` multiplies C by n/(2 n+) on positive and n/(2 n-) on negative examples.
        embedding: one matrix a class (the paper's) or one ``shared`` by all.
        normalize: ``document`` divides x by |Phi_t x|, ``input`` by |x|.
        concat_onehot: one-hot weights beside the embedded ones.
        average: classify with the mean of the weights over all documents seen, which steadies the result; training then
            keeps twice the memory, and scoring makes the means once.
        shuffle: visit documents in a new seeded order each epoch.

    Attributes:
        classes_: labels, sorted. embedding_: float32 (g, features, k), g = number of classes, or 1 when it is shared,
        fixed or binary. coef_: float32 (g, m, k), m classes a matrix. onehot_coef_: float32 (g, features, m), or (g, 0, m).
        class_counts_: documents a class. n_iter_: epochs done. history_: one dict an epoch (``loss`` a problem and
        document, ``updates``, ``inner_iterations``).
    """

    def __init__(
        self, *, algorithm: str = "rpa", dim: int = 100, vectors: np.ndarray | None = None, update: str = "coordinate",
        C: float | None = None, lam: float = 0.001, epochs: int = 10, inner_iterations: int = 50, class_weight: str = "balanced",
        embedding: str = "per-class", normalize: str = "document", concat_onehot: bool = False, average: bool = False,
        shuffle: bool = True, seed: int = 1, threads: int = 1,
    ) -> None:  # fmt: skip
        self.algorithm, self.dim, self.vectors, self.update = algorithm, dim, vectors, update
        self.C, self.lam = C, lam
        self.epochs, self.inner_iterations, self.class_weight = epochs, inner_iterations, class_weight
        self.embedding, self.normalize, self.concat_onehot = embedding, normalize, concat_onehot
        self.average, self.shuffle, self.seed, self.threads = average, shuffle, seed, threads

    position_: int  # documents done of the epoch that was interrupted
    history_: list[dict[str, Any]]
    weights_: Weights
    _sums: np.ndarray  # (groups, 3), losses, steps and inner iterations of the epoch so far

    @property
    def C_(self) -> float:  # noqa: N802
        """The aggressiveness in force."""
        return DEFAULT_C[self.algorithm] if self.C is None else self.C

    @property
    def embedding_(self) -> np.ndarray:
        return self.weights_.scoring()[0]

    @property
    def coef_(self) -> np.ndarray:
        return self.weights_.scoring()[1]

    @property
    def onehot_coef_(self) -> np.ndarray:
        return self.weights_.scoring()[2]

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> RPAClassifier:
        """Train on rows X (n, features), sparse or dense, and labels y (n).

        Raises:
            ValueError: parameters or data that cannot be used.
            WordkitError: a weight is no longer a finite number.
            Interrupted: the monitor asked to stop; :meth:`resume` goes on from there.
        """
        self._check_parameters()
        rows, labels, classes = self._labelled(X, y)
        self._begin(classes, rows.shape[1])
        self.class_counts_ = np.bincount(np.searchsorted(classes, labels), minlength=len(classes))
        return self.resume(rows, labels, monitor=monitor)

    def resume(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> RPAClassifier:
        """Go on with an interrupted or loaded fit on the same data, up to ``epochs`` passes in all."""
        self._check_fitted("weights_")
        rows = self._rows(X)
        targets = self._targets(as_labels(y, rows.shape[0]))
        monitor = monitor or Monitor()
        monitor.begin((self.epochs - self.n_iter_) * rows.shape[0] - self.position_, "documents")
        matrix = self._matrix(rows)
        while self.n_iter_ < self.epochs:
            self._epoch(matrix, targets, monitor)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> RPAClassifier:
        """One pass over a batch; ``classes`` (all labels there will be) is needed at the first call.

        Balanced weights follow the class counts seen so far.
        """
        self._check_parameters()
        rows = self._rows(X)
        labels = as_labels(y, rows.shape[0])
        if not hasattr(self, "weights_"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._begin(np.unique(np.asarray(classes)), rows.shape[1])
        elif classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError("`classes` is not the same as on last call to partial_fit")
        targets = self._targets(labels)
        self.class_counts_ = self.class_counts_ + np.bincount(targets, minlength=len(self.classes_))
        self._epoch(self._matrix(rows), targets, Monitor())
        return self

    def widen(self, vectors: np.ndarray) -> None:
        """Append features whose embedding starts at ``vectors`` (new features, k); their one-hot weights start at 0."""
        self.weights_.widen(vectors)
        self.n_features_in_ = self.weights_.n_features

    def continue_on(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> RPAClassifier:
        """``epochs`` more passes, over other data than before; labels must be among ``classes_``."""
        self._check_fitted("weights_")
        self._check_parameters()
        rows = self._rows(X)
        labels = as_labels(y, rows.shape[0])
        self.class_counts_ = self.class_counts_ + np.bincount(
            self._targets(labels), minlength=len(self.classes_)
        )
        self.n_iter_, self.position_, self.history_ = 0, 0, []
        self._sums[:] = 0
        return self.resume(rows, labels, monitor=monitor)

    def _check_parameters(self) -> None:
        one_of("algorithm", self.algorithm, ALGORITHMS)
        one_of("update", self.update, UPDATES)
        one_of("embedding", self.embedding, EMBEDDINGS)
        one_of("normalize", self.normalize, NORMALIZATIONS)
        one_of("class_weight", self.class_weight, (*CLASS_WEIGHTS, None))
        for name in ("concat_onehot", "average", "shuffle"):
            one_of(name, getattr(self, name), (True, False))
        if not isinstance(self.seed, (int, np.integer)) or self.seed < 0:
            raise ValueError(f"seed is {self.seed!r}, expected a whole number from 0 on")
        positive("C", self.C_)
        positive("lam", self.lam)
        for name in ("dim", "epochs", "inner_iterations", "threads"):
            whole(name, getattr(self, name))

    def _begin(self, classes: np.ndarray, n_features: int) -> None:
        """Weights before the first document: w_0 = 0, Phi_0 the given or random vectors."""
        if len(classes) < 2:
            raise ValueError("Classifier can't train when only one class is present.")
        problems = len(classes) if len(classes) > 2 else 1
        groups = problems if self.algorithm == "rpa" and self.embedding == "per-class" else 1
        m = problems // groups
        base = self._initial_vectors(n_features)
        one_hot = self.concat_onehot or self.algorithm == "pa-onehot"
        self.weights_ = Weights.start(base, groups=groups, m=m, one_hot=one_hot, average=self.average)
        self.classes_, self.n_features_in_ = classes, n_features
        self.class_counts_ = np.zeros(len(classes), dtype=np.int64)
        self.n_iter_, self.position_ = 0, 0
        self.history_ = []
        self._sums = np.zeros((groups, 3))

    def _initial_vectors(self, n_features: int) -> np.ndarray:
        if self.algorithm == "pa-onehot":
            return np.empty((n_features, 0), dtype=np.float32)
        if self.vectors is None:
            return random_vectors(n_features, int(self.dim), self.seed)
        with np.errstate(over="ignore"):  # what overflows is refused below
            vectors = np.asarray(self.vectors, dtype=np.float32)
        if vectors.ndim != 2 or vectors.shape[0] != n_features or vectors.shape[1] == 0:
            raise ValueError(f"vectors have shape {vectors.shape}, expected ({n_features}, k)")
        if not np.isfinite(vectors).all():
            raise ValueError("vectors contain NaN or infinity.")
        return vectors

    def _costs(self) -> np.ndarray:
        """C of each class (rows) on its negative and positive examples (columns)."""
        counts = self.class_counts_.astype(float)
        weights = np.full((len(counts), 2), self.C_)
        if self.class_weight == "balanced":
            total = counts.sum()
            with np.errstate(over="ignore"):  # what is not finite is told where it is used
                weights[:, 1] *= total / (2 * np.maximum(counts, 1))
                weights[:, 0] *= total / (2 * np.maximum(total - counts, 1))
        return np.minimum(weights, np.finfo(float).max)

    def _epoch(self, matrix: Matrix, targets: np.ndarray, monitor: Monitor) -> None:
        """One pass over the rows, or the rest of an interrupted one."""
        weights = self.weights_
        order, costs = self._order(len(targets)), self._costs()
        # The one problem of two classes is the second against the first.
        first_classes = [1] if len(self.classes_) == 2 else list(range(weights.groups))
        problems = weights.groups * weights.classes_per_group
        cost = problems * (weights.dim + 1) * max(1, len(matrix[0]) // len(targets))
        step = max(1, _WORK // cost)
        while self.position_ < len(order):
            if monitor.stopping:
                raise Interrupted(
                    f"interrupted in epoch {self.n_iter_ + 1}, after {self.position_} documents of it"
                )
            chunk = order[self.position_ : self.position_ + step]
            done = weights.train(
                matrix, chunk, targets, first_classes=first_classes, costs=costs, lam=float(self.lam),
                update=self.update if self.algorithm == "rpa" else "fixed", iterations=int(self.inner_iterations),
                normalize=self.normalize, sums=self._sums, threads=int(self.threads),
            )  # fmt: skip
            self.position_ += done
            if done < len(chunk):
                raise self._overflow()
            monitor.advance(done)
        if not weights.are_finite(phi=self.n_iter_ + 1 == self.epochs):
            raise self._overflow()
        self._end_epoch(monitor)

    def _end_epoch(self, monitor: Monitor) -> None:
        loss, steps, inner = self._sums.sum(axis=0)
        problems = self.weights_.groups * self.weights_.classes_per_group * self.position_
        self.n_iter_ += 1
        self.position_ = 0
        self._sums[:] = 0
        record = {
            "epoch": self.n_iter_,
            "loss": float(loss / problems),
            "updates": int(steps),
            "inner_iterations": float(inner / steps) if steps else 0.0,
        }
        self.history_.append(record)
        monitor.epoch(record)

    def _overflow(self) -> WordkitError:
        return WordkitError(
            f"a weight is not a finite number in epoch {self.n_iter_ + 1}, at its document {self.position_ + 1}, "
            f"with C = {self.C_:g} and lambda = {self.lam:g}; use a smaller C, a larger lambda, or smaller values in "
            "the data and vectors"
        )

    # --- prediction ------------------------------------------------------------------------------------------------

    def _matrix(self, rows: scipy.sparse.csr_array) -> Matrix:
        matrix = row_arrays(rows)
        rpa_step.check_rows(*matrix, self.n_features_in_)
        return matrix

    def decision_function(self, X: Any) -> np.ndarray:
        """Margins: (n, classes), or (n) for two classes, where a positive one speaks for ``classes_[1]``.

        A document without any known feature has margins of exactly 0.
        """
        self._check_fitted("weights_")
        scores = self.weights_.scores(self._matrix(self._rows(X)), self.normalize, int(self.threads))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def class_scores(self, X: Any) -> np.ndarray:
        """Margins with a column for every class, two classes included (n, classes)."""
        scores = self.decision_function(X)
        return np.stack([0.0 - scores, scores], axis=1) if scores.ndim == 1 else scores  # 0 stays 0, not -0

    def word_vectors(self) -> np.ndarray:
        """Re-embedded vectors, (features, k), the classes' matrices side by side where each has its own (features, g k)."""
        self._check_fitted("weights_")
        embedding = self.embedding_
        groups, n, k = embedding.shape
        return embedding[0] if groups == 1 else embedding.transpose(1, 0, 2).reshape(n, groups * k)

    # --- state -----------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes. ``vectors`` and ``threads`` are not part of a model."""
        self._check_fitted("weights_")
        arrays = {
            **self.weights_.state(),
            "classes": np.asarray(self.classes_),
            "class_counts": self.class_counts_,
            "epoch_sums": self._sums,
        }
        parameters = {
            key: value for key, value in self.get_params().items() if key not in ("vectors", "threads")
        }
        return arrays, {
            "parameters": parameters, "epochs_done": self.n_iter_, "position": self.position_,
            "documents_seen": self.weights_.n_seen, "history": self.history_,
        }  # fmt: skip

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> RPAClassifier:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        model = cls._of_parameters(values, without=("vectors",))
        model._check_parameters()
        model.weights_ = Weights.from_state(arrays, value_of(values, "documents_seen", int, 0))
        groups, m = model.weights_.groups, model.weights_.classes_per_group
        model._take_classes(arrays)
        problems = len(model.classes_) if len(model.classes_) > 2 else 1
        require(groups * m == problems, f"{len(model.classes_)} classes have {groups} x {m} weights")
        planes = 2 if model.average else 1
        require(model.weights_.w.shape[1] == planes, f"weights have not {planes} planes")
        model._sums = array_of(arrays, "epoch_sums", np.float64, (groups, 3))
        require(bool(np.isfinite(model._sums).all()), "epoch_sums are not finite")
        model.n_features_in_ = model.weights_.n_features
        model.n_iter_ = value_of(values, "epochs_done", int, 0)
        model.position_ = value_of(values, "position", int, 0)
        model.history_ = records_of(values, "history")
        return model


def random_vectors(n: int, dim: int, seed: int) -> np.ndarray:
    """Vectors uniform on (-1, 1), float32 (n, dim); the first rows do not depend on n."""
    vectors = rng.stream(seed, rng.VECTORS).random((n, dim), dtype=np.float32)
    vectors *= 2
    vectors -= 1
    return vectors
