"""Curves of the dcme experiment: a file a data set, in which a run is made once; what its tables ask of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

from wordkit.monitor import Monitor
from wordkit.plotting.curves import CurvePoint, read_curves

HEADER = "method\tepoch\tmetric\tvalue\tseconds\n"
Scores = dict[str, float]


class Watch(Monitor):
    """Keeps the scores of each epoch and the processor time of the training alone: the scoring stops the clock.

    Args:
        score: what is asked after an epoch; it is given whether it is the last.
        epochs: of the training.
    """

    def __init__(self, score: Callable[[bool], Scores], epochs: int) -> None:
        self._score, self._epochs = score, epochs
        self._spent, self._started = 0.0, time.process_time()
        self.points: list[CurvePoint] = []

    def epoch(self, record: MutableMapping[str, Any]) -> None:
        self._spent += time.process_time() - self._started
        epoch = int(record["epoch"])
        for metric, value in self._score(epoch == self._epochs).items():
            self.points.append(CurvePoint(epoch, metric, value, self._spent))
        self._started = time.process_time()


class Rows:
    """The curves ``NAME.tsv`` of a folder."""

    def __init__(self, output: Path) -> None:
        self.output = output
        output.mkdir(parents=True, exist_ok=True)

    def path(self, data: str) -> Path:
        return self.output / f"{data}.tsv"

    def curves(self, data: str) -> dict[str, list[CurvePoint]]:
        """Points of each method there is."""
        return dict(read_curves(self.path(data))) if self.path(data).exists() else {}

    def run(self, data: str, method: str, train: Callable[[], list[CurvePoint]]) -> list[CurvePoint]:
        """The points of a method, trained if they are not there."""
        there = self.curves(data)
        if method in there:
            return there[method]
        points = train()
        if not points:  # it has run away in its first epoch
            return points
        path = self.path(data)
        text = path.read_text(encoding="utf-8") if path.exists() else HEADER
        lines = "".join(
            f"{method}\t{p.epoch:g}\t{p.metric}\t{p.value:.6g}\t{p.seconds:.3f}\n" for p in points
        )
        waiting = path.with_suffix(".part")
        waiting.write_text(text + lines, encoding="utf-8")
        waiting.replace(path)
        last = ", ".join(f"{p.metric} {p.value:.4f}" for p in points if p.epoch == points[-1].epoch)
        print(f"{data}: {method}: {last}, {points[-1].seconds:.1f} s", flush=True)
        return points


def of_metric(points: list[CurvePoint], metric: str) -> list[CurvePoint]:
    return [point for point in points if point.metric == metric]


def last(points: list[CurvePoint], metric: str) -> float:
    """The value after the last epoch; NaN if there is none."""
    own = of_metric(points, metric)
    return own[-1].value if own else float("nan")


def an_epoch(points: list[CurvePoint]) -> float:
    """Seconds."""
    return points[-1].seconds / points[-1].epoch


def best(curves: dict[str, list[CurvePoint]], family: str, metric: str) -> str:
    """Of the runs ``family`` and ``family, rate R`` the one that ends highest."""
    own = [
        name
        for name in curves
        if name == family or (name.startswith(f"{family}, rate ") and "," not in name[len(family) + 1 :])
    ]
    return max(own, key=lambda name: last(curves[name], metric))


def curve_table(curves: dict[str, list[CurvePoint]], metric: str, form: str = ".3f") -> Iterator[str]:
    """Markdown: a method a line, its value after each epoch and the seconds of one."""
    most = int(max(point.epoch for points in curves.values() for point in points))
    yield f"| | {' | '.join(f'epoch {epoch}' for epoch in range(1, most + 1))} | s an epoch |\n|---|{'---|' * (most + 1)}"
    for name, points in curves.items():
        own = {int(point.epoch): point.value for point in of_metric(points, metric)}
        cells = [format(own[epoch], form) if epoch in own else "" for epoch in range(1, most + 1)]
        yield f"| {name} | {' | '.join(cells)} | {an_epoch(points):.2f} |"
