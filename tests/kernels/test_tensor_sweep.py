"""Tensor-MIRA's sweep: against dense tensors, against MIRA, and odd input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.rerank_cases import V, dense_of, packed_of, random_lists, some_lists
from tests.kernels.test_vector_steps import learned as vector_learned
from tests.reference import rerank as reference
from wordkit._kernels import tensor_sweep
from wordkit.models.rerank_weights import Layout, TensorWeights, initial_vectors, score_all
from wordkit.models.tensor_shape import mode_sizes


def learned(
    packed,
    layout,
    vectors,
    plain,
    *,
    order=None,
    sums=None,
    plain_sums=None,
    C=1.0,
    by_cost=False,
    printed=False,
):
    """Vectors, plain weights and totals after steps on all lists."""
    vectors, plain, totals = vectors.copy(), plain.copy(), np.zeros(2)
    order = np.arange(len(packed)) if order is None else order
    squared = np.add.reduceat(vectors**2, np.cumsum([0, *layout.modes[:-1]]), axis=1)
    done = tensor_sweep.tensor_steps(
        *packed.arrays(), packed.scores, packed.oracles, order, 0, vectors, layout.places, plain,
        np.empty((0, vectors.shape[1])) if sums is None else sums, np.empty(0) if plain_sums is None else plain_sums,
        np.ascontiguousarray(squared), C, by_cost, printed, totals,
    )  # fmt: skip
    assert done == len(order)
    return vectors, plain, totals


def parts(vectors, modes):
    """The mode vectors of each component."""
    return [np.split(row, np.cumsum(modes)[:-1]) for row in vectors]


def place_of(layout):
    """Indices of the features within the tensor, as tuples."""
    offsets = np.cumsum([0, *layout.modes[:-1]])
    return [tuple(row) for row in (layout.places - offsets)[layout.plain :].tolist()]


def joined(components):
    return np.array([np.concatenate(vectors) for vectors in components])


@given(
    some_lists, st.integers(1, 4), st.integers(1, 3), st.booleans(), st.booleans(), st.integers(0, 3),
    st.sampled_from(["approximate", "sequential"]), st.sampled_from([0.05, 5.0]), st.integers(0, 5),
)  # fmt: skip
@settings(max_examples=150)
def test_equals_dense_tensors(made, order, rank, by_cost, printed, plain, mapping, C, seed):
    packed = packed_of(made)
    layout = Layout(V, plain, mode_sizes(V - plain, order), mapping)
    rng = np.random.default_rng(seed)
    how = {"C": C, "by_cost": by_cost, "printed": printed}
    for s, one in enumerate(dense_of(made)):
        # New weights for each list: after a step, scores can tie but for rounding.
        vectors, weights = rng.standard_normal((rank, sum(layout.modes))), rng.standard_normal(plain)
        ((components, beside),) = reference.tensor_steps(
            [one], parts(vectors, layout.modes), place_of(layout), plain=weights, **how
        )
        found, plain_found, _ = learned(packed, layout, vectors, weights, order=np.array([s]), **how)
        np.testing.assert_allclose(found, joined(components), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(plain_found, beside, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("order", "rank"), [(2, 1), (2, 2), (3, 1), (3, 2), (4, 3)])
def test_long_runs_equal_dense_tensors(order, rank):
    made = random_lists(1, lists=100, width=30)
    packed = packed_of(made, width=30)
    layout = Layout(30, 2, mode_sizes(28, order), "sequential")
    start = initial_vectors(layout.modes, rank, 1)
    expected = reference.tensor_steps(
        dense_of(made), parts(start, layout.modes), place_of(layout), plain=np.zeros(2), C=0.05, by_cost=True
    )
    sums, plain_sums = np.zeros(start.shape), np.zeros(2)
    found, plain, totals = learned(
        packed, layout, start, np.zeros(2), C=0.05, by_cost=True, sums=sums, plain_sums=plain_sums
    )
    np.testing.assert_allclose(found, joined(expected[-1][0]), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(plain, expected[-1][1], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        found - sums / 100, np.mean([joined(c) for c, _ in expected], axis=0), rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(
        plain - plain_sums / 100, np.mean([p for _, p in expected], axis=0), rtol=1e-9, atol=1e-10
    )
    assert totals[1] > 20


@pytest.mark.parametrize("how", [{}, {"by_cost": True}, {"printed": True}, {"C": 0.01}])
def test_order_one_is_mira_to_the_bit(how):
    packed = packed_of(random_lists(4, lists=300, width=40), width=40)
    layout = Layout(40, 0, (40,), "sequential")
    sums, own = np.zeros((1, 40)), np.zeros(40)
    vectors, _, totals = learned(
        packed, layout, initial_vectors((40,), 1, 1), np.empty(0), sums=sums, plain_sums=np.empty(0), **how
    )
    weights, expected = vector_learned(packed, np.zeros(40), sums=own, **how)
    assert weights.any() and np.array_equal(vectors[0], weights) and np.array_equal(sums[0], own)
    assert totals.tolist() == expected.tolist()


def test_a_tensor_that_is_all_beside_is_mira():
    packed = packed_of(random_lists(5, lists=50))
    layout = Layout(V, V, (1, 1), "sequential")
    _, plain, _ = learned(packed, layout, np.ones((1, 2)), np.zeros(V), C=0.1)
    np.testing.assert_allclose(plain, vector_learned(packed, np.zeros(V), C=0.1)[0], rtol=1e-12)


def test_an_exact_step_solves_its_problem():
    """No step along the gradient is better for 1/2 |W - W_t|^2 + C max(0, loss), and it ends at a margin of the cost."""
    made = random_lists(6, lists=1, candidates=2, width=12, density=1.0)
    made[0] = [(0.0, made[0][0][1]), (1.0, -made[0][0][1])]
    packed = packed_of(made, width=12)
    layout = Layout(12, 0, (3, 4), "sequential")
    vectors = np.ascontiguousarray(np.random.default_rng(1).standard_normal((1, 7)) * 0.3)
    found, _, _ = learned(packed, layout, vectors, np.empty(0), C=1e9)
    scores, _ = score_all(TensorWeights(layout, found, np.empty(0)), packed)
    assert scores[1] - scores[0] == pytest.approx(1.0)


@given(some_lists, st.integers(1, 4), st.integers(1, 3), st.integers(0, 3), st.integers(0, 5), st.booleans())
def test_scores_equal_those_of_the_dense_tensor(made, order, rank, plain, seed, wide):
    packed = packed_of(made, wide=wide)
    layout = Layout(V, plain, mode_sizes(V - plain, order), "approximate")
    rng = np.random.default_rng(seed)
    weights = TensorWeights(
        layout, rng.standard_normal((rank, sum(layout.modes))), rng.standard_normal(plain)
    )
    tensor = reference.dense(parts(weights.vectors, layout.modes))
    own = np.concatenate([weights.plain, [tensor[place] for place in place_of(layout)]])
    np.testing.assert_allclose(weights.feature_weights(), own, rtol=1e-12)
    scores, best = score_all(weights, packed)
    for (_, rows), begin, end, chosen in zip(
        dense_of(made), packed.starts, packed.starts[1:], best, strict=False
    ):
        np.testing.assert_allclose(scores[begin:end], rows @ own, rtol=1e-10, atol=1e-10)
        assert chosen == np.argmax(scores[begin:end])


@pytest.mark.parametrize(("order", "rank"), [(2, 1), (2, 3), (3, 2), (4, 1)])
def test_the_start_has_length_one(order, rank):
    modes = mode_sizes(100, order)
    tensor = reference.dense(parts(initial_vectors(modes, rank, 3), modes))
    assert np.linalg.norm(tensor) == pytest.approx(1)
    assert np.ptp(tensor) < 0.2 * tensor.mean()
    zero = reference.dense(parts(initial_vectors(modes, rank, 3, "zero"), modes))
    assert not zero.any()


def test_components_part():
    """Without noise, equal components would stay equal for ever."""
    packed = packed_of(random_lists(7, lists=50))
    layout = Layout(V, 0, (3, 3), "sequential")
    found, _, _ = learned(packed, layout, initial_vectors((3, 3), 2, 1), np.empty(0))
    assert np.abs(found[0] - found[1]).max() > 1e-3


def test_a_start_at_zero_learns():
    packed = packed_of(random_lists(8, lists=50))
    layout = Layout(V, 0, (3, 3), "sequential")
    found, _, _ = learned(packed, layout, initial_vectors((3, 3), 1, 1, "zero"), np.empty(0))
    assert found[0, 3:].any() and np.ptp(found[0, :3]) > 0


def test_arrays_that_do_not_fit_are_refused():
    packed = packed_of(random_lists(3, lists=4))
    layout = Layout(V, 0, (3, 3), "sequential")
    vectors = np.ones((2, 6))
    short = Layout(V - 4, 0, (3, 3), "sequential")
    with pytest.raises(ValueError, match="no weight"):
        learned(packed, short, vectors, np.empty(0))
    with pytest.raises(ValueError, match="outside the vectors"):
        learned(packed, layout, vectors[:, :5].copy(), np.empty(0))
    with pytest.raises(ValueError, match="sums"):
        learned(packed, layout, vectors, np.empty(0), sums=np.ones((1, 6)))
    with pytest.raises(ValueError, match="plain weights"):
        learned(packed, layout, vectors, np.ones(V + 1))
    with pytest.raises(ValueError, match="fit"):
        learned(packed, layout, vectors, np.empty(0), order=np.array([-1]))
