"""Chooses C, lambda and the number of epochs of RPA on held-out data (section 5.4 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.errors import Interrupted
from wordkit.models.base import as_rows
from wordkit.models.cross_validation import grid_points
from wordkit.models.rpa import RPAClassifier
from wordkit.monitor import Monitor
from wordkit.parallel import map_blocks

PAPER_GRID: dict[str, tuple[Any, ...]] = {
    "C": tuple(10.0**k for k in (-6, -4, -2, 0, 2, 4, 6)),
    "lam": tuple(10.0**k for k in (-3, -2, -1, 0, 1, 2, 3)),
    "epochs": (1, 5, 10),
}


@dataclass(frozen=True)
class GridPoint:
    """Accuracy of one combination on each split."""

    C: float
    lam: float
    epochs: int
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.accuracies))

    @property
    def std(self) -> float:
        return float(np.std(self.accuracies))


class _Scorer(Monitor):
    """Scores a model on held-out rows at some epochs of its one fit; stops when the search is asked to."""

    def __init__(self, parent: Monitor, epochs: Sequence[int], rows: Any, labels: np.ndarray) -> None:
        self.parent, self.epochs, self.rows, self.labels = parent, epochs, rows, labels
        self.model: RPAClassifier | None = None
        self.accuracy: dict[int, float] = {}

    @property
    def stopping(self) -> bool:  # type: ignore[override]
        return self.parent.stopping

    def epoch(self, record: MutableMapping[str, Any]) -> None:
        if record["epoch"] in self.epochs and self.model is not None:
            self.accuracy[record["epoch"]] = self.model.score(self.rows, self.labels)


def search(
    model: RPAClassifier, rows: scipy.sparse.csr_array, labels: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]],
    grid: Mapping[str, Sequence[Any]], *, threads: int = 1, monitor: Monitor | None = None,
) -> list[GridPoint]:  # fmt: skip
    """Accuracy of every grid point, best first.

    One fit serves all numbers of epochs. Ties go to fewer epochs, then to the smaller C, then to the larger lambda: the point
    that moves least. Splits and points run side by side; the result does not depend on ``threads``.

    Args:
        model: gives the parameters that the grid does not name.
        splits: (training rows, held-out rows) as index arrays.
        grid: values of ``C``, ``lam`` and ``epochs``; ``lam`` counts once where nothing is re-embedded.
    """
    monitor = monitor or Monitor()
    rows = as_rows(rows)  # in order once, so that no fit has to put its part in order
    defaults = {"C": model.C_, "lam": model.lam, "epochs": model.epochs}
    grid = {name: tuple(grid.get(name, (value,))) for name, value in defaults.items()}
    if model.algorithm != "rpa":
        grid["lam"] = grid["lam"][:1]
    epochs = sorted({int(n) for n in grid.pop("epochs")})
    points = grid_points(grid)
    tasks = [(point, split) for point in range(len(points)) for split in range(len(splits))]
    monitor.begin(len(tasks), "fits")

    def fit(task: tuple[int, int]) -> dict[int, float]:
        if monitor.stopping:
            raise Interrupted("interrupted in the grid search")
        train, held_out = splits[task[1]]
        scorer = _Scorer(monitor, epochs, rows[held_out], labels[held_out])
        parameters = {**model.get_params(), **points[task[0]], "epochs": epochs[-1], "threads": 1}
        scorer.model = type(model)(**parameters)
        try:
            scorer.model.fit(rows[train], labels[train], monitor=scorer)
        except Interrupted:
            raise Interrupted("interrupted in the grid search") from None
        monitor.advance(1)
        return scorer.accuracy

    accuracy = dict(zip(tasks, map_blocks(fit, tasks, threads), strict=True))
    results = [
        GridPoint(point["C"], point["lam"], n, tuple(accuracy[i, s][n] for s in range(len(splits))))
        for i, point in enumerate(points)
        for n in epochs
    ]
    return sorted(results, key=lambda p: (-p.mean, p.epochs, p.C, -p.lam))
