"""Partial selection against a full sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wordkit._kernels.tree_messages import select


def sorted_choice(values, k, epsilon):
    """By a full sort: larger first, of equal ones the lower class."""
    order = np.lexsort((np.arange(len(values)), -values))
    size = min(k, len(values))
    if epsilon > 0:
        sums = np.cumsum(values[order], dtype=np.float64)
        size = min(size, 1 + int(np.searchsorted(sums, (1 - epsilon) * values.sum(dtype=np.float64))))
    return sorted(int(i) for i in order[:size] if values[i] > 0)


@settings(max_examples=300)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 5, 31, 32, 33, 63, 64, 65, 100, 128, 511, 512, 513, 1100]),
    st.one_of(st.integers(1, 40), st.integers(1, 1200)),
    st.sampled_from([0.0, 0.01, 0.3, 0.9]),
    st.sampled_from(["flat", "peaked", "equal", "few", "rising", "falling"]),
)
def test_selection_is_that_of_a_full_sort(seed, n, k, epsilon, kind):
    random = np.random.default_rng(seed)
    values = {
        "flat": lambda: random.random(n),
        "peaked": lambda: random.random(n) ** 40,
        "equal": lambda: np.full(n, 0.25),
        "few": lambda: random.integers(0, 4, n) / 4,  # many ties, and zeros
        "rising": lambda: np.arange(n) + 1.0,
        "falling": lambda: n - np.arange(n) + 0.0,
    }[kind]().astype(np.float32)
    assert select(values, k, epsilon) == sorted_choice(values, k, epsilon)


def test_hand_computed():
    values = np.array([0.1, 0.4, 0.1, 0.0, 0.4], np.float32)
    assert select(values, 3, 0.0) == [0, 1, 4]
    assert select(values, 5, 0.0) == [0, 1, 2, 4]  # what is zero is not kept
    assert select(values, 1, 0.0) == [1]
    assert select(values, 5, 0.2001) == [1, 4]
    assert select(values, 5, 0.15) == [0, 1, 4]
    assert select(values, 2, 0.15) == [1, 4]


def test_largest_entries_hide_in_one_block():
    """All of the k best share a lane, so that the blocks' maxima give a low bound and much passes it."""
    values = np.linspace(0.5, 0.6, 1024, dtype=np.float32)
    values[5::32] += 1
    assert select(values, 16, 0.0) == list(range(1024 - 32 * 16 + 5, 1024, 32))


def test_tiny_and_large_numbers():
    values = np.float32(10.0) ** np.arange(-44, 38, dtype=np.float32)
    assert select(values, 7, 0.0) == list(range(len(values) - 7, len(values)))
    assert select(values[:20], 7, 0.0) == list(range(13, 20))


def test_numbers_that_are_not_do_no_harm():
    for values in (np.full(100, np.nan, np.float32), -np.ones(100, np.float32), np.zeros(100, np.float32)):
        for k, epsilon in ((5, 0.0), (20, 0.0), (50, 0.5)):
            assert len(select(values, k, epsilon)) <= k
    values = np.full(100, np.nan, np.float32)
    values[::2] = np.inf
    assert len(select(values, 3, 0.1)) <= 3


def test_empty_read_only_and_refused():
    assert select(np.zeros(0, np.float32), 3, 0.0) == []
    values = np.ones(4, np.float32)
    values.setflags(write=False)
    assert select(values, 2, 0.0) == [0, 1]
    for k, epsilon in ((0, 0.0), (2, 1.0), (2, -0.1), (2, np.nan)):
        with pytest.raises(ValueError, match="epsilon"):
            select(values, k, epsilon)
