"""Exact inference against enumeration and its twin, and what must hold of any batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import hmtm as twin
from wordkit._kernels import exact_messages


def run(batch, model, lo=0, hi=None, upward_only=False, into=None):
    """(posterior, pair sums, root sums, log-likelihood, (impossible, lost)) of sentences lo..hi as one group."""
    hi = len(batch.offsets) - 1 if hi is None else hi
    T = model.T()
    L, C = T.shape[:2]
    if into is None:
        into = (
            np.full((len(batch.words), C), np.nan), np.zeros((L, C, C)), np.zeros(C), np.full(len(batch.offsets) - 1, np.nan),
        )  # fmt: skip
    posterior, pairs, starts, log_likelihood = into
    n = int(batch.offsets[hi] - batch.offsets[lo])
    shape, plan = exact_messages.scratch_shapes(n, L, C)
    status = exact_messages.infer(
        *batch, lo, hi, *model[:3], T, model.start, upward_only, posterior, pairs, starts, log_likelihood,
        np.full(shape, np.nan), np.full(plan, -7, np.int32),
    )  # fmt: skip
    return posterior, pairs * T, starts, log_likelihood, status


def expect(found, batch, model, theirs, rtol=1e-10, atol=1e-12):
    posterior, pairs, starts, log_likelihood, status = found
    transitions, _, roots = twin.statistics(batch, model, theirs)
    np.testing.assert_allclose(log_likelihood, theirs.log_likelihood, rtol=rtol, atol=atol)
    np.testing.assert_allclose(posterior, theirs.posterior, rtol=rtol, atol=atol)
    np.testing.assert_allclose(pairs, transitions, rtol=rtol, atol=atol)
    np.testing.assert_allclose(starts, roots, rtol=rtol, atol=atol)
    assert status == (np.isneginf(theirs.log_likelihood).sum(), 0)


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 2, 7, 8, 33]),
    st.integers(1, 4),
    st.sampled_from(twin.SHAPES),
    st.integers(0, 12),
)
def test_equals_message_passing(seed, classes, labels, shape, max_length):
    rng = np.random.default_rng(seed)
    batch = twin.random_trees(rng, 6, max_length, labels=labels, shape=shape, min_length=0)
    model = twin.random_model(rng, classes=classes, labels=labels, scale=10.0 ** rng.integers(-30, 30))
    expect(run(batch, model), batch, model, twin.infer(batch, model))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from(twin.SHAPES))
def test_equals_enumeration(seed, classes, shape):
    rng = np.random.default_rng(seed)
    batch = twin.random_trees(rng, 3, 6, words=5, shape=shape)
    model = twin.random_model(rng, words=5, classes=classes)
    log_likelihood, posterior, pair, *_ = twin.enumerate_classes(batch, model)
    theirs = twin.Inference([], posterior, posterior, pair, posterior, log_likelihood)
    expect(run(batch, model), batch, model, theirs)


def test_hand_computed_edge():
    """Two classes, root and child; p(child = parent) = 3/4; O = (1, 1/2) of the child's word, (1/2, 1) of the root's."""
    batch = twin.make_batch([([0, 1], [2, 0], [0, 0])])
    model = twin.Model(
        np.array([[1, 0.5], [0.5, 1.0]]), np.zeros(2), np.ones(2), np.array([[[0.75, 0.25], [0.25, 0.75]]]),
        np.zeros((1, 2)), np.ones((1, 2)), np.array([0.5, 0.5]),
    )  # fmt: skip
    weights = np.array([[0.75 * 0.5, 0.25 * 1], [0.25 * 0.25, 0.75 * 0.5]]) / 2  # (child, root)
    posterior, pairs, starts, log_likelihood, _ = run(batch, model)
    np.testing.assert_allclose(log_likelihood, np.log(weights.sum()), rtol=1e-14, atol=0)
    np.testing.assert_allclose(pairs[0], weights / weights.sum(), rtol=1e-14, atol=0)
    np.testing.assert_allclose(posterior, [pairs[0].sum(1), pairs[0].sum(0)], rtol=1e-14, atol=0)
    np.testing.assert_allclose(starts, posterior[1], rtol=1e-14, atol=0)


@pytest.mark.parametrize("shape", twin.SHAPES)
@pytest.mark.parametrize("classes", [1, 7, 33])
def test_marginals_agree(shape, classes):
    rng = np.random.default_rng(classes)
    batch = twin.random_trees(rng, 20, 40, labels=3, shape=shape)
    model = twin.random_model(rng, classes=classes, labels=3)
    posterior, pairs, starts, *_ = run(batch, model)
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-12, atol=0)
    np.testing.assert_allclose(starts, posterior[batch.heads == 0].sum(axis=0), rtol=1e-12, atol=1e-14)
    at = np.repeat(batch.offsets[:-1], np.diff(batch.offsets))
    for label in range(3):
        edges = (batch.labels == label) & (batch.heads > 0)
        np.testing.assert_allclose(
            pairs[label].sum(axis=1), posterior[edges].sum(axis=0), rtol=1e-11, atol=1e-12
        )
        parents = (at + batch.heads - 1)[edges]
        np.testing.assert_allclose(
            pairs[label].sum(axis=0), posterior[parents].sum(axis=0), rtol=1e-11, atol=1e-12
        )


def long_sentence(rng, shape, length, words=20):
    return rng.integers(0, words, length), twin.random_heads(rng, length, shape), rng.integers(0, 2, length)


@pytest.mark.parametrize("shape", ["chain", "star", "tree"])
def test_deep_and_wide_trees_are_finite(shape):
    rng = np.random.default_rng(4)
    length = 5001
    words, heads, labels = long_sentence(rng, shape, length)
    if shape == "chain":
        # Heads come after their children.
        heads = np.append(np.arange(2, length + 1), 0).astype(np.int32)
    batch = twin.make_batch([(words, heads, labels), ([3], [0], [0])])
    model = twin.random_model(rng, classes=5)
    posterior, pairs, starts, log_likelihood, status = run(batch, model)
    assert status == (0, 0) and np.isfinite(log_likelihood).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-11, atol=0)
    np.testing.assert_allclose(pairs.sum(), length - 1, rtol=1e-11, atol=0)
    np.testing.assert_allclose(starts.sum(), 2, rtol=1e-12, atol=0)
    with np.errstate(divide="ignore"):
        O, T = np.log(model.O()), np.log(model.T())
    up = O[batch.words].copy()  # in logarithms, without any scaling
    order = batch.order[:length][::-1]
    for n in order:
        if heads[n]:
            up[heads[n] - 1] += np.logaddexp.reduce(up[n][:, None] + T[batch.labels[n]], axis=0)
    root = int(order[-1])
    np.testing.assert_allclose(
        log_likelihood[0], np.logaddexp.reduce(up[root] + np.log(model.start)), rtol=1e-11, atol=0
    )


def test_chain_of_five_thousand_equals_forward_backward():
    rng = np.random.default_rng(8)
    batch = twin.make_batch([long_sentence(rng, "chain", 5000)])
    model = twin.random_model(rng, classes=4)
    O, T = model.O()[batch.words], model.T()
    forward, total = [model.start * O[0]], 0.0
    for n in range(5000):
        if n:
            forward.append(T[batch.labels[n]] @ forward[-1] * O[n])
        total += np.log(forward[-1].sum())
        forward[-1] = forward[-1] / forward[-1].sum()
    posterior, *_, log_likelihood, _ = run(batch, model)
    np.testing.assert_allclose(log_likelihood, total, rtol=1e-11, atol=0)
    np.testing.assert_allclose(posterior[-1], forward[-1], rtol=1e-9, atol=1e-12)


def test_upward_only_and_unwanted_outputs():
    rng = np.random.default_rng(5)
    batch, model = twin.random_trees(rng), twin.random_model(rng)
    whole = run(batch, model)
    into = (np.full(whole[0].shape, 5.0), np.zeros(whole[1].shape), np.zeros(5), np.zeros(6))
    upward = run(batch, model, upward_only=True, into=into)
    np.testing.assert_array_equal(upward[3], whole[3])
    assert (upward[0] == 5).all() and not upward[1].any() and not upward[2].any()
    into = (np.zeros((0, 5)), np.zeros((0, 5, 5)), np.zeros(0), np.zeros(6))
    shape, plan = exact_messages.scratch_shapes(len(batch.words), 2, 5)
    exact_messages.infer(
        *batch,
        0,
        6,
        *model[:3],
        model.T(),
        model.start,
        False,
        *into,
        np.zeros(shape),
        np.zeros(plan, np.int32),
    )
    np.testing.assert_array_equal(into[3], whole[3])


def test_groups_together_give_the_whole():
    rng = np.random.default_rng(6)
    batch, model = twin.random_trees(rng, 9, 30), twin.random_model(rng, classes=33)
    whole = run(batch, model)
    parts = (np.full(whole[0].shape, np.nan), np.zeros(whole[1].shape), np.zeros(33), np.full(9, np.nan))
    for lo, hi in [(0, 0), (0, 4), (4, 5), (5, 9)]:
        pairs = run(batch, model, lo, hi, into=parts)[1]
    for a, b in zip((parts[0], pairs, parts[2], parts[3]), whole, strict=False):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    for a, b in zip(run(batch, model), whole, strict=True):
        np.testing.assert_array_equal(a, b)


def test_impossible_sentences_are_counted_and_add_nothing():
    batch = twin.make_batch(
        [([0, 1], [0, 1], [0, 0]), ([0, 2], [0, 1], [0, 0]), ([1], [0], [0]), ([2, 0], [2, 0], [0, 0])]
    )
    model = twin.Model(
        np.array([[1.0, 0], [0, 1], [0, 0]]), np.zeros(3), np.ones(2), np.eye(2)[None], np.zeros((1, 2)), np.ones((1, 2)),
        np.array([0.5, 0.5]),
    )  # fmt: skip
    posterior, pairs, starts, log_likelihood, status = run(batch, model)
    assert status == (3, 0)
    np.testing.assert_array_equal(log_likelihood, [-np.inf, -np.inf, np.log(0.5), -np.inf])
    np.testing.assert_array_equal(posterior, [[0, 0]] * 4 + [[0, 1]] + [[0, 0]] * 2)
    np.testing.assert_array_equal(starts, [0, 1])
    assert not pairs.any()


def test_tiny_emissions_and_numbers_that_are_none():
    rng = np.random.default_rng(7)
    batch, model = twin.random_trees(rng), twin.random_model(rng)
    usual = run(batch, model)
    tiny = run(batch, model._replace(emission_scale=model.emission_scale * 1e-292))
    np.testing.assert_allclose(tiny[3], usual[3] + np.diff(batch.offsets) * np.log(1e-292), rtol=1e-9, atol=0)
    np.testing.assert_allclose(tiny[0], usual[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tiny[1], usual[1], rtol=1e-9, atol=1e-12)
    start = model.start * np.nan
    found = run(batch, model._replace(start=start))
    assert np.isneginf(found[3]).all() and not found[0].any() and found[4][0] == 6


def test_empty_and_read_only_inputs():
    rng = np.random.default_rng(1)
    model = twin.random_model(rng)
    none = run(twin.make_batch([]), model)
    assert none[4] == (0, 0) and not none[1].any()
    batch = twin.random_trees(rng)
    for a in (*batch, *model):
        a.setflags(write=False)
    expect(run(batch, model), batch, model, twin.infer(batch, model))


@pytest.mark.parametrize(
    ("field", "value", "match"),
    [
        ("words", 20, "out of range"), ("words", -1, "out of range"),
        ("labels", 2, "out of range"), ("labels", -1, "out of range"),
        ("heads", -1, "not those of a tree"), ("heads", 99, "not those of a tree"), ("order", 99, "not those of a tree"),
        ("order", -1, "not those of a tree"), ("offsets", 99, "offsets"), ("offsets", -3, "offsets"),
    ],
)  # fmt: skip
def test_refuses_indices_out_of_range(field, value, match):
    rng = np.random.default_rng(2)
    batch, model = twin.random_trees(rng), twin.random_model(rng)
    array = getattr(batch, field).copy()
    array[1] = value
    with pytest.raises(ValueError, match=match):
        run(batch._replace(**{field: array}), model)


def test_refuses_orders_and_shapes_that_do_not_fit():
    batch = twin.make_batch([([0, 1, 2], [0, 1, 2], [0, 0, 0])])
    rng = np.random.default_rng(3)
    model = twin.random_model(rng)
    for order in ([1, 0, 2], [0, 0, 2], [2, 1, 0]):
        with pytest.raises(ValueError, match="not those of a tree"):
            run(batch._replace(order=np.array(order, np.int32)), model)
    with pytest.raises(ValueError, match="not those of a tree"):
        run(batch._replace(heads=np.array([2, 1, 2], np.int32)), model)
    with pytest.raises(ValueError, match="entry a token"):
        run(batch._replace(heads=batch.heads[:2]), model)
    with pytest.raises(ValueError, match="do not agree"):
        run(batch, model._replace(floors=model.floors[:3]))
    with pytest.raises(ValueError, match="out of range"):
        exact_messages.infer(
            *batch, 0, 2, *model[:3], model.T(), model.start, False, np.zeros((3, 5)), np.zeros((2, 5, 5)), np.zeros(5),
            np.zeros(1), np.zeros((10, 5)), np.zeros((10, 5), np.int32),
        )  # fmt: skip
    good = {"posterior": np.zeros((3, 5)), "pairs": np.zeros((2, 5, 5)), "starts": np.zeros(5), "log_likelihood": np.zeros(1),
            "work": np.zeros((10, 5)), "plan": np.zeros((10, 5), np.int32)}  # fmt: skip
    for name, bad in [
        ("posterior", np.zeros((2, 5))), ("pairs", np.zeros((1, 5, 5))), ("starts", np.zeros(4)), ("log_likelihood", np.zeros(2)),
        ("work", np.zeros((9, 5))), ("plan", np.zeros((9, 5), np.int32)), ("plan", np.zeros((10, 4), np.int32)),
    ]:  # fmt: skip
        with pytest.raises(ValueError):
            exact_messages.infer(
                *batch, 0, 1, *model[:3], model.T(), model.start, False, *{**good, name: bad}.values()
            )
