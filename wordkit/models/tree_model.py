"""A hidden Markov tree model together with how its corpora are read: what ``train-hmtm`` writes and other commands read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from wordkit.checks import require, value_of
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models.corpus_tokens import LABELS, TOKENS
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.tally import Tally

KINDS = {"hmtm": "a hidden Markov tree model"}
TAG_COLUMNS = ("upos", "xpos")
# How a corpus is read, by the names of the options.
READING: dict[str, tuple[type, ...]] = {
    "token": (str,), "tag_column": (str,), "labels": (str,), "lowercase": (bool,), "max_length": (int, type(None)),
}  # fmt: skip


class TreeModel:
    """Model and reading options as one thing that can be saved.

    Args:
        reading: options of :func:`wordkit.models.tree_corpus.read_corpus` that belong to the model (see :data:`READING`).
        header: JSON values kept in the file beside the model's own (command, inputs, signature).
    """

    def __init__(
        self, model: HiddenMarkovTree, reading: Mapping[str, Any], header: Mapping[str, Any] | None = None
    ) -> None:
        self.model, self.reading, self.header = model, dict(reading), dict(header or {})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        arrays, values = self.model.state()
        write_model(path, "hmtm", arrays, {**self.header, **values, "reading": self.reading})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TreeModel:
        """Read a model file.

        Raises:
            DataError: not a model file, a damaged one, or a model of another kind.
        """
        header, arrays = read_model(path, KINDS)
        try:
            reading = value_of(header, "reading", dict)
            for name, kinds in READING.items():
                require(name in reading and type(reading[name]) in kinds, f"reading has no {name}")
            for name, allowed in (("token", TOKENS), ("tag_column", TAG_COLUMNS), ("labels", LABELS)):
                require(reading[name] in allowed, f"{name} is {reading[name]!r:.60}")
            require(reading["max_length"] is None or reading["max_length"] > 0, "max_length is not positive")
            model = HiddenMarkovTree.from_state(arrays, header)
            header = {"inputs": [], "signature": "", "continued": 0, "choices": {}, **header}
            for record in value_of(header, "inputs", list):
                value_of(record, "sha256", str)
            value_of(header, "signature", str)
            value_of(header, "choices", dict)
            value_of(header, "continued", int, 0, len(header["inputs"]))
        except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
            raise DataError(os.fspath(path), None, f"the model is damaged: {error}") from None
        return cls(model, reading, header)

    def read(
        self,
        paths: Sequence[str],
        tally: Tally | None = None,
        *,
        format: str = "auto",
        cache_folder: str | None = None,
        limited: bool = False,
    ) -> TreeCorpus:
        """A corpus in the model's numbers; words and labels that it does not know are number 0.

        Args:
            limited: pass over sentences that are longer than those of the training.
        """
        reading = {name: self.reading[name] for name in READING if name != "max_length"}
        return read_corpus(
            paths, structure=self.model.structure, format=format, **reading,
            max_length=self.reading["max_length"] if limited else None,
            tally=tally, cache_folder=cache_folder,
            vocabulary=self.model.vocabulary_, label_names=self.model.label_names_,
        )  # fmt: skip
