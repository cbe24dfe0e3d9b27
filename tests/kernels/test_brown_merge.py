"""Greedy merging against the objective from scratch, and what must hold of any window."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import brown as twin
from wordkit._kernels import brown_merge

XLOGX = twin.f(np.arange(2000.0))
seeds = st.integers(0, 2**32 - 1)


class Window:
    def __init__(self, M, words=0, xlogx=XLOGX):
        self.counts, self.loss = np.zeros((2, M, M), np.int64), np.full((M, M), np.inf)
        self.sums, self.active, self.scratch = np.zeros((2, M), np.int64), np.zeros(M, np.uint8), np.empty(M)
        self.member, self.slot = np.arange(words, dtype=np.int32), np.full(words, -1, np.int32)
        self.holder, self.xlogx = np.zeros(M, np.int32), xlogx

    @property
    def arrays(self):
        return self.counts, self.loss, self.sums, self.active, self.scratch, self.xlogx

    @classmethod
    def of_table(cls, N, xlogx=XLOGX):
        made = cls(len(N), xlogx=xlogx)
        made.counts[0], made.counts[1] = N, N.T
        made.sums[0], made.sums[1] = N.sum(axis=1), N.sum(axis=0)
        made.active[:] = 1
        brown_merge.fill(*made.arrays)
        return made

    def add(self, counts, first, last):
        sides = (*twin.rows(counts), *twin.rows(counts.T))
        brown_merge.add_words(*sides, first, last, self.member, self.slot, self.holder, *self.arrays)

    def root(self, word):
        while self.member[word] != word:
            word = self.member[word]
        return word

    def labels(self, added):
        """Place of each word's class; -1 for words to come."""
        return np.array(
            [self.slot[self.root(w)] if w < added else -1 for w in range(len(self.member))], dtype=int
        )

    def check(self):
        """Everything that is kept up to date equals what is computed anew."""
        N = self.counts[0]
        np.testing.assert_array_equal(self.counts[1], N.T)
        np.testing.assert_array_equal(self.sums, [N.sum(axis=1), N.sum(axis=0)])
        assert not N[self.active == 0].any() and not N[:, self.active == 0].any()
        fresh = np.empty_like(self.loss)
        brown_merge.fill(self.counts, fresh, self.sums, self.active, self.scratch, self.xlogx)
        np.testing.assert_array_equal(np.isinf(fresh), np.isinf(self.loss))
        np.testing.assert_allclose(self.loss, fresh, rtol=1e-7, atol=1e-9 * (1 + twin.f(N.sum())))


def random_counts(random, words, largest, share):
    counts = random.integers(1, largest, (words, words), endpoint=True)
    return counts * (random.random((words, words)) < share)


shapes = {"words": st.integers(1, 9), "C": st.integers(1, 9), "share": st.sampled_from([0.1, 0.5, 1.0])}
largest = st.sampled_from([1, 3, 900, 5000, 2**33])


@settings(max_examples=60)
@given(seed=seeds, largest=largest, entries=st.sampled_from([1, 50, 2000]), **shapes)
def test_every_merge_loses_least(seed, largest, entries, words, C, share):
    """Word after word; where several pairs lose the same, any of them is right."""
    counts = random_counts(np.random.default_rng(seed), words, largest, share)
    window = Window(C + 1, words, XLOGX[:entries])
    for word in range(words):
        before, earlier = window.active.copy(), window.labels(word)
        window.add(counts, word, word + 1)
        labels = window.labels(word + 1)
        assert np.count_nonzero(window.active) == min(word + 1, C) == len(set(labels[: word + 1]))
        np.testing.assert_array_equal(window.counts[0], twin.table(counts, labels, C + 1))
        window.check()
        # The window before the merge: the word in the first free place.
        earlier[word] = int(np.flatnonzero(before == 0)[0])
        if before.sum() == C:
            N = twin.table(counts, earlier, C + 1)
            loss = twin.losses(N, np.ones(C + 1))
            gone = int(np.flatnonzero(window.active == 0)[0])
            kept = labels[np.flatnonzero(earlier == gone)[0]]
            assert loss[kept, gone] <= loss.min() + 1e-12 * (1 + twin.f(counts.sum()))
        else:
            np.testing.assert_array_equal(labels, earlier)


@settings(max_examples=30)
@given(seed=seeds, largest=st.sampled_from([900, 10**6, 2**33]), **shapes)
def test_classes_equal_the_twin(seed, largest, words, C, share):
    """Full tables of random numbers have no ties."""
    counts = random_counts(np.random.default_rng(seed), words, largest, 1.0)
    window = Window(C + 1, words)
    window.add(counts, 0, words)
    mine = {frozenset(np.flatnonzero(window.labels(words) == c)) for c in set(window.labels(words))}
    assert mine == {frozenset(members) for members in twin.greedy(counts, C)}


@settings(max_examples=60)
@given(seeds, largest, st.integers(1, 20), st.sampled_from([0.1, 0.5, 1.0]))
def test_losses_from_counts(seed, largest, M, share):
    random = np.random.default_rng(seed)
    N = random_counts(random, M, largest, share)
    window = Window(M)
    window.active[:] = random.random(M) < 0.7
    N[window.active == 0] = N[:, window.active == 0] = 0
    window.counts[0], window.counts[1] = N, N.T
    window.sums[0], window.sums[1] = N.sum(axis=1), N.sum(axis=0)
    brown_merge.fill(*window.arrays)
    expected = twin.losses(N, window.active)
    np.testing.assert_allclose(window.loss, expected, rtol=1e-9, atol=1e-12 * (1 + twin.f(N.sum())))
    np.testing.assert_array_equal(window.loss, window.loss.T)


@settings(max_examples=40)
@given(seeds, largest, st.integers(1, 8), st.sampled_from([0.1, 0.5, 1.0]))
def test_joins_lose_least_down_to_one_class(seed, largest, M, share):
    N = random_counts(np.random.default_rng(seed), M, largest, share)
    window = Window.of_table(N)
    pairs = np.empty((M - 1, 2), np.int32)
    brown_merge.join(*window.arrays, pairs)
    active = np.ones(M)
    for kept, gone in pairs:
        loss = twin.losses(N, active)
        assert active[kept] and active[gone] and kept != gone
        assert loss[kept, gone] <= loss.min() + 1e-12 * (1 + twin.f(N.sum()))
        N, active[gone] = twin.merged(N, kept, gone), 0
    np.testing.assert_array_equal(window.counts[0], N)
    window.check()


def test_losses_stay_true_over_many_merges():
    random = np.random.default_rng(1)
    V = 700
    p = 1 / np.arange(1, V + 1)
    counts = random.poisson(3000 * np.outer(p, p))
    window = Window(41, V)
    for first in range(0, V, 100):
        window.add(counts, first, first + 100)
        window.check()
    np.testing.assert_array_equal(window.counts[0].sum(), counts.sum())


def test_equal_losses_merge_the_first_pair():
    """Without a bigram all losses are 0: the first two places are merged each time, and the first is kept."""
    counts = np.zeros((5, 5), np.int64)
    window = Window(4, 5)
    window.add(counts, 0, 5)
    assert window.labels(5).tolist() == [0, 0, 2, 3, 0]
    window = Window.of_table(np.zeros((4, 4), np.int64))
    pairs = np.empty((3, 2), np.int32)
    brown_merge.join(*window.arrays, pairs)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3]]
    # Each word follows each other one equally often: all pairs are alike, to the last bit.
    window = Window.of_table(np.full((20, 20), 7))
    assert len(set(window.loss[~np.eye(20, dtype=bool)])) == 1
    pairs = np.empty((19, 2), np.int32)
    brown_merge.join(*window.arrays, pairs)
    assert pairs[0].tolist() == [0, 1]


def test_hand_computed_loss():
    """a b a b: N[a, b] = 2 and N[b, a] = 1."""
    window = Window.of_table(np.array([[0, 2], [1, 0]]))
    # objective: f(2) + f(1) - 2 (f(2) + f(1)) = -2 log 2; merged: f(3) - 2 f(3) = -3 log 3.
    assert window.loss[0, 1] == window.loss[1, 0] == pytest.approx(3 * np.log(3) - 2 * np.log(2), rel=1e-12)


def test_nothing_to_do():
    window = Window(1)
    window.add(np.zeros((0, 0), np.int64), 0, 0)
    brown_merge.fill(*window.arrays)
    brown_merge.join(*window.arrays, np.empty((0, 2), np.int32))
    window = Window(3, 4)
    window.add(np.ones((4, 4), np.int64), 2, 2)
    assert not window.active.any() and (window.slot == -1).all()


def doors():
    """(name, change of the arguments of add_words) of calls that do not fit."""

    def put(position, value):
        def change(arguments):
            arguments[position] = value

        return change

    def cell(position, index, value):
        def change(arguments):
            arguments[position][index] = value

        return change

    yield from (
        ("starts", put(0, np.zeros(4, np.int64))),
        ("starts fall", cell(0, 2, 99)),
        ("starts below 0", cell(3, 0, -1)),
        ("word after", cell(1, 0, 5)),
        ("word after below 0", cell(1, 0, -1)),
        ("word before", cell(4, 1, 5)),
        ("counts", put(2, np.ones(3, np.int64))),
        ("count below 0", cell(2, 0, -5)),
        ("count before below 0", cell(5, 0, -5)),
        ("first", put(6, -1)),
        ("last", put(7, 6)),
        ("last before first", put(6, 4)),
        ("member", cell(8, 0, 5)),
        ("slot", cell(9, 0, 3)),
        ("slots", put(9, np.zeros(2, np.int32))),
        ("holder", put(10, np.zeros(2, np.int32))),
        ("held word", put(10, np.full(3, 9, np.int32))),
        ("counts of the window", put(11, np.zeros((2, 3, 2), np.int64))),
        ("one table", put(11, np.zeros((1, 3, 3), np.int64))),
        ("count of the window below 0", cell(11, (0, 0, 0), -7)),
        ("losses", put(12, np.zeros((3, 2)))),
        ("sums", put(13, np.zeros((2, 2), np.int64))),
        ("sum below 0", cell(13, (1, 0), -7)),
        ("active", put(14, np.zeros(2, np.uint8))),
        ("full", put(14, np.ones(3, np.uint8))),
        ("scratch", put(15, np.empty(2))),
        ("table", put(16, np.empty(0))),
    )


@pytest.mark.parametrize(
    ("name", "change"), list(doors()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_doors_refuse_what_does_not_fit(name, change):
    counts, window = np.ones((5, 5), np.int64), Window(3, 5)
    window.add(counts, 0, 2)
    arguments = [
        *twin.rows(counts), *twin.rows(counts.T), 2, 3, window.member, window.slot, window.holder, *window.arrays,
    ]  # fmt: skip
    change(arguments)
    with pytest.raises(ValueError):
        brown_merge.add_words(*arguments)
    if name in ("losses", "sums", "scratch", "table", "one table", "counts of the window"):
        with pytest.raises(ValueError):
            brown_merge.fill(*arguments[11:])
        with pytest.raises(ValueError):
            brown_merge.join(*arguments[11:], np.empty((1, 2), np.int32))


def test_doors_refuse_more():
    window = Window(1, 2)
    with pytest.raises(ValueError):  # one place: there is no pair to merge
        window.add(np.ones((2, 2), np.int64), 0, 1)
    window = Window.of_table(np.ones((3, 3), np.int64))
    for shape in ((3, 2), (2, 3), (1, 2)):
        with pytest.raises(ValueError):
            brown_merge.join(*window.arrays, np.empty(shape, np.int32))
    with pytest.raises((ValueError, BufferError)):
        brown_merge.fill(window.counts, window.loss[::-1], *window.arrays[2:])


def others_work_during(call) -> bool:
    """Does another thread run while a kernel's call lasts?"""
    interval = sys.getswitchinterval()
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    other = threading.Thread(target=count)
    sys.setswitchinterval(1e-4)
    try:
        other.start()
        time.sleep(0.005)
        started = time.perf_counter()
        call()
        ended = time.perf_counter()
    finally:
        done.set()
        other.join()
        sys.setswitchinterval(interval)
    inside = [t for t in ticks if started + 0.1 * (ended - started) < t < ended - 0.1 * (ended - started)]
    return len(inside) >= 3


def test_calls_release_the_lock():
    random = np.random.default_rng(0)
    N = random_counts(random, 260, 50, 1.0)
    window = Window.of_table(N)
    assert others_work_during(lambda: brown_merge.fill(*window.arrays))
    assert others_work_during(lambda: brown_merge.join(*window.arrays, np.empty((259, 2), np.int32)))
    window = Window(100, 260)
    assert others_work_during(lambda: window.add(N, 0, 260))
