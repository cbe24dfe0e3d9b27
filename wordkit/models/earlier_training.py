"""What is said where an option contradicts the training that a checkpoint or a model comes from."""

from __future__ import annotations

from typing import Any

from wordkit.errors import WordkitError

_NEGATED = {"shuffle": "--no-shuffle"}  # flags whose Python name is of the contrary


def spelled(name: str, value: Any) -> str:
    """An option as it stands on the command line."""
    option = _NEGATED.get(name, f"--{name.replace('_', '-')}")
    return option if isinstance(value, bool) else f"{option} {value}"


def contradiction(name: str, value: Any, known: Any, path: str = "", way: str = "") -> WordkitError:
    """The error: ``value`` is the user's, ``known`` what the earlier training had.

    Args:
        path: the file of the earlier training.
        way: another way to what the user wants.
    """
    other = "no such option" if known is None or isinstance(known, bool) else spelled(name, known)
    return WordkitError(
        f"{path and f'{path}: '}{spelled(name, value)} contradicts the earlier training, which had {other}: leave it out to go "
        f"on, or {way or 'begin anew'}"
    )
