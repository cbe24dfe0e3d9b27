"""A fitted regression with the names of its columns as one file: what ``trace-lasso --model-out`` writes and ``predict``
reads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.checks import require, value_of
from wordkit.errors import DataError
from wordkit.formats.model_file import pack_words, read_model, unpack_words, write_model
from wordkit.formats.opening import Input
from wordkit.formats.regression_data import MatrixFile, is_svmlight, numbered, read_matrix, repeated
from wordkit.models.features import SvmlightFeatures
from wordkit.models.trace_lasso import RegressionEstimator, TraceLasso
from wordkit.tally import Tally

KINDS = {"regression": "a regression model"}
_SHOWN = 100  # names in the header, for `wordkit info`


class RegressionModel:
    """An estimator and what it must know of its data's form.

    Args:
        names: of the columns. format: of the training matrix; ``zero_based`` for svmlight.
        header: JSON values kept in the file (command, inputs, signature).
    """

    def __init__(
        self, estimator: RegressionEstimator, names: Sequence[str], format: str, *, zero_based: bool = False,
        header: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.estimator, self.names, self.format, self.zero_based = estimator, list(names), format, zero_based
        self.header = dict(header or {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        arrays, values = self.estimator.state()
        features = {"format": self.format, "zero_based": self.zero_based, "columns": self.names[:_SHOWN]}
        names = pack_words([name.replace("\n", " ") for name in self.names])
        write_model(
            path, "regression", {**arrays, "names": names}, {**self.header, **values, "features": features}
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str] | Input) -> RegressionModel:
        """Read a model file.

        Raises:
            DataError: not a model file, a damaged one, or another model.
        """
        header, arrays = read_model(path, KINDS)
        try:
            estimator = TraceLasso.from_state(arrays, header)
            require("names" in arrays and arrays["names"].dtype == np.uint8, "names are missing")
            names = unpack_words(arrays["names"])
            require(
                len(names) == estimator.n_features_in_,
                f"{len(names)} names for {estimator.n_features_in_} columns",
            )
            features = value_of(header, "features", dict)
            form = value_of(features, "format", str)
            zero_based = value_of(features, "zero_based", bool)
        except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
            name = path.name if isinstance(path, Input) else os.fspath(path)
            raise DataError(name, None, f"the model is damaged: {error}") from None
        return cls(estimator, names, form, zero_based=zero_based, header=header)

    def predict_lines(self, path: str, tally: Tally, *, scores: bool = False) -> Iterator[str]:
        """The prediction for each row of a file, in order; with logistic loss the class, and with ``scores`` its score behind
        a tab.

        A row that was skipped gives an empty line. In svmlight files, which are for models trained on such, every line is a row,
        labels are ignored. Columns with names, there and here, go by their names, all others by their places.

        Raises:
            DataError: other columns than the model's; a prediction beyond float64.
        """
        with Input(path) as source:
            if self.format == "svmlight" and is_svmlight(source):
                features = SvmlightFeatures(zero_based=self.zero_based, n_features=len(self.names))
                done = 0
                for rows in features.stream(source, tally):
                    yield from self._texts(rows, scores, source.name, done) if rows.shape[0] else ()
                    done += rows.shape[0]
                return
            data = read_matrix(source, tally)
        values = self._texts(self._columns(data.name, data, tally), scores, data.name, 0)
        texts = dict(zip(data.rows.tolist(), values, strict=True))
        for row in range(data.total):
            yield texts.get(row, "")

    def _columns(self, path: str, data: MatrixFile, tally: Tally) -> Any:
        """The matrix with the model's columns in the model's order."""
        named = data.names != numbered(len(data.names)) and self.names != numbered(len(self.names))
        if not named or data.names == self.names:
            if data.X.shape[1] != len(self.names):
                raise DataError(path, None, f"{data.X.shape[1]} columns", f"the model's {len(self.names)}")
            return data.X
        for whose, names in (("", data.names), ("the model's ", self.names)):
            for twice in repeated(names):
                raise DataError(path, 1, f"{whose}columns go by their names, and {twice!r} names several")
        place = {name: i for i, name in enumerate(data.names)}
        missing = [name for name in self.names if name not in place]
        if missing:
            shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
            raise DataError(
                path, 1, f"{len(missing)} of the model's {len(self.names)} columns are missing: {shown}"
            )
        more = [name for name in data.names if name not in set(self.names)]
        if more:
            tally.warn(
                "column that the model does not know", DataError(path, 1, f"column {more[0]!r}"), len(more)
            )
        return data.X[:, [place[name] for name in self.names]]

    def _texts(self, X: Any, scores: bool, name: str, before: int) -> list[str]:
        """Lines for rows; ``name``: of their input, ``before``: rows of it that came earlier."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.estimator.scores(X)
        if not np.isfinite(values).all():
            row = before + int(np.argmin(np.isfinite(values))) + 1
            raise DataError(name, None, f"row {row}: its prediction is beyond float64")
        if self.estimator.loss == "squared":
            return [f"{value:.10g}" for value in values]
        labels = [f"{label:g}" for label in self.estimator.classes_[(values > 0).astype(int)]]
        return (
            [f"{label}\t{value:.6g}" for label, value in zip(labels, values, strict=True)]
            if scores
            else labels
        )
