"""``wordkit train-rpa``: data, options, outputs."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest

from tests.cli.conftest import fails, succeeds
from tests.conftest import environment
from wordkit.formats.model_file import read_header, read_model
from wordkit.formats.vectors import read_vectors
from wordkit.models import TextClassifier

QUICK = ("--dim", "5", "--epochs", "2")


def labelled(folder, text: str | bytes, name: str = "x.txt"):
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


# --- the same bytes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--embedding", "shared", "--average"),
        ("--cv", "2", "--grid", "C=0.1,1:epochs=1,2"),
        ("--ngrams", "2"),
    ],
)
def test_u062_same_seed_gives_the_same_bytes_at_any_thread_count(inside, wordkit, small, tmp_path, options):
    for name, threads, run in (
        ("a", 1, inside),
        ("b", 2, inside),
        ("c", 1, wordkit),
    ):  # which has other hashes
        outputs = ("-o", f"{name}.model", "--vectors-out", f"{name}.vec", "--threads", threads)
        succeeds(run("train-rpa", small, *QUICK, *options, *outputs))
    for kind in ("model", "vec"):
        first = (tmp_path / f"a.{kind}").read_bytes()
        assert first == (tmp_path / f"b.{kind}").read_bytes() == (tmp_path / f"c.{kind}").read_bytes()
    succeeds(inside("train-rpa", small, *QUICK, *options, "-o", "d.model", "--seed", "2"))
    assert (tmp_path / "d.model").read_bytes() != (tmp_path / "a.model").read_bytes()


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_compressed_inputs_and_outputs(inside, small, tmp_path, suffix):
    import zstandard

    pack = {"zst": zstandard.ZstdCompressor().compress}.get(suffix) or __import__(
        {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}[suffix]
    ).compress
    labelled(tmp_path, pack(small.read_bytes()), f"x.{suffix}")
    outputs = ("-o", f"m.{suffix}", "--vectors-out", f"v.{suffix}")
    succeeds(inside("train-rpa", f"x.{suffix}", *QUICK, *outputs))
    header, _ = read_model(tmp_path / f"m.{suffix}")
    plain = succeeds(inside("train-rpa", small, *QUICK, "-o", "m"))
    assert header["inputs"][0]["sha256"] == read_header(tmp_path / "m")["inputs"][0]["sha256"]
    assert len(read_vectors(tmp_path / f"v.{suffix}")[0]) == int(plain.split("features\t")[1].split()[0])
    assert (tmp_path / f"m.{suffix}").read_bytes()[:2] != b"PK"


def test_pipe_into_training(small, tmp_path, inside):
    (tmp_path / "x.gz").write_bytes(gzip.compress(small.read_bytes()))
    options = " ".join(QUICK)
    script = (
        f"zcat x.gz | wordkit train-rpa - -o piped {options}; wordkit train-rpa - -o magic {options} < x.gz"
    )
    command = ["bash", "-euo", "pipefail", "-c", script]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, env=on_path(tmp_path), check=False)
    assert run.returncode == 0, run.stderr
    succeeds(inside("train-rpa", small, *QUICK, "-o", "file"))
    of = {name: TextClassifier.load(tmp_path / name) for name in ("piped", "magic", "file")}
    assert of["piped"].header["inputs"][0] == {**of["file"].header["inputs"][0], "name": "<stdin>"}
    assert (tmp_path / "piped").read_bytes() == (tmp_path / "magic").read_bytes()
    assert (of["piped"].classifier.coef_ == of["file"].classifier.coef_).all()


def on_path(folder) -> dict:
    """An environment in which ``wordkit`` is this wordkit."""
    tool = folder / "bin" / "wordkit"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m wordkit "$@"\n')
    tool.chmod(0o755)
    return environment(PATH=f"{tool.parent}:{os.environ['PATH']}")


def test_several_inputs_are_read_one_after_the_other(inside, small, tmp_path):
    lines = small.read_bytes().splitlines(keepends=True)
    first, second = (
        labelled(tmp_path, b"".join(lines[:100]), "1"),
        labelled(tmp_path, b"".join(lines[100:]), "2"),
    )
    succeeds(inside("train-rpa", first, second, *QUICK, "-o", "two"))
    succeeds(inside("train-rpa", small, *QUICK, "-o", "one"))
    two, one = (TextClassifier.load(tmp_path / name) for name in ("two", "one"))
    assert (two.classifier.coef_ == one.classifier.coef_).all()
    assert [record["name"] for record in two.header["inputs"]] == ["1", "2"]


def test_u024_u034_crlf_and_byte_order_mark(inside, small, tmp_path):
    labelled(tmp_path, b"\xef\xbb\xbf" + small.read_bytes().replace(b"\n", b"\r\n"))
    for name, path in (("a", "x.txt"), ("b", small)):
        succeeds(inside("train-rpa", path, *QUICK, "-o", name))
    a, b = (read_model(tmp_path / name)[1] for name in ("a", "b"))
    assert all((a[name] == b[name]).all() for name in b)


# --- svmlight --------------------------------------------------------------------------------------------------


def test_u055_base_of_indices_is_the_training_datas(inside, tmp_path):
    labelled(tmp_path, "1 0:1\n-1 1:1\n", "train")
    succeeds(inside("train-rpa", "train", "--format", "svmlight", "-o", "m"))
    labelled(tmp_path, "1 1:1\n-1 0:1\n", "test")
    assert succeeds(inside("predict", "m", "test")).split() == ["-1", "1"]


def test_u056_unknown_features_are_counted(inside, tmp_path):
    labelled(tmp_path, "1 1:1\n-1 2:1\n1 1:1 3:1\n", "train")
    succeeds(inside("train-rpa", "train", "--format", "svmlight", "-o", "m"))
    labelled(tmp_path, "1 2:1 9:1\n", "test")
    run = inside("predict", "m", "test")
    assert (
        succeeds(run) == "-1\n"
        and "test:1: index 9 is not among the model's 3 features" in run.stderr.decode()
    )
    fails(inside("predict", "m", "test", "-o", "out", "--strict"), "index 9")


# --- options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [("--C", "0"), ("--C", "-1"), ("--C", "nan"), ("--C", "inf"), ("--lam", "1e999"), ("--dim", "0"), ("--epochs", "0"),
     ("--grid", "C=1"), ("--grid", "C=nan", "--cv", "2"), ("--grid", "x=1", "--cv", "2"), ("--grid", "C=1:C=2", "--cv", "2"),
     ("--grid", "epochs=1.5", "--cv", "2"), ("--grid", "C=", "--cv", "2"), ("--cv", "1"), ("--label-prefix", ""),
     ("--label-prefix", "a b"), ("--threads", "0"), ("--seed", "-1"), ("--embedding", "x"), ("--checkpoint", "-"),
     ("--log", "-"), ("--vectors-out", "-"), ("--init", "a", "--vectors", "b"), ("--vectors", "-", "-"), ("--nonsense",),
     ("-o", "-"), ("--checkpoint", "m"), ("--vectors-out", "./m"), ("--dev", "-", "-")],
    ids=" ".join,
)  # fmt: skip
def test_bad_usage(inside, small, tmp_path, options):
    run = inside("train-rpa", small, "-o", "m", *options)
    fails(run, "Error: " if options != ("--nonsense",) else "No such option", code=2)
    assert os.listdir(tmp_path) == []


def test_u096_scientific_numbers(inside, small):
    run = inside("train-rpa", small, "-o", "m", *QUICK, "--C", "1e-1", "--lam", "5E-2", "--json")
    result = json.loads(succeeds(run))
    assert (result["C"], result["lam"]) == (0.1, 0.05)


@pytest.mark.parametrize("option", ["-o", "--vectors-out", "--checkpoint", "--log"])
def test_output_folders_are_looked_for_before_the_training(inside, small, tmp_path, option):
    outputs = () if option == "-o" else ("-o", "m")
    run = inside("train-rpa", small, *outputs, option, "none/x")
    message = fails(run, "none/x: there is no folder none")
    assert "documents" not in message and os.listdir(tmp_path) == []


def test_two_outputs_with_one_path_through_a_link(inside, small, tmp_path):
    (tmp_path / "link").symlink_to("m")
    fails(inside("train-rpa", small, "-o", "m", "--log", "link"), "two outputs have the same path", code=2)


def test_u095_failing_run_keeps_the_old_outputs(inside, samples, tmp_path):
    names = {"-o": "m", "--vectors-out": "v", "--checkpoint": "c", "--log": "l"}
    for name in names.values():
        labelled(tmp_path, b"old", name)
    outputs = [word for pair in names.items() for word in pair]
    fails(inside("train-rpa", samples / "broken" / "some_unlabelled.txt", *outputs), "no label")
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == dict.fromkeys(
        names.values(), b"old"
    )


def test_u049_overflow_keeps_the_old_model(inside, small, tmp_path):
    labelled(tmp_path, b"old", "m")
    labelled(tmp_path, "2 2\nwhat 3e38 3e38\nwho -3e38 3e38\n", "huge.vec")
    options = ("--normalize", "none", "--update", "printed", "--vectors", "huge.vec")
    run = inside("train-rpa", small, "-o", "m", *options, "--log", "l", "--vectors-out", "v")
    fails(run, "not a finite number in epoch 1, at its document", "use a smaller C, a larger lambda")
    assert (tmp_path / "m").read_bytes() == b"old" and not (tmp_path / "v").exists()


def test_u061_dimension_is_the_vectors(inside, small, samples, tmp_path):
    vectors = ("--vectors", samples / "vectors.txt")
    succeeds(inside("train-rpa", small, "-o", "m", *vectors, "--epochs", "1"))
    assert read_header(tmp_path / "m")["parameters"]["dim"] == 20
    run = inside("train-rpa", small, "-o", "m", *vectors, "--dim", "100")
    fails(run, "vectors have 20 dimensions, and --dim asks for 100")
    fails(inside("train-rpa", small, "-o", "m", "--vectors", small), "small.txt")


def test_u068_embeddings_that_cannot_fit_are_told_before_the_training(inside, small, tmp_path):
    run = inside("train-rpa", small, "-o", "m", "--dim", "1000000000")
    fails(
        run,
        "the weights of 6 labels and ",
        " features take ",
        "use --embedding shared, a smaller --dim",
    )
    assert os.listdir(tmp_path) == []


def test_outputs_that_are_not_kept(inside, small, tmp_path):
    null = ("-o", "/dev/null", "--vectors-out", "/dev/null", "--log", "/dev/null")
    succeeds(inside("train-rpa", small, *QUICK, *null))
    assert os.listdir(tmp_path) == []


def test_no_words_no_vectors_is_told_before_the_training(inside, small, samples, tmp_path):
    run = inside("train-rpa", small, "-o", "m", "--algorithm", "pa-onehot", "--vectors-out", "v")
    fails(run, "v: --algorithm pa-onehot has no word vectors")
    run = inside(
        "train-rpa", samples / "questions.svmlight", "--format", "svmlight", "-o", "m", "--vectors-out", "v"
    )
    fails(run, "v: svmlight features have no words")
    run = inside(
        "train-rpa", samples / "questions.svmlight", "--format", "svmlight", "-o", "m", "--vectors", small
    )
    fails(run, "svmlight features have no words")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "width"), [((), 5 * 6), (("--embedding", "shared"), 5), (("--ngrams", "2"), 5 * 6)]
)
def test_vectors_out(inside, small, tmp_path, options, width):
    run = inside("train-rpa", small, *QUICK, "-o", "m", "--vectors-out", "v.txt", *options)
    succeeds(run)
    words, vectors = read_vectors(tmp_path / "v.txt")
    model = TextClassifier.load(tmp_path / "m")
    assert words == model.words() and vectors.shape[1] == width
    assert (vectors == model.classifier.word_vectors()[: len(words)]).all()
    assert ("n-grams have vectors of their own" in run.stderr.decode()) == ("--ngrams" in options)


def test_log_dev_and_json(inside, small, samples, tmp_path):
    run = inside(
        "train-rpa",
        small,
        *QUICK,
        "-o",
        "m",
        "--dev",
        samples / "questions.test.txt",
        "--log",
        "log",
        "--json",
    )
    result = json.loads(succeeds(run))
    assert {
        "command",
        "signature",
        "seconds",
        "covered",
        "total",
        "results",
        "loss",
        "dev_accuracy",
    } <= result.keys()
    assert (
        result["command"] == "train-rpa"
        and len(result["results"]) == 1
        and result["results"][0]["data"] == "small.txt"
    )
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2]
    assert all({"loss", "updates", "seconds", "dev_accuracy"} <= line.keys() for line in lines)
    assert lines[-1]["dev_accuracy"] == result["dev_accuracy"]
    assert read_header(tmp_path / "m")["history"][1]["dev_accuracy"] == result["dev_accuracy"]
    evaluated = inside("evaluate", "classification", "m", samples / "questions.test.txt", "--json")
    assert json.loads(succeeds(evaluated))["accuracy"] == result["dev_accuracy"]


def test_u065_loss_is_a_mean(inside, small, tmp_path):
    """Twice the same documents: about the same loss, not twice."""
    labelled(tmp_path, small.read_bytes() * 2, "twice")
    losses = []
    for path in (small, "twice"):
        run = inside(
            "train-rpa",
            path,
            "--dim",
            "5",
            "--epochs",
            "1",
            "-o",
            "m",
            "--C",
            "1e-5",
            "--json",
            "--no-shuffle",
        )
        losses.append(json.loads(succeeds(run))["loss"])
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_grid_and_cross_validation(inside, small, samples, tmp_path):
    grid = ("--grid", "C=1e-5,1:lam=0.01,0.1:epochs=1,3")
    run = inside("train-rpa", small, "--dim", "5", *grid, "--cv", "3", "-o", "m", "--json")
    result = json.loads(succeeds(run))
    assert len(result["grid"]) == 8 and result["epochs"] in (1, 3) and 0 < result["cv_accuracy"] <= 1
    assert result["cv_accuracy"] == max(point["accuracy"] for point in result["grid"])
    assert "chosen from 8 grid points" in run.stderr.decode()
    assert read_header(tmp_path / "m")["grid"][0]["C"] == result["C"]
    run = inside(
        "train-rpa", small, "--dim", "5", *grid, "--dev", samples / "questions.test.txt", "-o", "m", "--json"
    )
    result = json.loads(succeeds(run))
    assert result["dev_accuracy"] == max(point["accuracy"] for point in result["grid"])


def test_cross_validation_that_cannot_be(inside, tmp_path):
    labelled(tmp_path, "__label__a x\n__label__b x\n__label__c x\n")
    for folds, says in ((4, "there are only 3 documents"), (2, "a fold leaves documents of label")):
        fails(
            inside("train-rpa", "x.txt", "-o", "m", "--min-count", "1", "--cv", folds, "--grid", "C=1"),
            f"--cv {folds}: {says}",
        )


def test_no_shuffle_keeps_the_order(inside, small, tmp_path):
    for name, seed in (("a", 1), ("b", 2)):
        succeeds(
            inside(
                "train-rpa",
                small,
                *QUICK,
                "--no-shuffle",
                "--algorithm",
                "pa-onehot",
                "--seed",
                seed,
                "-o",
                name,
            )
        )
    a, b = (read_model(tmp_path / name)[1] for name in "ab")
    assert all((a[name] == b[name]).all() for name in a)


def test_u043_labels_that_are_no_labels(inside, tmp_path):
    labelled(tmp_path, "".join(f"__label__{i} x y\n" for i in range(20)))
    run = inside("train-rpa", "x.txt", *QUICK, "-o", "m")
    assert (
        succeeds(run) and "most documents have a label of their own: are these labels?" in run.stderr.decode()
    )


def test_an_output_never_replaces_the_data(inside, tmp_path, small):
    data = tmp_path / "data.txt"
    data.write_bytes(small.read_bytes())
    (tmp_path / "link").symlink_to(data)
    for arguments in (
        ("train-rpa", data, "-o", "link"),
        ("train-rpa", data, "-o", "m", "--vectors-out", data),
        ("train-rpa", small, "--dev", data, "-o", "m", "--log", "./data.txt"),
        ("predict", data, small, "-o", data),
    ):
        fails(inside(*arguments), "an output has the path of an input", code=2)
    assert data.read_bytes() == small.read_bytes()
