"""Correlations with judgements of word pairs: policies for unknown words, and what is not defined."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from wordkit.errors import DataError, WordkitError
from wordkit.evaluation.known_vectors import read_known_vectors, warn_of_zero_vectors
from wordkit.evaluation.similarity import correlations, similarity_result
from wordkit.formats.word_pairs import WordPairs
from wordkit.tally import Tally

VECTORS = "4 2\na 1 0\nc 0 1\nd -1 0\nb 0.8 0.6\n"
PAIRS = [("a", "b", 9), ("a", "c", 5), ("a", "d", 1), ("a", "zzz", 10)]


def pairs_of(rows) -> WordPairs:
    first, second, scores = zip(*rows, strict=True)
    return WordPairs(list(first), list(second), np.array(scores, dtype=float), list(range(len(rows))))


@pytest.fixture
def known(tmp_path):
    def read(text: str, rows=PAIRS, **options):
        path = tmp_path / "v.vec"
        path.write_text(text)
        return read_known_vectors(path, [word for row in rows for word in row[:2]], **options)

    return read


def result(known, rows=PAIRS, **options):
    return similarity_result(pairs_of(rows), known, data="set", **options)


def test_u081_policies_for_unknown_words(known):
    vectors = known(VECTORS)
    skip = result(vectors)
    assert skip.metrics["spearman"] == pytest.approx(1.0) and (skip.covered, skip.total) == (3, 4)
    assert skip.details == {"used": 3, "unknown_words": ["zzz"]}
    zero = result(vectors, unknown="zero")
    assert zero.metrics["spearman"] == pytest.approx(0.6324555, rel=1e-6)
    assert (zero.covered, zero.total, zero.details["used"]) == (3, 4, 4)
    # The mean (0.2, 0.4) has cosine 0.447 with a: between b and c.
    assert result(vectors, unknown="mean").metrics["spearman"] == pytest.approx(0.8)
    assert result(vectors, unknown="lowercase").metrics == skip.metrics


def test_the_mean_is_that_of_all_rows_that_are_looked_at(known):
    text = VECTORS.replace("4 2", "6 2") + "x 100 0\ny nan 0\n"
    assert known(text, tally=Tally()).mean == pytest.approx([100.8 / 5, 1.6 / 5])
    assert known(text, restrict_vocab=2, tally=Tally()).mean == pytest.approx([0.5, 0.5])


def test_lower_case_is_tried_after_the_word_itself(known):
    rows = [("A", "b", 9), ("A", "C", 5), ("a", "d", 1)]
    vectors = known("4 2\na 1 0\nc 0 1\nb 0.8 0.6\nd -1 0\n", rows)
    assert result(vectors, rows).covered == 1
    found = result(vectors, rows, unknown="lowercase")
    assert found.covered == 3 and found.metrics["spearman"] == pytest.approx(1.0)
    vectors = known("4 2\nA 0 1\na 1 0\nb 1 0\nd 0 1\n", rows)  # A has a vector of its own
    assert result(vectors, rows[:1] + rows[2:], unknown="lowercase").metrics["spearman"] is None


def test_ignoring_case_the_first_row_counts(known):
    rows = [("apple", "B", 9), ("APPLE", "c", 1)]
    text = "4 2\nApple 1 0\napple 0 1\nb 1 0\nC 0 1\n"
    assert result(known(text, rows), rows).covered == 0
    found = result(known(text, rows, ignore_case=True), rows)
    assert found.covered == 2 and found.metrics["spearman"] == pytest.approx(1.0)
    assert found.parameters["ignore_case"] is True


def test_restricted_to_the_first_rows(known):
    assert result(known(VECTORS, restrict_vocab=2)).covered == 1
    assert result(known(VECTORS, restrict_vocab=3)).covered == 2


def test_u082_nothing_left_is_no_number(known):
    for rows in (
        [("x", "y", 1), ("y", "z", 2), ("x", "z", 3)],  # all unknown
        [("a", "b", 1), ("x", "z", 3)],  # one is left
        [("a", "b", 5), ("a", "c", 5)],  # a constant
        [("a", "b", 1), ("b", "a", 2)],
    ):
        found = result(known(VECTORS, rows), rows)
        assert found.metrics == {"spearman": None, "pearson": None} and found.total == len(rows)


def test_u085_ties_have_their_mean_rank():
    spearman, _ = correlations(np.array([1.0, 2, 2, 4]), np.array([1.0, 2, 3, 4]))
    assert spearman == pytest.approx(0.9486833, rel=1e-6)
    x, y = np.array([1.0, 2, 4]), np.array([2.0, 3, 1])
    assert correlations(x, y)[1] == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert correlations(x, 1e-30 * y + 1)[1] is None and correlations(np.empty(0), np.empty(0)) == (
        None,
        None,
    )


def test_u091_evaluation_changes_nothing(known):
    vectors, pairs = known(VECTORS), pairs_of(PAIRS)
    before = copy.deepcopy((vectors, pairs))
    first = similarity_result(pairs, vectors, data="set")
    for unknown in ("zero", "mean", "lowercase"):
        similarity_result(pairs, vectors, data="set", unknown=unknown)
    assert similarity_result(pairs, vectors, data="set") == first
    np.testing.assert_array_equal(vectors.vectors, before[0].vectors)
    np.testing.assert_array_equal(vectors.mean, before[0].mean)
    np.testing.assert_array_equal(pairs.scores, before[1].scores)


@pytest.mark.parametrize(
    "similarity", ["kl", "chi-squared", "jensen-shannon", "hellinger", "bhattacharyya", "euclidean"]
)
def test_near_distributions_with_high_scores_correlate_positively(known, similarity):
    text = "4 2\na 0.9 0.1\nb 0.8 0.2\nc 0.5 0.5\nd 0.1 0.9\n"
    found = result(known(text), similarity=similarity)
    assert found.metrics["spearman"] == pytest.approx(1.0) and 0.9 < found.metrics["pearson"] <= 1
    assert found.parameters["similarity"] == similarity


def test_negative_values_are_refused_with_their_word(known):
    with pytest.raises(
        WordkitError, match=r"v\.vec: the vector of 'd' holds negative values: hellinger is for prob"
    ):
        result(known(VECTORS), similarity="hellinger")
    assert result(known(VECTORS), PAIRS[:2], similarity="hellinger").covered == 2  # d is not looked at


def test_vectors_that_are_not_finite_are_unknown(known):
    found = result(known("3 2\na 1 0\nb nan 0\nc 0 1\n", tally=Tally()))
    assert found.details["unknown_words"] == ["b", "d", "zzz"] and found.covered == 1


def test_u015_zero_vectors_are_counted(known):
    rows = [("a", "b", 1), ("a", "c", 2), ("b", "c", 3)]
    vectors = known("3 2\na 0 0\nb 1 0\nc 1 1\n", rows)
    assert result(vectors, rows).metrics["spearman"] == pytest.approx(0.8660254, rel=1e-6)
    tally = Tally()
    warn_of_zero_vectors(vectors, ["a", "b", "zzz"], tally)
    assert tally.counts == {"zero vector": 1} and "'a' is zero" in str(tally.first["zero vector"])
    with pytest.raises(DataError):
        warn_of_zero_vectors(vectors, ["a"], Tally(strict=True))


def test_names_that_do_not_exist(known):
    for options in ({"similarity": "cos"}, {"unknown": "drop"}):
        with pytest.raises(ValueError):
            result(known(VECTORS), **options)
