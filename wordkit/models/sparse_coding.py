"""Sparse codes of the rows of a matrix, whose zeros are organized by trees (Yogatama, Faruqui, Dyer and Smith 2015).

A row x (a word's association with C contexts) is approximated by D' a, with M atoms D and a code a, under

    sum over rows |x - D' a|^2 + lam Omega(a),   Omega(a) = sum over nodes of |a of the node and all below it|_2

so that a dimension is used only where the one above it is. ``l1`` is the forest of M single nodes, ``none`` has no penalty.

``online`` alternates codes of a batch of rows (:mod:`wordkit.models.sparse_codes`) and atoms in the unit ball
(:mod:`wordkit.models.dictionary`). ``sgd`` steps on single cells (:mod:`wordkit.models.forest_sgd`): another objective, of a
sample of the cells, for data of any size. ``svd`` is the baseline: singular vectors times a power of the singular values.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from wordkit import rng
from wordkit._kernels import forest_prox
from wordkit.checks import array_of, require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.base import Estimator, as_rows, one_of, positive, whole
from wordkit.models.dictionary import Dictionary
from wordkit.models.entry_sampling import SAMPLINGS
from wordkit.models.forest_sgd import STEPS
from wordkit.models.forests import Forest, forest_of_shape, singletons
from wordkit.models.online_coding import OnlineCoding, first_atoms, squared_lengths
from wordkit.models.sgd_coding import SgdCoding
from wordkit.models.sparse_codes import Codes, sparse_codes
from wordkit.monitor import Monitor

REGULARIZERS = ("forest", "l1", "none")
ALGORITHMS = ("online", "sgd", "svd")
EPOCHS = {"online": 5, "sgd": 20, "svd": 1}
_ROWS = 1024  # coded at once where there is no batch

Training = OnlineCoding | SgdCoding


def tree_prox(
    A: np.ndarray,
    parents: Sequence[int] | np.ndarray | Forest,
    t: float | np.ndarray,
    *,
    nonnegative: bool = False,
) -> np.ndarray:
    """The proximal operator of the hierarchical penalty, a column at a time.

    Column a becomes the z that minimizes 1/2 |z - a|^2 + t times the sum over nodes of the length of z on the node's subtree.

    Args:
        A: (M, n), a value a node and column; float32 stays float32, all else becomes float64.
        parents: (M), each node's parent, -1 of a root, parents before children; or a forest.
        t: threshold, >= 0, of all columns or one each (n).
        nonnegative: minimize over z >= 0 only.

    Returns:
        A new array (M, n). Values are exactly 0 where the groups above them are shrunk away.

    Raises:
        ValueError: shapes that do not agree, parents that are no forest, a negative threshold, values that are not finite.
    """
    values = np.array(A, dtype=np.float32 if np.asarray(A).dtype == np.float32 else np.float64, order="C")
    forest = parents if isinstance(parents, Forest) else Forest(parents)
    if values.ndim != 2 or len(values) != len(forest):
        raise ValueError(f"A has shape {values.shape}, expected ({len(forest)}, n), a row a node")
    thresholds = np.asarray(t, dtype=values.dtype)
    if thresholds.shape not in ((), values.shape[1:]) or not (thresholds >= 0).all():
        raise ValueError(f"t must be a number >= 0, or one for each of the {values.shape[1]} columns")
    if not np.isfinite(values).all():
        raise ValueError("A holds nan or inf")
    columns = np.array(np.broadcast_to(thresholds, values.shape[1:]))
    forest_prox.shrink(values, forest.parents, columns, nonnegative, 0, values.shape[1])
    return values


class ForestCoder(Estimator):
    """Codes with exact zeros, and the atoms that they combine.

    Args:
        dim: M, number of atoms. regularizer: ``forest``, ``l1`` or ``none``; lam: its weight.
        tree_shape: children of a node at each depth below the root, ``3x3`` for trees of 13 nodes; parents: (M,) the forest
            itself, in place of a shape: each node's parent, -1 for roots, parents before children.
        nonnegative: keep codes from going below zero.
        algorithm: ``online``, ``sgd`` or ``svd``. power: of the singular values in the codes of ``svd``.
        epochs: passes over the data; None for 5, 20 with ``sgd``. batch_size: rows of a step of ``online``. shuffle: another
            order of the rows each epoch.
        tol, max_iter: codes stop at this relative duality gap, or after so many iterations.
        heldout: share of the rows (``sgd``: of the cells) that the atoms are not learned from.
        learning_rate, tau, sgd_step, sampling, zeros: of ``sgd``, see :class:`wordkit.models.forest_sgd.ForestSgd`.
        threads: results of ``online`` and ``svd`` do not depend on it.

    Attributes:
        components_: (M, C) float32, the atoms. codes_: (n, M) float32 codes of the rows of ``fit``.
        forest_: the :class:`wordkit.models.forests.Forest` of the atoms; single nodes without ``regularizer="forest"``.
        n_features_in_: C. n_iter_: epochs done. history_: a record an epoch. singular_values_: (M,), of ``svd`` only.
    """

    def __init__(
        self, *, dim: int = 52, regularizer: str = "forest", lam: float = 0.1, tree_shape: str = "3x3",
        parents: Any = None, nonnegative: bool = False, algorithm: str = "online", power: float = 0.5, epochs: int | None = None,
        batch_size: int = 512, shuffle: bool = True, tol: float = 1e-3, max_iter: int = 200, heldout: float = 0.01,
        learning_rate: float = 0.03, tau: float = 0.0, sgd_step: str = "scaled", sampling: str = "alias", zeros: float = 0.9,
        seed: int = 1, threads: int = 1,
    ) -> None:  # fmt: skip
        self.dim, self.regularizer, self.lam, self.tree_shape, self.parents = (
            dim,
            regularizer,
            lam,
            tree_shape,
            parents,
        )
        self.nonnegative, self.algorithm, self.power = nonnegative, algorithm, power
        self.epochs, self.batch_size, self.shuffle = epochs, batch_size, shuffle
        self.tol, self.max_iter, self.heldout = tol, max_iter, heldout
        self.learning_rate, self.tau, self.sgd_step, self.sampling, self.zeros = (
            learning_rate,
            tau,
            sgd_step,
            sampling,
            zeros,
        )
        self.seed, self.threads = seed, threads

    _stopped: tuple[Mapping[str, np.ndarray], Mapping[str, Any]]

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, monitor: Monitor | None = None) -> ForestCoder:
        """Learn atoms and codes of the rows of X (n, C), sparse or dense; ``y`` is not looked at.

        Raises:
            ValueError: parameters or data that do not fit. WordkitError: ``sgd`` diverged. Interrupted: the monitor was
                stopping; :meth:`resume` goes on.
        """
        self._check_parameters()
        rows = as_rows(X, owner=type(self).__name__)
        self.n_features_in_, self.n_iter_ = rows.shape[1], 0
        self.history_: list[dict[str, Any]] = []
        self.forest_ = self._forest()
        if self.algorithm == "svd":
            self._decompose(rows, monitor or Monitor())
            return self
        self._training = self._trainer(rows)
        return self._go_on(monitor or Monitor())

    def resume(self, X: Any, *, monitor: Monitor | None = None) -> ForestCoder:
        """Go on to ``epochs`` epochs with the same rows, from where a stopped training was (:meth:`state`).

        Raises:
            ValueError: as :meth:`fit`; more than ``epochs`` are begun already.
        """
        self._check_parameters()
        self._check_fitted("_stopped")
        rows = as_rows(X, self.n_features_in_, type(self).__name__)
        self._training = self._trainer(rows)
        self._training.restore(*self._stopped)
        if self._training.begun > self.n_epochs:
            raise ValueError(f"epochs is {self.n_epochs}, and {self._training.begun} are begun already")
        return self._go_on(monitor or Monitor())

    def partial_fit(self, X: Any, y: Any = None) -> ForestCoder:
        """One step of ``online`` on a batch of rows that were not seen before."""
        self._check_parameters()
        one_of("algorithm", self.algorithm, ("online",))
        rows = as_rows(X, getattr(self, "n_features_in_", None), type(self).__name__)
        if not hasattr(self, "_stream"):
            self.n_features_in_, self.forest_ = rows.shape[1], self._forest()
            self._stream = Dictionary(first_atoms(rows, int(self.dim), self.seed), int(self.threads))
        codes = self._solver()(
            self._stream.gram(), self._stream.correlations(rows), squared_lengths(rows)
        ).codes
        self._stream.replace(rows, np.zeros_like(codes), codes)
        self._stream.update()
        self.components_ = self._stream.components
        return self

    def _trainer(self, rows: scipy.sparse.csr_array) -> Training:
        shared: dict[str, Any] = {
            "heldout": float(self.heldout),
            "seed": self.seed,
            "threads": int(self.threads),
        }
        if self.algorithm == "online":
            return OnlineCoding(
                rows, self._solver(), self._lam(), self.forest_, batch_size=int(self.batch_size),
                shuffle=bool(self.shuffle), **shared,
            )  # fmt: skip
        return SgdCoding(
            rows, self.forest_.parents, lam=self._lam(), tau=float(self.tau),
            learning_rate=float(self.learning_rate), epochs=self.n_epochs, step=self.sgd_step, sampling=self.sampling,
            zeros=float(self.zeros), nonnegative=bool(self.nonnegative), **shared,
        )  # fmt: skip

    def _go_on(self, monitor: Monitor) -> ForestCoder:
        training = self._training
        monitor.begin(self.n_epochs * training.work - training.done, training.unit)
        while training.epoch < self.n_epochs:
            self.history_.append(training.run_epoch(monitor))
            monitor.epoch(self.history_[-1])  # which may save the state
        self.n_iter_ = training.epoch
        self.components_, self.codes_ = training.components, training.final_codes(monitor)
        return self

    def _decompose(self, rows: scipy.sparse.csr_array, monitor: Monitor) -> None:
        """Truncated singular value decomposition; the sign of a vector is such that its largest entry is above zero."""
        dim = int(self.dim)
        if dim >= min(rows.shape):
            raise ValueError(f"dim is {dim}: svd finds fewer than {min(rows.shape)} dimensions in these data")
        start = rng.stream(self.seed, rng.INITIAL).standard_normal(min(rows.shape))
        U, values, Vt = scipy.sparse.linalg.svds(_heeding(rows.astype(np.float64), monitor), k=dim, v0=start)
        # By way of the Gram matrix: what is smaller is rounding, and not even the same in every process.
        values[values < math.sqrt(np.finfo(np.float64).eps) * values.max(initial=0.0)] = 0.0
        order = np.argsort(-values, kind="stable")
        squares = float(np.sum(np.square(rows.data, dtype=np.float64)))
        error = 1 - float(np.sum(values**2)) / squares if squares else 0.0
        self.history_, self.n_iter_ = [{"epoch": 1, "reconstruction_error": max(error, 0.0)}], 1
        U, values, Vt = U[:, order], values[order], Vt[order]
        signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(dim)])
        self.singular_values_ = values
        self.components_ = (Vt * signs[:, None]).astype(np.float32)
        self.codes_ = self._scaled(U * signs, float(self.power))

    def _scaled(self, vectors: np.ndarray, power: float) -> np.ndarray:
        """Columns times powers of their singular values, as float32; those of no singular value become 0."""
        used = self.singular_values_ > 0
        with np.errstate(over="ignore"):
            scale = np.power(self.singular_values_, power, where=used, out=np.zeros(len(used)))
            scaled = (vectors * scale).astype(np.float32)
        if not np.isfinite(scaled).all() or np.any(scale[used] < np.finfo(np.float32).tiny):
            what = f"singular values to the power {power:g} are beyond float32"
            raise WordkitError(f"{what}: use a --power nearer to 0")
        return scaled

    # --- using -----------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> np.ndarray:
        """Codes (n, M) float32 of rows (n, C) with the atoms as they are; of ``svd`` the projections, scaled as the codes are."""
        self._check_fitted("components_")
        rows = as_rows(X, self.n_features_in_, type(self).__name__)
        if self.algorithm == "svd":
            return self._scaled(rows @ self.components_.T.astype(np.float64), float(self.power) - 1)
        atoms, solve = Dictionary(self.components_, int(self.threads)), self._solver()
        gram = atoms.gram()
        parts = [rows[lo : lo + _ROWS] for lo in range(0, rows.shape[0], _ROWS)]
        return np.concatenate(
            [solve(gram, atoms.correlations(part), squared_lengths(part)).codes.T for part in parts]
        )

    def fit_transform(self, X: Any, y: Any = None, *, monitor: Monitor | None = None) -> np.ndarray:
        """The codes of the rows of X as :meth:`fit` leaves them."""
        return self.fit(X, monitor=monitor).codes_

    def level_density(self) -> list[float]:
        """Share of the codes that are not zero, at each level of the forest."""
        self._check_fitted("codes_")
        used = (self.codes_ != 0).mean(axis=0, dtype=np.float64)
        levels = self.forest_.levels
        return [float(used[levels == level].mean()) for level in range(self.forest_.depth)]

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values of a stopped or finished training that :meth:`from_state` takes."""
        self._check_fitted("_training")
        arrays, values = self._training.state()
        parameters = {
            key: value for key, value in self.get_params().items() if key not in ("threads", "parents")
        }
        arrays = {**arrays, "parents": self.forest_.parents}
        return arrays, {
            "parameters": parameters,
            "features": self.n_features_in_,
            "history": self.history_,
            **values,
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> ForestCoder:
        """A coder that :meth:`resume` goes on with; ValueError for what cannot be a state."""
        coder = cls._of_parameters(values, without=("parents",))
        parents = array_of(arrays, "parents", np.int32, (None,))
        if coder.regularizer == "forest":
            coder.parents = parents
        coder._check_parameters()
        coder.forest_ = coder._forest()
        require(np.array_equal(coder.forest_.parents, parents), "parents are not those of the parameters")
        coder.n_features_in_ = value_of(values, "features", int, 1)
        coder.history_ = list(value_of(values, "history", list))
        coder._stopped = arrays, values
        return coder

    # --- parameters ------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        one_of("regularizer", self.regularizer, REGULARIZERS)
        one_of("algorithm", self.algorithm, ALGORITHMS)
        one_of("sgd_step", self.sgd_step, STEPS)
        one_of("sampling", self.sampling, SAMPLINGS)
        for name in ("nonnegative", "shuffle"):
            one_of(name, getattr(self, name), (True, False))
        for name in ("dim", "batch_size", "max_iter", "threads"):
            whole(name, getattr(self, name))
        if self.epochs is not None:
            whole("epochs", self.epochs)
        for name in ("tol", "learning_rate"):
            positive(name, getattr(self, name))
        for name, high in (("lam", math.inf), ("tau", math.inf), ("heldout", 1.0), ("zeros", 1.0)):
            value = getattr(self, name)
            if (
                not isinstance(value, numbers.Real)
                or not 0 <= float(value) <= high
                or not float(value) < math.inf
            ):
                raise ValueError(
                    f"{name} is {value!r}, expected a number from 0" + (f" to {high:g}" if high < 9 else "")
                )
        if not isinstance(self.power, numbers.Real) or not math.isfinite(float(self.power)):
            raise ValueError(f"power is {self.power!r}, expected a finite number")
        if not isinstance(self.seed, numbers.Integral) or not 0 <= self.seed < 2**63:
            raise ValueError(f"seed is {self.seed!r}, expected a whole number from 0 on")

    def _forest(self) -> Forest:
        dim = int(self.dim)
        if self.regularizer != "forest" or self.algorithm == "svd":
            return singletons(dim)
        if self.parents is None:
            return forest_of_shape(self.tree_shape, dim=dim)
        forest = Forest(self.parents)
        if len(forest) != dim:
            raise ValueError(f"the forest has {len(forest)} nodes, dim is {dim}")
        return forest

    @property
    def n_epochs(self) -> int:
        """``epochs``, or their default number."""
        return EPOCHS[self.algorithm] if self.epochs is None else int(self.epochs)

    def _lam(self) -> float:
        return float(self.lam) if self.regularizer != "none" else 0.0

    def _solver(self) -> Callable[..., Codes]:
        """Codes from gram, correlations and squared lengths of rows, with this coder's penalty."""
        return partial(
            sparse_codes, forest=self.forest_, lam=self._lam(), nonnegative=bool(self.nonnegative), tol=float(self.tol),
            max_iter=int(self.max_iter), threads=int(self.threads),
        )  # fmt: skip


def _heeding(matrix: scipy.sparse.csr_array, monitor: Monitor) -> scipy.sparse.linalg.LinearOperator:
    """The matrix as ARPACK multiplies with it, which raises Interrupted when the monitor asks to stop."""
    turned = matrix.T

    def product(factor: scipy.sparse.sparray) -> Callable[[np.ndarray], np.ndarray]:
        def multiply(vectors: np.ndarray) -> np.ndarray:
            if monitor.stopping:
                raise Interrupted("interrupted in the decomposition")
            return factor @ vectors

        return multiply

    return scipy.sparse.linalg.LinearOperator(
        matrix.shape, matvec=product(matrix), rmatvec=product(turned), matmat=product(matrix),
        rmatmat=product(turned), dtype=matrix.dtype,
    )  # fmt: skip
