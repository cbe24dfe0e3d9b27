"""``wordkit predict``, ``evaluate classification`` and ``info``: from model files to results."""

from __future__ import annotations

import gzip
import json
import os
import select
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.cli.conftest import fails, start, succeeds
from wordkit.formats.model_file import write_model

TEST = "data_samples/questions.test.txt"


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    return tmp_path


# --- predict ---------------------------------------------------------------------------------------------------


def test_u047_one_line_an_input_line(inside, questions, folder):
    odd = "who \u2028 is\u0085 a\x0c b\n\nwhat\r\n \t \n__label__x where\nwhen\x0b\x1c\nlast".encode()
    for content in (odd, odd + b"\n", b"\n" * 7):
        (folder / "x").write_bytes(content)
        out = succeeds(inside("predict", questions, "x"))
        assert out.count("\n") == 7 and all(line.startswith("__label__") for line in out.split("\n")[:-1])


def test_u047_streams_answer_before_the_input_ends(questions, folder):
    process = start(folder, "predict", questions, "-", stdin=subprocess.PIPE, bufsize=0)
    try:
        for line in (b"w\n", b"where is the city of a b ?\n"):
            process.stdin.write(line)
            assert select.select([process.stdout], [], [], 20)[0], "no answer while the input is open"
            assert process.stdout.readline().startswith(b"__label__")
    finally:
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0 and out == b"" and b"2 documents labelled" in err


def test_predictions_do_not_depend_on_how_the_input_comes(inside, questions, folder, samples):
    content = (samples / "questions.test.txt").read_bytes()
    expected = succeeds(inside("predict", questions, TEST, "--scores", "--top", "6"))
    (folder / "x.gz").write_bytes(gzip.compress(content))
    options = ("--scores", "--top", "6")
    assert succeeds(inside("predict", questions, "x.gz", *options)) == expected
    assert succeeds(inside("predict", questions, "-", *options, stdin=content)) == expected
    assert (
        succeeds(inside("predict", questions, "-", *options, "--threads", "2", stdin=gzip.compress(content)))
        == expected
    )
    without = b"".join(line.split(b" ", 1)[1] for line in content.splitlines(keepends=True))
    assert succeeds(inside("predict", questions, "-", *options, stdin=without)) == expected
    succeeds(inside("predict", questions, TEST, *options, "-o", "o.bz2"))
    assert (
        subprocess.run(["bzcat", folder / "o.bz2"], capture_output=True, check=True).stdout.decode()
        == expected
    )


def test_model_from_standard_input(inside, questions, folder):
    out = succeeds(inside("predict", "-", TEST, stdin=questions.read_bytes()))
    assert out == succeeds(inside("predict", questions, TEST))
    assert json.loads(succeeds(inside("info", "-", stdin=questions.read_bytes())))["kind"] == "rpa"


def test_scores_top_and_threshold(inside, questions, reviews, folder):
    (folder / "x").write_text("where is the city\nzzz\n")
    rows = [
        line.split("\t")
        for line in succeeds(inside("predict", questions, "x", "--scores", "--top", "9")).splitlines()
    ]
    assert [len(row) for row in rows] == [12, 12]
    values = [float(value) for value in rows[0][1::2]]
    assert values == sorted(values, reverse=True) and len(set(rows[0][::2])) == 6
    assert rows[1][1::2] == ["0"] * 6  # nothing known of it
    at_most = inside("predict", questions, "x", "--scores", "--top", "9", "--threshold", str(values[1]))
    assert succeeds(at_most).splitlines()[0].count("\t") in (1, 3)
    assert succeeds(inside("predict", questions, "x", "--threshold", "1e9")) == "\n\n"
    (row,) = [
        line.split("\t")
        for line in succeeds(inside("predict", reviews, "x", "--scores", "--top", "2")).splitlines()[:1]
    ]
    assert float(row[1]) == -float(row[3]) >= 0


def test_u048_documents_without_known_words(inside, questions, folder):
    (folder / "x").write_text("\nzzz qqq\nwhere\n")
    run = inside("predict", questions, "x", "--scores")
    lines = succeeds(run).splitlines()
    assert lines[0] == lines[1] and lines[0].endswith("\t0")
    assert "3 documents labelled, 2 of them without any known feature" in run.stderr.decode()


def test_ngrams_at_prediction(inside, folder):
    (folder / "x").write_text("__label__ab a b\n__label__ba b a\n" * 6)
    succeeds(inside("train-rpa", "x", "-o", "m", "--ngrams", "2", "--algorithm", "pa-onehot"))
    (folder / "t").write_text("a b\nb a\n")
    assert succeeds(inside("predict", "m", "t")) == "__label__ab\n__label__ba\n"


def test_own_label_prefix_comes_back(inside, folder):
    (folder / "x").write_text("#a x x\n#b y y\n" * 3)
    succeeds(inside("train-rpa", "x", "-o", "m", "--label-prefix", "#"))
    assert succeeds(inside("predict", "m", "x")).split() == ["#a", "#b"] * 3
    assert "accuracy\t1\n" in succeeds(inside("evaluate", "classification", "m", "x"))


def test_u058_odd_tokens_and_labels_pass(inside, folder):
    (folder / "x").write_text("__label__: a:b | http://x\n__label__| 1:2 # c\n" * 3)
    succeeds(inside("train-rpa", "x", "-o", "m"))
    assert succeeds(inside("predict", "m", "x")).split() == ["__label__:", "__label__|"] * 3


def test_u017_u095_bad_input_keeps_the_old_output(inside, questions, samples, folder):
    (folder / "o").write_text("old")
    for name, says in (
        ("empty.txt", "is empty"),
        ("latin1.txt", "latin1.txt:2: byte 0xe9"),
        ("nul.txt", "nul.txt:2: NUL"),
    ):
        fails(inside("predict", questions, samples / "broken" / name, "-o", "o"), says)
    fails(inside("predict", questions, "none", "-o", "o"), "none: No such file")
    fails(inside("predict", questions, TEST, "-o", "none/o"), "there is no folder none")
    assert (folder / "o").read_text() == "old" and set(os.listdir(folder)) == {"o", "data_samples"}


def test_skipped_lines_keep_their_place(inside, questions, samples):
    broken = samples / "broken" / "latin1.txt"
    run = inside("predict", questions, broken, "--skip-invalid")
    assert succeeds(run).count("\n") == broken.read_bytes().count(b"\n")
    assert "latin1.txt:2: byte 0xe9" in run.stderr.decode()


@pytest.mark.parametrize("command", [("predict",), ("evaluate", "classification")])
def test_u102_u104_files_that_are_no_classifier(inside, samples, folder, command):
    write_model(folder / "other", "hmtm", {"x": np.zeros(3)}, {})
    write_model(folder / "newer", "rpa", {}, {"format_version": 99})
    write_model(folder / "parts", "rpa", {}, {})
    for name, says in [
        ("other", "other: this is a model of kind 'hmtm', expected a text classifier"),
        ("newer", "model format 99"),
        ("parts", "parts: the model is damaged: features is missing"),
        (
            samples / "vectors.bin",
            "vectors.bin: is not a model file, or is damaged, expected a wordkit model file",
        ),
        (samples / "broken" / "empty.txt", "empty.txt: is "),
        ("none", "none: No such file"),
        (".", ".: is a folder"),
    ]:
        fails(inside(*command, name, TEST), says)


def test_truncated_models(inside, questions, folder):
    data = questions.read_bytes()
    for part in range(1, 20):
        (folder / "cut").write_bytes(data[: len(data) * part // 20])
        fails(inside("predict", "cut", TEST), "cut: is not a model file, or is damaged")


def test_standard_input_twice(inside, questions):
    for command in (
        ("predict", "-", "-"),
        ("evaluate", "classification", "-", "-"),
        ("evaluate", "classification", questions, "-", "-"),
    ):
        fails(inside(*command, stdin=b"x"), "standard input (-) can be only one of the inputs", code=2)


def test_prediction_that_is_interrupted(questions, folder):
    (folder / "o").write_text("old")
    process = start(folder, "predict", questions, "-", "-o", "o", stdin=subprocess.PIPE)
    process.stdin.write(b"who\n" * 10)
    process.stdin.flush()
    for _ in range(200):
        if any(name.startswith(".o.") for name in os.listdir(folder)):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and err.endswith(b"wordkit: interrupted\n")
    assert (folder / "o").read_text() == "old" and set(os.listdir(folder)) == {"o", "data_samples"}


# --- evaluate classification -----------------------------------------------------------------------------------


def test_evaluation_equals_the_predictions(inside, questions, samples):
    gold = [line.split()[0] for line in (samples / "questions.test.txt").read_text().splitlines()]
    predicted = succeeds(inside("predict", questions, samples / "questions.test.txt")).split()
    accuracy = np.mean([a == b for a, b in zip(gold, predicted, strict=True)])
    for _ in range(2):  # U091: evaluating changes nothing
        result = json.loads(
            succeeds(
                inside("evaluate", "classification", questions, samples / "questions.test.txt", "--json")
            )
        )
        assert result["accuracy"] == pytest.approx(accuracy) == result["micro_f1"]
        assert result["covered"] <= result["total"] == 500


def test_u052_json_has_the_keys_of_the_contract(inside, questions, folder):
    result = json.loads(succeeds(inside("evaluate", "classification", questions, TEST, TEST, "--json")))
    assert {
        "command",
        "signature",
        "seconds",
        "accuracy",
        "macro_f1",
        "micro_f1",
        "covered",
        "total",
        "results",
    } <= result.keys()
    assert len(result["results"]) == 2
    for one in result["results"]:
        assert {
            "accuracy",
            "macro_f1",
            "micro_f1",
            "per_class",
            "confusion",
            "covered",
            "total",
            "data",
        } <= one.keys()
        assert set(one["per_class"]["entity"]) == {"precision", "recall", "f1", "support"}
    single = json.loads(succeeds(inside("evaluate", "classification", questions, TEST, "--json")))
    assert single["per_class"] == one["per_class"] and single["confusion"] == one["confusion"]
    assert result["accuracy"] == single["accuracy"] and result["total"] == 2 * single["total"]


def test_u090_lines_and_details(inside, questions, folder):
    short = succeeds(inside("evaluate", "classification", questions, TEST))
    assert [line.split("\t")[0] for line in short.splitlines()] == [
        "accuracy",
        "macro_f1",
        "micro_f1",
        "covered",
        "total",
    ]
    details = succeeds(inside("evaluate", "classification", questions, TEST, "--details"))
    assert (
        details.startswith(short)
        and "per_class/entity/recall\t" in details
        and "confusion/place/place\t" in details
    )
    two = succeeds(inside("evaluate", "classification", questions, TEST, TEST))
    assert two.splitlines()[0].split("\t")[::2] == ["accuracy", "mean"] and f"\t{TEST}\n" in two


def test_u046_labels_never_seen(inside, questions, folder):
    (folder / "x").write_text("__label__weather what\n\n__label__rain where is\n__label__entity zzz\n")
    run = inside("evaluate", "classification", questions, "x", "--json")
    result = json.loads(succeeds(run))
    assert result["total"] == 3 and result["covered"] == 2 and result["accuracy"] <= 1 / 3
    assert result["unseen_labels"] == ["rain", "weather"]
    assert "labels that the model has not seen: rain, weather" in run.stderr.decode()
    assert "x: 1 blank lines passed over" in run.stderr.decode()


def test_u044_evaluation_without_labels(inside, questions, folder, samples):
    (folder / "x").write_text("sports ball game\n")
    fails(inside("evaluate", "classification", questions, "x"), "x:1: no label", "`__label__`")
    fails(
        inside("evaluate", "classification", questions, "x", "--skip-invalid"),
        "no labelled line; labels start with",
    )
    fails(
        inside("evaluate", "classification", questions, samples / "broken" / "empty.txt"),
        "empty.txt: is empty",
    )
    fails(inside("evaluate", "classification", questions), "Missing argument", code=2)


# --- info ------------------------------------------------------------------------------------------------------


def test_info(inside, questions, samples):
    header = json.loads(succeeds(inside("info", questions)))
    assert {
        "format",
        "format_version",
        "kind",
        "wordkit_version",
        "command",
        "parameters",
        "inputs",
        "signature",
    } <= header.keys()
    assert header["parameters"]["seed"] == 1 and header["inputs"][0]["bytes"] > 0
    vectors = json.loads(succeeds(inside("info", samples / "vectors.txt")))
    assert {600, 20} <= set(vectors.values())
    fails(inside("info", samples / "corpus.txt"), "corpus.txt")
    fails(inside("info", "none"), "none: No such file")


def test_u047_svmlight_too_has_one_line_for_each_line(inside, tmp_path):
    (tmp_path / "train").write_text("1 1:1 3:1\n-1 2:1\n" * 5)
    (tmp_path / "new").write_text("# header\n\n1 1:1\n2:1\n   \nno number\n-1 3:1\n# end\n\n")
    succeeds(inside("train-rpa", "train", "-o", "m", "--format", "svmlight", "--dim", "5"))
    out = succeeds(inside("predict", "m", "new", "--skip-invalid", "--scores")).splitlines()
    assert len(out) == 9
    assert [line.split("\t")[1] == "0" for line in out] == [
        True,
        True,
        False,
        False,
        True,
        True,
        False,
        True,
        True,
    ]
    assert [line.split("\t")[0] for line in out if not line.endswith("\t0")] == ["1", "-1", "1"]


def test_svmlight_without_records_and_bad_last_lines_have_their_lines(inside, tmp_path, questions):
    (tmp_path / "train").write_bytes(b"1 1:1\n2 2:1\n")
    succeeds(inside("train-rpa", "train", "-o", "m", "--format", "svmlight", "--dim", "5"))
    assert succeeds(inside("predict", "m", "-", stdin=b"\n# a comment\n")).count("\n") == 2
    for model in ("m", questions):
        assert succeeds(inside("predict", model, "-", "--skip-invalid", stdin=b"1:1\n\xff")).count("\n") == 2
