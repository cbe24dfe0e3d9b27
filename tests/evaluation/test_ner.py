"""Features of the entity tagger, and what it learns from them."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.evaluation.entities import Lexicon
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.ner import EntityTagger, TaggedData, items, ner_result
from wordkit.evaluation.token_features import vector_features
from wordkit.formats.tagged import Tagged
from wordkit.monitor import Monitor

SENTENCES = [["Ann", "saw", "Rome"], ["he", "met", "Ann"], ["Rome", "fell"]]
TAGS = [["I-PER", "O", "I-LOC"], ["O", "O", "I-PER"], ["I-LOC", "O"]]
POS = [["N", "V", "N"], ["P", "V", "N"], ["N", "V"]]


def vectors(scale=1.0):
    table = scale * np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.0]])
    return KnownVectors("v", {"Ann": 0, "Rome": 1, "Bob": 2}, table, table.mean(axis=0))


def data(sentences=SENTENCES, tags=TAGS, pos=POS, known=None):
    tokens = [word for words in sentences for word in words]
    return TaggedData(
        Tagged("n", sentences, tags, pos, width=3), vector_features(known, [tokens]) if known else []
    )


def test_features_of_a_token_and_its_neighbours():
    (first, second, _), *_ = items(data(known=vectors()))
    assert first == {
        "bias": 1.0, "edge[-1]": 1.0, "upper[0]": 1.0, "pos[0]": "N", "word[0]": "Ann", "r0[0]": {"0": 1.0},
        "lower[1]": 1.0, "pos[1]": "V", "word[1]": "saw",
    }  # fmt: skip
    assert second["r0[-1]"] == {"0": 1.0} and second["r0[1]"] == {"1": 1.0} and "r0[0]" not in second
    rows = list(items(data(pos=None), lexicalized=False, window=0))
    assert rows[1] == [{"bias": 1.0, "lower[0]": 1.0}] * 2 + [{"bias": 1.0, "upper[0]": 1.0}]
    assert list(items(data(), pos=False, lexicalized=False, window=0)) == rows
    assert next(items(data([["a"]], [["O"]], [["X"]]), window=2))[0].keys() == {
        "bias", "edge[-2]", "edge[-1]", "lower[0]", "pos[0]", "word[0]", "edge[1]", "edge[2]",
    }  # fmt: skip


class Told(Monitor):
    def __init__(self):
        self.total = self.done = 0

    def begin(self, total, unit):
        self.total, self.unit = total, unit

    def advance(self, done):
        self.done += done


def test_it_learns_iob2_from_words_and_generalizes_by_vectors():
    pytest.importorskip("pycrfsuite")
    monitor = Told()
    train = data(SENTENCES * 5, TAGS * 5, POS * 5, vectors())
    test = data([["Bob", "met", "Rome"]], [["O"] * 3], [["N", "V", "N"]], vectors())
    tagger = EntityTagger(lam=0.01, lexicalized=False, window=0).fit(train, monitor)
    assert tagger.predict(train) == [["B-PER", "O", "B-LOC"], ["O", "O", "B-PER"], ["B-LOC", "O"]] * 5
    assert tagger.predict(test) == [["B-PER", "O", "B-LOC"]]
    assert (
        tagger.converged
        and 0 < tagger.iterations <= monitor.done
        and tagger.n_features > 5
        and monitor.unit == "iterations"
    )
    again = EntityTagger(lam=0.01, lexicalized=False, window=0).fit(train)
    assert again.iterations == tagger.iterations


def test_the_length_of_vectors_does_not_matter():
    pytest.importorskip("pycrfsuite")
    found = []
    for factor in (1.0, 1024.0):
        train = data(SENTENCES * 5, TAGS * 5, POS * 5, vectors(factor))
        tagger = EntityTagger(lexicalized=False).fit(train)
        found.append((tagger.iterations, tagger.n_features, tagger.predict(train)))
    assert found[0] == found[1]


def test_nothing_to_learn_is_an_error():
    pytest.importorskip("pycrfsuite")
    with pytest.raises(WordkitError, match=r"n: holds no entity \(--scheme iob2\)"):
        EntityTagger(scheme="iob2").fit(data())


def test_results_beside_the_baseline():
    test = data([["Ann", "met", "Oslo"]], [["B-PER", "O", "I-PER"]], None)
    lexicon, tagger = Lexicon(SENTENCES, TAGS, "conlleval"), EntityTagger(iterations=7)
    result = ner_result(
        test, [["B-PER", "O", "B-PER"]], parameters={"scheme": "conlleval", "lam": 1}, train=data(), lexicon=lexicon,
        tagger=tagger,
    )  # fmt: skip
    assert result.metrics == {"precision": 1, "recall": 1, "f1": 1, "accuracy": 1, "baseline_f1": 2 / 3}
    assert (result.covered, result.total) == (2, 3)
    assert result.details["scheme_of_data"] == "mixed" and not result.details["pos_column"]
    assert result.details["baseline"]["entries"] == 2 and result.details["iterations"] == 7
    assert result.parameters == {"scheme": "conlleval", "lam": 1}
    as_given = ner_result(test, [["B-PER", "O", "B-PER"]], parameters={"scheme": "conlleval"}, as_given=True)
    assert as_given.metrics == {"precision": 1, "recall": 1, "f1": 1, "accuracy": 2 / 3}
    assert (as_given.covered, as_given.total) == (3, 3)
    represented = data([["Ann", "met", "Oslo"]], [["B-PER", "O", "O"]], None, vectors())
    assert ner_result(represented, [["O"] * 3], parameters={"scheme": "iob2"}, train=data()).covered == 1
