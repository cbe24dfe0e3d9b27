"""Tables of numbers as text: rows of numbers between commas, tabs, semicolons or spaces, with or without a line of names.

The first line that is not blank decides what separates the fields: a tab if there is one, else a semicolon, else a comma, else
spaces. It holds names where one of its fields is not a number. Blank lines are passed over; fields may be quoted as in CSV.
"""

from __future__ import annotations

import contextlib
import csv
import math
import os
from dataclasses import dataclass

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened
from wordkit.formats.text import text_lines
from wordkit.tally import Tally


@dataclass
class NumberTable:
    """``values``: float64 (rows, columns). ``names``: of the columns, or None. ``rows``: which of the file's rows those are,
    from 0, where some were skipped; ``lines``: where they stand. ``total``: rows of the file.
    """

    values: np.ndarray
    names: list[str] | None
    rows: np.ndarray
    lines: np.ndarray
    total: int


def read_number_table(
    path: str | os.PathLike[str] | Input, tally: Tally | None = None, *, columns: int | None = None
) -> NumberTable:
    """A table of finite numbers.

    Args:
        columns: how many there must be, if that is known.

    Raises:
        DataError: no row, a row of another width, a field that is not a finite number.
    """
    tally = Tally() if tally is None else tally
    names: list[str] | None = None
    rows: list[list[float]] = []
    kept: list[int] = []
    places: list[int] = []
    total = 0
    with opened(path) as source:
        width = columns
        first = True
        separator: str | None = None
        for line, text in text_lines(source, tally):
            if not text.strip():
                continue
            if first:
                separator = next((mark for mark in "\t;," if mark in text), None)
            fields = _fields(text, separator)
            if first and any(as_number(field) is None for field in fields) and not _odd(fields):
                names, first = fields, False
                width = len(fields) if width is None else width
                if len(fields) != width:
                    raise DataError(source.name, line, f"{_columns(len(fields))}, {width} expected")
                continue
            first = False
            width = len(fields) if width is None else width
            total += 1
            found = [as_number(field) for field in fields]
            if fault := _fault(fields, found, width):
                tally.invalid(DataError(source.name, line, fault), "row")
                continue
            rows.append([value for value in found if value is not None])
            kept.append(total - 1)
            places.append(line)
        if not rows:
            raise DataError(source.name, None, "holds no row of numbers")
    return NumberTable(np.array(rows), names, np.array(kept), np.array(places), total)


def _fields(line: str, separator: str | None) -> list[str]:
    if separator in (",", ";"):
        with contextlib.suppress(csv.Error):  # a field too long to be quoted text
            return [text.strip() for text in next(csv.reader([line], delimiter=separator))]
    return [text.strip() for text in line.split(separator)]


def as_number(text: str) -> float | None:
    """The number as people write it, nan and infinities too; None for anything else."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def _odd(fields: list[str]) -> bool:
    """Whether a first line that is not all numbers is rather a row with a fault: some numbers and an empty field or two."""
    return any(as_number(field) is not None for field in fields) and any(not field for field in fields)


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def _fault(fields: list[str], found: list[float | None], width: int) -> str | None:
    if len(fields) != width:
        return f"{_columns(len(fields))}, {width} expected"
    for column, (field, value) in enumerate(zip(fields, found, strict=True), 1):
        if value is None and not field:
            return f"column {column} is empty, a number expected"
        if value is None:
            return f"`{field}` is not a number"
        if not math.isfinite(value):
            return f"column {column}: `{field}` is not a finite number"
    return None
