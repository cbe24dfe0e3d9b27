"""Twin of the vector kernels: rows of text by one regular expression, numbers by Python's float(), binary
rows by slicing.
"""

from __future__ import annotations

import re

import numpy as np

NUMBER = rb"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER += rb"|[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"


def to_float32(text: bytes) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(float(text))


def split_row(line: bytes, dim: int) -> tuple[bytes, list[bytes]] | None:
    """Word and number fields of a line without its line feed, or None if it is no row of ``dim`` numbers."""
    numbers = rb"[ \t]+".join([NUMBER] * dim)
    match = re.fullmatch(rb"(.+)[ \t](" + numbers + rb")[ \t\r]*", line, re.DOTALL)
    return (match[1], re.split(rb"[ \t]+", match[2])) if match else None


def parse_rows(block: bytes, dim: int) -> tuple[list[bytes], np.ndarray, list[int]]:
    """(words, float32 rows, indices of the lines that are neither rows nor blank)."""
    words, rows, bad = [], [], []
    for index, line in enumerate(block.split(b"\n")[:-1]):
        row = split_row(line, dim)
        if row is not None:
            words.append(row[0])
            rows.append([to_float32(field) for field in row[1]])
        elif line.strip(b" \t\r"):
            bad.append(index)
    return words, np.array(rows, dtype=np.float32).reshape(len(rows), dim), bad


def copy_rows(data: bytes, dim: int) -> tuple[list[bytes], np.ndarray]:
    """All whole binary rows."""
    words, rows = [], []
    while True:
        word, space, rest = data.lstrip(b"\n").partition(b" ")
        if not space or len(rest) < 4 * dim:
            return words, np.array(rows, dtype=np.float32).reshape(len(rows), dim)
        words.append(word)
        rows.append(np.frombuffer(rest[: 4 * dim], dtype="<f4"))
        data = rest[4 * dim :]
