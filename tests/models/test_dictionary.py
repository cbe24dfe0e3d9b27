"""Atoms: against the printed algorithm, never further from the data, and the same bits on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from tests.reference import dictionary as twin
from wordkit.models import dictionary
from wordkit.models.dictionary import Dictionary


def case(seed, n=40, contexts=70, atoms=9, idle=()):
    random = np.random.default_rng(seed)
    X = scipy.sparse.random_array((n, contexts), density=0.3, rng=random, dtype=np.float32).tocsr()
    A = random.standard_normal((atoms, n)).astype(np.float32) * (random.random((atoms, n)) < 0.6)
    A[list(idle)] = 0
    D = random.standard_normal((atoms, contexts)).astype(np.float32)
    return X, A, D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.mark.parametrize("idle", [(), (0, 8)])
def test_equals_the_printed_algorithm(idle, monkeypatch):
    monkeypatch.setattr(dictionary, "_CONTEXTS", 16)  # several blocks of all kinds
    monkeypatch.setattr(dictionary, "_ATOMS", 4)
    X, A, D = case(1, idle=idle)
    ours = Dictionary(D)
    ours.replace(X, np.zeros_like(A), A)
    np.testing.assert_allclose(ours.code_products, A.astype(float) @ A.T, rtol=1e-6)
    np.testing.assert_allclose(ours.data_products, A @ X.toarray(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.gram(), D @ D.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.correlations(X), D @ X.T.toarray(), rtol=1e-4, atol=1e-5)
    before = twin.squared_error(D, X.toarray(), A)
    squares = float(X.power(2).sum())
    assert ours.squared_error(squares) == pytest.approx(before, rel=1e-5)
    ours.update()
    np.testing.assert_allclose(
        ours.components, twin.update(D, A @ A.T, A @ X.toarray()), rtol=1e-3, atol=1e-4
    )
    assert ours.squared_error(squares) < before
    assert np.linalg.norm(ours.components, axis=1).max() <= 1 + 1e-6
    assert ours.idle().tolist() == list(idle)
    np.testing.assert_array_equal(ours.components[list(idle)], D[list(idle)])


def test_new_codes_replace_the_old_ones():
    X, A, D = case(2)
    _, other, _ = case(3)
    both, one = Dictionary(D), Dictionary(D)
    both.replace(X, np.zeros_like(A), A)
    both.replace(X[5:20], A[:, 5:20], other[:, 5:20])
    A[:, 5:20] = other[:, 5:20]
    one.replace(X, np.zeros_like(A), A)
    np.testing.assert_allclose(both.code_products, one.code_products, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(both.data_products, one.data_products, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_give_the_same_bits(threads, monkeypatch):
    monkeypatch.setattr(dictionary, "_CONTEXTS", 16)
    X, A, D = case(4)
    found = []
    for number in (1, threads):
        ours = Dictionary(D, number)
        ours.replace(X, np.zeros_like(A), A)
        ours.update()
        found.append((ours.components, ours.gram(), ours.correlations(X), ours.data_products))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)
