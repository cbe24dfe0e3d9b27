"""Completion by hand, beside a plain double loop, with ties and unknown words."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.evaluation.completion import bare, completion_result, words_of
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.measures import MEASURES
from wordkit.formats.completion_questions import CompletionQuestions


def known_of(vectors: dict[str, list[float]]) -> KnownVectors:
    table = np.array(list(vectors.values()), dtype=np.float64)
    return KnownVectors("v.vec", {word: i for i, word in enumerate(vectors)}, table, table.mean(axis=0))


def questions(*rows: tuple[str, str, int]) -> CompletionQuestions:
    found = CompletionQuestions("q")
    for i, (sentence, choices, answer) in enumerate(rows):
        found.ids.append(str(i))
        found.sentences.append(sentence.split())
        found.choices.append(choices.split())
        found.letters.append("abcde"[: len(choices.split())])
        found.answers.append(answer)
        found.lines.append(i + 1)
    return found


VECTORS = {"cat": [1.0, 0], "dog": [0.9, 0.1], "milk": [0.8, 0.3], "car": [0.0, 1], "road": [0.1, 0.9]}


def test_by_hand():
    data = questions(
        ("the cat , drank milk.", "dog car", 0), ("on the road", "dog car", 1), ("on the road", "dog car", 0)
    )
    result = completion_result(data, known_of(VECTORS), data="d")
    assert result.metrics == {"accuracy": pytest.approx(2 / 3)} and (result.covered, result.total) == (3, 3)
    assert result.samples["accuracy"].values.tolist() == [1, 1, 0] and result.details["ties"] == 0
    assert result.details["unknown_words"] == ["the", "drank", "on"]


@pytest.mark.parametrize("similarity", sorted(MEASURES))
def test_equals_a_double_loop(similarity):
    rng = np.random.default_rng(2)
    words = [f"w{i}" for i in range(30)]
    table = rng.dirichlet(np.full(6, 0.3), 30)
    known = known_of(dict(zip(words, table.tolist(), strict=True)))
    rows = [
        (" ".join(rng.choice(words, 7)), " ".join(rng.choice(words, 5, replace=False)), int(rng.integers(5)))
        for _ in range(40)
    ]
    right = 0
    for sentence, choices, answer in rows:
        means = [
            np.mean(
                [
                    MEASURES[similarity](known.vectors[known.rows[c]], known.vectors[known.rows[w]])
                    for w in sentence.split()
                ]
            )
            for c in choices.split()
        ]
        right += int(np.argmax(means)) == answer
    result = completion_result(questions(*rows), known, data="d", similarity=similarity)
    assert result.metrics["accuracy"] == pytest.approx(right / 40)


def test_equal_choices_count_a_share():
    same = known_of({word: [1.0, 2.0] for word in "abcdex"})
    result = completion_result(questions(("x x", "a b c d e", 2)), same, data="d")
    assert result.metrics["accuracy"] == pytest.approx(0.2) and result.details["ties"] == 1
    zero = completion_result(questions(("q", "r s", 0)), same, data="d", unknown="zero")
    assert zero.metrics["accuracy"] == 0.5 and zero.covered == 0


def test_punctuation_is_no_word_and_is_stripped():
    assert bare("London.") == "London" and bare("--") == "" and bare("don't") == "don't"
    data = questions(("``cat'' , road. !", "dog car", 0))
    result = completion_result(data, known_of({**VECTORS, ",": [0.0, 9.0], "road.": [1.0, 0.0]}), data="d")
    assert result.metrics["accuracy"] == 1.0 and result.details["unknown_words"] == []
    assert {"cat", "road", "road.", "dog"} <= set(words_of(data))


@pytest.mark.parametrize(
    ("unknown", "used", "covered"), [("skip", 1, 1), ("lowercase", 2, 2), ("zero", 4, 1), ("mean", 4, 1)]
)
def test_u081_policies(unknown, used, covered):
    data = questions(
        ("cat", "dog car", 0), ("cat", "Dog car", 0), ("cat", "dog zzz", 0), ("zzz", "dog car", 0)
    )
    result = completion_result(data, known_of(VECTORS), data="d", unknown=unknown)
    assert (result.details["used"], result.covered, result.total) == (used, covered, 4)


def test_u082_nothing_to_score():
    result = completion_result(
        questions(("cat", "q r", 0), (", .", "dog car", 0)), known_of(VECTORS), data="d"
    )
    assert result.metrics == {"accuracy": None} and (result.covered, result.total) == (0, 2)


def test_refused():
    with pytest.raises(WordkitError, match="negative values"):
        completion_result(
            questions(("cat", "dog car", 0)),
            known_of({**VECTORS, "dog": [-1.0, 0.0]}),
            data="d",
            similarity="kl",
        )
    for options in ({"similarity": "x"}, {"unknown": "x"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            completion_result(questions(("cat", "dog car", 0)), known_of(VECTORS), data="d", **options)
