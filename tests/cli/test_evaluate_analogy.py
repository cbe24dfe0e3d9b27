"""``wordkit evaluate analogy``: the sample, several sets, JSON, and how odd input is told of."""

from __future__ import annotations

import json

import pytest

VECTORS = "5 3\nman 1 0 0\nwoman 0.8 0.6 0\nking 0.8 0 0.6\nqueen 0.6 0.6 0.6\napple 0 -1 0.1\n"
QUESTIONS = ": family\nman woman king queen\n: gram1-x\nman woman king apple\nman woman king Queen\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text(VECTORS)
    (tmp_path / "q.txt").write_text(QUESTIONS)
    (tmp_path / "none.txt").write_text(": family\na b c d\n")
    return tmp_path


def test_the_sample(inside, samples):
    runs = [
        json.loads(inside("evaluate", "analogy", samples / "vectors.txt", samples / "analogies.txt", "--json",
                          "--output-vectors", samples / "vectors.bin", "--threads", threads).stdout)
        for threads in (1, 2, 8)
    ]  # fmt: skip
    found = runs[0]
    assert found["command"] == "evaluate analogy" and found["covered"] == found["total"] == 274
    assert 0.05 < found["accuracy"] < 0.2 and -6.4 < found["log_likelihood"] < -3  # the uniform: -6.397
    assert sum(s["correct"] for s in found["sections"].values()) == round(274 * found["accuracy"])
    for run in runs:
        run.pop("seconds")
    assert runs[0] == runs[1] == runs[2]


def test_lines_of_one_set(inside, files):
    run = inside("evaluate", "analogy", "v.vec", "q.txt")
    assert (
        run.stdout == b"accuracy\t0.5\nsemantic\t1\nsyntactic\t0\nlog_likelihood\tn/a\ncovered\t2\ntotal\t3\n"
    )
    assert b"q.txt: 2 of 3 questions scored, 1 has an unknown word (--unknown skip): Queen\n" in run.stderr
    run = inside("evaluate", "analogy", "v.vec", "q.txt", "--details")
    assert b"sections/gram1-x/correct\t0\n" in run.stdout and b"unknown_words\tQueen\n" in run.stdout
    run = inside("evaluate", "analogy", "v.vec", "q.txt", "--strict")
    assert (
        run.returncode == 1
        and b"q.txt: 1 of 3 questions have words that are unknown, expected none" in run.stderr
    )


def test_u082_nothing_to_score_is_null(inside, files):
    run = inside("evaluate", "analogy", "v.vec", "none.txt")
    assert run.returncode == 0 and run.stdout.startswith(b"accuracy\tn/a\n")
    assert b"none.txt: n/a (0 of 1 questions to score)" in run.stderr
    found = json.loads(inside("evaluate", "analogy", "v.vec", "none.txt", "q.txt", "--json").stdout)
    assert [r["accuracy"] for r in found["results"]] == [None, 0.5]
    assert (found["accuracy"], found["covered"], found["total"]) == (0.5, 2, 4)


def test_u083_how_many_words_compete_is_always_said(inside, files):
    assert b"among 5 words of v.vec" in inside("evaluate", "analogy", "v.vec", "q.txt").stderr
    run = inside("evaluate", "analogy", "v.vec", "q.txt", "--restrict-vocab", "4", "--json")
    assert b"among the first 4 words of v.vec" in run.stderr and b"restrict-vocab:4" in run.stderr
    assert json.loads(run.stdout)["candidates"] == 4


def test_u084_ignoring_case(inside, files):
    found = json.loads(inside("evaluate", "analogy", "v.vec", "q.txt", "--ignore-case", "--json").stdout)
    assert found["covered"] == 3 and found["accuracy"] == pytest.approx(2 / 3)
    assert "ignore-case:yes" in found["signature"]


def test_methods_and_policies_are_in_the_signature(inside, files):
    options = ((), ("--method", "mul"), ("--unknown", "lowercase"), ("--output-vectors", "v.vec"))
    runs = [json.loads(inside("evaluate", "analogy", "v.vec", "q.txt", *o, "--json").stdout) for o in options]
    assert len({run["signature"] for run in runs}) == 4
    assert [run["covered"] for run in runs] == [2, 2, 3, 2]
    assert [run["log_likelihood"] is None for run in runs] == [True, True, True, False]


def test_standard_input_once(inside, files):
    run = inside("evaluate", "analogy", "-", "q.txt", stdin=VECTORS.encode())
    assert run.returncode == 0 and run.stdout.startswith(b"accuracy\t0.5\n")
    run = inside("evaluate", "analogy", "v.vec", "-", stdin=QUESTIONS.encode())
    assert run.returncode == 0 and run.stdout.startswith(b"accuracy\t0.5\n")
    assert inside("evaluate", "analogy", "-", "q.txt", "--output-vectors", "-", stdin=b"").returncode == 2


def test_bad_lines_and_zero_vectors(inside, files):
    (files / "bad.txt").write_text(QUESTIONS + "man woman king\n")
    run = inside("evaluate", "analogy", "v.vec", "bad.txt")
    assert run.returncode == 1 and run.stdout == b""
    assert run.stderr == b"wordkit: error: bad.txt:6: 3 words, expected 4: a is to b as c is to d\n"
    run = inside("evaluate", "analogy", "v.vec", "bad.txt", "--skip-invalid")
    assert run.returncode == 0 and b"(question skipped)" in run.stderr
    (files / "z.vec").write_text(VECTORS.replace("man 1", "man 0", 1))
    assert b"'man' is zero" in inside("evaluate", "analogy", "z.vec", "q.txt").stderr
    (files / "o.vec").write_text("1 2\nqueen 1 0\n")
    run = inside("evaluate", "analogy", "v.vec", "q.txt", "--output-vectors", "o.vec")
    assert run.returncode == 1
    assert (
        run.stderr.splitlines()[-1]
        == b"wordkit: error: o.vec: output vectors of 2 dimensions, but v.vec has 3"
    )


@pytest.mark.realdata
def test_the_published_set(inside, real_data):
    path = real_data / "analogy" / "questions-words.txt"
    found = json.loads(
        inside("evaluate", "analogy", real_data / "vectors" / "lee_fasttext.vec", path, "--json").stdout
    )
    assert found["total"] == 19_544 and len(found["sections"]) == 14
    assert found["covered"] == sum(s["covered"] for s in found["sections"].values()) < 1000


def test_equal_vectors_have_no_accuracy(inside, tmp_path):
    """The first row that is left would be the answer to everything: right or wrong by the order of the file."""
    (tmp_path / "same.vec").write_text("".join(f"{word} 1 1\n" for word in "dabce"))
    (tmp_path / "zero.vec").write_text("".join(f"{word} 0 0\n" for word in "dabce"))
    (tmp_path / "other.vec").write_text("a 1 0\nb 0 1\nc 1 1\nd -1 2\ne 5 1\n")
    (tmp_path / "four.txt").write_text(": s\na b c d\n: gram\na b c e\n")
    for vectors in ("same.vec", "zero.vec"):
        run = inside("evaluate", "analogy", vectors, "four.txt", "--details", "--intervals")
        assert b"accuracy\tn/a\nsemantic\tn/a\nsyntactic\tn/a\n" in run.stdout and run.returncode == 0
        assert b"four.txt: n/a (2 of 2 questions to score)" in run.stderr
        run = inside("evaluate", "analogy", "other.vec", "four.txt", "--against", vectors, "--json")
        found = json.loads(run.stdout)
        assert found["accuracy"] == 0.5 and found["against"]["accuracy"] is None
        assert found["against"]["covered"] == 2


def test_answers_without_an_output_vector_are_told(inside, tmp_path):
    """The likelihood of fewer answers among fewer words looked better, and nothing said why."""
    rows = {"a": "1 0", "b": "0 1", "c": "1 1", "d": "1 2", "e": "2 1"}
    for name, words in (("v.vec", "abcde"), ("all.vec", "edcba"), ("some.vec", "ad")):
        (tmp_path / name).write_text("".join(f"{word} {rows[word]}\n" for word in words))
    (tmp_path / "q.txt").write_text(": s\na b c d\na b c e\n")
    run = inside("evaluate", "analogy", "v.vec", "q.txt", "--output-vectors", "some.vec")
    assert run.returncode == 0
    message = b"warning: q.txt: 1 of 2 answers have no vector in some.vec: log_likelihood is over the other 1, among 2 words"
    assert message in run.stderr
    assert (
        b"warning"
        not in inside("evaluate", "analogy", "v.vec", "q.txt", "--output-vectors", "all.vec").stderr
    )
    assert b"warning" not in inside("evaluate", "analogy", "v.vec", "q.txt").stderr
