"""Lines of fields: what the readers of small tables (pairs, categories, phrases) share.

The first line that counts decides what separates the fields: a tab if there is one, else a comma if there are enough of
them, else spaces. Between commas, fields may be quoted as in CSV.
"""

from __future__ import annotations

import contextlib
import csv
import math
from collections.abc import Iterator

from wordkit.formats.opening import Input
from wordkit.formats.text import text_lines
from wordkit.tally import Tally


def filled_lines(source: Input, tally: Tally) -> Iterator[tuple[int, str]]:
    """Numbers and texts of the lines that are not blank."""
    for number, line in text_lines(source, tally):
        if line.strip():
            yield number, line


def separator_of(line: str, least_commas: int = 1) -> str | None:
    """What separates the fields of files that begin with this line; None: spaces."""
    return "\t" if "\t" in line else "," if line.count(",") >= least_commas else None


def split_fields(line: str, separator: str | None) -> list[str]:
    """The fields of a line, without the spaces around them."""
    if separator == ",":
        with contextlib.suppress(csv.Error):  # a field too long to be quoted text
            return [text.strip() for text in next(csv.reader([line]))]
    return [text.strip() for text in line.split(separator)]


def separated_rows(source: Input, tally: Tally, *, least_commas: int = 1) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of the lines that are neither blank nor, before the first other one, begin with ``#``."""
    separator: str | None = ""
    for number, line in filled_lines(source, tally):
        if separator == "":
            if line.startswith("#"):
                continue
            separator = separator_of(line, least_commas)
        yield number, split_fields(line, separator)


def columns_found(count: int) -> str:
    """How an error says how many fields a line has."""
    return f"{count} column{'s' * (count != 1)}"


def finite_number(text: str) -> float | None:
    """The number, if it is a finite one as people write it."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
