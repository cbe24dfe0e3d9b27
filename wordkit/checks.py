"""Checks of what a file claims about itself: arrays and JSON values of the kind, shape and range that a model needs.

All of them raise ValueError with the name of what is wrong; whoever reads the file adds its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def array_of(
    arrays: Mapping[str, np.ndarray],
    name: str,
    dtype: type | str | np.dtype[Any],
    shape: tuple[int | None, ...],
) -> np.ndarray:
    """The array ``name``, C-contiguous; its type must be ``dtype`` and its shape fit (None: any length)."""
    if name not in arrays:
        raise ValueError(f"{name} is missing")
    array = np.asarray(arrays[name])
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=False))
    if array.dtype != np.dtype(dtype) or not fits:
        raise ValueError(f"{name} is {array.dtype} {array.shape}, expected {np.dtype(dtype)} {shape}")
    return np.ascontiguousarray(array)


def value_of(values: Any, name: str, kind: type, low: float | None = None, high: float | None = None) -> Any:
    """The JSON value ``name`` of an object; it must be of type ``kind`` and lie within ``low`` and ``high``."""
    if not isinstance(values, Mapping) or name not in values:
        raise ValueError(f"{name} is missing")
    value: Any = values[name]
    right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not right:
        raise ValueError(f"{name} is {value!r:.60}, expected {kind.__name__}")
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise ValueError(f"{name} is {value!r}, expected a value from {low} to {high}")
    return value


def records_of(values: Any, name: str) -> list[dict[str, Any]]:
    """The JSON value ``name`` of an object, which must be a list of objects."""
    records: list[dict[str, Any]] = value_of(values, name, list)
    require(all(isinstance(record, dict) for record in records), f"{name} is not a list of records")
    return records


def require(condition: bool, what: str) -> None:
    """ValueError unless the condition holds."""
    if not condition:
        raise ValueError(what)
