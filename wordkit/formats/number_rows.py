"""Lines of numbers as text, whatever the format: the kernel's work and what it leaves to Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

import numpy as np

_BUFFER_BYTES = 1 << 20
# fill(row, at, buffer): lines from ``row`` on, whose head is at byte ``at``; (the first row not written, its head's
# place, bytes of the buffer filled).
Fill = Callable[[int, int, np.ndarray], tuple[int, int, int]]


def write_rows(
    out: BinaryIO, heads: bytes, rows: int, longest: int, fill: Fill, by_python: Callable[[int], bytes]
) -> None:
    """Write a line a row: its head, then its numbers.

    Args:
        heads: what each line begins with, a line feed after each.
        longest: the most bytes that a row's numbers can take.
        fill: a door of ``format_floats``, which stops before a row with a number too small or too great for it.
        by_python: the text of such a row's numbers, a space before each.
    """
    # Room for any head beside the longest row: each call of ``fill`` writes at least a row, or stops for its numbers.
    buffer = np.empty(max(len(heads) + longest + 1, _BUFFER_BYTES), dtype=np.uint8)
    row = at = 0
    while row < rows:
        following, at, used = fill(row, at, buffer)
        if used:
            out.write(buffer[:used].data)
        if following == row:
            end = heads.index(b"\n", at)
            out.write(heads[at:end] + by_python(row) + b"\n")
            following, at = row + 1, end + 1
        row = following
