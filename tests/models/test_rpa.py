"""The RPA classifier: scikit-learn's PA-II as a peer, threads, resuming, saving, continuing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

from wordkit.errors import WordkitError
from wordkit.models import RPAClassifier, rpa_weights
from wordkit.models import rpa as rpa_module
from wordkit.models.rpa import random_vectors
from wordkit.monitor import Monitor

N, FEATURES, CLASSES = 60, 25, 4
# One model of every kind.
KINDS = [
    {},
    {"algorithm": "pa"},
    {"algorithm": "pa-onehot"},
    {"embedding": "shared", "update": "printed", "C": 0.01},
    {"update": "joint", "normalize": "input"},
    {"concat_onehot": True, "normalize": "none", "class_weight": "none"},
    {"average": True, "concat_onehot": True},
    {"average": True, "embedding": "shared", "shuffle": False},
]
kinds = pytest.mark.parametrize(
    "options", KINDS, ids=[",".join(map(str, kind.values())) or "default" for kind in KINDS]
)


def data(classes: int = CLASSES, seed: int = 0) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Bags of words whose first features speak for the label, and one empty document."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, classes, N)
    X = (draw.random((N, FEATURES)) < 0.15).astype(np.float32)
    X[np.arange(N), y] = draw.random(N) < 0.8
    X[7] = 0
    return scipy.sparse.csr_array(X), np.array([f"c{c}" for c in y])


def model(**options) -> RPAClassifier:
    return RPAClassifier(**{"dim": 6, "epochs": 3, **options})


def fitted(classes: int = CLASSES, **options) -> RPAClassifier:
    return model(**options).fit(*data(classes))


def state_bytes(classifier: RPAClassifier) -> tuple:
    arrays, values = classifier.state()
    return {name: array.tobytes() for name, array in arrays.items()}, values


# --- contract --------------------------------------------------------------------------------------------------


def test_parameters_are_kept_and_set():
    options = {"C": 2.0, "lam": 0.5, "seed": 9, "embedding": "shared"}
    classifier = RPAClassifier(**options)
    assert classifier.get_params() == {**RPAClassifier().get_params(), **options}
    assert classifier.set_params(C=3.0, threads=2) is classifier and classifier.C == 3.0
    with pytest.raises(ValueError, match=r"Invalid parameter 'alpha' for estimator RPAClassifier"):
        classifier.set_params(alpha=1)
    assert repr(classifier) == "RPAClassifier(C=3.0, lam=0.5, embedding='shared', seed=9, threads=2)"
    assert repr(RPAClassifier(vectors=np.zeros((2, 2)))).startswith("RPAClassifier(vectors=array(")


@pytest.mark.parametrize(
    ("name", "value"),
    [("algorithm", "svm"), ("update", "fixed"), ("embedding", "none"), ("normalize", "l2"), ("class_weight", {"a": 1}),
     ("C", 0), ("C", np.nan), ("C", np.inf), ("lam", -1), ("dim", 0), ("dim", 2.5), ("epochs", 0), ("inner_iterations", 0),
     ("threads", 0), ("C", "1"), ("dim", None)],
)  # fmt: skip
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"^{name} is "):
        fitted(**{name: value})


@kinds
def test_learns_and_repeats_itself(options):
    X, y = data()
    classifier = fitted(**options)
    assert classifier.score(X, y) > (
        0.35 if options.get("algorithm") == "pa" else 0.7
    )  # six random directions
    assert state_bytes(classifier) == state_bytes(fitted(**options))
    if options.get("shuffle", True) or "algorithm" not in options:
        assert state_bytes(classifier)[0] != state_bytes(fitted(**options, seed=2))[0]
    assert [record["epoch"] for record in classifier.history_] == [1, 2, 3] and classifier.n_iter_ == 3
    if options.get("algorithm") != "pa":
        assert classifier.history_[0]["loss"] > classifier.history_[-1]["loss"] > 0
    assert classifier.n_features_in_ == FEATURES and classifier.class_counts_.sum() == N


@kinds
def test_u062_threads_do_not_change_a_bit(options, monkeypatch):
    monkeypatch.setattr(rpa_module, "_WORK", 1)
    monkeypatch.setattr(rpa_weights, "_ROWS", 5)
    X, _ = data()
    one, four = fitted(**options), fitted(**options, threads=4)
    assert state_bytes(one) == state_bytes(four)
    np.testing.assert_array_equal(one.decision_function(X), four.decision_function(X))


def test_u062_chunks_do_not_change_a_bit(monkeypatch):
    whole = state_bytes(fitted(average=True))
    monkeypatch.setattr(rpa_module, "_WORK", 1)
    assert state_bytes(fitted(average=True)) == whole


def test_every_epoch_has_an_order_of_its_own():
    classifier = fitted()
    orders = []
    for classifier.n_iter_ in range(3):
        orders.append(classifier._order(50).tolist())
    assert len({tuple(order) for order in orders}) == 3 and all(
        sorted(order) == list(range(50)) for order in orders
    )
    assert classifier.set_params(shuffle=False)._order(5).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_what_is_not_finite_is_refused(bad):
    X, y = data()
    dense = X.toarray().astype(np.float64)
    dense[3, 2] = bad
    for rows in (dense, scipy.sparse.csr_array(dense), scipy.sparse.coo_array(dense)):
        with pytest.raises(ValueError, match="NaN or infinity"):
            model().fit(rows, y)
        with pytest.raises(ValueError, match="NaN or infinity"):
            fitted().predict(rows)
    with pytest.raises(ValueError, match="vectors contain NaN or infinity"):
        fitted(vectors=np.full((FEATURES, 3), bad))


def test_input_kinds_are_equal_and_left_alone():
    X, y = data()
    shuffled = X.copy()
    for row in range(N):  # columns of a row in falling order, with one of them in two halves
        part = slice(*shuffled.indptr[row : row + 2])
        shuffled.indices[part] = shuffled.indices[part][::-1].copy()
    shuffled.has_sorted_indices = False
    for array in (shuffled.data, shuffled.indices, shuffled.indptr):
        array.flags.writeable = False
    expected = state_bytes(fitted())
    for rows in (
        X.toarray(),
        X.tocsc(),
        shuffled,
        scipy.sparse.csr_matrix(X),
        X.toarray().tolist(),
        X.astype(np.int64),
    ):
        assert state_bytes(model().fit(rows, y)) == expected
    doubled = scipy.sparse.csr_array((np.full(2, 0.5, np.float32), [1, 1], [0, 2]), shape=(1, FEATURES))
    single = scipy.sparse.csr_array((np.ones(1, np.float32), [1], [0, 1]), shape=(1, FEATURES))
    np.testing.assert_array_equal(fitted().decision_function(doubled), fitted().decision_function(single))
    assert doubled.nnz == 2 and doubled.data.tolist() == [0.5, 0.5]


def test_shapes_that_do_not_fit():
    X, y = data()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model().fit(X, y[:-1])
    with pytest.raises(
        ValueError, match=r"X has 24 features, but RPAClassifier is expecting 25 features as input"
    ):
        fitted().predict(X[:, :-1])
    with pytest.raises(ValueError, match=r"vectors have shape \(3, 2\), expected \(25, k\)"):
        fitted(vectors=np.zeros((3, 2)))


def test_before_fit():
    from sklearn.exceptions import NotFittedError

    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(model(), method)(data()[0])
    with pytest.raises(NotFittedError):
        model().word_vectors()


# --- classes ---------------------------------------------------------------------------------------------------


def test_u054_one_class():
    X, y = data()
    with pytest.raises(ValueError, match="only one class is present"):
        model().fit(X, np.full(N, "a"))
    with pytest.raises(ValueError, match="only one class is present"):
        model().partial_fit(X, y, classes=["a"])


@kinds
def test_two_classes_are_one_problem(options):
    X, _ = data(2)
    classifier = fitted(2, **options)
    scores = classifier.decision_function(X)
    assert (
        scores.shape == (N,) and classifier.embedding_.shape[0] == 1 and classifier.coef_.shape[:2] == (1, 1)
    )
    np.testing.assert_array_equal(classifier.class_scores(X), np.stack([-scores, scores], axis=1))
    known = np.diff(X.indptr) > 0
    np.testing.assert_array_equal(classifier.predict(X)[known], np.where(scores > 0, "c1", "c0")[known])


def test_u048_empty_documents_get_the_most_frequent_class():
    X, y = data()
    classifier = fitted()
    assert classifier.decision_function(X)[7].tolist() == [0.0] * CLASSES
    values, counts = np.unique(y, return_counts=True)
    assert classifier.predict(X)[7] == values[counts.argmax()]


def test_u060_labels_may_be_numbers_or_strings():
    X, y = data()
    numbers = np.array([int(label[1]) * 5 - 3 for label in y])
    by_number = model().fit(X, numbers)
    assert by_number.classes_.tolist() == [-3, 2, 7, 12]
    assert set(by_number.predict(X).tolist()) <= {-3, 2, 7, 12}
    np.testing.assert_array_equal(by_number.decision_function(X), fitted().decision_function(X))


def test_u052_balanced_weights():
    classifier = fitted()
    counts = classifier.class_counts_
    expected = classifier.C_ * np.stack([N / (2 * (N - counts)), N / (2 * counts)], axis=1)
    np.testing.assert_allclose(classifier._costs(), expected, rtol=1e-12)
    classifier.set_params(class_weight="none", C=3.0)
    np.testing.assert_array_equal(classifier._costs(), np.full((CLASSES, 2), 3.0))


# --- shapes of the embedding -----------------------------------------------------------------------------------


def test_embedding_per_class_or_shared():
    assert fitted().embedding_.shape == (CLASSES, FEATURES, 6)
    assert fitted().coef_.shape == (CLASSES, 1, 6)
    assert fitted().word_vectors().shape == (FEATURES, CLASSES * 6)
    shared = fitted(embedding="shared")
    assert shared.embedding_.shape == (1, FEATURES, 6) and shared.coef_.shape == (1, CLASSES, 6)
    assert shared.word_vectors().shape == (FEATURES, 6)
    both = fitted()
    np.testing.assert_array_equal(both.word_vectors()[:, 6:12], both.embedding_[1])


def test_fixed_vectors_stay_and_learned_ones_move():
    start = random_vectors(FEATURES, 6, 1)
    np.testing.assert_array_equal(fitted(algorithm="pa").embedding_[0], start)
    assert not np.array_equal(fitted().embedding_[0], start)
    given = np.random.default_rng(3).random((FEATURES, 4))
    np.testing.assert_array_equal(
        fitted(algorithm="pa", vectors=given).embedding_[0], given.astype(np.float32)
    )


def test_onehot_weights():
    assert fitted().onehot_coef_.shape == (CLASSES, 0, 1)
    assert fitted(concat_onehot=True).onehot_coef_.shape == (CLASSES, FEATURES, 1)
    onehot = fitted(algorithm="pa-onehot")
    assert onehot.embedding_.shape == (1, FEATURES, 0) and onehot.onehot_coef_.shape == (1, FEATURES, CLASSES)


def test_random_vectors_do_not_depend_on_how_many_follow():
    np.testing.assert_array_equal(random_vectors(3, 4, 7), random_vectors(9, 4, 7)[:3])
    assert np.abs(random_vectors(1000, 4, 7)).max() < 1


def test_average_is_the_mean_of_the_weights_after_each_document(monkeypatch):
    X, y = data()
    weights = []

    class Look(Monitor):
        def advance(self, done):
            weights.append(current.weights_.w.copy())

    monkeypatch.setattr(rpa_module, "_WORK", 1)
    current = model(epochs=2)
    current.fit(X, y, monitor=Look())
    averaged = fitted(average=True, epochs=2)
    np.testing.assert_array_equal(averaged.weights_.w[:, 0], current.weights_.w[:, 0])
    np.testing.assert_allclose(averaged.coef_, np.mean(weights, axis=0)[:, 0], rtol=1e-4, atol=1e-6)


# --- a peer ----------------------------------------------------------------------------------------------------


def peer(Z: np.ndarray, y: np.ndarray, C: float, epochs: int):
    """scikit-learn's PA-II over the rows in their order."""
    from sklearn.linear_model import PassiveAggressiveClassifier

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # deprecated since scikit-learn 1.8, and no convergence at so few epochs
        return PassiveAggressiveClassifier(
            C=C, loss="squared_hinge", fit_intercept=False, shuffle=False, max_iter=epochs, tol=None
        ).fit(Z, y)


@pytest.mark.parametrize("classes", [2, CLASSES])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_fixed_vectors_equal_scikit_learn(classes, C):
    X, y = data(classes)
    vectors = np.random.default_rng(4).normal(size=(FEATURES, 6)).astype(np.float32)
    options = {"class_weight": "none", "normalize": "none", "shuffle": False, "C": C}
    mine = fitted(classes, algorithm="pa", vectors=vectors, **options)
    theirs = peer(X.toarray() @ vectors, y, C, 3)
    np.testing.assert_allclose(mine.coef_[0], theirs.coef_, rtol=2e-3, atol=2e-4)
    onehot = fitted(classes, algorithm="pa-onehot", **options)
    theirs = peer(X.toarray(), y, C, 3)
    np.testing.assert_allclose(onehot.onehot_coef_[0].T, theirs.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        onehot.decision_function(X), theirs.decision_function(X.toarray()), rtol=1e-4, atol=1e-5
    )


# --- numbers that leave the range ------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"update": "printed"}, {}, {"update": "joint"}])
@pytest.mark.parametrize("threads", [1, 3])
def test_u049_overflow_stops_with_advice(options, threads):
    X, y = data()
    message = r"not a finite number in epoch 1, at its document \d+, with C = .* smaller C, a larger lambda, or smaller values"
    with pytest.raises(WordkitError, match=message):
        model(C=1e38, lam=1e-38, normalize="none", threads=threads, **options).fit(X * np.float32(3e38), y)
