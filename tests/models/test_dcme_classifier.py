"""The classifier of dual clustering: against scikit-learn, against its own exact gradient, and when data or rates are odd."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse

from wordkit.errors import Interrupted, WordkitError
from wordkit.models import DualClusteringClassifier
from wordkit.monitor import Monitor


def topics(seed=0, *, n=40, rows=4000, features=300, length=12):
    """Sparse documents of n classes: words of a class, of its topic, and of all."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, n, rows)
    kind = draw.random((rows, length))
    own = (y[:, None] * 7 + draw.integers(0, 5, (rows, length))) % features
    topic = (y[:, None] % 5 * 50 + draw.integers(0, 40, (rows, length))) % features
    words = np.where(
        kind < 0.25, own, np.where(kind < 0.7, topic, draw.integers(0, features, (rows, length)))
    )
    indptr = np.arange(rows + 1) * length
    X = scipy.sparse.csr_array((np.ones(words.size), words.ravel(), indptr), shape=(rows, features))
    X.sum_duplicates()
    return X, y


def mean_log_proba(model, X, y):
    return float(model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean())


def overlapping(seed=0, rows=600):
    """Three classes that no plane separates: their maximum likelihood is finite."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rows, 4))
    scores = X @ draw.normal(size=(4, 3)) + draw.gumbel(size=(rows, 3))
    return X, scores.argmax(axis=1)


def test_full_gradient_reaches_scikit_learns_solution():
    from sklearn.linear_model import LogisticRegression

    X, y = overlapping()
    peer = LogisticRegression(C=1e6, fit_intercept=False, tol=1e-8, max_iter=1000).fit(X, y)
    model = DualClusteringClassifier(
        objective="gd", prior="none", normalize=False, epochs=300, learning_rate=0.02
    ).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), peer.predict_log_proba(X), atol=0.03)
    best = float(peer.predict_log_proba(X)[np.arange(len(y)), y].mean())
    assert best - 1e-3 < mean_log_proba(model, X, y) <= best + 1e-6
    centred = model.coef_ - model.coef_.mean(axis=0)
    np.testing.assert_allclose(centred, peer.coef_ - peer.coef_.mean(axis=0), atol=0.03)


@pytest.mark.parametrize("settings, far", [({}, 0.001), ({"variant": "printed"}, 0.002), ({"top": 1}, 0.15)])
def test_dual_clustering_comes_near_to_it(settings, far):
    from sklearn.linear_model import LogisticRegression

    X, y = overlapping()
    peer = LogisticRegression(C=1e6, fit_intercept=False, tol=1e-8, max_iter=1000).fit(X, y)
    best = float(peer.predict_log_proba(X)[np.arange(len(y)), y].mean())
    model = DualClusteringClassifier(
        prior="none", normalize=False, epochs=100, learning_rate=0.02, **settings
    ).fit(X, y)
    assert best - far < mean_log_proba(model, X, y) <= best + 1e-6


def test_many_classes_all_objectives_learn():
    X, y = topics()
    train, test = slice(0, 3000), slice(3000, None)
    accuracy, likelihood = {}, {}
    for name in ("dcme", "printed", "nce", "ns", "gd"):
        variant = {"objective": "dcme", "variant": "printed"} if name == "printed" else {"objective": name}
        model = DualClusteringClassifier(**variant, epochs=5).fit(X[train], y[train])
        accuracy[name] = model.score(X[test], y[test])
        likelihood[name] = mean_log_proba(model, X[test], y[test])
        assert (
            np.isfinite(likelihood[name]) and model.history_[-1]["objective"] > model.history_[0]["objective"]
        )
    assert min(accuracy.values()) > 10 / 40 and accuracy["dcme"] > accuracy["gd"] - 0.04
    assert likelihood["dcme"] > likelihood["printed"] and likelihood["dcme"] > likelihood["gd"] - 0.1


def test_probabilities_are_exact_and_sum_to_one():
    X, y = topics(rows=300)
    model = DualClusteringClassifier(epochs=2).fit(X, y)
    scores = (
        X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True) @ model.coef_.T + model.intercept_
    )
    expected = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_log_proba(X), expected, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-9)
    assert model.predict_proba(X).max() <= 1
    assert (model.predict(X) == model.classes_[expected.argmax(axis=1)]).all()


@pytest.mark.parametrize("objective", ["dcme", "nce", "gd"])
def test_interrupted_and_resumed_is_uninterrupted(objective, monkeypatch):
    monkeypatch.setattr("wordkit.models.dcme_classifier._WORK", 1)
    X, y = topics(rows=1000)
    parameters = {"objective": objective, "epochs": 3, "clusters": 5}
    whole = DualClusteringClassifier(**parameters).fit(X, y)

    class Stop(Monitor):
        def __init__(self, at):
            self.left = at

        def advance(self, done):
            self.left -= 1
            self.stopping = self.left <= 0

    model = DualClusteringClassifier(**parameters)
    with pytest.raises(Interrupted):
        model.fit(X, y, monitor=Stop(2))
    for _ in range(2):
        arrays, values = model.state()
        model = DualClusteringClassifier.from_state({k: v.copy() for k, v in arrays.items()}, values)
        with pytest.raises(Interrupted):
            model.resume(X, y, monitor=Stop(1))
    arrays, values = model.state()
    model = DualClusteringClassifier.from_state(arrays, values).resume(X, y)
    assert np.array_equal(model.coef_, whole.coef_) and model.history_ == whole.history_


def test_threads_share_their_memory_and_come_near():
    X, y = topics()
    one = DualClusteringClassifier(epochs=3).fit(X, y)
    two = DualClusteringClassifier(epochs=3, threads=2).fit(X, y)
    assert mean_log_proba(two, X, y) == pytest.approx(mean_log_proba(one, X, y), abs=0.05)
    again = DualClusteringClassifier(epochs=3).fit(X, y)
    assert np.array_equal(one.coef_, again.coef_)


def test_copies_of_features_change_nothing():
    """Features that come together four times over are the same problem, which a diagonal second moment alone would not know."""
    X, y = topics(n=30, rows=1500, length=40)
    plain, copied = (
        DualClusteringClassifier(clusters=5, top=3, epochs=2).fit(rows, y)
        for rows in (X, scipy.sparse.hstack([X] * 4, format="csr"))
    )
    assert len(plain.clusters_.totals.T) == 5 and (plain.clusters_.totals[3] > 1).all()
    scores = plain.decision_function(X[:200])
    again = copied.decision_function(scipy.sparse.hstack([X[:200]] * 4, format="csr"))
    np.testing.assert_allclose(again, scores, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("objective", ["dcme", "printed", "nce", "ns", "gd"])
def test_rates_far_too_high_are_finite_or_told_with_the_last_good_state(objective):
    X, y = topics(rows=600)
    variant = (
        {"objective": "dcme", "variant": "printed"} if objective == "printed" else {"objective": objective}
    )
    model = DualClusteringClassifier(**variant, epochs=3)
    model.set_params(learning_rate=10 * model.RATES["exact" if objective == "dcme" else objective]).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    model = DualClusteringClassifier(**variant, epochs=3, learning_rate=1e38)
    try:
        model.fit(X, y)
    except WordkitError as error:
        assert re.search("(not finite|run away) in epoch .*--learning-rate", str(error))
    assert np.isfinite(model.coef_).all()
    model = DualClusteringClassifier(**variant, epochs=3, normalize=False)
    with pytest.raises(
        WordkitError, match=r"not finite in epoch 1, from its document .* nothing was learned"
    ):
        model.fit(X * 1e30, y)
    assert not model.coef_.any()


@pytest.mark.parametrize("objective", ["dcme", "nce", "gd"])
def test_finite_but_senseless_weights_are_told(objective):
    X, y = topics(rows=300)
    model = DualClusteringClassifier(objective=objective, epochs=2, learning_rate=1e6)
    with pytest.raises(
        WordkitError, match=r"run away in epoch 1 \(log-likelihood .* nothing was learned; use a smaller"
    ):
        model.fit(X, y)
    assert not model.coef_.any()


@pytest.mark.parametrize("objective", ["dcme", "ns", "gd"])
def test_last_good_epoch_is_kept(objective):
    X, y = topics(rows=600)
    model = DualClusteringClassifier(epochs=1, objective=objective, normalize=False, learning_rate=0.1).fit(
        X, y
    )
    good = model.coef_.copy()
    model.set_params(epochs=3)
    with pytest.raises(WordkitError, match="the model is that of epoch 1"):
        model.resume(X * 1e30, y)
    assert np.array_equal(model.coef_, good) and model.n_iter_ == 1


def test_more_clusters_than_rows_and_empty_rows():
    X = scipy.sparse.csr_array(np.array([[1.0, 0], [0, 1], [0, 0], [1, 1]]))
    model = DualClusteringClassifier(clusters=50, epochs=3).fit(X, ["a", "b", "b", "c"])
    assert np.isfinite(model.predict_log_proba(X)).all()
    empty = scipy.sparse.csr_array((3, 2))
    assert list(model.predict(empty)) == ["b"] * 3  # the most frequent
    np.testing.assert_allclose(model.predict_proba(empty), [[0.25, 0.5, 0.25]] * 3, atol=1e-6)
    assert DualClusteringClassifier(epochs=2).fit(empty, ["a", "b", "b"]).predict(empty).tolist() == ["b"] * 3


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="only one class"):
        DualClusteringClassifier().fit(np.ones((3, 2)), [1, 1, 1])


def test_huge_values_are_no_trouble():
    """A word that is there 10^6 times is a row of unit length like any other."""
    X = scipy.sparse.csr_array(np.array([[1e6, 1.0], [1.0, 1e6]] * 20))
    model = DualClusteringClassifier(epochs=5).fit(X, [0, 1] * 20)
    assert model.score(X, [0, 1] * 20) == 1 and np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize(
    "wrong", [{"objective": "x"}, {"variant": "x"}, {"prior": "x"}, {"clusters": 0}, {"beta": 0}, {"top": -1}, {"negative": 0},
              {"noise_power": -1}, {"epochs": 0}, {"learning_rate": 0}, {"normalize": 2}, {"shuffle": None}, {"seed": -1}],
)  # fmt: skip
def test_parameters(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DualClusteringClassifier(**wrong).fit(np.eye(4), [0, 1, 2, 3])


def test_a_resumed_epoch_that_fails_leaves_the_model_as_it_was_resumed():
    X, y = topics(rows=300)

    class Stop(Monitor):
        def advance(self, done):
            self.stopping = True

    model = DualClusteringClassifier(top=0, clusters=2, epochs=2)
    with pytest.raises(Interrupted):
        model.fit(X, y, monitor=Stop())
    assert 0 < model.position_ < 300
    before, position = model.coef_.copy(), model.position_
    model.set_params(learning_rate=1e6)
    with pytest.raises(WordkitError, match="the model is as it was when it was resumed"):
        model.resume(X, y)
    assert np.array_equal(model.coef_, before) and (model.position_, model.n_iter_) == (position, 0)
    model.set_params(learning_rate=None)
    assert model.resume(X, y).n_iter_ == 2


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("clusters_shares", -1e-3), ("clusters_shares", 2.0), ("clusters_gram", -1e-3), ("clusters_gram", 1e30),
        ("clusters_log_alpha", 1.0), ("clusters_log_alpha", np.nan), ("clusters_records", 3e38), ("clusters_totals", np.inf),
        ("clusters_order", 1), ("clusters_order", -1), ("clusters_top", 7), ("clusters_top", -1), ("epoch_sums", -1.0),
    ],
)  # fmt: skip
def test_impossible_states_are_refused(name, wrong):
    X, y = topics(n=60, rows=600)
    arrays, values = DualClusteringClassifier(clusters=3, epochs=1, top=16).fit(X, y).state()
    DualClusteringClassifier.from_state(arrays, values)
    tampered = {**arrays, name: arrays[name].copy()}
    tampered[name].flat[-1] = wrong
    with pytest.raises(ValueError, match=name):
        DualClusteringClassifier.from_state(tampered, values)


@pytest.mark.parametrize(
    "changed", [{"clusters": 2**31 - 1}, {"clusters": 2}, {"objective": "gd"}, {"objective": "ns"}]
)
def test_parameters_that_are_not_those_of_the_arrays_are_refused_before_memory_is_taken(changed):
    X, y = topics(rows=100)
    arrays, values = DualClusteringClassifier(clusters=3, epochs=1).fit(X, y).state()
    parameters = {**values["parameters"], **changed}
    with pytest.raises(ValueError, match="clusters"):
        DualClusteringClassifier.from_state(arrays, {**values, "parameters": parameters})
