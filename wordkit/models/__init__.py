"""Models, one module a method; the classes are imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "BagOfWords": "bag_of_words",
    "BrownClustering": "brown",
    "Counts": "cooccurrence",
    "HiddenMarkovTree": "hmtm",
    "RPAClassifier": "rpa",
    "TextClassifier": "text_classifier",
    "TreeCorpus": "tree_corpus",
    "count_cooccurrences": "cooccurrence",
    "pmi": "association",
    "read_corpus": "tree_corpus",
    "TreeModel": "tree_model",
}

__all__ = [
    "BagOfWords",
    "BrownClustering",
    "Counts",
    "HiddenMarkovTree",
    "RPAClassifier",
    "TextClassifier",
    "TreeCorpus",
    "TreeModel",
    "count_cooccurrences",
    "pmi",
    "read_corpus",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"wordkit.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
