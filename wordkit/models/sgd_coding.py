"""Coding by stochastic steps on cells, with cells held out: :class:`wordkit.models.forest_sgd.ForestSgd` as a training."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit.models.forest_sgd import ForestSgd
from wordkit.monitor import Monitor

_CELLS = 1 << 16  # held-out cells looked at together


class SgdCoding:
    """A training of atoms and codes.

    Args:
        rows: (n, C) float32.
        parents: (M,) the forest; all -1 for single nodes.
        heldout: share of the non-zero cells that are not learned from. A draw of any cell may meet them as zeros, which is rare.
        settings: other arguments of :class:`ForestSgd`.

    Attributes:
        epoch: epochs done. sgd: the :class:`ForestSgd`.
    """

    def __init__(
        self, rows: scipy.sparse.csr_array, parents: np.ndarray, *, heldout: float, seed: int, threads: int, **settings: Any
    ) -> None:  # fmt: skip
        cells = rows.tocoo()
        out = rng.stream(seed, rng.FOLDS).random(rows.nnz) < heldout
        if heldout < 1 and out.all():  # a share is never all
            out[:1] = False
        self._heldout = cells.row[out], cells.col[out], cells.data[out]
        kept = scipy.sparse.csr_array(
            (cells.data[~out], (cells.col[~out], cells.row[~out])), shape=rows.shape[::-1]
        )
        self.sgd = ForestSgd(kept, parents, seed=seed, threads=threads, **settings)

    @property
    def epoch(self) -> int:
        return self.sgd.epoch

    unit = "entries"

    @property
    def work(self) -> int:
        """Draws of an epoch."""
        return self.sgd.sampling.nnz

    @property
    def done(self) -> int:
        """Draws of the epochs so far."""
        return self.sgd.draws

    @property
    def begun(self) -> int:
        """Epochs done, or begun."""
        return -(-self.done // self.work)

    def run_epoch(self, monitor: Monitor) -> dict[str, Any]:
        """The rest of an epoch, and its record; see :meth:`ForestSgd.run_epoch` for errors."""
        return self.sgd.run_epoch(_Within(monitor, self))

    def heldout_error(self) -> float | None:
        """Squared error of the held-out cells relative to their squares; None without such cells."""
        words, contexts, values = self._heldout
        if not len(values):
            return None
        codes, dictionary, lost = self.sgd.codes, self.sgd.dictionary, 0.0
        for lo in range(0, len(values), _CELLS):
            part = slice(lo, lo + _CELLS)
            fitted = np.einsum("ij,ij->i", codes[words[part]], dictionary[contexts[part]])
            lost += float(np.sum((values[part] - fitted) ** 2, dtype=np.float64))
        return lost / float(np.sum(values**2, dtype=np.float64))

    @property
    def components(self) -> np.ndarray:
        """(M, C) float32."""
        return np.ascontiguousarray(self.sgd.dictionary.T)

    def final_codes(self, monitor: Monitor) -> np.ndarray:
        """(n, M) float32, as they stand."""
        return self.sgd.codes

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`restore` takes."""
        state = self.sgd.state()
        return state, {"draws": state.pop("draws")}

    def restore(self, arrays: Mapping[str, np.ndarray], values: Mapping[str, Any]) -> None:
        """Go on from a state of a training with the same arguments; ValueError for what cannot be one."""
        self.sgd.restore({**arrays, "draws": values.get("draws")})


class _Within(Monitor):
    """Passes on what happens within an epoch; its record is given the error of the held-out cells, and left to the caller."""

    def __init__(self, monitor: Monitor, training: SgdCoding) -> None:
        self.monitor, self.training = monitor, training

    @property
    def stopping(self) -> bool:  # type: ignore[override]
        return self.monitor.stopping

    def begin(self, total: int, unit: str) -> None:
        """All epochs have begun together."""

    def advance(self, done: int) -> None:
        self.monitor.advance(done)

    def epoch(self, record: MutableMapping[str, Any]) -> None:
        error = self.training.heldout_error()
        if error is not None:
            record["heldout_error"] = error
