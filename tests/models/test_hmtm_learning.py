"""Learning of hidden Markov tree models: the recursions in plain NumPy, known models, interruptions, more data, splits."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.test_hmtm import MODES, Stop, arrays, assert_same, corpus, sampled
from tests.models.test_hmtm_inference import kept_by
from tests.reference import hmtm as twin
from wordkit.errors import Interrupted
from wordkit.models import hmtm_statistics
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import TreeCorpus

STRUCTURES = ("chain", "tree", "labelled", "forest")
modes = pytest.mark.parametrize("mode", MODES, ids=str)


def random_corpus(seed, structure="labelled", sentences=12, words=6, **more):
    """Words without any structure."""
    rng = np.random.default_rng(seed)
    shape = {"labelled": "mixed"}.get(structure, structure)
    made = twin.random_trees(rng, sentences, 9, words=words, labels=3, shape=shape)
    columns = [[a.tolist() for a in column[:3]] for column in made.sentences()]
    texts, heads, labels = zip(*columns, strict=True)
    return TreeCorpus.from_sentences(
        [[f"w{w}" for w in text] for text in texts],
        None if structure == "chain" else heads,
        [[f"l{n}" for n in row] for row in labels] if structure == "labelled" else None,
        **more,
    )


def probabilities(emissions, transitions, starts, smoothing, back_off):
    """The module's formulae."""
    rows = np.maximum(emissions, smoothing * emissions.max(axis=1, keepdims=True))
    totals = rows.sum(axis=0)
    sums = transitions.sum(axis=(1, 2))
    mass = back_off * transitions.sum(axis=1).mean(axis=1)
    mass = np.where(mass > 0, mass, 1.0)
    overall = totals / totals.sum()
    children = np.where(
        sums[:, None] > 0, transitions.sum(axis=2) / np.where(sums > 0, sums, 1)[:, None], overall
    )
    smoothed = transitions + (mass[:, None] * children)[:, :, None]
    start = starts + back_off * starts.sum() / len(starts) * overall
    shape = transitions.shape[:2]
    return twin.Model(
        rows, np.zeros(len(rows)), 1 / totals, smoothed / smoothed.sum(axis=1, keepdims=True), np.zeros(shape), np.ones(shape),
        start / start.sum(),
    )  # fmt: skip


def begun(data, **options):
    model = HiddenMarkovTree(**options)
    model._check_parameters()
    model._begin(data, None)
    return model


def sums_of(model):
    return [getattr(model.statistics_, name).copy() for name in ("emissions", "transitions", "starts")]


# --- the recursions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("mode", [{"projection": "exact"}, {"k": 4}, {"k": 2}], ids=str)
def test_online_em_is_the_recursion_as_it_is_printed(structure, mode, monkeypatch):
    """S <- (1 - alpha) S + alpha s, s the mean statistics of a token; rescaling takes part."""
    monkeypatch.setattr(hmtm_statistics, "RESCALE_BELOW", 0.3)
    data = random_corpus(5, structure, sentences=30, words=12, max_vocab=8)
    assert data.word_counts[0] > 0
    options = {
        "states": 4,
        "batch_size": 4,
        "epochs": 2,
        "shuffle": False,
        "smoothing": 0.02,
        "back_off": 0.05,
    }
    model = HiddenMarkovTree(
        structure="chain" if structure == "chain" else "tree", gamma=0.6, offset=3.0, **options, **mode
    )
    start = begun(data, **{**model.get_params()})
    sums, step, history, rival = sums_of(start), 0, [], start.inference()
    for _ in range(2):
        total = 0.0
        for trees in data.batches(4):
            step += 1
            alpha = (3.0 + step) ** -0.6
            now = probabilities(*sums, 0.02, 0.05)
            supports = None
            if mode == {"k": 2}:  # what is kept is the model's own choice
                for name, array in zip(("emissions", "transitions", "starts"), sums, strict=True):
                    getattr(start.statistics_, name)[:] = array
                start.statistics_.settle()
                supports = kept_by(rival, trees, start.statistics_)
            batch = twin.Batch(trees.words, trees.heads, trees.labels, trees.order, trees.offsets)
            found = twin.infer(batch, now, supports=supports)
            total += found.log_likelihood.sum()
            transitions, emissions, starts = twin.statistics(batch, now, found)
            new = (emissions, transitions, starts)
            sums = [(1 - alpha) * a + alpha * b / trees.n_tokens for a, b in zip(sums, new, strict=True)]
        history.append(total / data.n_tokens)
    model.fit(data)
    now = probabilities(*sums, 0.02, 0.05)
    rtol, atol = (1e-9, 1e-12) if "projection" in mode else (1e-3, 1e-5)
    np.testing.assert_allclose(model.emissions_, now.O(), rtol=rtol, atol=atol)
    np.testing.assert_allclose(model.transitions_, now.T(), rtol=rtol, atol=atol)
    np.testing.assert_allclose(model.start_, now.start, rtol=rtol, atol=atol)
    np.testing.assert_allclose([r["log_likelihood"] for r in model.history_], history, rtol=rtol)
    assert model.step_ == step and [r["epoch"] for r in model.history_] == [1, 2]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_batch_em_is_the_twins(structure):
    data = random_corpus(6, structure, max_vocab=4)
    options = {
        "states": 3,
        "method": "batch",
        "projection": "exact",
        "epochs": 4,
        "tol": 0.0,
        "batch_size": 5,
    }
    options["structure"] = "chain" if structure == "chain" else "tree"
    start = begun(data, **options)
    (trees,) = data.batches(99)
    batch = twin.Batch(trees.words, trees.heads, trees.labels, trees.order, trees.offsets)
    sums, history = sums_of(start), []
    for _ in range(4):
        now = probabilities(*sums, 0.0, 1e-30)
        found = twin.infer(batch, now)
        history.append(found.log_likelihood.sum() / data.n_tokens)
        transitions, emissions, starts = twin.statistics(batch, now, found)
        sums = [emissions, transitions, starts]
    model = HiddenMarkovTree(**options).fit(data)
    np.testing.assert_allclose([r["log_likelihood"] for r in model.history_], history, rtol=1e-10)
    np.testing.assert_allclose(model.emissions_, probabilities(*sums, 0.0, 1e-30).O(), rtol=1e-8, atol=1e-15)
    np.testing.assert_allclose(
        model.transitions_, probabilities(*sums, 0.0, 1e-30).T(), rtol=1e-8, atol=1e-15
    )


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from(STRUCTURES),
    st.integers(1, 8),
    st.sampled_from(["random", "brown"]),
)
def test_exact_batch_em_never_falls_on_noise(seed, structure, states, init):
    data = random_corpus(seed, structure)
    states = min(states, len(data.vocabulary) - 1)
    model = HiddenMarkovTree(
        structure="chain" if structure == "chain" else "tree", states=states, projection="exact", method="batch", epochs=25,
        tol=0.0, init=init, seed=seed,
    ).fit(data)  # fmt: skip
    values = np.array([record["log_likelihood"] for record in model.history_])
    assert (np.diff(values) >= -1e-8 * np.abs(values[1:])).all()
    if model.stopped_ == "epochs":
        assert model.n_iter_ == 25 and not model.converged_
    else:  # a plateau, which may end in a rounding error's loss
        assert model.converged_ and values[-1] - values[-2] == pytest.approx(0, abs=1e-8)


def test_a_split_or_a_revival_is_not_the_end_of_batch_em():
    """The first iteration after it gains nothing, or loses: noise was added to a converged model."""
    data = corpus(sentences=60)
    options = {"method": "batch", "projection": "exact", "tol": 1e-6}
    model = HiddenMarkovTree(states=4, start_states=2, split_every=100, epochs=104, **options).fit(data)
    before, after = (model.history_[i]["log_likelihood"] for i in (99, 100))
    assert after - before < 1e-6 and model.n_iter_ > 101
    one = HiddenMarkovTree(states=3, epochs=100, **options).set_params(tol=1e-3).fit(data)
    one._batch_epoch(data, Stop(10**9))  # at its end, where nothing is gained any more
    assert one.converged_
    one.converged_, one.history_[-1]["resplit_states"] = False, 1
    one._batch_epoch(data, Stop(10**9))
    assert not one.converged_


# --- known models ------------------------------------------------------------------------------------------------------


def drawn(model, rng, sentences, length=10):
    """Words and heads of trees from a twin's model."""
    O, T, start = model.O(), model.T()[0], model.start
    texts, all_heads = [], []
    for _ in range(sentences):
        heads = twin.random_heads(rng, length, "tree")
        classes = np.zeros(length, int)
        for n in twin.order_of(heads):
            p = T[:, classes[heads[n] - 1]] if heads[n] else start
            classes[n] = rng.choice(len(start), p=p / p.sum())
        texts.append([f"w{rng.choice(len(O), p=O[:, c])}" for c in classes])
        all_heads.append(heads.tolist())
    return texts, all_heads


@pytest.mark.parametrize(
    ("mode", "within"), [({"projection": "exact"}, 0.03), ({"k": 2, "seed": 2}, 0.05)], ids=str
)
def test_held_out_likelihood_of_the_truth_is_reached(mode, within):
    rng = np.random.default_rng(11)
    truth = twin.random_model(rng, words=16, classes=4, labels=1, sharpness=8.0, smoothing=1e-3)
    data = TreeCorpus.from_sentences(*drawn(truth, rng, 800))
    texts, heads = drawn(truth, rng, 200)
    test = TreeCorpus.from_sentences(texts, heads, vocabulary=data.vocabulary)
    batch = twin.make_batch(
        [([int(w[1:]) for w in s], h, np.zeros(len(s))) for s, h in zip(texts, heads, strict=True)]
    )
    best = twin.infer(batch, truth).log_likelihood.sum() / test.n_tokens
    independent = np.log(np.maximum(data.word_counts, 1) / data.n_tokens)[
        next(test.batches(999)).words
    ].mean()
    options = {"states": 4, "epochs": 15, "gamma": 0.6, "batch_size": 20, "smoothing": 1e-4, **mode}
    model = HiddenMarkovTree(**options).fit(data, heldout=test)
    assert independent + 0.4 < best - within < model.score(test) < best + 0.01


# --- interruption ------------------------------------------------------------------------------------------------------


@modes
def test_u063_resumed_at_every_batch_is_as_uninterrupted(mode):
    data = corpus(sentences=60, labelled=True)
    options = {
        "states": 7,
        "start_states": 2,
        "batch_size": 20,
        "epochs": 3,
        "resplit": True,
        "seed": 3,
        **mode,
    }
    whole = HiddenMarkovTree(**options).fit(data)
    assert whole.statistics_.classes == 7
    for after in range(1, 9):
        stopped = HiddenMarkovTree(**options)
        with pytest.raises(Interrupted, match=f"in epoch {after // 3 + 1}, after {after % 3} batches"):
            stopped.fit(data, monitor=Stop(after))
        again = HiddenMarkovTree.from_state(*stopped.state())
        assert_same(stopped, again)
        assert_same(whole, copy.deepcopy(stopped).resume(data))
        assert_same(whole, again.resume(data))
        assert (again.step_, again.stopped_, again.restarts_) == (
            whole.step_,
            whole.stopped_,
            whole.restarts_,
        )
    finished = HiddenMarkovTree.from_state(*whole.state())
    assert_same(whole, finished.resume(data))


def test_stopped_again_and_again():
    data = corpus(sentences=60)
    options = {"states": 4, "batch_size": 20, "epochs": 3}
    model = HiddenMarkovTree(**options)
    with pytest.raises(Interrupted):
        model.fit(data, monitor=Stop(1))
    for _ in range(7):
        model = HiddenMarkovTree.from_state(*model.state())
        with pytest.raises(Interrupted):
            model.resume(data, monitor=Stop(1))
    assert_same(model.resume(data), HiddenMarkovTree(**options).fit(data))


def test_another_corpus_is_not_resumed_on():
    data = corpus(sentences=30)
    model = HiddenMarkovTree(states=3, epochs=1).fit(data).set_params(epochs=2)
    before = {name: array.copy() for name, array in arrays(model).items()}
    with pytest.raises(ValueError, match="numbers words otherwise"):
        model.resume(corpus(2, sentences=200))
    for go_on in (model.resume, model.continue_on):
        with pytest.raises(ValueError, match="numbers labels otherwise"):
            go_on(TreeCorpus.from_sentences(*sampled(1, sentences=30)))
    for name, array in arrays(model).items():
        np.testing.assert_array_equal(array, before[name])


# --- more data ---------------------------------------------------------------------------------------------------------


def unknown_share(model):
    return float(model.emissions_[0] @ model.class_shares_)


@modes
def test_an_unknown_word_has_the_share_of_a_token(mode):
    data = corpus(sentences=80)
    assert data.word_counts[0] == 0
    model = HiddenMarkovTree(states=5, epochs=2, batch_size=20, **mode).fit(data)
    np.testing.assert_allclose(unknown_share(model), 1 / (data.n_tokens + 2), rtol=1e-9)
    assert -30 < model.score([["never"]], [[0]]) < -3


@modes
def test_unknown_words_of_later_data_are_counted(mode):
    first = [["a", "b", "c"]] * 10
    later = [["x", "b", "y"]] * 10
    data = TreeCorpus.from_sentences(first)
    model = HiddenMarkovTree(structure="chain", states=3, epochs=8, **mode).fit(data)
    assert unknown_share(model) < 0.05
    model.continue_on(TreeCorpus.from_sentences(later, vocabulary=data.vocabulary))
    assert unknown_share(model) > 0.4
    assert model.history_[-1]["log_likelihood"] > model.history_[0]["log_likelihood"] + 0.5
    step = HiddenMarkovTree(structure="chain", states=3, **mode).partial_fit(first)
    for _ in range(3):
        step.partial_fit(later)
    share = unknown_share(step)
    step.statistics_.settle()
    assert share > 0.3 and unknown_share(step) == pytest.approx(share)


@modes
def test_words_that_the_new_data_lack_stay_possible(mode):
    data = TreeCorpus.from_sentences([["a", "b", "c"]] * 10)
    model = HiddenMarkovTree(structure="chain", states=3, epochs=3, **mode).fit(data)
    more = TreeCorpus.from_sentences([["b", "c", "d"]] * 10, vocabulary=data.vocabulary, extend=True)
    model.continue_on(more)
    assert len(model.emissions_) == 5
    for projection in ("exact", "kbest"):
        found = model.log_likelihood(
            TreeCorpus.from_sentences([["a", "zzz"]], vocabulary=model.vocabulary_), projection
        )
        assert np.isfinite(found)
    np.testing.assert_allclose(model.word_vectors().sum(axis=1), 1, rtol=1e-6)
    assert (model.emissions_[0] > 0).all() and unknown_share(model) > 1e-4


def test_a_new_fit_forgets_the_last():
    model = HiddenMarkovTree(structure="chain", states=2, epochs=1).fit([["a", "b"]])
    model.fit([["c", "d", "c"]])
    assert model.vocabulary_.words == ["-*-", "c", "d"]
    assert_same(model, HiddenMarkovTree(structure="chain", states=2, epochs=1).fit([["c", "d", "c"]]))


def test_continued_steps_stay_small():
    data = corpus(sentences=60)
    model = HiddenMarkovTree(states=4, epochs=2, batch_size=20, shuffle=False).fit(data)
    model.continue_on(data)
    assert model.step_ == 12 and model.n_iter_ == 2
    assert_same_sums(model, HiddenMarkovTree(states=4, epochs=4, batch_size=20, shuffle=False).fit(data))


def assert_same_sums(one, other):
    for name, array in arrays(one).items():
        np.testing.assert_array_equal(array, arrays(other)[name], err_msg=name)


def test_partial_fit_is_fit_in_parts():
    texts, heads, _ = sampled(1, sentences=60)
    fitted = HiddenMarkovTree(states=4, epochs=1, batch_size=20, shuffle=False).fit(texts, heads)
    parts = HiddenMarkovTree(states=4)
    parts._begin(TreeCorpus.from_sentences(texts, heads), None)
    for lo in (0, 20, 40):
        parts.partial_fit(texts[lo : lo + 20], heads[lo : lo + 20])
    parts.statistics_.settle()
    assert_same_sums(fitted, parts)


# --- classes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["online", "batch"])
@pytest.mark.parametrize(("few", "many"), [(32, 100), (2, 16), (3, 7), (5, 6)])
def test_states_grow_to_what_was_asked_for(method, few, many):
    data = corpus(sentences=100, labelled=True)
    model = HiddenMarkovTree(
        states=many, start_states=few, method=method, epochs=8, batch_size=20, tol=0.0
    ).fit(data)
    assert model.statistics_.classes == many and model.transitions_.shape == (3, many, many)
    states = [record["states"] for record in model.history_]
    assert states == sorted(states) and states[3:] == [many] * 5  # by the middle of the training
    if method == "batch":
        assert all(b <= 2 * a for a, b in zip([few, *states], states, strict=False))
    assert model.score(data) > -3.5
