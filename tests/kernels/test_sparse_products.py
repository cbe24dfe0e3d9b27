"""Products of sparse rows with a matrix, beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from wordkit._kernels import sparse_products


def cells(matrix):
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data


@pytest.mark.parametrize("k", [1, 7, 64, 260])
def test_products_are_those_of_the_dense_matrices(k):
    random = np.random.default_rng(k)
    X = scipy.sparse.random_array((30, 40), density=0.2, format="csr", dtype=np.float32, rng=random)
    X = scipy.sparse.csr_array(X * (np.arange(30) != 4)[:, None])  # a row without cells
    by = random.normal(size=(40, k)).astype(np.float32)
    out = np.full((25, k), np.nan, dtype=np.float32)
    sparse_products.multiply(*cells(X), by, out, 3, 28)
    np.testing.assert_allclose(out, X.toarray()[3:28].astype(float) @ by, rtol=1e-5, atol=1e-5)
    assert not out[1].any()


def test_nothing_outside_is_touched():
    X = scipy.sparse.csr_array(np.eye(3, dtype=np.float32))
    indptr, indices, values = cells(X)
    by, out = np.ones((3, 2), dtype=np.float32), np.zeros((3, 2), dtype=np.float32)
    for first, last in ((0, 4), (-1, 2), (2, 1)):
        with pytest.raises(ValueError, match="shapes"):
            sparse_products.multiply(indptr, indices, values, by, out, first, last)
    for wrong in (np.array([0, 1, 3], np.int32), np.array([0, -1, 2], np.int32)):
        with pytest.raises(ValueError, match="lies outside"):
            sparse_products.multiply(indptr, wrong, values, by, out, 0, 3)
    with pytest.raises(ValueError, match="lies outside"):
        sparse_products.multiply(np.array([0, 2, 1, 3]), indices, values, by, out, 0, 3)
    with pytest.raises(ValueError, match="shapes"):
        sparse_products.multiply(indptr, indices, values, by, out[:, :1].copy(), 0, 3)
