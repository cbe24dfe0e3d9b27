"""Models, one module a method; the classes are imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "BagOfWords": "bag_of_words",
    "BrownClustering": "brown",
    "DualClusteringEmbedding": "dcme",
    "EmbeddingModel": "embedding_model",
    "HiddenMarkovTree": "hmtm",
    "RPAClassifier": "rpa",
    "TextClassifier": "text_classifier",
    "TreeCorpus": "tree_corpus",
    "read_corpus": "tree_corpus",
    "TreeModel": "tree_model",
}

__all__ = [
    "BagOfWords",
    "BrownClustering",
    "DualClusteringEmbedding",
    "EmbeddingModel",
    "HiddenMarkovTree",
    "RPAClassifier",
    "TextClassifier",
    "TreeCorpus",
    "TreeModel",
    "read_corpus",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"wordkit.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
