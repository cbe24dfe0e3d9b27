"""Bigrams of chains and trees against a plain double loop, and their mutual information."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import brown as twin
from wordkit.models import bigrams as module
from wordkit.models.bigrams import Bigrams
from wordkit.models.tree_corpus import TreeCorpus

seeds = st.integers(0, 2**32 - 1)


def dense(rows, size):
    starts, numbers, counts = rows
    assert starts.dtype == counts.dtype == np.int64 and numbers.dtype == np.int32 and starts[0] == 0
    out = np.zeros((size, size), np.int64)
    for v in range(size):
        mine = numbers[starts[v] : starts[v + 1]]
        assert (np.diff(mine) > 0).all()
        out[v, mine] = counts[starts[v] : starts[v + 1]]
    return out


def sentences_of(random, trees: bool):
    sentences = [[f"w{random.integers(6)}" for _ in range(random.integers(1, 9))] for _ in range(12)]
    if not trees:
        return sentences, None, [list(range(len(sentence))) for sentence in sentences]
    heads = []
    for sentence in sentences:
        order = random.permutation(len(sentence))
        mine = [0] * len(sentence)
        for place, word in enumerate(order[1:], 1):
            mine[word] = int(order[random.integers(place)]) + 1 if random.random() < 0.9 else 0
        heads.append(mine)
    return sentences, heads, heads


@settings(max_examples=40)
@given(
    seed=seeds, trees=st.booleans(), most=st.sampled_from([0, 5, 1 << 22]), a_time=st.sampled_from([1, 5, 99])
)
def test_equals_a_double_loop(seed, trees, most, a_time):
    random = np.random.default_rng(seed)
    sentences, heads, parents = sentences_of(random, trees)
    corpus = TreeCorpus.from_sentences(sentences, heads)
    chosen = [word for word in corpus.vocabulary.words[1:] if random.random() < 0.7]
    number = {word: i for i, word in enumerate(chosen)}
    number_of = np.array([number.get(word, -1) for word in corpus.vocabulary.words], np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MERGE_AT", most)
        patch.setattr(module, "_SENTENCES", a_time)
        found = Bigrams.from_corpus(corpus, number_of, len(chosen))
    expected, dropped = np.zeros((len(chosen), len(chosen)), np.int64), 0
    for sentence, above in zip(sentences, parents, strict=True):
        for word, head in zip(sentence, above, strict=True):
            if head:
                pair = number.get(sentence[head - 1], -1), number.get(word, -1)
                if min(pair) < 0:
                    dropped += 1
                else:
                    expected[pair] += 1
    np.testing.assert_array_equal(dense(found.successors, len(chosen)), expected)
    np.testing.assert_array_equal(dense(found.predecessors, len(chosen)), expected.T)
    np.testing.assert_array_equal(found.left, expected.sum(axis=1))
    np.testing.assert_array_equal(found.right, expected.sum(axis=0))
    assert (found.total, found.n_dropped, found.size) == (expected.sum(), dropped, len(chosen))


def test_counts_of_the_same_bigram_are_added_up():
    big = 2**40
    found = Bigrams.from_counts(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([big, 2, big]), 3, 7)
    assert dense(found.successors, 3).tolist() == [[0, 2 * big, 0], [2, 0, 0], [0, 0, 0]]
    assert (found.total, found.n_dropped) == (2 * big + 2, 7) and found.left.tolist() == [2 * big, 2, 0]
    with pytest.raises(ValueError):
        Bigrams.from_counts(np.array([0]), np.array([3]), np.array([1]), 3)


def test_no_word_and_no_bigram():
    empty = np.zeros(0, np.int64)
    for size in (0, 3):
        found = Bigrams.from_counts(empty, empty, empty, size)
        assert found.total == 0 and found.left.shape == found.right.shape == (size,)
        assert found.mutual_information(np.zeros(size, np.int32)) == 0
        assert found.class_counts(np.zeros(size, np.int32), 2).tolist() == [[0, 0], [0, 0]]


@settings(max_examples=40)
@given(seeds, st.integers(1, 8), st.integers(1, 4))
def test_mutual_information_of_classes(seed, V, C):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 9, (V, V)) * (random.random((V, V)) < 0.6)
    found = Bigrams.from_counts(*np.nonzero(counts), counts[np.nonzero(counts)], V)
    classes = random.integers(-1, C, V).astype(np.int32)
    N = twin.table(counts, classes, C)
    np.testing.assert_array_equal(found.class_counts(classes, C), N)
    T = max(N.sum(), 1)
    expected = (twin.objective(N) + twin.f(T)) / T / np.log(2)
    assert found.mutual_information(classes) == pytest.approx(expected, rel=1e-9, abs=1e-12)
