"""Accuracy, F1 and confusion of a classifier on labelled documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordkit.evaluation.result import Result


def classification_result(
    gold: np.ndarray, predicted: np.ndarray, *, data: str, covered: int, known: np.ndarray
) -> Result:
    """Score predicted against gold labels (string arrays of length n).

    ``accuracy``; ``macro_f1``, unweighted over the labels that occur in gold or predictions (an F1 without any true
    positive is 0); ``micro_f1``, equal to accuracy when every document has one label. Details: ``per_class`` (precision,
    recall, f1, support), ``confusion`` (``labels`` and ``counts``, a row a gold label, a column a predicted one) and
    ``unseen_labels``: gold labels that the model does not know, which count as errors.
    """
    labels, codes = np.unique(np.concatenate([gold, predicted]), return_inverse=True)
    g, p = codes[: len(gold)], codes[len(gold) :]
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (g, p), 1)
    hits = np.diag(counts).astype(float)
    support, claimed = counts.sum(axis=1), counts.sum(axis=0)
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
            "confusion": {"labels": [str(x) for x in labels], "counts": counts.tolist()},
            "unseen_labels": [str(x) for x in np.setdiff1d(gold, known)],
        },
    )


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
