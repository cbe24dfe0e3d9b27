"""Accuracy, F1 and confusion of a classifier on labelled documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordkit.evaluation.result import Result, Sample

MOST_LABELS = 1000  # a table of confusion grows with the square


def classification_result(
    gold: np.ndarray, predicted: np.ndarray, *, data: str, covered: int, known: np.ndarray
) -> Result:
    """Score predicted against gold labels (string arrays of length n).

    ``accuracy``; ``macro_f1``, unweighted over the labels that occur in gold or predictions (an F1 without any true
    positive is 0); ``micro_f1``, equal to accuracy when every document has one label. Details: ``per_class`` (precision,
    recall, f1, support), ``confusion`` (``labels`` and ``counts``, a row a gold label, a column a predicted one; with over
    MOST_LABELS labels ``cells``, [gold, predicted, count] where the count is not 0) and
    ``unseen_labels``: gold labels that the model does not know, which count as errors.
    """
    labels, codes = np.unique(np.concatenate([gold, predicted]), return_inverse=True)
    g, p = codes[: len(gold)], codes[len(gold) :]
    hits = np.bincount(g[g == p], minlength=len(labels)).astype(float)
    support, claimed = np.bincount(g, minlength=len(labels)), np.bincount(p, minlength=len(labels))
    precision = _share(hits, claimed)
    recall = _share(hits, support)
    f1 = _share(2 * hits, support + claimed)
    accuracy = float(hits.sum() / len(gold)) if len(gold) else None
    per_class: dict[str, Any] = {
        str(label): {"precision": float(a), "recall": float(b), "f1": float(c), "support": int(n)}
        for label, a, b, c, n in zip(labels, precision, recall, f1, support, strict=True)
    }
    return Result(
        name="classification",
        data=data,
        metrics={
            "accuracy": accuracy,
            "macro_f1": float(f1.mean()) if len(labels) else None,
            "micro_f1": accuracy,
        },
        covered=covered,
        total=len(gold),
        details={
            "per_class": per_class,
            "confusion": _confusion([str(x) for x in labels], g, p),
            "unseen_labels": [str(x) for x in np.setdiff1d(gold, known)],
        },
        samples={"accuracy": Sample(np.arange(len(gold)), (g == p).astype(np.float64))},
    )


def _confusion(labels: list[str], gold: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    """The table of counts, or with too many labels for one its cells that are not 0 as [gold, predicted, count]."""
    if len(labels) <= MOST_LABELS:
        counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
        np.add.at(counts, (gold, predicted), 1)
        return {"labels": labels, "counts": counts.tolist()}
    cells, counts = np.unique(gold.astype(np.int64) * len(labels) + predicted, return_counts=True)
    rows = zip(*np.divmod(cells, len(labels)), counts, strict=True)
    return {"cells": [[labels[g], labels[p], int(n)] for g, p, n in rows]}


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
