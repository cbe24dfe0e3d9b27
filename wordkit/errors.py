"""What wordkit raises: one family of errors, each a single clear line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

_BREAKS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def one_line(text: str) -> str:
    """The text with control characters and line separators as ``repr`` writes them."""
    return _BREAKS.sub(lambda match: repr(match[0])[1:-1], text)


def times(count: int, what: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{count} {what}{'s' * (count != 1)}"


class WordkitError(Exception):
    """Something that stops the work and that the user can mend; its text is one line, whatever names it holds."""

    def __init__(self, text: str = "") -> None:
        super().__init__(one_line(str(text)))


class DataError(WordkitError):
    """A record that cannot be used.

    Args:
        path: name of the input as the user knows it (``<stdin>`` for standard input).
        line: line number from 1, or None where the fault has no line.
        found: what is wrong.
        expected: what would have been right, or None.
    """

    def __init__(self, path: str, line: int | None, found: str, expected: str | None = None) -> None:
        self.path, self.line, self.found, self.expected = str(path), line, found, expected
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {found}" + (f", expected {expected}" if expected else ""))


@contextlib.contextmanager
def told_of(names: str) -> Iterator[None]:
    """Errors that name no input get these names in front: what is wrong with all that was read, not with one record."""
    try:
        yield
    except (DataError, Interrupted):
        raise
    except WordkitError as error:
        raise WordkitError(f"{names}: {error}") from None


class MissingLibrary(WordkitError):
    """A library that only some of wordkit needs is not installed.

    Args:
        what: the command or option that needs it, with its verb. library: its name in the package index.
        extra: the extra of wordkit that brings it.
    """

    def __init__(self, what: str, library: str, extra: str) -> None:
        super().__init__(f"{what} {library}: pip install {library} (or wordkit with its extra {extra})")


class Interrupted(WordkitError):
    """A fit that stopped at a consistent point because it was asked to; its model can be saved and resumed."""


class DataWarning(UserWarning):
    """Records that were mended or passed over, with their count."""


class ConvergenceWarning(UserWarning):
    """A solver stopped before its tolerance was met."""
