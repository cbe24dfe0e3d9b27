"""Accuracy on analogies: sections, unknown words, case, and the log-likelihood of the answer."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from tests.reference import vector_offsets as reference
from wordkit.errors import DataError, WordkitError
from wordkit.evaluation.analogy import analogy_result
from wordkit.evaluation.known_vectors import read_all_vectors
from wordkit.formats.questions import Questions
from wordkit.tally import Tally

VECTORS = (
    "6 3\nman 1 0 0\nwoman 0.8 0.6 0\nking 0.8 0 0.6\nqueen 0.6 0.6 0.6\napple 0 -1 0.1\npear 0 -1 0.2\n"
)
RIGHT, WRONG, UNKNOWN = (
    ("man", "woman", "king", "queen"),
    ("man", "woman", "king", "apple"),
    ("man", "boy", "king", "queen"),
)


def asked(*questions, names=("family", "gram1-x")) -> Questions:
    """The first question is in the first section, the others in the second."""
    return Questions(list(questions), [min(i, len(names) - 1) for i in range(len(questions))], list(names))


@pytest.fixture
def known(tmp_path):
    def read(text: str = VECTORS, **options):
        (tmp_path / "v.vec").write_text(text)
        return read_all_vectors(tmp_path / "v.vec", tally=Tally(), **options)

    return read


def test_sections_and_kinds(known):
    found = analogy_result(asked(RIGHT, RIGHT, WRONG, UNKNOWN), known(), data="set")
    assert found.metrics == {"accuracy": 2 / 3, "semantic": 1.0, "syntactic": 0.5, "log_likelihood": None}
    assert (found.covered, found.total) == (3, 4)
    assert found.details["used"] == 3 and found.details["unknown_words"] == ["boy"]
    assert found.details["candidates"] == 6
    assert found.details["sections"] == {
        "family": {"accuracy": 1.0, "correct": 1, "used": 1, "covered": 1, "total": 1},
        "gram1-x": {"accuracy": 0.5, "correct": 1, "used": 2, "covered": 2, "total": 3},
    }
    assert found.parameters == {"method": "add", "unknown": "skip", "ignore_case": False}


def test_the_sign_is_that_of_the_offset_from_a_to_b(known):
    """The FOREST paper prints a - b + c, which finds another word here."""
    vectors = known()
    assert analogy_result(asked(RIGHT), vectors, data="set").metrics["accuracy"] == 1
    abc = np.stack([vectors.vectors[vectors.rows[word]] for word in ("woman", "man", "king")]).astype(float)
    assert reference.scores(abc, vectors.vectors, "add").argmax() != vectors.rows["queen"]


def test_policies_for_unknown_words(known):
    questions = asked(RIGHT, UNKNOWN, ("man", "woman", "king", "boy"), ("Man", "woman", "KING", "queen"))
    vectors = known()
    for unknown, accuracy, covered, used in (("skip", 1, 1, 1), ("lowercase", 1, 2, 2)):
        found = analogy_result(questions, vectors, data="set", unknown=unknown)
        assert (found.metrics["accuracy"], found.covered, found.details["used"]) == (accuracy, covered, used)
    stand_ins = {"zero": np.zeros(3), "mean": vectors.vectors.mean(axis=0, dtype=float)}
    for unknown, stand_in in stand_ins.items():
        found = analogy_result(questions, vectors, data="set", unknown=unknown)
        right = 0
        for *abc, d in questions.words:
            words = np.stack([vectors.vectors[r] if (r := vectors.row(w)) >= 0 else stand_in for w in abc])
            scores = reference.scores(words.astype(float), vectors.vectors, "add")
            scores[[r for w in abc if (r := vectors.row(w)) >= 0]] = -np.inf
            right += scores.argmax() == vectors.row(d)
        assert (found.metrics["accuracy"], found.covered, found.details["used"]) == (right / 4, 1, 4)
    assert known().mean == pytest.approx(stand_ins["mean"])


def test_u082_nothing_to_score_is_no_number(known):
    found = analogy_result(asked(("x", "y", "z", "u"), UNKNOWN), known(), data="set", outputs=known())
    assert set(found.metrics.values()) == {None} and (found.covered, found.total, found.details["used"]) == (
        0,
        2,
        0,
    )
    assert found.details["sections"]["family"]["accuracy"] is None


def test_u083_the_limit_is_by_the_order_of_the_file(known):
    text = (
        VECTORS.replace("apple", "queens")
        .replace("queen ", "duchess ")
        .replace("pear 0 -1 0.2", "queen 0.6 0.6 0.6")
    )
    text = text.replace("duchess 0.6 0.6", "duchess 0.6 0.5")
    questions = asked(("man", "woman", "king", "duchess"), RIGHT)
    for limit, semantic, covered in ((None, 0, 2), (6, 0, 2), (5, 1, 1), (4, 1, 1)):
        found = analogy_result(questions, known(text, restrict_vocab=limit), data="set")
        assert (found.metrics["semantic"], found.covered) == (semantic, covered)
        assert found.details["candidates"] == (limit or 6)


def test_u084_case_is_ignored_in_question_candidates_and_answer(known):
    text = (
        "6 3\nMAN 1 0 0\nWoman 0.8 0.6 0\nking 0.8 0 0.6\nQueen 0.6 0.6 0.6\nKING 0.6 0.6 0.61\nqueen 0 1 0\n"
    )
    questions = asked(("man", "woman", "King", "QUEEN"))
    assert analogy_result(questions, known(text), data="set").covered == 0
    found = analogy_result(questions, known(text, ignore_case=True), data="set")
    assert (found.metrics["accuracy"], found.covered, found.details["candidates"]) == (1.0, 1, 4)
    later = text.replace("Queen 0.6 0.6 0.6", "Queen 0 -1 0").replace("queen 0 1 0", "queen 0.6 0.6 0.6")
    assert analogy_result(questions, known(later, ignore_case=True), data="set").metrics["accuracy"] == 1
    assert known(later, ignore_case=True).vectors[3].tolist() == [
        0,
        -1,
        0,
    ]  # the first of a word counts, good or bad


def test_vectors_that_are_not_finite_are_unknown(known):
    found = analogy_result(asked(RIGHT, WRONG), known(VECTORS.replace("apple 0", "apple nan")), data="set")
    assert found.details["unknown_words"] == ["apple"] and found.details["candidates"] == 5
    with pytest.raises(DataError, match=r"v\.vec: holds no finite vector"):
        known("1 2\na nan 1\n")


def test_log_likelihood_against_one_question_at_a_time(known):
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(40)]
    text = ["40 5\n" + "".join(f"{w} {' '.join(map(str, rng.standard_normal(5)))}\n" for w in order)
            for order in (words, words[::-1])]  # fmt: skip
    vectors, outputs = known(text[0]), known(text[1])
    questions = asked(*[tuple(words[i] for i in rng.integers(0, 40, 4)) for _ in range(30)])
    found = analogy_result(questions, vectors, data="set", outputs=outputs)
    values = []
    for *abc, d in questions.words:
        a, b, c = (vectors.vectors[vectors.row(word)].astype(float) for word in abc)
        values.append(reference.log_likelihood(a, b, c, outputs.vectors, outputs.row(d)))
    assert found.metrics["log_likelihood"] == pytest.approx(np.mean(values), rel=1e-6)
    assert found.details["log_likelihood_semantic"] == pytest.approx(values[0], rel=1e-6)
    assert found.details["log_likelihood_syntactic"] == pytest.approx(np.mean(values[1:]), rel=1e-6)
    assert found.details["sections"]["gram1-x"]["log_likelihood"] == pytest.approx(
        np.mean(values[1:]), rel=1e-6
    )
    few = known(text[1], restrict_vocab=20)  # an answer that is not there has no likelihood
    part = analogy_result(questions, vectors, data="set", outputs=few).details["log_likelihood_used"]
    assert part == sum(few.row(d) >= 0 for *_, d in questions.words) < 30


def test_outputs_that_do_not_fit(known):
    with pytest.raises(WordkitError, match=r"v\.vec: output vectors of 1 dimensions, but .* has 3"):
        analogy_result(asked(RIGHT), known(), data="set", outputs=known("1 1\nqueen 1\n"))
    large = known("2 3\nqueen 3e38 3e38 3e38\nking -3e38 1 1\n")
    with pytest.raises(WordkitError, match="overflow"):
        analogy_result(asked(RIGHT), large, data="set", unknown="mean", outputs=large)


def test_u091_evaluation_changes_nothing(known):
    vectors, questions = known(), asked(RIGHT, WRONG, UNKNOWN)
    before = copy.deepcopy((vectors, questions))
    first = analogy_result(questions, vectors, data="set", outputs=vectors)
    for options in ({"method": "mul"}, {"unknown": "mean"}, {"threads": 8}):
        analogy_result(questions, vectors, data="set", outputs=vectors, **options)
    assert analogy_result(questions, vectors, data="set", outputs=vectors, threads=2) == first
    np.testing.assert_array_equal(vectors.vectors, before[0].vectors)
    assert questions == before[1]


def test_names_that_do_not_exist(known):
    for options in ({"method": "sub"}, {"unknown": "drop"}):
        with pytest.raises(ValueError):
            analogy_result(asked(RIGHT), known(), data="set", **options)
