"""Every penalty of the regression commands behind one object: the largest useful lambda, and the solution at any.

Trace Lasso, group Lasso and a penalty matrix P of one's own go to the trace norm solvers; Lasso, elastic net and ridge to
scikit-learn; the pairwise elastic net to its own module. Gaps are computed here alike, whoever has solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordkit.errors import MissingLibrary
from wordkit.models.pairwise_elastic_net import pairwise_elastic_net, pairwise_matrix
from wordkit.models.regression_design import Design
from wordkit.models.trace_lasso_admm import SquaredLoss, admm
from wordkit.models.trace_lasso_face import Faces
from wordkit.models.trace_lasso_irls import fast_irls, irls
from wordkit.models.trace_lasso_logistic import LogisticLoss
from wordkit.models.trace_lasso_problem import Problem, Solution
from wordkit.models.trace_lasso_subgradient import subgradient
from wordkit.models.trace_norm import Array, dual_norm, row_factor

PENALTIES = ("trace", "lasso", "ridge", "elastic-net", "pairwise-elastic-net", "group")
SOLVERS = ("irls", "irls-plain", "admm", "subgradient")
LOSSES = ("squared", "logistic")
GROUP_WEIGHTS = ("none", "sqrt")
TRACE_NORM = ("trace", "group")
ZEROING = (*TRACE_NORM, "lasso", "elastic-net")  # those whose solution is zero at some lambda
_SHARE = 0.1
_FAR = 1e3  # ridge and its like never give w = 0: their paths start at this multiple of the Lasso's

Stop = Callable[[], None]


@dataclass(frozen=True)
class Settings:
    """Parameters of the estimators that choose what is minimized and how."""

    penalty: str = "trace"
    solver: str = "irls"
    loss: str = "squared"
    l1_ratio: float = 0.5
    tol: float = 1e-6
    max_iter: int | None = None
    fit_intercept: bool = True


def group_matrix(groups: Sequence[Any], weights: str) -> Array:
    """P (groups, p) with ||P Diag(w)||_* = sum_g c_g ||w_g||_2, c_g = 1 or the square root of the group's size."""
    names, numbers = np.unique(np.asarray(groups), return_inverse=True)
    P = np.zeros((len(names), len(numbers)))
    sizes = np.bincount(numbers)
    P[numbers, np.arange(len(numbers))] = np.sqrt(sizes)[numbers] if weights == "sqrt" else 1.0
    return P


class Regression:
    """A design with a penalty.

    Args:
        design: centred and scaled data.
        P: (k, p) over all columns of the data, for ``group`` and for a penalty matrix of the user's; None for the design itself.
    """

    def __init__(self, design: Design, settings: Settings, P: Array | None = None) -> None:
        self.design, self.settings = design, settings
        self.P = None if P is None else row_factor(P[:, design.kept])
        self.n = design.n
        self._start: Solution | None = None  # at lambda _lam; the one before in _before
        self._lam = 0.0
        self._faces = Faces()
        self._before: tuple[float, Array] | None = None
        self._bracket: tuple[float, float] | None = None
        if self.P is not None and not np.einsum("ij,ij->j", self.P, self.P).all():
            raise ValueError("the penalty matrix has a zero column: its coefficient would not be penalized")
        if settings.loss == "logistic":
            self.logistic = LogisticLoss(
                design.X, design.y, 0.0, self.P, fit_intercept=settings.fit_intercept
            )
        elif settings.penalty in TRACE_NORM and design.X.size:
            whole = Problem.of(design.X, design.y, 0.0, self.P)
            self.problem = Problem(
                whole.X, whole.y, whole.P, 0.0, whole.zero_loss + design.rest, whole.constant + design.rest
            )
        if settings.penalty == "pairwise-elastic-net":
            self.pairs, self.theta = pairwise_matrix(design.X)

    @property
    def zero_loss(self) -> float:
        """The objective at w = 0."""
        if self.settings.loss == "logistic":
            return self.logistic.zero_loss / self.n
        return (0.5 * float(self.design.y @ self.design.y) + self.design.rest) / self.n

    def largest(self, tol: float = 1e-3) -> tuple[float, float]:
        """A bracket of the least lambda whose solution is zero: at the second it is, below the first it is not.

        Where no lambda does that (ridge, pairwise elastic net), both are a thousand times the Lasso's.
        """
        design, settings = self.design, self.settings
        if not design.X.size:
            return 0.0, 0.0
        logistic = settings.loss == "logistic"
        u = self.logistic.correlations() if logistic else design.X.T @ design.y
        if settings.penalty in TRACE_NORM:
            if self._bracket is None or self._bracket[1] - self._bracket[0] > tol * self._bracket[1]:
                bracket = dual_norm(self.logistic.P if logistic else self.problem.P, u, tol=tol)
                self._bracket = bracket.low / self.n, bracket.high / self.n
            return self._bracket
        most = float(np.abs(u).max()) / self.n
        if settings.penalty == "elastic-net":
            most /= settings.l1_ratio
        elif settings.penalty not in ZEROING:
            most *= _FAR
        return most, most

    def default(self) -> float:
        """A lambda to begin with: a tenth of the least one that gives zero, or a tenth of the loss's curvature."""
        if self.settings.penalty in ZEROING:
            return _SHARE * self.largest()[1]
        return _SHARE * float(np.mean(self.design.X**2)) if self.design.X.size else 0.0

    def solve(self, lam: float, stop: Stop | None = None) -> Solution:
        """The solution in scaled columns, objective and gap in the estimators' scale; starts from the last one."""
        if stop is not None:
            stop()
        if not self.design.X.size or self.zero_loss == 0:
            size = self.design.X.shape[1]
            found = Solution(np.zeros(size), self.n * self.zero_loss, 0.0, 0.0, 0, True)
        elif lam == 0 and self.settings.loss == "squared":
            found = _least_squares(self.design)
        elif self.settings.penalty in TRACE_NORM:
            found = self._trace_norm(self.n * lam, stop)
        elif self.settings.penalty == "pairwise-elastic-net":
            start = None if self._start is None else self._start.w
            design = self.design
            found = pairwise_elastic_net(
                design.X, design.y, self.n * lam, self.pairs, zero_loss=self.n * self.zero_loss,
                tol=self.settings.tol, w=start, stop=stop,
            )  # fmt: skip
            found = found._replace(objective=found.objective + design.rest)
        else:
            found = self._scikit_learn(lam)
        if self._start is not None:
            self._before = self._lam, self._start.w
        self._start, self._lam = found, lam
        gap = max(found.gap, 0.0)  # below by rounding, where the solution is exact
        return found._replace(objective=found.objective / self.n, gap=gap / self.n)

    def _trace_norm(self, lam: float, stop: Stop | None) -> Solution:
        settings = self.settings
        start = None if self._start is None else self._start.w
        if self._bracket is not None and lam >= self.n * self._bracket[1]:
            size = self.design.X.shape[1]
            return Solution(np.zeros(size), self.n * self.zero_loss, 0.0, 1.0, 0, True)
        limit: dict[str, Any] = {} if settings.max_iter is None else {"max_iter": settings.max_iter}
        if settings.loss == "logistic":
            self.logistic.lam = lam
            return admm(self.logistic, tol=settings.tol, w=start, stop=stop, **limit)
        problem = self.problem.at(lam)
        if settings.solver == "irls":
            dual = None if self._start is None else self._start.dual
            start = self._extrapolated(lam / self.n)
            return fast_irls(
                problem, tol=settings.tol, w=start, dual=dual, faces=self._faces, stop=stop, **limit
            )
        if settings.solver == "admm":
            return admm(SquaredLoss(problem), tol=settings.tol, w=start, stop=stop, **limit)
        if settings.solver == "subgradient":
            return subgradient(problem, tol=settings.tol, w=start, stop=stop, **limit)
        return irls(problem, tol=settings.tol, w=start, stop=stop, **limit)

    def _extrapolated(self, lam: float) -> Array | None:
        """Where the solution at lam will be about: on the line, in log lam, through the last two if the last has no zero."""
        if self._start is None or self._before is None:
            return None if self._start is None else self._start.w
        (first, w_first), (second, w_second) = self._before, (self._lam, self._start.w)
        if not 0 < lam < second < first or not np.all(w_second):
            return w_second
        return w_second + (w_second - w_first) * (np.log(lam / second) / np.log(second / first))

    def _scikit_learn(self, lam: float) -> Solution:
        linear_model = _linear_model()
        design, n, settings = self.design, self.n, self.settings
        X, y = np.asfortranarray(design.X), design.y
        rows = len(y)
        scale = n / rows  # scikit-learn divides the loss by the rows it is given, which a factor has fewer of
        ratio = {"lasso": 1.0, "elastic-net": settings.l1_ratio, "ridge": 0.0}[settings.penalty]
        if ratio == 0:
            fitted = linear_model.Ridge(alpha=n * lam, fit_intercept=False).fit(X, y)
            iterations = 1
        else:
            model = linear_model.ElasticNet(
                alpha=lam * scale, l1_ratio=ratio, fit_intercept=False, warm_start=True, tol=0.1 * settings.tol,
                max_iter=settings.max_iter or 100_000,
            )  # fmt: skip
            if self._start is not None:
                model.coef_ = np.array(self._start.w)
            fitted = model.fit(X, y)
            iterations = int(np.max(fitted.n_iter_))
        w = np.asarray(fitted.coef_, dtype=np.float64).ravel()
        primal, gap = _elastic_net_gap(X, y, n * lam * ratio, n * lam * (1 - ratio), w)
        reached = gap <= settings.tol * n * self.zero_loss
        return Solution(w, primal + design.rest, gap, np.inf, iterations, reached)


def _least_squares(design: Design) -> Solution:
    """The shortest least squares solution, which is exact."""
    w = np.linalg.lstsq(design.X, design.y, rcond=None)[0]
    residual = design.y - design.X @ w
    return Solution(w, 0.5 * float(residual @ residual) + design.rest, 0.0, np.inf, 1, True)


def _elastic_net_gap(X: Array, y: Array, l1: float, l2: float, w: Array) -> tuple[float, float]:
    """Objective 1/2 ||y - Xw||^2 + l1 ||w||_1 + l2/2 ||w||^2 and its gap, as the Lasso on rows sqrt(l2) I added to X."""
    residual = y - X @ w
    square = float(residual @ residual) + l2 * float(w @ w)
    primal = 0.5 * square + l1 * float(np.abs(w).sum())
    if l1 == 0:  # ridge: the residual is a dual point as it is
        u = X.T @ residual
        return primal, primal - float(y @ residual) + 0.5 * float(residual @ residual) + 0.5 * float(
            u @ u
        ) / l2
    u = X.T @ residual - l2 * w
    largest = float(np.abs(u).max(initial=0.0))
    along = float(y @ residual)
    best = along / square if square > 0 else 0.0
    scale = min(best, l1 / largest) if largest > 0 else best
    return primal, primal - (scale * along - 0.5 * scale**2 * square)


def _linear_model() -> Any:
    try:
        import sklearn.linear_model
    except ImportError:
        raise MissingLibrary(
            "the penalties lasso, ridge and elastic-net need", "scikit-learn", "regression"
        ) from None
    return sklearn.linear_model
