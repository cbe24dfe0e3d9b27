"""What classifiers of sparse rows share: labels and class numbers, orders of documents, prediction from scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit.checks import array_of, require
from wordkit.models.base import Estimator, as_labels, as_rows


class RowClassifier(Estimator):
    """A class that inherits has parameters ``shuffle`` and ``seed``, and a method ``class_scores``.

    Attributes:
        classes_: labels, sorted. class_counts_: int64, documents a class. n_features_in_: width of the rows. n_iter_: epochs
        done.
    """

    shuffle: bool
    seed: int
    classes_: np.ndarray
    class_counts_: np.ndarray
    n_features_in_: int
    n_iter_: int

    def class_scores(self, X: Any) -> np.ndarray:
        """Scores with a column for every class (n, classes)."""
        raise NotImplementedError

    def best_classes(self, scores: np.ndarray, empty: np.ndarray) -> np.ndarray:
        """Class numbers (n) for scores; documents without any feature (``empty``, bool) get the most frequent class."""
        best = scores.argmax(axis=1)
        best[empty] = int(np.argmax(self.class_counts_))
        return best

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row (n)."""
        self._check_fitted("classes_")
        rows = self._rows(X)
        return self.classes_[self.best_classes(self.class_scores(rows), np.diff(rows.indptr) == 0)]

    def score(self, X: Any, y: Any) -> float:
        """Accuracy."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def _rows(self, X: Any) -> scipy.sparse.csr_array:
        return as_rows(X, getattr(self, "n_features_in_", None), type(self).__name__)

    def _labelled(self, X: Any, y: Any) -> tuple[scipy.sparse.csr_array, np.ndarray, np.ndarray]:
        """Rows, labels and sorted classes of training data; ValueError for what cannot be, and for one class only."""
        rows = as_rows(X)
        labels = as_labels(y, rows.shape[0])
        classes = np.unique(labels)
        if len(classes) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: {classes.tolist()[0]!r}."
            )
        return rows, labels, classes

    def _targets(self, labels: np.ndarray) -> np.ndarray:
        """Class numbers (n), int32; ValueError for labels that are not among the classes."""
        found = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        if not np.array_equal(self.classes_[found], labels):
            raise ValueError(
                f"labels {np.setdiff1d(labels, self.classes_).tolist()} are not among the classes"
            )
        return found.astype(np.int32)

    def _order(self, n: int) -> np.ndarray:
        """In which order the documents of this epoch come."""
        if not self.shuffle:
            return np.arange(n)
        return rng.stream(self.seed, rng.SHUFFLE, self.n_iter_).permutation(n)

    def _take_classes(self, arrays: dict[str, np.ndarray]) -> None:
        """Labels and their counts from a state; ValueError for what cannot be."""
        self.classes_ = np.asarray(arrays["classes"])
        known = (
            self.classes_.ndim == 1
            and self.classes_.dtype.kind in "Uiufb"
            and np.array_equal(np.unique(self.classes_), self.classes_)
        )
        require(known and len(self.classes_) >= 2, "classes are not two or more sorted labels")
        self.class_counts_ = array_of(arrays, "class_counts", np.int64, (len(self.classes_),))
        require(bool((self.class_counts_ >= 0).all()), "counts are negative")

    def __sklearn_tags__(self) -> Any:
        """For scikit-learn's tools, which are the only callers."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(sparse=True),
        )
