"""Regularization paths and the choice of lambda: warm starts from where the solution is exactly zero, K-fold cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordkit import rng
from wordkit.models.base import one_of, positive, whole
from wordkit.models.cross_validation import stratified_folds
from wordkit.models.regression_design import checked_matrix
from wordkit.models.regression_penalties import Regression
from wordkit.models.trace_lasso import RegressionEstimator, Selection, TraceLasso, original, stopper
from wordkit.monitor import Monitor
from wordkit.parallel import map_blocks

RULES = ("min", "1se")
# How far a path falls. On columns of unit length squares of coefficients are large: their penalties need small lambdas.
_RATIO, _RATIOS = 0.01, {"elastic-net": 1e-5, "ridge": 1e-8, "pairwise-elastic-net": 1e-8}
_SQUARES = ("ridge", "pairwise-elastic-net")


@dataclass(frozen=True)
class RegressionPath:
    """Solutions along falling lambdas.

    Attributes:
        lams: (m,), falling. coefficients: (m, p) on the original scale. intercepts: (m,). objectives, gaps: (m,).
        iterations: int (m,). converged: bool (m,). selected, ranks: int (m,), how many columns and of which rank.
    """

    lams: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    selected: np.ndarray
    ranks: np.ndarray


def lambda_grid(regression: Regression, count: int, ratio: float | None) -> np.ndarray:
    """``count`` lambdas from the least one known to give zero down to ``ratio`` times that, evenly on a logarithmic scale.

    Without a ratio it is a hundredth, or for penalties with squares what they need.
    The bracket of the first is that of a single fit, and narrower than half a step, so that the second does not give zero.
    """
    if ratio is None:
        ratio = _RATIOS.get(regression.settings.penalty, _RATIO)
    elif not 0 < positive("ratio", ratio) < 1:
        raise ValueError(f"ratio is {ratio!r}, expected a number between 0 and 1")
    step = -np.log(ratio) / max(count - 1, 1)
    _, high = regression.largest(tol=min(1e-3, 0.25 * step))
    return high * ratio ** (np.arange(count) / max(count - 1, 1))


def path_of(regression: Regression, lams: np.ndarray, monitor: Monitor | None = None) -> RegressionPath:
    """Solve at each lambda, from the solution before."""
    stop = stopper(monitor)
    solutions, coefficients, intercepts, chosen = [], [], [], []
    chooser = Selection(regression.design)
    for lam in lams:
        found = regression.solve(float(lam), stop)
        weights, intercept = original(regression, found.w)
        solutions.append(found)
        coefficients.append(weights)
        intercepts.append(intercept)
        chosen.append(chooser.of(found.w))
        if monitor is not None:
            monitor.advance(1)
    numbers = (
        np.array([getattr(s, name) for s in solutions])
        for name in ("objective", "gap", "iterations", "converged")
    )
    return RegressionPath(
        np.asarray(lams), np.array(coefficients), np.array(intercepts), *numbers, *np.array(chosen).T
    )


def trace_lasso_path(
    X: Any, y: Any, *, lams: Sequence[float] | None = None, count: int = 100, ratio: float | None = None, tol: float = 1e-4,
    monitor: Monitor | None = None, **parameters: Any,
) -> RegressionPath:  # fmt: skip
    """Solutions at ``count`` lambdas, or at the given ones.

    Args:
        ratio: the last lambda as a share of the first, which is the least known to give zero; as :func:`lambda_grid`.
        tol: gap to reach at each, as a share of the objective at 0.
        parameters: others of :class:`TraceLasso` (penalty, solver, groups, normalize, ...).
    """
    estimator = TraceLasso(tol=tol, **parameters)
    return estimator_path(estimator, X, y, lams=lams, count=count, ratio=ratio, monitor=monitor)[0]


def estimator_path(
    estimator: RegressionEstimator, X: Any, y: Any, *, lams: Sequence[float] | None = None, count: int = 100,
    ratio: float | None = None, monitor: Monitor | None = None,
) -> tuple[RegressionPath, Regression]:  # fmt: skip
    """The path of an estimator's parameters, and the regression it was found on."""
    whole("count", count)
    matrix, target = estimator._data(X, y)
    regression = estimator._regression(matrix, target)
    values = (
        lambda_grid(regression, count, ratio)
        if lams is None
        else np.sort(np.asarray(lams, dtype=float))[::-1]
    )
    if monitor is not None:
        monitor.begin(len(values), "lambdas")
    return path_of(regression, values, monitor), regression


class TraceLassoCV(RegressionEstimator):
    """Lambda by K-fold cross-validation, then the fit on all data. Parameters beside those here are :class:`TraceLasso`'s.

    Args:
        cv: folds. rule: ``min`` takes the lambda with the least held-out error, ``1se`` the greatest within one standard error.
        n_lams, ratio: of the path. path_tol: gap of its solutions; the last fit has ``tol``.
        seed: of the folds. threads: over the folds; the result does not depend on it.

    Attributes:
        lam_, lam_min_, lam_1se_; lams_ (m,); cv_mean_, cv_error_: held-out error (mean squared, or logistic loss) and its
        standard error (m,). The others as :class:`RegressionEstimator` has them.
    """

    def __init__(
        self, *, cv: int = 5, rule: str = "min", n_lams: int = 50, ratio: float | None = None, path_tol: float = 1e-4,
        penalty: str = "trace", solver: str = "irls", loss: str = "squared", l1_ratio: float = 0.5,
        groups: Sequence[Any] | None = None, group_weights: str = "none", penalty_matrix: np.ndarray | None = None,
        normalize: bool = True, fit_intercept: bool = True, tol: float = 1e-6, max_iter: int | None = None, seed: int = 1,
        threads: int = 1,
    ) -> None:  # fmt: skip
        self.cv, self.rule, self.n_lams, self.ratio, self.path_tol = cv, rule, n_lams, ratio, path_tol
        self.penalty, self.solver, self.loss, self.l1_ratio = penalty, solver, loss, l1_ratio
        self.groups, self.group_weights, self.penalty_matrix = groups, group_weights, penalty_matrix
        self.normalize, self.fit_intercept, self.tol, self.max_iter = normalize, fit_intercept, tol, max_iter
        self.seed, self.threads = seed, threads

    lam = None  # chosen here

    def fit(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> TraceLassoCV:
        """Choose lambda and fit; errors as :meth:`TraceLasso.fit`."""
        matrix, target = self._data(X, y)
        if matrix.shape[0] == 1:
            raise ValueError("Found array with 1 sample, while cross-validation needs at least 2")
        if self.loss == "logistic" and np.unique(target, return_counts=True)[1].min() < whole("cv", self.cv):
            raise ValueError(f"cv is {self.cv}, and a class has fewer rows: a fold would lack it")
        one_of("rule", self.rule, RULES)
        whole("threads", self.threads)
        regression = self._regression(matrix, target)
        self.lams_ = lambda_grid(regression, whole("n_lams", self.n_lams), self.ratio)
        self.lam_max_ = float(self.lams_[0])
        errors = self._held_out(matrix, target, monitor)
        self.cv_mean_ = errors.mean(axis=0)
        self.cv_error_ = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        best = int(np.argmin(self.cv_mean_))
        within = self.cv_mean_ <= self.cv_mean_[best] + self.cv_error_[best]
        self.lam_min_, self.lam_1se_ = float(self.lams_[best]), float(self.lams_[int(np.argmax(within))])
        lam = self.lam_min_ if self.rule == "min" else self.lam_1se_
        self._adopt(regression, regression.solve(lam, stopper(monitor)), lam)
        return self

    def _held_out(self, X: Any, y: np.ndarray, monitor: Monitor | None) -> np.ndarray:
        """Errors (folds, lambdas)."""
        n = X.shape[0]
        whole("cv", self.cv)
        classes = y if self.loss == "logistic" else np.zeros(n)
        folds = stratified_folds(classes, int(self.cv), self.seed)
        if monitor is not None:
            monitor.begin(int(self.cv) * len(self.lams_), "lambdas")
        return np.array(
            map_blocks(
                lambda fold: self._fold(X, y, folds == fold, monitor), range(int(self.cv)), int(self.threads)
            )
        )

    def _fold(self, X: Any, y: np.ndarray, held_out: np.ndarray, monitor: Monitor | None) -> np.ndarray:
        estimator = TraceLasso(
            penalty=self.penalty, solver=self.solver, loss=self.loss, l1_ratio=self.l1_ratio, groups=self.groups,
            group_weights=self.group_weights, penalty_matrix=self.penalty_matrix, normalize=self.normalize,
            fit_intercept=self.fit_intercept, tol=self.path_tol, max_iter=self.max_iter,
        )  # fmt: skip
        rows = ~held_out
        regression = estimator._regression(X[rows], y[rows])
        # Columns of n rows cut to unit length have coefficients that grow with sqrt(n): the same penalty, of them or of their
        # squares, needs a lambda that falls with it.
        by_length = self.normalize or (self.penalty == "trace" and self.penalty_matrix is None)
        share = len(y) / rows.sum()
        scale = (share if self.penalty in _SQUARES else np.sqrt(share)) if by_length else 1.0
        path = path_of(regression, self.lams_ * scale, monitor)
        scores = X[held_out] @ path.coefficients.T + path.intercepts
        truth = y[held_out][:, None]
        losses = np.logaddexp(0.0, -truth * scores) if self.loss == "logistic" else (truth - scores) ** 2
        return losses.mean(axis=0)


def bootstrap_support(
    estimator: TraceLasso, X: Any, y: Any, *, samples: int = 20, seed: int = 1, threads: int = 1
) -> np.ndarray:
    """How often each column is selected over bootstrap samples of the rows, a share (p,)."""
    matrix, target = checked_matrix(X), np.asarray(y)
    n = matrix.shape[0]

    def one(sample: int) -> np.ndarray:
        rows = rng.stream(seed, rng.BOOTSTRAP, sample).integers(0, n, n)
        model = TraceLasso(**estimator.get_params()).fit(matrix[rows], target[rows])
        chosen = np.zeros(matrix.shape[1])
        chosen[model.support_] = 1.0
        return chosen

    return np.mean(map_blocks(one, range(samples), threads), axis=0)
