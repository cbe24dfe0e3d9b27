"""Algorithm 1 as a whole: what it minimizes, exact repetition, resuming, threads, divergence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from tests.reference import forest_sgd as twin
from wordkit.errors import Interrupted, WordkitError
from wordkit.models import forest_sgd
from wordkit.models.forest_sgd import ForestSgd
from wordkit.monitor import Monitor

TREE = np.array([-1, 0, 1, 1, 1, 0, 5, 5, 5, 0, 9, 9, 9])
TWO = np.concatenate([TREE, np.where(TREE < 0, -1, TREE + 13)])


def planted(seed=0, C=60, V=80, density=0.4):
    """Entries of D A' where words use some subtrees only, and noise."""
    random = np.random.default_rng(seed)
    A = np.array([twin.prox(row, TWO, 0.5) for row in random.normal(size=(V, 26))])
    X = random.normal(size=(C, 26)) @ A.T / 3 + 0.1 * random.normal(size=(C, V))
    return scipy.sparse.csr_array(np.where(random.random((C, V)) < density, X, 0))


def train(X, epochs=5, run=None, parents=TWO, **arguments):
    model = ForestSgd(
        X, parents, epochs=epochs, **{"zeros": 0.2, "learning_rate": 0.05, "init_scale": 0.5, **arguments}
    )
    records = [model.run_epoch() for _ in range(epochs if run is None else run)]
    return model, records


@pytest.mark.parametrize("sampling", ["alias", "uniform"])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_the_objective_falls(sampling, nonnegative):
    X = planted()
    begin, _ = train(X, run=0, sampling=sampling, nonnegative=nonnegative)
    model, records = train(X, epochs=30, sampling=sampling, nonnegative=nonnegative)
    assert model.objective() < (0.75 if nonnegative else 0.45) * begin.objective()
    assert records[-1]["loss"] < records[0]["loss"] and records[-1]["learning_rate"] == 0
    assert model.epoch == 30 and model.draws == 30 * X.nnz
    assert not nonnegative or model.codes.min() == 0


def test_objective_is_its_definition():
    X = planted()
    model, _ = train(X, lam=0.7, tau=0.3)
    expected = twin.objective(
        X.toarray().astype(np.float32).astype(float), model.codes.astype(float), model.dictionary.astype(float),
        parents=TWO, zeros=0.2, lam=0.7, tau=0.3,
    )  # fmt: skip
    assert model.objective() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sampling", ["alias", "uniform"])
def test_the_fixed_point_is_the_objectives(sampling):
    """After a long run neither a proximal step on all words' rows nor a gradient step on D moves much."""
    X, lam, tau = planted(C=25, V=30), 2.0, 0.5
    model, _ = train(X, epochs=2000, lam=lam, tau=tau, sampling=sampling, learning_rate=0.01)
    A, D = model.codes.astype(float), model.dictionary.astype(float)
    assert 0.05 < np.mean(A == 0) < 0.95
    dense, z = X.toarray(), 0.2
    W = (1 - z) * np.abs(dense) / np.abs(X.data).mean() + z * X.nnz / dense.size
    error = W * (dense - D @ A.T)
    size = 1 / (2 * W.max() * np.linalg.norm(D.T @ D, 2))

    def operator(rows):
        return np.array([twin.prox(row, TWO, lam * size) for row in rows])

    # What is left of the operator's pull, and of the decay's, when the errors have pulled the other way: noise, and along A
    # and D, where a wrong size of either would show, next to nothing.
    for left, pull, along in (
        (operator(A + 2 * size * error.T @ D) - A, operator(A) - A, A),
        (error @ A - tau * D, tau * D, D),
    ):
        assert np.linalg.norm(left) < 0.15 * np.linalg.norm(pull)
        assert abs(np.sum(left * along)) < 0.05 * abs(np.sum(pull * along))


def test_ancestors_are_non_zero_wherever_a_node_is():
    model, _ = train(planted(), epochs=20, lam=10.0)
    used = model.codes != 0
    assert 0.02 < used.mean() < 0.98
    for node in np.flatnonzero(TWO >= 0):
        assert np.all(used[:, TWO[node]] | ~used[:, node])


def test_singletons_are_the_l1_penalty():
    model, _ = train(planted(), epochs=20, lam=10.0, parents=np.full(26, -1))
    used = model.codes != 0
    assert 0.02 < used.mean() < 0.98
    assert any(np.any(used[:, node] & ~used[:, TWO[node]]) for node in np.flatnonzero(TWO >= 0))


def test_one_thread_repeats_itself_and_the_seed_matters():
    X = planted()
    one, two, other = (train(X, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one.codes, two.codes) and np.array_equal(one.dictionary, two.dictionary)
    assert not np.array_equal(one.codes, other.codes)


def test_the_kernel_is_called_in_pieces(monkeypatch):
    X = planted()
    whole, _ = train(X)
    monkeypatch.setattr(forest_sgd, "_CHUNK", 100)
    pieces, _ = train(X)
    assert np.array_equal(whole.codes, pieces.codes)


def test_resuming_is_going_on():
    X = planted()
    whole, records = train(X)
    part, _ = train(X, run=2)
    state = part.state()
    again, _ = train(X, run=0)
    again.restore(state)
    rest = [again.run_epoch() for _ in range(3)]
    assert np.array_equal(whole.codes, again.codes) and np.array_equal(whole.dictionary, again.dictionary)
    assert rest == records[2:]
    with pytest.raises(ValueError, match="epochs are done"):
        again.run_epoch()
    for name, value in (
        ("codes", state["codes"][1:]),
        ("dictionary", state["dictionary"] * np.nan),
        ("draws", -1),
    ):
        with pytest.raises(ValueError, match=name):
            again.restore({**state, name: value})


def test_stopping_within_an_epoch(monkeypatch):
    class Stops(Monitor):
        def advance(self, done):
            self.stopping = True

    monkeypatch.setattr(forest_sgd, "_CHUNK", 100)
    X = planted()
    whole, _ = train(X, epochs=1)
    part, _ = train(X, epochs=1, run=0)
    with pytest.raises(Interrupted):
        part.run_epoch(Stops())
    assert part.draws == 100 * forest_sgd._CALLS < X.nnz
    again, _ = train(X, epochs=1, run=0)
    again.restore(part.state())
    again.run_epoch()
    assert np.array_equal(whole.codes, again.codes)


def test_two_threads_get_as_far(monkeypatch):
    monkeypatch.setattr(forest_sgd, "_CHUNK", 200)
    X = planted(C=200, V=200)
    one, two = (train(X, epochs=10, threads=threads)[0].objective() for threads in (1, 2))
    assert two == pytest.approx(one, rel=0.05)


def test_divergence_keeps_the_last_good_state():
    X = planted()
    model, _ = train(X, epochs=3, run=1, step="printed", lam=0.0, learning_rate=0.01)
    before = model.state()
    model.learning_rate = 50.0
    with pytest.raises(WordkitError, match="diverged in epoch 2: use a --learning-rate below 50") as caught:
        model.run_epoch()
    assert "\n" not in str(caught.value)
    assert model.draws == before["draws"] and np.array_equal(model.codes, before["codes"])
    assert np.array_equal(model.dictionary, before["dictionary"])
    model.learning_rate = 0.01
    model.run_epoch()
    # The implicit step holds at rates that are far too large.
    train(X, epochs=3, learning_rate=50.0)


def test_the_matrix_stays_as_it_is_and_need_not_be_canonical():
    X = planted()
    # Each row twice with half of its values, then a stored zero.
    cuts = [np.r_[X.indptr[i] : X.indptr[i + 1]] for i in range(X.shape[0])]
    order = np.concatenate([np.r_[cut, cut[::-1], cut[:1]] for cut in cuts])
    values = np.concatenate([np.r_[X.data[cut] / 2, X.data[cut[::-1]] / 2, 0] for cut in cuts])
    ends = np.cumsum([0, *(2 * len(cut) + 1 for cut in cuts)])
    for array in (values, ends):
        array.setflags(write=False)
    odd = scipy.sparse.csr_array((values, X.indices[order], ends), shape=X.shape)
    before = odd.indices.copy()
    one, two = train(X, run=1)[0], train(odd, run=1)[0]
    assert np.array_equal(one.codes, two.codes) and np.array_equal(odd.indices, before)


@pytest.mark.parametrize(
    "arguments",
    [
        {"lam": -1}, {"tau": np.inf}, {"learning_rate": 0}, {"init_scale": np.nan}, {"epochs": 0}, {"threads": 0},
        {"step": "x"}, {"sampling": "x"}, {"zeros": 1.1}, {"parents": np.array([0])},
    ],
)  # fmt: skip
def test_what_is_out_of_range_is_refused(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        train(planted(), run=0, **arguments)


@pytest.mark.parametrize("values", [[[0.0]], [[np.nan]], [[np.inf]], [[1e300]], [[1j]]])
def test_matrices_that_cannot_be_used(values):
    with pytest.raises(ValueError, match="matrix"):
        train(scipy.sparse.csr_array(values), run=0)
