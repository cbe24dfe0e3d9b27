"""PMI of counts against a dense table."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import cooccurrence as twin
from wordkit.formats.counts import Counts
from wordkit.models import association
from wordkit.models.association import pmi


def random_table(seed, rows, columns, share=0.3):
    random = np.random.default_rng(seed)
    return random.integers(1, 50, (rows, columns)) * (random.random((rows, columns)) < share)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40), st.booleans(),
    st.sampled_from([0.0, 1.0, 2.0, 0.5]), st.sampled_from([np.int32, np.int64, np.float32, np.float64]),
)  # fmt: skip
def test_pmi_equals_the_definition(seed, rows, columns, positive, shift, dtype):
    dense = random_table(seed, rows, columns).astype(dtype)
    counts = scipy.sparse.csr_array(dense)
    found = pmi(counts, positive=positive, shift=shift)
    assert found.dtype == np.float32 and found.has_sorted_indices
    np.testing.assert_allclose(
        found.toarray(), twin.pmi(dense, positive=positive, shift=shift), rtol=1e-5, atol=1e-6
    )
    if positive:
        assert (found.data > 0).all()
    else:
        np.testing.assert_array_equal(found.indices, counts.indices)
    np.testing.assert_array_equal(counts.toarray(), dense)


def test_pieces_do_not_matter(monkeypatch):
    counts = scipy.sparse.csr_array(random_table(1, 50, 60))
    expected = pmi(counts, positive=True, shift=2)
    monkeypatch.setattr(association, "_CELLS", 70)
    found = pmi(counts, positive=True, shift=2)
    np.testing.assert_array_equal(found.toarray(), expected.toarray())


def test_u067_stays_sparse():
    """A million words: a dense table would take four terabytes."""
    V = 1_000_000
    matrix = scipy.sparse.csr_array((np.array([3, 3]), ([0, V - 1], [V - 1, 0])), shape=(V, V))
    counts = Counts(matrix, [f"w{i}" for i in range(V)], np.ones(V, np.int64))
    found = pmi(counts)
    assert found.nnz == 2
    np.testing.assert_allclose(found.data, np.log(2), rtol=1e-6)


def test_by_hand():
    """Independent words: PMI 0, a cell that positive PMI leaves out."""
    counts = scipy.sparse.csr_array(np.ones((2, 2), np.int32))
    assert pmi(counts).nnz == 4 and not pmi(counts).toarray().any() and pmi(counts, positive=True).nnz == 0
    np.testing.assert_allclose(pmi(counts, shift=2).toarray(), -np.log(2), rtol=1e-6)


def test_odd_tables():
    assert pmi(scipy.sparse.csr_array((3, 3), dtype=np.int32)).nnz == 0
    assert pmi(scipy.sparse.csr_array((0, 0), dtype=np.int32), positive=True).shape == (0, 0)
    stored_zero = scipy.sparse.csr_array((np.array([0, 2]), [0, 1], [0, 2, 2]), shape=(2, 2))
    assert pmi(stored_zero).nnz == 1 and stored_zero.nnz == 2
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="shift"):
            pmi(stored_zero, shift=bad)
    for bad in (-1.0, np.nan):
        with pytest.raises(ValueError, match="counts"):
            pmi(scipy.sparse.csr_array(np.array([[bad]])))
