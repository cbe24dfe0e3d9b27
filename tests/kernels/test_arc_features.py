"""Arc features, scores and steps against features written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import arc_features as twin
from tests.reference.eisner_kbest import projective_trees
from wordkit._kernels import arc_features as kernel

BITS = 12


def room(n, n_tags):
    parts = np.empty((3, n + 1, kernel.PARTS_PER_WORD), np.uint64)
    return parts, np.empty(n_tags, np.int32)


def scores(words, tags, weights, n_tags, bits=BITS):
    out = np.full((len(words) + 1, len(words) + 1), np.nan)
    kernel.score_arcs(words, tags, weights, bits, *room(len(words), n_tags), out)
    return out


@st.composite
def sentences(draw):
    n = draw(st.integers(1, 14))
    n_tags = draw(st.integers(1, 6))
    words = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    tags = draw(st.lists(st.integers(0, n_tags - 1), min_size=n, max_size=n))
    return np.array(words, np.int32), np.array(tags, np.int32), n_tags


@settings(max_examples=40)
@given(sentences(), st.integers(0, 1000))
def test_scores_are_sums_of_the_weights_at_the_places(sentence, seed):
    words, tags, n_tags = sentence
    weights = np.random.default_rng(seed).normal(size=1 << BITS).astype(np.float32)
    found = scores(words, tags, weights, n_tags)
    for h in range(len(words) + 1):
        for m in range(len(words) + 1):
            places = [] if m in (0, h) else twin.places(words.tolist(), tags.tolist(), h, m, BITS)
            assert found[h, m] == pytest.approx(float(weights[places].astype(float).sum()), abs=1e-9)


def step(words, tags, gold, predicted, n_tags, *, C=0.1, time=3.0, seed=1, bits=BITS):
    random = np.random.default_rng(seed)
    weights = random.normal(scale=0.01, size=1 << bits).astype(np.float32)
    totals = np.zeros(1 << bits)
    before, delta = weights.copy(), np.zeros(1 << bits, np.int16)
    places = np.empty(2 * len(words) * (kernel.PLACES_PER_ARC + min(len(words), n_tags)), np.uint64)
    tau = kernel.step(
        words, tags, np.array(gold, np.int32), np.array(predicted, np.int32), C, time, weights, totals, bits,
        *room(len(words), n_tags), delta, places, np.empty(len(places), np.float32),
    )  # fmt: skip
    assert not delta.any()
    return tau, before, weights, totals


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([1e-4, 0.01, 10.0]))
def test_a_step_is_the_least_change_that_mends_the_loss(seed, C):
    random = np.random.default_rng(seed)
    n, n_tags = int(random.integers(2, 5)), 3
    words, tags = (random.integers(0, high, n).astype(np.int32) for high in (6, n_tags))
    trees = list(projective_trees(n))
    gold, predicted = (trees[i] for i in random.integers(0, len(trees), 2))
    tau, before, after, totals = step(words, tags, gold, predicted, n_tags, C=C, seed=seed)
    amounts = twin.difference(words.tolist(), tags.tolist(), gold, predicted, BITS)
    loss = sum(a != b for a, b in zip(gold, predicted, strict=True))
    margin = sum(float(before[p]) * amount for p, amount in amounts.items())
    norm = sum(amount**2 for amount in amounts.values())
    expected = min(C, max(0.0, loss - margin) / norm) if norm else 0.0
    assert tau == pytest.approx(expected, rel=1e-6, abs=1e-12)
    change = np.zeros(1 << BITS)
    for place, amount in amounts.items():
        change[place] = tau * amount
    np.testing.assert_allclose(after.astype(float) - before, change, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(totals, 3.0 * change, rtol=1e-6, atol=1e-12)


def test_no_step_for_the_gold_tree_itself():
    words = tags = np.zeros(3, np.int32)
    tau, before, after, totals = step(words, tags, [2, 0, 2], [2, 0, 2], 1)
    assert tau == 0 and np.array_equal(before, after) and not totals.any()


def test_a_tag_between_counts_once_and_only_between():
    """By hand: the same tag twice between head and word adds no feature; the tags of the ends are not between."""
    tags = [0, 1, 1, 2]
    assert len(twin.places([0] * 4, tags, 1, 4, BITS)) == kernel.PLACES_PER_ARC + 1
    assert len(twin.places([0] * 4, tags, 1, 2, BITS)) == kernel.PLACES_PER_ARC
    assert len(twin.places([0] * 4, tags, 0, 4, BITS)) == kernel.PLACES_PER_ARC + 2


def test_what_does_not_fit_is_refused():
    words, tags, weights = np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros(1 << BITS, np.float32)
    with pytest.raises(ValueError, match=r"2\^bits"):
        scores(words, tags, weights[:-1], 1)
    with pytest.raises(ValueError, match=r"2\^bits"):
        scores(words, tags, weights[:4], 1, bits=2)
    with pytest.raises(ValueError, match="out of range"):
        scores(words, tags + 1, weights, 1)
    with pytest.raises(ValueError, match="out of range"):
        scores(words - 1, tags, weights, 1)
    with pytest.raises(ValueError, match="an entry a word"):
        scores(words, tags[:2], weights, 1)
    with pytest.raises(ValueError, match="an entry a word"):
        scores(words[:0], tags[:0], weights, 1)
    with pytest.raises(ValueError, match="head is out of range"):
        step(words, tags, [0, 1, 4], [0, 1, 2], 1)
    with pytest.raises(ValueError, match="head is out of range"):
        step(words, tags, [0, 1, 2], [0, 2, 1], 1)
