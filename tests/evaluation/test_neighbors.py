"""Nearest neighbours against every pair in a double loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.reference import neighbors as twin
from wordkit.evaluation import neighbors
from wordkit.evaluation.measures import MEASURES, OF_PROBABILITIES
from wordkit.evaluation.neighbors import SIMILARITIES, NeighborIndex, nearest_neighbors


def assert_like_the_twin(rows, vectors, top, similarity, **options):
    found = nearest_neighbors(np.array(rows, dtype=int), vectors, top=top, similarity=similarity, **options)
    assert found.rows.shape == found.scores.shape == (len(rows), top)
    for i, row in enumerate(rows):
        expected = twin.nearest(vectors[row], row, vectors, top, similarity)
        n = len(expected)
        assert found.rows[i, :n].tolist() == [pair[0] for pair in expected]
        np.testing.assert_allclose(
            found.scores[i, :n], [pair[1] for pair in expected], rtol=1e-12, atol=1e-300
        )
        assert (found.rows[i, n:] == -1).all() and np.isnan(found.scores[i, n:]).all()
    return found


# Few distinct values make ties; the wide ones reach beyond what products of floats can hold.
few = st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.0, 0.5])
wide = st.floats(-(2.0**120), 2.0**120, width=32)
shapes = st.tuples(st.integers(1, 12), st.integers(1, 4))


@settings(max_examples=250)
@given(
    st.one_of(arrays(np.float32, shapes, elements=few), arrays(np.float32, shapes, elements=wide)),
    st.integers(1, 15),
    st.sampled_from(SIMILARITIES),
)
def test_equals_the_twin(vectors, top, similarity):
    if similarity in OF_PROBABILITIES:
        vectors = np.abs(vectors)
    assert_like_the_twin(range(len(vectors)), vectors, top, similarity)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_many_blocks_and_threads(monkeypatch, similarity):
    """Blocks of 7 queries and 16 rows give the bits of one block, on one thread and on four."""
    random = np.random.default_rng(0)
    vectors = np.abs(random.standard_normal((200, 20))).astype(np.float32)
    vectors[50:90] = vectors[10:50]  # ties far apart
    vectors[[3, 150]] = 0
    rows = random.permutation(200)[:60]
    whole = assert_like_the_twin(rows, vectors, 8, similarity)
    monkeypatch.setattr(neighbors, "QUERY_BLOCK", 7)
    monkeypatch.setattr(neighbors, "ROW_BLOCK", 16)
    for threads in (1, 4):
        found = nearest_neighbors(rows, vectors, top=8, similarity=similarity, threads=threads)
        assert np.array_equal(found.rows, whole.rows) and np.array_equal(found.scores, whole.scores)


def test_does_not_depend_on_the_other_queries():
    vectors = np.random.default_rng(1).standard_normal((3000, 33)).astype(np.float32)
    together = nearest_neighbors(np.arange(200), vectors)
    for row in (0, 77, 199):
        alone = nearest_neighbors(np.array([row]), vectors)
        assert np.array_equal(alone.rows[0], together.rows[row])
        assert np.array_equal(alone.scores[0], together.scores[row])


def test_u086_cosine_not_dot_and_without_the_query():
    vectors = np.float32([[1, 0], [100, 100], [2, 0.1], [1, 0], [-1, 0]])
    found = nearest_neighbors(np.array([0]), vectors, top=4)
    assert found.rows.tolist() == [[3, 2, 1, 4]]
    assert found.scores[0].tolist() == pytest.approx([1, 2 / np.hypot(2, 0.1), 0.5**0.5, -1])
    assert nearest_neighbors(np.array([0]), vectors, top=1, similarity="dot").rows.tolist() == [[1]]
    assert nearest_neighbors(np.array([0]), vectors, top=3, similarity="euclidean").rows.tolist() == [
        [3, 2, 4]
    ]


def test_u015_zero_vectors_have_cosine_zero_and_are_counted():
    vectors = np.float32([[0, 0], [1, 0], [-1, 0], [0, 0]])
    found = nearest_neighbors(np.array([0, 1]), vectors, top=3)
    assert found.zero_vectors == 2
    assert found.rows.tolist() == [[1, 2, 3], [0, 3, 2]] and found.scores.tolist() == [[0, 0, 0], [0, 0, -1]]


def test_u014_rows_with_nan_are_nobodys_neighbours():
    vectors = np.float32([[1, 0], [np.nan, 1], [np.inf, 0], [0, 1]])
    for similarity in SIMILARITIES:
        found = assert_like_the_twin([0, 3], vectors, 3, similarity)
        assert found.invalid_vectors == 2
        with pytest.raises(ValueError, match="query 0 holds nan or inf"):
            nearest_neighbors(np.array([1]), vectors, similarity=similarity)


def test_query_vectors_leave_nothing_out():
    vectors = np.float32([[1, 0], [0, 1]])
    found = nearest_neighbors(np.array([[2.0, 1.0]]), vectors, top=5)
    assert found.rows.tolist() == [[0, 1, -1, -1, -1]]


def test_empty_read_only_and_strided_inputs():
    vectors = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
    assert nearest_neighbors(np.array([], dtype=int), vectors).rows.shape == (0, 10)
    assert (nearest_neighbors(np.array([0]), vectors[:1]).rows == -1).all()
    vectors.setflags(write=False)
    strided = vectors[::2, ::2]
    assert np.array_equal(nearest_neighbors([0], strided).rows, nearest_neighbors([0], strided.copy()).rows)


def test_what_is_refused():
    vectors = np.eye(3, dtype=np.float32)
    for queries, options in [
        (np.array([3]), {}),
        (np.array([-1]), {}),
        (np.eye(2), {}),
        (np.array([0]), {"top": 0}),
        (np.array([0]), {"similarity": "l1"}),
    ]:
        with pytest.raises(ValueError):
            nearest_neighbors(queries, vectors, **options)
    with pytest.raises(ValueError, match="row 1 holds negative"):
        nearest_neighbors(np.array([0]), np.float32([[1, 0], [-1, 0]]), similarity="bhattacharyya")
    with pytest.raises(ValueError, match="query holds negative"):
        nearest_neighbors(np.array([[-1.0, 0, 0]]), vectors, similarity="bhattacharyya")


@pytest.mark.parametrize("similarity", sorted(OF_PROBABILITIES))
@pytest.mark.parametrize("concentration", [0.02, 0.5, 50.0])
def test_distributions(similarity, concentration):
    """Sparse rows, rows far apart, rows that are nearly equal: none of the nearest is lost in the first pass."""
    vectors = np.random.default_rng(3).dirichlet(np.full(24, concentration), 4000).astype(np.float32)
    vectors[100:120] = vectors[0] + np.float32(1e-6) * np.arange(20)[:, None]
    assert_like_the_twin([0, 7, 3999], vectors, 25, similarity)


def test_hellinger_bounds_the_others_term_by_term():
    p, q = np.random.default_rng(0).exponential(size=(2, 100_000, 1)) ** 3
    p[:100] = 0
    H, chi, js = (-MEASURES[name](p, q) for name in ("hellinger", "chi-squared", "jensen-shannon"))
    slack = 1e-12 * (p + q)[:, 0]
    assert (chi + slack >= H).all() and (chi <= 2 * H + slack).all()
    assert (js + slack >= np.log(2) / 2 * H).all() and (js <= H / 2 + slack).all()


def test_an_index_is_searched_many_times():
    vectors = np.random.default_rng(1).random((300, 5)).astype(np.float32)
    index = NeighborIndex(vectors, "hellinger")
    for rows in (np.arange(300), np.array([4])):
        found = nearest_neighbors(rows, vectors, similarity="hellinger")
        assert np.array_equal(index.search(rows).rows, found.rows)
