"""Rows of counts against every pair of places looked at."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_brown_merge import others_work_during
from tests.reference import cooccurrence as twin
from wordkit._kernels import cooccurrence

seeds = st.integers(0, 2**32 - 1)
dtypes = st.sampled_from([np.int32, np.int64])


def random_stream(random, V: int, length: int, ends: float = 0.15) -> np.ndarray:
    """Words with the frequent ones first, some left out (V), some line ends."""
    words = np.minimum(np.exp(random.random(length) * np.log(V + 2)).astype(np.int32) - 1, V)
    words[random.random(length) < ends] = -1
    return np.concatenate([[-1], words, [-1]]).astype(np.int32)


class Table:
    """What the doors write into."""

    def __init__(self, V: int, rows: int, room: int, dtype=np.int32):
        self.sums, self.bits = np.zeros(V + 1, dtype), np.zeros(V // 64 + 1, np.uint64)
        self.parts, self.lengths = np.zeros(V // 4096 + 1, np.uint8), np.empty(rows, np.int64)
        self.columns, self.values = np.empty(room, np.int32), np.empty(room, dtype)

    @property
    def arrays(self):
        return self.sums, self.bits, self.parts, self.columns, self.values, self.lengths

    def dense(self, found: int) -> np.ndarray:
        assert found == self.lengths.sum() <= len(self.columns)
        assert not self.sums.any() and not self.bits.any() and not self.parts.any()
        out = np.zeros((len(self.lengths), len(self.sums) - 1), np.int64)
        ends = np.cumsum(self.lengths)
        for row, (lo, hi) in enumerate(zip(ends - self.lengths, ends, strict=True)):
            assert (np.diff(self.columns[lo:hi]) > 0).all()
            out[row, self.columns[lo:hi]] = self.values[lo:hi]
        return out


def places_of(stream, V, first=0, last=None):
    last = len(stream) if last is None else last
    starts, places = np.empty(V + 1, np.int64), np.full(len(stream), -7, np.int32)
    return starts, places[: cooccurrence.list_places(stream, first, last, V, starts, places)]


def counted(stream, V, before, after, first=0, last=None, rows=None):
    starts, places = places_of(stream, V, first, last)
    lo, hi = rows or (0, V)
    room = np.minimum(np.diff(starts[lo : hi + 1]) * (len(before) + len(after)), V).sum()
    made = Table(V, hi - lo, room, before.dtype)
    return made.dense(
        cooccurrence.count_rows(stream, places, starts[lo : hi + 1], before, after, *made.arrays)
    )


@settings(max_examples=80)
@given(seeds, st.sampled_from([1, 2, 63, 64, 65, 200]), st.integers(0, 300), st.floats(0, 1))
def test_places(seed, V, length, cut):
    random = np.random.default_rng(seed)
    stream = random_stream(random, V, length)
    first, last = sorted(int(x) for x in (cut * len(stream), random.integers(len(stream) + 1)))
    starts, places = places_of(stream, V, first, last)
    for word in range(V):
        expected = first + np.flatnonzero(stream[first:last] == word)
        np.testing.assert_array_equal(places[starts[word] : starts[word + 1]], expected)
    assert starts[V] == len(places)


@settings(max_examples=150)
@given(
    seeds, st.sampled_from([1, 2, 63, 64, 65, 200]), st.integers(0, 300), st.integers(0, 7), st.integers(0, 7),
    st.sampled_from([0.02, 0.15, 0.9]), dtypes,
)  # fmt: skip
def test_rows_equal_the_twin(seed, V, length, n_before, n_after, ends, dtype):
    random = np.random.default_rng(seed)
    stream = random_stream(random, V, length, ends)
    before, after = (random.integers(1, 50, n).astype(dtype) for n in (n_before, n_after))
    expected = twin.table(stream, 0, len(stream), V, before, after)
    np.testing.assert_array_equal(counted(stream, V, before, after), expected)
    first, last = sorted(random.integers(0, len(stream) + 1, 2).tolist())
    lo, hi = sorted(random.integers(0, V + 1, 2).tolist())
    expected = twin.table(stream, first, last, V, before, after)[lo:hi]
    np.testing.assert_array_equal(counted(stream, V, before, after, first, last, (lo, hi)), expected)


@pytest.mark.parametrize("V", [4095, 4096, 4097, 9000])
def test_wide_rows(V):
    """More columns than one mark stands for, the last of them too."""
    random = np.random.default_rng(V)
    stream = random_stream(random, V, 3000)
    stream[[5, 50, 500]] = V - 1
    ones = np.ones(3, np.int32)
    expected = twin.table(stream, 0, len(stream), V, ones, ones)
    for rows in ((0, 100), (V - 100, V)):
        np.testing.assert_array_equal(counted(stream, V, ones, ones, rows=rows), expected[slice(*rows)])


def test_by_hand():
    """Line `a b a`, then `b`: b left out of the second table."""
    stream = np.array([-1, 0, 1, 0, -1, 1, -1], np.int32)
    weights = np.array([2, 1], np.int64)
    np.testing.assert_array_equal(counted(stream, 2, weights, weights), [[2, 4], [4, 0]])
    np.testing.assert_array_equal(counted(stream, 2, weights, weights[:0]), [[1, 2], [2, 0]])
    np.testing.assert_array_equal(
        counted(stream, 1, weights, weights), [[2]]
    )  # word 1 is V: it keeps its place


@settings(max_examples=60)
@given(seeds, st.sampled_from([1, 64, 65, 300]), st.integers(1, 6), st.integers(1, 4), dtypes)
def test_sums_of_tables(seed, V, rows, tables, dtype):
    random = np.random.default_rng(seed)
    dense = random.integers(0, 9, (tables, rows, V)) * (random.random((tables, rows, V)) < 0.2)
    t, _, columns = np.nonzero(dense)
    values = dense[dense > 0].astype(dtype)
    lengths = np.count_nonzero(dense, axis=2)
    bounds = np.cumsum(np.concatenate([np.zeros((tables, 1), np.int64), lengths], axis=1), axis=1)
    bounds += np.searchsorted(t, np.arange(tables))[:, None]
    made = Table(V, rows, len(values), np.int64)
    found = cooccurrence.sum_rows(columns.astype(np.int32), values, bounds, *made.arrays)
    np.testing.assert_array_equal(made.dense(found), dense.sum(axis=0))


def test_nothing_to_do():
    empty = np.array([-1, -1], np.int32)
    ones = np.ones(2, np.int32)
    assert not counted(empty, 3, ones, ones).any()
    assert not counted(np.array([-1, 0, 1, -1], np.int32), 2, ones[:0], ones[:0]).any()
    assert counted(np.array([-1, 0, 1, -1], np.int32), 2, ones, ones, rows=(1, 1)).shape == (0, 2)
    made = Table(3, 2, 0, np.int64)
    none = np.empty(0, np.int32)
    assert cooccurrence.sum_rows(none, none, np.zeros((2, 3), np.int64), *made.arrays) == 0
    assert made.lengths.tolist() == [0, 0]
    starts = np.empty(2, np.int64)
    assert cooccurrence.list_places(none, 0, 0, 1, starts, none) == 0 and not starts.any()


def test_read_only_inputs():
    stream = random_stream(np.random.default_rng(1), 5, 50)
    ones = np.ones(2, np.int32)
    expected = counted(stream, 5, ones, ones)
    for array in (stream, ones):
        array.flags.writeable = False
    np.testing.assert_array_equal(counted(stream, 5, ones, ones), expected)


def doors():
    """(name, position of the argument of count_rows, what it is changed to)."""
    yield from (
        ("stream does not begin with an end", 0, np.array([0, 1, -1], np.int32)),
        ("stream does not end with one", 0, np.array([-1, 1, 2], np.int32)),
        ("stream of one", 0, np.array([-1], np.int32)),
        ("place 0", 1, np.zeros(20, np.int32)),
        ("place at the end", 1, np.full(20, 21, np.int32)),
        ("place below 0", 1, np.full(20, -5, np.int32)),
        ("too few places", 1, np.ones(1, np.int32)),
        ("starts", 2, np.zeros(3, np.int64)),
        ("starts fall", 2, np.array([0, 9, 3, 3, 3, 20], np.int64)),
        ("starts below 0", 2, np.array([-3, 0, 0, 0, 0, 0], np.int64)),
        ("starts pass", 2, np.array([0, 0, 0, 0, 0, 2**40], np.int64)),
        ("sums", 5, np.zeros(1, np.int32)),
        ("bits", 6, np.zeros(2, np.uint64)),
        ("parts", 7, np.zeros(0, np.uint8)),
        ("columns", 8, np.empty(1, np.int32)),
        ("values", 9, np.empty(1, np.int32)),
        ("lengths", 10, np.empty(4, np.int64)),
    )


@pytest.mark.parametrize(
    ("name", "position", "value"), list(doors()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_doors_refuse_what_does_not_fit(name, position, value):
    stream = np.array([-1, *[0, 1, 2, 3, 4] * 4, -1], np.int32)
    starts, places = places_of(stream, 5)
    ones = np.ones(2, np.int32)
    arguments = [stream, places, starts, ones, ones, *Table(5, 5, 25).arrays]
    cooccurrence.count_rows(*arguments)
    arguments[position] = value
    with pytest.raises(ValueError):
        cooccurrence.count_rows(*arguments)


def test_other_doors_refuse():
    stream, starts, places = np.array([0, 1], np.int32), np.empty(3, np.int64), np.empty(2, np.int32)
    for first, last, V in ((-1, 2, 2), (0, 3, 2), (2, 1, 2), (0, 2, 0), (0, 2, 3)):
        with pytest.raises(ValueError):
            cooccurrence.list_places(stream, first, last, V, starts, places)
    with pytest.raises(ValueError):
        cooccurrence.list_places(stream, 0, 2, 2, starts, places[:1])
    bounds = np.array([[0, 1], [1, 2]], np.int64)
    for columns, values, where in (
        ([0, 2], [1, 1], bounds), ([-1, 0], [1, 1], bounds), ([0, 1], [1], bounds), ([0, 1], [1, 1], bounds + 1),
        ([0, 1], [1, 1], bounds[::-1].copy()), ([0, 1], [1, 1], bounds[:, :1].copy()), ([0, 1], [1, 1], bounds - 1),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            cooccurrence.sum_rows(
                np.array(columns, np.int32),
                np.array(values, np.int32),
                where,
                *Table(2, 1, 2, np.int64).arrays,
            )
    with pytest.raises(ValueError):
        cooccurrence.sum_rows(
            np.zeros(2, np.int32), np.ones(2, np.int32), bounds, *Table(2, 1, 1, np.int64).arrays
        )


def test_numbers_out_of_range_end_a_line():
    """Nothing outside the sums is written, whatever the stream holds."""
    stream = np.array([-1, 0, 7, 0, -2147483648, 0, 2147483647, -1], np.int32)
    ones = np.ones(5, np.int32)
    assert counted(stream, 2, ones, ones).tolist() == [[0, 0], [0, 0]]


def test_calls_release_the_lock():
    random = np.random.default_rng(0)
    stream = random_stream(random, 3000, 2_000_000)
    starts, places = np.empty(3001, np.int64), np.empty(len(stream), np.int32)
    assert others_work_during(lambda: cooccurrence.list_places(stream, 0, len(stream), 3000, starts, places))
    ones, made = np.ones(5, np.int32), Table(3000, 3000, 3000 * 3000)
    assert others_work_during(
        lambda: cooccurrence.count_rows(stream, places, starts, ones, ones, *made.arrays)
    )
