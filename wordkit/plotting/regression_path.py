"""Regularization paths: every coefficient against lambda (Figure 7.1 of Grave's thesis), from what ``trace-lasso --path``
writes."""

from __future__ import annotations

import os

import numpy as np

from wordkit.errors import WordkitError
from wordkit.formats.regression_files import PathTable
from wordkit.plotting.figure import new_figure, save_figure

_LARGEST = 1e100
_NAMED = 12  # curves with a name beside them: those that end farthest from 0
_COLORS = ("C0", "C1", "C2", "C3", "C4", "C5", "C6", "C8", "C9", "black", "darkgreen", "navy")  # C7 is grey
_LABEL = 0.038  # height of a name, as a share of that of the axes


def path_figure(table: PathTable, path: str | os.PathLike[str], *, title: str = "") -> str:
    """Draw the coefficients over lambda, falling to the right on a logarithmic scale.

    The curves that end farthest from 0 have colours of their own, and their names beside their ends; the others are grey.

    Returns:
        As :func:`wordkit.plotting.figure.save_figure`.

    Raises:
        WordkitError: coefficients that are too large, no lambda above 0; as ``save_figure``.
    """
    if np.abs(table.coefficients).max() > _LARGEST:
        raise WordkitError(f"coefficients beyond {_LARGEST:g} cannot be drawn")
    if not (table.lams > 0).any():
        raise WordkitError("no lambda is above 0: there is nothing to draw")
    figure, (axes,) = new_figure(7, 4.5)
    positive = table.lams > 0  # the others have no place on a logarithmic scale
    lams, coefficients = table.lams[positive], table.coefficients[positive]
    last = coefficients[np.argmin(lams)] if len(lams) else np.zeros(len(table.names))
    named = [int(column) for column in np.argsort(-np.abs(last), kind="stable")[:_NAMED] if last[column] != 0]
    others = np.ones(len(table.names), dtype=bool)
    others[named] = False
    if others.any():
        axes.plot(lams, coefficients[:, others], color="0.75", linewidth=0.7)
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.set_xscale("log")
    if len(np.unique(lams)) > 1:
        axes.invert_xaxis()
    axes.set(xlabel="lambda", ylabel="coefficient")
    axes.set_title(title, parse_math=False)
    for column, color in zip(named, _COLORS, strict=False):
        axes.plot(lams, coefficients[:, column], color=color, linewidth=1.1)
    if named:
        low, high = axes.get_ylim()
        shares = (last[named] - low) / (high - low)
        for column, color, share, height in zip(named, _COLORS, shares, spread(shares, _LABEL), strict=False):
            axes.annotate(
                table.names[column], (1, share), xycoords="axes fraction", xytext=(1.03, height), textcoords="axes fraction",
                color=color, fontsize="x-small", va="center", parse_math=False,
                arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
    return save_figure(figure, path)


def spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """Heights as near to these as can be (in squares), in the same order, none nearer to the next than ``gap``."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    pools: list[list[float]] = []  # mean and size of neighbours that have run into each other
    for height in (heights[order] - steps).tolist():
        pools.append([height, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, of_one), (two, of_two) = pools[-2:]
            pools[-2:] = [[(one * of_one + two * of_two) / (of_one + of_two), of_one + of_two]]
    placed = np.empty(len(heights))
    placed[order] = np.repeat([mean for mean, _ in pools], [int(size) for _, size in pools]) + steps
    return placed
