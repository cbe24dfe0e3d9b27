"""Grid search of RPA: every point, its order, and that sharing fits or threads changes no number."""

import itertools

import numpy as np
import pytest
import scipy.sparse

from wordkit.errors import Interrupted
from wordkit.models.cross_validation import grid_points, stratified_folds
from wordkit.models.rpa import RPAClassifier
from wordkit.models.rpa_search import PAPER_GRID, GridPoint, search
from wordkit.monitor import Monitor

GRID = {"C": (0.01, 1.0), "lam": (0.01, 1.0), "epochs": (3, 1)}


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(5)
    labels = random.choice(np.array(["a", "b", "c"]), 60)
    dense = (random.random((60, 12)) < 0.3).astype(np.float32)
    for i, label in enumerate("abc"):  # a word of each class, absent now and then
        dense[(labels == label) & (random.random(60) < 0.8), i] = 1
    return scipy.sparse.csr_array(dense), labels


@pytest.fixture(scope="module")
def splits(data):
    folds = stratified_folds(data[1], 3, seed=1)
    return [(np.flatnonzero(folds != i), np.flatnonzero(folds == i)) for i in range(3)]


def test_paper_grid_is_the_papers():
    assert PAPER_GRID["C"] == (1e-6, 1e-4, 1e-2, 1, 1e2, 1e4, 1e6)
    assert PAPER_GRID["lam"] == (1e-3, 1e-2, 1e-1, 1, 10, 100, 1000)
    assert PAPER_GRID["epochs"] == (1, 5, 10)


@pytest.mark.parametrize("average", [False, True])
def test_one_fit_equals_a_fit_for_each_number_of_epochs(data, splits, average):
    rows, labels = data
    found = search(RPAClassifier(dim=4, average=average), rows, labels, splits, GRID)
    assert {(p.C, p.lam, p.epochs) for p in found} == set(itertools.product(*GRID.values()))
    for point in found:
        separate = tuple(
            RPAClassifier(dim=4, average=average, C=point.C, lam=point.lam, epochs=point.epochs)
            .fit(rows[train], labels[train])
            .score(rows[held_out], labels[held_out])
            for train, held_out in splits
        )
        assert point.accuracies == separate


def test_best_first_and_ties_to_what_moves_least():
    """Every point is perfect on data that one word tells apart."""
    rows = scipy.sparse.csr_array(np.eye(2, dtype=np.float32)[[0, 1] * 10])
    labels = np.array(["x", "y"] * 10)
    split = [(np.arange(10), np.arange(10, 20))]
    grid = {"C": (10.0, 1.0), "lam": (0.1, 1.0), "epochs": (2, 1)}
    found = search(RPAClassifier(dim=8), rows, labels, split, grid)
    assert {point.mean for point in found} == {1.0}
    assert [(p.epochs, p.C, p.lam) for p in found] == [
        (1, 1.0, 1.0), (1, 1.0, 0.1), (1, 10.0, 1.0), (1, 10.0, 0.1),
        (2, 1.0, 1.0), (2, 1.0, 0.1), (2, 10.0, 1.0), (2, 10.0, 0.1),
    ]  # fmt: skip


def test_points_fall_in_accuracy(data, splits):
    means = [point.mean for point in search(RPAClassifier(dim=4), *data, splits, GRID)]
    assert means == sorted(means, reverse=True)
    assert means[0] > means[-1]


def test_lambda_counts_once_without_embedding(data, splits):
    found = search(RPAClassifier(algorithm="pa-onehot"), *data, splits, GRID)
    assert sorted((p.C, p.lam, p.epochs) for p in found) == [
        (0.01, 0.01, 1), (0.01, 0.01, 3), (1.0, 0.01, 1), (1.0, 0.01, 3),
    ]  # fmt: skip


def test_what_the_grid_lacks_is_the_models(data, splits):
    (point,) = search(RPAClassifier(dim=4, C=0.5, lam=0.2), *data, splits, {"epochs": (2,)})
    assert (point.C, point.lam, point.epochs) == (0.5, 0.2, 2)


def test_threads_change_nothing(data, splits):
    assert search(RPAClassifier(dim=4), *data, splits, GRID) == search(
        RPAClassifier(dim=4), *data, splits, GRID, threads=4
    )


def test_rows_of_the_caller_stay_as_they_are():
    """Sorting them in place would be a race between threads that fit on the same rows."""
    indices, values = np.array([2, 0, 1, 2, 1, 0], dtype=np.int32), np.ones(6, dtype=np.float32)
    rows = scipy.sparse.csr_array((values, indices, np.array([0, 2, 4, 6])), shape=(3, 3))
    RPAClassifier(dim=2).fit(rows, ["a", "b", "a"]).predict(rows)
    assert np.array_equal(rows.indices, [2, 0, 1, 2, 1, 0])


def test_search_stops_when_asked(data, splits):
    monitor = Monitor()
    monitor.stopping = True
    with pytest.raises(Interrupted):
        search(RPAClassifier(dim=4), *data, splits, GRID, monitor=monitor)


def test_mean_and_deviation_of_a_point():
    point = GridPoint(1.0, 1.0, 1, (0.5, 0.7))
    assert point.mean == pytest.approx(0.6)
    assert point.std == pytest.approx(0.1)


def test_folds_are_stratified_seeded_and_complete():
    labels = np.array(["a"] * 53 + ["b"] * 27 + ["c"] * 4)
    folds = stratified_folds(labels, 5, seed=2)
    assert set(folds) == set(range(5))
    for label in "abc":
        sizes = np.bincount(folds[labels == label], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    assert np.ptp(np.bincount(folds)) <= 1
    assert np.array_equal(folds, stratified_folds(labels, 5, seed=2))
    assert not np.array_equal(folds, stratified_folds(labels, 5, seed=3))


@pytest.mark.parametrize("k", [1, 6])
def test_impossible_numbers_of_folds(k):
    with pytest.raises(ValueError, match="folds of 5 documents"):
        stratified_folds(np.array(list("abaab")), k, seed=1)


def test_grid_points_vary_the_last_name_fastest():
    assert grid_points({"C": (1, 2), "lam": (3, 4)}) == [
        {"C": 1, "lam": 3}, {"C": 1, "lam": 4}, {"C": 2, "lam": 3}, {"C": 2, "lam": 4},
    ]  # fmt: skip
