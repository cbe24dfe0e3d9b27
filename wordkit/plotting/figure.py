"""Figures that are files: no display is asked for, whatever the environment says of one."""

from __future__ import annotations

import os
from typing import Any

from wordkit.errors import WordkitError
from wordkit.formats.opening import open_output, uncompressed_suffix

FORMATS = (".png", ".pdf", ".svg")


def new_figure(width: float, height: float, columns: int = 1) -> tuple[Any, list[Any]]:
    """A figure of so many inches, and its axes side by side.

    Raises:
        WordkitError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise WordkitError("figures need the extra: pip install 'wordkit[plot]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def check_figure(path: str | os.PathLike[str]) -> str:
    """The format that a path's suffix names.

    Raises:
        WordkitError: it names none.
    """
    suffix = uncompressed_suffix(path)
    if suffix not in FORMATS:
        raise WordkitError(
            f"{os.fspath(path)}: a figure ends in {', '.join(FORMATS)}, not in {suffix or 'nothing'}"
        )
    return suffix[1:]


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure whole or not at all, in the format of the suffix.

    Raises:
        WordkitError: the suffix names no format, or the path cannot be written.
    """
    form = check_figure(path)
    with open_output(path) as out:
        figure.savefig(out, format=form, dpi=150)
