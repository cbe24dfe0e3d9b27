"""``wordkit dcme``: word vectors and classifiers from files, resuming, and what is refused."""

from __future__ import annotations

import gzip
import json
import signal

import numpy as np
import pytest

from tests.cli.conftest import fails, run_wordkit, succeeds
from tests.cli.test_interruption import interrupted, leftovers
from wordkit.formats.model_file import read_header, read_model, write_model
from wordkit.formats.vectors import read_vectors
from wordkit.models import EmbeddingModel, TextClassifier

DOCUMENTS, CORPUS = "data_samples/questions.train.txt", "data_samples/corpus.txt"
HELDOUT = ("--heldout", "data_samples/questions.test.txt")
CLASSIFY = ("--task", "classification", "--epochs", "2", "--threads", "1")
EMBED = (
    "--min-count",
    "2",
    "--dim",
    "10",
    "--window",
    "4",
    "--epochs",
    "2",
    "--threads",
    "1",
    "--clusters",
    "5",
)


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    lines = (samples / "corpus.txt").read_text().splitlines(keepends=True)
    (tmp_path / "small.txt").write_text("".join(lines[:1500]))
    (tmp_path / "rest.txt").write_text("".join(lines[1500:1700]))
    return tmp_path


# --- word vectors ------------------------------------------------------------------------------------------------


def test_embedding_writes_vectors_model_and_curves(inside, folder):
    outputs = (
        "-o",
        "v.vec",
        "--output-vectors",
        "o.vec.gz",
        "--model-out",
        "m",
        "--curves",
        "c.tsv",
        "--log",
        "l",
    )
    run = inside("dcme", "small.txt", *EMBED, *outputs, "--heldout", "rest.txt", "--json")
    found = json.loads(succeeds(run))
    assert found["command"] == "dcme" and len(found["history"]) == 2
    assert (
        found["heldout_log_likelihood"]
        == found["history"][-1]["heldout_log_likelihood"]
        > found["heldout_unigram"]
    )
    words, vectors = read_vectors(folder / "v.vec")
    others, outputs_ = read_vectors(folder / "o.vec.gz")
    assert list(words) == list(others) and vectors.shape == outputs_.shape == (found["words"], 10)
    model = EmbeddingModel.load(folder / "m").model
    np.testing.assert_allclose(model.input_vectors_, vectors, rtol=1e-5)
    np.testing.assert_allclose(model.output_vectors_, outputs_, rtol=1e-5, atol=1e-7)
    lines = [line.split("\t") for line in (folder / "c.tsv").read_text().splitlines()]
    assert lines[0] == ["epoch", "metric", "value", "seconds"]
    curve = [float(value) for epoch, metric, value, _ in lines[1:] if metric == "heldout_log_likelihood"]
    np.testing.assert_allclose(
        curve, [record["heldout_log_likelihood"] for record in found["history"]], rtol=1e-8
    )
    assert [json.loads(line)["epoch"] for line in (folder / "l").read_text().splitlines()] == [1, 2]
    assert (
        "learning_rate:0.25" in found["signature"] and read_header(folder / "m")["kind"] == "dcme-embedding"
    )


@pytest.mark.parametrize("objective", ["dcme", "ns"])
def test_u062_same_seed_gives_the_same_bytes_with_one_thread(inside, folder, objective):
    for name in ("a", "b"):
        succeeds(inside("dcme", "small.txt", *EMBED, "--objective", objective, "-o", f"{name}.vec"))
    assert (folder / "a.vec").read_bytes() == (folder / "b.vec").read_bytes()
    run = inside("dcme", "small.txt", *EMBED, "-o", "c.vec", "--threads", "2")
    assert "threads share their memory without locks" in run.stderr.decode()
    run = inside("dcme", "small.txt", *EMBED, "-o", "d.vec", "--seed", "2")
    assert (folder / "d.vec").read_bytes() != (folder / "a.vec").read_bytes()


def test_compressed_input_and_pipe(folder):
    text = (folder / "small.txt").read_bytes()
    (folder / "small.gz").write_bytes(gzip.compress(text))
    for name, source, stdin in (
        ("a", "small.txt", None),
        ("b", "small.gz", None),
        ("c", "-", gzip.compress(text)),
    ):
        succeeds(run_wordkit(folder, "dcme", source, *EMBED, "-o", f"{name}.vec", input=stdin))
    assert (
        (folder / "a.vec").read_bytes() == (folder / "b.vec").read_bytes() == (folder / "c.vec").read_bytes()
    )


def test_standard_output_has_the_vectors_alone(inside, folder):
    succeeds(inside("dcme", "small.txt", *EMBED, "-o", "v.vec"))
    run = inside("dcme", "small.txt", *EMBED, "-o", "-")
    assert succeeds(run).encode() == (folder / "v.vec").read_bytes()
    assert b"objective -" in run.stderr and b"signature: " in run.stderr


@pytest.mark.parametrize(
    "options", [(), ("--objective", "nce", "--sample", "0.001"), ("--variant", "printed", "--dynamic-window")]
)
def test_u063_u079_embedding_resumed_bytes_equal_uninterrupted_bytes(folder, options):
    command = ("dcme", CORPUS, *EMBED, "--epochs", "8", *options)
    code, message = interrupted(folder, *command, "-o", "v.vec", "--model-out", "m", number=signal.SIGINT)
    assert code == 130 and message.rstrip().endswith("go on with the same command and --resume c")
    assert leftovers(folder) == set() and not (folder / "v.vec").exists()
    succeeds(run_wordkit(folder, *command, "--resume", "c", "-o", "v.vec", "--model-out", "m"))
    succeeds(run_wordkit(folder, *command, "-o", "whole.vec", "--model-out", "whole"))
    assert (folder / "v.vec").read_bytes() == (folder / "whole.vec").read_bytes()
    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes()


def test_init_goes_on_with_new_words(inside, folder):
    (folder / "more.txt").write_text("brand new words here and there\n" * 40)
    succeeds(inside("dcme", "small.txt", *EMBED, "-o", "v.vec", "--model-out", "m"))
    run = inside(
        "dcme",
        "more.txt",
        "--init",
        "m",
        "--epochs",
        "2",
        "-o",
        "w.vec",
        "--model-out",
        "m",
        "--threads",
        "1",
    )
    succeeds(run)
    assert "new words appended to the model's" in run.stderr.decode()
    before, after = (list(read_vectors(folder / name)[0]) for name in ("v.vec", "w.vec"))
    assert after[: len(before)] == before and "brand" in after[len(before) :]
    changed = inside(
        "dcme", "more.txt", "--init", "m", "--objective", "ns", "-o", "w.vec", "--threads", "1", "--json"
    )
    assert "learning_rate:0.05" in json.loads(succeeds(changed))["signature"]  # the rate of ns, not of dcme
    fails(
        inside("dcme", "more.txt", "--init", "m", "--dim", "11", "-o", "w.vec"),
        "--dim 11 contradicts the earlier training, which had --dim 10",
    )


def test_resume_refuses_other_data(inside, folder):
    succeeds(inside("dcme", "small.txt", *EMBED, "-o", "v.vec", "--checkpoint", "c"))
    fails(
        inside("dcme", "rest.txt", "--resume", "c", "-o", "v.vec"),
        "c: was trained on other data than rest.txt",
    )
    fails(
        inside("dcme", "small.txt", "--resume", "c", "-o", "v.vec", "--window", "3"),
        "--window 3 contradicts the earlier training, which had --window 4",
    )


def test_a_model_no_better_than_the_shares_is_told(inside, folder):
    run = inside(
        "dcme", "small.txt", *EMBED, "-o", "v.vec", "--heldout", "rest.txt", "--learning-rate", "1e-9"
    )
    succeeds(run)
    assert "no better than the" in run.stderr.decode() and "--learning-rate" in run.stderr.decode()


# --- classification ----------------------------------------------------------------------------------------------


def test_classification_and_its_probabilities(inside, folder):
    run = inside("dcme", DOCUMENTS, *CLASSIFY, *HELDOUT, "-o", "m", "--json", "--curves", "c.tsv")
    found = json.loads(succeeds(run))
    assert found["heldout_accuracy"] > 0.8 and found["labels"] == 6 and len(found["history"]) == 2
    assert (
        found["history"][0]["heldout_accuracy"] > 0.5 and "heldout_accuracy" in (folder / "c.tsv").read_text()
    )
    test = "data_samples/questions.test.txt"
    scored = json.loads(succeeds(inside("evaluate", "classification", "m", test, "--json")))
    assert scored["accuracy"] == pytest.approx(found["heldout_accuracy"])
    rows = [
        line.split("\t")
        for line in succeeds(inside("predict", "m", test, "--probabilities", "--top", "6")).splitlines()
    ]
    values = np.array([[float(value) for value in row[1::2]] for row in rows])
    assert len(rows) == 500 and values.min() >= 0 and values.max() <= 1
    np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-5)
    assert (np.diff(values, axis=1) <= 0).all()
    model = TextClassifier.load(folder / "m")
    known = [name.removeprefix("__label__") for name in rows[0][::2]]
    assert sorted(known) == sorted(model.classifier.classes_)
    above = succeeds(
        inside("predict", "m", test, "--probabilities", "--threshold", "0.9", "--top", "6")
    ).splitlines()
    assert all(float(field) >= 0.9 for line in above for field in line.split("\t")[1::2])
    plain = succeeds(inside("predict", "m", test)).splitlines()
    assert [row[0] for row in rows] == plain


def test_probabilities_of_margins_are_refused(inside, folder):
    succeeds(inside("train-rpa", DOCUMENTS, "-o", "rpa", "--dim", "5", "--epochs", "1"))
    fails(
        inside("predict", "rpa", DOCUMENTS, "--probabilities"), "rpa has margins only, see --scores", code=2
    )
    fails(
        inside("dcme", DOCUMENTS, *CLASSIFY, "--resume", "rpa", "-o", "m"),
        "rpa: ",
        "expected a classifier of dcme",
    )
    succeeds(inside("dcme", DOCUMENTS, *CLASSIFY, "-o", "m"))
    fails(
        inside("predict", "m", DOCUMENTS, "--probabilities", "--scores"), "does not go with --scores", code=2
    )
    fails(inside("train-rpa", DOCUMENTS, "--init", "m", "-o", "x"), "m: ", "expected a model of train-rpa")


def test_svmlight_and_text_options(inside, folder):
    data = "data_samples/questions.svmlight"
    run = inside(
        "dcme", data, *CLASSIFY, "--format", "svmlight", "-o", "m", "--heldout", data, "--min-count", "3"
    )
    assert "heldout_accuracy" in succeeds(run)
    assert "--min-count means nothing to --format svmlight" in run.stderr.decode()
    assert (
        len(succeeds(inside("predict", "m", data, "--probabilities")).splitlines()) == 401
    )  # a comment too has its line
    (folder / "x.txt").write_text("#a #b one two\n#b two three\n#a one one\n" * 5)
    options = (
        "--label-prefix",
        "#",
        "--multi-label",
        "each",
        "--ngrams",
        "2",
        "--no-normalize",
        "--min-count",
        "1",
    )
    found = json.loads(succeeds(inside("dcme", "x.txt", *CLASSIFY, *options, "-o", "m", "--json")))
    assert (found["total"], found["labels"]) == (20, 2) and "normalize:no" in found["signature"]


@pytest.mark.parametrize("options", [(), ("--objective", "ns"), ("--variant", "printed")])
def test_u063_u079_classifier_resumed_bytes_equal_uninterrupted_bytes(folder, options):
    command = ("dcme", DOCUMENTS, *CLASSIFY, "--epochs", "40", *options)
    (folder / "m").write_bytes(b"old")
    code, message = interrupted(folder, *command, "-o", "m")
    assert code == 130 and "interrupted in epoch" in message and (folder / "m").read_bytes() == b"old"
    succeeds(run_wordkit(folder, *command, "--resume", "c", "-o", "m"))
    succeeds(run_wordkit(folder, *command, "-o", "whole"))
    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes()


@pytest.mark.parametrize("task", [CLASSIFY, EMBED])
def test_u049_rate_too_high_keeps_the_last_good_state(inside, folder, task):
    (folder / "m").write_bytes(b"old")
    data = DOCUMENTS if task is CLASSIFY else "small.txt"
    run = inside(
        "dcme", data, *task, "-o", "m", "--learning-rate", "1e38", "--objective", "nce", "--checkpoint", "c"
    )
    if run.returncode:
        fails(run, "not finite in epoch", "use a smaller --learning-rate")
        assert (folder / "m").read_bytes() == b"old"
    run = inside(
        "dcme", data, *task, "-o", "m", "--learning-rate", "1e38", "--no-normalize", "--checkpoint", "c"
    )
    if run.returncode:
        fails(run, "not finite in epoch", "use a smaller --learning-rate")


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--task", "classification", "--output-vectors", "x"), "--output-vectors needs --task embedding"),
        (("--task", "classification", "--model-out", "x"), "--model-out needs --task embedding"),
        (("--task", "classification", "--init", "x"), "--init needs --task embedding"),
        (("--task", "classification", "--format", "conllu"), "--format conllu needs --task embedding"),
        (("--format", "svmlight"), "--format svmlight needs --task classification"),
        (("--init", "a", "--resume", "b"), "--init does not go with --resume"),
        (("--negative", "0"), "--negative"),
        (("--clusters", "0"), "--clusters"),
        (("--heldout", "-"), "standard input (-) can be only one"),
        (("--output", "-", "--json"), "--json and -o - both want standard output"),
        (("--model-out", "out"), "two outputs have the same path"),
    ],
)
def test_u066_wrong_usage(inside, folder, options, says):
    """Also: an objective with nothing to optimise cannot be asked for (no negative samples, no clusters)."""
    source = "-" if "-" in options else "small.txt"
    fails(inside("dcme", source, "-o", "out", *options), says, code=2)
    assert not (folder / "out").exists()


def test_options_without_meaning_are_told(inside, folder):
    run = inside(
        "dcme",
        "small.txt",
        *EMBED,
        "-o",
        "v.vec",
        "--objective",
        "ns",
        "--variant",
        "printed",
        "--ngrams",
        "2",
    )
    message = run.stderr.decode()
    assert run.returncode == 0
    assert "--clusters means nothing to --objective ns" in message and "--variant means nothing" in message
    assert "--ngrams means nothing to --task embedding" in message
    run = inside("dcme", DOCUMENTS, *CLASSIFY, "-o", "m", "--dim", "5", "--negative", "3")
    assert "--dim means nothing to --task classification" in run.stderr.decode()


def test_u068_what_cannot_fit_is_told_before_the_training(inside, folder, monkeypatch):
    monkeypatch.setattr("wordkit.models.dcme_training.memory", lambda: 1e5)
    monkeypatch.setattr("wordkit.models.dcme_classification.memory", lambda: 1e4)
    fails(inside("dcme", "small.txt", *EMBED, "-o", "v"), "the vectors of", "use a smaller --dim")
    fails(
        inside("dcme", DOCUMENTS, *CLASSIFY, "-o", "m"), "the weights of 6 labels and", "larger --min-count"
    )


def test_u017_u050_u054_data_that_cannot_be_used(inside, folder):
    (folder / "empty.txt").write_bytes(b"")
    (folder / "one.txt").write_text("__label__a x x\n__label__a x\n")
    (folder / "plain.txt").write_text("sports ball game\n")
    (folder / "rare.txt").write_text("a b a c d\n")
    for task in ((), CLASSIFY):
        fails(inside("dcme", "empty.txt", "-o", "m", *task), "empty.txt")
        fails(inside("dcme", "nowhere.txt", "-o", "m", *task), "nowhere.txt")
    fails(inside("dcme", "one.txt", "-o", "m", *CLASSIFY), "one.txt: all documents have the label `a`")
    fails(inside("dcme", "plain.txt", "-o", "m", *CLASSIFY), "plain.txt:1: no label", "`__label__`")
    fails(inside("dcme", "rare.txt", "-o", "m"), "0 of 4")
    assert not (folder / "m").exists()


# --- damaged models ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["embedding", "classification"])
def test_damaged_models_are_one_line(inside, folder, kind):
    (folder / "tiny.txt").write_text(
        "".join(f"__label__{'abc'[i % 3]} w{i % 3} v{i % 5} u\n" for i in range(30))
    )
    task = ("--task", kind, "--epochs", "1", "--min-count", "1", "--clusters", "2", "--threads", "1")
    out = ("-o", "m") if kind == "classification" else ("-o", "v", "--dim", "4", "--model-out", "m")
    succeeds(inside("dcme", "tiny.txt", *task, *out))
    header, arrays = read_model(folder / "m")
    fixed = ("format", "format_version", "kind", "wordkit_version")
    values = {key: value for key, value in header.items() if key not in fixed}

    def load(arrays, values) -> str:
        write_model(folder / "x", header["kind"], arrays, values)
        return inside("dcme", "tiny.txt", *task, *out[:2], "--resume", "x")

    for name, array in arrays.items():
        for bad in (None, array[:-1], array.astype("S4"), array[..., None]):
            changed = {key: value for key, value in arrays.items() if key != name}
            fails(load(changed if bad is None else {**changed, name: bad}, values), "x: the model is damaged")
        if array.dtype.kind == "f":
            spoilt = array.copy()
            spoilt.flat[0] = np.nan
            fails(load({**arrays, name: spoilt}, values), "x: the model is damaged")
    for name in ("parameters", "epochs_done", "position", "history"):
        for bad in (None, -1, "x", {"a": 1}):
            fails(load(arrays, {**values, name: bad}), "x: the model is damaged")
