"""Word vectors of ``dcme`` together with how their corpora are read: what the command writes as a model, and reads again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from wordkit.checks import require, value_of
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models.corpus_tokens import TEXT_FORMATS
from wordkit.models.dcme import DualClusteringEmbedding
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.tally import Tally

KIND = "dcme-embedding"
KINDS = {KIND: "word vectors of dcme"}
# How a corpus is read, by the names of the options.
READING: dict[str, type] = {"lowercase": bool, "format": str}


class EmbeddingModel:
    """Model and reading options as one thing that can be saved.

    Args:
        reading: options of :func:`wordkit.models.tree_corpus.read_corpus` that belong to the model (see :data:`READING`).
        header: JSON values kept in the file beside the model's own (command, inputs, signature).
    """

    def __init__(
        self,
        model: DualClusteringEmbedding,
        reading: Mapping[str, Any],
        header: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.reading, self.header = model, dict(reading), dict(header or {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        arrays, values = self.model.state()
        write_model(path, KIND, arrays, {**self.header, **values, "reading": self.reading})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EmbeddingModel:
        """Read a model file.

        Raises:
            DataError: not a model file, a damaged one, or a model of another kind.
        """
        header, arrays = read_model(path, KINDS)
        try:
            reading = value_of(header, "reading", dict)
            for name, kind in READING.items():
                value_of(reading, name, kind)
            require(reading["format"] in TEXT_FORMATS, f"format is {reading['format']!r:.60}")
            model = DualClusteringEmbedding.from_state(arrays, header)
            header = {"inputs": [], "signature": "", "continued": 0, **header}
            for record in value_of(header, "inputs", list):
                value_of(record, "sha256", str)
            value_of(header, "signature", str)
            value_of(header, "continued", int, 0, len(header["inputs"]))
        except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
            raise DataError(os.fspath(path), None, f"the model is damaged: {error}") from None
        return cls(model, reading, header)

    def read(
        self,
        paths: Sequence[str],
        tally: Tally | None = None,
        *,
        cache_folder: str | None = None,
        **more: Any,
    ) -> TreeCorpus:
        """A corpus in the model's numbers; words that it does not know are number 0. ``more``: see ``read_corpus``."""
        return read_corpus(
            paths, structure="chain", **self.reading, max_length=None, tally=tally, cache_folder=cache_folder,
            vocabulary=self.model.vocabulary_, **more,
        )  # fmt: skip
