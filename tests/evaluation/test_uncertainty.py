"""Intervals and paired tests, beside SciPy's own and beside what is known of simple cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, pearsonr, spearmanr

from wordkit.evaluation.result import Result, Sample
from wordkit.evaluation.uncertainty import difference, interval, with_comparison, with_intervals


def mean_of(values, items=None) -> Sample:
    values = np.asarray(values, dtype=np.float64)
    return Sample(np.arange(len(values)) if items is None else np.asarray(items), values)


def correlated(noise: float, statistic: str = "spearman", seed: int = 1, n: int = 120) -> Sample:
    gold = np.random.default_rng(0).normal(size=n)
    values = gold + noise * np.random.default_rng(seed).normal(size=n)
    return Sample(np.arange(n), values, gold, statistic)


def test_interval_of_a_mean():
    low, high = interval(mean_of([1] * 300 + [0] * 100))
    sigma = (0.75 * 0.25 / 400) ** 0.5
    assert low == pytest.approx(0.75 - 1.96 * sigma, abs=0.008)
    assert high == pytest.approx(0.75 + 1.96 * sigma, abs=0.008)
    assert interval(mean_of([1, 1, 1])) == (1.0, 1.0)
    assert interval(mean_of([1])) is None and interval(mean_of([])) is None


@pytest.mark.parametrize(("statistic", "scipy"), [("spearman", spearmanr), ("pearson", pearsonr)])
def test_interval_of_a_correlation(statistic, scipy):
    sample = correlated(1.0, statistic)
    low, high = interval(sample)
    value = scipy(sample.values, sample.gold)[0]
    assert low < value < high and 0.1 < high - low < 0.35  # Fisher's is 0.22 wide for 0.7 of 120
    assert interval(sample, seed=1) == (low, high) != interval(sample, seed=2)
    assert interval(Sample(np.arange(3), np.ones(3), np.arange(3.0), statistic)) is None


def test_spearman_has_mean_ranks_for_ties():
    x, y = np.array([1.0, 2, 2, 4]), np.array([1.0, 2, 3, 4])
    one = Sample(np.arange(4), x, y, "spearman")
    flat = Sample(np.arange(4), np.array([1.0, 2, 3, 4]), y, "spearman")
    assert difference(one, flat)["difference"] == pytest.approx(spearmanr(x, y)[0] - 1)


def test_mcnemar_is_the_exact_one():
    x, y = np.zeros(100), np.zeros(100)
    x[:40], y[:25] = 1, 1
    y[40:45] = 1  # 15 only x has right, 5 only y
    found = difference(mean_of(x), mean_of(y))
    assert found == {
        "difference": pytest.approx(0.1), "p_value": pytest.approx(binomtest(5, 20).pvalue), "compared": 100,
    }  # fmt: skip
    assert difference(mean_of(y), mean_of(x))["p_value"] == found["p_value"]
    assert difference(mean_of(x), mean_of(x)) == {"difference": 0.0, "p_value": 1.0, "compared": 100}


def test_only_common_items_are_compared():
    found = difference(mean_of([1, 0, 1], [0, 4, 9]), mean_of([1, 1, 0], [4, 9, 11]))
    assert found["compared"] == 2 and found["difference"] == -0.5
    nothing = difference(mean_of([1], [0]), mean_of([1], [1]))
    assert nothing == {"difference": None, "p_value": None, "compared": 0}


def test_permutations_find_a_difference_and_no_difference():
    good, bad = correlated(0.3), correlated(3.0, seed=2)
    found = difference(good, bad)
    assert found["p_value"] < 0.001 and found["difference"] > 0.3
    alike = difference(correlated(1.0, seed=5), correlated(1.0, seed=6))
    assert alike["p_value"] > 0.05
    assert difference(good, good)["p_value"] == 1.0
    squared = Sample(good.items, np.exp(good.values), good.gold, "spearman")  # the same ranks
    assert difference(good, squared) == {"difference": 0.0, "p_value": 1.0, "compared": 120}
    halves = difference(mean_of(np.linspace(0, 1, 60)), mean_of(np.linspace(0, 1, 60) ** 2))
    assert halves["p_value"] < 0.001


def test_p_values_are_uniform_where_nothing_differs():
    rng = np.random.default_rng(9)
    gold = rng.normal(size=40)
    values = []
    for _ in range(40):
        common = gold + rng.normal(size=40)
        x, y = (Sample(np.arange(40), common + rng.normal(size=40), gold, "pearson") for _ in range(2))
        values.append(difference(x, y)["p_value"])
    assert 0.3 < np.mean(values) < 0.7 and sum(p < 0.05 for p in values) <= 6


def test_results_get_extras_and_keep_their_numbers():
    result = Result("n", "d", {"a": 0.5, "b": None}, 2, 3, samples={"a": mean_of([1, 0])})
    other = Result("n", "d", {"a": 0.0, "b": 1.0}, 2, 3, samples={"a": mean_of([0, 0])})
    found = with_comparison(with_intervals(result), other, "v2")
    assert found.metrics == result.metrics and found.extras["intervals"] == {"a": {"low": 0.0, "high": 1.0}}
    assert found.extras["against"] == {
        "vectors": "v2", "a": 0.0, "b": 1.0, "covered": 2,
        "differences": {"a": {"difference": 0.5, "p_value": 1.0, "compared": 2}},
    }  # fmt: skip
    assert (
        found.as_dict()["intervals"] == {"a": {"low": 0.0, "high": 1.0}} and "samples" not in found.as_dict()
    )


def ratio_of(parts, wholes) -> Sample:
    return Sample.of_ratio(np.asarray(parts), np.asarray(wholes))


def test_interval_of_a_ratio_resamples_parts_with_their_wholes():
    rng = np.random.default_rng(3)
    wholes = rng.integers(1, 9, 200)
    parts = rng.binomial(wholes, 0.6)
    low, high = interval(ratio_of(parts, wholes))
    found = parts.sum() / wholes.sum()
    residuals = parts - found * wholes  # the delta method
    sigma = (residuals**2).sum() ** 0.5 / wholes.sum()
    assert low == pytest.approx(found - 1.96 * sigma, abs=0.006)
    assert high == pytest.approx(found + 1.96 * sigma, abs=0.006)
    assert (
        interval(ratio_of(parts, wholes), seed=1) == (low, high) != interval(ratio_of(parts, wholes), seed=2)
    )
    assert interval(ratio_of(2 * wholes, wholes)) == (2.0, 2.0)
    assert interval(ratio_of([1, 0], [1, 0])) == (1.0, 1.0)  # a resample without a whole has no value
    assert interval(ratio_of([0, 0], [0, 0])) is None and interval(ratio_of([1], [2])) is None


def test_ratios_are_exchanged_item_by_item():
    one, other = ratio_of([2, 2, 1], [2, 2, 1]), ratio_of([1, 1, 1], [4, 3, 1])
    # of the 4 ways to exchange the first two items only all or none is as far apart as 1 and 3/8
    assert difference(one, other) == {"difference": 0.625, "p_value": 0.5, "compared": 3}
    assert difference(other, one)["difference"] == -0.625
    assert difference(one, one) == {"difference": 0.0, "p_value": 1.0, "compared": 3}
    nothing_right = difference(ratio_of([0, 0], [1, 0]), ratio_of([0, 0], [0, 1]))
    assert nothing_right == {"difference": 0.0, "p_value": 1.0, "compared": 2}
    undefined = difference(one, ratio_of([0, 0, 0], [0, 0, 0]))
    assert undefined == {"difference": None, "p_value": None, "compared": 3}
