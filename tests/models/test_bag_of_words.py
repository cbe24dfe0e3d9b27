"""Bags of words and n-grams, against counting in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import WordkitError
from wordkit.formats.labelled import Documents
from wordkit.formats.text import TypeMap, TypeTable
from wordkit.models.bag_of_words import BagOfWords


def documents_of(lines: list[str], types: TypeTable | None = None) -> tuple[Documents, TypeTable]:
    types = types or TypeTable()
    ids, ends = types.encode("".join(f"{line}\n" for line in lines).encode())
    return Documents(ids, ends, np.zeros(len(ends), dtype=np.int32)), types


def fitted(lines: list[str], **options) -> BagOfWords:
    return BagOfWords(**options).fit(*documents_of(lines))


def transformed(bag: BagOfWords, lines: list[str]) -> np.ndarray:
    documents, types = documents_of(lines)
    return bag.transform(documents, TypeMap(types, bag.numbers)).toarray()


def numbers(bag: BagOfWords, words: str) -> list[int]:
    return bag.numbers(documents_of([words])[1], 0).tolist()


def grams_of(line: str, order: int, lowercase: bool = False) -> list[str]:
    words = (line.lower() if lowercase else line).split()
    return [" ".join(words[i : i + order]) for i in range(len(words) - order + 1)]


def naive(lines: list[str], min_count: int, ngrams: int, lowercase: bool) -> list[str]:
    """Features in their order: words first, each order by falling count and first occurrence."""
    features = []
    for order in range(1, ngrams + 1):
        counts = Counter(gram for line in lines for gram in grams_of(line, order, lowercase))
        features += [gram for gram, n in counts.most_common() if n >= min_count]
    return features


lines_of_words = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "B", "ß", "d"]), max_size=8).map(" ".join),
    min_size=1,
    max_size=8,
)


@settings(max_examples=200)
@given(lines_of_words, lines_of_words, st.integers(1, 3), st.integers(1, 4), st.booleans())
def test_equals_counting(lines, others, min_count, ngrams, lowercase):
    features = naive(lines, min_count, ngrams, lowercase)
    if not any(" " not in feature for feature in features):
        with pytest.raises(WordkitError, match=r"word types occur at least|the documents have no words"):
            fitted(lines, min_count=min_count, ngrams=ngrams, lowercase=lowercase)
        return
    bag = fitted(lines, min_count=min_count, ngrams=ngrams, lowercase=lowercase)
    assert bag.words_ == [feature for feature in features if " " not in feature]
    assert bag.n_features_ == len(features)
    again = BagOfWords.from_state(*bag.state())
    same = BagOfWords(min_count=min_count, ngrams=ngrams, lowercase=lowercase)
    np.testing.assert_array_equal(same.fit_transform(*documents_of(lines)).toarray(), transformed(bag, lines))
    for some in (lines, others):
        expected = np.zeros((len(some), len(features)))
        for row, line in enumerate(some):
            for order in range(1, ngrams + 1):
                for gram in grams_of(line, order, lowercase):
                    if gram in features:
                        expected[row, features.index(gram)] = 1
        np.testing.assert_array_equal(transformed(bag, some), expected)
        np.testing.assert_array_equal(transformed(again, some), expected)


def test_u050_min_count_leaves_nothing():
    message = r"^0 of 4 word types occur at least 5 times \(most frequent: `a`, 2\); lower --min-count$"
    with pytest.raises(WordkitError, match=message):
        fitted(["a b a c d"], min_count=5)
    with pytest.raises(WordkitError, match=r"^the documents have no words$"):
        fitted([""], min_count=1)


def test_u051_what_is_kept_is_counted():
    bag = fitted(["a b a", "c a b"], min_count=2)
    assert (bag.n_types_, bag.n_tokens_, bag.n_kept_tokens_) == (3, 6, 5)
    assert bag.words_ == ["a", "b"] and bag.counts_.tolist() == [3, 2]


def test_u059_equal_counts_keep_the_order_of_the_text():
    assert fitted(["z y z x y w"], min_count=1).words_ == ["z", "y", "x", "w"]


def test_types_of_labels_are_no_words():
    documents, types = documents_of(["a a"])
    types.encode(b"__label__x b\n")
    bag = BagOfWords(min_count=1).fit(documents, types)
    assert bag.words_ == ["a"] and bag.n_types_ == 1


def test_folding_counts_types_together():
    bag = fitted(["The the THE cat", "STRASSE Strasse"], min_count=2, lowercase=True)
    assert bag.words_ == ["the", "strasse"] and bag.counts_.tolist() == [3, 2]
    assert numbers(bag, "tHe cat") == [0, -1]
    np.testing.assert_array_equal(transformed(bag, ["THE strASSE x"]), [[1, 1]])


def test_folding_to_several_characters_finds_the_folded_words():
    bag = fitted(["İ İ x"], min_count=1, lowercase=True)
    assert bag.vocabulary_numbers(bag.words_) == [0, 1]
    assert numbers(bag, "İ") == [0]


def test_ngrams_do_not_cross_lines_or_unknown_words():
    bag = fitted(["a b", "b a", "a b"], min_count=1, ngrams=2)
    assert bag.n_features_ == 4  # a, b, "a b", "b a"
    np.testing.assert_array_equal(transformed(bag, ["a", "b", "a x b", "x a b"]).sum(axis=1), [1, 1, 2, 3])


def test_no_documents_and_no_words():
    bag = fitted(["a b"], min_count=1, ngrams=3)
    assert transformed(bag, []).shape == (0, 3)
    np.testing.assert_array_equal(transformed(bag, ["", "x"]), np.zeros((2, 3)))


def test_merged_appends():
    old, newer = fitted(["a a b"], min_count=1), fitted(["c b c d"], min_count=1)
    both = old.merged(newer)
    assert both.words_ == ["a", "b", "c", "d"] and both.counts_.tolist() == [2, 1, 2, 1]
    assert (old.words_, newer.words_) == (["a", "b"], ["c", "b", "d"])
    assert old.merged(old).words_ == old.words_
    with pytest.raises(WordkitError, match="n-grams"):
        fitted(["a b"], min_count=1, ngrams=2).merged(newer)


def test_merged_folds_as_it_did():
    old, newer = fitted(["A a"], min_count=1, lowercase=True), fitted(["A B"], min_count=1, lowercase=True)
    assert numbers(old.merged(newer), "A b") == [0, 1]
