"""Forest files: the parent of node i on line i + 1, as a node's number from 0, or -1 of a root; parents before children."""

from __future__ import annotations

import os
import re

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.opening import Input, open_output, opened
from wordkit.formats.text import text_lines
from wordkit.tally import Tally

_NUMBER = re.compile("-?[0-9]{1,9}")


def read_forest(path: str | os.PathLike[str] | Input) -> np.ndarray:
    """Parents (M,) int32. Every line is a node; one that could not be read would move all others, so none is passed over.

    Raises:
        DataError: an empty file; a line that is not -1 or the number of an earlier node.
    """
    parents: list[int] = []
    with opened(path) as source:
        for number, line in text_lines(source, Tally()):
            text = line.strip()
            if not _NUMBER.fullmatch(text):
                raise DataError(
                    source.name, number, f"`{text:.60}` is not a node", "a parent's number, or -1"
                )
            parent = int(text)
            if not -1 <= parent < len(parents):
                expected = f"-1 to {len(parents) - 1}" if parents else "-1, a root"
                found = f"parent {parent} of node {len(parents)}"
                raise DataError(source.name, number, found, f"{expected} (0 is line 1)")
            parents.append(parent)
    return np.array(parents, dtype=np.int32)


def write_forest(path: str | os.PathLike[str], parents: np.ndarray) -> None:
    """Write the parents (M,) of a forest, whole or not at all."""
    with open_output(path) as out:
        out.write("".join(f"{parent}\n" for parent in parents.tolist()).encode())
