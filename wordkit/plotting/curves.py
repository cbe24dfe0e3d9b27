"""Learning curves: metrics against epochs or seconds, from the TSV ``epoch metric value seconds`` that experiments write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wordkit.errors import DataError, WordkitError
from wordkit.formats.curves import COLUMNS
from wordkit.formats.opening import Input
from wordkit.formats.text import text_lines
from wordkit.plotting.figure import new_figure, save_figure
from wordkit.tally import Tally


class CurvePoint(NamedTuple):
    """One value of a metric."""

    epoch: float
    metric: str
    value: float
    seconds: float


def read_curves(path: str | os.PathLike[str]) -> dict[str, list[CurvePoint]]:
    """Points of a curves file, in its order, by what its columns beside the four say (`` `` where there are none).

    Raises:
        DataError: no header with the four columns, or a line that does not fit it.
    """
    with Input(path) as source:
        lines = text_lines(source, Tally())
        _, first = next(lines)  # an empty input is an error
        header = first.split("\t")
        if not set(COLUMNS) <= set(header):
            raise DataError(source.name, 1, "no header of curves", ", ".join(COLUMNS))
        curves: dict[str, list[CurvePoint]] = {}
        for number, line in lines:
            fields = dict(zip(header, line.split("\t"), strict=False))
            try:
                epoch, value, seconds = (float(fields[name]) for name in ("epoch", "value", "seconds"))
                point = CurvePoint(epoch, fields["metric"], value, seconds)
            except (KeyError, ValueError):
                raise DataError(source.name, number, "no point of a curve", "numbers between tabs") from None
            name = " ".join(value for key, value in fields.items() if key not in COLUMNS)
            curves.setdefault(name, []).append(point)
    return curves


def curves_figure(
    curves: Mapping[str, Sequence[CurvePoint]],
    metric: str,
    path: str | os.PathLike[str],
    *,
    against: str = "epoch",
) -> list[str]:
    """Draw one metric of all curves against their epochs or seconds; returns the names of those without it.

    Raises:
        WordkitError: no curve has the metric.
    """
    if not any(point.metric == metric for points in curves.values() for point in points):
        known = sorted({point.metric for points in curves.values() for point in points})
        raise WordkitError(
            f"no curve has the metric {metric!r}; there are {', '.join(known) or 'none'} (--metric)"
        )
    figure, (axes,) = new_figure(7, 4.5)
    lacking = []
    for name, points in curves.items():
        own = [point for point in points if point.metric == metric]
        if not own:
            lacking.append(name)
        else:
            axes.plot(
                [getattr(point, against) for point in own],
                [point.value for point in own],
                marker=".",
                linewidth=1,
                label=name,
            )
    axes.set(xlabel=against, ylabel=metric.replace("_", " "))
    if len(curves) > 1:
        axes.legend(fontsize="small")
    save_figure(figure, path)
    return lacking
