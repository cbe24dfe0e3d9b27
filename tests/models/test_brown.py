"""Clustering of words as an estimator: hierarchy, numbers, data in parts, interruption."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from tests.reference import brown as twin
from wordkit.errors import DataWarning, Interrupted
from wordkit.models import agglomeration
from wordkit.models import brown as module
from wordkit.models.agglomeration import brown, exchange, joins
from wordkit.models.bigrams import Bigrams
from wordkit.models.brown import BrownClustering
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.monitor import Monitor

ALGORITHMS = ["brown", "exchange"]


@pytest.fixture(scope="module")
def sentences(samples):
    return [line.split() for line in (samples / "corpus.txt").read_text().splitlines()[:400]]


def partition(model) -> set[frozenset[str]]:
    return {
        frozenset(word for word, label in zip(model.words_, model.labels_, strict=True) if label == c)
        for c in range(len(model.paths_))
    }


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_attributes_belong_together(sentences, algorithm):
    model = BrownClustering(clusters=12, algorithm=algorithm).fit(sentences)
    words, counts = np.unique([w for sentence in sentences for w in sentence], return_counts=True)
    assert dict(zip(model.words_, model.counts_.tolist(), strict=True)) == dict(
        zip(words, counts, strict=True)
    )
    assert (np.diff(model.counts_) <= 0).all() and model.labels_.dtype == np.int32
    assert sorted(set(model.labels_.tolist())) == list(range(12))
    assert model.paths_ == sorted(model.paths_)
    assert model.mutual_information_ == pytest.approx(model.score(sentences), rel=1e-12)
    assert model.mutual_information_ == model.bigrams_.mutual_information(model.labels_) > 0.3
    assert model.bigrams_.total == sum(len(sentence) - 1 for sentence in sentences)
    assert model.transform([model.words_[5], "zzz"]).tolist() == [model.labels_[5], -1]
    assert model.transform([]).shape == (0,)
    again = BrownClustering(clusters=12, algorithm=algorithm).fit(sentences)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert again.paths_ == model.paths_


def test_bit_strings_are_a_binary_tree_whose_merges_lose_least(sentences):
    model = BrownClustering(clusters=12).fit(sentences)
    for a, b in itertools.combinations(model.paths_, 2):
        assert not a.startswith(b) and not b.startswith(a)
    assert sum(2.0 ** -len(path) for path in model.paths_) == 1  # each inner node has two children
    classes = model.labels_
    pairs = joins(model.bigrams_, classes)
    N = model.bigrams_.class_counts(classes, 12)
    place, active = {c: c for c in range(12)}, np.ones(12, bool)
    for k, (a, b) in enumerate(pairs.tolist()):
        loss = twin.losses(N, active)
        first, second = place.pop(a), place.pop(b)
        assert a < b and loss[first, second] <= loss.min() + 1e-9
        N, active[second] = twin.merged(N, first, second), False
        place[12 + k] = first
    assert list(place) == [22]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_as_the_twin_on_counts_without_ties(algorithm):
    random = np.random.default_rng(5)
    for V, C in ((9, 3), (9, 1), (6, 6), (4, 9)):
        counts = random.integers(1, 10**5, (V, V))
        bigrams = Bigrams.from_counts(*np.nonzero(counts), counts.ravel(), V)
        if algorithm == "brown":
            classes = brown(bigrams, C)
            mine = {frozenset(np.flatnonzero(classes == c)) for c in range(classes.max() + 1)}
            assert mine == {frozenset(members) for members in twin.greedy(counts, C)}
        else:
            classes = exchange(bigrams, C, sweeps=30)
            values = [twin.best_move(counts, classes, classes.max() + 1, word)[1] for word in range(V)]
            best = twin.objective(twin.table(counts, classes, classes.max() + 1))
            alone = np.bincount(classes)[classes] == 1
            assert all(v.max() <= best + 1e-6 for v, only in zip(values, alone, strict=True) if not only)
        assert classes.dtype == np.int32 and sorted(set(classes)) == list(range(min(C, V)))


def test_sweeps_never_lower_the_objective(sentences):
    values = [
        BrownClustering(clusters=12, algorithm="exchange", sweeps=n).fit(sentences).mutual_information_
        for n in (1, 2, 3, 10)
    ]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values)) and values[-1] > values[0]


@pytest.mark.parametrize("step", [1, 7, 256])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_steps_between_looks_at_the_monitor_change_nothing(sentences, algorithm, step, monkeypatch):
    whole = BrownClustering(clusters=7, algorithm=algorithm).fit(sentences[:80])
    monkeypatch.setattr(agglomeration, "_STEP", step)
    parts = BrownClustering(clusters=7, algorithm=algorithm).fit(sentences[:80])
    np.testing.assert_array_equal(whole.labels_, parts.labels_)


def test_table_of_x_log_x_may_be_short(sentences, monkeypatch):
    whole = BrownClustering(clusters=7).fit(sentences[:80])
    monkeypatch.setattr(agglomeration, "_TABLE", 3)
    short = BrownClustering(clusters=7).fit(sentences[:80])
    assert short.mutual_information_ == pytest.approx(whole.mutual_information_, rel=1e-9)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("structure", ["chain", "tree"])
def test_partial_fit_equals_fit_on_all_data(sentences, algorithm, structure):
    """Words of equal count come in another order in parts, and so do ties: all counts differ here."""
    data = [sentence[:6] for sentence in sentences[:60]]
    data += [[f"only{i}"] * (i + 1) for i in range(3)]
    heads = [[0, *(1 for _ in sentence[1:])] for sentence in data]
    parameters = {"clusters": 5, "algorithm": algorithm, "structure": structure}
    whole = BrownClustering(**parameters).fit(data, heads)
    parts = BrownClustering(**parameters)
    for part in (slice(0, 20), slice(20, 21), slice(21, None)):
        assert parts.partial_fit(data[part], heads[part]) is parts
    assert dict(zip(parts.words_, parts.counts_.tolist(), strict=True)) == dict(
        zip(whole.words_, whole.counts_.tolist(), strict=True)
    )
    order = [parts.words_.index(word) for word in whole.words_]
    rows, columns, counts = cells(parts.bigrams_)
    assert sorted(
        zip(*(np.argsort(order)[side].tolist() for side in (rows, columns)), counts.tolist(), strict=True)
    ) == sorted(zip(*map(np.ndarray.tolist, cells(whole.bigrams_)), strict=True))
    assert len(parts.paths_) == 5


def cells(bigrams):
    starts, numbers, counts = bigrams.successors
    return np.repeat(np.arange(bigrams.size), np.diff(starts)), numbers, counts


def test_partial_fit_in_the_same_order_is_the_same():
    data = [["a"] * 9 + ["b"] * 7, ["c"] * 5 + ["a", "d", "b", "d", "c", "d"], ["e", "a", "e", "b"]]
    whole = BrownClustering(clusters=3).fit(data)
    parts = BrownClustering(clusters=3).partial_fit([*data[:1], ["c"]]).partial_fit([["c"] * 4 + data[1][5:]])
    assert BrownClustering(clusters=3).partial_fit(data).labels_.tolist() == whole.labels_.tolist()
    parts.partial_fit(data[2:])
    assert parts.words_ == whole.words_ and parts.counts_.tolist() == whole.counts_.tolist()


def test_trees(samples):
    corpus = read_corpus([samples / "trees.conllu"])
    model = BrownClustering(clusters=10, structure="tree").fit(corpus)
    assert model.mutual_information_ == pytest.approx(model.score(corpus), rel=1e-12)
    chain = BrownClustering(clusters=10).fit(read_corpus([samples / "trees.conllu"], structure="chain"))
    assert partition(chain) != partition(model)


def test_rare_words(sentences):
    corpus = TreeCorpus.from_sentences(sentences, min_count=5)
    model = BrownClustering(clusters=8).fit(corpus)
    assert "-*-" not in model.words_ and model.counts_.min() >= 5 and model.bigrams_.n_dropped > 0
    both = BrownClustering(clusters=8).fit(corpus, rare=True)
    assert "-*-" in both.words_ and both.bigrams_.n_dropped == 0
    same = BrownClustering(clusters=8, min_count=5).fit(sentences)
    assert partition(same) == partition(model) and same.bigrams_.n_dropped == model.bigrams_.n_dropped


def test_u069_more_clusters_than_words():
    for algorithm in ALGORITHMS:
        with pytest.warns(DataWarning, match="2 words make no 10 clusters: each has its own"):
            model = BrownClustering(clusters=10, algorithm=algorithm).fit([["a", "b", "a", "b"]])
        assert model.paths_ == ["0", "1"] and sorted(model.labels_.tolist()) == [0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BrownClustering(clusters=2).fit([["a", "b", "a", "b"]])


def test_one_cluster_and_no_bigram():
    for algorithm in ALGORITHMS:
        model = BrownClustering(clusters=1, algorithm=algorithm).fit([["a", "b", "a"]])
        assert model.paths_ == ["0"] and model.labels_.tolist() == [0, 0] and model.mutual_information_ == 0
        model = BrownClustering(clusters=2, algorithm=algorithm).fit([["a"], ["b"], ["c"]])
        assert model.paths_ == ["0", "1"] and model.mutual_information_ == 0


def test_parameters_and_data_that_do_not_fit():
    for wrong in (
        {"clusters": 0}, {"clusters": 2.5}, {"clusters": "many"}, {"clusters": 2**31}, {"algorithm": "greedy"},
        {"structure": "graph"}, {"min_count": 0}, {"sweeps": -1},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(wrong))):
            BrownClustering(**wrong).fit([["a", "b"]])
    with pytest.raises(ValueError, match="heads"):
        BrownClustering(structure="tree").fit([["a", "b"]])
    with pytest.raises(ValueError, match="no word to cluster"):
        BrownClustering(min_count=3).fit([["a", "b"]])
    with pytest.raises(ValueError, match="no sentence"):
        BrownClustering().fit([])
    for call in ("transform", "score"):
        with pytest.raises(ValueError, match="not fitted"):
            getattr(BrownClustering(), call)([["a"]])
    model = BrownClustering(clusters=3, min_count=2)
    assert model.get_params()["clusters"] == 3 and repr(model) == "BrownClustering(clusters=3, min_count=2)"
    assert model.set_params(clusters=4) is model and model.clusters == 4


class Stopping(Monitor):
    def __init__(self, after):
        self.after, self.done, self.total = after, 0, 0

    def begin(self, total, unit):
        self.total = total

    def advance(self, done):
        self.done += done
        self.stopping = self.done >= self.after


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_interrupted_leaves_what_was(sentences, algorithm, monkeypatch):
    monkeypatch.setattr(agglomeration, "_STEP", 10)
    model = BrownClustering(clusters=5, algorithm=algorithm)
    with pytest.raises(Interrupted, match=r"interrupted after 30 of \d+ words"):
        model.fit(sentences, monitor=Stopping(25))
    assert not [name for name in vars(model) if name.endswith("_")]
    model.fit([["a", "b", "c", "d", "e", "f"]])
    before = model.labels_.tolist()
    for call in (model.fit, model.partial_fit):
        with pytest.raises(Interrupted):
            call(sentences, monitor=Stopping(25))
        assert model.labels_.tolist() == before and len(model.words_) == 6 == model.bigrams_.size
    monitor = Stopping(10**9)
    model.fit(sentences, monitor=monitor)
    assert monitor.done == monitor.total if algorithm == "brown" else monitor.done <= monitor.total


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_u079_stopped_in_the_hierarchy_is_interrupted(sentences, algorithm, monkeypatch):
    monitor = Monitor()

    def joins_and_stop(*arguments):
        monitor.stopping = True
        return joins(*arguments)

    monkeypatch.setattr(module, "joins", joins_and_stop)
    model = BrownClustering(clusters=5, algorithm=algorithm)
    with pytest.raises(Interrupted, match="in the hierarchy"):
        model.fit(sentences[:80], monitor=monitor)
    assert not [name for name in vars(model) if name.endswith("_")]
