"""Counting and packing of n-best lists: against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.kernels.rerank_cases import V, dense_of, lists_of, some_lists
from wordkit._kernels import nbest_pack


def counted(lists, parts=1):
    """In how many lists each feature varies, and its spread; ``parts`` calls, one list after the other."""
    last, scratch = np.full(V, -1, np.int64), [np.zeros(V, kind) for kind in "fiiddd"]
    for s in range(len(lists)):
        begin, end = lists.starts[s], lists.starts[s + 1]
        at, to = lists.indptr[begin], lists.indptr[end]
        nbest_pack.count_lists(
            np.array([0, end - begin]), lists.indptr[begin : end + 1] - at, lists.indices[at:to], lists.values[at:to], s, last,
            *scratch,
        )  # fmt: skip
    return scratch[2], scratch[5]


@given(some_lists)
def test_counts_the_lists_in_which_a_feature_varies(made):
    lists = lists_of(made)
    rows = [rows for _, rows in dense_of(made)]
    varies, spread = counted(lists)
    assert varies.tolist() == sum((np.ptp(own, axis=0) > 0).astype(int) for own in rows).tolist()
    np.testing.assert_allclose(
        spread, sum(((own - own.mean(axis=0)) ** 2).sum(axis=0) for own in rows), atol=1e-9
    )
    last, scratch = np.full(V, -1, np.int64), [np.zeros(V, kind) for kind in "fiiddd"]
    nbest_pack.count_lists(lists.starts, lists.indptr, lists.indices, lists.values, 0, last, *scratch)
    assert np.array_equal(scratch[2], varies)


def test_zeros_that_are_written_are_as_none():
    one = (np.array([0, 2]), np.array([0, 1, 1]), np.array([3], np.int32), np.array([0], np.float32))
    last, scratch = np.full(V, -1, np.int64), [np.zeros(V, kind) for kind in "fiiddd"]
    nbest_pack.count_lists(*one, 0, last, *scratch)
    assert not scratch[2].any()


@given(some_lists)
def test_packing_keeps_values_under_new_numbers(made):
    lists = lists_of(made)
    lookup = np.array([2, -1, 0, 1, -1, 3, 4], np.int32)
    scale = np.array([1, 2, 4, 8, 16], np.float32)
    size = len(lists.indices)
    ends, firsts = np.empty(len(lists.indptr), np.int64), np.empty(len(lists) + 1, np.int64)
    places, values, features = np.empty(size, np.int32), np.empty(size, np.float32), np.empty(size, np.int32)
    kept, distinct = nbest_pack.pack(
        lists.starts, lists.indptr, lists.indices, lists.values, lookup, scale, 0, np.full(5, -1, np.int64),
        np.empty(5, np.int32), ends, places, values, firsts, features,
    )  # fmt: skip
    assert ends[-1] == kept and firsts[-1] == distinct
    for s, (_, rows) in enumerate(dense_of(made)):
        own = features[firsts[s] : firsts[s + 1]]
        assert len(set(own.tolist())) == len(own)
        for c, row in enumerate(rows, lists.starts[s]):
            found = np.zeros(5)
            found[own[places[ends[c] : ends[c + 1]]]] = values[ends[c] : ends[c + 1]]
            expected = np.zeros(5)
            expected[lookup[lookup >= 0]] = row[lookup >= 0]
            np.testing.assert_array_equal(found, expected * scale)


def test_arrays_that_do_not_fit_are_refused():
    good = [np.array([0, 1]), np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32)]
    bad = {0: np.array([0, 2]), 1: np.array([0, 1]), 2: np.array([0, 7], np.int32), 3: np.ones(3, np.float32)}
    for place, array in bad.items():
        arrays = [array if i == place else kept for i, kept in enumerate(good)]
        with pytest.raises(ValueError, match=r"fit|outside"):
            nbest_pack.count_lists(
                *arrays, 0, np.full(V, -1, np.int64), *[np.zeros(V, kind) for kind in "fiiddd"]
            )
    with pytest.raises(ValueError, match="too short"):
        nbest_pack.count_lists(
            *good, 0, np.full(V, -1, np.int64), *[np.zeros(V - 1, kind) for kind in "fiiddd"]
        )
    rest = [
        np.empty(3, np.int64),
        np.empty(2, np.int32),
        np.empty(2, np.float32),
        np.empty(2, np.int64),
        np.empty(2, np.int32),
    ]

    def pack(lookup, outputs=rest):
        own = [np.full(2, -1, np.int64), np.empty(2, np.int32)]
        return nbest_pack.pack(*good, np.array(lookup, np.int32), np.ones(2, np.float32), 0, *own, *outputs)

    assert pack([1, 0]) == (2, 2)
    with pytest.raises(ValueError, match="no scale"):
        pack([1, 2])
    with pytest.raises(ValueError, match="outside"):
        pack([1])
    for short in range(5):
        with pytest.raises(ValueError, match="too short"):
            pack([1, 0], [array[:1] if i == short else array for i, array in enumerate(rest)])
