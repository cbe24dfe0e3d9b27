"""Estimators of the trace Lasso on odd data: equal and constant columns, scales, lambdas far off, what is refused and told."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

from tests.models.regression_cases import regression
from wordkit.errors import ConvergenceWarning, Interrupted
from wordkit.models import (
    TraceLasso,
    TraceLassoCV,
    trace_lasso_path,
)
from wordkit.monitor import Monitor


def test_duplicated_columns_get_equal_coefficients():
    X, y = regression("identity", 30, 6)
    model = TraceLasso(lam=0.01, tol=1e-10).fit(np.column_stack([X, X[:, :2]]), y)
    np.testing.assert_allclose(model.coef_[6:], model.coef_[:2], atol=1e-4)
    assert model.coef_[0] != 0


@pytest.mark.filterwarnings("error")
def test_u076_degenerate_data():
    for X, y in (
        (np.zeros((3, 1)), np.zeros(3)),
        (np.zeros((3, 2)), np.arange(3.0)),
        (np.eye(3), np.zeros(3)),
        (np.eye(3), np.ones(3)),
        (np.ones((4, 2)), np.arange(4.0)),
    ):
        for penalty in ("trace", "lasso", "ridge", "pairwise-elastic-net"):
            for lam in (None, 0.1, 0):
                model = TraceLasso(penalty=penalty, lam=lam).fit(X, y)
                assert not model.coef_.any() and model.converged_ and model.gap_ == 0
                assert model.intercept_ == pytest.approx(y.mean())


def test_constant_and_zero_columns_are_left_out():
    X, y = regression("blocks", 30, 8)
    wide = np.column_stack([np.ones(30), X, np.zeros(30)])
    model, narrow = TraceLasso(tol=1e-9).fit(wide, y), TraceLasso(tol=1e-9).fit(X, y)
    assert model.coef_[0] == model.coef_[-1] == 0
    np.testing.assert_allclose(model.coef_[1:-1], narrow.coef_, atol=1e-9)


def test_lambda_zero_and_above_the_largest():
    X, y = regression("toeplitz", 40, 5)
    free = TraceLasso(lam=0).fit(X, y)
    least = np.linalg.lstsq(np.column_stack([X, np.ones(40)]), y, rcond=None)[0]
    np.testing.assert_allclose([*free.coef_, free.intercept_], least, atol=1e-8)
    above = TraceLasso(lam=free.lam_max_ * 1.001).fit(X, y)
    assert not above.coef_.any() and above.gap_ == 0 and above.rank_ == 0 and len(above.support_) == 0
    below = TraceLasso(lam=free.lam_max_ * 0.99, tol=1e-9).fit(X, y)
    assert below.coef_.any()


def test_scale_and_units_do_not_matter():
    X, y = regression("blocks", 40, 10)
    plain = TraceLasso(lam=0.01, tol=1e-9).fit(X, y)
    scale = np.logspace(-3, 3, 10)
    scaled = TraceLasso(lam=0.01, tol=1e-9).fit(X * scale + 100, y - 7)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(scaled.predict(X * scale + 100), plain.predict(X) - 7, atol=1e-5)


def test_single_precision_and_sparse_input():
    X, y = regression("identity", 60, 15)
    X[np.abs(X) < 1] = 0
    dense = TraceLasso(lam=0.01, tol=1e-8).fit(X, y)
    single = TraceLasso(lam=0.01, tol=1e-8).fit(X.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-4)
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_array):
        sparse = TraceLasso(lam=0.01, tol=1e-8).fit(make(X), y)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4)
        assert sparse.intercept_ == pytest.approx(dense.intercept_, abs=1e-4)
        assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-7)
        np.testing.assert_allclose(sparse.predict(make(X)), dense.predict(X), atol=1e-3)
    wide = scipy.sparse.csr_array(X.T.copy())
    assert TraceLasso().fit(wide, np.arange(15.0)).converged_


def test_refusals():
    X, y = regression("identity", 10, 4)
    bad = X.copy()
    bad[2, 3] = np.nan
    with pytest.raises(ValueError, match="row 2, column 3"):
        TraceLasso().fit(bad, y)
    with pytest.raises(ValueError, match="row 2, column 3"):
        TraceLasso().fit(scipy.sparse.csr_array(bad), y)
    with pytest.raises(ValueError, match=r"row 1"):
        TraceLasso().fit(X, np.where(np.arange(10) == 1, np.inf, y))
    for parameters, message in (
        ({"penalty": "l3"}, "penalty"), ({"lam": -1}, "lam"), ({"solver": "x"}, "solver"), ({"l1_ratio": 0}, "l1_ratio"),
        ({"penalty": "group"}, "needs groups"), ({"groups": ["a"] * 4}, "needs groups"), ({"tol": 0}, "tol"),
        ({"penalty": "group", "groups": ["a"] * 3}, "3 groups"), ({"penalty_matrix": np.eye(3)}, "3 columns"),
        ({"penalty_matrix": np.diag([1, 1, 1, 0])}, "zero column"), ({"loss": "logistic"}, "two classes"),
        ({"loss": "logistic", "penalty": "lasso"}, "goes with"),
        ({"penalty": "ridge", "penalty_matrix": np.eye(4)}, "does not go"),
        ({"penalty": "pairwise-elastic-net", "normalize": False}, "normalize"), ({"max_iter": 1.5}, "max_iter"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            TraceLasso(**parameters).fit(X, y)


def test_missing_the_gap_is_told():
    X, y = regression("toeplitz", 20, 30)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = TraceLasso(max_iter=2).fit(X, y)
    assert not model.converged_ and model.gap_ > 0
    with pytest.warns(ConvergenceWarning):
        TraceLasso(solver="subgradient", max_iter=20).fit(X, y)


def test_a_tolerance_below_rounding_ends_at_the_limit():
    X, y = np.random.default_rng(3).normal(size=(80, 20)), np.arange(80.0)
    for tol in (1e-15, 1e-30, 1e-300):  # mu comes back to where it fell last
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = TraceLasso(lam=0.05, tol=tol).fit(X, y)
        assert 0 <= model.gap_ < 1e-10


def test_lambdas_far_from_the_data_overflow_nothing():
    X, y = np.random.default_rng(4).normal(size=(12, 4)), np.arange(12.0)
    for penalty in ("trace", "lasso", "ridge", "elastic-net", "pairwise-elastic-net"):
        for lam in (1e-100, 1e100):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = TraceLasso(penalty=penalty, lam=lam).fit(X, y)
            assert np.isfinite([model.objective_, *model.coef_]).all()


def test_gaps_are_never_below_zero():
    X, y = np.random.default_rng(5).normal(size=(30, 1)), np.arange(30.0)
    for penalty in ("lasso", "ridge", "elastic-net", "pairwise-elastic-net"):
        for lam in (0.01, 0.1, 0.5):
            assert TraceLasso(penalty=penalty, lam=lam).fit(X, y).gap_ >= 0


def test_numbers_that_cannot_be_squared_are_refused():
    X, y = np.random.default_rng(6).normal(size=(10, 2)), np.arange(10.0)
    for bad in ((X * 1e160, y), (X * 1e-200, y), (X, y * 1e160), (X, y * 1e-200)):
        with pytest.raises(ValueError, match="squares of such numbers"):
            TraceLasso().fit(*bad)
    with pytest.raises(ValueError, match="squares of such numbers"):
        TraceLasso().fit(scipy.sparse.csr_array(X * 1e160), y)


def test_folds_hold_both_classes():
    X, y = np.random.default_rng(7).normal(size=(10, 2)), np.r_[np.ones(9), 0]
    with pytest.raises(ValueError, match="a class has fewer rows"):
        TraceLassoCV(loss="logistic", cv=3).fit(X, y)


def test_a_monitor_can_stop_it():
    X, y = regression("toeplitz", 20, 30)
    monitor = Monitor()
    monitor.stopping = True
    for solver in ("irls", "irls-plain", "admm", "subgradient"):
        with pytest.raises(Interrupted):
            TraceLasso(solver=solver).fit(X, y, monitor=monitor)
    for penalty in ("lasso", "ridge", "elastic-net", "pairwise-elastic-net"):
        with pytest.raises(Interrupted):
            trace_lasso_path(X, y, penalty=penalty, monitor=monitor)
