"""Codes of words for a fixed dictionary: against other solvers, with any number of threads, and warnings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.linear_model import Lasso

from tests.reference import forest_prox as twin
from wordkit.errors import ConvergenceWarning
from wordkit.models.forests import forest_of_shape, singletons
from wordkit.models.sparse_codes import Inverses, sparse_codes


def problem(M, n, d, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    D = random.normal(size=(d, M)) / np.sqrt(d)
    X = D @ (random.normal(size=(M, n)) * (random.random((M, n)) < 0.3)) + 0.2 * random.normal(size=(d, n))
    return D.astype(dtype), X.astype(dtype)


def codes(D, X, forest, lam, **settings):
    return sparse_codes(
        D.T @ D, D.T @ X, (X.astype(float) ** 2).sum(axis=0), forest=forest, lam=lam, **settings
    )


@pytest.mark.parametrize("nonnegative", [False, True])
def test_l1_codes_are_those_of_the_lasso(nonnegative):
    """scikit-learn minimizes 1/(2d) |x - D a|^2 + alpha |a|_1: lam = 2 d alpha."""
    D, X = problem(25, 12, 40)
    found = codes(D, X, singletons(25), 0.3, tol=1e-12, nonnegative=nonnegative, max_iter=10_000)
    lasso = Lasso(
        alpha=0.3 / (2 * 40), fit_intercept=False, tol=1e-12, max_iter=100_000, positive=nonnegative
    )
    np.testing.assert_allclose(found.codes.T, lasso.fit(D, X).coef_, rtol=0, atol=1e-5)
    assert (found.codes == 0).any() and found.converged.all()


def test_without_penalty():
    D, X = problem(10, 8, 30)
    np.testing.assert_allclose(
        codes(D, X, singletons(10), 0.0).codes, np.linalg.lstsq(D, X)[0], rtol=0, atol=1e-9
    )
    D, X = problem(30, 8, 10)  # many solutions: the shortest
    found = codes(D, X, singletons(30), 0.0)
    np.testing.assert_allclose(found.codes, np.linalg.lstsq(D, X)[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.objectives, 0, atol=1e-8)
    assert found.converged.all() and (found.gaps < 1e-12).all()
    D, X = problem(10, 8, 30)
    expected = np.transpose([nnls(D, x)[0] for x in X.T])
    found = codes(D, X, singletons(10), 0.0, nonnegative=True, tol=1e-10)
    np.testing.assert_allclose(found.codes, expected, rtol=0, atol=1e-4)
    flat = np.zeros((5, 3))  # a dictionary of nothing
    for lam in (0.0, 1.0):
        found = codes(flat, np.ones((5, 2)), singletons(3), lam)
        assert not found.codes.any() and found.objectives.tolist() == [5, 5]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("M", [52, 143])
def test_any_number_of_threads_gives_the_same_bytes(dtype, M):
    D, X = problem(M, 700, 60, dtype)
    forest = forest_of_shape("3x3", dim=M)
    one, four = (codes(D, X, forest, 0.5, threads=threads) for threads in (1, 4))
    for name in ("codes", "objectives", "gaps", "iterations", "converged"):
        assert getattr(one, name).tobytes() == getattr(four, name).tobytes()
    assert one.codes.dtype == dtype and one.converged.all()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_hierarchical_codes_are_minima_and_hang_together(nonnegative):
    D, X = problem(52, 60, 80)
    forest = forest_of_shape("3x3", trees=4)
    found = codes(D, X, forest, 0.4, nonnegative=nonnegative, tol=1e-11, max_iter=20_000)
    assert (twin.stationarity(D, X, found.codes, forest.parents, 0.4, nonnegative) < 1e-4).all()
    np.testing.assert_allclose(
        found.objectives, twin.objective(D, X, found.codes, forest.parents, 0.4), rtol=1e-10
    )
    # Where a node is not zero, no group above it is.
    zero_groups = np.array(
        [~(found.codes[group] != 0).any(axis=0) for group in twin.subtrees(forest.parents)]
    )
    assert 0.1 < (found.codes == 0).mean() < 0.95 and zero_groups.any()
    if not nonnegative:
        for i in range(52):
            for above in twin.ancestors(forest.parents, i):
                assert not ((found.codes[i] != 0) & (found.codes[above] == 0)).any()
        worst = max(
            twin.subgradient_violation(D, x, a, forest.parents, 0.4)
            for x, a in zip(X.T, found.codes.T, strict=True)
        )
        assert worst < 1e-3


def test_a_start_shortens_the_way():
    D, X = problem(52, 100, 80)
    forest = forest_of_shape("3x3", trees=4)
    cold = codes(D, X, forest, 0.3)
    warm = codes(D, X, forest, 0.3, start=cold.codes + 1e-3, rho=cold.rho)
    assert warm.iterations.mean() < cold.iterations.mean() / 1.5
    again = codes(D, X, forest, 0.3, start=cold.codes)
    assert (again.iterations == 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_inverses(dtype):
    D, _ = problem(40, 1, 30, dtype)
    inverses = Inverses(D.T @ D, 0.5)
    for power in (0, 3, -2):
        rho = 0.5 * 2.0**power
        assert inverses.rho(power) == rho and inverses[power] is inverses[power]
        product = inverses[power].astype(float) @ (2 * (D.T @ D).astype(float) + rho * np.eye(40))
        np.testing.assert_allclose(product, np.eye(40), rtol=0, atol=1e-4 if dtype == np.float32 else 1e-11)
    with pytest.raises(ValueError, match="negative eigenvalue"):
        Inverses(-np.eye(3), 1.0)[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_that_resemble_each_other_are_no_hindrance(dtype):
    """Gradient steps would need thousands of iterations; and float32 cannot show the gaps, so float64 takes over."""
    random = np.random.default_rng(0)
    D = random.normal(size=(60, 52)) + 5 * random.normal(size=(60, 2)) @ random.normal(size=(2, 52))
    X = (D @ random.normal(size=(52, 100)) + random.normal(size=(60, 100))).astype(dtype)
    D = D.astype(dtype)
    forest = forest_of_shape("3x3", trees=4)
    found = codes(D, X, forest, 1.0)
    assert found.codes.dtype == dtype and found.converged.all() and found.iterations.mean() < 150
    exact = codes(D.astype(float), X.astype(float), forest, 1.0, tol=1e-8, max_iter=20_000)
    true = twin.objective(D.astype(float), X, found.codes, forest.parents, 1.0)
    np.testing.assert_allclose(true, exact.objectives, rtol=2e-3 if dtype == np.float32 else 2e-4)


def test_warns_of_what_is_not_done():
    D, X = problem(52, 10, 80)
    with pytest.warns(
        ConvergenceWarning, match=r"10 of 10 codes: gap up to .* tolerance 1e-06; raise max_iter"
    ):
        found = codes(D, X, forest_of_shape("3x3", trees=4), 0.1, tol=1e-6, max_iter=2)
    assert not found.converged.any() and (found.gaps > 1e-6 * found.objectives).all()


def test_nothing_to_code():
    D, X = problem(13, 0, 20)
    found = codes(D, X, forest_of_shape("3x3", trees=1), 0.1)
    assert found.codes.shape == (13, 0) and found.converged.shape == (0,)


def test_what_does_not_fit():
    D, X = problem(13, 4, 20)
    forest = forest_of_shape("3x3", trees=1)
    gram, correlations, squares = D.T @ D, D.T @ X, (X**2).sum(axis=0)
    for wrong in (
        (gram[:12], correlations, squares), (gram, correlations[:12], squares), (gram, correlations, squares[:3]),
        (gram * np.nan, correlations, squares), (gram, correlations * np.inf, squares), (gram, correlations, squares * np.nan),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            sparse_codes(*wrong, forest=forest, lam=0.1)
    for settings in (
        {"lam": -1}, {"lam": np.nan}, {"lam": np.inf}, {"tol": -1}, {"max_iter": -1}, {"start": np.zeros((13, 3))},
        {"start": np.full((13, 4), np.nan)}, {"forest": singletons(12)}, {"rho": 0.0}, {"rho": np.nan},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            sparse_codes(gram, correlations, squares, **{"forest": forest, "lam": 0.1, **settings})
