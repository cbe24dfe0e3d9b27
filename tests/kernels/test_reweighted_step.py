"""Steps of the trace Lasso's IRLS against their twin, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import reweighted_step as twin
from wordkit._kernels import reweighted_step

shapes = st.tuples(st.integers(1, 40), st.integers(0, 40)).map(lambda s: (s[0], s[0] + s[1]))
seeds = st.integers(0, 10**6)


def spectrum(P, w):
    values, rows = np.full(len(P), np.nan), np.full((len(P), len(P)), np.nan)
    assert reweighted_step.spectrum(P, w, values, rows)
    return values, rows


def smooth(P, values, rows, mu):
    out = np.full(len(P), np.nan), np.full(P.shape, np.nan), np.full(P.shape[1], np.nan)
    return out, reweighted_step.smooth(P, values, rows, mu, *out)


@given(seeds, shapes, st.integers(0, 3))
def test_eigenvectors(seed, shape, zeros):
    draw = np.random.default_rng(seed)
    P, w = draw.standard_normal(shape), draw.standard_normal(shape[1])
    w[:zeros] = 0
    values, rows = spectrum(P, w)
    np.testing.assert_allclose(values, twin.spectrum(P, w)[0], atol=1e-12 * values[-1] + 1e-300)
    assert (values >= 0).all() and (np.diff(values) >= 0).all()
    np.testing.assert_allclose(rows @ rows.T, np.eye(len(P)), atol=1e-12)
    np.testing.assert_allclose((rows.T * values) @ rows, (P * w) @ (P * w).T, atol=1e-11 * values[-1])


@given(seeds, shapes, st.sampled_from([1e-6, 1.0, 100.0]))
def test_smoothed_and_mended(seed, shape, mu):
    draw = np.random.default_rng(seed)
    P, w, d = draw.standard_normal(shape), draw.standard_normal(shape[1]), draw.standard_normal(shape[1])
    values, rows = spectrum(P, w)
    (roots, turned, weights), sums = smooth(P, values, rows, mu)
    expected = twin.smooth(P, values, rows.T, mu)
    for found, right in zip((roots, turned, weights), expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-9 * np.abs(right).max())
    np.testing.assert_allclose(sums, [np.sqrt(values).sum(), roots.sum(), (1 / roots).sum()])
    out = np.full(shape, np.nan)
    reweighted_step.mend(turned, roots, w, d, out)
    right = twin.mended(P, values, rows.T, mu, w, d)
    np.testing.assert_allclose(out, right, atol=1e-8 * np.abs(right).max())
    norm = np.linalg.norm(out, 2)
    gram = out @ out.T
    kept = gram.copy()
    assert reweighted_step.is_below(gram, 1.001 * norm) and not reweighted_step.is_below(gram, 0.999 * norm)
    np.testing.assert_array_equal(gram, kept)


@given(seeds, shapes)
def test_weighted_system(seed, shape):
    draw = np.random.default_rng(seed)
    X, y, D = (
        draw.standard_normal(shape),
        draw.standard_normal((shape[0], 2))[:, 0],
        draw.uniform(0.1, 10, shape[1]),
    )
    out = np.full(shape[1], np.nan)
    assert reweighted_step.solve(X, y, D, out)
    np.testing.assert_allclose(out, twin.solve(X, y, D), rtol=1e-7, atol=1e-9)


@given(seeds, st.integers(1, 8), st.integers(0, 40))
def test_extrapolation(seed, kept, more):
    draw = np.random.default_rng(seed)
    p = 2 * kept + more  # not nearly square: a hundred digits would be needed for some of those
    residuals, images = draw.standard_normal((2, kept, p))
    residual, image = draw.standard_normal((2, p))
    weights = draw.uniform(0.5, 2, p)
    out = np.full(p, np.nan)
    assert reweighted_step.extrapolate(residuals, images, residual, image, weights, out)
    right = twin.extrapolate(residuals, images, residual, image, weights)
    np.testing.assert_allclose(out, right, rtol=1e-6, atol=1e-6)


def test_what_cannot_be_extrapolated():
    zero, one = np.zeros((2, 3)), np.ones(3)
    assert not reweighted_step.extrapolate(zero, zero, one, one, one, np.empty(3))
    assert not reweighted_step.extrapolate(np.full((2, 3), np.inf), zero, one, one, one, np.empty(3))
    assert not reweighted_step.extrapolate(zero[:0], zero[:0], one, one, one, np.empty(3))


def test_numbers_that_are_not_finite():
    P = np.full((2, 3), np.nan)
    assert not reweighted_step.solve(P, np.ones(2), np.ones(3), np.empty(3))
    assert not reweighted_step.is_below(np.full((2, 2), np.nan), 1.0)
    assert not reweighted_step.is_below(np.eye(2), np.nan) and not reweighted_step.is_below(
        np.zeros((2, 2)), 0.0
    )


def test_nothing_at_all():
    values, rows = np.empty(0), np.empty((0, 0))
    assert reweighted_step.spectrum(np.empty((0, 3)), np.ones(3), values, rows)
    (_, _, weights), sums = smooth(np.empty((0, 3)), values, rows, 1.0)
    assert sums == (0, 0, 0) and not weights.any()
    values, rows = spectrum(np.empty((2, 0)), np.empty(0))
    assert not values.any() and (np.abs(rows).sum() == 2)
    assert reweighted_step.is_below(np.empty((0, 0)), 1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: reweighted_step.spectrum(a((2, 3)), b(4), b(2), a((2, 2))),
        lambda a, b: reweighted_step.spectrum(a((2, 3)), b(3), b(2), a((2, 3))),
        lambda a, b: reweighted_step.smooth(a((2, 3)), b(2), a((2, 2)), 1.0, b(2), a((2, 3)), b(2)),
        lambda a, b: reweighted_step.mend(a((2, 3)), b(2), b(3), b(2), a((2, 3))),
        lambda a, b: reweighted_step.is_below(a((2, 3)), 1.0),
        lambda a, b: reweighted_step.solve(a((2, 3)), b(3), b(3), b(3)),
        lambda a, b: reweighted_step.extrapolate(a((2, 3)), a((1, 3)), b(3), b(3), b(3), b(3)),
    ],
)
def test_shapes_that_do_not_agree(call):
    with pytest.raises(ValueError, match=r"do not agree|not square"):
        call(np.ones, np.ones)
