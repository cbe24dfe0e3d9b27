"""What all models share: parameters as scikit-learn has them, without depending on scikit-learn."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from wordkit.checks import require, value_of
from wordkit.formats.counts import Counts
from wordkit.parallel import one_blas_thread

# Methods that compute; those of an estimator are called with BLAS on one thread.
_COMPUTE = (
    "fit", "fit_packed", "resume", "continue_on", "partial_fit", "fit_transform", "transform", "predict", "decision_function",
    "class_scores", "scores", "score", "log_likelihood", "decode", "parse",
)  # fmt: skip


_Model = TypeVar("_Model", bound="Estimator")


class Estimator:
    """Parameters are the constructor's keyword arguments, stored under their own names and nothing else.

    What computes does so with OpenBLAS on one thread: the bytes of a result depend neither on the machine's processors nor on
    whether OPENBLAS_NUM_THREADS was set.
    """

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name in _COMPUTE:
            if inspect.isfunction(method := cls.__dict__.get(name)):
                setattr(cls, name, _on_one_blas_thread(method))

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Estimator:
        """Change parameters; ValueError for a name that is not one."""
        known = self._parameter_names()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. Valid are: {known}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    @classmethod
    def _of_parameters(cls: type[_Model], values: Mapping[str, Any], without: tuple[str, ...] = ()) -> _Model:
        """A model with the ``parameters`` of a state, among which ``threads`` and ``without`` are not; ValueError for others."""
        parameters = value_of(values, "parameters", dict)
        names = set(cls._parameter_names()) - {"threads", *without}
        require(set(parameters) <= names, f"unknown parameters {sorted(set(parameters) - names)}")
        return cls(**parameters)

    def _check_fitted(self, attribute: str) -> None:
        if not hasattr(self, attribute):
            raise _not_fitted()(f"This {type(self).__name__} instance is not fitted yet: call 'fit' first.")


def _on_one_blas_thread(method: Any) -> Any:
    @functools.wraps(method)
    def computed(*args: Any, **kwargs: Any) -> Any:
        with one_blas_thread():
            return method(*args, **kwargs)

    return computed


def _same(a: Any, b: Any) -> bool:
    return a is b or (np.isscalar(a) and np.isscalar(b) and bool(a == b))


def _not_fitted() -> type[Exception]:
    """scikit-learn's exception where it is there, since its tools look for that one."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:

        class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
            """The estimator has no state yet."""

    return NotFittedError


def one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:
    """The value, if it is among ``allowed``; ValueError names the parameter otherwise."""
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(map(repr, allowed))}")
    return value


def positive(name: str, value: Any) -> float:
    """The value, if it is a finite number above zero."""
    if not isinstance(value, numbers.Real) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} is {value!r}, expected a finite number greater than 0")
    return float(value)


def whole(name: str, value: Any) -> int:
    """The value, if it is a whole number above zero that fits the kernels' integers."""
    number = positive(name, value)
    if number != int(number) or number >= 2**31:
        raise ValueError(f"{name} is {number!r}, expected a whole number below 2^31")
    return int(number)


def as_matrix(X: Any, n_features: int | None = None, owner: str = "model") -> Any:
    """X as an array or sparse matrix of numbers, two-dimensional and not empty; ``owner`` is for messages.

    Raises:
        ValueError: not two-dimensional, empty, complex, or another number of features.
        TypeError: counts, which are to be made associations first.
    """
    if isinstance(X, Counts):
        raise TypeError(
            "X holds counts: use their associations, wordkit.models.pmi(counts), or counts.matrix"
        )
    if scipy.sparse.issparse(X):
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D sparse array instead: of one row write X[:1], not X[0]."
            )
    else:
        X = np.asarray(X)
        if X.dtype == object:
            X = X.astype(np.float64)
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead. Reshape your data either using array.reshape(-1, 1) if "
                "your data has a single feature or array.reshape(1, -1) if it contains a single sample."
            )
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported")
    if X.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but {owner} is expecting {n_features} features as input"
        )
    return X


def as_rows(X: Any, n_features: int | None = None, owner: str = "model") -> scipy.sparse.csr_array:
    """A matrix as float32 CSR rows without repeated columns; X itself is not changed. ``owner`` is for messages.

    Raises:
        ValueError: as :func:`as_matrix`, and NaN or infinite values.
    """
    X = as_matrix(X, n_features, owner)
    with np.errstate(over="ignore"):  # what overflows is refused below
        rows = scipy.sparse.csr_array(X, dtype=np.float32)
    if not np.isfinite(rows.data).all():
        raise ValueError("Input X contains NaN or infinity.")
    if not rows.has_canonical_format:
        rows = rows.copy()  # the arrays are the caller's, and other threads may be reading them
        rows.sum_duplicates()
    return rows


def row_arrays(rows: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(values float32, column numbers int32, row ends int64) as the kernels take them; SciPy wants the last two alike."""
    return rows.data, rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int64, copy=False)


def as_labels(y: Any, n: int) -> np.ndarray:
    """Labels of n rows, one-dimensional; ValueError for what cannot be class labels."""
    labels = np.asarray(y)
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if len(labels) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(labels)}]")
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity.")
        if not np.array_equal(labels, np.round(labels)):
            raise ValueError("Unknown label type: continuous. Labels are classes, not real numbers.")
    return labels
