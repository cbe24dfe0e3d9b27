"""Which words are counted: numbers, rare words, a cap."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.models.word_choice import choose_words, is_number


@pytest.mark.parametrize(
    "token",
    [
        "7",
        "007",
        "-3.5",
        "+3",
        ".25",
        ",25",
        "-.5",
        "1,000",
        "1,000,000.50",
        "3:45",
        "12:30:05",
        "1990-95",
        "1/2",
        "12/31/99",
        "٣٤",
        "१२",
    ],
)
def test_numbers(token):
    assert is_number(token)


@pytest.mark.parametrize(
    "token",
    [
        "1st",
        "5%",
        "$5",
        "1e5",
        "5.",
        "5,",
        "-",
        "+",
        ".",
        "--5",
        "1--2",
        "1,,2",
        "a1",
        "IV",
        "²",
        "½",
        "1 2",
        "",
        "7\n",
    ],
)
def test_words_that_are_no_numbers(token):
    assert not is_number(token)


def chosen(names, counts, **options):
    return choose_words(names.split(), np.array(counts, np.int64), **options)


def test_words_by_falling_count_ties_by_first_occurrence():
    found = chosen("a b c d", [1, 3, 1, 3])
    assert found.words == ["b", "d", "a", "c"] and found.counts.tolist() == [3, 3, 1, 1]
    assert found.number_of.tolist() == [2, 0, 3, 1] and found.number_of.dtype == np.int32


def test_rare_words():
    found = chosen("a b c d", [1, 9, 1, 3], min_count=2, rare_token=True)
    assert found.words == ["b", "d", "#rare#"] and found.counts.tolist() == [9, 3, 2]
    assert found.number_of.tolist() == [2, 0, 2, 1]
    found = chosen("a b c d e", [1, 5, 1, 3, 2], min_count=3, rare_token=True)
    assert found.words == ["b", "#rare#", "d"] and found.counts.tolist() == [5, 4, 3]
    assert found.number_of.tolist() == [1, 0, 1, 2, 1]
    left_out = chosen("a b c d", [1, 9, 1, 3], min_count=2)
    assert left_out.words == ["b", "d"] and left_out.number_of.tolist() == [2, 0, 2, 1]
    assert chosen("a b", [2, 2], min_count=2, rare_token=True).words == ["a", "b"]  # none is rare


def test_numbers_are_one_word():
    found = chosen("1 a 2 b 3,5", [1, 2, 1, 1, 1], number_token=True)
    assert found.words == ["#number#", "a", "b"] and found.counts.tolist() == [3, 2, 1]
    assert found.number_of.tolist() == [0, 1, 0, 2, 0]
    assert "3 tokens of 3 types are numbers" in found.notes[0]
    assert chosen("1 a", [1, 1]).words == ["1", "a"]
    rare = chosen("1 a", [1, 3], min_count=2, number_token=True, rare_token=True)
    assert rare.words == ["a", "#rare#"]


def test_u018_own_tokens_in_the_text():
    found = chosen("#rare# a #number# 7", [4, 3, 2, 1], min_count=2, rare_token=True, number_token=True)
    assert found.words == ["#rare#", "a", "#number#"] and found.counts.tolist() == [4, 3, 3]
    assert any("`#rare#` occurs 4 times in the text" in note for note in found.notes)
    assert any("`#number#` occurs 2 times in the text" in note for note in found.notes)
    plain = chosen("#rare# a #number# 7", [4, 3, 2, 1])
    assert plain.words == ["#rare#", "a", "#number#", "7"] and len(plain.notes) == 1


def test_u059_a_cap_keeps_exactly_that_many():
    names = " ".join("abcdefghij")
    found = chosen(names, [1, 5, 2, 5, 1, 1, 1, 5, 5, 1], max_vocab=3)
    assert found.words == ["b", "d", "h"]
    assert found.notes == [
        "3 words kept of 10 types (--min-count 1, --max-vocab 3), 55.6% of 27 tokens; the other 12 are left out"
    ]
    found = chosen(names, [1, 5, 2, 5, 1, 1, 1, 5, 5, 1], max_vocab=3, rare_token=True)
    assert found.words == ["#rare#", "b", "d", "h"] and found.counts.tolist() == [12, 5, 5, 5]
    assert chosen("a b", [1, 2], max_vocab=9).words == ["b", "a"]


def test_u050_nothing_left():
    with pytest.raises(
        WordkitError, match=r"0 of 4 word types occur at least 5 times \(most frequent: `a`, 2\)"
    ):
        chosen("a b c d", [2, 1, 1, 1], min_count=5, rare_token=True)
