"""Numbers of gensim 4.4.0 (``evaluate_word_pairs``, ``evaluate_word_analogies``), computed once on the same vectors and sets."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.evaluation.analogy import analogy_result
from wordkit.evaluation.known_vectors import read_all_vectors
from wordkit.evaluation.similarity import similarity_result
from wordkit.formats.questions import read_questions
from wordkit.formats.vectors import read_vectors, write_vectors
from wordkit.formats.word_pairs import read_word_pairs


@pytest.fixture(scope="module")
def cased(samples, tmp_path_factory):
    """The sample vectors with a capital in every third word, and 60 words once more in capitals, with other vectors."""
    words, vectors = read_vectors(samples / "vectors.txt")
    longer = [row for row, word in enumerate(words) if word.isalpha() and len(word) > 2][:60]
    some = [word[0].upper() + word[1:] if row % 3 == 0 else word for row, word in enumerate(words)]
    some += [words[row].upper() for row in longer]
    path = tmp_path_factory.mktemp("cased") / "v.txt"
    write_vectors(path, some, np.concatenate([vectors, vectors[[len(words) - 1 - row for row in longer]]]))
    return path


@pytest.mark.parametrize(
    ("ignore_case", "pearson", "spearman", "covered"),
    [(False, 0.7762775685095985, 0.641570182597164, 98), (True, 0.7776048353647296, 0.6726186213386655, 240)],
)
def test_word_pairs(cased, samples, ignore_case, pearson, spearman, covered):
    pairs = read_word_pairs(samples / "similarity.txt")
    found = similarity_result(pairs, read_all_vectors(cased, ignore_case=ignore_case), data="")
    assert found.metrics == pytest.approx({"pearson": pearson, "spearman": spearman}, rel=0, abs=1e-6)
    assert found.covered == covered


@pytest.mark.parametrize(
    ("ignore_case", "rows", "right", "covered"),
    [(False, None, 1, 32), (False, 300, 0, 4), (True, None, 23, 274), (True, 300, 7, 32)],
)
def test_analogies(cased, samples, ignore_case, rows, right, covered):
    known = read_all_vectors(cased, ignore_case=ignore_case, restrict_vocab=rows)
    found = analogy_result(read_questions(samples / "analogies.txt"), known, data="")
    assert sum(section["correct"] for section in found.details["sections"].values()) == right
    assert found.covered == covered and found.metrics["accuracy"] == pytest.approx(right / covered)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "ignore_case", "pearson", "spearman", "missing"),
    [
        ("EN-WS-353-ALL", False, 0.2240613467239573, 0.2646218922528388, 71.10481586402267),
        ("EN-WS-353-ALL", True, 0.2442501054484475, 0.2736024134516744, 69.12181303116147),
        ("EN-SIMLEX-999", False, 0.036863674866828844, 0.03895806385298121, 83.48348348348348),
        ("EN-MEN-TR-3k", True, 0.30544457256318797, 0.3136013086045423, 92.4),
    ],
)
def test_published_word_pairs(real_data, name, ignore_case, pearson, spearman, missing):
    known = read_all_vectors(real_data / "vectors/euclidean_vectors.bin", ignore_case=ignore_case)
    found = similarity_result(read_word_pairs(real_data / f"wordsim/{name}.txt"), known, data="")
    assert found.metrics == pytest.approx({"pearson": pearson, "spearman": spearman}, rel=0, abs=1e-6)
    assert 100 * (1 - found.covered / found.total) == pytest.approx(missing)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("ignore_case", "rows", "right", "covered"),
    [(False, None, 1, 332), (True, None, 1, 409), (False, 1000, 2, 30), (True, 1000, 2, 36)],
)
def test_published_analogies(real_data, ignore_case, rows, right, covered):
    known = read_all_vectors(
        real_data / "vectors/euclidean_vectors.bin", ignore_case=ignore_case, restrict_vocab=rows
    )
    found = analogy_result(read_questions(real_data / "analogy/questions-words.txt"), known, data="")
    assert sum(section["correct"] for section in found.details["sections"].values()) == right
    assert found.covered == covered
