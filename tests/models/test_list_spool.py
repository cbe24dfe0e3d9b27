"""Relative counts, chosen features and lists on their way into a file."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wordkit.models.feature_index import FIRST_COLUMN, FeatureIndex, chosen, relative
from wordkit.models.list_spool import CandidateList, ListSpool


@given(arrays(np.int32, st.tuples(st.integers(1, 6), st.integers(0, 8)), elements=st.integers(0, 3)))
def test_relative_counts_differ_as_the_counts_do_and_the_most_common_is_zero(counts):
    places, values = relative(counts)
    left = [u for u in range(counts.shape[1]) if len(set(counts[:, u].tolist())) > 1]
    assert places.tolist() == left
    for u, column in zip(left, values.T, strict=True):
        assert len(set((counts[:, u] - column).tolist())) == 1
        most = counts[0, u] - column[0]
        times = [int((counts[:, u] == value).sum()) for value in range(4)]
        assert times[most] == max(times) and most == times.index(max(times))


def test_features_are_chosen_by_class_then_by_first_occurrence():
    keys = np.array([30, 10, 20, 30, 10, 40, 40, 20, 5], np.uint64)
    classes = keys % np.uint64(20)
    index, distinct = chosen(keys, classes, 2)
    assert (index.tolist(), distinct) == ([20, 40, 30, 10], 5)
    columns = FeatureIndex(index).columns(np.array([10, 5, 20, 99], np.uint64))
    assert columns.tolist() == [FIRST_COLUMN + 3, -1, FIRST_COLUMN, -1]
    assert FeatureIndex(np.empty(0, np.uint64)).columns(keys[:2]).tolist() == [-1, -1]


def made(qid, random):
    k, distinct = int(random.integers(1, 5)), int(random.integers(0, 6))
    values = random.integers(-2, 3, (k, distinct)).astype(np.int32)
    keys = random.choice(100, distinct, replace=False).astype(np.uint64)
    scores = -np.sort(-random.normal(size=k))
    counts = np.tile(np.array([[2, 4, 6]]), (k, 1)) + np.arange(k)[:, None] * [[1, 0, 0]]
    return CandidateList(
        qid, scores, np.minimum(counts, counts[:, 1:2] + [0, 0, 9]).astype(np.int64), keys, values
    )


@given(st.integers(0, 1000), st.integers(0, 8))
def test_lists_come_back_as_they_went_in(seed, many):
    random = np.random.default_rng(seed)
    lists = [made(qid, random) for qid in range(3, 3 + many)]
    spool = ListSpool()
    for one in lists:
        spool.append(one)
    assert len(spool) == many
    assert spool.keys().tolist() == [key for one in lists for key in one.keys.tolist()]
    for one, again in zip(lists, spool, strict=True):
        assert again.qid == one.qid
        for name in ("scores", "counts", "keys", "values"):
            assert np.array_equal(getattr(again, name), getattr(one, name)), name


def test_rows_and_shares_by_hand():
    one = CandidateList(
        7, np.array([2.0, 1.5]), np.array([[3, 4, 4], [1, 4, 2]]), np.array([8, 9, 5], np.uint64),
        np.array([[0, 1, 2], [1, 0, -1]], np.int32),
    )  # fmt: skip
    rows, unseen = one.rows(FeatureIndex(np.array([5, 8], np.uint64)))
    assert rows.toarray().tolist() == [[0, 2, 0], [-0.5, -1, 1]] and unseen == 1
    assert one.shares().tolist() == [0.75, 2 / 6]
    without = CandidateList(7, one.scores, np.zeros((2, 3), np.int64), one.keys, one.values)
    assert without.shares().tolist() == [0, 0]
