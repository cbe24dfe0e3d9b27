"""Sentences as averages of vectors: policies, the choice of the penalty, scores against scikit-learn called by hand."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.sentences import GRID, Sentences, average, logistic_regression, sentences_result, tune
from wordkit.formats.labelled import Documents

WORDS = ["a", "b", "x", "A"]
KNOWN = KnownVectors("v.vec", {"a": 0, "b": 1}, np.array([[1.0, 0], [0, 2]]), np.array([3.0, 3.0]))


def documents(*sentences) -> Documents:
    ids = [WORDS.index(word) for sentence in sentences for word in sentence]
    ends = np.cumsum([len(sentence) for sentence in sentences])
    labels = np.arange(len(sentences)) % 2
    return Documents(np.array(ids, dtype=np.int32), ends.astype(np.int64), labels.astype(np.int32))


def made(seed: int, n: int, dim: int = 6, scale: float = 1.0) -> Sentences:
    """Sentences whose label a direction and noise decide."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, dim))
    labels = np.where(vectors[:, 0] + rng.standard_normal(n) > 0, "good", "bad")
    return Sentences(scale * vectors, labels, np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64))


@pytest.mark.parametrize(
    ("unknown", "expected", "known"),
    [
        ("skip", [[0.5, 1], [1, 0], [0, 0], [0, 0]], [2, 2, 0, 0]),
        ("zero", [[0.5, 1], [2 / 4, 0], [0, 0], [0, 0]], [2, 2, 0, 0]),
        ("mean", [[0.5, 1], [8 / 4, 6 / 4], [3, 3], [0, 0]], [2, 2, 0, 0]),
        ("lowercase", [[0.5, 1], [1, 0], [0, 0], [0, 0]], [2, 3, 0, 0]),
    ],
)
def test_averages_of_tokens(unknown, expected, known):
    found = average(documents("ab", "aaxA", "x", ""), WORDS, ["p", "q"], KNOWN, unknown=unknown)
    np.testing.assert_allclose(found.vectors, expected, rtol=1e-15)
    assert found.known.tolist() == known and found.tokens.tolist() == [2, 4, 1, 0]
    assert found.labels.tolist() == ["p", "q", "p", "q"]
    with pytest.raises(ValueError, match="drop"):
        average(documents("ab"), WORDS, ["p"], KNOWN, unknown="drop")


def test_the_best_penalty_on_dev_is_that_of_scikit_learn_by_hand():
    linear_model = pytest.importorskip("sklearn.linear_model")
    train, dev, test = made(1, 60, 20), made(2, 80, 20), made(3, 200, 20)
    tuned = tune(train, dev)
    scale = np.sqrt((train.vectors**2).sum() / 60)
    models = [linear_model.LogisticRegression(C=C, tol=1e-6, max_iter=1000) for C in GRID]
    models = [model.fit(train.vectors / scale, train.labels) for model in models]
    on_dev = [model.score(dev.vectors / scale, dev.labels) for model in models]
    best = int(np.argmax(on_dev))
    assert [accuracy for _, accuracy in tuned.grid] == on_dev and len(set(on_dev)) > 2
    assert tuned.dev_accuracy == on_dev[best] and pytest.approx(GRID[best] / scale**2) == tuned.C
    found = sentences_result(tuned, test, data="t", unknown="skip", ignore_case=False)
    assert found.metrics["accuracy"] == models[best].score(test.vectors / scale, test.labels) > 0.6
    assert found.details["grid"][f"{tuned.C:.6g}"] == tuned.dev_accuracy and tuned.converged
    # C is that of the vectors as they are
    plain = linear_model.LogisticRegression(C=tuned.C, max_iter=10_000, tol=1e-8).fit(
        train.vectors, train.labels
    )
    np.testing.assert_allclose(
        plain.coef_, tuned.model.coef_ / scale, rtol=0, atol=1e-3 * np.abs(plain.coef_).max()
    )


def test_the_length_of_the_vectors_does_not_matter():
    pytest.importorskip("sklearn")
    one, other = (tune(made(1, 60, 20, scale), made(2, 80, 20, scale)) for scale in (1.0, 1e-4))
    assert one.dev_accuracy == other.dev_accuracy and pytest.approx(1e8 * one.C) == other.C


def test_coverage_and_labels_that_training_lacks():
    pytest.importorskip("sklearn")
    tuned = tune(made(1, 60), made(2, 60))
    test = made(3, 10)
    test = Sentences(
        test.vectors, np.where(np.arange(10) < 4, "new", test.labels), np.arange(10), np.full(10, 9)
    )
    found = sentences_result(tuned, test, data="t", unknown="zero", ignore_case=True)
    assert (found.covered, found.total) == (9, 10) and found.details["unseen_labels"] == ["new"]
    assert (
        found.metrics["accuracy"] <= 0.6
        and found.details["known_tokens"] == 45
        and found.details["tokens"] == 90
    )
    nothing = Sentences(test.vectors[:0], test.labels[:0], test.known[:0], test.tokens[:0])
    assert (
        sentences_result(tuned, nothing, data="t", unknown="skip", ignore_case=False).metrics["accuracy"]
        is None
    )


def test_all_vectors_zero_is_the_more_frequent_label():
    pytest.importorskip("sklearn")
    data = Sentences(np.zeros((3, 2)), np.array(["a", "b", "b"]), np.ones(3, np.int64), np.ones(3, np.int64))
    assert tune(data, data).dev_accuracy == pytest.approx(2 / 3)


def test_data_that_cannot_be_learned_from():
    pytest.importorskip("sklearn")
    train = made(1, 20)
    one = Sentences(train.vectors, np.full(20, "a"), train.known, train.tokens)
    none = Sentences(train.vectors[:0], train.labels[:0], train.known[:0], train.tokens[:0])
    for first, second, says in (
        (one, train, "label `a`"),
        (none, train, "no document"),
        (train, none, "development"),
    ):
        with pytest.raises(WordkitError, match=says):
            tune(first, second)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(WordkitError, match=r"scikit-learn.*eval"):
        logistic_regression()
