"""Figures that are files: no display is asked for, whatever the environment says of one."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

from wordkit.errors import MissingLibrary, WordkitError
from wordkit.formats.opening import open_output, uncompressed_suffix

FORMATS = (".png", ".pdf", ".svg")


def new_figure(width: float, height: float, columns: int = 1) -> tuple[Any, list[Any]]:
    """A figure of so many inches, and its axes side by side.

    Raises:
        WordkitError: matplotlib is not installed.
    """
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def check_figure(path: str | os.PathLike[str]) -> str:
    """The format that a path's suffix names, asked for before the work that the figure shows.

    Raises:
        WordkitError: it names none; matplotlib is not installed.
    """
    suffix = uncompressed_suffix(path)
    if suffix not in FORMATS:
        raise WordkitError(
            f"{os.fspath(path)}: a figure ends in {', '.join(FORMATS)}, not in {suffix or 'nothing'}"
        )
    _matplotlib()
    return suffix[1:]


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise MissingLibrary("figures need", "matplotlib", "plot") from None
    return matplotlib


def save_figure(figure: Any, path: str | os.PathLike[str]) -> str:
    """Write a figure whole or not at all, in the format of the suffix; the same figure gives the same bytes.

    Returns:
        The characters that the font has no glyph for, each once; boxes stand for them.

    Raises:
        WordkitError: the suffix names no format, or the path cannot be written.
    """
    form = check_figure(path)
    undated = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[form]
    with (
        _matplotlib().rc_context({"svg.hashsalt": "wordkit"}),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        with open_output(path) as out:
            figure.savefig(out, format=form, dpi=150, metadata=undated)
    missing: dict[str, None] = {}
    for warning in caught:
        if found := re.match(r"Glyph (\d+) .*missing from", str(warning.message)):
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return "".join(missing)
