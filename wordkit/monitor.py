"""How a fit tells what it does, and how it is asked to stop: one replaceable object.

Models call the three methods of :class:`Monitor`; the command line's monitor draws progress and writes logs, a test's keeps
what it was told.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any


class Monitor:
    """Silent monitor, and the base of the others.

    ``stopping`` may be set at any time, from a signal handler too: a fit looks at it between two kernel calls, leaves its
    state consistent and raises :class:`wordkit.errors.Interrupted`.
    """

    stopping = False

    def begin(self, total: int, unit: str) -> None:
        """A phase of ``total`` units of work begins; 0: nobody knows how many."""

    def advance(self, done: int) -> None:
        """``done`` more units are done."""

    def epoch(self, record: MutableMapping[str, Any]) -> None:
        """An epoch has ended; ``record`` holds ``epoch`` and its numbers, and may be given more: it becomes the history."""
