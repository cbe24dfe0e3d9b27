"""Most probable classes against enumeration and the twin; ties, long sentences, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.reference import hmtm as twin
from wordkit._kernels import tree_viterbi


def outputs(batch):
    return np.full(len(batch.words), -9, np.int32), np.full(len(batch.offsets) - 1, np.nan)


def decode(batch, model, lo=0, hi=None, into=None):
    hi = len(batch.offsets) - 1 if hi is None else hi
    longest = int(np.diff(batch.offsets).max(initial=0))
    classes, value = into or outputs(batch)
    work = np.full((2 * longest + 1, len(model.start)), np.nan)
    impossible = tree_viterbi.decode(
        *batch, lo, hi, *model[:3], model.T(), model.start, classes, value, work, np.zeros(longest, np.int32)
    )
    return classes, value, impossible


def decode_supports(batch, model, support, sizes, lo=0, hi=None, into=None):
    hi = len(batch.offsets) - 1 if hi is None else hi
    longest = int(np.diff(batch.offsets).max(initial=0))
    classes, value = into or outputs(batch)
    work = np.full((3, longest * support.shape[1]), np.nan)
    impossible = tree_viterbi.decode_supports(
        *batch,
        lo,
        hi,
        *model.arguments(np.float32),
        support,
        sizes,
        classes,
        value,
        work,
        np.zeros(longest, np.int32),
    )
    return classes, value, impossible


def packed(rng, supports, spare=0):
    """(support (T, K), sizes (T)), each support in any order; unused cells name no class."""
    room = max((len(s) for s in supports), default=0) + spare
    out = np.full((len(supports), room), -1, np.int32)
    for row, kept in zip(out, supports, strict=True):
        row[: len(kept)] = rng.permutation(kept)
    return out, np.array([len(s) for s in supports], np.int32)


def single(model):
    """The model that a kernel with float32 edges reads."""
    return model._replace(
        transitions=model.transitions.astype(np.float32).astype(float),
        back_off=model.back_off.astype(np.float32).astype(float),
        transition_scale=model.transition_scale.astype(np.float32).astype(float),
        start=model.start.astype(np.float32).astype(float),
    )


def assert_best(batch, model, found, best, value):
    """The twin's classes, or others whose probability is the same but for rounding: of two such paths either may win."""
    if not np.array_equal(found, best):
        np.testing.assert_allclose(twin.log_probability(batch, model, found), value, rtol=1e-13, atol=1e-12)


@settings(max_examples=60)
@example(327586, 2, 1, "chain")  # two paths of the same factors in another order
@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 7, 33, 70]), st.integers(1, 3), st.sampled_from(twin.SHAPES)
)
def test_equals_the_twin(seed, classes, labels, shape):
    rng = np.random.default_rng(seed)
    batch = twin.random_trees(rng, 5, 15, labels=labels, shape=shape, min_length=0)
    model = twin.random_model(rng, classes=classes, labels=labels)
    best, value = twin.viterbi(batch, model)
    found, mine, impossible = decode(batch, model)
    assert impossible == 0
    np.testing.assert_allclose(mine, value, rtol=1e-12, atol=1e-12)
    assert_best(batch, model, found, best, value)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1, 5, 33]), st.integers(1, 6), st.sampled_from(twin.SHAPES))
def test_supports_equal_the_twin(seed, classes, k, shape):
    rng = np.random.default_rng(seed)
    batch = twin.random_trees(rng, 5, 15, shape=shape, min_length=0)
    model = single(twin.random_model(rng, classes=classes))
    supports = [np.sort(rng.permutation(classes)[: rng.integers(1, k + 1)]) for _ in batch.words]
    best, value = twin.viterbi(batch, model, supports)
    found, mine, impossible = decode_supports(
        batch, model, *packed(rng, supports, spare=int(rng.integers(3)))
    )
    assert impossible == 0
    np.testing.assert_allclose(mine, value, rtol=1e-12, atol=1e-12)
    assert_best(batch, model, found, best, value)
    assert all(one in kept for one, kept in zip(found, supports, strict=True))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(twin.SHAPES))
def test_equals_enumeration(seed, shape):
    rng = np.random.default_rng(seed)
    batch = twin.random_trees(rng, 3, 6, words=6, shape=shape)
    model = single(twin.random_model(rng, words=6, classes=3))
    *_, best, value = twin.enumerate_classes(batch, model)
    whole = packed(rng, [np.arange(3)] * len(batch.words))
    for found, mine, _ in (decode(batch, model), decode_supports(batch, model, *whole)):
        np.testing.assert_allclose(mine, value, rtol=1e-12, atol=1e-12)
        assert_best(batch, model, found, best, value)


def test_equal_scores_go_to_the_lower_class():
    rng = np.random.default_rng(0)
    batch = twin.random_trees(rng, 8, 12)
    even = np.full((2, 4, 4), 0.25)
    same = np.full((20, 4), 0.05)
    model = twin.Model(
        same, np.zeros(20), np.ones(4), even, np.zeros((2, 4)), np.ones((2, 4)), np.full(4, 0.25)
    )
    assert not decode(batch, model)[0].any()
    supports = [np.array([1, 3]) if n % 2 else np.array([2, 3]) for n in range(len(batch.words))]
    found = decode_supports(batch, model, *packed(rng, supports))[0]
    np.testing.assert_array_equal(found, [kept[0] for kept in supports])


@pytest.mark.parametrize("shape", ["chain", "star", "tree"])
def test_deep_and_wide_trees_are_finite(shape):
    rng = np.random.default_rng(4)
    n = 5000
    batch = twin.make_batch(
        [(rng.integers(0, 20, n), twin.random_heads(rng, n, shape), rng.integers(0, 2, n)), ([1], [0], [0])]
    )
    model = single(twin.random_model(rng, classes=4))
    best, value = twin.viterbi(batch, model)
    whole = packed(rng, [np.arange(4)] * (n + 1))
    for found, mine, _ in (decode(batch, model), decode_supports(batch, model, *whole)):
        np.testing.assert_allclose(mine, value, rtol=1e-10, atol=0)
        np.testing.assert_allclose(mine, twin.log_probability(batch, model, found), rtol=1e-10, atol=0)
    assert (decode(batch, model)[0] == best).mean() > 0.999


def test_scores_beyond_what_a_float_holds():
    """A root with 400 leaves that forbid class 0 by a factor of 10 each, and an edge above that allows class 0 alone."""
    heads = [0, 1] + [2] * 400
    batch = twin.make_batch([([0, 0] + [1] * 400, heads, [0, 0] + [1] * 400)])
    edge = np.array([[[1.0, 1.0], [0.0, 0.0]], [[0.05, 0.5], [0.05, 0.5]]])
    model = twin.Model(
        np.ones((2, 2)),
        np.zeros(2),
        np.ones(2),
        edge,
        np.zeros((2, 2)),
        np.ones((2, 2)),
        np.array([0.4, 0.6]),
    )
    model = single(model)
    best, value = twin.viterbi(batch, model)
    assert best[1] == 0 and value[0] < -1000
    whole = packed(np.random.default_rng(0), [np.arange(2)] * 402)
    for found, mine, impossible in (decode(batch, model), decode_supports(batch, model, *whole)):
        assert impossible == 0
        np.testing.assert_array_equal(found, best)
        np.testing.assert_allclose(mine, value, rtol=1e-12, atol=0)


def test_impossible_sentences_are_counted():
    batch = twin.make_batch([([0, 1], [0, 1], [0, 0]), ([2], [0], [0]), ([0, 0], [0, 1], [0, 0])])
    model = twin.Model(
        np.array([[1.0, 0], [0, 1], [0, 0]]), np.zeros(3), np.ones(2), np.eye(2)[None], np.zeros((1, 2)), np.ones((1, 2)),
        np.array([0.5, 0.5]),
    )  # fmt: skip
    whole = packed(np.random.default_rng(0), [np.arange(2)] * 5)
    for found, mine, impossible in (decode(batch, model), decode_supports(batch, model, *whole)):
        assert impossible == 2
        np.testing.assert_array_equal(mine, [-np.inf, -np.inf, np.log(0.5)])
        assert ((found >= 0) & (found < 2)).all()


def test_parts_give_the_same_bits():
    rng = np.random.default_rng(6)
    batch, model = twin.random_trees(rng, 9, 30), twin.random_model(rng, classes=33)
    supports = packed(rng, [np.arange(0, 33, 3)] * len(batch.words))
    whole, kept = decode(batch, model), decode_supports(batch, model, *supports)
    parts, kept_parts = outputs(batch), outputs(batch)
    for lo, hi in [(0, 0), (0, 4), (4, 5), (5, 9)]:
        decode(batch, model, lo, hi, parts)
        decode_supports(batch, model, *supports, lo, hi, kept_parts)
    for a, b in zip((*parts, *kept_parts), (*whole[:2], *kept[:2]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_empty_and_read_only_inputs():
    rng = np.random.default_rng(1)
    model = twin.random_model(rng)
    none = twin.make_batch([])
    assert decode(none, model)[2] == decode_supports(none, model, *packed(rng, []))[2] == 0
    batch = twin.random_trees(rng)
    support, sizes = packed(rng, [np.arange(5)] * len(batch.words))
    for a in (*batch, *model, support, sizes):
        a.setflags(write=False)
    np.testing.assert_array_equal(decode(batch, model)[0], twin.viterbi(batch, model)[0])
    decode_supports(batch, model, support, sizes)


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
    whole = packed(rng, [np.arange(5)] * len(batch.words))
    array = getattr(batch, field).copy()
    array[1] = value
    for run in (decode, lambda *a: decode_supports(*a, *whole)):
        with pytest.raises(ValueError, match=match):
            run(batch._replace(**{field: array}), model)


def test_refuses_what_does_not_fit():
    rng = np.random.default_rng(2)
    batch, model = twin.random_trees(rng), twin.random_model(rng)
    support, sizes = packed(rng, [np.arange(5)] * len(batch.words))
    for row, at, value in ((support, (1, 2), 5), (support, (1, 2), -1), (sizes, 1, 0), (sizes, 1, 6)):
        changed = row.copy()
        changed[at] = value
        with pytest.raises(ValueError, match="support of token 1"):
            decode_supports(batch, model, *((changed, sizes) if row is support else (support, changed)))
    with pytest.raises(ValueError, match="row a token"):
        decode_supports(batch, model, support[:-1].copy(), sizes)
    with pytest.raises(ValueError, match="do not agree"):
        decode(batch, model._replace(floors=model.floors[:3]))
    with pytest.raises(ValueError, match="entry a token"):
        decode(batch, model, into=(np.zeros(2, np.int32), np.zeros(6)))
    with pytest.raises(ValueError, match="out of range"):
        decode(batch, model, 0, 7)
    classes, value = outputs(batch)
    for rows, seen in ((2, 9), (19, 1)):
        with pytest.raises(ValueError, match=r"work|seen"):
            tree_viterbi.decode(
                *batch,
                0,
                6,
                *model[:3],
                model.T(),
                model.start,
                classes,
                value,
                np.zeros((rows, 5)),
                np.zeros(seen, np.int32),
            )
