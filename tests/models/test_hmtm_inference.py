"""Drivers of inference against the twin: what a batch adds to the statistics, posteriors, likelihoods, best classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.models.test_hmtm import MODES, corpus
from tests.reference import hmtm as twin
from wordkit.models import hmtm_inference
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.hmtm_inference import Exact, Projected
from wordkit.models.hmtm_statistics import Statistics
from wordkit.models.tree_corpus import Trees

WORDS, LABELS = 12, 3


def statistics(seed, classes=5, labels=LABELS, smoothing=0.01):
    """Statistics as they are in the middle of a training: uneven, with zeros, a scale, and a class that is rare."""
    made = Statistics(WORDS, classes, labels, smoothing=smoothing, back_off=0.05)
    made.randomize(seed, np.arange(1, labels + 1) / (labels * (labels + 1) / 2), 0.2)
    rng = np.random.default_rng(seed)
    made.emissions *= rng.random(made.emissions.shape) ** 3 * (rng.random(made.emissions.shape) < 0.8)
    made.emissions[:, 0] *= 0.05
    made.transitions *= rng.random(made.transitions.shape) ** 3
    made.settle()
    made.decay(0.3)
    return made


def model_of(source, precision=np.float64):
    """Probabilities as the formulas have them, from the sums alone."""
    emissions = np.maximum(source.emissions, source.smoothing * source.emissions.max(axis=1, keepdims=True))
    totals = emissions.sum(axis=0)
    cells = source.transitions.astype(precision).astype(np.float64)
    mass = source.back_off * cells.sum(axis=1).mean(axis=1)
    children = cells.sum(axis=2) / cells.sum(axis=(1, 2))[:, None]
    smoothed = cells + (mass[:, None] * children)[:, :, None]
    start = source.starts + source.back_off * source.starts.sum() / len(totals) * totals / totals.sum()
    classes = len(totals)
    return twin.Model(
        emissions, np.zeros(len(emissions)), 1 / totals, smoothed / smoothed.sum(axis=1, keepdims=True),
        np.zeros((len(cells), classes)), np.ones((len(cells), classes)), start / start.sum(),
    )  # fmt: skip


def batches(seed, shape="mixed", sentences=6, length=9, labels=LABELS):
    """The same sentences for the model and for its twin; some of one token, some words never, some often."""
    made = twin.random_trees(
        np.random.default_rng(seed), sentences, length, words=WORDS - 2, labels=labels, shape=shape
    )
    trees = Trees(made.words, made.heads, made.labels, made.offsets)
    return trees, twin.Batch(made.words, made.heads, made.labels, trees.order, made.offsets)


def kept_by(projected, trees, source):
    batch = projected._infer(trees, source, source.parameters(), upward_only=False)
    return [np.sort(row[:n]) for row, n in zip(batch.support, batch.sizes, strict=True)]


def expected(batch, model, found, target, weight):
    """What ``add`` leaves in the arrays of ``target``."""
    transitions, emissions, starts = twin.statistics(batch, model, found)
    new = {name: array.copy() for name, array in target.arrays().items()}
    new["transitions"] += weight * transitions
    new["emissions"] += weight * emissions
    new["starts"] += weight * starts
    new["floors"] = target.smoothing * new["emissions"].max(axis=1)
    new["totals"] = np.maximum(new["emissions"], new["floors"][:, None]).sum(axis=0)
    new["child_mass"] = new["transitions"].sum(axis=2)
    new["parent_mass"] = new["transitions"].sum(axis=1)
    return new


def check_add(inference, trees, batch, source, target, supports, rtol, atol):
    weight = 0.37
    model = model_of(source, np.float32 if supports else np.float64)
    found = twin.infer(batch, model, supports=supports)
    new, image, scale = expected(batch, model, found, target, weight), target.image.copy(), target.scale
    log_likelihood = inference.add(trees, source, target, weight)
    np.testing.assert_allclose(log_likelihood, found.log_likelihood.sum(), rtol=rtol)
    for name, array in new.items():
        np.testing.assert_allclose(getattr(target, name), array, rtol=rtol, atol=atol, err_msg=name)
    assert target.scale == scale
    # The copy that the kernels read goes with the sums of the model that is read, and is nobody's business in the other.
    image = target.transitions.astype(np.float32) if target is source else image
    np.testing.assert_array_equal(target.image, image)


cases = given(
    st.integers(0, 10**6), st.sampled_from(twin.SHAPES), st.integers(1, 9), st.integers(1, 12), st.booleans()
)


@settings(max_examples=60)
@cases
@example(0, "tree", 1, 1, True)  # single tokens
def test_exact_statistics_equal_the_twin(seed, shape, classes, length, same):
    source, (trees, batch) = statistics(seed, classes), batches(seed, shape, length=length)
    target = source if same else statistics(seed + 1, classes, smoothing=0.2)
    check_add(Exact(1), trees, batch, source, target, None, 1e-9, 1e-12)


@settings(max_examples=60)
@cases
def test_projected_statistics_equal_the_twin_on_the_same_supports(seed, shape, classes, length, same):
    source, (trees, batch) = statistics(seed, classes), batches(seed, shape, length=length)
    target = source if same else statistics(seed + 1, classes, smoothing=0.2)
    ways = [
        Projected(1 + seed % 4, 0.0, 1),
        Projected(None, 0.1, 1),
        Projected(2, 0.1, 1),
        Projected(99, 0.0, 1),
    ]
    inference = ways[seed // 7 % 4]
    supports = kept_by(inference, trees, source)
    check_add(inference, trees, batch, source, target, supports, 5e-5, 1e-5)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(twin.SHAPES), st.integers(1, 9))
def test_likelihoods_and_posteriors_equal_the_twin(seed, shape, classes):
    source, (trees, batch) = statistics(seed, classes), batches(seed, shape)
    before = {name: array.copy() for name, array in source.arrays().items()}
    theirs = twin.infer(batch, model_of(source))
    exact, kept = Exact(1), Projected(classes, 0.0, 1)
    np.testing.assert_allclose(exact.log_likelihoods(trees, source), theirs.log_likelihood, rtol=1e-10)
    np.testing.assert_allclose(exact.posteriors(trees, source), theirs.posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(kept.log_likelihoods(trees, source), theirs.log_likelihood, rtol=1e-5)
    np.testing.assert_allclose(kept.posteriors(trees, source), theirs.posterior, rtol=1e-4, atol=1e-6)
    for few in (Projected(2, 0.0, 1), Projected(None, 0.2, 1)):
        supports = kept_by(few, trees, source)
        restricted = twin.infer(batch, model_of(source, np.float32), supports=supports)
        found, posterior = few.log_likelihoods(trees, source), few.posteriors(trees, source)
        np.testing.assert_allclose(found, restricted.log_likelihood, rtol=1e-5)
        np.testing.assert_allclose(posterior, restricted.posterior, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-5)
        np.testing.assert_array_equal(few.supports(trees, source), [len(support) for support in supports])
        assert (found <= theirs.log_likelihood + 1e-5).all()
    for name, array in source.arrays().items():
        np.testing.assert_array_equal(array, before[name])


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(twin.SHAPES), st.integers(1, 9))
def test_best_classes_are_as_probable_as_the_twins(seed, shape, classes):
    source, (trees, batch) = statistics(seed, classes), batches(seed, shape)
    model = model_of(source)
    _, best = twin.viterbi(batch, model)
    found = Exact(1).viterbi(trees, source)
    np.testing.assert_allclose(twin.log_probability(batch, model, found), best, rtol=1e-10)
    assert found.dtype == np.int32
    for few in (Projected(2, 0.0, 1), Projected(None, 0.2, 1), Projected(classes, 0.0, 1)):
        supports = kept_by(few, trees, source)
        _, best = twin.viterbi(batch, model, supports)
        found = few.viterbi(trees, source)
        np.testing.assert_allclose(twin.log_probability(batch, model, found), best, rtol=1e-5)
        assert all(c in support for c, support in zip(found, supports, strict=True))


@pytest.mark.parametrize("shape", twin.SHAPES)
def test_everything_equals_enumeration(shape):
    source, (trees, batch) = statistics(3, 3), batches(4, shape, 4, 6)
    log_likelihood, posterior, _, best, _ = twin.enumerate_classes(batch, model_of(source))
    for inference, rtol in ((Exact(1), 1e-10), (Projected(3, 0.0, 1), 1e-4)):
        np.testing.assert_allclose(inference.log_likelihoods(trees, source), log_likelihood, rtol=rtol)
        np.testing.assert_allclose(inference.posteriors(trees, source), posterior, rtol=rtol, atol=1e-6)
        np.testing.assert_array_equal(inference.viterbi(trees, source), best)


@pytest.mark.parametrize("frequent", [True, False])
@pytest.mark.parametrize(("k", "epsilon"), [(1, 0.0), (3, 0.0), (None, 0.1), (None, 0.001), (2, 0.3)])
def test_supports_are_those_of_the_twin(k, epsilon, frequent):
    """The k best of u, times the classes' shares of all tokens where frequent ones are preferred."""
    source, (trees, batch) = statistics(5, 8), batches(6, sentences=40)
    preference = source.class_shares() if frequent else None
    theirs = twin.infer(batch, model_of(source), k, epsilon, preference)
    ours = kept_by(Projected(k, epsilon, 1, prefer_frequent=frequent), trees, source)
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs.support, strict=True))
    assert len({len(support) for support in ours}) > (epsilon > 0 and k is None)


def test_more_classes_are_a_better_bound():
    source, (trees, _) = statistics(5, 8), batches(6, sentences=40, length=20)
    exact = Exact(1).log_likelihoods(trees, source)
    bounds = [Projected(k, 0.0, 1).log_likelihoods(trees, source).sum() for k in range(1, 9)]
    assert (np.diff(bounds) > -1e-3).all() and bounds[0] < bounds[-1] - 1
    np.testing.assert_allclose(bounds[-1], exact.sum(), rtol=1e-6)
    shares = [Projected(None, e, 1).log_likelihoods(trees, source) for e in (0.5, 0.1, 1e-9)]
    assert shares[0].sum() < shares[1].sum() < shares[2].sum() + 1e-3
    np.testing.assert_allclose(shares[2], exact, rtol=1e-5)


@pytest.mark.parametrize(
    "inference", [Exact, lambda n: Projected(3, 0.0, n), lambda n: Projected(None, 0.05, n)]
)
def test_threads_and_batches_of_one_kind_give_the_same_bits(inference):
    """Any number of threads; and a batch that is larger than a group of exact inference."""
    source, (trees, _) = statistics(5, 9), batches(6, sentences=300, length=30)
    assert trees.n_tokens > 2 * hmtm_inference._GROUP_TOKENS
    results = []
    for threads in (1, 2, 3, 8):
        target, way = statistics(7, 9), inference(threads)
        likelihood = way.add(trees, source, target, 0.1)
        results.append(
            [likelihood, *target.arrays().values(), way.log_likelihoods(trees, source), way.posteriors(trees, source),
             way.viterbi(trees, source)]
        )  # fmt: skip
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_groups_of_sentences_together_are_the_batch(monkeypatch):
    source, (trees, batch) = statistics(5, 6), batches(6, sentences=40)
    monkeypatch.setattr(hmtm_inference, "_GROUP_TOKENS", 10)
    check_add(Exact(2), trees, batch, source, statistics(7, 6), None, 1e-9, 1e-12)
    supports = kept_by(Projected(2, 0.0, 2), trees, source)
    check_add(Projected(2, 0.0, 2), trees, batch, source, source, supports, 5e-5, 1e-5)


def test_labels_that_no_arc_has_and_sentences_that_are_single_tokens():
    source = statistics(5)
    trees = Trees(
        np.array([3, 1, 3], np.int32),
        np.zeros(3, np.int32),
        np.zeros(3, np.int32),
        np.arange(4, dtype=np.int32),
    )
    model = model_of(source)
    joint = model.O()[trees.words] * model.start
    for inference, rtol in ((Exact(1), 1e-12), (Projected(5, 0.0, 1), 1e-5)):
        before = source.transitions.copy()
        found = inference.log_likelihoods(trees, source)
        np.testing.assert_allclose(found, np.log(joint.sum(axis=1)), rtol=rtol)
        posterior = inference.posteriors(trees, source)
        np.testing.assert_allclose(posterior, joint / joint.sum(axis=1, keepdims=True), rtol=10 * rtol)
        np.testing.assert_array_equal(inference.viterbi(trees, source), joint.argmax(axis=1))
        target = statistics(6)
        starts = target.starts.copy()
        inference.add(trees, source, target, 0.5)
        np.testing.assert_allclose(target.starts - starts, posterior.sum(axis=0) / 2, rtol=1e-5, atol=1e-7)
        np.testing.assert_array_equal(source.transitions, before)


def test_labels_choose_the_matrix():
    """Arcs with labels exchanged in a model with matrices exchanged change nothing; exchanged in one of both they do."""
    source, (trees, _) = statistics(5), batches(6)
    turned = np.array([2, 0, 1], np.int32)
    others = Trees(trees.words, trees.heads, turned[trees.labels], trees.offsets)
    exchanged = statistics(5)
    exchanged.transitions[turned] = source.transitions
    for name in ("child_mass", "parent_mass", "image"):
        getattr(exchanged, name)[turned] = getattr(source, name)
    for inference in (Exact(1), Projected(3, 0.0, 1)):
        found = inference.log_likelihoods(trees, source)
        np.testing.assert_array_equal(inference.log_likelihoods(others, exchanged), found)
        assert abs(inference.log_likelihoods(others, source) - found).max() > 0.01


def test_words_and_labels_out_of_range_are_refused():
    source, (trees, _) = statistics(5), batches(6)
    for inference in (Exact(1), Projected(3, 0.0, 1)):
        for name, value in (("words", WORDS), ("words", -1), ("labels", LABELS), ("heads", 99)):
            arrays = {key: getattr(trees, key).copy() for key in ("words", "heads", "labels", "offsets")}
            arrays[name][1] = value
            with pytest.raises((ValueError, IndexError)):
                inference.add(Trees(**arrays), source, statistics(6), 1.0)


@pytest.mark.parametrize("init", ["random", "brown"])
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_columns_sum_to_one(mode, init):
    data = corpus(sentences=60, labelled=True)
    options = {"states": 6, "start_states": 3, "batch_size": 10, "epochs": 3, "resplit": True, "init": init}
    model = HiddenMarkovTree(**options, **mode).fit(data)
    assert model.transitions_.shape == (3, 6, 6)
    for matrix in (
        model.emissions_,
        *model.transitions_,
        model.start_[:, None],
        model.class_shares_[:, None],
    ):
        np.testing.assert_allclose(matrix.sum(axis=0), 1.0, rtol=1e-12)
        assert (matrix >= 0).all()
    trees = next(data.batches(9))
    p = model.statistics_.parameters()
    read = (p.transitions + p.back_off[:, :, None]) * p.transition_scale[:, None, :]
    np.testing.assert_allclose(read.sum(axis=1), 1.0, rtol=1e-5)
    for inference in (Exact(1), Projected(2, 0.0, 1), Projected(None, 0.1, 1)):
        posterior = inference.posteriors(trees, model.statistics_)
        np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-5)
