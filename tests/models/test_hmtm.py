"""Hidden Markov tree models: learning, interruption, threads, what a fitted model gives."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.errors import Interrupted
from wordkit.models.brown import BrownClustering
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.hmtm_inference import Exact, Projected
from wordkit.models.hmtm_statistics import Statistics
from wordkit.models.tree_corpus import TreeCorpus
from wordkit.monitor import Monitor

MODES = [
    {"projection": "kbest", "k": 4},
    {"projection": "ebest", "epsilon": 0.05},
    {"projection": "exact"},
    {"projection": "exact", "method": "batch"},
    {"projection": "kbest", "k": 3, "method": "batch"},
]


def sampled(seed, sentences=300, classes=5, words=40, length=8):
    """Words, heads and labels drawn from a peaked model: a class emits a few words, and is followed by a few classes."""
    random = np.random.default_rng(seed)
    model = np.random.default_rng(7)
    follow = model.dirichlet(np.full(classes, 0.2), classes)
    emit = model.dirichlet(np.full(words, 0.1), classes)
    texts, heads, labels = [], [], []
    for _ in range(sentences):
        n = int(random.integers(1, length + 1))
        head = [0] + [
            int(random.integers(0 if i % 5 == 4 else 1, i + 1)) for i in range(1, n)
        ]  # forests now and then
        state: list[int] = []
        for i in range(n):
            state.append(
                int(
                    random.choice(classes, p=follow[state[head[i] - 1]])
                    if head[i]
                    else random.integers(classes)
                )
            )
        texts.append([f"w{random.choice(words, p=emit[c])}" for c in state])
        heads.append(head)
        labels.append([f"l{i % 2}" for i in range(n)])
    return texts, heads, labels


def corpus(seed=1, labelled=False, like=None, **more):
    texts, heads, labels = sampled(seed, **more)
    known = {"vocabulary": like.vocabulary, "label_names": like.label_names} if like else {}
    return TreeCorpus.from_sentences(texts, heads, labels if labelled else None, **known)


def arrays(model):
    return {**model.statistics_.arrays(), "scale": np.array(model.statistics_.scale)}


def assert_same(one, other):
    for name, array in arrays(one).items():
        np.testing.assert_array_equal(array, arrays(other)[name], err_msg=name)
    assert one.history_ == other.history_


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("structure", ["tree", "chain"])
def test_exact_batch_em_never_falls(structure, labelled):
    texts, heads, labels = sampled(3, sentences=120)
    tree = structure == "tree"
    data = TreeCorpus.from_sentences(texts, heads if tree else None, labels if labelled and tree else None)
    model = HiddenMarkovTree(
        structure=structure, states=6, projection="exact", method="batch", epochs=40, tol=0.0
    ).fit(data)
    likelihoods = np.array([record["log_likelihood"] for record in model.history_])
    assert (np.diff(likelihoods) >= -1e-8 * np.abs(likelihoods[1:])).all()
    assert likelihoods[-1] > likelihoods[0] + 0.3


def test_the_reason_of_the_end_is_told():
    data = corpus(sentences=60)
    few = HiddenMarkovTree(states=3, projection="exact", method="batch", epochs=2, tol=0.0).fit(data)
    assert (few.stopped_, few.converged_, few.n_iter_) == ("epochs", False, 2)
    all_ = HiddenMarkovTree(states=3, projection="exact", method="batch", epochs=500, tol=1e-3).fit(data)
    assert (all_.stopped_, all_.converged_) == ("tolerance", True)
    assert len(all_.history_) == all_.n_iter_ < 500
    gains = np.diff([record["log_likelihood"] for record in all_.history_])
    assert gains[-1] < 1e-3 <= gains[:-1].min()


@pytest.fixture(scope="module")
def known_model():
    """(data, held-out data, their words, the likelihood that exact batch EM reaches on them)."""
    train, heldout = sampled(1, sentences=1500), sampled(2, sentences=300)
    data = TreeCorpus.from_sentences(*train[:2])
    test = TreeCorpus.from_sentences(*heldout[:2], vocabulary=data.vocabulary, label_names=data.label_names)
    options = {"states": 5, "projection": "exact", "method": "batch", "epochs": 40, "restarts": 2}
    return data, test, heldout[0], HiddenMarkovTree(**options).fit(data, heldout=test).score(test)


@pytest.mark.parametrize("mode", MODES[:3], ids=str)
def test_a_known_model_is_recovered(mode, known_model):
    """Held-out likelihood of the learned model beside that of one begun at the truth and trained by exact batch EM."""
    data, test, heldout, best = known_model
    model = HiddenMarkovTree(states=5, batch_size=20, epochs=8, restarts=3, **mode).fit(data, heldout=test)
    unigram = data.word_counts / data.n_tokens
    independent = np.mean(
        [np.log(max(unigram[data.vocabulary.index.get(w, 0)], 1e-4)) for s in heldout for w in s]
    )
    assert model.score(test) > best - 0.12  # other optima
    assert model.score(test) > independent + 0.2


def test_kbest_learns_as_well_as_exact():
    data = corpus(sentences=1000, classes=30, words=200)
    test = corpus(2, like=data, classes=30, words=200)
    settings = {"states": 40, "batch_size": 20, "epochs": 3}
    exact = HiddenMarkovTree(projection="exact", **settings).fit(data, heldout=test)
    kbest = HiddenMarkovTree(projection="kbest", k=16, **settings).fit(data, heldout=test)
    for one, other in zip(exact.history_, kbest.history_, strict=True):
        assert other["heldout_log_likelihood"] > one["heldout_log_likelihood"] - 0.05


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_threads_give_the_same_bits(mode):
    data = corpus(labelled=True, sentences=400)
    models = [
        HiddenMarkovTree(states=9, batch_size=150, epochs=2, threads=threads, **mode).fit(data, heldout=data)
        for threads in (1, 2, 8)
    ]
    assert_same(models[0], models[1])
    assert_same(models[0], models[2])
    for kind in ("exact", "kbest"):
        for method in ("transform", "decode"):
            parts = [np.concatenate(getattr(model, method)(data, projection=kind)) for model in models]
            np.testing.assert_array_equal(parts[0], parts[1])
            np.testing.assert_array_equal(parts[0], parts[2])


class Stop(Monitor):
    """Stops after some calls of ``advance``."""

    def __init__(self, after):
        self.left = after

    def advance(self, done):
        self.left -= 1
        self.stopping = self.left <= 0


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("after", [1, 4, 7])
def test_a_resumed_training_equals_an_uninterrupted_one(mode, after):
    data = corpus(sentences=100)
    settings = {"states": 8, "start_states": 2, "batch_size": 20, "epochs": 3, "resplit": True, **mode}
    whole = HiddenMarkovTree(**settings).fit(data, heldout=data)
    stopped = HiddenMarkovTree(**settings)
    with pytest.raises(Interrupted):
        stopped.fit(data, heldout=data, monitor=Stop(after))
    again = HiddenMarkovTree.from_state(*stopped.state())
    again.resume(data, heldout=data)
    assert_same(whole, again)
    assert whole.statistics_.classes == 8


def test_every_epoch_has_an_order_of_its_own():
    class Lengths(Monitor):
        def begin(self, total, unit):
            self.seen = []

        def advance(self, done):
            self.seen.append(done)

    texts, heads, _ = sampled(1, sentences=30)
    for shuffle in (True, False):
        monitor = Lengths()
        HiddenMarkovTree(states=2, epochs=2, batch_size=1, shuffle=shuffle).fit(texts, heads, monitor=monitor)
        first, second = monitor.seen[:30], monitor.seen[30:]
        assert sorted(first) == sorted(second) and (first != second) == shuffle
        assert (first == [len(text) for text in texts]) != shuffle


@pytest.mark.parametrize("method", ["online", "batch"])
def test_states_are_split_until_there_are_enough(method):
    data = corpus(sentences=200)
    model = HiddenMarkovTree(
        states=11, start_states=2, batch_size=10, epochs=8, method=method, projection="exact"
    ).fit(data)
    assert model.statistics_.classes == 11
    assert model.history_[0]["states"] < 11 or method == "online"
    every = HiddenMarkovTree(states=4, start_states=1, batch_size=50, epochs=1, split_every=1).fit(data)
    assert every.statistics_.classes == 4


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_u071_more_states_than_words_and_no_nan(mode):
    model = HiddenMarkovTree(structure="chain", states=10, epochs=50, **mode).fit([["a", "b"], ["a", "b"]])
    for matrix in (model.emissions_, model.transitions_[0], model.start_[:, None]):
        assert np.isfinite(matrix).all()
        np.testing.assert_allclose(matrix.sum(axis=0), 1.0, rtol=1e-9)
    assert np.isfinite(model.score([["b", "a", "zzz"]]))


def test_dead_states_are_reported_and_given_new_words():
    data = corpus(sentences=200)
    model = HiddenMarkovTree(states=5, epochs=2, resplit=True, batch_size=100)

    class Killer(Monitor):
        def advance(self, done):  # after the last batch of the first epoch
            if model.step_ == 2:
                model.statistics_.emissions[:, 2] *= 1e-12
                model.statistics_.transitions[:, 2] *= 1e-12

    model.fit(data, monitor=Killer())
    assert model.history_[0]["dead_states"] == 1
    assert model.history_[0]["resplit_states"] == 1
    assert model.history_[1]["dead_states"] == 0
    assert "resplit_states" not in model.history_[1]  # what the last epoch leaves is what the model has


@pytest.mark.parametrize("shape", ["chain", "deep", "wide"])
def test_long_sentences_are_finite(shape):
    n = 5000
    words = [f"w{i % 17}" for i in range(n)]
    heads = {"chain": None, "deep": [0, *range(1, n)], "wide": [0] + [1] * (n - 1)}[shape]
    structure = "chain" if heads is None else "tree"
    model = HiddenMarkovTree(structure=structure, states=6, k=3, epochs=2).fit([words], heads and [heads])
    for projection in ("exact", "kbest"):
        (posterior,) = model.transform([words], heads and [heads], projection)
        assert np.isfinite(posterior).all()
        np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-4)
        assert np.ptp(posterior.argmax(axis=1)) > 0  # not one state for all
    assert -10 < model.score([words], heads and [heads]) < 0


@pytest.mark.parametrize("labelled", [False, True])
def test_projections_agree_where_they_keep_everything(labelled):
    data = corpus(labelled=labelled)
    model = HiddenMarkovTree(states=7, epochs=2).fit(data)
    trees = next(data.batches(50))
    source = model.statistics_
    exact, kept = Exact(1), Projected(7, 0.0, 1)
    np.testing.assert_allclose(
        kept.log_likelihoods(trees, source), exact.log_likelihoods(trees, source), rtol=1e-5
    )
    np.testing.assert_allclose(kept.posteriors(trees, source), exact.posteriors(trees, source), atol=1e-5)
    np.testing.assert_array_equal(kept.viterbi(trees, source), exact.viterbi(trees, source))
    few = Projected(2, 0.0, 1)
    assert (few.log_likelihoods(trees, source) <= exact.log_likelihoods(trees, source) + 1e-6).all()
    assert (few.supports(trees, source) == 2).all()
    sums = []
    for inference in (exact, kept):
        target = Statistics(len(source.emissions), 7, source.labels, smoothing=1e-5, back_off=1e-3)
        inference.add(trees, source, target, 1.0)
        sums.append(target)
        np.testing.assert_allclose(target.emissions.sum(), trees.n_tokens, rtol=1e-5)
        np.testing.assert_allclose(target.transitions.sum(), np.count_nonzero(trees.heads), rtol=1e-5)
        np.testing.assert_allclose(target.starts.sum(), np.count_nonzero(trees.heads == 0), rtol=1e-5)
        np.testing.assert_allclose(target.transitions.sum(axis=2), target.child_mass, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(target.transitions.sum(axis=1), target.parent_mass, rtol=1e-4, atol=1e-4)
    for name in ("emissions", "transitions", "starts"):
        np.testing.assert_allclose(getattr(sums[1], name), getattr(sums[0], name), atol=1e-3)


def test_brown_start_is_the_counts_of_its_classes():
    texts, heads, _ = sampled(1)
    data = TreeCorpus.from_sentences(texts, heads)
    clusters = np.arange(len(data.vocabulary)) % 3
    model = HiddenMarkovTree(states=3)
    model._check_parameters()
    model._begin(data, clusters)
    shares = np.bincount(clusters, weights=data.word_counts, minlength=3) / data.n_tokens
    np.testing.assert_allclose(model.class_shares_, shares, rtol=1e-2)
    pairs = np.zeros((3, 3))
    for words, head in zip(texts, heads, strict=True):
        numbers = clusters[data.vocabulary.numbers(words)]
        for i, h in enumerate(head):
            if h:
                pairs[numbers[i], numbers[h - 1]] += 1
    np.testing.assert_allclose(model.transitions_[0], pairs / pairs.sum(axis=0), rtol=0.02)
    fitted = HiddenMarkovTree(states=3, init="brown", epochs=1).fit(data)
    assert fitted.dead_states_.size == 0


def test_brown_init_is_that_of_its_clusters():
    data = corpus(sentences=100)
    options = {"states": 4, "epochs": 1}
    found = BrownClustering(clusters=4, structure="tree").fit(data).transform(data.vocabulary.words)
    one = HiddenMarkovTree(init="brown", **options).fit(data)
    assert_same(one, HiddenMarkovTree(**options).fit(data, clusters=found))


def test_new_words_are_learned_on_new_data():
    first = TreeCorpus.from_sentences(*sampled(1)[:2])
    model = HiddenMarkovTree(states=5, epochs=2).fit(first)
    texts, heads, _ = sampled(2)
    texts = [["new" if word == "w3" else word for word in sentence] for sentence in texts]
    more = TreeCorpus.from_sentences(
        texts, heads, vocabulary=first.vocabulary, label_names=first.label_names, extend=True
    )
    before = model.score(texts, heads)
    model.continue_on(more)
    assert model.vocabulary_.words[-1] == "new"
    assert len(model.emissions_) == len(model.vocabulary_)
    assert model.score(texts, heads) > before


def test_partial_fit_is_a_step():
    texts, heads, _ = sampled(1)
    model = HiddenMarkovTree(states=4, projection="exact")
    model.partial_fit(texts[:100], heads[:100])
    before = model.score(texts[200:], heads[200:])
    for lo in (100, 0, 100, 0):
        model.partial_fit(texts[lo : lo + 100], heads[lo : lo + 100])
    assert model.step_ == 5
    assert model.score(texts[200:], heads[200:]) > before


def test_restarts_keep_the_likeliest():
    data = corpus(sentences=100)
    model = HiddenMarkovTree(states=4, epochs=2, restarts=3).fit(data, heldout=data)
    assert sorted(model.restarts_) == [1, 2, 3]
    np.testing.assert_allclose(model.score(data), max(model.restarts_.values()), rtol=1e-12)
    again = HiddenMarkovTree.from_state(*model.state())
    assert again.restarts_ == model.restarts_


def test_u078_numbers_of_states_do_not_matter():
    data = corpus()
    model = HiddenMarkovTree(states=5, epochs=2).fit(data)
    before = model.score(data)
    model.statistics_.divide(np.array([3, 1, 4, 0, 2]), 1, 1)
    np.testing.assert_allclose(model.score(data), before, rtol=1e-9)


def test_shapes_of_what_is_given():
    texts, heads, _ = sampled(1)
    model = HiddenMarkovTree(states=5, epochs=1).fit(texts, heads)
    words = len(model.vocabulary_)
    assert model.emissions_.shape == (words, 5)
    assert model.transitions_.shape == (1, 5, 5)
    vectors = model.word_vectors()
    assert vectors.shape == (words, 5) and vectors.dtype == np.float32
    np.testing.assert_allclose(vectors.sum(axis=1), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(model.word_vectors(3, 5), vectors[3:5])
    decoded = model.decode(texts[:7], heads[:7])
    assert [len(classes) for classes in decoded] == [len(sentence) for sentence in texts[:7]]
    assert model.class_shares_.min() > 0 and model.class_shares_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "bad",
    [
        {"structure": "graph"}, {"projection": "all"}, {"method": "sgd"}, {"init": "zero"}, {"states": 0}, {"states": 2.5},
        {"k": 0}, {"gamma": 0}, {"gamma": 1.5}, {"gamma": float("nan")}, {"epsilon": 0}, {"epsilon": 1}, {"offset": 0},
        {"epochs": -1}, {"batch_size": 0}, {"tol": -1}, {"start_states": 500}, {"split_every": 0}, {"smoothing": 0},
        {"back_off": float("inf")}, {"threads": 0}, {"restarts": 0}, {"shuffle": 3}, {"tol": float("nan")}, {"tol": None},
        {"gamma": None}, {"gamma": "x"}, {"epsilon": None}, {"start_states": 1.5}, {"split_every": 0.5}, {"split_every": "3"},
        {"seed": -1}, {"seed": None}, {"seed": 1.5}, {"states": None}, {"k": 2**31}, {"structure": None}, {"resplit": "yes"},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_named(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"^{name} is "):
        HiddenMarkovTree(**bad).fit([["a"]], [[0]])
    with pytest.raises(ValueError, match=f"^{name} is "):
        HiddenMarkovTree(**bad).partial_fit([["a"]], [[0]])


def test_data_that_do_not_fit():
    with pytest.raises(ValueError, match="heads"):
        HiddenMarkovTree(states=2).fit([["a"]])
    with pytest.raises(ValueError, match="not a tree"):
        HiddenMarkovTree(states=2).fit([["a", "b"]], [[2, 1]])
    assert HiddenMarkovTree(states=7).get_params()["states"] == 7
    assert repr(HiddenMarkovTree(states=7)) == "HiddenMarkovTree(states=7)"


def test_before_fit():
    model, data = HiddenMarkovTree(), corpus(sentences=3)
    for name in ("score", "transform", "decode", "log_likelihood", "resume", "continue_on"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(model, name)(data)
    for name in ("emissions_", "transitions_", "start_", "class_shares_", "dead_states_"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(model, name)
    with pytest.raises(ValueError, match="not fitted yet"):
        model.state()
    with pytest.raises(ValueError, match="not fitted yet"):
        model.word_vectors()
    with pytest.raises(ValueError, match="Invalid parameter 'alpha'"):
        model.set_params(alpha=1)
