"""The coder: falling objectives, planted atoms, the same bytes after an interruption, zeros that follow the trees."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse

from wordkit.errors import Interrupted
from wordkit.models.forests import forest_of_shape
from wordkit.models.sparse_coding import ForestCoder
from wordkit.monitor import Monitor


class StopAfter(Monitor):
    """Asks to stop after some batches."""

    def __init__(self, batches):
        self.left = batches

    def advance(self, done):
        self.left -= done > 0
        self.stopping = self.left <= 0


def planted(seed, n=400, contexts=60, shape="2x2", trees=2, often=0.6, noise=0.01):
    """Rows that are combinations of orthogonal atoms, used as trees allow: a node only below one that is used."""
    random = np.random.default_rng(seed)
    forest = forest_of_shape(shape, trees=trees)
    used = np.zeros((n, len(forest)), dtype=bool)
    for node, parent in enumerate(forest.parents):
        used[:, node] = (random.random(n) < often) & (used[:, parent] if parent >= 0 else True)
    codes = used * random.choice([-1.0, 1.0], used.shape) * random.uniform(1, 3, used.shape)
    atoms = np.linalg.qr(random.standard_normal((contexts, len(forest))))[0].T
    X = codes @ atoms + noise * random.standard_normal((n, contexts))
    return scipy.sparse.csr_array(X.astype(np.float32)), atoms


def small(**more):
    return ForestCoder(**{"dim": 14, "tree_shape": "2x2", "batch_size": 64, "epochs": 4, "lam": 0.05, **more})


@pytest.mark.parametrize("regularizer", ["forest", "l1", "none"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_objective_falls(regularizer, nonnegative):
    X, _ = planted(1)
    X.data[:] = np.abs(X.data) if nonnegative else X.data
    coder = small(regularizer=regularizer, nonnegative=nonnegative, heldout=0.0, max_iter=1000).fit(X)
    values = [record["objective"] for record in coder.history_]
    assert (np.diff(values) < 1e-3 * values[0]).all() and values[-1] < 0.99 * values[0]
    assert (coder.codes_ >= 0).all() or not nonnegative
    error = np.sum((X.toarray() - coder.codes_ @ coder.components_) ** 2) / X.power(2).sum()
    assert coder.history_[-1]["reconstruction_error"] == pytest.approx(error, abs=2e-3)
    assert np.linalg.norm(coder.components_, axis=1).max() < 1 + 1e-5


def test_planted_atoms_are_found():
    """By the best of two starts: the problem is not convex, and the objective tells which start got there."""
    X, atoms = planted(2, n=2000, shape="2", trees=3, often=0.35)
    starts = [small(dim=9, tree_shape="2", lam=0.5, epochs=20, seed=seed).fit(X) for seed in (2, 3)]
    coder = min(starts, key=lambda start: start.history_[-1]["objective"])
    likeness = np.abs(
        coder.components_ @ atoms.T
    )  # of found and planted atoms, whatever their order and sign
    assert likeness.max(axis=0).min() > 0.97
    assert coder.history_[-1]["heldout_error"] < 0.06


def test_zeros_follow_the_trees():
    X, _ = planted(3)
    coder = small(lam=2.0).fit(X)
    parents = coder.forest_.parents
    below = np.flatnonzero(parents >= 0)
    used = coder.codes_ != 0
    assert 0.05 < used.mean() < 0.95
    assert (used[:, parents[below]] | ~used[:, below]).all()
    levels = coder.level_density()
    assert len(levels) == 3 and levels[0] >= levels[1] >= levels[2]


def test_transform_gives_the_codes_of_the_fit():
    X, _ = planted(4)
    coder = small(tol=1e-4, max_iter=2000).fit(X)
    np.testing.assert_allclose(coder.transform(X), coder.codes_, atol=5e-3)
    np.testing.assert_allclose(coder.transform(X[:3].toarray()), coder.codes_[:3], atol=5e-3)
    with pytest.raises(ValueError, match="features"):
        coder.transform(X[:, :5])


@pytest.mark.parametrize("batches", [1, 7, 23, 28])
def test_resumed_and_uninterrupted_are_the_same(batches):
    X, _ = planted(5)
    whole, parts = small().fit(X), small()
    with pytest.raises(Interrupted):
        parts.fit(X, monitor=StopAfter(batches))
    arrays, values = parts.state()
    arrays = {name: array.copy() for name, array in arrays.items()}
    later = ForestCoder.from_state(arrays, values).resume(X)
    np.testing.assert_array_equal(later.codes_, whole.codes_)
    np.testing.assert_array_equal(later.components_, whole.components_)
    assert later.history_ == whole.history_


@pytest.mark.parametrize("algorithm", ["online", "sgd"])
def test_what_is_saved_at_the_end_of_an_epoch_goes_on(algorithm):
    X, _ = planted(5)

    class Saves(Monitor):
        def epoch(self, record):
            arrays, values = parts.state()
            saved.append(({name: array.copy() for name, array in arrays.items()}, copy.deepcopy(values)))

    saved, parts = [], small(algorithm=algorithm)
    parts.fit(X, monitor=Saves())
    later = ForestCoder.from_state(*saved[1]).resume(X)
    np.testing.assert_array_equal(later.codes_, parts.codes_)
    assert later.history_ == parts.history_ and [record["epoch"] for record in later.history_] == [1, 2, 3, 4]


def test_threads_and_seeds():
    X, _ = planted(6)
    one, four, other = small(threads=1).fit(X), small(threads=4).fit(X), small(seed=2).fit(X)
    np.testing.assert_array_equal(one.codes_, four.codes_)
    assert (one.codes_ != other.codes_).any()


def test_partial_fit_learns_from_a_stream():
    X, _ = planted(7, n=1200)
    coder = small(lam=0.1)
    errors = []
    for lo in range(0, 1200, 100):
        coder.partial_fit(X[lo : lo + 100])
        codes = coder.transform(X[:200])
        errors.append(float(np.sum((X[:200].toarray() - codes @ coder.components_) ** 2)))
    assert errors[-1] < 0.8 * errors[0]


def test_svd_is_the_truncated_decomposition():
    X, _ = planted(8)
    coder = ForestCoder(algorithm="svd", dim=6, power=1.0).fit(X)
    U, values, Vt = np.linalg.svd(X.toarray(), full_matrices=False)
    np.testing.assert_allclose(coder.singular_values_, values[:6], rtol=1e-5)
    np.testing.assert_allclose(coder.codes_ @ coder.components_, (U[:, :6] * values[:6]) @ Vt[:6], atol=1e-4)
    np.testing.assert_allclose(coder.transform(X), coder.codes_, atol=1e-4)
    lost = np.sum((X.toarray() - coder.codes_ @ coder.components_) ** 2) / X.power(2).sum()
    assert coder.history_[0]["reconstruction_error"] == pytest.approx(lost, rel=1e-4) and coder.n_iter_ == 1
    half = ForestCoder(algorithm="svd", dim=6, power=0.5).fit(X)
    np.testing.assert_allclose(np.abs(half.codes_), np.abs(U[:, :6] * np.sqrt(values[:6])), atol=1e-4)
    np.testing.assert_allclose(half.transform(X), half.codes_, atol=1e-4)
    with pytest.raises(ValueError, match="svd finds fewer"):
        ForestCoder(algorithm="svd", dim=60).fit(X)


def test_singular_values_of_rounding_are_zero():
    """ARPACK's are not the same from call to call: one of eight has something like 1e-48 in the third place."""
    X = scipy.sparse.csr_array([[0.0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    for _ in range(100):
        coder = ForestCoder(algorithm="svd", dim=3, power=-3).fit(X)
        assert coder.singular_values_[2] == 0 and not coder.codes_[:, 2].any()


def test_sgd_lowers_its_loss_and_goes_on_where_it_was():
    X, _ = planted(9)
    settings = {"algorithm": "sgd", "zeros": 0.2, "epochs": 30, "lam": 0.01}
    whole, parts = small(**settings).fit(X), small(**settings)
    losses = [record["loss"] for record in whole.history_]
    assert losses[-1] < 0.7 * losses[0]
    assert whole.history_[-1]["heldout_error"] < whole.history_[0]["heldout_error"]
    with pytest.raises(Interrupted):
        parts.fit(X, monitor=StopAfter(11))
    arrays, values = parts.state()
    later = ForestCoder.from_state({key: array.copy() for key, array in arrays.items()}, values).resume(X)
    np.testing.assert_array_equal(later.codes_, whole.codes_)
    np.testing.assert_array_equal(later.components_, whole.components_)


def test_u075_atoms_that_no_row_uses_begin_anew():
    X, _ = planted(12)
    coder = small(epochs=1, regularizer="l1")
    coder.fit(X)
    training = coder._training
    training.codes[:, 3] = 0
    training.dictionary.code_products[3] = training.dictionary.code_products[:, 3] = 0
    training.dictionary.components[3] = 0
    assert 3 in training.dictionary.idle()
    training.renew()
    renewed = training.dictionary.components[3]
    assert np.linalg.norm(renewed) == pytest.approx(1, rel=1e-5)
    X = X.toarray()
    directions = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert (directions @ renewed).max() > 1 - 1e-5  # one of the rows
    training.run_epoch(Monitor())
    assert training.codes[:, 3].any()


def test_more_atoms_than_contexts_and_rows_of_zeros():
    X = scipy.sparse.csr_array(np.eye(5, 4, dtype=np.float32))
    coder = small(heldout=0.0, lam=0.01).fit(X)
    assert coder.codes_.shape == (5, 14) and not coder.codes_[4].any() and np.isfinite(coder.codes_).all()


@pytest.mark.parametrize(
    ("parameters", "says"),
    [({"dim": 15}, "multiple of 7"), ({"lam": -1}, "lam"), ({"lam": np.nan}, "lam"), ({"epochs": 0}, "epochs"),
     ({"heldout": 1.5}, "heldout"), ({"parents": [-1, 0]}, "2 nodes"), ({"parents": [0] * 14}, "node 0"),
     ({"algorithm": "pca"}, "algorithm"), ({"regularizer": "l2"}, "regularizer"), ({"tol": 0}, "tol"),
     ({"heldout": 1.0}, "no row"),
     ({"seed": -1}, "seed"), ({"tree_shape": "3by3"}, "shape"), ({"power": np.inf, "algorithm": "svd"}, "power")],
)  # fmt: skip
def test_bad_parameters_are_named(parameters, says):
    X, _ = planted(10, n=30)
    with pytest.raises(ValueError, match=says):
        small(**parameters).fit(X)


def test_damaged_states_are_refused():
    X, _ = planted(11, n=60)
    arrays, values = small(epochs=1).fit(X).state()
    for name in arrays:
        with pytest.raises(ValueError):
            ForestCoder.from_state({**arrays, name: arrays[name][:-1]}, values).resume(X)
        with pytest.raises(ValueError):
            ForestCoder.from_state(
                {key: value for key, value in arrays.items() if key != name}, values
            ).resume(X)
    for name in ("parameters", "features", "history", "epochs_done", "position", "rho"):
        with pytest.raises(ValueError):
            ForestCoder.from_state(arrays, {**values, name: None}).resume(X)
    with pytest.raises(ValueError):
        ForestCoder.from_state({**arrays, "codes": arrays["codes"] * np.nan}, values).resume(X)


def test_counts_and_single_rows_are_refused_with_what_to_do():
    from wordkit.formats.counts import Counts

    X, _ = planted(4)
    words = [str(i) for i in range(60)]
    counts = Counts(scipy.sparse.csr_array(np.eye(60, dtype=np.int32)), words, np.ones(60, np.int64))
    with pytest.raises(TypeError, match=r"pmi\(counts\)"):
        small().fit(counts)
    coder = small(epochs=1).fit(X)
    for row in (X[0], X[0].toarray().ravel()):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
            coder.transform(row)


def test_work_is_begun_once_and_told_to_its_end():
    class Counts(Monitor):
        def __init__(self):
            self.phases = []

        def begin(self, total, unit):
            self.phases.append([total, 0])

        def advance(self, done):
            self.phases[-1][1] += done

    X, _ = planted(5)
    for algorithm, phases in (("online", 2), ("sgd", 1)):
        counts = Counts()
        small(algorithm=algorithm).fit(X, monitor=counts)
        assert len(counts.phases) == phases and all(total == done for total, done in counts.phases)
