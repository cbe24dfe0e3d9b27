"""Alias tables: what they draw each item with, for all kinds of weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import forest_sgd as twin
from wordkit._kernels import alias_table

WEIGHTS = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-6, 1e6), st.integers(1, 5).map(float)), min_size=1, max_size=40
)


def table(weights):
    n = len(weights)
    threshold, alias = np.full(n, np.nan), np.full(n, -1, dtype=np.int32)
    total = alias_table.fill_table(
        np.array(weights), threshold, alias, np.zeros(n, dtype=np.int32), np.zeros(n)
    )
    return threshold, alias, total


@given(WEIGHTS)
def test_probabilities_are_the_weights(weights):
    if not any(weights):
        with pytest.raises(ValueError, match="above zero"):
            table(weights)
        return
    threshold, alias, total = table(weights)
    assert total == pytest.approx(sum(weights), rel=1e-12)
    assert np.all((threshold >= 0) & (threshold <= 1)) and np.all((alias >= 0) & (alias < len(weights)))
    p = twin.probabilities(threshold, alias)
    np.testing.assert_allclose(p, np.array(weights) / sum(weights), rtol=1e-9, atol=1e-12)
    assert not p[np.array(weights) == 0].any()  # exactly: an empty row must never be drawn


def test_by_hand():
    threshold, alias, total = table([1.0, 3.0])
    assert (threshold.tolist(), alias.tolist(), total) == ([0.5, 1.0], [1, 1], 4.0)


def test_rows_of_a_matrix():
    values = np.array([1, -3, 2, 5, 5, 5, -0.5], dtype=np.float32)
    indptr = np.array([0, 3, 3, 6, 7], dtype=np.int64)
    threshold, alias = np.zeros(7, dtype=np.float32), np.zeros(7, dtype=np.int32)
    totals, room = np.full(4, np.nan), (np.zeros(3, dtype=np.int32), np.zeros(3))
    alias_table.fill_rows(values, indptr, 0, 4, threshold, alias, totals, *room)
    np.testing.assert_array_equal(totals, [6, 0, 15, 0.5])
    for lo, hi in ((0, 3), (3, 6), (6, 7)):
        p = twin.probabilities(threshold[lo:hi], alias[lo:hi])
        np.testing.assert_allclose(p, np.abs(values[lo:hi]) / np.abs(values[lo:hi]).sum(), rtol=1e-6)
    again = np.zeros(7, dtype=np.float32), np.zeros(7, dtype=np.int32)
    for lo, hi in ((0, 2), (2, 4)):
        alias_table.fill_rows(values, indptr, lo, hi, *again, totals, *room)
    assert np.array_equal(threshold, again[0]) and np.array_equal(alias, again[1])


def test_what_does_not_fit_is_refused():
    values, indptr = np.ones(4, dtype=np.float32), np.array([0, 4], dtype=np.int64)
    cells = np.zeros(4, dtype=np.float32), np.zeros(4, dtype=np.int32), np.zeros(1)
    with pytest.raises(ValueError, match="scratch is too small"):
        alias_table.fill_rows(values, indptr, 0, 1, *cells, np.zeros(3, dtype=np.int32), np.zeros(3))
    with pytest.raises(ValueError, match="out of range"):
        alias_table.fill_rows(values, indptr, 0, 2, *cells, np.zeros(4, dtype=np.int32), np.zeros(4))
    with pytest.raises(ValueError, match="need a cell a weight"):
        alias_table.fill_table(
            np.ones(3), np.zeros(2), np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32), np.zeros(3)
        )
