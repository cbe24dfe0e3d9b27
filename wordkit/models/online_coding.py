"""Online learning of a dictionary with sparse codes: batches of rows, their codes, then the atoms (Mairal et al. 2010).

An epoch visits every row once, in a seeded order. A batch's codes start from those of its last visit and are solved to a
duality gap (:mod:`wordkit.models.sparse_codes`); the sums that the atoms are learned from then hold the new codes in place of the
old (:mod:`wordkit.models.dictionary`), so that each step lowers one and the same objective.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit.checks import array_of, require, value_of
from wordkit.errors import ConvergenceWarning, Interrupted
from wordkit.models.dictionary import Dictionary
from wordkit.models.forests import Forest
from wordkit.models.sparse_codes import Codes
from wordkit.monitor import Monitor

_ROWS = 1024  # coded at once at the end
_SAMPLE = 4096  # rows that are looked at for a use of idle atoms


def first_atoms(rows: scipy.sparse.csr_array, dim: int, seed: int) -> np.ndarray:
    """(M, C) float32: orthogonal random combinations of all rows; they span about what the largest singular vectors span."""
    random = rng.stream(seed, rng.INITIAL)
    spread = random.standard_normal((rows.shape[0], dim), dtype=np.float32)
    atoms = np.linalg.qr(rows.T @ spread)[0].T.astype(np.float32)
    if len(atoms) < dim:  # more atoms than contexts
        more = random.standard_normal((dim - len(atoms), rows.shape[1]), dtype=np.float32)
        atoms = np.concatenate([atoms, more / np.linalg.norm(more, axis=1, keepdims=True)])
    return atoms


def squared_lengths(rows: scipy.sparse.csr_array) -> np.ndarray:
    """|x|^2 (n,) float64 of each row."""
    return np.asarray(rows.power(2).sum(axis=1, dtype=np.float64)).ravel()


class OnlineCoding:
    """A training of atoms and codes.

    Args:
        rows: (n, C) float32.
        solve: :func:`wordkit.models.sparse_codes.sparse_codes` with its settings; lam, forest: the penalty among them.
        heldout: share of the rows that the atoms are not learned from.
        seed, threads, batch_size, shuffle: as of :class:`wordkit.models.sparse_coding.ForestCoder`.

    Attributes:
        dictionary: the atoms. codes: (n, M) float32, those of the last visits. epoch: epochs done. position: batches of this one.
    """

    def __init__(
        self, rows: scipy.sparse.csr_array, solve: Callable[..., Codes], lam: float, forest: Forest, *, batch_size: int,
        shuffle: bool, heldout: float, seed: int, threads: int,
    ) -> None:  # fmt: skip
        self.rows, self.solve, self.lam, self.forest = rows, solve, lam, forest
        self.batch_size, self.shuffle, self.seed = batch_size, shuffle, seed
        n, dim = rows.shape[0], len(forest)
        self.lengths = squared_lengths(rows)
        chosen = np.zeros(n, dtype=bool)
        most = n if heldout == 1 else n - 1  # a share is never all
        chosen[rng.stream(seed, rng.FOLDS).permutation(n)[: min(math.ceil(n * heldout), most)]] = True
        self.heldout, self.learned = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        if not len(self.learned):
            raise ValueError("no row is left to learn from: heldout is too large, or the data too few")
        self.squares = float(self.lengths[self.learned].sum())
        self.dictionary = Dictionary(first_atoms(rows[self.learned], dim, seed), threads)
        self.codes = np.zeros((n, dim), dtype=np.float32)
        self.epoch = self.position = 0
        self.rho = 0.0  # the solver's, as the last batch has left it

    # --- training --------------------------------------------------------------------------------------------------

    unit = "rows"

    @property
    def work(self) -> int:
        """Rows of an epoch."""
        return len(self.learned)

    @property
    def done(self) -> int:
        """Rows of the epochs so far."""
        return self.epoch * self.work + min(self.position * self.batch_size, self.work)

    @property
    def begun(self) -> int:
        """Epochs done, or begun."""
        return self.epoch + (self.position > 0)

    def run_epoch(self, monitor: Monitor) -> dict[str, Any]:
        """The rest of an epoch, and its record.

        Raises:
            Interrupted: the monitor was stopping; the next call goes on after the last batch.
        """
        if self.epoch and not self.position:
            self.renew()
        batches = list(self._batches())
        for batch in batches[self.position :]:
            if monitor.stopping:
                raise Interrupted(
                    f"interrupted in epoch {self.epoch + 1}, after {self.position} batches of it"
                )
            self.learn(batch)
            self.position += 1
            monitor.advance(len(batch))
        self.epoch, self.position = self.epoch + 1, 0
        return {"epoch": self.epoch, **self.measures()}

    def _batches(self) -> Iterator[np.ndarray]:
        order = self.learned
        if self.shuffle:
            order = rng.stream(self.seed, rng.SHUFFLE, self.epoch).permutation(order)
        for lo in range(0, len(order), self.batch_size):
            yield np.sort(order[lo : lo + self.batch_size])

    def renew(self) -> None:
        """Give atoms that no row uses something to do: the rows of a sample that are coded worst, one each."""
        idle = self.dictionary.idle()
        if not len(idle):
            return
        random = rng.stream(self.seed, rng.NOISE, self.epoch)
        numbers = np.sort(random.permutation(self.learned)[: _SAMPLE + len(idle)])
        codes = np.ascontiguousarray(self.codes[numbers].T)
        fit = np.einsum("ij,ij->j", codes, self.dictionary.gram() @ codes)
        cross = np.einsum("ij,ij->j", codes, self.dictionary.correlations(self.rows[numbers]))
        error = self.lengths[numbers] - 2 * cross + fit
        worst = numbers[np.argsort(-error, kind="stable")]
        worst = worst[self.lengths[worst] > 0][: len(idle)]
        taken = self.rows[worst].toarray()
        self.dictionary.components[idle[: len(worst)]] = taken / np.linalg.norm(taken, axis=1, keepdims=True)

    def learn(self, batch: np.ndarray) -> None:
        """Codes of some rows, by their numbers, and a step of the atoms."""
        old = np.ascontiguousarray(self.codes[batch].T)
        found = self.encode(batch)
        self.rho, new = found.rho, found.codes
        self.dictionary.replace(self.rows[batch], old, new)
        self.codes[batch] = new.T
        self.dictionary.update()

    def encode(self, numbers: np.ndarray, gram: np.ndarray | None = None) -> Codes:
        """Codes of some rows with the atoms as they are, begun with the last ones; those unfinished at ``max_iter`` may be."""
        gram = self.dictionary.gram() if gram is None else gram
        start = np.ascontiguousarray(self.codes[numbers].T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the next visit goes on; counted in the end
            correlations = self.dictionary.correlations(self.rows[numbers])
            return self.solve(
                gram, correlations, self.lengths[numbers], start=start if start.any() else None, rho=self.rho or None
            )  # fmt: skip

    # --- results ---------------------------------------------------------------------------------------------------

    def measures(self) -> dict[str, Any]:
        """The objective a row, and the squared error relative to the squares of the data, of learned and of held-out rows."""
        error = self.dictionary.squared_error(self.squares)
        penalty = self.lam * self.forest.penalty(self.codes[self.learned].T)
        found: dict[str, Any] = {
            "objective": (error + penalty) / len(self.learned),
            "reconstruction_error": error / self.squares if self.squares else 0.0,
        }
        if len(self.heldout):
            codes = self.encode(self.heldout).codes
            self.codes[self.heldout] = codes.T
            squares = float(self.lengths[self.heldout].sum())
            fit = float(np.vdot(codes, self.dictionary.gram() @ codes))
            cross = float(np.vdot(codes, self.dictionary.correlations(self.rows[self.heldout])))
            found["heldout_error"] = (squares - 2 * cross + fit) / squares if squares else 0.0
        return found

    @property
    def components(self) -> np.ndarray:
        """(M, C) float32."""
        return self.dictionary.components

    def final_codes(self, monitor: Monitor) -> np.ndarray:
        """(n, M) float32: codes of all rows with the atoms as they have become.

        Raises:
            Interrupted: the monitor was stopping; nothing is changed.
        """
        n, unfinished = len(self.codes), 0
        monitor.begin(n, "rows")
        out, gram = np.empty_like(self.codes), self.dictionary.gram()
        for lo in range(0, n, _ROWS):
            if monitor.stopping:
                raise Interrupted("interrupted in the last pass, of codes for the finished atoms")
            numbers = np.arange(lo, min(lo + _ROWS, n))
            found = self.encode(numbers, gram)
            out[numbers] = found.codes.T
            unfinished += int(np.count_nonzero(~found.converged))
            monitor.advance(len(numbers))
        if unfinished:
            warnings.warn(
                f"{unfinished} of {n} codes did not reach the tolerance; raise max_iter or tol",
                ConvergenceWarning, stacklevel=2,
            )  # fmt: skip
        return out

    # --- checkpoints -----------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`restore` takes."""
        d = self.dictionary
        arrays = {
            "codes": self.codes, "components": d.components, "code_products": d.code_products, "data_products": d.data_products,
        }  # fmt: skip
        return arrays, {"epochs_done": self.epoch, "position": self.position, "rho": self.rho}

    def restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Go on from a state of a training with the same arguments; ValueError for what cannot be one."""
        n, dim = self.codes.shape
        contexts = self.rows.shape[1]
        d = self.dictionary
        codes = array_of(arrays, "codes", np.float32, (n, dim))
        components = array_of(arrays, "components", np.float32, (dim, contexts))
        code_products = array_of(arrays, "code_products", np.float64, (dim, dim))
        data_products = array_of(arrays, "data_products", np.float32, (dim, contexts))
        for name, array in (("codes", codes), ("components", components), ("code_products", code_products),
                            ("data_products", data_products)):  # fmt: skip
            require(bool(np.isfinite(array).all()), f"{name} holds a number that is not finite")
        batches = -(-len(self.learned) // self.batch_size)
        self.epoch, self.rho = value_of(values, "epochs_done", int, 0), value_of(values, "rho", float, 0.0)
        require(self.rho < np.inf, "rho is not finite")
        self.position = value_of(values, "position", int, 0, batches)
        self.codes, d.components, d.code_products, d.data_products = (
            codes,
            components,
            code_products,
            data_products,
        )
