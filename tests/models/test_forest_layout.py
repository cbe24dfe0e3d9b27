"""The order of a forest's nodes: a permutation in levels whose runs have their parents in runs."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit._kernels import forest_sgd
from wordkit.models.forest_layout import ForestLayout

FORESTS = st.integers(1, 60).flatmap(
    lambda n: st.tuples(*(st.integers(-1, max(i - 1, -1)) for i in range(n)))
)
TREE = np.array([-1, 0, 1, 1, 1, 0, 5, 5, 5, 0, 9, 9, 9])


@settings(max_examples=50)
@given(FORESTS)
def test_runs_tell_each_nodes_parent(parents):
    layout = ForestLayout.of(np.array(parents))
    assert sorted(layout.position) == list(range(len(parents)))
    found = np.full(len(parents), -1)
    for start, above, length in layout.runs:
        found[start : start + length] = above + np.arange(length)
    expected = np.full(len(parents), -1)
    for node, parent in enumerate(parents):
        expected[layout.position[node]] = layout.position[parent] if parent >= 0 else -1
    np.testing.assert_array_equal(found, expected)
    forest_sgd.check_forest(layout.level, layout.run_bound, layout.runs, layout.width)


def test_trees_of_one_shape_make_few_runs():
    trees = np.concatenate([np.where(TREE < 0, -1, TREE + 13 * i) for i in range(20)])
    layout = ForestLayout.of(trees)
    assert layout.level.tolist() == [0, 20, 80, 260] and layout.width == 272
    assert layout.runs[:, 2].tolist() == [20] * 3 + [60] * 3


def test_pack_and_unpack_are_inverse():
    rows = np.random.default_rng(0).normal(size=(5, 13)).astype(np.float32)
    layout = ForestLayout.of(TREE)
    packed = layout.pack(rows)
    assert packed.shape == (5, 16) and packed.flags.c_contiguous and packed.ctypes.data % 64 == 0
    np.testing.assert_array_equal(layout.unpack(packed), rows)
    assert not packed[:, 13:].any()


@pytest.mark.parametrize("parents", [[], [0], [-1, 1], [-2], [[-1]], [-1.0], [-1, 2, 0]])
def test_what_is_no_forest_is_refused(parents):
    with pytest.raises(ValueError, match="parent"):
        ForestLayout.of(np.array(parents))


def test_a_deep_forest_takes_linear_time():
    start = time.process_time()
    layout = ForestLayout.of(np.arange(30_000) - 1)
    assert time.process_time() - start < 8
    assert len(layout.runs) == 29_999 and layout.run_bound[-1] == 29_999
