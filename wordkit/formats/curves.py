"""Learning curves as text: TSV of ``epoch metric value seconds``, a line a number; ``plotting/curves.py`` draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wordkit.formats.opening import open_output

COLUMNS = ("epoch", "metric", "value", "seconds")


def write_curves(
    path: str, history: Sequence[Mapping[str, Any]], seconds: Sequence[float], *, digits: int = 8
) -> None:
    """Write every number of every epoch, whole or not at all.

    Args:
        history: a record an epoch, with ``epoch`` and numbers by their names; those that are None are left out.
        seconds: of training until the end of each.
        digits: significant ones of the numbers.

    Raises:
        WordkitError: it cannot be written.
    """
    with open_output(path) as out:
        out.write(("\t".join(COLUMNS) + "\n").encode())
        for record, elapsed in zip(history, seconds, strict=True):
            for name, value in record.items():
                if name != "epoch" and value is not None:
                    out.write(f"{record['epoch']}\t{name}\t{value:.{digits}g}\t{elapsed:.3f}\n".encode())
