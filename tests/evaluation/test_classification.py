"""Accuracy, F1 and confusion, against scikit-learn."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from wordkit.evaluation.classification import classification_result

labels = st.sampled_from(["a", "b", "c", "naïve", "語"])


def result(gold, predicted, known=("a", "b", "c")):
    as_array = [np.array(x, dtype=str) for x in (gold, predicted, known)]
    return classification_result(*as_array[:2], data="x", covered=len(gold), known=as_array[2])


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=30))
def test_equals_scikit_learn(pairs):
    gold, predicted = zip(*pairs, strict=True)
    mine = result(gold, predicted)
    assert mine.metrics["accuracy"] == pytest.approx(metrics.accuracy_score(gold, predicted))
    for average in ("macro", "micro"):
        theirs = metrics.f1_score(gold, predicted, average=average, zero_division=0.0)
        assert mine.metrics[f"{average}_f1"] == pytest.approx(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = metrics.precision_recall_fscore_support(gold, predicted, zero_division=0.0)
        counts = metrics.confusion_matrix(gold, predicted)
    names = mine.details["confusion"]["labels"]
    assert names == sorted({*gold, *predicted})
    for place, name in enumerate(names):
        per_class = mine.details["per_class"][name]
        values = [per_class[key] for key in ("precision", "recall", "f1", "support")]
        assert values == pytest.approx([part[place] for part in theirs])
    assert mine.details["confusion"]["counts"] == counts.tolist()
    json.dumps(mine.as_dict(), allow_nan=False)


def test_u046_unseen_labels_count_as_errors():
    mine = result(["a", "z", "y", "z"], ["a", "a", "b", "b"], known=["a", "b"])
    assert mine.metrics["accuracy"] == 0.25 and mine.total == 4
    assert mine.details["unseen_labels"] == ["y", "z"]
    assert mine.details["per_class"]["z"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 2}


def test_u082_nothing_to_score():
    mine = result([], [])
    assert mine.metrics == {"accuracy": None, "macro_f1": None, "micro_f1": None}
    assert mine.total == 0 and mine.details["per_class"] == {}


def test_u052_rare_class_shows():
    mine = result(["a"] * 98 + ["b"] * 2, ["a"] * 100)
    assert mine.metrics["accuracy"] == 0.98
    assert mine.metrics["macro_f1"] == pytest.approx(0.98 / 1.98)
    assert mine.details["per_class"]["b"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 2}
    assert mine.details["confusion"] == {"labels": ["a", "b"], "counts": [[98, 0], [2, 0]]}
