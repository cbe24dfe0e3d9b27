"""Projected inference: against enumeration over the kept classes, and what must hold of any projection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.tree_cases import Outputs, add_transitions, arguments, infer
from tests.reference import hmtm as twin

seeds = st.integers(0, 2**32 - 1)


def pairs_of(trees, model, outputs, t):
    """Pair posterior (C, C) of the edge above token t."""
    _, heads, labels, _, offsets = trees
    parent = offsets[np.searchsorted(offsets, t, side="right") - 1] + heads[t] - 1
    T, C = model.T(), len(model.start)
    full = np.zeros((C, C))
    rows, columns = outputs.support[t, : outputs.sizes[t]], outputs.support[parent, : outputs.sizes[parent]]
    full[np.ix_(rows, columns)] = (
        outputs.below[t, : len(rows), None].astype(float)
        * T[labels[t]][np.ix_(rows, columns)]
        * outputs.above[t, : len(columns)]
    )
    return full, parent


@settings(max_examples=60)
@given(seeds, st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.0, 0.3]), st.sampled_from(twin.SHAPES))
def test_equals_enumeration_over_kept_classes(seed, C, k, epsilon, kind):
    random = np.random.default_rng(seed)
    trees, model = (
        twin.random_trees(random, 3, 5, 4, 2, kind, 0),
        twin.random_model(random, 4, C, 2, scale=7e3),
    )
    outputs = infer(trees, model, k, epsilon)
    logs, posteriors, pairs, *_ = twin.enumerate_classes(trees, model, outputs.supports())
    np.testing.assert_allclose(outputs.log_likelihood, logs, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(outputs.dense(outputs.posterior, C), posteriors, rtol=1e-4, atol=1e-5)
    for t in np.flatnonzero(trees[1]):
        np.testing.assert_allclose(pairs_of(trees, model, outputs, t)[0], pairs[t], rtol=1e-4, atol=1e-5)


@settings(max_examples=60)
@given(
    seeds,
    st.sampled_from([1, 5, 33, 70]),
    st.integers(1, 80),
    st.sampled_from([0.0, 0.05]),
    st.sampled_from(twin.SHAPES),
    st.booleans(),
)
def test_equals_the_equations(seed, C, k, epsilon, kind, preferring):
    random = np.random.default_rng(seed)
    trees = twin.random_trees(random, 4, 12, 30, 3, kind, 0)
    model = twin.random_model(random, 30, C, 3, scale=7e3)
    preference = random.uniform(0.1, 2, C).astype(np.float32) if preferring else None
    outputs = infer(trees, model, k, epsilon, preference=preference)
    expected = twin.infer(trees, model, k, epsilon, preference)
    for mine, theirs in zip(outputs.supports(), expected.support, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_allclose(outputs.log_likelihood, expected.log_likelihood, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(outputs.dense(outputs.below, C), expected.below, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(outputs.dense(outputs.posterior, C), expected.posterior, rtol=1e-4, atol=1e-7)
    for t in np.flatnonzero(trees.heads):
        np.testing.assert_allclose(
            pairs_of(trees, model, outputs, t)[0], expected.pair[t], rtol=1e-4, atol=1e-7
        )
        parent = pairs_of(trees, model, outputs, t)[1]
        above = outputs.above[t, : outputs.sizes[parent]]
        np.testing.assert_allclose(above, expected.above[t][outputs.supports()[parent]], rtol=1e-4)


@settings(max_examples=30)
@given(seeds, st.sampled_from([1, 5, 33, 70]), st.integers(1, 80), st.sampled_from([0.0, 0.05]))
def test_bounds_and_marginals(seed, C, k, epsilon):
    random = np.random.default_rng(seed)
    trees, model = (
        twin.random_trees(random, 4, 20, 30, 3, "mixed", 0),
        twin.random_model(random, 30, C, 3, scale=7e3),
    )
    outputs = infer(trees, model, k, epsilon)
    exact = infer(trees, model, C)
    assert (outputs.log_likelihood <= exact.log_likelihood + 1e-4).all()
    if k >= C and epsilon == 0:
        for name in Outputs.names:
            np.testing.assert_array_equal(getattr(outputs, name), getattr(exact, name))
    posteriors = outputs.dense(outputs.posterior, C)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(outputs.dense(outputs.below, C).sum(axis=1), 1, rtol=1e-5)
    for t, size in enumerate(outputs.sizes):
        assert 1 <= size <= min(k, C)
        assert (np.diff(outputs.support[t, :size]) > 0).all()
    for t in np.flatnonzero(trees[1]):
        pairs, parent = pairs_of(trees, model, outputs, t)
        np.testing.assert_allclose(pairs.sum(axis=1), posteriors[t], rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(pairs.sum(axis=0), posteriors[parent], rtol=1e-4, atol=1e-6)


def test_hand_computed():
    """Two classes, word 0 under word 1; the second class of the child is cut off."""
    f32, f64 = np.float32, np.float64
    model = (
        np.array([[6, 2], [4, 8]], f64), np.zeros(2), np.array([0.1, 0.1]),  # O = .6 .2 / .4 .8
        np.array([[[3, 1], [1, 1]]], f32), np.zeros((1, 2), f32), np.array([[0.25, 0.5]], f32),  # T = .75 .5 / .25 .5
        np.array([0.5, 0.5], f32),
    )  # fmt: skip
    trees = twin.make_batch([([0, 1], [2, 0], [0, 0])])
    exact = infer(trees, model, 2)
    joint = np.array([[0.6 * 0.75 * 0.4, 0.6 * 0.5 * 0.8], [0.2 * 0.25 * 0.4, 0.2 * 0.5 * 0.8]]) * 0.5
    np.testing.assert_allclose(exact.log_likelihood, np.log(joint.sum()), rtol=1e-6)
    np.testing.assert_allclose(
        exact.posterior, np.stack([joint.sum(1), joint.sum(0)]) / joint.sum(), rtol=1e-6
    )
    best = infer(trees, model, 1)
    assert best.support[:, 0].tolist() == [0, 1]
    np.testing.assert_allclose(best.log_likelihood, np.log(joint[0, 1]), rtol=1e-6)
    preferred = infer(trees, model, 1, preference=[1, 4])
    assert preferred.support[:, 0].tolist() == [1, 1]
    np.testing.assert_allclose(preferred.log_likelihood, np.log(joint[1, 1]), rtol=1e-6)


def test_epsilon_keeps_the_fewest():
    random = np.random.default_rng(2)
    trees, model = (
        twin.random_trees(random, 30, 1, 9, 1, "mixed", 0),
        twin.random_model(random, 9, 40, 1, scale=7e3),
    )
    O = model.O()[trees[0]]
    for k, epsilon in ((40, 0.1), (40, 0.5), (5, 0.1)):
        sizes = infer(trees, model, k, epsilon).sizes
        sums = np.cumsum(-np.sort(-O, axis=1), axis=1) / O.sum(axis=1, keepdims=True)
        np.testing.assert_array_equal(sizes, np.minimum((sums < 1 - epsilon).sum(axis=1) + 1, k))


@pytest.mark.parametrize(("C", "k", "epsilon"), [(33, 4, 0.0), (70, 20, 0.1), (5, 9, 0.0), (100, 40, 0.0)])
def test_any_cut_gives_the_same_bits(C, k, epsilon):
    random = np.random.default_rng(C)
    trees, model = (
        twin.random_trees(random, 9, 30, 50, 2, "mixed", 0),
        twin.random_model(random, 50, C, 2, scale=7e3),
    )
    whole = infer(trees, model, k, epsilon)
    parts = Outputs(len(trees[0]), 9, min(k, C))
    for lo, hi in ((4, 9), (0, 1), (1, 4), (3, 3)):
        infer(trees, model, k, epsilon, lo, hi, outputs=parts)
    wide = infer(trees, model, k, epsilon, K=C + 3)
    only = infer(trees, model, k, epsilon, upward_only=True)
    for name in Outputs.names:
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
        a, b = getattr(wide, name), getattr(whole, name)
        np.testing.assert_array_equal(a[:, : b.shape[1]] if b.ndim == 2 else a, b)
        if name not in ("above", "posterior"):
            np.testing.assert_array_equal(getattr(only, name), b)
    assert np.isnan(only.above).all() and np.isnan(only.posterior).all()


@pytest.mark.parametrize("shape", ["star", "chain", "stars"])
def test_thousands_of_children_or_levels(shape):
    random = np.random.default_rng(4)
    n = 5000
    heads = {
        "star": np.arange(n) > 0,
        "chain": np.arange(n),
        "stars": np.where(np.arange(n) < 3, np.arange(n), 2 + np.arange(n) % 2),
    }[shape]
    trees = twin.make_batch([(random.integers(0, 50, n), heads, random.integers(0, 2, n))])
    model = twin.random_model(random, 50, 40, 2, scale=7e3)
    outputs, exact = infer(trees, model, 8), infer(trees, model, 40)
    for each in (outputs, exact):
        assert np.isfinite(each.log_likelihood).all()
        np.testing.assert_allclose(each.dense(each.posterior, 40).sum(axis=1), 1, rtol=1e-5)
        for t in random.choice(np.flatnonzero(trees[1]), 20):
            pairs, parent = pairs_of(trees, model, each, t)
            np.testing.assert_allclose(pairs.sum(), 1, rtol=1e-4)
            parents = each.dense(each.posterior, 40)[parent]
            np.testing.assert_allclose(pairs.sum(axis=0), parents, rtol=1e-3, atol=1e-5)
    assert outputs.log_likelihood[0] < exact.log_likelihood[0]


def test_likelihood_of_a_long_chain_does_not_drift():
    """One class: the log-likelihood is the sum of the words' logarithms."""
    random = np.random.default_rng(5)
    words = random.integers(0, 9, 5000)
    model = twin.random_model(random, 9, 1, 1, scale=7e3)
    outputs = infer(twin.make_batch([(words, np.arange(5000), words * 0)]), model, 3)
    np.testing.assert_allclose(outputs.log_likelihood, np.log(model.O()[words]).sum(), rtol=1e-6)


def test_impossible_words_and_edges_are_finite():
    random = np.random.default_rng(6)
    trees = twin.random_trees(random, 6, 8, 4, 1, "mixed", 0)
    O, floors, _, T, back_off, _, start = arguments(twin.random_model(random, 4, 6, 1, scale=7e3))
    O[1] = 0  # a word without any class
    O[0, :3] = O[2, 3:] = 0  # words of other classes than their neighbours'
    T[0, :3, 3:] = T[0, 3:, :3] = 0
    start[3:] = 0
    zeros = (O, floors * 0, 1 / O.sum(axis=0), T, back_off * 0, (1 / T.sum(axis=1)).astype(np.float32), start)
    for k in (1, 2, 6):
        outputs = infer(trees, zeros, k)
        assert np.isfinite(outputs.log_likelihood).all()
        for t, size in enumerate(outputs.sizes):
            np.testing.assert_allclose(outputs.posterior[t, :size].sum(), 1, rtol=1e-5)
            assert outputs.above[t, :1] >= 0 or trees[1][t] == 0
    single = infer(twin.make_batch([([1], [0], [0])]), zeros, 6)
    np.testing.assert_allclose(single.log_likelihood, np.log(1e-300) + np.log(start.mean()), rtol=1e-6)


def test_empty_and_read_only_inputs():
    random = np.random.default_rng(7)
    model = arguments(twin.random_model(random, 4, 3, 1, scale=7e3))
    assert infer(twin.make_batch([]), model, 2).log_likelihood.shape == (0,)
    assert infer(twin.make_batch([([], [], [])] * 2), model, 2).log_likelihood.tolist() == [0, 0]
    trees = twin.random_trees(random, 3, 5, 4, 1, "mixed", 0)
    for array in (*trees, *model):
        array.setflags(write=False)
    infer(trees, model, 2)
    none = Outputs(len(trees[0]), 3, 2)
    none.above = none.posterior = np.zeros((0, 0), np.float32)
    infer(trees, model, 2, upward_only=True, outputs=none)


def test_refuses_what_is_out_of_range():
    random = np.random.default_rng(8)
    model = twin.random_model(random, 4, 3, 2, scale=7e3)

    def changed(name, at, value):
        trees = list(twin.make_batch([([0, 1, 2], [0, 1, 2], [0, 1, 0]), ([3, 0], [2, 0], [1, 0])]))
        index = ["words", "heads", "labels", "order", "offsets"].index(name)
        trees[index] = trees[index].copy()
        trees[index][at] = value
        return trees

    for name, at, value in [
        ("words", 0, 4), ("words", 4, -1), ("heads", 1, 4), ("heads", 1, -1), ("labels", 3, 2), ("labels", 3, -1),
        ("order", 0, 3), ("order", 0, -1), ("order", 0, 1), ("heads", 0, 3), ("heads", 0, 1), ("offsets", 1, 6),
        ("offsets", 1, -1), ("offsets", 2, 7),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=r"out of range|offsets"):
            infer(changed(name, at, value), model, 2)
    trees = changed("words", 0, 0)
    for lo, hi in ((-1, 1), (0, 3), (2, 1)):
        with pytest.raises(ValueError, match="range"):
            infer(trees, model, 2, lo=lo, hi=hi)
    for k, epsilon in ((0, 0.0), (2, 1.0), (2, -1.0), (2, np.nan)):
        with pytest.raises(ValueError, match="epsilon"):
            infer(trees, model, k, epsilon, K=2)
    with pytest.raises(ValueError, match="k cells"):
        infer(trees, model, 3, K=2)


@pytest.mark.parametrize("which", range(7))
def test_refuses_shapes_of_models_that_do_not_fit(which):
    random = np.random.default_rng(9)
    model = list(arguments(twin.random_model(random, 4, 3, 2, scale=7e3)))
    trees = twin.random_trees(random, 3, 5, 4, 2, "mixed", 0)
    for axis in range(model[which].ndim):
        wrong = list(model)
        wrong[which] = np.ascontiguousarray(np.delete(model[which], 0, axis))
        if which == 0 and axis == 1:
            wrong[which] = np.ascontiguousarray(np.repeat(model[which], 2, axis=1))
        with pytest.raises(ValueError, match=r"agree|need"):
            infer(trees, wrong, 2)


@pytest.mark.parametrize("name", Outputs.names)
def test_refuses_shapes_of_outputs_that_do_not_fit(name):
    random = np.random.default_rng(10)
    trees, model = (
        twin.random_trees(random, 3, 5, 4, 1, "mixed", 0),
        twin.random_model(random, 4, 3, 1, scale=7e3),
    )
    outputs = Outputs(len(trees[0]), 3, 2)
    setattr(outputs, name, getattr(outputs, name)[:-1])
    with pytest.raises(ValueError, match="need"):
        infer(trees, model, 2, outputs=outputs)


def test_pair_counts_are_those_of_the_edges():
    random = np.random.default_rng(11)
    trees, model = (
        twin.random_trees(random, 5, 9, 8, 2, "mixed", 0),
        twin.random_model(random, 8, 20, 2, scale=7e3),
    )
    outputs = infer(trees, model, 6)
    target = np.zeros((2, 20, 20))
    add_transitions(trees, model, outputs, target, 1.0)
    expected = np.zeros_like(target)
    for t in np.flatnonzero(trees[1]):
        expected[trees[2][t]] += pairs_of(trees, model, outputs, t)[0]
    np.testing.assert_allclose(target, expected, rtol=1e-6, atol=1e-12)
