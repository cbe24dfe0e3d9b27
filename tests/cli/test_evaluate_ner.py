"""``wordkit evaluate ner``: the sample, representations, schemes, document marks, faults, a missing extra."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import fails, succeeds

TRAIN = (
    "-DOCSTART- -X- O\n\n"
    + "Ann NNP B-PER\nsaw VBD O\nRome NNP B-LOC\n\nhe PRP O\nmet VBD O\nAnn NNP B-PER\n\n" * 5
)
TEST = "Ann NNP B-PER\nmet VBD O\nBob NNP B-PER\n\n-DOCSTART- -X- O\n\nRome NNP B-LOC\nfell VBD O\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "train.conll").write_text(TRAIN)
    (tmp_path / "test.conll").write_text(TEST)
    (tmp_path / "v.vec").write_text("3 2\nAnn 1 0\nBob 1 0.1\nrome 0 1\n")
    (tmp_path / "b.paths").write_text("00\tAnn\t5\n00\tBob\t5\n01\tRome\t4\n1\tsaw\t3\n1\tmet\t3\n")
    (tmp_path / "given.conll").write_text("a B-P I-P\nb I-P I-P\n\nc O O\n")
    return tmp_path


def evaluate(inside, *options, test=("test.conll",)):
    return inside("evaluate", "ner", "train.conll", *test, *options)


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_the_sample(inside, samples):
    pytest.importorskip("pycrfsuite")
    sets = [samples / f"entities.{name}.conll" for name in ("train", "test")]
    words = found(inside("evaluate", "ner", *sets, "--json"))
    assert words["command"] == "evaluate ner" and words["total"] == 1396
    assert words["f1"] > 0.95 > 0.4 > words["baseline_f1"] > 0.2
    assert words["per_type"].keys() == {"PER", "LOC"} and words["entities"]["gold"] > 50
    assert words["document_marks"] == 2 and words["scheme_of_data"] == "IOB2" and words["pos_column"]
    assert words["results"][0]["parameters"]["lexicalized"]


def test_u039_marks_of_documents_are_told_and_not_scored(inside, files):
    run = evaluate(inside, "--method", "baseline")
    assert run.stdout.endswith(b"covered\t3\ntotal\t5\n")
    assert b"train.conll: 10 sentences, 30 tokens, 3 tags (IOB2), parts of speech\n" in run.stderr
    assert b"train.conll: 1 -DOCSTART- lines left out\n" in run.stderr
    assert b"test.conll: 1 -DOCSTART- lines left out\n" in run.stderr


def test_baseline_by_hand(inside, files):
    result = found(evaluate(inside, "--method", "baseline", "--json"))
    # Ann and Rome are found, Bob is not: 2 of 2, 2 of 3
    assert (result["precision"], result["recall"], result["accuracy"]) == (1, 2 / 3, 4 / 5)
    assert result["f1"] == result["baseline_f1"] == 0.8
    run = evaluate(inside, "--method", "baseline", "--clusters", "b.paths", "--window", "2")
    assert b"--window means nothing to --method baseline" in run.stderr


def test_u040_both_readings_and_the_reports_name_them(inside, files):
    for scheme, f1 in (("conlleval", 1), ("iob2", 0)):
        result = found(
            inside("evaluate", "ner", "given.conll", "--method", "given", "--scheme", scheme, "--json")
        )
        assert result["f1"] == f1 and f"scheme:{scheme}" in result["signature"]
        assert result["results"][0]["parameters"]["scheme"] == scheme
    (files / "one.conll").write_text("a I-P\n\n")
    run = inside("evaluate", "ner", "train.conll", "one.conll", "--method", "baseline", "--scheme", "iob2")
    assert b"one.conll: tags are IOB1; with --scheme iob2 an I- without its B- is no entity" in run.stderr
    assert run.stdout.startswith(b"precision\tn/a\nrecall\tn/a\nf1\tn/a\naccuracy\t1\n")


def test_given_tags_of_several_files(inside, files):
    run = inside("evaluate", "ner", "--method", "given", "given.conll", "given.conll")
    out = succeeds(run)
    assert out.startswith("precision\t1\tmean\n") and "covered\t6\tsum\n" in out and "baseline" not in out
    assert "accuracy\t0.666667\tgiven.conll\n" in out


def test_representations(inside, files):
    pytest.importorskip("pycrfsuite")
    plain = found(evaluate(inside, "--unlexicalized", "--pos-column", "0", "--json"))
    assert plain["f1"] < 1 and not plain["pos_column"]
    unlexicalized = ("--unlexicalized", "--window", "0", "--lam", "0.01", "--json")
    runs = {
        options: found(evaluate(inside, *options, *unlexicalized))
        for options in (
            ("--clusters", "b.paths"),
            ("--vectors", "v.vec"),
            ("--vectors", "v.vec", "--unknown", "lowercase"),
            ("--vectors", "v.vec", "--ignore-case"),
            ("--vectors", "v.vec", "--unknown", "mean"),
            ("--vectors", "v.vec", "--restrict-vocab", "1"),
            ("--vectors", "v.vec", "--clusters", "b.paths", "--prefixes", "1,2"),
        )
    }
    assert [run["covered"] for run in runs.values()] == [4, 2, 3, 3, 2, 1, 4]
    assert runs["--clusters", "b.paths"]["f1"] == runs["--vectors", "v.vec", "--ignore-case"]["f1"] == 1
    assert len({run["signature"] for run in runs.values()}) == len(runs)
    run = evaluate(inside, "--clusters", "b.paths", "--unknown", "mean")
    assert b"--unknown mean means nothing to --clusters" in run.stderr
    run = evaluate(inside, "--clusters", "b.paths", "--strict")
    fails(run, "test.conll: 1 of 5 tokens are unknown, expected none, with --strict")


def test_parts_of_speech_that_one_file_lacks_are_left_out(inside, files):
    pytest.importorskip("pycrfsuite")
    (files / "bare.conll").write_text("Ann B-PER\nmet O\n")
    run = evaluate(inside, "--json", test=("bare.conll",))
    assert b"warning: parts of speech are left out: not all files have them\n" in run.stderr
    assert found(run)["results"][0]["parameters"]["pos"] is False
    assert found(evaluate(inside, "--json"))["results"][0]["parameters"]["pos"] is True


def test_what_decode_writes(inside, files):
    pytest.importorskip("pycrfsuite")
    (files / "c.txt").write_text("Ann saw Rome\nhe met Ann\nBob met Rome\nhe saw Bob\nRome fell\n" * 9)
    train = ("--structure", "chain", "--states", "4", "--epochs", "5", "--min-count", "1")
    succeeds(inside("train-hmtm", "c.txt", "-o", "m", *train))
    decoded = []
    for representation in ("viterbi", "both"):
        for name in ("train", "test"):
            options = (
                "--input-format",
                "columns",
                "--representation",
                representation,
                "-o",
                f"{name}.{representation}",
            )
            succeeds(inside("decode", "m", f"{name}.conll", *options))
        decoded.append(("--decoded", f"train.{representation}", "--decoded", f"test.{representation}"))
    for options in decoded:
        result = found(evaluate(inside, *options, "--unlexicalized", "--json"))
        assert result["covered"] == result["total"] == 5 and result["f1"] > 0
    fails(
        evaluate(inside, "--decoded", "train.both"),
        "--decoded is needed for each data file: 2 times, not 1",
        code=2,
    )
    run = evaluate(inside, "--decoded", "train.both", "--decoded", "train.both")
    fails(run, "train.both:1: sentence 1, word 2 is `saw`, expected `met`, as in test.conll")
    (files / "x").write_text("Ann 3\n")
    fails(
        evaluate(inside, "--decoded", "x", "--decoded", "x"), "x:1: no word and representation between tabs"
    )


def test_predictions_are_written_as_conlleval_reads_them(inside, files):
    pytest.importorskip("pycrfsuite")
    run = evaluate(inside, "--clusters", "b.paths", "-o", "out.conll", "--json")
    trained = found(run)
    again = found(inside("evaluate", "ner", "--method", "given", "out.conll", "--json"))
    assert (files / "out.conll").read_text().startswith("Ann B-PER B-PER\nmet O O\n")
    for name in ("precision", "recall", "f1", "accuracy", "per_type"):
        assert again[name] == trained[name]
    fails(evaluate(inside, "-o", "x", test=("test.conll", "test.conll")), "--output is for one TEST", code=2)
    fails(evaluate(inside, "-o", "test.conll"), "path of an input", code=2)
    fails(evaluate(inside, "-o", "-"), "cannot be written to standard output", code=2)


def test_types_that_the_training_data_lack_are_named(inside, files):
    (files / "new.conll").write_text("Oslo NNP B-GPE\n")
    run = evaluate(inside, "--method", "baseline", test=("new.conll",))
    assert b"new.conll: types that the training data lack: GPE\n" in run.stderr


def test_bad_input_is_one_line(inside, files):
    (files / "bad.conll").write_text("Ann NNP B-PER\nmet O\n")
    run = evaluate(inside, test=("bad.conll",))
    fails(run, "bad.conll:2: 2 columns, expected 3, as in the lines before")
    run = evaluate(inside, "--method", "baseline", "--skip-invalid", test=("bad.conll", "test.conll"))
    fails(run, "bad.conll: holds no sentence")
    fails(evaluate(inside, test=("none.conll",)), "none.conll: No such file")
    fails(evaluate(inside, test=()), "Missing argument 'TEST...'", code=2)
    fails(inside("evaluate", "ner", "-", "-"), "standard input (-) can be only one", code=2)
    fails(evaluate(inside, "--prefixes", "4,x"), "expected numbers of bits between commas", code=2)
    (files / "o.conll").write_text("a O\n")
    pytest.importorskip("pycrfsuite")
    run = inside("evaluate", "ner", "o.conll", "o.conll")
    fails(run, "o.conll: holds no entity (--scheme conlleval); nothing to learn")


def test_a_missing_extra_is_one_line(inside, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    fails(evaluate(inside), "error: evaluate ner needs python-crfsuite: pip install python-crfsuite")
    assert evaluate(inside, "--method", "baseline").returncode == 0


@pytest.mark.realdata
def test_u033_the_real_sets_are_read(inside, real_data):
    for name, scheme, marks, least, most in (("wikigold", "IOB1", 25, 0.2, 0.3), ("wnut17", "IOB2", 0, 0, 0)):
        sets = [real_data / "ner" / f"{name}.{part}.conll" for part in ("train", "dev")]
        result = found(inside("evaluate", "ner", *sets, "--method", "baseline", "--json"))
        assert (
            result["scheme_of_data"] == scheme
            and result["document_marks"] == marks
            and not result["pos_column"]
        )
        assert (
            least <= result["f1"] <= most
        )  # the entities of wnut17's dev are those that its training part lacks
