"""A classifier together with its features: what ``train-rpa`` and ``dcme`` write, and ``predict`` and ``evaluate`` read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wordkit.checks import require, value_of
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.formats.opening import Input
from wordkit.models.classifier import RowClassifier
from wordkit.models.dcme_classifier import DualClusteringClassifier
from wordkit.models.features import Features, TextFeatures, features_from_state
from wordkit.models.rpa import RPAClassifier
from wordkit.tally import Tally

_WANTED = "a text classifier (of train-rpa, or dcme --task classification)"
KINDS = {"rpa": _WANTED, "dcme-classifier": _WANTED}
_CLASSES: dict[str, Any] = {"rpa": RPAClassifier, "dcme-classifier": DualClusteringClassifier}


class TextClassifier:
    """Features and classifier as one thing that can be saved.

    Args:
        header: JSON values kept in the file beside the model's own (command, inputs, signature).
    """

    def __init__(
        self, features: Features, classifier: RowClassifier, header: Mapping[str, Any] | None = None
    ) -> None:
        self.features, self.header = features, dict(header or {})
        self.classifier: Any = classifier  # one of two classes, of which the callers know more

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        feature_arrays, features = self.features.state()
        arrays, values = self.classifier.state()
        counted = zip(self.classifier.classes_, self.classifier.class_counts_, strict=True)
        labels = {str(label): int(count) for label, count in counted}
        header = {**self.header, **values, "features": features, "labels": labels}
        kind = next(kind for kind, made in _CLASSES.items() if isinstance(self.classifier, made))
        write_model(path, kind, {**feature_arrays, **arrays}, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Input, kinds: Mapping[str, str] = KINDS) -> TextClassifier:
        """Read a model file of one of some kinds.

        Raises:
            DataError: not a model file, a damaged one, or a model that is not a classifier.
        """
        header, arrays = read_model(path, kinds)
        try:
            features = features_from_state(arrays, value_of(header, "features", dict))
            classifier = _CLASSES[header["kind"]].from_state(arrays, header)
            width = classifier.n_features_in_
            require(features.n_features == width, f"{features.n_features} features have weights for {width}")
            header = {"inputs": [], "signature": "", "continued": 0, "grid": [], "vectors": None, **header}
            for record in value_of(header, "inputs", list):
                value_of(record, "sha256", str)
            value_of(header, "signature", str)
            value_of(header, "continued", int, 0, len(header["inputs"]))
            value_of(header, "grid", list)
            require(isinstance(header["vectors"], (str, type(None))), "vectors is no digest")
        except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
            name = path.name if isinstance(path, Input) else os.fspath(path)
            raise DataError(name, None, f"the model is damaged: {error}") from None
        return cls(features, classifier, header)

    def words(self) -> list[str]:
        """The words of text features, in the order of the embedding's rows; n-grams, which follow them, are not words."""
        return self.features.bag.words_ if isinstance(self.features, TextFeatures) else []

    @property
    def has_probabilities(self) -> bool:
        """Whether the classifier's scores are those of a distribution."""
        return hasattr(self.classifier, "predict_proba")

    def predict_stream(
        self, path: str, tally: Tally, *, probabilities: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each block of lines: scores or probabilities (n, classes), best class numbers (n), and which lines have no known
        feature (n)."""
        score = self.classifier.predict_proba if probabilities else self.classifier.class_scores
        for rows in self.features.stream(path, tally):
            if rows.shape[0]:
                scores = score(rows)
                empty = np.diff(rows.indptr) == 0
                yield scores, self.classifier.best_classes(scores, empty), empty
