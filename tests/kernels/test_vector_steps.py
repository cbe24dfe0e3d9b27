"""Perceptron and MIRA on packed lists: against the equations, by hand, and odd input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.rerank_cases import V, dense_of, packed_of, random_lists, some_lists
from tests.reference import rerank as reference
from wordkit._kernels import vector_steps


def learned(
    packed, weights, *, order=None, seen=0, sums=None, C=1.0, by_cost=False, printed=False, perceptron=False
):
    """Weights and totals after steps on all lists."""
    weights, totals = weights.copy(), np.zeros(2)
    order = np.arange(len(packed)) if order is None else order
    done = vector_steps.vector_steps(
        *packed.arrays(), packed.scores, packed.oracles, order, seen, weights, np.empty(0) if sums is None else sums, C, by_cost,
        printed, perceptron, totals,
    )  # fmt: skip
    assert done == len(order)
    return weights, totals


@given(
    some_lists, st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([0.125, 1.0, 100.0]),
    st.lists(st.integers(-8, 8), min_size=V, max_size=V),
)  # fmt: skip
def test_equals_the_equations(made, by_cost, printed, perceptron, wide, C, eighths):
    packed = packed_of(made, wide=wide)
    how = {"C": C, "by_cost": by_cost, "printed": printed, "perceptron": perceptron}
    start = (
        np.array(eighths) / 8
    )  # always the same: sums are exact, so that what is best does not hang on rounding
    for s, one in enumerate(dense_of(made)):
        (expected,) = reference.vector_steps([one], start, **how)
        found, _ = learned(packed, start, order=np.array([s]), **how)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", [{}, {"by_cost": True}, {"printed": True}, {"perceptron": True}])
def test_long_runs_equal_the_equations(how):
    made = random_lists(1, lists=200, width=30)
    packed = packed_of(made, width=30)
    expected = reference.vector_steps(dense_of(made), np.zeros(30), C=0.1, **how)
    sums = np.zeros(30)
    found, totals = learned(packed, np.zeros(30), sums=sums, C=0.1, **how)
    np.testing.assert_allclose(found, expected[-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found - sums / 200, np.mean(expected, axis=0), rtol=1e-9, atol=1e-12)
    assert totals[1] > 20


def test_by_hand():
    # The oracle is the second: 0.5 better than the first, which ties with it at zero weights.
    made = [[(0.5, [2, 0, 0, 0, 0, 0, 0]), (1.0, [0, 1, 0, 0, 0, 0, 0])]]
    found, totals = learned(packed_of(made), np.zeros(V))
    np.testing.assert_allclose(found, 0.5 / 5 * np.array([-2, 1, 0, 0, 0, 0, 0]))  # loss 0.5, |x|^2 = 5
    assert totals.tolist() == [0.5, 1]
    found, _ = learned(packed_of(made), np.zeros(V), C=0.01)
    np.testing.assert_allclose(found, 0.01 * np.array([-2, 1, 0, 0, 0, 0, 0]))
    found, _ = learned(packed_of(made), np.zeros(V), perceptron=True)
    assert found.tolist() == [-2, 1, 0, 0, 0, 0, 0]


def test_nothing_is_learned_from_lists_that_say_nothing():
    same = [1, 0, 0, 2, 0, 0, 0]
    made = [
        [(0.5, [1, 2, 3, 4, 5, 6, 7])],  # one candidate
        [(0.5, [1, 0, 0, 0, 0, 0, 0]), (0.5, [0, 1, 0, 0, 0, 0, 0])],  # equally good
        [(0.5, same), (1.0, same)],  # equal features
        [(0.5, [0] * V), (1.0, [0] * V)],  # none
    ]
    for how in ({}, {"by_cost": True}, {"perceptron": True}, {"printed": True}):
        found, _ = learned(packed_of(made), np.zeros(V), **how)
        assert not found.any()


def test_scores_and_the_first_of_equal_ones():
    made = [
        [(0, [1, 0, 0, 0, 0, 0, 0]), (0, [0, 2, 0, 0, 0, 0, 0]), (0, [0, 2, 0, 0, 0, 0, 0])],
        [(1, [0] * V)],
    ]
    packed = packed_of(made)
    scores, best = np.full(4, np.nan), np.full(2, -1, np.int32)
    vector_steps.vector_scores(*packed.arrays(), 0, 2, np.arange(1.0, V + 1), scores, best)
    assert scores.tolist() == [1, 4, 4, 0] and best.tolist() == [1, 0]
    scores[:] = np.nan
    vector_steps.vector_scores(*packed.arrays(), 1, 2, np.arange(1.0, V + 1), scores, best)
    assert np.isnan(scores[:3]).all() and scores[3] == 0


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("entries", [0, 1, 7, 8, 9, 31, 64, 100])
def test_sums_of_any_length(entries, wide):
    rng = np.random.default_rng(entries)
    row = np.zeros(128, np.float32)
    row[rng.choice(128, entries, replace=False)] = rng.standard_normal(entries)
    packed = packed_of([[(1.0, row)]], width=128, wide=wide)
    weights, scores = rng.standard_normal(128), np.empty(1)
    vector_steps.vector_scores(*packed.arrays(), 0, 1, weights, scores, np.empty(1, np.int32))
    np.testing.assert_allclose(scores[0], row.astype(float) @ weights, rtol=1e-12, atol=1e-12)


def test_numbers_that_become_infinite_are_told():
    made = [[(0.0, [3e38] * V), (1.0, [-3e38] * V)]] * 3
    packed = packed_of(made)
    weights, totals = np.full(V, 1e300), np.zeros(2)
    done = vector_steps.vector_steps(
        *packed.arrays(), packed.scores, packed.oracles, np.arange(3), 0, weights, np.empty(0), 1.0, False, False, False, totals
    )  # fmt: skip
    assert done == 0


def test_read_only_lists_are_taken():
    packed = packed_of(random_lists(2))
    for array in (*packed.arrays(), packed.scores, packed.oracles):
        array.setflags(write=False)
    found, _ = learned(packed, np.zeros(V))
    assert found.any()


def test_arrays_that_do_not_fit_are_refused():
    packed = packed_of(random_lists(3, lists=4))
    good = list(packed.arrays())
    outputs = np.empty(len(packed.scores)), np.empty(len(packed), np.int32)
    for broken in range(6):
        arrays = [array[:-1] if i == broken else array for i, array in enumerate(good)]
        with pytest.raises(ValueError, match="packed lists"):
            vector_steps.vector_scores(*arrays, 0, 4, np.zeros(V), *outputs)
    with pytest.raises(ValueError, match="no weight"):
        vector_steps.vector_scores(*good, 0, 4, np.zeros(V - 5), *outputs)
    with pytest.raises(ValueError, match="too short"):
        vector_steps.vector_scores(*good, 0, 5, np.zeros(V), *outputs)
    with pytest.raises(ValueError, match="too short"):
        vector_steps.vector_scores(*good, 0, 4, np.zeros(V), outputs[0][:1], outputs[1])
    steps = {"order": np.array([4])}, {"sums": np.zeros(V - 1)}
    for wrong in steps:
        with pytest.raises(ValueError, match=r"fit|shape"):
            learned(packed, np.zeros(V), **wrong)
    packed.oracles = packed.oracles + 100
    with pytest.raises(ValueError, match="no candidate"):
        learned(packed, np.zeros(V))
