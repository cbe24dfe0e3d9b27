"""``wordkit evaluate supersense``: the sample, training and test files, representations, faults, a missing extra."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import fails, succeeds

pytest.importorskip("sklearn")
COLUMNS = "dogs B-n.ANIMAL\nrun B-v.motion\n\ncats B-n.ANIMAL\nsit B-v.body\non O\n\n" * 6


@pytest.fixture
def files(tmp_path):
    (tmp_path / "s.tags").write_text(COLUMNS)
    (tmp_path / "t.tags").write_text("Dogs B-n.ANIMAL\nsit B-v.body\nx B-n.TOPS\n")
    (tmp_path / "v.vec").write_text("4 2\ndogs 1 0\ncats 0.9 0.1\nrun 0 1\nsit 0 0.5\n")
    (tmp_path / "n.vec").write_text("2 2\ndogs 1 -1\nrun 0 1\n")
    (tmp_path / "b.paths").write_text("0\tdogs\t5\n0\tcats\t5\n10\trun\t4\n11\tsit\t3\n")
    return tmp_path


def evaluate(inside, *options, data=("s.tags",)):
    return inside("evaluate", "supersense", *data, *options)


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_the_sample(inside, samples):
    sense, vectors = samples / "supersenses.conllulex", samples / "vectors.txt"
    words = found(inside("evaluate", "supersense", sense, "--json"))
    assert words["command"] == "evaluate supersense" and words["total"] == 485 and words["covered"] < 485
    assert words["items"] == {"noun": 342, "verb": 143} and len(words["folds"]) == 5
    assert words["accuracy"] == pytest.approx(
        (342 * words["noun_accuracy"] + 143 * words["verb_accuracy"]) / 485
    )
    both = found(inside("evaluate", "supersense", sense, "--vectors", vectors, "--json"))
    assert both["accuracy"] > words["accuracy"] > 0.6 and both["covered"] > 450
    assert both["results"][0]["parameters"]["kernel"] == "linear"
    again = found(inside("evaluate", "supersense", sense, "--vectors", vectors, "--json"))
    assert {**again, "seconds": 0} == {**both, "seconds": 0}
    other = found(inside("evaluate", "supersense", sense, "--seed", "2", "--cv", "3", "--json"))
    assert len(other["folds"]) == 3 and other["signature"] != words["signature"]


def test_training_and_test_files(inside, files):
    run = evaluate(inside, data=("s.tags", "s.tags", "t.tags"))
    out = succeeds(run)
    assert (
        "accuracy\t1\ts.tags\n" in out and "accuracy\t0.666667\tt.tags\n" in out and "total\t27\tsum\n" in out
    )
    assert b"t.tags: supersenses that the training data lack: n.TOPS\n" in run.stderr
    assert b"t.tags: 1 of 3 words known\n" in run.stderr
    assert b"t.tags: 1 sentences, 3 words with one of 3 supersenses\n" in run.stderr
    assert "per_class/v.body/f1\t1\n" in succeeds(evaluate(inside, "--details", data=("s.tags", "s.tags")))


def test_u081_representations_and_unknown_words(inside, files):
    test = ("s.tags", "t.tags")
    runs = {
        options: found(evaluate(inside, *options, "--unlexicalized", "--json", data=test))
        for options in (
            ("--vectors", "v.vec"),
            ("--vectors", "v.vec", "--unknown", "lowercase"),
            ("--vectors", "v.vec", "--unknown", "mean"),
            ("--clusters", "b.paths", "--ignore-case"),
            ("--vectors", "n.vec"),
        )
    }
    assert [run["covered"] for run in runs.values()] == [1, 2, 1, 2, 0]
    assert [run["accuracy"] for run in runs.values()][1] == pytest.approx(2 / 3)
    kernels = [run["results"][0]["parameters"]["kernel"] for run in runs.values()]
    assert kernels == ["hellinger"] * 4 + ["linear"]
    assert len({run["signature"] for run in runs.values()}) == 5
    run = evaluate(inside, "--vectors", "n.vec", "--kernel", "hellinger")
    fails(
        run, "the vectors hold negative values: the hellinger kernel is for probabilities (--kernel linear)"
    )
    fails(evaluate(inside, "--vectors", "v.vec", "--strict", data=test), "t.tags: 2 of 3 words are unknown")


def test_decoded_treebank(inside, files, samples):
    sense = samples / "supersenses.conllulex"
    train = ("--structure", "tree", "--states", "8", "--epochs", "2")
    succeeds(inside("train-hmtm", samples / "trees.conllu", "-o", "m", *train))
    accuracy = {}
    for representation in ("viterbi", "both"):
        decode = ("--input-format", "conllulex", "--representation", representation, "-o", "d.conllulex")
        succeeds(inside("decode", "m", sense, *decode))
        result = found(
            inside("evaluate", "supersense", sense, "--decoded", "d.conllulex", "--unlexicalized", "--json")
        )
        accuracy[representation] = result["accuracy"]
        assert (
            result["covered"] == result["total"]
            and result["results"][0]["parameters"]["representation"] == "decoded"
        )
    assert accuracy["both"] > accuracy["viterbi"] > 0.2


def test_bad_input_is_one_line(inside, files):
    (files / "bad.tags").write_text("a B-n.X\nb NN\n")
    fails(evaluate(inside, data=("bad.tags",)), "bad.tags:2: tag `NN`, expected O, B-TYPE or I-TYPE")
    fails(evaluate(inside, data=("none",)), "none: No such file")
    fails(
        evaluate(inside, "--unlexicalized"),
        "--unlexicalized needs --vectors, --clusters or --decoded",
        code=2,
    )
    fails(evaluate(inside, "--decoded", "x", data=("s.tags", "t.tags")), "2 times, not 1", code=2)
    fails(evaluate(inside, "--cv", "20"), "s.tags: 12 sentences are not enough for 20 folds")
    fails(evaluate(inside, data=("-", "-")), "standard input (-) can be only one", code=2)
    (files / "one.tags").write_text("a B-n.X\n\nb B-n.X\n")
    fails(
        evaluate(inside, data=("one.tags", "t.tags")),
        "one.tags: 1 supersense to learn; a classifier needs two",
    )


def test_a_missing_extra_is_one_line(inside, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    fails(evaluate(inside), "error: evaluate supersense needs scikit-learn: pip install scikit-learn")
