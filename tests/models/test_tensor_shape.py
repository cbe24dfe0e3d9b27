"""Mode sizes and mappings, with the numbers of the paper."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit.models.tensor_shape import (
    approximate_positions,
    check_modes,
    mode_places,
    mode_sizes,
    order_of_fewest_parameters,
    sequential_positions,
    singular_values,
)


@pytest.mark.parametrize("features", [1_332_871, 1_333_333, 1_334_025])
def test_parameters_of_section_5_1(features):
    assert mode_sizes(features, 2) == (1155, 1155)
    assert mode_sizes(features, 3) == (110, 110, 111)
    assert mode_sizes(features, 4) == (34, 34, 34, 34)
    assert [sum(mode_sizes(features, order)) for order in (2, 3, 4)] == [2310, 331, 136]


def test_parameters_of_the_real_lists():
    assert sum(mode_sizes(243_315, 3)) == 188 and 2 * sum(mode_sizes(243_315, 2)) == 1974


@given(st.integers(1, 10**7), st.integers(1, 6))
def test_the_rule_of_section_3_2(features, order):
    sizes = mode_sizes(features, order)
    low = math.floor(features ** (1 / order) + 1e-9)
    choices = [c for c in itertools.product((low, low + 1), repeat=order) if math.prod(c) >= features]
    assert math.prod(sizes) == min(map(math.prod, choices)) and sorted(sizes) == list(sizes)
    if features == 1 or low**order == features:
        assert sizes == (low,) * order


def test_the_order_of_fewest_parameters():
    assert order_of_fewest_parameters(1_333_333) == 14  # ln V = 14.1
    for features in (1, 2, 10, 1000, 10**6):
        best = min(range(1, 40), key=lambda order: order * features ** (1 / order))
        assert order_of_fewest_parameters(features) == best


def test_the_example_of_figure_2():
    """Twelve weights in a tensor of 2 x 2 x 3: groups of four, the first mode the fastest."""
    surrogate = np.array([5.0, -1, 7, 3, -4, 1, -2, 6, 2, 4, -3, 0])
    positions = approximate_positions(surrogate, (2, 2, 3))
    arranged = np.empty(12)
    arranged[positions] = surrogate
    assert arranged.tolist() == [7, 6, 5, 4, 3, 2, 1, 0, -4, -3, -2, -1]
    places = mode_places(positions, (2, 2, 3), "approximate")
    assert places[2].tolist() == [0, 2, 4]  # the largest: first in each mode
    assert places[7].tolist() == [1, 2, 4]  # the next one: the second of mode 1
    assert places[0].tolist() == [0, 3, 4]
    uneven = np.array(
        [3.0, 1, 2, -1, -3, 5, 4, -2, 6, -5, -4]
    )  # 6 and 5 of each sign: one group of four each
    arranged = np.empty(11)
    arranged[approximate_positions(uneven, (2, 2, 3))] = uneven
    assert arranged.tolist() == [6, 5, 4, 3, -5, -4, -3, -2, 2, 1, -1]


def test_sequential_runs_through_the_last_mode_first():
    places = mode_places(sequential_positions(6), (2, 3), "sequential")
    assert places.tolist() == [[0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4]]


@given(
    st.integers(1, 300), st.integers(1, 4), st.sampled_from(["approximate", "sequential"]), st.integers(0, 9)
)
def test_every_feature_has_a_place_of_its_own(features, order, mapping, seed):
    modes = mode_sizes(features, order)
    surrogate = np.random.default_rng(seed).integers(-2, 3, features).astype(float)
    positions = (
        approximate_positions(surrogate, modes)
        if mapping == "approximate"
        else sequential_positions(features)
    )
    places = mode_places(positions, modes, mapping)
    assert len({tuple(row) for row in places.tolist()}) == features
    offsets = np.cumsum([0, *modes])
    assert ((places >= offsets[:-1]) & (places < offsets[1:])).all()


def test_what_has_no_room_is_refused():
    assert check_modes([3, 4], 12, 2) == (3, 4)
    for modes in ([3, 4], [13], [0, 20], []):
        with pytest.raises(ValueError, match="no room"):
            check_modes(modes, 13, 2)
    with pytest.raises(ValueError, match="outside"):
        mode_places(np.array([12]), (3, 4), "sequential")
    for features, order in ((0, 2), (5, 0), (5, 33)):
        with pytest.raises(ValueError, match="order"):
            mode_sizes(features, order)


def test_singular_values_of_a_mapped_matrix():
    weights = np.multiply.outer([1.0, 2, 3], [1.0, -1]).ravel()
    places = mode_places(sequential_positions(6), (3, 2), "sequential")
    values = singular_values(weights, places, (3, 2))
    np.testing.assert_allclose(values, [np.sqrt(28), 0], atol=1e-12)
    with pytest.raises(ValueError, match="two modes"):
        singular_values(weights, places, (3, 2, 1))
