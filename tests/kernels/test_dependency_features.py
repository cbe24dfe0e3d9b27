"""Keys of dependency trees against features written out by name; numbers and counts of keys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import dependency_features as twin
from tests.reference.eisner_kbest import is_tree, projective_trees
from wordkit._kernels import dependency_features as kernel
from wordkit.models.dependency_features import are_keys, classes_of, count_features, name_of

WORDS, TAGS = [f"w{i}" for i in range(9)], [f"T{i}" for i in range(5)]


def named(words, tags, heads):
    """Features of each tree by name, with their counts."""
    keys, counts = count_features(
        np.array(words, np.int32), np.array(tags, np.int32), np.array(heads, np.int32)
    )
    assert len(set(keys.tolist())) == len(keys)
    assert are_keys(keys, len(WORDS), len(TAGS))
    assert classes_of(keys).max() < len(kernel.TEMPLATES) == kernel.KEYS_PER_WORD
    names = [name_of(key, WORDS, TAGS) for key in keys.tolist()]
    return [Counter({name: n for name, n in zip(names, row, strict=True) if n}) for row in counts.tolist()]


def written_out(words, tags, heads):
    return [twin.features([WORDS[w] for w in words], [TAGS[t] for t in tags], tree) for tree in heads]


@settings(max_examples=60)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_features_of_short_trees(n, k, seed):
    random = np.random.default_rng(seed)
    trees = list(projective_trees(n))
    heads = [trees[i] for i in random.integers(0, len(trees), k)]
    words, tags = (random.integers(0, len(of), n).tolist() for of in (WORDS, TAGS))
    assert named(words, tags, heads) == written_out(words, tags, heads)


@settings(max_examples=40)
@given(st.integers(6, 40), st.integers(0, 10**6))
def test_features_of_long_trees_crossing_or_not(n, seed):
    random = np.random.default_rng(seed)
    order = random.permutation(n) + 1
    heads = [0] * n
    for place, word in enumerate(order.tolist()):
        heads[word - 1] = int(order[random.integers(0, place)]) if place else 0
    assert is_tree(heads)
    words, tags = (random.integers(0, len(of), n).tolist() for of in (WORDS, TAGS))
    assert named(words, tags, [heads]) == written_out(words, tags, [heads])


def test_by_hand():
    """`the cat sleeps`: the hangs on cat, cat on sleeps."""
    (found,) = named([0, 1, 2], [0, 1, 2], [[2, 3, 0]])
    assert found["grandparent g.t=T2 h.t=T1 m.t=T0 ways=0"] == 1
    assert found["valency m.t=T2 left=1 right=0"] == 1
    assert found["edges m.t=T1 first.t=T0 last.t=T1"] == 1
    assert found["right on=1"] == 1 and found["right on=0"] == 2
    assert sum(found.values()) == 3 * kernel.KEYS_PER_WORD


def test_numbers_beyond_the_fields_are_others():
    words, tags = np.array([kernel.MOST["w"], kernel.MOST["w"] + 1], np.int32), np.array([509, 508], np.int32)
    keys, _ = count_features(words, tags, np.array([[2, 0]], np.int32))
    many = [f"n{i}" for i in range(kernel.MOST["w"] + 1)]
    names = {name_of(key, many, many) for key in keys.tolist()}
    assert "arc h.w=<other> m.w=n262140 way=0" in names and "arc h.t=n508 m.t=<other> way+distance=2" in names


def test_what_is_no_key_is_told():
    keys, _ = count_features(np.array([3], np.int32), np.array([2], np.int32), np.array([[0]], np.int32))
    assert are_keys(keys, 4, 3)
    assert not are_keys(keys, 3, 3) and not are_keys(keys, 4, 2)
    assert not are_keys(np.array([63], np.uint64), 4, 3)
    assert not are_keys(keys | np.uint64(1 << 63), 4, 3)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60))
def test_numbers_are_those_of_first_occurrence(values):
    keys = np.array(values, np.uint64) * np.uint64(1 << 57)  # alike in the bits that places are made of
    places = 256
    distinct, numbers = np.empty(len(keys), np.uint64), np.empty(len(keys), np.int32)
    scratch = np.empty(places, np.uint64), np.empty(places, np.int32)
    found = kernel.number_keys(keys, *scratch, distinct, numbers)
    order = list(dict.fromkeys(keys.tolist()))
    assert distinct[:found].tolist() == order
    assert [order[number] for number in numbers] == keys.tolist()


def test_what_does_not_fit_is_refused():
    two = np.zeros(2, np.int32)
    for heads in ([[0, 3]], [[2, 1]], [[1, 0]], [[-1, 0]]):
        with pytest.raises(ValueError, match="not trees"):
            count_features(two, two, np.array(heads, np.int32))
    with pytest.raises(ValueError, match="below 0"):
        count_features(two - 1, two, np.array([[0, 1]], np.int32))
    with pytest.raises(ValueError, match="an entry a word"):
        count_features(two, two[:1], np.array([[0, 1]], np.int32))
    with pytest.raises(ValueError, match="power of two"):
        kernel.number_keys(
            np.zeros(2, np.uint64), np.zeros(6, np.uint64), np.zeros(6, np.int32), np.zeros(2, np.uint64), two
        )
    with pytest.raises(ValueError, match="outside 0 to 0"):
        kernel.count_numbers(np.ones((1, 1), np.int32), np.zeros((1, 1), np.int32))
