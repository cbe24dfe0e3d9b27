"""scikit-learn's own checks of an estimator; what is not met is listed with its reason."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from wordkit.models import (
    DualClusteringClassifier,
    PairwiseElasticNet,
    RPAClassifier,
    TraceLasso,
    TraceLassoCV,
)

EXPECTED_FAILURES = {
    "check_supervised_y_2d": "labels of shape (n, 1) are refused; the check wants them flattened with sklearn's own warning",
    "check_class_weight_classifiers": "class weights are `balanced` or `none`; the check sets them one by one",
}
# Regressions: the checks of a single target column want sklearn's own warning when it is flattened.
FLATTENED = {"check_supervised_y_2d": "a target of shape (n, 1) is flattened without sklearn's own warning"}
REGRESSIONS = {
    "trace": TraceLasso(),
    "trace, ADMM, no intercept": TraceLasso(solver="admm", fit_intercept=False, tol=1e-3),
    "pairwise elastic net": PairwiseElasticNet(),
    "cross-validated": TraceLassoCV(cv=2, n_lams=2, ratio=0.3, tol=1e-3, path_tol=1e-2),
}
# Checks that need something that is not installed.
SKIPPED = {"check_array_api_input", "check_classifier_data_not_an_array", "check_regressor_data_not_an_array"}


CLASSIFIERS = {
    "rpa": RPAClassifier(dim=10),
    "dcme": DualClusteringClassifier(clusters=5, learning_rate=0.5),
    "dcme, printed": DualClusteringClassifier(variant="printed", clusters=5, learning_rate=0.2),
    "ns": DualClusteringClassifier(objective="ns"),
}


@pytest.fixture(scope="module", params=CLASSIFIERS)
def results(request):
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        # Classifiers stand on their own, and some checks warn of what scikit-learn itself deprecates.
        warnings.simplefilter("ignore")
        return check_estimator(
            CLASSIFIERS[request.param], expected_failed_checks=EXPECTED_FAILURES, on_skip=None, on_fail=None
        )


def named(results, status: str) -> dict[str, object]:
    return {check["check_name"]: check["exception"] for check in results if check["status"] == status}


def test_checks(results):
    assert len(results) > 40
    assert named(results, "failed") == {}
    assert set(named(results, "skipped")) <= SKIPPED


def test_expected_failures_still_fail(results):
    run = {check["check_name"] for check in results}  # a model without class weights has no check of them
    assert set(named(results, "xfail")) == set(EXPECTED_FAILURES) & run


@pytest.mark.parametrize("name", REGRESSIONS)
def test_regressions(name):
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            REGRESSIONS[name], expected_failed_checks=FLATTENED, on_skip=None, on_fail=None
        )
    assert len(found) > 40 and named(found, "failed") == {}
    assert set(named(found, "skipped")) <= SKIPPED and set(named(found, "xfail")) == set(FLATTENED)


def test_works_inside_scikit_learn_tools():
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import GridSearchCV, cross_val_score

    draw = np.random.default_rng(0)
    y = draw.integers(0, 3, 90)
    X = (draw.random((90, 12)) < 0.2).astype(float)
    X[np.arange(90), y] = 1
    model = RPAClassifier(dim=5, epochs=3, C=0.5)
    copy = clone(model)
    assert copy is not model and copy.get_params() == model.get_params() and is_classifier(model)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.7
    search = GridSearchCV(model, {"C": [1e-6, 1.0], "algorithm": ["rpa", "pa-onehot"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7 and len(search.cv_results_["params"]) == 4
