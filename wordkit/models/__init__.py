"""Models, one module a method; the classes are imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "BagOfWords": "bag_of_words",
    "BrownClustering": "brown",
    "Counts": "cooccurrence",
    "DependencyParser": "dependency_parser",
    "DualClusteringClassifier": "dcme_classifier",
    "DualClusteringEmbedding": "dcme",
    "EmbeddingModel": "embedding_model",
    "ForestCoder": "sparse_coding",
    "HiddenMarkovTree": "hmtm",
    "Mira": "rerankers",
    "PairwiseElasticNet": "trace_lasso",
    "Perceptron": "rerankers",
    "RPAClassifier": "rpa",
    "RegressionModel": "regression_model",
    "TensorMira": "rerankers",
    "TextClassifier": "text_classifier",
    "TreeCorpus": "tree_corpus",
    "count_cooccurrences": "cooccurrence",
    "pmi": "association",
    "read_corpus": "tree_corpus",
    "TreeModel": "tree_model",
    "TraceLasso": "trace_lasso",
    "TraceLassoCV": "regression_path",
    "trace_lasso_path": "regression_path",
    "trace_norm_penalty": "trace_norm",
}

__all__ = [
    "BagOfWords",
    "BrownClustering",
    "Counts",
    "DependencyParser",
    "DualClusteringClassifier",
    "DualClusteringEmbedding",
    "EmbeddingModel",
    "ForestCoder",
    "HiddenMarkovTree",
    "Mira",
    "PairwiseElasticNet",
    "Perceptron",
    "RPAClassifier",
    "RegressionModel",
    "TensorMira",
    "TextClassifier",
    "TraceLasso",
    "TraceLassoCV",
    "TreeCorpus",
    "TreeModel",
    "count_cooccurrences",
    "pmi",
    "read_corpus",
    "trace_lasso_path",
    "trace_norm_penalty",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"wordkit.models.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
