"""What the paper proves of the objective, on small tables of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.models.dual_objective import (
    bounds,
    centres,
    dual_objective,
    log_likelihood,
    nearest_clusters,
    within_cluster_divergence,
)
from wordkit.parallel import Workers


def table(seed: int, m: int = 30, n: int = 7, k: int = 4):
    draw = np.random.default_rng(seed)
    scores, items = draw.normal(size=(m, n)) * 3, draw.integers(0, n, m)
    alpha = draw.dirichlet(np.ones(n), k)
    return scores, items, alpha


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_theorem_4_1(seed):
    """The within-cluster divergence (19) is what (8) lies above (4)."""
    scores, items, alpha = table(seed)
    clusters = np.random.default_rng(seed).integers(0, len(alpha), len(items))
    gap = dual_objective(scores, items, alpha, clusters) - log_likelihood(scores, items)
    assert gap >= 0
    assert within_cluster_divergence(scores, alpha, clusters) == pytest.approx(gap, rel=1e-9, abs=1e-9)


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_objective_never_increases_in_the_steps_of_clusters_and_centres(seed):
    scores, items, alpha = table(seed)
    clusters = np.zeros(len(items), dtype=int)
    value = dual_objective(scores, items, alpha, clusters)
    for _ in range(5):
        clusters = nearest_clusters(scores, alpha)
        after_clusters = dual_objective(scores, items, alpha, clusters)
        alpha = centres(scores, clusters, alpha)
        after_centres = dual_objective(scores, items, alpha, clusters)
        assert after_centres <= after_clusters + 1e-9 <= value + 2e-9
        value = after_centres
    assert value >= log_likelihood(scores, items)


def test_singletons_are_exact_maximum_entropy():
    """With a cluster an instance, (8) is (4)."""
    scores, items, _ = table(1)
    own = np.arange(len(items))
    alpha = centres(scores, own, np.full(scores.shape, 1 / scores.shape[1]))
    assert dual_objective(scores, items, alpha, own) == pytest.approx(log_likelihood(scores, items), abs=1e-9)
    assert (nearest_clusters(scores, alpha) == own).all()


def test_bound_is_open_above():
    """Two instances in one cluster: along their difference (8) grows without end, and (4) stays below 0: step sizes count."""
    values = []
    for size in (1.0, 10.0, 100.0):
        scores = size * np.array([[1.0, -1.0], [-1.0, 1.0]])
        clusters = np.zeros(2, dtype=int)
        alpha = centres(scores, clusters, np.full((1, 2), 0.5))
        values.append(dual_objective(scores, np.array([0, 1]), alpha, clusters))
        assert log_likelihood(scores, np.array([0, 1])) <= 0
    assert values[0] < values[1] < values[2] and values[2] > 190


def test_models_use_these_formulas():
    """After a pass, the clusters of a classifier are those of (9) and (13), its bound that of lemma 3.1."""
    from wordkit.models import DualClusteringClassifier

    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(60, 5)), draw.integers(0, 6, 60)
    model = DualClusteringClassifier(
        clusters=3, epochs=2, normalize=False, learning_rate=0.1, variant="printed"
    ).fit(X, y)
    clusters = model.clusters_
    pending = clusters.pending / np.maximum(clusters.totals[1], 1e-30)
    due = clusters.totals[1] > 0
    assert clusters.refresh(model.cells_, 1.0, Workers(1))
    means = pending[:, due].T @ model.cells_[:, :6] + clusters.bias
    expected = centres(means, np.arange(len(means)), means)
    np.testing.assert_allclose(clusters.alpha[:, :3].T[due], expected, rtol=1e-4)
    scores = model.class_scores(X).astype(float)[:, clusters.order]
    found = X @ clusters.records[:, :3] + clusters.totals[0]
    np.testing.assert_allclose(found, bounds(scores, clusters.alpha[:, :3].T.astype(float)), atol=1e-4)
