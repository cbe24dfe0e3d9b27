"""Estimators of the trace Lasso: solvers agree and certify, special cases equal scikit-learn's, paths, folds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.models.regression_cases import problem_of, regression, unit_columns
from wordkit.models import (
    PairwiseElasticNet,
    TraceLasso,
    TraceLassoCV,
    trace_lasso_path,
    trace_norm_penalty,
)
from wordkit.models.pairwise_elastic_net import pairwise_matrix
from wordkit.models.regression_design import prepare
from wordkit.models.regression_path import bootstrap_support
from wordkit.models.trace_lasso_admm import SquaredLoss, admm
from wordkit.models.trace_lasso_irls import fast_irls, irls
from wordkit.models.trace_lasso_problem import Problem
from wordkit.models.trace_lasso_subgradient import subgradient

KINDS = ["identity", "blocks", "toeplitz"]


# --- solvers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.02, 0.1, 0.2, 0.3, 0.5, 0.8])
def test_fast_irls_reaches_a_small_gap(kind, share):
    for n, p in ((24, 48), (60, 20)):
        problem = problem_of(kind, n, p, share)
        found = fast_irls(problem, tol=1e-6)
        assert found.converged and -1e-9 <= found.gap / problem.zero_loss <= 1e-6
        assert found.objective == pytest.approx(problem.objective(found.w), rel=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_solvers_agree(kind):
    problem = problem_of(kind, 16, 30, 0.2)
    best = fast_irls(problem, tol=1e-8).objective
    for found in (
        irls(problem, tol=1e-5),
        admm(SquaredLoss(problem), tol=1e-6),
        admm(SquaredLoss(problem), tol=1e-4, adaptive=False),
    ):
        assert found.converged
        assert -1e-9 * problem.zero_loss <= found.objective - best <= found.gap + 1e-8 * problem.zero_loss
    slow = subgradient(problem, max_iter=500)
    assert best - 1e-9 <= slow.objective <= best + slow.gap + 1e-9 and not slow.converged


def test_gaps_of_a_trace_fall_and_times_rise():
    found = admm(SquaredLoss(problem_of("toeplitz", 16, 30, 0.2)), trace=True)
    seconds, _, gaps = np.array(found.trace).T
    assert np.all(np.diff(seconds) > 0) and np.all(np.diff(gaps) <= 0)


def test_general_penalty_matrices():
    problem = problem_of("blocks", 20, 12, 0.3)
    for P in (np.eye(12), np.ones((1, 12)), np.random.default_rng(0).standard_normal((5, 12))):
        other = Problem.of(problem.X, problem.y, problem.lam, P)
        fast, slow = fast_irls(other, tol=1e-7), admm(SquaredLoss(other), tol=1e-6)
        assert fast.converged and slow.converged
        assert fast.objective == pytest.approx(slow.objective, abs=2e-6 * other.zero_loss)


# --- special cases ---------------------------------------------------------------------------------------------------


def test_orthonormal_columns_give_the_lasso():
    X, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((20, 6)))
    y = X @ np.array([3, -2, 0.5, 0, 0, 1.0])
    model = TraceLasso(lam=0.03, fit_intercept=False, normalize=False, tol=1e-10).fit(X, y)
    expected = np.sign(X.T @ y) * np.maximum(np.abs(X.T @ y) - 20 * 0.03, 0)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-4)
    assert model.support_.tolist() == [0, 1, 5]


def test_identity_as_penalty_matrix_is_scikit_learns_lasso():
    X, y = regression("toeplitz", 40, 12)
    ours = TraceLasso(lam=0.02, penalty_matrix=np.eye(12), tol=1e-9).fit(X, y)
    theirs = TraceLasso(lam=0.02, penalty="lasso", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-6)


def test_one_group_and_ones_as_penalty_matrix_agree():
    X, y = regression("blocks", 40, 12)
    group = TraceLasso(lam=0.02, penalty="group", groups=["a"] * 12, tol=1e-8).fit(X, y)
    ones = TraceLasso(lam=0.02, penalty_matrix=np.ones((1, 12)), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(group.coef_, ones.coef_, atol=1e-3)


def test_group_lasso_selects_whole_groups():
    X, y = regression("identity", 60, 12, k=4)
    groups = np.repeat(["x", "y", "z"], 4)
    least = TraceLasso(penalty="group", groups=groups, group_weights="sqrt").fit(X, y).lam_max_
    model = TraceLasso(penalty="group", groups=groups, group_weights="sqrt", lam=0.8 * least).fit(X, y)
    assert {groups[i] for i in model.support_} == {"x"} and len(model.support_) == 4
    shares = prepare(X, y, fit_intercept=True, normalize=True).scaled(model.coef_)
    assert trace_norm_penalty(np.repeat(np.eye(3), 4, axis=1), shares) == pytest.approx(
        sum(np.linalg.norm(shares[i : i + 4]) for i in (0, 4, 8))
    )


@pytest.mark.parametrize("penalty", ["lasso", "elastic-net", "ridge", "pairwise-elastic-net", "trace"])
def test_every_penalty_certifies(penalty):
    X, y = regression("blocks", 30, 20)
    model = TraceLasso(penalty=penalty).fit(X, y)
    assert model.converged_ and -1e-9 <= model.gap_ <= 1e-6 * np.var(y)
    assert model.score(X, y) > 0.5


def test_elastic_net_and_ridge_minimize_what_they_say():
    X, y = regression("toeplitz", 50, 8)
    design = prepare(X, y, fit_intercept=True, normalize=True)
    for penalty, ratio in (("elastic-net", 0.3), ("ridge", 0.0)):
        model = TraceLasso(penalty=penalty, lam=0.01, l1_ratio=0.3, tol=1e-10).fit(X, y)

        def objective(w, ratio=ratio):
            rest = design.y - design.X @ w
            return rest @ rest / 100 + 0.01 * (ratio * np.abs(w).sum() + (1 - ratio) / 2 * w @ w)

        w = design.scaled(model.coef_)
        assert model.objective_ == pytest.approx(objective(w), rel=1e-9)
        for step in np.random.default_rng(0).standard_normal((20, 8)):
            assert objective(w + 1e-3 * step) >= objective(w) - 1e-9


def test_pairwise_elastic_net():
    X, y = regression("blocks", 40, 16)
    P, theta = pairwise_matrix(unit_columns(X - X.mean(axis=0)))
    assert np.linalg.eigvalsh(P)[0] == pytest.approx(0, abs=1e-9) and 0 < theta < 1 and P.min() >= 0
    model = PairwiseElasticNet(lam=0.01, tol=1e-7).fit(X, y)
    assert model.theta_ == pytest.approx(theta) and model.converged_
    design = prepare(X, y, fit_intercept=True, normalize=True)
    w = design.scaled(model.coef_)

    def objective(w):
        rest = design.y - design.X @ w
        return rest @ rest / 80 + 0.01 * np.abs(w) @ P @ np.abs(w)

    assert model.objective_ == pytest.approx(objective(w), rel=1e-9)
    for step in np.random.default_rng(0).standard_normal((50, 16)):
        assert objective(w + 1e-3 * step) >= objective(w) - 1e-8
    np.testing.assert_allclose(pairwise_matrix(np.eye(3))[0], np.ones((3, 3)), atol=1e-12)  # (sum |w_i|)^2


def test_logistic_loss():
    X, y = regression("toeplitz", 60, 10, k=3)
    labels = np.where(y > np.median(y), "yes", "no")
    model = TraceLasso(loss="logistic").fit(X, labels)
    assert model.converged_ and model.gap_ >= -1e-9 and model.score(X, labels) > 0.8
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(60))
    zero = TraceLasso(loss="logistic", lam=2 * model.lam_max_).fit(X, labels)
    assert not zero.coef_.any() and zero.intercept_ == pytest.approx(0, abs=1e-9)
    below = TraceLasso(loss="logistic", lam=0.95 * model.lam_max_).fit(X, labels)
    assert below.coef_.any()
    assert not hasattr(TraceLasso(), "predict_proba")


# --- paths and folds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["trace", "lasso", "elastic-net"])
def test_paths_start_where_the_solution_is_zero(penalty):
    X, y = regression("blocks", 30, 24)
    path = trace_lasso_path(X, y, penalty=penalty, count=12)
    assert path.lams[-1] == pytest.approx((1e-5 if penalty == "elastic-net" else 0.01) * path.lams[0])
    assert not path.coefficients[0].any() and path.coefficients[1].any()
    assert path.converged.all() and np.all(np.diff(path.objectives) < 1e-9)
    assert path.selected[0] == 0 and path.ranks[-1] <= path.selected[-1]
    alone = TraceLasso(penalty=penalty, lam=path.lams[6], tol=1e-6).fit(X, y)
    assert path.objectives[6] == pytest.approx(alone.objective_, abs=path.gaps[6] + alone.gap_ + 1e-12)


def test_given_lambdas_and_bad_ones():
    X, y = regression("identity", 20, 5)
    path = trace_lasso_path(X, y, lams=[0.001, 0.1, 0.01])
    assert path.lams.tolist() == [0.1, 0.01, 0.001]
    with pytest.raises(ValueError, match="ratio"):
        trace_lasso_path(X, y, ratio=2)


def test_cross_validation():
    X, y = regression("blocks", 60, 16, k=8)
    model = TraceLassoCV(cv=4, n_lams=12).fit(X, y)
    sparse = TraceLassoCV(cv=4, n_lams=12, rule="1se", threads=3).fit(X, y)
    assert model.cv_mean_.shape == model.lams_.shape == (12,)
    assert model.lam_ == model.lam_min_ == model.lams_[np.argmin(model.cv_mean_)]
    assert sparse.lam_ == sparse.lam_1se_ >= model.lam_min_ and sparse.lam_1se_ == model.lam_1se_
    np.testing.assert_array_equal(sparse.cv_mean_, model.cv_mean_)  # threads do not change it
    assert model.cv_mean_.min() < 0.5 * np.var(y) and model.gap_ <= 1e-6 * np.var(y)
    by_class = TraceLassoCV(cv=3, n_lams=4, loss="logistic").fit(X, y > 0)
    assert by_class.cv_mean_.min() < by_class.cv_mean_[0]


def test_stability_over_bootstrap_samples():
    X, y = regression("blocks", 50, 16, k=8)
    shares = bootstrap_support(TraceLasso(tol=1e-4), X, y, samples=6, threads=2)
    assert shares.shape == (16,) and shares[:8].mean() > shares[8:].mean()


def test_state_comes_back():
    X, y = regression("blocks", 30, 8)
    for model in (TraceLasso().fit(X, y), TraceLasso(loss="logistic").fit(X, y > 0)):
        again = TraceLasso.from_state(*model.state())
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.lam_ == model.lam_ and again.support_.tolist() == model.support_.tolist()


def test_scikit_learn_is_named_where_it_is_missing(monkeypatch):
    import sys

    from wordkit.errors import WordkitError

    X, y = regression("identity", 10, 3)
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(
        WordkitError, match=r"pip install scikit-learn \(or wordkit with its extra regression\)"
    ):
        TraceLasso(penalty="lasso").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TraceLasso().fit(X, y)


@pytest.mark.parametrize("n, p, share, seed", [(64, 128, 0.5, 3), (128, 64, 0.3, 2), (128, 64, 0.3, 3)])
def test_a_second_attempt_solves_what_stays_at_a_gap(n, p, share, seed):
    """Cold starts that come to 6e-6 and no lower, however many their steps; the way by a larger lambda is another."""
    from tests.benchmarks.bench_trace_lasso import problem_of as made_up

    problem = made_up("toeplitz", n, p, share, seed)
    found = fast_irls(problem, tol=1e-6, trace=True)
    assert found.converged and 0 <= found.gap <= 1e-6 * problem.zero_loss
    assert found.gap == min(gap for _, _, gap in found.trace)
    assert np.all(np.diff([seconds for seconds, _, _ in found.trace]) >= 0)


# Optima of cvxpy 1.9.3 with Clarabel for problem_of(kind, 8, 12, share): an independent conic solver.
CONIC = {
    ("identity", 0.1): (1.5259369886, (-0.0849, 1.53305, -0.67055, 1.13604, -0.51459, 0.30271)),
    ("identity", 0.5): (5.9503515200, (-0.0727, 0.81611, -0.46369, 0.63701, -0.32085, 0.29134)),
    ("blocks", 0.1): (0.9061687101, (0.07175, 1.02117, -0.22687, 0.95204, 0.13743, 0.57506)),
    ("blocks", 0.5): (2.3912669838, (0.09688, 0.40825, 0.03316, 0.37836, 0.08738, 0.35522)),
    ("toeplitz", 0.1): (0.5666396084, (0.53844, 0.7615, 0.32778, 0.36781, 0.21312, 0.24594)),
    ("toeplitz", 0.5): (1.7466983852, (0.3018, 0.32569, 0.30041, 0.27145, 0.24693, 0.21183)),
}


@pytest.mark.parametrize("case", CONIC)
def test_a_conic_solver_finds_the_same(case):
    problem = problem_of(case[0], 8, 12, case[1])
    objective, first = CONIC[case]
    found = fast_irls(problem, tol=1e-9)
    assert found.objective == pytest.approx(objective, abs=2e-8 * problem.zero_loss)
    assert objective >= found.objective - found.gap - 1e-8 * problem.zero_loss
    np.testing.assert_allclose(found.w[: len(first)], first, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_proposition_2_one_minimum_from_every_start(kind):
    """Also with more columns than rows, two of them equal: the Lasso's minimum is not unique there."""
    problem = problem_of(kind, 10, 16, 0.2)
    X = problem.X.copy()
    X[:, 9] = X[:, 3]
    problem = Problem.of(X, problem.y, problem.lam)
    starts = np.random.default_rng(2).standard_normal((3, 16))
    found = [fast_irls(problem, tol=1e-10, w=w).w for w in starts]
    found.append(admm(SquaredLoss(problem), tol=1e-9, max_iter=20_000).w)
    for w in found:
        np.testing.assert_allclose(w, found[0], atol=2e-3)
        assert w[9] == pytest.approx(w[3], abs=1e-3)
