"""The record that every evaluation returns, so that all of them print, compare and average alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """The items that a metric is computed from, for intervals and comparisons.

    Attributes:
        items: int64 (n,), their numbers in the data set, ascending.
        values: float64 (n,), what the metric is the mean of, or correlates with ``gold``, or the sum of what it divides.
        gold: float64 (n,) where it is a correlation; of a ratio what ``values`` are of, whose sum it divides by.
        statistic: ``mean``, ``spearman``, ``pearson`` or ``ratio``.
    """

    items: np.ndarray
    values: np.ndarray
    gold: np.ndarray | None = None
    statistic: str = "mean"

    @classmethod
    def of_mean(cls, values: np.ndarray) -> Sample:
        """The items of a mean over the values (total,) that are not nan."""
        items = np.flatnonzero(~np.isnan(values))
        return cls(items, values[items].astype(np.float64))

    @classmethod
    def of_ratio(cls, parts: np.ndarray, wholes: np.ndarray) -> Sample:
        """The items (sentences) of a metric that is the sum of their parts (n,) by the sum of their wholes (n,)."""
        return cls(np.arange(len(parts)), parts.astype(np.float64), wholes.astype(np.float64), "ratio")


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
        extras: what options asked for beside the metrics (intervals, a comparison), as JSON values.
        series: long lists that figures are drawn from, for JSON alone.
        samples: the items behind those metrics that can be compared, never printed.
    """

    name: str
    data: str
    metrics: Mapping[str, float | None]
    covered: int
    total: int
    details: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)
    samples: Mapping[str, Sample] = field(default_factory=dict, repr=False, compare=False)

    def completed(self, *, covered: int, details: Mapping[str, Any], parameters: Mapping[str, Any]) -> Result:
        """With the coverage, more details and the parameters."""
        return replace(
            self,
            covered=covered,
            details={**self.details, **details},
            parameters={**self.parameters, **parameters},
        )

    def beside(self) -> dict[str, Any]:
        """What JSON has beside metrics and counts."""
        return {**self.extras, **self.details, **self.series}

    def as_dict(self) -> dict[str, Any]:
        """All of it as one flat JSON object."""
        return {
            **self.metrics,
            **self.beside(),
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
