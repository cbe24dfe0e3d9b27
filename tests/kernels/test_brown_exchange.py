"""The exchange algorithm against the objective from scratch for every class a word could be in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_brown_merge import XLOGX, others_work_during, random_counts
from tests.reference import brown as twin
from wordkit._kernels import brown_exchange

seeds = st.integers(0, 2**32 - 1)
largest = st.sampled_from([1, 3, 900, 5000, 2**33])
shares = st.sampled_from([0.1, 0.5, 1.0])


class State:
    def __init__(self, counts, classes, C, xlogx=XLOGX):
        self.bigrams, self.xlogx = counts, xlogx
        self.classes = np.array(classes, dtype=np.int32)
        self.sizes = np.bincount(self.classes, minlength=C).astype(np.int64)
        N = twin.table(counts, self.classes, C)
        self.counts, self.sums = np.stack([N, N.T]), np.stack([N.sum(axis=1), N.sum(axis=0)])
        self.gain, self.lists = np.empty(C), np.zeros((2, C), np.int64)

    def arguments(self, first, last):
        left, right = self.bigrams.sum(axis=1), self.bigrams.sum(axis=0)
        return [
            *twin.rows(self.bigrams), *twin.rows(self.bigrams.T), left, right, first, last, self.classes, self.sizes,
            self.counts, self.sums, self.gain, self.lists, self.xlogx,
        ]  # fmt: skip

    def sweep(self, first=0, last=None):
        return brown_exchange.sweep(*self.arguments(first, len(self.classes) if last is None else last))

    def check(self):
        """What is kept up to date equals what is computed anew; no class is empty; the scratch is clean."""
        C = len(self.sizes)
        N = twin.table(self.bigrams, self.classes, C)
        np.testing.assert_array_equal(self.counts, [N, N.T])
        np.testing.assert_array_equal(self.sums, [N.sum(axis=1), N.sum(axis=0)])
        np.testing.assert_array_equal(self.sizes, np.bincount(self.classes, minlength=C))
        assert self.sizes.min() >= 1 and not self.lists.any()
        return twin.objective(N)


def made(seed, largest, words, C, share, entries=2000):
    random = np.random.default_rng(seed)
    counts = random_counts(random, words, largest, share)
    return State(counts, random.permutation(np.arange(words) % C), C, XLOGX[:entries])


@settings(max_examples=60)
@given(seeds, largest, st.integers(1, 9), st.integers(1, 6), shares, st.sampled_from([1, 2000]))
def test_each_word_goes_to_its_best_class(seed, largest, words, C, share, entries):
    state = made(seed, largest, words, min(C, words), share, entries)
    for word in range(words):
        old, alone = state.classes[word], state.sizes[state.classes[word]] == 1
        best, values = twin.best_move(state.bigrams, state.classes, len(state.sizes), word)
        others = np.delete(state.classes, word)
        moved = state.sweep(word, word + 1)
        new = state.classes[word]
        state.check()
        np.testing.assert_array_equal(np.delete(state.classes, word), others)
        assert moved == (new != old)
        if alone:
            assert new == old
            continue
        slack = 1e-12 * (1 + twin.f(state.bigrams.sum()))
        assert values[new] >= values[best] - slack
        if np.count_nonzero(values >= values[best] - slack) == 1:  # no tie: the very class
            assert new == best


@settings(max_examples=40)
@given(seeds, largest, st.integers(2, 14), st.integers(1, 5), shares)
def test_objective_never_falls_and_ends_in_a_fixed_point(seed, largest, words, C, share):
    state = made(seed, largest, words, min(C, words), share)
    slack = 1e-11 * (1 + twin.f(state.bigrams.sum()))
    value = state.check()
    for _ in range(60):
        moved = state.sweep()
        before, value = value, state.check()
        assert value >= before - slack
        if not moved:
            break
    assert moved == 0
    for word in range(words):
        if state.sizes[state.classes[word]] > 1:
            values = twin.best_move(state.bigrams, state.classes, len(state.sizes), word)[1]
            assert values.max() <= value + slack


@settings(max_examples=40)
@given(seeds, largest, st.integers(2, 12), st.integers(1, 5), shares)
def test_words_in_no_class_are_put_where_the_objective_of_what_stands_is_best(seed, largest, words, C, share):
    """Its sums over rows and columns are those of all bigrams of the words that stand."""
    random = np.random.default_rng(seed)
    counts, C = random_counts(random, words, largest, share), min(C, words)
    state = State(counts, np.arange(C), C)  # of the first words; the others are in none
    left, right = counts.sum(axis=1), counts.sum(axis=0)
    state.classes = np.concatenate([np.arange(C), np.full(words - C, -1)]).astype(np.int32)
    state.sums = np.stack([left[:C], right[:C]])
    slack = 1e-12 * (1 + twin.f(counts.sum()))
    for word in range(C, words):
        values = np.empty(C)
        for c in range(C):
            classes = state.classes.copy()
            classes[word] = c
            stands = classes >= 0
            sums = [np.bincount(classes[stands], side[stands], C) for side in (left, right)]
            values[c] = twin.f(twin.table(counts, classes, C)).sum() - sum(
                twin.f(side).sum() for side in sums
            )
        assert state.sweep(word, word + 1) == 1
        assert values[state.classes[word]] >= values.max() - slack
    state.check()


def test_separable_classes_are_found():
    """Words of even and of odd numbers follow each other."""
    random = np.random.default_rng(3)
    V = 40
    counts = random.integers(1, 50, (V, V)) * (np.arange(V)[:, None] % 2 != np.arange(V) % 2)
    state = State(counts, random.permutation(np.arange(V) % 2), 2)
    sweeps = [state.sweep() for _ in range(20)]
    assert sweeps[-1] == 0
    assert (state.classes == state.classes[0]).tolist() == (np.arange(V) % 2 == 0).tolist()


def test_words_without_bigrams_and_ties_stay():
    state = State(np.zeros((5, 5), np.int64), [0, 1, 2, 1, 0], 3)
    assert state.sweep() == 0 and state.classes.tolist() == [0, 1, 2, 1, 0]
    state = State(np.full((4, 4), 2), [0, 1, 0, 1], 2)
    state.sweep()
    state.check()
    state = State(np.zeros((0, 0), np.int64), [], 1)
    assert state.sweep() == 0
    state = State(np.ones((3, 3), np.int64), [0, 0, 0], 1)
    assert state.sweep() == 0
    state = State(np.ones((3, 3), np.int64), [2, 0, 1], 3)
    assert state.sweep() == 0 and state.classes.tolist() == [2, 0, 1]


def put(position, value):
    def change(arguments):
        arguments[position] = value

    return change


def cell(position, index, value):
    def change(arguments):
        arguments[position][index] = value

    return change


DOORS = {
    "starts": put(0, np.zeros(4, np.int64)),
    "starts fall": cell(0, 2, 99),
    "starts below 0": cell(3, 0, -1),
    "word after": cell(1, 0, 5),
    "word after below 0": cell(1, 0, -1),
    "word before": cell(4, 1, 5),
    "counts": put(2, np.ones(3, np.int64)),
    "count below 0": cell(2, 0, -5),
    "count before below 0": cell(5, 0, -5),
    "left": put(6, np.ones(4, np.int64)),
    "left below 0": cell(6, 1, -1),
    "right": put(7, np.ones(6, np.int64)),
    "first": put(8, -1),
    "last": put(9, 6),
    "last before first": put(8, 9),
    "class": cell(10, 0, 2),
    "class below -1": cell(10, 0, -2),
    "sizes": put(11, np.ones(3, np.int64)),
    "no class": put(11, np.ones(0, np.int64)),
    "table": put(12, np.ones((2, 2, 3), np.int64)),
    "one table": put(12, np.ones((1, 2, 2), np.int64)),
    "sums": put(13, np.ones((2, 3), np.int64)),
    "gain": put(14, np.ones(1)),
    "lists": put(15, np.zeros((1, 2), np.int64)),
    "xlogx": put(16, np.zeros(0)),
}


@pytest.mark.parametrize("name", DOORS)
def test_doors_refuse_what_does_not_fit(name):
    arguments = State(np.ones((5, 5), np.int64), [0, 1, 0, 1, 0], 2).arguments(0, 5)
    DOORS[name](arguments)
    with pytest.raises(ValueError):
        brown_exchange.sweep(*arguments)


def test_counts_that_do_not_belong_together_crash_nothing():
    state = State(np.ones((5, 5), np.int64), [0, 1, 0, 1, 0], 2)
    state.counts[:], state.sums[:] = 0, 0  # taking words out makes them negative
    state.sweep()
    assert set(state.classes) <= {0, 1}


def test_sweep_releases_the_lock():
    random = np.random.default_rng(0)
    state = State(np.zeros((1, 1), np.int64), [0], 1)
    V, C = 300, 100
    state.bigrams, state.classes = random_counts(random, V, 50, 1.0), (np.arange(V) % C).astype(np.int32)
    onto = np.eye(C, dtype=np.int64)[state.classes]
    N = onto.T @ state.bigrams @ onto
    state.counts, state.sums = np.stack([N, N.T]), np.stack([N.sum(axis=1), N.sum(axis=0)])
    state.sizes, state.gain, state.lists = onto.sum(axis=0), np.empty(C), np.zeros((2, C), np.int64)
    assert others_work_during(state.sweep)
