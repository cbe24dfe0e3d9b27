"""Counts what readers mend or pass over, so that nothing is dropped in silence.

A reader gets a :class:`Tally` and tells it of every odd record. The policy (are bad records errors, are
warnings errors) is the tally's, not the reader's.
"""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Callable, Iterator

from wordkit.errors import DataError, DataWarning

# An error, or what makes it: called only where the error is raised or kept, as the first of its kind.
Fault = DataError | Callable[[], DataError]


def made(fault: Fault) -> DataError:
    """The error itself."""
    return fault if isinstance(fault, DataError) else fault()


class Tally:
    """Policy and counter for odd records.

    Args:
        skip_invalid: bad records are counted and passed over instead of raised.
        strict: warnings are raised as errors.

    ``counts`` maps a kind ("duplicate word") to how often it was seen, ``first`` to its first error.
    """

    def __init__(self, *, skip_invalid: bool = False, strict: bool = False) -> None:
        self.skip_invalid, self.strict = skip_invalid, strict
        self.counts: dict[str, int] = {}
        self.first: dict[str, DataError] = {}

    def _count(self, kind: str, fault: Fault, times: int) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + times
        if kind not in self.first:
            self.first[kind] = made(fault)

    def invalid(self, fault: Fault, kind: str = "invalid record") -> None:
        """A record that cannot be used: raised, or counted and passed over with ``skip_invalid``."""
        if not self.skip_invalid:
            raise made(fault)
        self._count(kind + " skipped", fault, 1)

    def warn(self, kind: str, fault: Fault, times: int = 1) -> None:
        """Something mended that the user should know of: counted, or raised with ``strict``."""
        if self.strict:
            raise made(fault)
        self._count(kind, fault, times)

    def lines(self) -> Iterator[str]:
        """One line a kind: how often, and where it was seen first."""
        for kind, count in self.counts.items():
            yield f"{self.first[kind]} ({count} x {kind})" if count > 1 else f"{self.first[kind]} ({kind})"

    def emit(self) -> None:
        """Issue what was counted as Python warnings, once a kind; for use as a library."""
        for line in self.lines():
            warnings.warn(line, DataWarning, stacklevel=3)


class LinesPassedOver(Tally):
    """Tells another tally, and notes the lines of the records that it passes over: :meth:`take` has the new ones."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(skip_invalid=tally.skip_invalid, strict=tally.strict)
        self._told, self._lines = tally, array("q")

    def invalid(self, fault: Fault, kind: str = "invalid record") -> None:
        error = made(fault)
        self._told.invalid(error, kind)
        if error.line is not None:
            self._lines.append(error.line)

    def warn(self, kind: str, fault: Fault, times: int = 1) -> None:
        self._told.warn(kind, fault, times)

    def take(self) -> array[int]:
        """The lines noted since it was last called."""
        lines, self._lines = self._lines, array("q")
        return lines
