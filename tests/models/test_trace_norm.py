"""The penalty: special cases and Propositions 3 to 6 of Grave's thesis, the bracket of the dual norm, certified gaps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.regression_cases import design, regression, unit_columns
from wordkit.models.regression_penalties import group_matrix
from wordkit.models.trace_lasso_problem import Problem, cut_rows
from wordkit.models.trace_lasso_subgradient import penalty_subgradient
from wordkit.models.trace_norm import (
    column_products,
    dual_norm,
    feasible,
    norm_from_below,
    norm_is_below,
    operator_norm,
    row_factor,
    singular_values,
    smaller_gram,
    smoothed,
    trace_norm_penalty,
)

seeds = st.integers(0, 10_000)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """P with unit columns, of any rank, and w with some zeros."""
    draw = np.random.default_rng(seed)
    k, p = draw.integers(1, 9, 2)
    P = draw.standard_normal((k, p))
    if seed % 3 == 0 and p > 1:
        P[:, 1] = P[:, 0]
    w = draw.standard_normal(p) * (draw.random(p) < 0.8)
    return unit_columns(P), w


@settings(max_examples=60)
@given(seeds)
def test_proposition_3_only_the_gram_matrix_counts(seed):
    P, w = drawn(seed)
    values, vectors = np.linalg.eigh(P.T @ P)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    assert trace_norm_penalty(P, w) == pytest.approx(
        np.linalg.svd(root * w, compute_uv=False).sum(), rel=1e-6, abs=1e-7
    )
    assert trace_norm_penalty(row_factor(P), w) == pytest.approx(
        trace_norm_penalty(P, w), rel=1e-12, abs=1e-12
    )


@settings(max_examples=60)
@given(seeds)
def test_proposition_4_between_l2_and_l1(seed):
    P, w = drawn(seed)
    assert np.linalg.norm(w) <= trace_norm_penalty(P, w) * (1 + 1e-12) + 1e-12
    assert trace_norm_penalty(P, w) <= np.abs(w).sum() * (1 + 1e-12) + 1e-12


@settings(max_examples=40)
@given(seeds)
def test_proposition_5_and_the_bracket_of_the_dual_norm(seed):
    P, _ = drawn(seed)
    u = np.random.default_rng(seed + 1).standard_normal(P.shape[1])
    P = row_factor(P)
    found = dual_norm(P, u)
    largest = float(np.linalg.norm(P * u, 2))
    assert np.abs(u).max() <= found.high * (1 + 1e-9)
    assert found.low <= found.high <= largest * (1 + 1e-9)
    assert found.low >= np.abs(u).max() * (1 - 1e-9)
    # The lower bound is attained by the direction that comes with it.
    assert u @ found.direction >= found.low * trace_norm_penalty(P, found.direction) * (1 - 1e-6)
    trials = np.random.default_rng(seed + 2).standard_normal((50, len(u)))
    assert max(u @ v / trace_norm_penalty(P, v) for v in trials) <= found.high * (1 + 1e-9)


@settings(max_examples=40)
@given(seeds)
def test_proposition_6_subgradient(seed):
    P, w = drawn(seed)
    if not w.any():
        return
    slope, _, value = penalty_subgradient(P, w)
    assert value == pytest.approx(trace_norm_penalty(P, w), rel=1e-9)
    for v in np.random.default_rng(seed).standard_normal((20, len(w))):
        assert trace_norm_penalty(P, v) >= value + slope @ (v - w) - 1e-9


def test_dual_norm_is_narrow_where_it_can_be_checked():
    draw = np.random.default_rng(0)
    u = draw.standard_normal(12)
    lasso, ridge = dual_norm(np.eye(12), u), dual_norm(np.ones((1, 12)), u)
    assert lasso.low == pytest.approx(np.abs(u).max(), rel=1e-3) and lasso.high == pytest.approx(
        np.abs(u).max(), rel=1e-3
    )
    assert ridge.low == pytest.approx(np.linalg.norm(u), rel=1e-3) and ridge.high == pytest.approx(
        np.linalg.norm(u), rel=1e-3
    )
    for kind in ("identity", "blocks", "toeplitz"):
        X = unit_columns(design(kind, 24, 40))
        found = dual_norm(X, X.T @ draw.standard_normal(24))
        assert found.high - found.low <= 1e-3 * found.high


def test_u077_special_cases_of_section_7_2_2():
    w = np.array([0.3, -0.4])
    assert trace_norm_penalty(np.eye(2), w) == pytest.approx(0.7)
    orthonormal = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 2)))[0]
    assert trace_norm_penalty(orthonormal, w) == pytest.approx(0.7)
    assert trace_norm_penalty(np.ones((1, 2)), w) == pytest.approx(0.5)
    equal = np.repeat(orthonormal[:, :1], 2, axis=1)
    assert trace_norm_penalty(equal, w) == pytest.approx(0.5)
    w = np.array([3.0, 4.0, 1.0, -5.0, 12.0])
    assert trace_norm_penalty(group_matrix(list("aabcc"), "none"), w) == pytest.approx(5 + 1 + 13)
    assert trace_norm_penalty(group_matrix(list("aabcc"), "sqrt"), w) == pytest.approx(np.sqrt(2) * 18 + 1)


def test_expansion_around_the_lasso_of_section_7_4():
    draw = np.random.default_rng(3)
    p = 5
    delta = draw.standard_normal((p, p))
    delta = delta + delta.T
    w = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
    size = np.abs(w)
    pairs = np.add.outer(size, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        second = np.where(pairs > 0, delta**2 * np.subtract.outer(size, size) ** 2 / (4 * pairs), 0.0).sum()
    errors = []
    for step in (1e-2, 1e-3):
        exact = trace_norm_penalty(np.eye(p) + step * delta, w)
        errors.append(abs(exact - size.sum() - step * np.diag(delta) @ size - step**2 * second) / step**2)
    assert errors[1] < 0.2 * errors[0] and errors[1] < 0.05 * second


def test_refusals():
    with pytest.raises(ValueError, match="expected"):
        trace_norm_penalty(np.eye(2), np.ones(3))


@settings(max_examples=40)
@given(seeds, st.floats(1e-8, 1.0))
def test_smoothed_view_and_feasible_matrices(seed, mu):
    P, w = drawn(seed)
    P = row_factor(P)
    squares = column_products(P, P)
    view = smoothed(P, w, mu)
    S = (view.vectors * view.roots) @ view.vectors.T
    np.testing.assert_allclose(S @ S, (P * w**2) @ P.T + mu * np.eye(len(P)), atol=1e-9)
    np.testing.assert_allclose(view.polar(), np.linalg.solve(S, P * w), atol=1e-6)
    np.testing.assert_allclose(column_products(P, view.polar()), w * view.weights, atol=1e-6)
    assert operator_norm(view.polar()) <= 1 + 1e-9
    u = np.random.default_rng(seed).standard_normal(len(w))
    turned, straight = view.feasible(u, squares), feasible(P, view.polar(), u, squares)
    np.testing.assert_allclose(view.vectors @ turned, straight, atol=1e-6)
    np.testing.assert_allclose(column_products(P, straight), u, atol=1e-9)
    norm = np.linalg.norm(straight, 2)
    assert norm_is_below(smaller_gram(straight), 1.001 * norm + 1e-9)
    assert not norm_is_below(smaller_gram(straight), 0.999 * norm)
    below, _ = norm_from_below(turned, np.ones(len(w)))
    assert below <= operator_norm(turned) * (1 + 1e-9) + 1e-12
    assert operator_norm(turned) == pytest.approx(np.linalg.norm(straight, 2), rel=1e-7, abs=1e-9)


@settings(max_examples=150)
@given(seeds, st.floats(0.01, 2.0), st.sampled_from(["identity", "blocks", "toeplitz"]), st.booleans())
def test_gap_is_never_negative_and_bounds_the_distance(seed, share, kind, tall):
    n, p = (24, 8) if tall else (8, 16)
    X, y = regression(kind, n, p, seed=seed)
    X = unit_columns(X)
    problem = Problem.of(X, y, share * float(np.abs(X.T @ y).max()))
    draw = np.random.default_rng(seed)
    values = []
    for _ in range(4):
        w = draw.standard_normal(p) * (draw.random(p) < 0.7)
        M = smoothed(problem.P, w, draw.random() ** 4 + 1e-12).polar()
        values.append(problem.gap(w, M))
        assert values[-1].gap >= -1e-9 * problem.zero_loss
        direct = 0.5 * np.sum((y - X @ w) ** 2) + problem.lam * trace_norm_penalty(X, w)
        assert values[-1].primal == pytest.approx(direct, rel=1e-9)
    # Any primal value is at least any certified lower bound.
    assert min(v.primal for v in values) >= max(v.primal - v.gap for v in values) - 1e-9 * problem.zero_loss


@settings(max_examples=60)
@given(seeds, st.floats(0.01, 2.0), st.floats(1e-6, 1.0))
def test_the_norm_that_a_gap_needs(seed, share, wanted):
    X, y = regression("blocks", 8, 16, seed=seed)
    problem = Problem.of(X, y, share * float(np.abs(X.T @ y).max()))
    w = 0.1 * np.random.default_rng(seed).standard_normal(16)
    proof, gap = problem.proof(y - X @ w, problem.penalty(w)), wanted * problem.zero_loss
    norm = proof.norm_for(gap)
    if norm == 0:
        assert proof.gap(1e-300).gap > gap * (1 - 1e-9)
    elif norm == np.inf:
        assert proof.gap(1e300).gap <= gap * (1 + 1e-9)
    else:
        assert proof.gap(norm).gap == pytest.approx(gap, rel=1e-6)
        assert proof.gap(0.9 * norm).gap <= gap * (1 + 1e-6)


@settings(max_examples=40)
@given(seeds)
def test_proposition_7_trace_norm_as_an_infimum(seed):
    """||M||_* = 1/2 inf tr(M^T S^-1 M) + tr S, over positive definite S; at S = (M M^T)^1/2."""
    P, w = drawn(seed)
    M, value = P * w, trace_norm_penalty(P, w)
    draw = np.random.default_rng(seed)
    for _ in range(5):
        root = draw.standard_normal((len(M), len(M)))
        S = root @ root.T + 1e-3 * np.eye(len(M))
        assert 0.5 * (np.trace(M.T @ np.linalg.solve(S, M)) + np.trace(S)) >= value * (1 - 1e-9)
    view = smoothed(P, w, 1e-12)
    S = (view.vectors * view.roots) @ view.vectors.T
    assert 0.5 * (np.trace(M.T @ np.linalg.solve(S, M)) + np.trace(S)) == pytest.approx(value, abs=1e-4)


def test_rows_are_cut():
    X, y = regression("blocks", 30, 8)
    R, target, constant = cut_rows(X, y)
    w = np.arange(8.0)
    assert R.shape == (8, 8)
    assert 0.5 * np.sum((target - R @ w) ** 2) + constant == pytest.approx(0.5 * np.sum((y - X @ w) ** 2))
    np.testing.assert_allclose(
        singular_values(R, w), np.sort(np.linalg.svd(X * w, compute_uv=False)), atol=1e-9
    )
