"""One run of ``trace-lasso``: read, fit by one of three ways to choose lambda, write, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wordkit.errors import WordkitError, times
from wordkit.evaluation.result import Result
from wordkit.formats.regression_data import check_sizes, read_groups, read_matrix, read_regression
from wordkit.formats.regression_files import write_coefficients, write_path
from wordkit.models.regression_model import RegressionModel
from wordkit.models.regression_path import RegressionPath, TraceLassoCV, estimator_path
from wordkit.models.regression_penalties import ZEROING
from wordkit.models.trace_lasso import SUPPORT, RegressionEstimator, TraceLasso
from wordkit.monitor import Monitor
from wordkit.signature import signature
from wordkit.tally import Tally

_TOL, _PATH_TOL = 1e-6, 1e-4
_COMMON = ("penalty", "solver", "loss", "l1_ratio", "group_weights", "normalize", "fit_intercept", "max_iter")


class Run:
    """Call :meth:`read`, :meth:`fit`, :meth:`write`, :meth:`result` in this order.

    Args:
        given: the command's options by their Python names.
        tally: counts odd records.
    """

    def __init__(self, given: Mapping[str, Any], tally: Tally) -> None:
        self.given, self.tally = given, tally
        self.path: RegressionPath | None = None
        self.estimator: RegressionEstimator

    def read(self, x: str, y: str | None) -> Iterator[str]:
        """Read everything; yields notes for the user."""
        given = self.given
        self.data, self.y, self.inputs = read_regression(x, y, self.tally, column=given["target"])
        self.target = self.data.name if y in (None, "-") else y
        n, p = self.data.X.shape
        self.groups, matrix = None, None
        if given["groups"]:
            self.groups, record = read_groups(given["groups"], p, self.tally)
            self.inputs = [*self.inputs, record]
        if given["penalty_matrix"]:
            found = read_matrix(given["penalty_matrix"], self.tally)
            check_sizes(found.X, found.name, found.lines)
            self.inputs, matrix = [*self.inputs, *found.inputs], found.X
        tol = given["tol"] or (_PATH_TOL if given["path"] else _TOL)
        self.parameters = {
            **{name: given[name] for name in _COMMON}, "tol": tol, "groups": self.groups, "penalty_matrix": matrix,
        }  # fmt: skip
        self._check(matrix)
        yield f"{n} rows, {p} columns ({self.data.format})"
        constant = self._constant() if given["fit_intercept"] else 0
        if constant:
            what = (
                "columns are constant: their coefficients are"
                if constant > 1
                else "column is constant: its coefficient is"
            )
            yield f"{constant} {what} zero"

    def _constant(self) -> int:
        """How many columns have one value: an intercept leaves them nothing to say."""
        X = self.data.X
        least, most = X.min(axis=0), X.max(axis=0)
        if hasattr(least, "toarray"):
            least, most = least.toarray(), most.toarray()
        return int(np.count_nonzero(least == most))

    def _check(self, matrix: Any) -> None:
        """What the estimators would refuse as a caller's mistake is the user's here."""
        n, p = self.data.X.shape
        if self.given["cv"] and self.given["cv"] > n:
            raise WordkitError(f"{self.target}: --cv {self.given['cv']}, and there are only {n} rows")
        if matrix is not None:
            dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
            path = self.given["penalty_matrix"]
            if dense.shape[1] != p:
                raise WordkitError(f"{path}: {dense.shape[1]} columns, expected {p}, one a column of X")
            zero = np.flatnonzero(~dense.any(axis=0))
            if len(zero):
                raise WordkitError(
                    f"{path}: column {zero[0] + 1} is zero, so its coefficient would not be penalized"
                )
        if self.given["loss"] == "logistic":
            classes, sizes = np.unique(self.y, return_counts=True)
            if len(classes) != 2:
                raise WordkitError(
                    f"{self.target}: --loss logistic needs a target of two values, this has {len(classes)}"
                )
            if self.given["cv"] and sizes.min() < self.given["cv"]:
                rare = f"{sizes.min()} rows have the target {classes[sizes.argmin()]:g}"
                raise WordkitError(
                    f"{self.target}: {rare}: with --loss logistic --cv may be {sizes.min()} at most"
                )

    def fit(self, monitor: Monitor) -> None:
        """Fit at one lambda, along a path, or after cross-validation."""
        given, X, y = self.given, self.data.X, self.y
        if given["cv"]:
            self.estimator = TraceLassoCV(
                cv=given["cv"], rule=given["cv_rule"], ratio=given["path_ratio"], seed=given["seed"],
                threads=given["threads"], **self.parameters,
            ).fit(X, y, monitor=monitor)  # fmt: skip
        elif given["path"]:
            self.estimator = TraceLasso(**self.parameters)
            self.path, _ = estimator_path(
                self.estimator, X, y, count=given["path"], ratio=given["path_ratio"], monitor=monitor
            )
        else:
            self.estimator = TraceLasso(lam=given["lam"], **self.parameters).fit(X, y, monitor=monitor)

    @property
    def signature(self) -> str:
        given = self.given
        names = ("lam", "path", "cv", "seed") if given["cv"] else ("lam", "path")
        chosen: dict[str, Any] = {name: given[name] for name in (*_COMMON, *names)}
        chosen["tol"] = self.parameters["tol"]
        if given["cv"]:
            chosen["cv_rule"] = given["cv_rule"]
        if given["target"] is not None:
            chosen["target"] = given["target"]
        if given["cv"] or given["path"]:
            chosen["path_ratio"] = given["path_ratio"]
        return signature("trace-lasso", chosen, self.inputs)

    @property
    def _zeroing(self) -> bool:
        """Whether there is a lambda that makes all coefficients zero."""
        return self.given["penalty"] in ZEROING

    def notes(self) -> Iterator[str]:
        """What the user should know of the result."""
        if self.path is not None:
            missed = int(np.count_nonzero(~self.path.converged))
            if missed:
                yield f"warning: at {missed} of {len(self.path.lams)} lambdas the gap is above --tol; raise --max-iter or --tol"
            return
        model = self.estimator
        if not model.converged_:
            yield (
                f"warning: the gap is {model.gap_:.2g} after {times(model.n_iter_, 'iteration')}, above --tol; "
                "raise --max-iter or --tol"
            )
        if self._zeroing and not np.any(model.coef_):
            yield f"all coefficients are zero: lambda {model.lam_:.6g} is at or above lam_max {model.lam_max_:.6g}"
        if isinstance(model, TraceLassoCV) and model.lams_[-1] < model.lams_[0]:
            least, greatest = float(model.lams_[-1]), float(model.lams_[0])
            if model.lam_min_ == least:
                yield f"warning: the lambda with the least error is the last one tried, {least:.6g}; lower --path-ratio"
            elif model.lam_min_ == greatest and not self._zeroing:
                yield f"warning: the lambda with the least error is the first one tried, {greatest:.6g}"

    def write(self, output: str, model_out: str | None) -> None:
        """Coefficients or the path, and the model."""
        names = self.data.names
        if self.path is not None:
            path = self.path
            write_path(
                output, names, path.lams, path.objectives, path.gaps, path.selected, path.intercepts, path.coefficients
            )  # fmt: skip
            return
        model = self.estimator
        if model_out:
            header = {
                "command": "trace-lasso",
                "inputs": self.inputs,
                "signature": self.signature,
                "rows": len(self.y),
            }
            RegressionModel(
                model, names, self.data.format, zero_based=self.data.zero_based, header=header
            ).save(model_out)  # fmt: skip
        selected = np.zeros(len(names), dtype=bool)
        selected[model.support_] = True
        write_coefficients(
            output, names, model.coef_, selected, model.intercept_ if model.fit_intercept else None
        )

    def summary(self) -> str:
        """The numbers in one line, where standard output holds the coefficients."""
        shown = {name: value for name, value in self.result().metrics.items() if value is not None}
        return ", ".join(f"{name} {value:.6g}" for name, value in shown.items())

    def result(self) -> Result:
        """Metrics and details of the run."""
        metrics, details = self._of_path() if self.path is not None else self._of_model()
        name = ", ".join(record["name"] for record in self.inputs)
        return Result("trace-lasso", name, metrics, len(self.y), self.data.total, details)

    def _of_path(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Of the last lambda; gap and iterations over all."""
        path = self.path
        assert path is not None
        metrics = {
            "objective": float(path.objectives[-1]), "gap": float(path.gaps.max()), "iterations": int(path.iterations.sum()),
            "rank": int(path.ranks[-1]), "support": int(path.selected[-1]), "lam": float(path.lams[-1]),
            "lam_max": float(path.lams[0]) if self._zeroing else None,
        }  # fmt: skip
        return metrics, {"lams": path.lams.tolist(), "selected_along": path.selected.tolist()}

    def _of_model(self) -> tuple[dict[str, Any], dict[str, Any]]:
        model = self.estimator
        metrics = {
            "objective": model.objective_, "gap": model.gap_, "iterations": model.n_iter_, "rank": model.rank_,
            "support": len(model.support_), "lam": model.lam_,
            "lam_max": model.lam_max_ if self._zeroing else None,
        }  # fmt: skip
        details: dict[str, Any] = {
            "selected": [self.data.names[i] for i in model.support_],
            "threshold": SUPPORT,
        }
        if isinstance(model, TraceLassoCV):
            chosen = int(np.flatnonzero(model.lams_ == model.lam_)[0])
            metrics |= {
                "lam_min": model.lam_min_, "lam_1se": model.lam_1se_, "cv_error": float(model.cv_mean_[chosen]),
                "cv_standard_error": float(model.cv_error_[chosen]),
            }  # fmt: skip
            details |= {
                "lams": model.lams_.tolist(), "cv_mean": model.cv_mean_.tolist(), "cv_errors": model.cv_error_.tolist()
            }  # fmt: skip
        return metrics, details
