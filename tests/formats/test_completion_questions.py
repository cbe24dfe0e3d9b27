"""Questions and answers of sentence completion in both forms, and their faults."""

from __future__ import annotations

import pytest

from wordkit.errors import DataError
from wordkit.formats.completion_questions import (
    CompletionQuestions,
    read_completion_answers,
    read_completion_questions,
)
from wordkit.tally import Tally

HEAD = "id,question,a),b),c)\n"


def read(tmp_path, text: str, tally: Tally | None = None) -> CompletionQuestions:
    (tmp_path / "q.csv").write_text(text)
    return read_completion_questions(tmp_path / "q.csv", tally)


def answers(tmp_path, text: str) -> dict[str, str]:
    (tmp_path / "a.csv").write_text(text)
    return read_completion_answers(tmp_path / "a.csv")


def test_table(tmp_path):
    found = read(
        tmp_path, HEAD + '7,"A sofa , with _____ on it .",cats,dogs,books\r\n\n8,_____ slept.,he,she,it\n'
    )
    assert found.ids == ["7", "8"] and found.letters == ["abc", "abc"] and found.answers == [-1, -1]
    assert found.sentences == [["A", "sofa", ",", "with", "on", "it", "."], ["slept."]]
    assert found.choices == [["cats", "dogs", "books"], ["he", "she", "it"]]
    found.answer(answers(tmp_path, "id,answer\n8,c\n7,a\n9,b\n"))
    assert found.answers == [0, 2]


def test_table_with_answers_and_tabs(tmp_path):
    found = read(tmp_path, "id\tanswer\tquestion\ta\tb\n1\tB\tone __ two\tx\ty\n")
    found.answer(None)
    assert found.answers == [1] and found.sentences == [["one", "two"]]


def test_lines_with_brackets(tmp_path):
    text = "".join(
        f"1{letter}) I sat [{word}] still.\n"
        for letter, word in zip("abc", ("very", "too", "big"), strict=True)
    )
    found = read(tmp_path, text + "2a) [Go] home.\n2b) [Run] home.\n")
    assert found.ids == ["1", "2"] and found.letters == ["abc", "ab"] and found.choices[1] == ["Go", "Run"]
    assert found.sentences == [["I", "sat", "still."], ["home."]]
    found.answer(answers(tmp_path, "1c) I sat [big] still.\n2a) [Go] home.\n"))
    assert found.answers == [2, 0]


ROW = "1,a _____ b,x,y,z\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (HEAD, "holds no question"),
        ("one two\n", ":1: is neither a question nor names of columns"),
        (HEAD + "1,a _____ b,x,y\n", ":2: 4 columns, expected 5 as the first line has"),
        (HEAD + "1,a b,x,y,z\n", ":2: a sentence without a gap"),
        (HEAD + "1,_____ b _____,x,y,z\n", ":2: 2 gaps, expected one gap"),
        (HEAD + "1,a _____ b,x,,z\n", ":2: an empty choice"),
        (HEAD + ROW + ROW, ":3: question 1 was there before"),
        (HEAD.strip() + ",answer\n1,a _____ b,x,y,z,e\n", ":2: answer `e`, expected one of a, b, c"),
        ("1a) I [x].\n1b) We [y].\n", ":2: another sentence than the choices of question 1 before it"),
        ("1a) I [x].\n1a) I [y].\n", ":2: choice a of question 1 was there before"),
        ("1a) I [x].\n1b) I y.\n", ":2: is no choice"),
        ("1a) I [x].\n2a) I [x].\n1b) I [y].\n", ":3: question 1 was there before"),
    ],
)
def test_faults(tmp_path, text, says):
    with pytest.raises(DataError, match=says):
        read(tmp_path, text)


def test_faults_of_answers(tmp_path):
    found = read(tmp_path, HEAD + ROW)
    with pytest.raises(DataError, match=":2: question 1 has no answer"):
        found.answer(None)
    with pytest.raises(DataError, match=":2: question 1 has no answer"):
        found.answer({"2": "a"})
    with pytest.raises(DataError, match=":2: the answer of question 1 is `e`, expected one of a, b, c"):
        found.answer({"1": "e"})
    for text, says in (
        ("", "is empty"), ("id,answer\n", "holds no answer"), ("1,a\n1,b\n", ":2: question 1 was there before"),
        ("1,a\n2,9\n", ":2: is no answer"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=says):
            answers(tmp_path, text)


def test_bad_questions_are_skipped_and_counted(tmp_path):
    tally = Tally(skip_invalid=True)
    assert read(tmp_path, HEAD + "1,no gap,x,y,z\n" + ROW, tally).ids == ["1"]
    assert tally.counts == {"question skipped": 1}


@pytest.mark.realdata
def test_real_files(real_data):
    folder = real_data / "msr-completion"
    found = read_completion_questions(folder / "dev.questions.csv")
    found.answer(read_completion_answers(folder / "dev.answers.csv"))
    assert len(found) == 520 and {len(choices) for choices in found.choices} == {5}
    assert found.choices[0][found.answers[0]] == "residing"
