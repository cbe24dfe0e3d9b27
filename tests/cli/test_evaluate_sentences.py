"""``wordkit evaluate sentences``: the sample, several test files, unknown words, a missing extra."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import fails, succeeds

pytest.importorskip("sklearn")
NAMES = ("train", "dev", "test")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text("4 2\ngood 1 0\nbad -1 0\nfilm 0 1\nplot 0 0.5\n")
    for name in NAMES:
        (tmp_path / f"{name}.txt").write_text(
            "__label__p good film\n__label__n bad film\n__label__p good plot x\n__label__n bad\n" * 3
        )
    (tmp_path / "odd.txt").write_text("__label__p x y\n__label__n\n__label__z good\n__label__p Good film\n")
    return tmp_path


def evaluate(inside, *options, test=("test.txt",)):
    return inside("evaluate", "sentences", "v.vec", "train.txt", "dev.txt", *test, *options)


def test_the_sample(inside, samples):
    sets = [samples / f"reviews.{name}.txt" for name in NAMES]
    found = json.loads(inside("evaluate", "sentences", samples / "vectors.txt", *sets, "--json").stdout)
    assert found["command"] == "evaluate sentences" and found["covered"] == found["total"] == 200
    assert found["accuracy"] > 0.6 and found["dev_accuracy"] == max(found["grid"].values()) > 0.6
    assert 0.95 < found["known_tokens"] / found["tokens"] < 1


def test_one_set_and_several(inside, files):
    run = evaluate(inside)
    assert run.returncode == 0 and run.stdout == b"accuracy\t1\ncovered\t12\ntotal\t12\n"
    assert b"test.txt: 21 of 24 tokens have a vector (--unknown skip)\n" in run.stderr
    run = evaluate(inside, test=("test.txt", "odd.txt"))
    assert (
        run.stdout.startswith(b"accuracy\t0.75\tmean\n")
        and b"covered\t14\tsum\ntotal\t16\tsum\n" in run.stdout
    )
    assert b"odd.txt: labels that the training data lack: z\n" in run.stderr
    assert b"grid/" in evaluate(inside, "--details").stdout


def test_u081_unknown_words(inside, files):
    options = (
        (),
        ("--unknown", "zero"),
        ("--unknown", "lowercase"),
        ("--ignore-case",),
        ("--restrict-vocab", "1"),
    )
    runs = [json.loads(evaluate(inside, *o, "--json", test=("odd.txt",)).stdout) for o in options]
    assert [run["covered"] for run in runs] == [2, 2, 2, 2, 1]
    assert [run["known_tokens"] for run in runs] == [2, 2, 3, 3, 1]
    assert len({run["signature"] for run in runs}) == 5
    run = evaluate(inside, "--strict")
    assert (
        run.returncode == 1
        and b"train.txt: 3 of 24 tokens are unknown, expected none, with --strict" in run.stderr
    )


def test_bad_input_is_one_line(inside, files):
    (files / "bad.txt").write_text("no label\n")
    run = evaluate(inside, test=("bad.txt",))
    assert (run.returncode, run.stdout) == (1, b"")
    assert run.stderr == (
        b"wordkit: error: bad.txt:1: no label, expected a token that begins with `__label__`\n"
    )
    (files / "train.txt").write_text("__label__p good\n")
    run = evaluate(inside)
    assert run.returncode == 1 and b"train.txt: all documents have the label `p`" in run.stderr
    assert inside("evaluate", "sentences", "-", "-", "dev.txt", "test.txt").returncode == 2


def test_nothing_known_is_no_number(inside, files):
    (files / "none.txt").write_text("__label__p y z\n__label__n z\n")
    found = json.loads(succeeds(evaluate(inside, "--json", test=("none.txt",))))
    assert found["accuracy"] is None and (found["covered"], found["total"]) == (0, 2)


def test_errors_name_the_file(inside, files):
    for name, text, says in (
        ("train.txt", "__label__p x\n__label__n x\n", "no token has a vector"),
        ("dev.txt", "\n", "there is no document"),
        ("test.txt", "__label__p __label__n good\n", "1: 2 labels, expected one"),
    ):
        before = (files / name).read_text()
        (files / name).write_text(text)
        said = fails(evaluate(inside), f"{name}:", says)
        assert "--multi-label" not in said  # this command has no such option
        (files / name).write_text(before)


def test_a_missing_extra_is_one_line(inside, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    run = evaluate(inside)
    assert (run.returncode, run.stdout) == (1, b"")
    expected = b"error: evaluate sentences needs scikit-learn: pip install scikit-learn (or wordkit with its extra eval)"
    assert run.stderr == b"wordkit: " + expected + b"\n"
