"""``wordkit train-rpa --init``: a model is continued on other data."""

from __future__ import annotations

import shutil

from tests.cli.conftest import fails, run_wordkit, succeeds
from tests.cli.test_train_rpa import QUICK, labelled
from wordkit.formats.model_file import read_header
from wordkit.models import TextClassifier


def test_init_appends_new_words_and_refuses_new_labels(inside, questions, tmp_path):
    labelled(tmp_path, "__label__place zebra zebra who\n__label__person zebra what\n" * 3)
    labelled(tmp_path, "__label__weather rain rain\n", "other")
    run = inside("train-rpa", "x.txt", "--init", questions, "-o", "m", "--epochs", "2")
    succeeds(run)
    assert "1 new words appended" in run.stderr.decode()
    old, new = TextClassifier.load(questions), TextClassifier.load(tmp_path / "m")
    assert new.words() == [*old.words(), "zebra"]
    assert [record["name"] for record in new.header["inputs"]] == ["questions.train.txt", "x.txt"]
    piped = inside(
        "train-rpa",
        "-",
        "--init",
        questions,
        "-o",
        "p",
        "--epochs",
        "2",
        stdin=(tmp_path / "x.txt").read_bytes(),
    )
    succeeds(piped)
    assert (TextClassifier.load(tmp_path / "p").classifier.coef_ == new.classifier.coef_).all()
    fails(
        inside("train-rpa", "other", "--init", questions, "-o", "m"),
        "label `weather` is not one of the model's",
    )


def test_init_on_rare_words_and_with_ngrams(inside, questions, small, tmp_path):
    labelled(tmp_path, "__label__place where zebra\n")
    run = inside("train-rpa", "x.txt", "--init", questions, "-o", "m", "--epochs", "1")
    assert succeeds(run) and "0 new words appended" in run.stderr.decode()
    succeeds(inside("train-rpa", small, *QUICK, "--ngrams", "2", "-o", "n"))
    run = inside("train-rpa", small, "--init", "n", "-o", "m", "--epochs", "1")
    assert succeeds(run) and "takes no new words" in run.stderr.decode()


def test_u061_init_with_options_that_contradict_the_model(inside, questions, small):
    init = ("train-rpa", small, "--init", questions, "-o", "m")
    fails(inside(*init, "--dim", "7"), "--dim 7 contradicts the earlier training, which had --dim 20")
    fails(
        inside(*init, "--min-count", "3"),
        "--min-count 3 contradicts the earlier training, which had --min-count 2",
    )
    fails(
        inside(*init, "--algorithm", "pa"),
        "--algorithm pa contradicts the earlier training, which had --algorithm rpa",
    )
    fails(inside(*init, "--cv", "3"), "--cv is the earlier model's to say")
    succeeds(inside(*init, "--dim", "20", "--min-count", "2", "--C", "0.5", "--epochs", "1"))


def test_u104_init_and_resume_from_what_is_no_classifier(inside, small, samples):
    for option in ("--init", "--resume"):
        fails(
            inside("train-rpa", small, option, samples / "vectors.bin", "-o", "m"),
            "vectors.bin: is not a model file",
        )
        fails(inside("train-rpa", small, option, "none", "-o", "m"), "none: No such file")


def test_model_written_over_the_one_that_is_continued(questions, small, tmp_path):
    shutil.copy(questions, tmp_path / "m")
    succeeds(run_wordkit(tmp_path, "train-rpa", small, "--init", "m", "-o", "m", "--epochs", "1"))
    assert len(read_header(tmp_path / "m")["inputs"]) == 2
