"""The k best projective trees against all trees of short sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wordkit._kernels.eisner_kbest import best_trees

from tests.reference import eisner_kbest as twin

# Projective trees of n words with one word on the root: 1, 2, 7, 30, 143 (binomial(3n - 2, n - 1) / n).
NUMBERS = {1: 1, 2: 2, 3: 7, 4: 30, 5: 143}


def best(arcs, k):
    heads, scores = np.full((k, len(arcs) - 1), -1, dtype=np.int32), np.full(k, np.nan)
    found = best_trees(np.ascontiguousarray(arcs, dtype=np.float64), heads, scores)
    return heads[:found], scores[:found]


def draw(n, seed, ties=False):
    random = np.random.default_rng(seed)
    arcs = random.normal(size=(n + 1, n + 1))
    return np.round(arcs) if ties else arcs


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(1, 200), st.integers(0, 10**6), st.booleans())
def test_trees_and_scores_are_those_of_all_trees(n, k, seed, ties):
    arcs = draw(n, seed, ties)
    heads, scores = best(arcs, k)
    expected = twin.best_trees(arcs, k)
    assert len(scores) == min(k, NUMBERS[n]) == len(expected)
    np.testing.assert_allclose(scores, [score for score, _ in expected], rtol=1e-12, atol=1e-12)
    assert np.all(np.diff(scores) <= 1e-12)
    trees = [tuple(row) for row in heads.tolist()]
    assert len(set(trees)) == len(trees)
    for tree, score in zip(trees, scores, strict=True):
        assert twin.is_tree(tree) and not twin.crossing(tree) and tree.count(0) == 1
        assert score == pytest.approx(sum(arcs[head, word] for word, head in enumerate(tree, 1)), abs=1e-12)
    if not ties:
        assert trees == [tree for _, tree in expected]


@pytest.mark.parametrize(("n", "number"), NUMBERS.items())
def test_every_tree_is_found_once(n, number):
    heads, _ = best(draw(n, 1), 2 * number)
    assert {tuple(row) for row in heads.tolist()} == set(twin.projective_trees(n))
    assert len(heads) == number


def test_by_hand():
    arcs = np.zeros((3, 3))
    arcs[0, 1], arcs[1, 2], arcs[0, 2], arcs[2, 1] = 1, 2, 4, 0.5
    heads, scores = best(arcs, 5)
    assert (heads.tolist(), scores.tolist()) == ([[2, 0], [0, 1]], [4.5, 3.0])


def test_equal_scores_have_a_fixed_order_and_all_trees():
    heads, scores = best(np.zeros((5, 5)), 100)
    assert not scores.any()
    assert len({tuple(row) for row in heads.tolist()}) == NUMBERS[4]
    assert np.array_equal(heads, best(np.zeros((5, 5)), 100)[0])


@pytest.mark.parametrize("n", [12, 60])
def test_fewer_trees_are_the_first_of_more(n):
    arcs = draw(n, 7)
    heads, scores = best(arcs, 60)
    assert len({tuple(row) for row in heads.tolist()}) == 60
    for k in (1, 2, 59):
        fewer, their_scores = best(arcs, k)
        assert np.array_equal(fewer, heads[:k]) and np.array_equal(their_scores, scores[:k])


def test_the_best_trees_of_a_longer_sentence_are_the_best_by_other_means():
    """The best tree without one of its arcs is the second best of all: no tree between them may have been missed."""
    arcs = draw(15, 3)
    heads, scores = best(arcs, 2)
    rivals = []
    for word, head in enumerate(heads[0], 1):
        without = arcs.copy()
        without[head, word] = -1e6
        rivals.append(best(without, 1)[1][0])
    assert scores[1] == pytest.approx(max(rivals), abs=1e-12)


def test_a_long_sentence_and_a_deep_tree():
    n = 1200
    arcs = np.full((n + 1, n + 1), -1.0)
    arcs[np.arange(n), np.arange(1, n + 1)] = 1.0  # every word hangs on the one before
    heads, scores = best(arcs, 3)
    assert heads[0].tolist() == list(range(n))
    assert scores.tolist() == [n, n - 2, n - 2]


def test_what_does_not_fit_is_refused():
    for arcs, heads, scores in (
        ((3, 3), (1, 3), 1),
        ((3, 4), (1, 2), 1),
        ((3, 3), (2, 2), 1),
        ((1, 1), (1, 0), 1),
    ):
        with pytest.raises(ValueError, match="at least one word and one tree"):
            best_trees(np.zeros(arcs), np.zeros(heads, dtype=np.int32), np.zeros(scores))


def test_read_only_arcs_will_do():
    arcs = draw(4, 2)
    arcs.flags.writeable = False
    assert len(best(arcs, 3)[1]) == 3
