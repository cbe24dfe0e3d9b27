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


def path_figure(table: PathTable, path: str | os.PathLike[str], *, title: str = "") -> str:
    """Draw the coefficients over lambda, falling to the right on a logarithmic scale.

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
    axes.plot(lams, coefficients, linewidth=0.9)
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.set_xscale("log")
    if len(np.unique(lams)) > 1:
        axes.invert_xaxis()
    axes.set(xlabel="lambda", ylabel="coefficient")
    axes.set_title(title, parse_math=False)
    if len(lams):
        last = coefficients[np.argmin(lams)]
        for column in np.argsort(-np.abs(last), kind="stable")[:_NAMED]:
            if last[column] != 0:
                axes.annotate(
                    table.names[column], (lams.min(), last[column]), xytext=(4, 0), textcoords="offset points",
                    fontsize="x-small", va="center", parse_math=False,
                )  # fmt: skip
    return save_figure(figure, path)
