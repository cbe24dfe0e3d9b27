"""Where a classifier's rows come from: labelled text through a bag of words, or svmlight files.

Both kinds have the same three methods, so that training, prediction and evaluation need not know which one it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.checks import require, value_of
from wordkit.errors import DataError, WordkitError, told_of
from wordkit.formats.labelled import MULTI_LABEL, PREFIX, Documents, LabelledReader
from wordkit.formats.opening import Input, names_of, opened
from wordkit.formats.svmlight import SvmlightData, iter_svmlight, read_svmlight
from wordkit.formats.text import TypeMap
from wordkit.models.bag_of_words import BagOfWords
from wordkit.tally import Tally

_MOST_TYPES = 1 << 22  # distinct tokens that a stream may bring before its table starts anew


@dataclass
class LabelledRows:
    """``rows``: (n, features); ``labels``: strings (n); ``inputs``: records of what was read; ``notes``: lines for the user."""

    rows: scipy.sparse.csr_array
    labels: np.ndarray
    inputs: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)


class TextFeatures:
    """0-1 bags of words and n-grams of labelled text (see :class:`BagOfWords`)."""

    format = "text"

    def __init__(
        self,
        *,
        min_count: int = 2,
        ngrams: int = 1,
        lowercase: bool = False,
        prefix: str = PREFIX,
        multi_label: str = "refuse",
    ) -> None:
        self.bag = BagOfWords(min_count=min_count, ngrams=ngrams, lowercase=lowercase)
        self.prefix, self.multi_label = prefix, multi_label

    @property
    def n_features(self) -> int:
        return self.bag.n_features_

    def label_name(self, label: str) -> str:
        """A label as the input writes it."""
        return self.prefix + label

    def read(
        self, paths: Sequence[str], tally: Tally, *, fit: bool = False, extend: bool = False
    ) -> LabelledRows:
        """Labelled rows of some files, one after the other.

        The vocabulary is learned from them first with ``fit``, and takes up their new words with ``extend`` (not where
        n-grams are in use).
        """
        reader = LabelledReader(prefix=self.prefix, multi_label=self.multi_label)
        parts: list[Documents] = []
        inputs = []
        for path in paths:
            before = len(parts)
            with Input(path, digest=True) as source:
                parts += list(reader.labelled(source, tally))
                inputs.append(source.record())
            if not any(map(len, parts[before:])):
                raise DataError(source.name, None, f"no labelled line; labels start with `{self.prefix}`")
        documents = Documents.join(parts)
        notes = [f"{reader.blank_lines} blank lines passed over"] if reader.blank_lines else []
        if fit:
            with told_of(names_of(paths)):
                rows = self.bag.fit_transform(documents, reader.types)
            notes.append(self._vocabulary_note())
        else:
            if extend and self.bag.ngrams == 1:
                self.bag = self.bag.extended(documents, reader.types)
            rows = self.bag.transform(documents, TypeMap(reader.types, self.bag.numbers))
        return LabelledRows(rows, np.array(reader.names)[documents.labels], inputs, notes)

    def _vocabulary_note(self) -> str:
        bag = self.bag
        share = 100 * bag.n_kept_tokens_ / max(bag.n_tokens_, 1)
        grams = f", and {bag.n_features_ - len(bag.words_)} n-grams" if bag.ngrams > 1 else ""
        return (
            f"{len(bag.words_)} of {bag.n_types_} word types kept (--min-count {bag.min_count}), "
            f"{share:.1f}% of {bag.n_tokens_} tokens{grams}"
        )

    def stream(self, path: str, tally: Tally) -> Iterator[scipy.sparse.csr_array]:
        """Rows of a file line by line, labels in it ignored; blocks come as the input does."""
        reader = LabelledReader(prefix=self.prefix)
        features_of = TypeMap(reader.types, self.bag.numbers)
        with Input(path) as source:
            for documents in reader.lines(source, tally):
                yield self.bag.transform(documents, features_of)
                if len(reader.types) > _MOST_TYPES:
                    reader.types.clear()

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, values = self.bag.state()
        reading = {"format": self.format, "prefix": self.prefix, "multi_label": self.multi_label}
        return arrays, {**reading, **values}

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> TextFeatures:
        prefix, multi_label = value_of(values, "prefix", str), value_of(values, "multi_label", str)
        require(prefix != "" and multi_label in MULTI_LABEL, "prefix or multi_label is not one")
        features = cls(prefix=prefix, multi_label=multi_label)
        features.bag = BagOfWords.from_state(arrays, values)
        return features


class SvmlightFeatures:
    """Rows of svmlight files; the base of the indices and the width are the training data's."""

    format = "svmlight"

    def __init__(self, *, zero_based: bool = False, n_features: int = 0) -> None:
        self.zero_based, self.n_features = zero_based, n_features

    def label_name(self, label: str) -> str:
        """A label as the input writes it."""
        return label

    def read(
        self, paths: Sequence[str], tally: Tally, *, fit: bool = False, extend: bool = False
    ) -> LabelledRows:
        """Labelled rows of some files, one after the other; with ``fit`` they decide base and width.

        ``extend`` changes nothing: the width stays the model's.
        """
        parts: list[SvmlightData] = []
        inputs = []
        base: bool | None = None if fit else self.zero_based
        for path in paths:
            with Input(path, digest=True) as source:
                width = None if fit else self.n_features
                parts.append(read_svmlight(source, zero_based=base, n_features=width, tally=tally))
                inputs.append(source.record())
            if not parts[-1].labels:
                raise DataError(source.name, None, "no labelled line")
            base = parts[0].zero_based
        if fit:
            self.zero_based, self.n_features = parts[0].zero_based, max(part.n_features for part in parts)
            if not self.n_features:
                raise WordkitError(f"{source.name}: no line has a feature")
        shape = [part.matrix() for part in parts]
        for matrix in shape:
            matrix.resize(matrix.shape[0], self.n_features)
        rows = scipy.sparse.csr_array(scipy.sparse.vstack(shape, format="csr"))
        note = f"{self.n_features} features, numbered from {0 if self.zero_based else 1}"
        return LabelledRows(
            rows, np.array([x for part in parts for x in part.labels]), inputs, [note] if fit else []
        )

    def stream(self, path: str | Input, tally: Tally) -> Iterator[scipy.sparse.csr_array]:
        """A row for each line of a file, empty for blank lines, comments and skipped ones; labels may be missing."""
        with opened(path) as source:
            for piece in iter_svmlight(
                source, zero_based=self.zero_based, n_features=self.n_features, labelled=False, tally=tally
            ):
                sizes = np.zeros(len(piece.covers), dtype=np.int64)
                sizes[piece.lines - piece.covers.start] = np.diff(piece.indptr)
                indptr = np.concatenate([[0], np.cumsum(sizes)])
                shape = (len(sizes), self.n_features)
                yield scipy.sparse.csr_array((piece.data, piece.indices, indptr), shape=shape)

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {}, {"format": self.format, "zero_based": self.zero_based, "n_features": self.n_features}

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> SvmlightFeatures:
        width = value_of(values, "n_features", int, 1, 2**31)
        return cls(zero_based=value_of(values, "zero_based", bool), n_features=width)


Features = TextFeatures | SvmlightFeatures
_KINDS: dict[str, Any] = {"text": TextFeatures, "svmlight": SvmlightFeatures}


def features_from_state(arrays: dict[str, np.ndarray], values: dict[str, Any]) -> Features:
    """The features that a model was trained on."""
    name = value_of(values, "format", str)
    require(name in _KINDS, f"features of format {name!r} are not known")
    return _KINDS[name].from_state(arrays, values)
