"""What a regression leaves as text: coefficients, and the path of coefficients over lambda, both as TSV with a header."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.number_table import as_number
from wordkit.formats.opening import Input, open_output
from wordkit.formats.text import text_lines
from wordkit.tally import Tally

INTERCEPT = "(intercept)"
PATH_COLUMNS = ("lam", "objective", "gap", "selected", INTERCEPT)


@dataclass
class PathTable:
    """``lams``: (m,). ``coefficients``: (m, p). ``names``: of the p columns."""

    lams: np.ndarray
    coefficients: np.ndarray
    names: list[str]


def plain(name: str) -> str:
    """A name as a field of a TSV."""
    return name.translate({9: " ", 10: " ", 13: " "})


def write_coefficients(
    path: str | os.PathLike[str],
    names: Sequence[str],
    values: np.ndarray,
    selected: np.ndarray,
    intercept: float | None,
) -> None:
    """``name<TAB>value<TAB>selected`` a column, selected 1 or 0; the intercept, if there is one, comes last."""
    with open_output(path) as out:
        out.write(b"name\tvalue\tselected\n")
        for name, value, chosen in zip(names, values.tolist(), selected.tolist(), strict=True):
            out.write(f"{plain(name)}\t{value!r}\t{int(chosen)}\n".encode())
        if intercept is not None:
            out.write(f"{INTERCEPT}\t{intercept!r}\t1\n".encode())


def write_path(
    path: str | os.PathLike[str], names: Sequence[str], lams: np.ndarray, objectives: np.ndarray, gaps: np.ndarray,
    selected: np.ndarray, intercepts: np.ndarray, coefficients: np.ndarray,
) -> None:  # fmt: skip
    """A line a lambda: PATH_COLUMNS, then the coefficient of each column."""
    with open_output(path) as out:
        out.write(("\t".join([*PATH_COLUMNS, *map(plain, names)]) + "\n").encode())
        numbers = zip(lams, objectives, gaps, selected, intercepts, coefficients, strict=True)
        for lam, objective, gap, count, intercept, row in numbers:
            fields = [
                repr(float(lam)),
                f"{objective:.10g}",
                f"{gap:.3g}",
                str(int(count)),
                repr(float(intercept)),
            ]
            out.write(("\t".join([*fields, *(repr(value) for value in row.tolist())]) + "\n").encode())


def read_path(path: str | os.PathLike[str]) -> PathTable:
    """Read what :func:`write_path` wrote.

    Raises:
        DataError: another header, a line of another width, a field that is not a finite number, a lambda below 0.
    """
    names: list[str] | None = None
    rows: list[list[float]] = []
    with Input(path) as source:
        for number, line in text_lines(source, Tally()):
            fields = line.split("\t")
            if names is None:
                width = len(PATH_COLUMNS)
                if tuple(fields[:width]) != PATH_COLUMNS or len(fields) == width:
                    raise DataError(
                        source.name, number, "no header of a path", "what trace-lasso --path writes"
                    )
                names = fields
                continue
            if len(fields) != len(names):
                raise DataError(source.name, number, f"{len(fields)} fields", str(len(names)))
            rows.append([_finite(text, source.name, number) for text in fields])
            if rows[-1][0] < 0:
                raise DataError(source.name, number, f"lambda {fields[0]}", "0 or a number above")
        if names is None or not rows:
            raise DataError(source.name, None, "holds no line of a path")
    values = np.array(rows)
    width = len(PATH_COLUMNS)
    return PathTable(values[:, 0], values[:, width:], names[width:])


def _finite(text: str, name: str, line: int) -> float:
    value = as_number(text)
    if value is None or not math.isfinite(value):
        raise DataError(name, line, f"`{text}` is not a finite number")
    return value
