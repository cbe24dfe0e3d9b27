"""The best answers of analogies and their normalizers against one question at a time, whatever the blocks and threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import vector_offsets as reference
from wordkit.evaluation import vector_offsets
from wordkit.evaluation.vector_offsets import METHODS, best_answers, log_normalizers


def made(seed: int, rows: int, dim: int, words: int, queries: int):
    """Vectors, words that are rows of them but for the last one, and questions."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((rows, dim)).astype(np.float32)
    own = rng.permutation(rows)[:words].astype(np.int64)
    of_words = vectors[own].astype(np.float64)
    if words > 1:
        own[-1], of_words[-1] = -1, rng.standard_normal(dim)
    return rng.integers(0, words, (queries, 3)), of_words, own, vectors


def small_blocks(monkeypatch) -> None:
    for name, size in (("CHUNK", 7), ("ROW_BLOCK", 5), ("QUERY_BLOCK", 3)):
        monkeypatch.setattr(vector_offsets, name, size)


@settings(max_examples=60)
@given(
    st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 6), st.integers(1, 12), st.integers(0, 30),
    st.sampled_from(METHODS), st.booleans(), st.booleans(),
)  # fmt: skip
def test_equals_the_double_loop(seed, rows, dim, words, queries, method, small, ties):
    queries, of_words, own, vectors = made(seed, rows, dim, min(words, rows), queries)
    if ties:  # few different rows, zero rows among them
        vectors = vectors[np.random.default_rng(seed).integers(0, max(1, rows // 4), rows)]
        vectors[::5] = 0
        of_words[own >= 0] = vectors[own[own >= 0]]
    with pytest.MonkeyPatch.context() as patch:
        if small:
            small_blocks(patch)
        found = best_answers(queries, of_words, own, vectors, method=method)
    assert found.tolist() == reference.answers(queries, of_words, own, vectors, method)


@pytest.mark.parametrize("method", METHODS)
def test_a_case_by_hand(method):
    """king - man + woman: queen is nearer than the words of the question, which are left out."""
    names = ["man", "woman", "king", "queen", "apple"]
    vectors = np.array(
        [[1, 0, 0], [0.8, 0.6, 0], [0.8, 0, 0.6], [0.6, 0.6, 0.6], [0, -1, 0.1]], dtype=np.float32
    )
    rows = np.arange(5)
    query = np.array([[names.index("man"), names.index("woman"), names.index("king")]])
    assert best_answers(query, vectors, rows, vectors, method=method).tolist() == [3]
    assert best_answers(query, vectors, rows, vectors[[0, 1, 2]], method=method).tolist() == [-1]


@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_far_apart_give_the_first(method):
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((5000, 16)).astype(np.float32)
    queries, rows = rng.integers(0, 8, (40, 3)), np.arange(8)
    best = best_answers(queries, vectors[:8], rows, vectors, method=method)
    for row in {*best.tolist()}:
        vectors[4990 - row % 10] = vectors[row]
    again = best_answers(queries, vectors[:8], rows, vectors, method=method)
    np.testing.assert_array_equal(again, np.minimum(best, again))
    np.testing.assert_array_equal(vectors[again], vectors[best])


@pytest.mark.parametrize("method", METHODS)
def test_differences_below_single_precision_decide(method):
    """Rows that float32 products cannot tell apart: the best by float64 is found, in whatever block."""
    rng = np.random.default_rng(5)
    base = rng.standard_normal(50)
    vectors = (base + 2e-7 * rng.standard_normal((700, 50))).astype(np.float32)
    words = rng.standard_normal((6, 50))
    words[0] = 0.01 * words[1] - base  # nearly opposite to all: the divisor of 3CosMul is small
    queries = rng.integers(0, 6, (25, 3))
    rows = np.full(6, -1)
    found = best_answers(queries, words, rows, vectors, method=method)
    assert found.tolist() == reference.answers(queries, words, rows, vectors, method)


@pytest.mark.parametrize("method", METHODS)
def test_when_all_rows_are_equal_candidates_do_not_pile_up(monkeypatch, method):
    monkeypatch.setattr(vector_offsets, "_MOST_GATHERED", 1000)
    vectors = np.ones((4000, 3), dtype=np.float32)
    queries = np.array([[0, 1, 2], [3, 3, 3]])
    assert best_answers(queries, vectors[:4], np.arange(4), vectors, method=method).tolist() == [3, 0]


@pytest.mark.parametrize("method", METHODS)
def test_lengths_do_not_matter_however_extreme(method):
    queries, words, own, vectors = made(7, 300, 10, 20, 50)
    scale = np.float32(10) ** np.random.default_rng(0).integers(-30, 30, (300, 1)).astype(np.float32)
    expected = best_answers(queries, words, own, vectors, method=method)
    np.testing.assert_array_equal(
        best_answers(queries, 1e6 * words, own, vectors * scale, method=method), expected
    )


def test_threads_and_repeated_questions_do_not_matter(monkeypatch):
    monkeypatch.setattr(vector_offsets, "CHUNK", 16)
    queries, words, own, vectors = made(1, 3000, 20, 60, 400)
    queries[300:] = queries[:100]
    for method in METHODS:
        one, *others = (
            best_answers(queries, words, own, vectors, method=method, threads=n) for n in (1, 2, 8)
        )
        assert all(np.array_equal(one, other) for other in others)
        np.testing.assert_array_equal(one[300:], one[:100])
    one, *others = (log_normalizers(queries, words, vectors, threads=n).tobytes() for n in (1, 2, 8))
    assert all(one == other for other in others)


def test_normalizers_equal_those_of_one_question_at_a_time():
    queries, words, _, outputs = made(2, 2500, 30, 40, 300)
    found = log_normalizers(queries, words, outputs)
    for query, value in zip(queries, found, strict=True):
        a, b, c = words[query]
        products = outputs.astype(np.float64) @ (b - a + c)
        assert value == pytest.approx(
            products[7] - reference.log_likelihood(a, b, c, outputs, 7), rel=0, abs=2e-5
        )
    steep = log_normalizers(queries[:1], words, 1000 * outputs)  # no overflow of the exponential
    assert np.isfinite(steep).all()


def test_nothing_is_changed_and_nothing_is_fine():
    queries, words, own, vectors = made(4, 50, 4, 9, 20)
    before = [x.copy() for x in (queries, words, own, vectors)]
    for array in (queries, words, own, vectors):
        array.flags.writeable = False
    first = best_answers(queries, words, own, vectors)
    np.testing.assert_array_equal(best_answers(queries, words, own, np.asfortranarray(vectors)), first)
    log_normalizers(queries, words, vectors)
    for array, old in zip((queries, words, own, vectors), before, strict=True):
        np.testing.assert_array_equal(array, old)
    assert best_answers(queries[:0], words, own, vectors).shape == (0,)
    assert log_normalizers(queries[:0], words, vectors).shape == (0,)


def test_callers_mistakes():
    queries, words, own, vectors = made(4, 50, 4, 9, 20)
    for bad in (
        lambda: best_answers(queries, words, own, vectors, method="sub"),
        lambda: best_answers(queries, words, own, vectors[:, :3]),
        lambda: best_answers(queries[:, :2], words, own, vectors),
        lambda: best_answers(queries + 9, words, own, vectors),
        lambda: log_normalizers(queries - 9, words, vectors),
    ):
        with pytest.raises(ValueError):
            bad()
