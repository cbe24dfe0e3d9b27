"""Fitted estimators can be copied and pickled, and the copies give the same; their threads could not."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from wordkit.models import DualClusteringClassifier, ForestCoder, RPAClassifier
from wordkit.parallel import Workers

X, y = np.abs(np.random.default_rng(0).normal(size=(30, 12))), np.arange(30) % 3
ESTIMATORS = {
    "classifier of dcme": lambda: DualClusteringClassifier(epochs=1, threads=2).fit(X, y),
    "rpa": lambda: RPAClassifier(dim=4, epochs=1).fit(X, y),
    "forest, online": lambda: ForestCoder(dim=13, epochs=1, threads=2).fit(X),
    "forest, sgd": lambda: ForestCoder(dim=13, epochs=1, algorithm="sgd").fit(X),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_copies_of_a_fitted_estimator_give_the_same(name):
    model = ESTIMATORS[name]()
    of = getattr(model, "predict", None) or model.transform
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        twin_of = getattr(twin, "predict", None) or twin.transform
        np.testing.assert_array_equal(twin_of(X), of(X))


def test_a_copy_of_workers_works():
    workers = Workers(3)
    assert workers.map(abs, [-1, -2, -3]) == [1, 2, 3]
    twin = copy.deepcopy(workers)
    assert twin.map(abs, [-4, -5, -6]) == [4, 5, 6] and twin.threads == 3
