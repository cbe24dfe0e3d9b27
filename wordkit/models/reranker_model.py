"""The files of ``tmira``: a reranker to score with, and the checkpoint of a training that is to go on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from wordkit.checks import require, value_of
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.formats.opening import Input
from wordkit.models.reranker import Reranker
from wordkit.models.rerankers import reranker_from_state

KIND, CHECKPOINT = "reranker", "reranker-training"
KINDS = {KIND: "a reranker (the -o of tmira)"}
CHECKPOINT_KINDS = {CHECKPOINT: "a checkpoint of tmira"}


def save_reranker(
    path: str | os.PathLike[str], model: Reranker, header: Mapping[str, Any] | None = None
) -> None:
    """Write the weights to score with, whole or not at all; ``header``: JSON values beside the model's own."""
    arrays, values = model.state()
    write_model(path, KIND, arrays, {**(header or {}), "n_parameters": model.n_parameters_, **values})


def load_reranker(path: str | os.PathLike[str] | Input) -> Reranker:
    """Read a model file.

    Raises:
        DataError: not a model file, a damaged one, or a model of another kind.
    """
    header, arrays = read_model(path, KINDS)
    return _model(path, header, arrays)


def save_checkpoint(path: str | os.PathLike[str], model: Reranker, header: Mapping[str, Any]) -> None:
    """Write all that a training needs to go on, whole or not at all."""
    arrays, values = model.training_state()
    write_model(path, CHECKPOINT, arrays, {**header, **values})


def load_checkpoint(
    path: str | os.PathLike[str],
) -> tuple[Reranker, dict[str, np.ndarray], dict[str, Any], list[str]]:
    """The model as it was, the arrays and values to go on with, and digests of the inputs."""
    header, arrays = read_model(path, CHECKPOINT_KINDS)
    model = _model(path, header, arrays)
    try:
        inputs = [value_of(record, "sha256", str) for record in value_of(header, "inputs", list)]
        require("best" in header, "best is missing")
        seconds = value_of(header, "seconds", list)
        require(len(seconds) == model.n_iter_, "seconds are not those of the epochs")
        require(all(type(elapsed) in (int, float) for elapsed in seconds), "seconds are no numbers")
    except ValueError as error:
        raise _damaged(path, error) from None
    return model, arrays, header, inputs


def _model(
    path: str | os.PathLike[str] | Input, header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> Reranker:
    try:
        return reranker_from_state(arrays, header)
    except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
        raise _damaged(path, error) from None


def _damaged(path: str | os.PathLike[str] | Input, error: Exception) -> DataError:
    name = path.name if isinstance(path, Input) else os.fspath(path)
    return DataError(name, None, f"the model is damaged: {error}")
