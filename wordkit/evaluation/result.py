"""The record that every evaluation returns, so that all of them print, compare and average alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Result:
    """Numbers of one evaluation on one data set.

    Attributes:
        name: the evaluation, for example ``classification``.
        data: the input as the user named it.
        metrics: headline numbers by snake_case name; None where undefined (nothing could be scored).
        covered, total: items that the model knows something of, and all items.
        details: tables beside the headline (per class, confusion), as JSON values.
        parameters: what the numbers depend on beside model and data.
    """

    name: str
    data: str
    metrics: Mapping[str, float | None]
    covered: int
    total: int
    details: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """All of it as one flat JSON object."""
        return {
            **self.metrics,
            **self.details,
            "covered": self.covered,
            "total": self.total,
            "data": self.data,
            **({"parameters": dict(self.parameters)} if self.parameters else {}),
        }


def mean_metrics(results: Sequence[Result]) -> dict[str, float | None]:
    """Unweighted mean of each metric over data sets; None where none of them defines it."""
    means: dict[str, float | None] = {}
    for name in dict.fromkeys(name for result in results for name in result.metrics):
        values = [value for result in results if (value := result.metrics.get(name)) is not None]
        means[name] = values[0] if len(values) == 1 else sum(values) / len(values) if values else None
    return means
