"""The sgd kernel against its twin, with the same draws; checks of its doors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import forest_sgd as twin
from wordkit._kernels import forest_sgd
from wordkit.models.entry_sampling import EntrySampling
from wordkit.models.forest_layout import ForestLayout

TREE = [-1, 0, 1, 1, 1, 0, 5, 5, 5, 0, 9, 9, 9]
FORESTS = st.integers(1, 45).flatmap(
    lambda n: st.tuples(*(st.integers(-1, max(i - 1, -1)) for i in range(n)))
)


def matrix(random, C=7, V=9):
    X = np.round(random.normal(size=(C, V)) * (random.random((C, V)) < 0.5), 3).astype(np.float32)
    X[2], X[:, 3], X[0, 0] = 0, 0, 1.5  # an empty row and an empty column
    return X.astype(float)


def run(X, sampling, layout, A, D, n, lam, tau, rate, total, printed=False, nonnegative=False, limit=1e9):
    codes, dictionary = layout.pack(A), layout.pack(D)
    loss, scratch = np.zeros(1), np.zeros(2 * layout.width, dtype=np.float32)
    done = forest_sgd.run_draws(
        *sampling.arguments(), 0, n, layout.level, layout.run_bound, layout.runs, codes, dictionary, lam, tau, rate, 1 / total,
        limit, printed, nonnegative, scratch, loss,
    )  # fmt: skip
    return layout.unpack(codes), layout.unpack(dictionary), loss[0], done


@settings(max_examples=60)
@given(
    st.integers(0, 10**6), FORESTS, st.sampled_from(["alias", "uniform"]), st.sampled_from([0, 0.4, 1]), st.booleans(),
    st.booleans(), st.sampled_from([0, 0.02, 0.4]), st.sampled_from([0, 0.1]),
)  # fmt: skip
def test_equals_its_twin(seed, parents, kind, zeros, printed, nonnegative, lam, tau):
    random = np.random.default_rng(seed)
    X = matrix(random)
    sampling = EntrySampling(scipy.sparse.csr_array(X), sampling=kind, zeros=zeros, seed=seed)
    layout = ForestLayout.of(np.array(parents))
    forest_sgd.check_forest(layout.level, layout.run_bound, layout.runs, layout.width)
    A, D = ((random.normal(size=(n, len(parents))) / len(parents) ** 0.5).astype(np.float32) for n in (9, 7))
    lam, tau = np.full(9, lam, dtype=np.float32), np.full(7, tau, dtype=np.float32)
    n, rate, total = 60, 0.02, 100
    *ours, done = run(X, sampling, layout, A, D, n, lam, tau, rate, total, printed, nonnegative)
    theirs = twin.run(
        X, sampling, A, D, n, parents=parents, lam=lam, tau=tau, learning_rate=rate, total=total, printed=printed,
        nonnegative=nonnegative,
    )  # fmt: skip
    assert done == n
    for found, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-5)


def test_one_step_by_hand():
    """x = 3, a = (1, 1), d = (1, 0): e = 2, and with rate 1/4 and the plain step a = (2, 1), d = (2, 1)."""
    X = scipy.sparse.csr_array([[3.0]])
    sampling, layout = EntrySampling(X, zeros=0), ForestLayout.of(np.array([-1, 0]))
    A, D = np.array([[1, 1]], dtype=np.float32), np.array([[1, 0]], dtype=np.float32)
    lam, tau = np.zeros(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    a, d, loss, _ = run(X, sampling, layout, A, D, 1, lam, tau, 0.25, 1e9, printed=True)
    np.testing.assert_allclose([*a[0], *d[0], loss], [2, 1, 2, 1, 4], rtol=1e-6)
    # Leaf: 1 - 1 = 0, and then the root (2, 0) by 1 - 1/2.
    a, d, loss, _ = run(X, sampling, layout, A, D, 1, lam + 1, tau, 0.25, 1e9, printed=True)
    np.testing.assert_allclose(a[0], [1, 0], rtol=1e-6)
    # The implicit step: e' = 2 / (1 + 2/4 (2 + 1)) = 0.8.
    a, d, loss, _ = run(X, sampling, layout, A, D, 1, lam, tau, 0.25, 1e9)
    np.testing.assert_allclose([*a[0], *d[0], loss], [1.4, 1, 1.4, 0.4, 4], rtol=1e-6)


def test_draws_are_the_twins_and_follow_the_weights():
    X = matrix(np.random.default_rng(3))
    for kind in ("alias", "uniform"):
        sampling = EntrySampling(scipy.sparse.csr_array(X), sampling=kind, zeros=0.3, seed=5)
        row, column, value, weight = sampling.draw(1000, 300)
        for i in range(300):
            c, v, x, w = twin.draw(X, sampling, 1000 + i)
            assert (row[i], column[i]) == (c, v)
            np.testing.assert_allclose([value[i], weight[i]], [x, w], rtol=1e-6)
        n = 200_000
        row, column, value, weight = sampling.draw(0, n)
        found = np.zeros(X.shape)
        np.add.at(found, (row, column), weight)
        expected = n * (0.7 * np.abs(X) / np.abs(X).sum() + 0.3 / X.size)
        assert np.all(np.abs(found - expected) < 6 * np.sqrt(expected * weight.max()))
        visits = np.bincount(column, minlength=9) / n * sampling.nnz
        np.testing.assert_allclose(visits, sampling.visits(1), rtol=0.05)
        np.testing.assert_allclose(
            np.bincount(row, minlength=7) / n * sampling.nnz, sampling.visits(0), rtol=0.05
        )


def test_stops_before_an_error_beyond_the_limit():
    X = scipy.sparse.csr_array([[3.0]])
    sampling, layout = EntrySampling(X, zeros=0), ForestLayout.of(np.array([-1]))
    none = np.zeros(1, dtype=np.float32)
    for bad in (np.nan, np.inf, 1e5):
        A, D = np.array([[bad]], dtype=np.float32), np.ones((1, 1), dtype=np.float32)
        a, d, loss, done = run(X, sampling, layout, A, D, 5, none, none, 0.1, 1e9, limit=1e4)
        assert (done, loss) == (0, 0)
        np.testing.assert_array_equal(a, A)
        np.testing.assert_array_equal(d, D)


def test_doors_refuse_what_does_not_fit():
    X = matrix(np.random.default_rng(3))
    sampling, layout = EntrySampling(scipy.sparse.csr_array(X)), ForestLayout.of(np.array(TREE))
    A, D = np.zeros((9, 13), dtype=np.float32), np.zeros((7, 13), dtype=np.float32)
    lam, tau = np.zeros(9, dtype=np.float32), np.zeros(7, dtype=np.float32)
    for case in ((A[1:], D, lam, tau), (A, D[1:], lam, tau), (A, D, lam[1:], tau), (A, D, lam, tau[1:])):
        with pytest.raises(ValueError, match=r"codes and dictionary|shrinkage"):
            run(X, sampling, layout, *case[:2], 1, *case[2:], 0.1, 10)
    good = [sampling.indptr, sampling.indices, 9, sampling.row_alias, sampling.alias]
    forest_sgd.check_entries(*good)
    for place, array in (
        (0, good[0][1:]),
        (1, good[1][::-1].copy()),
        (1, good[1] + 5),
        (3, good[3] - 7),
        (4, good[4] + 9),
    ):
        with pytest.raises(ValueError, match="not consistent"):
            forest_sgd.check_entries(*good[:place], array, *good[place + 1 :])
    for level, bound, runs in (
        (layout.level[:-1], layout.run_bound, layout.runs),
        (layout.level, layout.run_bound[::-1].copy(), layout.runs),
        (layout.level, layout.run_bound, layout.runs + np.array([0, 1, 0], dtype=np.int32)),
        (layout.level, layout.run_bound, layout.runs + np.array([0, 0, 1], dtype=np.int32)),
        (layout.level + np.int32(20), layout.run_bound, layout.runs),
    ):
        with pytest.raises(ValueError, match="do not describe"):
            forest_sgd.check_forest(level, bound, runs, layout.width)
