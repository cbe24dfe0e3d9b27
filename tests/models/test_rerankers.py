"""Rerankers: what they learn, which epoch they keep, and that a fit goes on to the same bytes."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from tests.kernels.rerank_cases import lists_of, random_lists
from wordkit.errors import Interrupted, WordkitError
from wordkit.evaluation.reranking import aggregated_fscore, chosen_quality
from wordkit.formats.nbest import NbestLists, read_lists
from wordkit.formats.nbest_counts import read_counts
from wordkit.models import Mira, Perceptron, TensorMira, nbest_corpus
from wordkit.models.nbest_corpus import FeatureTable, ListCorpus, Packer, first_best, pack_lists
from wordkit.models.rerankers import RERANKERS, reranker_from_state
from wordkit.monitor import Monitor

MODELS = {
    "tmira": lambda **more: TensorMira(epochs=4, **more),
    "tmira, two components": lambda **more: TensorMira(epochs=4, rank=2, order=3, plain=2, **more),
    "tmira, averaged": lambda **more: TensorMira(
        epochs=4, mapping="sequential", average=True, rank=2, **more
    ),
    "tmira, modes averaged": lambda **more: TensorMira(epochs=4, average=True, average_of="modes", **more),
    "tmira, zero": lambda **more: TensorMira(epochs=4, start="zero", rival="cost", standardize=True, **more),
    "mira": lambda **more: Mira(epochs=4, average=True, C=0.01, **more),
    "perceptron": lambda **more: Perceptron(epochs=4, **more),
}


@pytest.fixture(scope="module")
def sample(samples):
    lists = read_lists(samples / "nbest.txt")
    return lists, read_counts(samples / "nbest.counts", lists.candidate_qids())[1]


class StopAfter(Monitor):
    def __init__(self, epochs: int) -> None:
        self.left = epochs

    def epoch(self, record) -> None:
        self.left -= 1
        self.stopping = self.left == 0


@pytest.mark.parametrize("name", MODELS)
def test_learns_the_sample(sample, name):
    lists, counts = sample
    model = MODELS[name]().fit(lists, counts)
    losses = [record["loss"] for record in model.history_]
    assert losses[-1] < 0.8 * losses[0]
    _, first = chosen_quality(lists.starts, lists.scores, counts, np.zeros(len(lists), int))
    assert name == "tmira, averaged" or model.score(lists, counts) > first + 0.01
    assert [record["epoch"] for record in model.history_] == [1, 2, 3, 4] and model.n_iter_ == 4
    assert model.history_[-1]["train_fscore"] == model.score(lists, counts)
    chosen, values = model.predict(lists), model.decision_function(lists)
    assert np.array_equal(chosen, first_best(values, lists.starts))


@pytest.mark.parametrize("name", MODELS)
def test_state_and_parameters_come_back(sample, name):
    lists, _ = sample
    model = MODELS[name](seed=3).fit(lists)
    again = reranker_from_state(*model.state())
    assert type(again) is type(model) and again.get_params() == model.get_params()
    assert again.decision_function(lists).tobytes() == model.decision_function(lists).tobytes()
    assert again.n_parameters_ == model.n_parameters_ and again.history_ == model.history_
    same = type(model)(**model.get_params())
    assert repr(same) == repr(model)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(lam=1)
    with pytest.raises(AttributeError, match="not fitted"):
        type(model)().predict(lists)


@pytest.mark.parametrize("name", MODELS)
def test_an_interrupted_fit_goes_on_to_the_same_bytes(sample, name):
    lists, counts = sample
    dev = lists.part(0, 20)

    def packed(model):
        corpus = ListCorpus()
        corpus.add(lists)
        table = model.choose_features(corpus)
        return corpus.pack(table), table, counts, pack_lists([dev], table)[0]

    whole = MODELS[name]()
    whole.fit_packed(*packed(whole))
    part = MODELS[name]()
    with pytest.raises(Interrupted, match="after 2 of 4"):
        part.fit_packed(*packed(part), monitor=StopAfter(2))
    state = part.training_state()
    resumed = reranker_from_state(*state)
    resumed.fit_packed(*packed(resumed), earlier=state)
    assert {key: value.tobytes() for key, value in resumed.training_state()[0].items()} == {
        key: value.tobytes() for key, value in whole.training_state()[0].items()
    }
    assert resumed.training_state()[1] == whole.training_state()[1]


@pytest.mark.parametrize("name", MODELS)
def test_threads_change_nothing_and_seeds_do(sample, name):
    lists, _ = sample
    one, two, other = (MODELS[name](**more).fit(lists) for more in ({}, {"threads": 2}, {"seed": 2}))
    assert one.decision_function(lists).tobytes() == two.decision_function(lists).tobytes()
    assert one.decision_function(lists).tobytes() != other.decision_function(lists).tobytes()
    assert one.state()[1] == two.state()[1]


def test_order_one_is_mira_to_the_bit():
    lists = lists_of(random_lists(1, lists=200, width=50))
    for how in ({}, {"average": True}, {"rival": "cost"}, {"step": "printed"}):
        mira = Mira(C=0.05, epochs=3, **how).fit(lists)
        more = {"average_of": "modes"} if how.get("average") else {}
        tensor = TensorMira(order=1, rank=1, mapping="sequential", C=0.05, epochs=3, **how, **more).fit(lists)
        assert np.array_equal(tensor.weights_.feature_weights(), mira.weights_.weights)
        assert tensor.n_parameters_ == mira.n_parameters_ == 50


def test_an_average_of_tensors_is_the_average_of_the_weights():
    lists = lists_of(random_lists(2, lists=50, width=30))
    how = {"rank": 2, "mapping": "sequential", "keep": "last"}
    ends = [TensorMira(epochs=n, **how).fit(lists).weights_.feature_weights() for n in (1, 2, 3)]
    averaged = TensorMira(epochs=3, average=True, **how).fit(lists)
    np.testing.assert_allclose(
        averaged.weights_.feature_weights(), np.mean(ends, axis=0), rtol=1e-12, atol=1e-15
    )
    assert averaged.weights_.vectors.shape[0] == 6


def test_the_best_epoch_is_kept():
    lists, dev = lists_of(random_lists(3, lists=60)), lists_of(random_lists(4, lists=60))
    model = Perceptron(epochs=12, average=False).fit(lists, dev=dev)
    values = [record["dev_mean_score"] for record in model.history_]
    assert model.best_epoch_ == 1 + int(np.argmax(values)) and model.score(dev) == max(values)
    assert min(values) < max(values)
    last = Perceptron(epochs=12, average=False, keep="last").fit(lists, dev=dev)
    assert last.best_epoch_ == 12 and last.score(dev) == values[-1]
    assert np.array_equal(model.last_weights_.weights, last.weights_.weights)


def test_features_past_the_training_range_and_left_out_count_nothing():
    lists = lists_of(random_lists(5, lists=30, width=10))
    model = Mira(epochs=2).fit(lists)
    wider = NbestLists(
        np.array([1]), np.array([0, 2]), np.zeros(2), np.array([0, 2, 3]), np.array([3, 999, 3], np.int32),
        np.array([1, 50, 1], np.float32), np.arange(2),
    )  # fmt: skip
    values = model.decision_function(wider)
    assert values[0] == values[1] == model.weights_.weights[3]
    assert model.predict(wider).tolist() == [0]


def test_the_threshold_counts_lists_in_which_a_feature_varies():
    made = [
        [(0.0, [1, 1, 0, 5]), (1.0, [1, 0, 2, 5])],
        [(0.0, [0, 1, 2, 5]), (1.0, [0, 0, 0, 0])],
        [(0.0, [1, 0, 3, 0]), (1.0, [1, 0, 3, 0])],
    ]
    corpus = ListCorpus()
    corpus.add(lists_of(made))
    assert corpus.lists_of.tolist() == [0, 2, 2, 1]
    assert corpus.choose(0).indices.tolist() == [0, 1, 2, 3]
    assert corpus.choose(1).indices.tolist() == [1, 2, 3]
    assert corpus.choose(2).indices.tolist() == [1, 2]
    assert corpus.choose(1, plain=1).indices.tolist() == [1, 2, 3]
    assert corpus.choose(0, plain=2).indices.tolist() == [1, 2, 0, 3]
    with pytest.raises(WordkitError, match=r"none of 3 features varies in 3 lists or more \(the most: 2\)"):
        corpus.choose(3)
    packed = corpus.pack(corpus.choose(2))
    assert packed.places.dtype == np.uint16 and isinstance(packed.places.base, np.memmap)
    assert packed.starts.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("how", [{}, {"standardize": True, "min_feature_count": 3}])
def test_indices_that_are_far_apart_cost_no_memory(monkeypatch, how):
    """Numbered as they occur: the same models to the bit, and nothing for what lies between them."""
    lists, dev = (
        lists_of(random_lists(seed, lists=40, width=30, density=density))
        for seed, density in ((9, 0.2), (10, 0.4))
    )
    spread = np.sort(np.random.default_rng(1).choice(2**31 - 1, 30, replace=False)).astype(np.int32)
    far, far_dev = (replace(some, indices=spread[some.indices]) for some in (lists, dev))
    for kind in (functools.partial(TensorMira, plain=4), Mira):
        near, model = (kind(epochs=2, **how).fit(some) for some in (lists, far))
        assert np.array_equal(model.table_.indices, spread[near.table_.indices])
        assert model.decision_function(far_dev).tobytes() == near.decision_function(dev).tobytes()
        assert reranker_from_state(*model.state()).predict(far_dev).tolist() == near.predict(dev).tolist()
        assert near.decision_function(far).tolist() != near.decision_function(lists).tolist()
    with pytest.raises(WordkitError, match="too many to keep all"):
        Mira(min_feature_count=0).fit(far)
    # Great indices that come late: what was counted before stays.
    monkeypatch.setattr(nbest_corpus, "MOST_PLACES", 20)
    corpus, whole = ListCorpus(), ListCorpus()
    whole.add(lists)
    expected = whole.lists_of
    for first in range(0, len(lists), 10):
        corpus.add(lists.part(first, min(first + 10, len(lists))))
    varying = np.flatnonzero(expected)
    assert np.array_equal(corpus.known[corpus.lists_of > 0], varying)
    assert np.array_equal(corpus.lists_of[corpus.lists_of > 0], expected[varying])


def test_standardized_values():
    lists = lists_of(random_lists(6, lists=100, width=5, density=1.0))
    corpus = ListCorpus()
    corpus.add(lists)
    packed = corpus.pack(corpus.choose(1, standardize=True))
    scaled = np.zeros((len(packed.scores), 5))
    for s in range(len(packed)):
        for c in range(packed.starts[s], packed.starts[s + 1]):
            at = slice(packed.ends[c], packed.ends[c + 1])
            scaled[c, packed.features[packed.firsts[s] + packed.places[at]]] = packed.values[at]
        own = slice(packed.starts[s], packed.starts[s + 1])
        scaled[own] -= scaled[own].mean(axis=0)
    np.testing.assert_allclose((scaled**2).mean(axis=0), 1, rtol=1e-5)


def test_lists_with_more_features_than_sixteen_bits_hold():
    rng = np.random.default_rng(7)
    width = 70_000
    made = [
        [
            (float(c), (rng.random(width) < 0.97) * rng.standard_normal(width).astype(np.float32))
            for c in range(2)
        ]
    ]
    lists = NbestLists.join([lists_of(random_lists(8, lists=3)), lists_of(made)])
    lists.qids = np.arange(len(lists))
    table = FeatureTable(np.arange(width, dtype=np.int32), np.ones(width, np.float32))
    packed, unknown = pack_lists([lists], table)
    assert packed.places.dtype == np.int32 and unknown == 0
    whole = Packer(table).packed(lists)
    for a, b in zip(packed.arrays(), whole.arrays(), strict=True):
        assert np.array_equal(a, b)
    part = packed.part(3, 4)
    assert len(part) == 1 and part.starts.tolist() == [0, 2] and part.ends[0] == part.firsts[0] == 0
    assert np.array_equal(part.oracles, [1])
    assert Mira(epochs=1).fit(lists).weights_.weights.any()


def test_oracles_are_the_first_best():
    assert first_best(np.array([1, 3, 3, 2, 5, 5.0]), np.array([0, 3, 4, 6])).tolist() == [1, 0, 0]


def test_fscores():
    assert aggregated_fscore(np.array([[1, 2, 2], [3, 4, 3]])) == 2 * 4 / 11
    assert aggregated_fscore(np.zeros((2, 3))) is None
    starts, scores = np.array([0, 2, 3]), np.array([0.5, 1, 0.25])
    assert chosen_quality(starts, scores, None, np.array([1, 0])) == ("mean_score", 0.625)


def test_weights_that_become_infinite_are_told():
    made = [[(-1.5e308, [1e10] * 4), (1.5e308, [-1e10] * 4)] for _ in range(3)]
    for model in (Mira(C=1e300), TensorMira(C=1e300), TensorMira(C=1e300, plain=4)):
        with pytest.raises(WordkitError, match="infinite in epoch 1, at qid"):
            fit_unchecked(model, made)
    # Finite at each step, but not their sum; this was a model file that could not be written.
    made = [[(-8e307, [1.0, 2.0]), (8e307, [1.0, 1.0])] for _ in range(3)]
    with pytest.raises(WordkitError, match="infinite in epoch 1: take a smaller C"):
        fit_unchecked(Mira(rival="cost"), made)


def fit_unchecked(model, made) -> None:
    """As ``fit``, which refuses such scores at once."""
    corpus = ListCorpus()
    corpus.add(lists_of(made))
    table = model.choose_features(corpus)
    model.fit_packed(corpus.pack(table), table)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (TensorMira(order=0), "order"), (TensorMira(order=33), "order"), (TensorMira(rank=0), "rank"), (Mira(C=0), "C"),
        (Mira(rival="best"), "rival"), (Mira(step="long"), "step"), (TensorMira(mapping="random"), "mapping"),
        (TensorMira(modes=(2, 2)), "no room"), (Perceptron(epochs=0), "epochs"), (Perceptron(keep="worst"), "keep"),
        (Perceptron(min_feature_count=-1), "min_feature_count"), (TensorMira(start="one"), "start"),
        (TensorMira(average_of="all"), "average_of"), (TensorMira(plain=-1), "plain"),
    ],
)  # fmt: skip
def test_parameters_that_mean_nothing_are_refused(sample, model, says):
    with pytest.raises(ValueError, match=says):
        model.fit(sample[0])


def test_counts_that_do_not_fit_are_refused(sample):
    lists, counts = sample
    with pytest.raises(ValueError, match="counts must be"):
        Mira().fit(lists, counts[:-1])
    with pytest.raises(ValueError, match="counts must be"):
        Mira().fit(lists, counts, dev_counts=counts)
    model = Mira().fit(lists, counts.tolist())
    assert model.score(lists, counts.tolist()) == model.history_[-1]["train_fscore"]
    with pytest.raises(ValueError, match="counts must be"):
        model.score(lists, counts[:-1])
    assert model.score(lists.part(0, 0)) is None


def test_lists_of_arrays(sample):
    lists, _ = sample
    again = NbestLists.of_candidates(lists.candidate_qids(), lists.scores, lists.rows())
    assert repr(again) == repr(lists) == "NbestLists(60 lists, 600 candidates, 120 features)"
    dense = NbestLists.of_candidates(
        lists.candidate_qids().tolist(), lists.scores.tolist(), lists.rows().toarray()
    )
    expected = Mira().fit(lists).decision_function(lists).tobytes()
    for made in (again, dense):
        assert Mira().fit(made).decision_function(made).tobytes() == expected
    assert len(NbestLists.of_candidates([], [], np.empty((0, 3)))) == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"scores": np.zeros(9)}, "do not fit"), ({"starts": np.array([0, 600])}, "do not fit"),
        ({"values": np.zeros(9)}, "do not fit"),
        ({"indptr": np.zeros(601, int)}, "do not fit"), ({"qids": np.zeros(60, int)}, "comes twice"),
        ({"scores": np.full(600, np.nan)}, "not finite"), ({"scores": np.full(600, 1e101)}, "beyond 1e.100"),
    ],
)  # fmt: skip
def test_lists_that_are_none_are_refused(sample, wrong, says):
    model = Mira(epochs=1).fit(sample[0])
    for use in (Mira().fit, model.predict, model.decision_function):
        with pytest.raises(ValueError, match=says):
            use(replace(sample[0], **wrong))
    lists = sample[0]
    with pytest.raises(ValueError, match="negative"):
        model.predict(replace(lists, indices=lists.indices - 9))
    with pytest.raises(ValueError, match="not finite"):
        model.predict(replace(lists, values=lists.values * np.float32(np.inf)))
    with pytest.raises(ValueError, match="comes twice"):
        NbestLists.of_candidates([1, 2, 1], [0, 1, 2], np.eye(3))


@pytest.mark.parametrize("name", ["tmira, two components", "mira"])
def test_damaged_states_are_refused(sample, name):
    arrays, values = MODELS[name]().fit(sample[0]).state()
    for key, array in arrays.items():
        broken = [array[..., :-1], array.astype(np.float16)]
        if array.dtype.kind == "i":
            broken.append(np.full_like(array, -5))
        else:
            broken.append(np.full_like(array, np.nan))
        for other in broken:
            with pytest.raises(ValueError, match=r"is |are "):
                reranker_from_state({**arrays, key: other}, values)
        if key != "positions":  # without them, features stand one after the other
            with pytest.raises(ValueError, match="missing"):
                reranker_from_state({k: v for k, v in arrays.items() if k != key}, values)
    for key in values:
        for wrong in (None, 50, [], {}, "x", [7]):
            with pytest.raises(ValueError):
                reranker_from_state(arrays, {**values, key: wrong})
    assert set(RERANKERS) == {"tmira", "mira", "perceptron"}
