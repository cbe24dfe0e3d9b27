"""Hierarchical sparse coding by stochastic steps on single cells (Yogatama et al. 2015, Algorithm 1): X ~ D A'.

The expected loss of an epoch, which is as many draws as X has non-zeros, is with w = |x| / mean |x| and z = ``zeros``

    (1 - z) sum over non-zeros of w (x - d_c . a_v)^2  +  z nnz / (C V) sum over all cells of (x - d_c . a_v)^2
    + lambda sum over words of Omega(a_v) + tau |D|^2

With ``step="scaled"`` the operator's threshold at a visit is rate x lambda / n_v and the decay tau / n_c, where n is how often
an epoch is expected to visit the row, so that this is what the steps minimize (with ``uniform`` and z = 0, n is the number of
non-zeros); and the gradient step is the implicit one, which at any rate goes no further than the error asks for.
``step="printed"`` applies lambda, whatever the rate, and tau at each visit, and the plain gradient, as the paper prints it.

Without random cells nothing says what does not co-occur, and the vectors are of little use. On PMI of the Brown corpus (M = 52,
20 epochs) the correlation with MEN is 0.03 for z = 0 and 0.42 for 0.8 and 0.9; since an epoch then has few non-zeros, more epochs
go on helping: 0.48 after 80, where the truncated SVD has 0.45 to 0.53. As printed, lambda = 0.1 at every visit leaves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from wordkit._kernels import forest_sgd
from wordkit.checks import array_of, require, value_of
from wordkit.errors import Interrupted, WordkitError
from wordkit.models.entry_sampling import EntrySampling
from wordkit.models.forest_layout import ForestLayout
from wordkit.monitor import Monitor
from wordkit.parallel import Workers
from wordkit.rng import INITIAL, stream

STEPS = ("scaled", "printed")
_CHUNK = 2**15  # draws of one kernel call: some 20 milliseconds
_CALLS = 8  # kernel calls a thread between two looks at the monitor
_DIVERGED = 1e6  # times the largest |x|: an error beyond has no way back


class ForestSgd:
    """A factorization in the making.

    Args:
        matrix: sparse X (C contexts, V words).
        parents: (M), each node's parent, -1 for roots, parents before children; all -1 is the l1 penalty.
        lam: lambda, of the penalty on the words' rows; 0 for none.
        tau: of the squared norm of D.
        learning_rate: rate of the first draw; it falls linearly, to zero at the end of the run.
        epochs: length of the run.
        step: "scaled" or "printed".
        sampling, zeros, seed: as of :class:`EntrySampling`.
        nonnegative: whether words' rows are kept from going below zero.
        init_scale: expected norm of a row of A or D at the start.
        threads: with more than one the result depends on their timing.

    Attributes:
        draws: number of draws done.
        sampling: the :class:`EntrySampling`.

    Raises:
        ValueError: an argument out of range.
    """

    def __init__(
        self, matrix: scipy.sparse.sparray, parents: np.ndarray, *, lam: float = 0.1, tau: float = 0.0,
        learning_rate: float = 0.03, epochs: int = 20, step: str = "scaled", sampling: str = "alias", zeros: float = 0.9,
        nonnegative: bool = False, init_scale: float = 0.1, seed: int = 1, threads: int = 1,
    ) -> None:  # fmt: skip
        _check(
            lam=lam,
            tau=tau,
            learning_rate=learning_rate,
            init_scale=init_scale,
            epochs=epochs,
            threads=threads,
        )
        if step not in STEPS:
            raise ValueError(f"step must be one of {', '.join(STEPS)}, not {step!r}")
        self.lam, self.tau, self.learning_rate, self.epochs = lam, tau, learning_rate, epochs
        self.step, self.nonnegative, self.threads = step, nonnegative, threads
        self.parents = np.array(parents)
        self._layout = ForestLayout.of(self.parents)
        self.sampling = EntrySampling(matrix, sampling=sampling, zeros=zeros, seed=seed)
        self._limit = _DIVERGED * float(np.max(np.abs(self.sampling.values)))
        self._shrinkage, self._decay = self._penalties()
        self.draws = 0
        self._start(init_scale, seed)

    def _penalties(self) -> tuple[np.ndarray, np.ndarray]:
        """lambda_v and tau_c of the kernel; float32."""
        C, V = self.sampling.shape
        if self.step == "printed":
            return _single(np.full(V, self.lam)), _single(np.full(C, self.tau))
        # A row that no draw can visit needs no penalty.
        return tuple(  # type: ignore[return-value]
            _single(np.divide(penalty, visits, out=np.zeros(len(visits)), where=visits > 0))
            for penalty, visits in ((self.lam, self.sampling.visits(1)), (self.tau, self.sampling.visits(0)))
        )

    def _start(self, scale: float, seed: int) -> None:
        (C, V), M = self.sampling.shape, len(self.parents)
        random = stream(seed, INITIAL)
        codes, dictionary = (
            random.standard_normal((n, M), dtype=np.float32) * np.float32(scale / math.sqrt(M))
            for n in (V, C)
        )
        self._codes = self._layout.pack(np.abs(codes) if self.nonnegative else codes)
        self._dictionary = self._layout.pack(dictionary)

    # --- results ---------------------------------------------------------------------------------------------------

    @property
    def codes(self) -> np.ndarray:
        """A: float32 (V, M), a copy."""
        return self._layout.unpack(self._codes)

    @property
    def dictionary(self) -> np.ndarray:
        """D: float32 (C, M), a copy."""
        return self._layout.unpack(self._dictionary)

    @property
    def epoch(self) -> int:
        """Number of whole epochs done."""
        return self.draws // self.sampling.nnz

    def objective(self) -> float:
        """The expected loss of an epoch and the penalties, as the module's head states it; O((C + V) M^2 + nnz M)."""
        return _objective(self.sampling, self.codes, self.dictionary, self.parents, self.lam, self.tau)

    # --- checkpoints -----------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Arrays and numbers that :meth:`restore` takes; with the same arguments, training then goes on as if never stopped."""
        return {"codes": self.codes, "dictionary": self.dictionary, "draws": self.draws}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state; ValueError for arrays that do not fit or are not finite."""
        (C, V), M = self.sampling.shape, len(self.parents)
        codes = array_of(state, "codes", np.float32, (V, M))
        dictionary = array_of(state, "dictionary", np.float32, (C, M))
        draws = value_of(state, "draws", int, 0)
        for name, array in (("codes", codes), ("dictionary", dictionary)):
            require(bool(np.all(np.isfinite(array))), f"{name} holds a number that is not finite")
        self._codes, self._dictionary, self.draws = (
            self._layout.pack(codes),
            self._layout.pack(dictionary),
            draws,
        )

    # --- training --------------------------------------------------------------------------------------------------

    def run_epoch(self, monitor: Monitor | None = None) -> dict[str, Any]:
        """Draw on until the next whole epoch; the record that the monitor has seen: ``epoch``, ``loss``, ``learning_rate``.

        ``loss`` is the mean of w (x - d_c . a_v)^2 over these draws, each before its step.

        Raises:
            Interrupted, WordkitError: as :meth:`run_draws`.
            ValueError: all epochs are done.
        """
        if self.epoch >= self.epochs:
            raise ValueError(f"all of the {self.epochs} epochs are done")
        monitor, n = monitor or Monitor(), (self.epoch + 1) * self.sampling.nnz - self.draws
        loss = self.run_draws(n, monitor) / n
        rate = self.learning_rate * (1 - self._fall * self.draws)
        record = {"epoch": self.epoch, "loss": loss, "learning_rate": rate}
        monitor.epoch(record)
        return record

    def run_draws(self, n: int, monitor: Monitor | None = None) -> float:
        """Draw n entries and step; the sum of w (x - d_c . a_v)^2 over them, each before its step.

        Raises:
            Interrupted: the monitor asked to stop; the next call goes on from there.
            WordkitError: diverged; rows and counters are those from before the call.
        """
        monitor, begun, end = monitor or Monitor(), self.draws, self.draws + n
        before = self._codes.copy(), self._dictionary.copy()
        lost, workers = 0.0, Workers(self.threads)
        monitor.begin(n, "entries")
        try:
            while self.draws < end:
                if monitor.stopping:
                    raise Interrupted(f"interrupted in epoch {self.epoch + 1}")
                stop = min(self.draws + _CHUNK * _CALLS * self.threads, end)
                chunks = [(lo, min(_CHUNK, stop - lo)) for lo in range(self.draws, stop, _CHUNK)]
                for loss, fine in workers.map(self._run, chunks):
                    lost += loss
                    if not fine:
                        (self._codes, self._dictionary), self.draws = before, begun
                        raise self._diverged()
                monitor.advance(stop - self.draws)
                self.draws = stop
        finally:
            workers.close()
        return lost

    @property
    def _fall(self) -> float:
        """What the rate loses a draw, as a share of the first."""
        return 1 / (self.epochs * self.sampling.nnz)

    def _run(self, chunk: tuple[int, int]) -> tuple[float, bool]:
        """Steps of the draws (first, number): their loss, and whether all went well."""
        first, n = chunk
        loss, scratch = np.zeros(1), np.zeros(2 * self._layout.width, dtype=np.float32)
        done = forest_sgd.run_draws(
            *self.sampling.arguments(), first, n, self._layout.level, self._layout.run_bound, self._layout.runs,
            self._codes, self._dictionary, self._shrinkage, self._decay,
            self.learning_rate, self._fall, self._limit, self.step == "printed", self.nonnegative, scratch, loss,
        )  # fmt: skip
        return float(loss[0]), done == n

    def _diverged(self) -> WordkitError:
        others = [f", a --tau below {self.tau:g}"] * (self.tau > 0) + [' or --sgd-step "scaled"'] * (
            self.step == "printed"
        )
        return WordkitError(
            f"sgd diverged in epoch {self.epoch + 1}: use a --learning-rate below {self.learning_rate:g}{''.join(others)}; "
            "nothing of this epoch is kept"
        )


def _single(values: np.ndarray) -> np.ndarray:
    """As float32, numbers beyond it as its greatest."""
    return np.minimum(values, np.finfo(np.float32).max).astype(np.float32)


def _check(
    *, lam: float, tau: float, learning_rate: float, init_scale: float, epochs: int, threads: int
) -> None:
    for name, value in (("lam", lam), ("tau", tau)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be a finite number not below zero, not {value!r}")
    for name, value in (("learning_rate", learning_rate), ("init_scale", init_scale)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a finite number above zero, not {value!r}")
    for name, value in (("epochs", epochs), ("threads", threads)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value!r}")


def _objective(
    sampling: EntrySampling,
    codes: np.ndarray,
    dictionary: np.ndarray,
    parents: np.ndarray,
    lam: float,
    tau: float,
) -> float:
    A, D = codes.astype(np.float64), dictionary.astype(np.float64)
    (C, V), x = sampling.shape, sampling.values.astype(np.float64)
    fitted = np.concatenate([
        A[sampling.indices[lo:hi]] @ D[c]
        for c, (lo, hi) in enumerate(zip(sampling.indptr[:-1], sampling.indptr[1:], strict=True))
    ])  # fmt: skip
    at_entries = float(np.sum(sampling.weights() * (x - fitted) ** 2))
    everywhere = float(np.sum(x**2) - 2 * np.sum(x * fitted) + np.sum((D.T @ D) * (A.T @ A)))
    share = sampling.zeros * sampling.nnz / (C * V)
    squares = A.T**2
    for node in range(len(parents) - 1, -1, -1):  # of each node's subtree
        if parents[node] >= 0:
            squares[parents[node]] += squares[node]
    penalty = lam * float(np.sum(np.sqrt(squares))) + tau * float(np.sum(D**2))
    return (1 - sampling.zeros) * at_entries + share * everywhere + penalty
