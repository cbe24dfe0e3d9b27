"""Results of evaluations as ``--json`` prints them, for figures."""

from __future__ import annotations

import json
import os
from typing import Any

from wordkit.errors import DataError
from wordkit.formats.opening import Input


def read_results(path: str | os.PathLike[str], command: str) -> list[dict[str, Any]]:
    """The results of one call, an object a data set, each with ``data``.

    Args:
        command: whose they are, for example ``evaluate bless``.

    Raises:
        DataError: no JSON, or a result of another command.
    """
    with Input(path) as source:
        expected = f"a result of wordkit {command} --json"
        try:
            found = json.loads(source.read().decode("utf-8"))
        except (ValueError, RecursionError):  # UnicodeDecodeError is one of the first
            raise DataError(source.name, None, "is not JSON", expected) from None
        if not isinstance(found, dict) or not isinstance(found.get("results"), list) or not found["results"]:
            raise DataError(source.name, None, "holds no results", expected)
        if found.get("command") != command:
            what = f"is a result of {str(found.get('command'))[:60]}"
            raise DataError(source.name, None, what, expected)
        results = found["results"]
        if not all(isinstance(result, dict) and isinstance(result.get("data"), str) for result in results):
            raise DataError(source.name, None, "holds no results", expected)
    return results
