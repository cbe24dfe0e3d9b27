"""Linear and logistic regression with the trace Lasso and the penalties it is compared with, as estimators.

Grave, Obozinski and Bach, "Trace Lasso: a trace norm regularization for correlated designs", NIPS 2011; chapters 6 and 7 of
Grave's thesis. min 1/(2n) ||y - Xw - c||^2 + lam ||X Diag(w)||_*: close to the Lasso where columns are uncorrelated, close to
ridge where they are equal, with one minimum always. Solvers are in ``trace_lasso_irls`` and its neighbours; every one stops on
a certified duality gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse
from scipy.special import expit

from wordkit.checks import array_of, require, value_of
from wordkit.errors import ConvergenceWarning, Interrupted
from wordkit.models.base import Estimator, one_of, positive, whole
from wordkit.models.regression_design import Design, checked_matrix, checked_target, prepare
from wordkit.models.regression_penalties import (
    GROUP_WEIGHTS,
    LOSSES,
    PENALTIES,
    SOLVERS,
    TRACE_NORM,
    Regression,
    Settings,
    group_matrix,
)
from wordkit.models.trace_lasso_problem import Solution
from wordkit.models.trace_norm import smaller_gram, trace_norm_penalty
from wordkit.monitor import Monitor

__all__ = ["PairwiseElasticNet", "TraceLasso", "trace_norm_penalty"]

SUPPORT = 1e-6  # a coefficient is selected above this share of the greatest
_RANK = 1e-6  # singular values of the selected columns above this share of the greatest count


class RegressionEstimator(Estimator):
    """What the estimators share: data to a :class:`Regression`, a solution to coefficients, prediction, state.

    Attributes:
        coef_: float64 (p,), on the original scale. intercept_: float. lam_: the lambda in force; lam_max_: the least one known
        to give zero. objective_, gap_: certified distance to the optimum, both in the scale of the problem above.
        n_iter_, converged_.
        support_: column numbers of the selected coefficients. rank_: rank of those columns, centred.
    """

    lam: float | None
    penalty: str
    solver: str
    loss: str
    l1_ratio: float
    groups: Sequence[Any] | None
    group_weights: str
    penalty_matrix: np.ndarray | None
    normalize: bool
    fit_intercept: bool
    tol: float
    max_iter: int | None

    coef_: np.ndarray
    lam_max_: float
    intercept_: float
    n_features_in_: int

    def _check_parameters(self) -> None:
        one_of("penalty", self.penalty, PENALTIES)
        one_of("solver", self.solver, SOLVERS)
        one_of("loss", self.loss, LOSSES)
        one_of("group_weights", self.group_weights, GROUP_WEIGHTS)
        for name in ("normalize", "fit_intercept"):
            one_of(name, getattr(self, name), (True, False))
        positive("tol", self.tol)
        if not 0 < positive("l1_ratio", self.l1_ratio) <= 1:
            raise ValueError(f"l1_ratio is {self.l1_ratio!r}, expected a number above 0 and at most 1")
        if self.max_iter is not None:
            whole("max_iter", self.max_iter)
        if self.lam is not None and self.lam != 0:
            positive("lam", self.lam)
        if (self.groups is None) != (self.penalty != "group"):
            raise ValueError("penalty 'group' needs groups, and only it has them")
        if self.penalty_matrix is not None and self.penalty != "trace":
            raise ValueError(f"a penalty matrix does not go with penalty {self.penalty!r}")
        if self.loss == "logistic" and self.penalty not in TRACE_NORM:
            raise ValueError(
                f"loss 'logistic' goes with penalty {' or '.join(TRACE_NORM)}, not {self.penalty!r}"
            )
        if self.penalty == "pairwise-elastic-net" and not self.normalize:
            raise ValueError("penalty 'pairwise-elastic-net' is made of correlations: it needs normalize")

    def _settings(self) -> Settings:
        return Settings(
            self.penalty, self.solver, self.loss, float(self.l1_ratio), float(self.tol), self.max_iter, self.fit_intercept
        )  # fmt: skip

    def _penalty_matrix(self, n_features: int) -> np.ndarray | None:
        """P over all columns, or None for the data's own."""
        if self.groups is not None:
            if len(self.groups) != n_features:
                raise ValueError(f"{len(self.groups)} groups for {n_features} columns, expected one a column")
            return group_matrix(self.groups, self.group_weights)
        if self.penalty_matrix is None:
            return None
        P = checked_matrix(self.penalty_matrix)
        P = P.toarray() if scipy.sparse.issparse(P) else P
        if P.shape[1] != n_features:
            raise ValueError(f"the penalty matrix has {P.shape[1]} columns, expected {n_features}")
        return P

    def _data(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """Checked X and y; y becomes -1 and 1 for the logistic loss."""
        self._check_parameters()
        matrix = checked_matrix(X)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if self.loss == "squared":
            return matrix, checked_target(y, matrix.shape[0])
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != matrix.shape[0]:
            raise ValueError(f"y has shape {labels.shape}, expected ({matrix.shape[0]},)")
        classes = np.unique(labels)
        if len(classes) != 2:
            raise ValueError(f"loss 'logistic' needs two classes, y has {len(classes)}")
        self.classes_ = classes
        return matrix, np.where(labels == classes[1], 1.0, -1.0)

    def _regression(self, X: Any, y: np.ndarray) -> Regression:
        design = prepare(
            X, y, fit_intercept=self.fit_intercept, normalize=self.normalize, keep_rows=self.loss == "logistic"
        )  # fmt: skip
        return Regression(design, self._settings(), self._penalty_matrix(X.shape[1]))

    def _adopt(self, regression: Regression, found: Solution, lam: float) -> None:
        """Fitted attributes from a solution."""
        design = regression.design
        self.coef_, self.intercept_ = original(regression, found.w)
        self.n_features_in_ = len(design.kept)
        self.lam_, self.objective_, self.gap_ = float(lam), float(found.objective), float(found.gap)
        self.n_iter_, self.converged_ = int(found.iterations), bool(found.converged)
        self.support_ = np.flatnonzero(design.kept)[selected_columns(found.w)]
        self.rank_ = Selection(design).of(found.w)[1]
        if not found.converged:
            warnings.warn(
                f"the gap is {found.gap:.2g} after {found.iterations} iterations, and {self.tol:g} times the objective at 0 "
                f"({regression.zero_loss:.3g}) was asked for; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def scores(self, X: Any) -> np.ndarray:
        """X w + c, (n,)."""
        self._check_fitted("coef_")
        matrix = checked_matrix(X, self.n_features_in_, type(self).__name__)
        return matrix @ self.coef_ + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """The target of each row; with logistic loss its class."""
        scores = self.scores(X)
        return scores if self.loss == "squared" else self.classes_[(scores > 0).astype(int)]

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """Probabilities of the two classes (n, 2) for X; there with logistic loss only."""
        if self.loss != "logistic":
            raise AttributeError("predict_proba is for loss 'logistic'")
        return self._probabilities

    def _probabilities(self, X: Any) -> np.ndarray:
        second = expit(self.scores(X))
        return np.column_stack([1 - second, second])

    def score(self, X: Any, y: Any) -> float:
        """R^2, or with logistic loss accuracy."""
        predicted = self.predict(X)
        if self.loss == "logistic":
            return float(np.mean(predicted == np.asarray(y)))
        target = checked_target(y, len(predicted))
        total = float(((target - target.mean()) ** 2).sum())
        rest = float(((target - predicted) ** 2).sum())
        return 1 - rest / total if total > 0 else float(rest == 0)

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes: enough to predict."""
        self._check_fitted("coef_")
        arrays = {"coefficients": self.coef_}
        if self.loss == "logistic":
            arrays["classes"] = np.asarray(self.classes_)
        parameters = {
            "penalty": self.penalty,
            "loss": self.loss,
            "normalize": self.normalize,
            "fit_intercept": self.fit_intercept,
        }
        return arrays, {
            "parameters": parameters, "intercept": self.intercept_, "lam": self.lam_, "gap": self.gap_,
            "objective": self.objective_, "iterations": self.n_iter_, "rank": self.rank_, "support": self.support_.tolist(),
        }  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        """For scikit-learn's tools, which are the only callers."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        logistic = self.loss == "logistic"
        return Tags(
            estimator_type="classifier" if logistic else "regressor",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=False) if logistic else None,
            regressor_tags=None if logistic else RegressorTags(),
            input_tags=InputTags(sparse=True),
        )


class TraceLasso(RegressionEstimator):
    """Regression with the trace Lasso, or another of PENALTIES, at one lambda.

    Args:
        lam: multiplies the penalty beside 1/(2n) ||y - Xw||^2; None takes a tenth of the least one that gives zero (for ridge and
            the pairwise elastic net, a tenth of the loss's mean curvature).
        penalty: ``trace``, ``group`` (sum of the groups' l2 norms), ``lasso``, ``elastic-net`` (lam l1_ratio ||w||_1 +
            lam (1 - l1_ratio)/2 ||w||^2), ``ridge`` (lam/2 ||w||^2), ``pairwise-elastic-net`` (lam |w|^T P |w|). Lasso,
            elastic net and ridge need scikit-learn.
        solver: of the trace and group penalties: ``irls`` (the fast one), ``irls-plain`` (as in the thesis), ``admm``,
            ``subgradient``.
        loss: ``squared``, or ``logistic`` (trace and group; always by ADMM; y has two classes).
        groups: one name a column. group_weights: ``sqrt`` weighs a group by the square root of its size.
        penalty_matrix: P (k, p) of the penalty ||P Diag(w)||_* in place of X, acting on the scaled columns' coefficients.
        normalize: divide (centred) columns by their l2 norm first; coefficients are returned on the original scale.
        tol: gap to reach, as a share of the objective at 0. max_iter: None for the solver's own limit.

    Attributes: as :class:`RegressionEstimator` has them.
    """

    def __init__(
        self, *, lam: float | None = None, penalty: str = "trace", solver: str = "irls", loss: str = "squared",
        l1_ratio: float = 0.5, groups: Sequence[Any] | None = None, group_weights: str = "none",
        penalty_matrix: np.ndarray | None = None, normalize: bool = True, fit_intercept: bool = True, tol: float = 1e-6,
        max_iter: int | None = None,
    ) -> None:  # fmt: skip
        self.lam, self.penalty, self.solver, self.loss, self.l1_ratio = lam, penalty, solver, loss, l1_ratio
        self.groups, self.group_weights, self.penalty_matrix = groups, group_weights, penalty_matrix
        self.normalize, self.fit_intercept, self.tol, self.max_iter = normalize, fit_intercept, tol, max_iter

    def fit(self, X: Any, y: Any, *, monitor: Monitor | None = None) -> RegressionEstimator:
        """Fit X (n, p), dense or sparse, to y (n,).

        Raises:
            ValueError: parameters or data that cannot be used. Interrupted: the monitor asked to stop.
        """
        matrix, target = self._data(X, y)
        regression = self._regression(matrix, target)
        self.lam_max_ = regression.largest()[1]
        lam = regression.default() if self.lam is None else float(self.lam)
        self._adopt(regression, regression.solve(lam, stopper(monitor)), lam)
        return self

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> TraceLasso:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        parameters = value_of(values, "parameters", dict)
        require(
            set(parameters) == {"penalty", "loss", "normalize", "fit_intercept"},
            "parameters are not a regression's",
        )
        model = cls(**parameters)
        one_of("penalty", model.penalty, PENALTIES)
        one_of("loss", model.loss, LOSSES)
        model.coef_ = array_of(arrays, "coefficients", np.float64, (None,))
        model.intercept_ = value_of(values, "intercept", float)
        require(
            len(model.coef_) > 0 and bool(np.isfinite([*model.coef_, model.intercept_]).all()),
            "coefficients are not finite",
        )
        model.n_features_in_ = len(model.coef_)
        model.lam_, model.gap_ = value_of(values, "lam", float, 0), value_of(values, "gap", float)
        model.objective_ = value_of(values, "objective", float)
        model.n_iter_, model.rank_ = value_of(values, "iterations", int, 0), value_of(values, "rank", int, 0)
        model.support_ = np.array(value_of(values, "support", list), dtype=np.int64)
        if model.loss == "logistic":
            require(
                "classes" in arrays and np.asarray(arrays["classes"]).shape == (2,), "classes are not two"
            )
            model.classes_ = np.asarray(arrays["classes"])
        return model


class PairwiseElasticNet(TraceLasso):
    """The pairwise elastic net (Lorbert et al. 2010) by itself: 1/(2n) ||y - Xw||^2 + lam |w|^T P |w|; ``theta_`` is P's."""

    def __init__(
        self,
        *,
        lam: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int | None = None,
    ) -> None:
        TraceLasso.__init__(
            self,
            lam=lam,
            penalty="pairwise-elastic-net",
            fit_intercept=fit_intercept,
            tol=tol,
            max_iter=max_iter,
        )

    def _regression(self, X: Any, y: np.ndarray) -> Regression:
        regression = super()._regression(X, y)
        self.theta_ = regression.theta
        return regression


def original(regression: Regression, w: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients and intercept on the scale of the data."""
    coefficients, intercept = regression.design.original(w)
    if regression.settings.loss == "logistic":
        intercept += float(regression.logistic.intercept)
    return coefficients, float(intercept)


def selected_columns(w: np.ndarray) -> np.ndarray:
    """Which coefficients of the scaled columns count as not zero (bool)."""
    return np.abs(w) > SUPPORT * np.abs(w).max(initial=0.0)


class Selection:
    """How many columns of a design are selected, and the rank of those (scaled, centred); the last answer is kept, since the
    neighbours on a path often have the same columns."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._last: tuple[np.ndarray, int] | None = None

    def of(self, w: np.ndarray) -> tuple[int, int]:
        selected = selected_columns(w)
        if not selected.any():
            return 0, 0
        if self._last is None or not np.array_equal(self._last[0], selected):
            squared = np.linalg.eigvalsh(
                smaller_gram(self.design.X[:, selected])
            )  # their rounding is far below _RANK**2
            self._last = selected, int(np.count_nonzero(squared > _RANK**2 * squared[-1]))
        return int(selected.sum()), self._last[1]


def stopper(monitor: Monitor | None) -> Callable[[], None] | None:
    """What solvers call every step."""
    if monitor is None:
        return None

    def stop() -> None:
        if monitor.stopping:
            raise Interrupted("interrupted")

    return stop
