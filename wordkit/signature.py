"""The signature of a run: what produced a result, in one ordered line that can be compared and searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wordkit import __version__


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("|", "/")


def signature(command: str, parameters: Mapping[str, Any], inputs: Iterable[Mapping[str, Any]] = ()) -> str:
    """``command:train-rpa|C:1|...|data:0f3a...|version:0.1.0``.

    Args:
        parameters: every parameter that changes the result, in the order to print; None values are left out.
        inputs: records of the inputs (:meth:`wordkit.formats.opening.Input.record`).
    """
    pairs = [("command", command), *((key, value) for key, value in parameters.items() if value is not None)]
    pairs += [("data", (record["sha256"] or "unread")[:12]) for record in inputs]
    pairs.append(("version", __version__))
    return "|".join(f"{key}:{_value(value)}" for key, value in pairs)
