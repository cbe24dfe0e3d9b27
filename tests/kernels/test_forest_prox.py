"""The tree operator against thresholdings one by one, and what must hold of any proximal operator."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_brown_merge import others_work_during
from tests.reference import forest_prox as twin
from wordkit._kernels import forest_prox
from wordkit.models.forests import forest_of_shape
from wordkit.parallel import map_blocks

seeds = st.integers(0, 2**32 - 1)
TOLERANCE = {np.float32: 3e-6, np.float64: 1e-13}


def shrunk(A, parents, t, nonnegative=False):
    out = np.array(A, order="C")
    thresholds = np.array(np.broadcast_to(np.asarray(t, out.dtype), out.shape[1:]))
    forest_prox.shrink(out, parents, thresholds, nonnegative, 0, out.shape[1])
    return out


def shrunk_alone(A, parents, t, nonnegative=False):
    """The same through the operator on one vector."""
    rows = np.ascontiguousarray(A.T)
    for row, threshold in zip(rows, np.broadcast_to(t, len(rows)), strict=True):
        forest_prox.shrink_vector(row, parents, threshold, nonnegative, np.empty(len(row)))
    return rows.T


@settings(max_examples=150)
@given(
    seed=seeds, M=st.integers(1, 150), n=st.sampled_from([1, 2, 63, 64, 65, 130]),
    dtype=st.sampled_from([np.float32, np.float64]), nonnegative=st.booleans(),
    scale=st.sampled_from([0.01, 1.0, 30.0]), zeros=st.sampled_from([0, 0.5, 1.0]),
)  # fmt: skip
def test_equals_the_twin(seed, M, n, dtype, nonnegative, scale, zeros):
    random = np.random.default_rng(seed)
    parents = twin.random_parents(random, M)
    A = (random.normal(size=(M, n)) * (random.random((M, n)) >= zeros)).astype(dtype)
    t = (random.random(n) * scale * (random.random(n) < 0.9)).astype(dtype)
    expected = twin.prox(A, parents, t.astype(float), nonnegative)
    for found in (shrunk(A, parents, t, nonnegative), shrunk_alone(A, parents, t, nonnegative)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=0, atol=10 * TOLERANCE[dtype])


@settings(max_examples=60)
@given(seed=seeds, M=st.integers(1, 100), t=st.floats(0, 3))
def test_what_is_not_zero_hangs_on_what_is_not_zero(seed, M, t):
    """Zeros come in whole subtrees (no input is zero here, so a node is zero only if a group above it or its own is)."""
    random = np.random.default_rng(seed)
    parents = twin.random_parents(random, M)
    Z = shrunk(random.choice([-1, 1], (M, 20)) * random.uniform(0.1, 2, (M, 20)), parents, t)
    children = np.flatnonzero(parents >= 0)
    assert not ((Z[children] != 0) & (Z[parents[children]] == 0)).any()


@settings(max_examples=60)
@given(seed=seeds, M=st.integers(1, 60), t=st.floats(0.01, 2))
def test_no_further_apart_than_before_and_least_of_all(seed, M, t):
    """Nonexpansive, and no point near the result has a lower objective."""
    random = np.random.default_rng(seed)
    parents = twin.random_parents(random, M)
    A, other = random.normal(size=(2, M, 10))
    Z, V = shrunk(A, parents, t), shrunk(other, parents, t)
    apart = np.linalg.norm(Z - V, axis=0)
    assert (apart <= np.linalg.norm(A - other, axis=0) * (1 + 1e-12)).all()

    def value(z):
        return ((z - A) ** 2).sum(axis=0) / 2 + t * twin.omega(z, parents)

    for size in (1e-4, 1e-1):
        assert (value(Z) <= value(Z + size * random.normal(size=Z.shape)) + 1e-12).all()
    # Toward zero and toward the input too, where the objective has its edges.
    for end in (np.zeros_like(A), A, V):
        assert (value(Z) <= value(0.999 * Z + 0.001 * end) + 1e-12).all()


def test_hand_computed_tree():
    """Root 3 over leaves 4 and 1 with t = 1: leaves 3 and 0, the root's group 3, 3, 0 of length 3 sqrt 2."""
    A = np.array([[3.0], [4.0], [-1.0]])
    kept = 3 * (1 - 1 / np.sqrt(18))
    parents = np.array([-1, 0, 0], np.int32)
    np.testing.assert_allclose(shrunk(A, parents, 1.0), [[kept], [kept], [0]], rtol=1e-15)
    np.testing.assert_allclose(shrunk_alone(A, parents, 1.0), [[kept], [kept], [0]], rtol=1e-15)
    # Leaves first: then 3 alone is left of the root's group, and goes. From the root down, sqrt(26) > 4.3 would keep it.
    np.testing.assert_array_equal(shrunk(A, parents, 4.3), np.zeros((3, 1)))


def test_thresholds_at_the_edge():
    parents = np.array([-1, 0, 0, -1], np.int32)
    A = np.array([[0, 3.0], [0, 4], [0, -5], [-2, 2]])
    np.testing.assert_array_equal(shrunk(A, parents, 0.0), A)
    np.testing.assert_array_equal(
        shrunk(A, parents, 2.0)[:, 0], [0, 0, 0, 0]
    )  # a norm of exactly t; norms of zero
    np.testing.assert_array_equal(shrunk(A, parents, np.inf), np.zeros_like(A))
    np.testing.assert_array_equal(shrunk(-A, parents, 0.0, True), np.maximum(-A, 0))
    single = np.array([[1.5, -1.5, 0.5, -0.5]])
    np.testing.assert_array_equal(shrunk(single, parents[:1], 1.0), [[0.5, -0.5, 0, 0]])
    np.testing.assert_array_equal(shrunk(single, parents[:1], 1.0, True), [[0.5, 0, 0, 0]])


def test_a_column_of_nan_harms_no_other():
    parents = forest_of_shape("3x3", trees=2).parents
    A = np.random.default_rng(0).normal(size=(26, 70))
    spoilt = A.copy()
    spoilt[3, 5] = np.nan
    found, expected = shrunk(spoilt, parents, 0.3), shrunk(A, parents, 0.3)
    assert np.isnan(found[3, 5])
    rest = np.arange(70) != 5
    np.testing.assert_array_equal(found[:, rest], expected[:, rest])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_by_parts_and_threads_give_the_same_bits(dtype):
    random = np.random.default_rng(2)
    parents = forest_of_shape("3x3", trees=5).parents
    A, t = random.normal(size=(65, 1000)).astype(dtype), random.random(1000).astype(dtype)
    whole = shrunk(A, parents, t)
    for threads in (1, 4):
        parts = A.copy()
        bounds = [(0, 1), (1, 64), (64, 200), (200, 937), (937, 1000)]
        map_blocks(lambda b, parts=parts: forest_prox.shrink(parts, parents, t, False, *b), bounds, threads)
        np.testing.assert_array_equal(parts, whole)
    part = A.copy()
    forest_prox.shrink(part, parents, t, False, 100, 200)
    np.testing.assert_array_equal(part[:, :100], A[:, :100])
    np.testing.assert_array_equal(part[:, 200:], A[:, 200:])


def test_nothing_to_do():
    none = np.zeros(0, np.int32)
    forest_prox.shrink(np.zeros((0, 3)), none, np.zeros(3), False, 0, 3)
    forest_prox.shrink(np.zeros((1, 0)), np.full(1, -1, np.int32), np.zeros(0), False, 0, 0)
    forest_prox.shrink_vector(np.zeros(0), none, 1.0, False, np.zeros(0))
    A = np.ones((1, 2))
    forest_prox.shrink(A, np.full(1, -1, np.int32), np.ones(2), False, 1, 1)
    assert (A == 1).all()


def test_doors_refuse_what_does_not_fit():
    parents, t = np.array([-1, 0, 1], np.int32), np.ones(4)
    good = [np.ones((3, 4)), parents, t, False, 0, 4]
    cases = [
        (0, np.ones((2, 4))), (0, np.ones((3, 5))), (1, parents[:2]), (2, t[:3]), (2, -t), (2, np.full(4, np.nan)), (4, -1),
        (5, 5), (4, 5), (1, np.array([0, 0, 1], np.int32)), (1, np.array([-1, 2, 0], np.int32)),
        (1, np.array([-1, -2, 0], np.int32)), (1, np.array([-1, 0, 3], np.int32)),
    ]  # fmt: skip
    for position, bad in cases:
        with pytest.raises(ValueError):
            forest_prox.shrink(*good[:position], bad, *good[position + 1 :])
    good = [np.ones(3), parents, 1.0, False, np.empty(3)]
    for position, bad in [
        (0, np.ones(2)), (1, np.array([-1, 1, 0], np.int32)), (1, np.array([-2, 0, 0], np.int32)), (2, -1.0), (2, np.nan),
        (4, np.empty(2)),
    ]:  # fmt: skip
        with pytest.raises(ValueError):
            forest_prox.shrink_vector(*good[:position], bad, *good[position + 1 :])
    A = np.ones((3, 4))
    A.setflags(write=False)
    with pytest.raises(ValueError):
        forest_prox.shrink(A, parents, t, False, 0, 4)
    parents.setflags(write=False)
    t.setflags(write=False)
    forest_prox.shrink(np.ones((3, 4)), parents, t, False, 0, 4)  # what is only read may be read-only
    with pytest.raises((ValueError, BufferError)):
        forest_prox.shrink(np.ones((4, 3)).T, parents, t, False, 0, 4)


def test_calls_release_the_lock():
    parents = forest_of_shape("3x3", trees=40).parents
    A, t = np.random.default_rng(0).normal(size=(520, 20_000)), np.full(20_000, 0.1)
    assert others_work_during(partial(forest_prox.shrink, A, parents, t, False, 0, 20_000))
