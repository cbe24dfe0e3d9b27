"""How sure a number of an evaluation is: bootstrap intervals, and whether two vector files differ on the same items.

Both work on the items behind a metric (:class:`wordkit.evaluation.result.Sample`) and take the resampling from SciPy. What an
evaluation computes from all items together before it scores each one (a clustering, a trained classifier) is held fixed.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from wordkit import rng
from wordkit.evaluation.result import Result, Sample

RESAMPLES = 2000  # of the items for an interval
PERMUTATIONS = 9999
LEVEL = 0.95
_MOST_NUMBERS = 1 << 22  # that are drawn at once


def interval(sample: Sample, *, seed: int = 1) -> tuple[float, float] | None:
    """The 95 % percentile bootstrap interval of a metric over its items; None with fewer than two, or where it is undefined."""
    if len(sample.values) < 2 or _value(sample) is None:
        return None
    from scipy.stats import bootstrap

    def statistic(*parts: np.ndarray, axis: int) -> np.ndarray:
        return _statistic(sample.statistic, *parts)

    parts = (sample.values,) if sample.gold is None else (sample.values, sample.gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of resamples that are all alike
        found = bootstrap(
            parts, statistic, paired=len(parts) > 1, vectorized=True, n_resamples=RESAMPLES, batch=_batch(sample),
            method="percentile", random_state=rng.stream(seed, rng.BOOTSTRAP),
        )  # fmt: skip
    values = found.bootstrap_distribution
    values = values[
        np.isfinite(values)
    ]  # a resample may be constant, which has no correlation, or have nothing to divide by
    if not len(values):
        return None
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def difference(one: Sample, other: Sample, *, seed: int = 1) -> dict[str, Any]:
    """How a metric differs between two runs on the items that both score.

    The p-value is two-sided, for the hypothesis that the runs could be exchanged item by item: McNemar's exact test where each
    item is right or wrong, else a permutation test (of ranks for Spearman's correlation, of standard scores for Pearson's; of
    ratios, an item's part and whole are exchanged together).

    Returns:
        ``difference`` (one minus other), ``p_value``, ``compared`` (how many items); the first two are None where fewer than
        two items are there or one of the metrics is undefined on them.
    """
    items, left, right = np.intersect1d(one.items, other.items, assume_unique=True, return_indices=True)
    x, y = (_of(sample, rows) for sample, rows in ((one, left), (other, right)))
    values = _value(x), _value(y)
    if len(items) < 2 or values[0] is None or values[1] is None:
        return {"difference": None, "p_value": None, "compared": len(items)}
    p_value = _mcnemar(x.values, y.values) if _is_binary(x) and _is_binary(y) else _permutation(x, y, seed)
    return {"difference": values[0] - values[1], "p_value": p_value, "compared": len(items)}


def with_intervals(result: Result, *, seed: int = 1) -> Result:
    """The result with ``intervals``: metric to its bounds."""
    found = {name: interval(sample, seed=seed) for name, sample in result.samples.items()}
    bounds = {
        name: dict(zip(("low", "high"), pair or (None, None), strict=True)) for name, pair in found.items()
    }
    return dataclasses.replace(result, extras={**result.extras, "intervals": bounds})


def with_comparison(result: Result, other: Result, vectors: str, *, seed: int = 1) -> Result:
    """The result with ``against``: the other's metrics and coverage, and by metric the difference on common items."""
    differences: Mapping[str, Any] = {
        name: difference(sample, other.samples[name], seed=seed)
        for name, sample in result.samples.items()
        if name in other.samples
    }
    against = {
        "vectors": vectors,
        **other.metrics,
        "covered": other.covered,
        "differences": differences,
    }
    return dataclasses.replace(result, extras={**result.extras, "against": against})


def _of(sample: Sample, rows: np.ndarray) -> Sample:
    gold = None if sample.gold is None else sample.gold[rows]
    return Sample(sample.items[rows], sample.values[rows], gold, sample.statistic)


def _batch(sample: Sample) -> int:
    return max(1, _MOST_NUMBERS // len(sample.values))


def _value(sample: Sample) -> float | None:
    if not len(sample.values):
        return None
    parts = (sample.values,) if sample.gold is None else (sample.values, sample.gold)
    value = float(_statistic(sample.statistic, *parts))
    return value if np.isfinite(value) else None


def _statistic(name: str, values: np.ndarray, gold: np.ndarray | None = None) -> np.ndarray:
    """The metric along the last axis; nan where a side of a correlation is constant, or a ratio's whole 0."""
    if gold is None:
        return np.asarray(values.mean(axis=-1))
    if name == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(values.sum(axis=-1) / gold.sum(axis=-1))
    return _correlation(_scores(name, values), _scores(name, gold))


def _scores(name: str, values: np.ndarray) -> np.ndarray:
    """What Pearson's formula is applied to."""
    if name != "spearman":
        return values
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1))


def _correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    constant = (x == x[..., :1]).all(axis=-1) | (y == y[..., :1]).all(axis=-1)
    x, y = (values - values.mean(axis=-1, keepdims=True) for values in (x, y))
    norms = np.sqrt((x * x).sum(axis=-1) * (y * y).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(constant, np.nan, (x * y).sum(axis=-1) / norms)


def _is_binary(sample: Sample) -> bool:
    return sample.gold is None and bool(np.isin(sample.values, (0.0, 1.0)).all())


def _mcnemar(x: np.ndarray, y: np.ndarray) -> float:
    """Exact test on the items that one has right and the other wrong."""
    from scipy.stats import binomtest

    wins, losses = int((x > y).sum()), int((x < y).sum())
    return float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def _permutation(x: Sample, y: Sample, seed: int) -> float:
    from scipy.stats import permutation_test

    a, b, statistic = _of_rows(x, y) if x.statistic == "ratio" else _of_scores(x, y)
    if np.array_equal(a, b):
        return 1.0
    found = permutation_test(
        (a, b), statistic, permutation_type="samples", vectorized=True, n_resamples=PERMUTATIONS, batch=_batch(x),
        random_state=rng.stream(seed, rng.BOOTSTRAP),
    )  # fmt: skip
    return float(found.pvalue)


def _of_scores(x: Sample, y: Sample) -> tuple[np.ndarray, np.ndarray, Callable[..., np.ndarray]]:
    """What two runs exchange item by item, their scores, and how the metric differs between such arrays."""
    gold = None if x.gold is None else _scores(x.statistic, x.gold)

    def statistic(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        if gold is None:
            return np.asarray((a - b).mean(axis=-1))
        return _correlation(a, gold) - _correlation(b, gold)

    return _standard(x), _standard(y), statistic


def _of_rows(x: Sample, y: Sample) -> tuple[np.ndarray, np.ndarray, Callable[..., np.ndarray]]:
    """As :func:`_of_scores` of a ratio: what is exchanged are numbers that stand for an item's part and whole."""
    assert x.gold is not None and y.gold is not None
    pairs = np.concatenate([np.stack([x.values, x.gold]), np.stack([y.values, y.gold])], axis=1)
    distinct, rows = np.unique(pairs, axis=1, return_inverse=True)

    def ratio(rows: np.ndarray) -> np.ndarray:
        part, whole = (values[rows.astype(np.intp)] for values in distinct)
        return np.nan_to_num(_statistic("ratio", part, whole))  # nothing of nothing: no difference

    def statistic(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return ratio(a) - ratio(b)

    a, b = np.split(rows.reshape(-1).astype(np.float64), 2)
    return a, b, statistic


def _standard(sample: Sample) -> np.ndarray:
    """The values on a scale on which two runs can be exchanged."""
    values = _scores(sample.statistic, sample.values)
    return values if sample.gold is None else (values - values.mean()) / values.std()


def compared(
    results: Sequence[Result],
    others: Sequence[Result] | None,
    vectors: str | None,
    intervals: bool,
    seed: int,
) -> list[Result]:
    """What ``--intervals`` and ``--against`` make of results; ``others``: those of the other vectors on the same sets."""
    found = [with_intervals(result, seed=seed) for result in results] if intervals else list(results)
    if others is None or vectors is None:
        return found
    return [
        with_comparison(result, other, vectors, seed=seed)
        for result, other in zip(found, others, strict=True)
    ]
