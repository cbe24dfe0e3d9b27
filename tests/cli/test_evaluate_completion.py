"""``wordkit evaluate completion``: files of answers, comparison, and how odd input is told of."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import fails, succeeds

VECTORS = "4 2\ncat 1 0\ndog 0.9 0.1\ncar 0 1\nroad 0.1 0.9\n"
QUESTIONS = "id,question,a),b)\n1,the cat and a _____ .,dog,car\n2,a _____ on the road,car,dog\n3,the zzz _____,car,dog\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text(VECTORS)
    (tmp_path / "w.vec").write_text(VECTORS.replace("dog 0.9 0.1", "dog 0 1").replace("car 0 1", "car 1 0"))
    (tmp_path / "q.csv").write_text(QUESTIONS)
    (tmp_path / "a.csv").write_text("id,answer\n1,a\n2,a\n3,a\n")
    return tmp_path


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_the_sample(inside, samples):
    result = found(
        inside("evaluate", "completion", samples / "vectors.txt", samples / "completion.csv", "--json")
    )
    assert result["covered"] == result["total"] == 120 and 0.4 < result["accuracy"] < 0.9


def test_words_around_the_gap_without_a_vector_are_told_of(inside, files, tmp_path):
    (tmp_path / "n.vec").write_text("a 1 0\nb 0 1\nc 1 1\n")
    (tmp_path / "n.csv").write_text("id,question,a),b),answer\n1,a new _____ here,b,c,a\n")
    run = inside("evaluate", "completion", "n.vec", "n.csv")
    said = b"n.csv: 1 of 1 questions scored, some with words that have no vector (--unknown skip): new, here"
    assert succeeds(run) and said in run.stderr


def test_answers_from_a_file(inside, files):
    run = inside("evaluate", "completion", "v.vec", "q.csv", "--answers", "a.csv")
    assert succeeds(run) == "accuracy\t1\ncovered\t2\ntotal\t3\n"
    assert b"q.csv: 2 of 3 questions scored, 1 has an unknown word (--unknown skip): the" in run.stderr
    run = inside(
        "evaluate",
        "completion",
        "v.vec",
        "q.csv",
        "q.csv",
        "--answers",
        "a.csv",
        "--answers",
        "a.csv",
        "--summary",
    )
    assert succeeds(run).splitlines()[-1] == "mean\t1\t4\t6"
    fails(
        inside("evaluate", "completion", "v.vec", "q.csv", "q.csv", "--answers", "a.csv"),
        "2 files of questions, but 1",
        code=2,
    )
    fails(inside("evaluate", "completion", "v.vec", "q.csv"), "q.csv:2: question 1 has no answer")


def test_against_and_ties(inside, files):
    arguments = (
        "evaluate",
        "completion",
        "v.vec",
        "q.csv",
        "--answers",
        "a.csv",
        "--against",
        "w.vec",
        "--json",
    )
    result = found(inside(*arguments))
    assert result["accuracy"] == 1 and result["against"]["accuracy"] == 0
    assert result["against"]["differences"]["accuracy"] == {"difference": 1.0, "p_value": 0.5, "compared": 2}
    run = inside(*arguments, "--unknown", "zero")
    assert found(run)["ties"] == 1 and b"1 question with several best words" in run.stderr
    assert found(run)["accuracy"] == pytest.approx(2.5 / 3)


def test_odd_input(inside, files):
    fails(inside("evaluate", "completion", "-", "-", stdin=b""), "standard input", code=2)
    run = inside("evaluate", "completion", "v.vec", "-", "--answers", "a.csv", stdin=QUESTIONS.encode())
    assert succeeds(run).startswith("accuracy\t1\n")
    (files / "bad.csv").write_text(QUESTIONS + "4,no gap,car,dog\n")
    fails(
        inside("evaluate", "completion", "v.vec", "bad.csv", "--answers", "a.csv"),
        "bad.csv:5: a sentence without a gap",
    )
    succeeds(inside("evaluate", "completion", "v.vec", "bad.csv", "--answers", "a.csv", "--skip-invalid"))
    fails(inside("evaluate", "completion", "v.vec", "q.csv", "--answers", "q.csv"), "q.csv:1: is no answer")
    fails(
        inside("evaluate", "completion", "v.vec", "q.csv", "--answers", "a.csv", "--strict"),
        "1 of 3 questions have words",
    )
