"""``wordkit tmira`` and ``wordkit rerank``: results, refusals, streams, resumed runs."""

from __future__ import annotations

import gzip
import json
import signal

import pytest

from tests.cli.conftest import fails, succeeds
from tests.cli.test_interruption import interrupted
from wordkit.formats.model_file import read_header
from wordkit.models.reranker_model import load_reranker

LISTS, COUNTS = "data_samples/nbest.txt", "data_samples/nbest.counts"
WITH_COUNTS = (LISTS, "--counts", COUNTS, "--threads", "1")


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    return tmp_path


@pytest.fixture
def trained(folder, inside):
    succeeds(inside("tmira", *WITH_COUNTS, "-o", "m"))
    return folder / "m"


def metrics(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.splitlines())


def test_trains_and_reranks(folder, inside, trained):
    out = succeeds(inside("tmira", *WITH_COUNTS, "-o", "n", "--dev", LISTS, "--dev-counts", COUNTS, "--json"))
    (line,) = out.splitlines()
    found = json.loads(line)
    assert found["command"] == "tmira" and found["covered"] == found["total"] == 60
    assert found["parameters"] == 22 and found["features"] == 120 and len(found["history"]) == 10
    assert found["dev_fscore"] == max(record["dev_fscore"] for record in found["history"])
    reranked = json.loads(succeeds(inside("rerank", "n", LISTS, "--counts", COUNTS, "--json")))
    assert reranked["fscore"] == found["dev_fscore"] and reranked["command"] == "rerank"
    assert 0.9 < reranked["first_fscore"] < reranked["fscore"] < reranked["oracle_fscore"] < 1
    assert reranked["results"][0]["data"] == "nbest.txt"


def test_choices_are_lines(folder, inside, trained):
    run = inside("rerank", "m", LISTS, "--counts", COUNTS)
    rows = [line.split("\t") for line in succeeds(run).splitlines()]
    assert [row[0] for row in rows] == [str(qid) for qid in range(1, 61)]
    assert all(len(row) == 3 and 1 <= int(row[1]) <= 10 for row in rows)
    assert b"wordkit: fscore 0.9" in run.stderr
    out = metrics(succeeds(inside("rerank", "m", LISTS, "--counts", COUNTS, "-o", "chosen.tsv.gz")))
    assert float(out["fscore"]) > float(out["first_fscore"])
    assert gzip.decompress((folder / "chosen.tsv.gz").read_bytes()).decode() == run.stdout.decode()
    assert "mean_score" in metrics(succeeds(inside("rerank", "m", LISTS, "-o", "chosen")))


def test_streams_compression_and_line_ends_change_nothing(folder, wordkit, inside, samples):
    text = (samples / "nbest.txt").read_bytes()
    (folder / "x.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")))
    half = text.index(b" qid:31 ")
    half = text.rindex(b"\n", 0, half) + 1
    (folder / "a").write_bytes(text[:half])
    (folder / "b").write_bytes(text[half:])
    for model, arguments, stdin in (
        ("1", [LISTS], None),
        ("2", ["-"], text),
        ("3", ["x.gz"], None),
        ("4", ["a", "b"], None),
    ):
        run = (
            inside("tmira", *arguments, "-o", model)
            if stdin is None
            else wordkit("tmira", "-", "-o", model, stdin=stdin)
        )
        succeeds(run)
    weights = [load_reranker(folder / model).weights_.vectors.tobytes() for model in "1234"]
    assert len(set(weights)) == 1
    succeeds(wordkit("rerank", "1", "-", "-o", "chosen", stdin=text))
    assert (folder / "chosen").read_text() == succeeds(inside("rerank", "1", "a", "b"))


@pytest.mark.parametrize("threads", ["1", "3"])
def test_u062_the_same_bytes_at_any_number_of_threads(folder, inside, trained, threads):
    succeeds(inside("tmira", LISTS, "--counts", COUNTS, "-o", "n", "--threads", threads))
    assert (folder / "n").read_bytes() == trained.read_bytes()
    succeeds(inside("tmira", *WITH_COUNTS, "-o", "n", "--seed", "2"))
    assert (folder / "n").read_bytes() != trained.read_bytes()


def test_models_of_all_kinds_say_what_they_are(folder, inside):
    for algorithm, parameters in (("tmira", 22), ("mira", 120), ("perceptron", 120)):
        succeeds(inside("tmira", *WITH_COUNTS, "-o", "m", "--algorithm", algorithm, "--epochs", "2"))
        header = json.loads(succeeds(inside("info", "m")))
        assert header["kind"] == "reranker" and header["algorithm"] == algorithm
        assert header["n_parameters"] == parameters and header["epochs_done"] == 2
        assert [record["name"] for record in header["inputs"]] == ["nbest.txt", "nbest.counts"]
    assert header["parameters"]["average"] is True
    run = inside("tmira", *WITH_COUNTS, "-o", "m", "--algorithm", "mira", "--rank", "2")
    assert succeeds(run) and b"warning: --rank means nothing to --algorithm mira" in run.stderr
    run = inside("tmira", LISTS, "-o", "m", "--average-of", "modes")
    assert succeeds(run) and b"warning: --average-of means nothing without --average" in run.stderr


def test_curves_are_tsv(folder, inside):
    succeeds(inside("tmira", *WITH_COUNTS, "-o", "m", "--epochs", "3", "--curves", "c.tsv", "--dev", LISTS))
    rows = [line.split("\t") for line in (folder / "c.tsv").read_text().splitlines()]
    assert rows[0] == ["epoch", "metric", "value", "seconds"]
    names = ["loss", "steps", "train_fscore", "dev_mean_score"]
    assert [row[:2] for row in rows[1:]] == [[str(epoch), name] for epoch in (1, 2, 3) for name in names]


def test_curves_on_standard_output_stand_there_alone(folder, inside):
    run = inside("tmira", LISTS, "-o", "m", "--epochs", "1", "--curves", "-")
    assert [line.split("\t")[:2] for line in succeeds(run).splitlines()[1:]] == [
        ["1", "loss"],
        ["1", "steps"],
        ["1", "train_mean_score"],
    ]
    assert b"wordkit: oracle_train_mean_score 0.9" in run.stderr and b"signature: command:tmira" in run.stderr


def test_best_and_last_models(folder, inside):
    arguments = (
        *WITH_COUNTS,
        "--dev",
        LISTS,
        "--dev-counts",
        COUNTS,
        "--algorithm",
        "perceptron",
        "--no-average",
    )
    succeeds(inside("tmira", *arguments, "-o", "best", "--last-out", "last", "--epochs", "30"))
    history = read_header(folder / "best")["history"]
    values = [record["dev_fscore"] for record in history]
    assert read_header(folder / "best")["best_epoch"] == 1 + values.index(max(values))
    assert read_header(folder / "last")["best_epoch"] == 30
    said = metrics(succeeds(inside("tmira", *arguments, "-o", "again", "--epochs", "3")))
    assert (
        said["first_dev_fscore"] == said["first_train_fscore"] and said["dev_fscore"] == said["train_fscore"]
    )
    for model, value in (("best", max(values)), ("last", values[-1])):
        found = json.loads(succeeds(inside("rerank", model, LISTS, "--counts", COUNTS, "--json")))
        assert found["fscore"] == value
        assert f"{found['first_fscore']:.6g}" == said["first_dev_fscore"] and (
            f"{found['oracle_fscore']:.6g}" == said["oracle_dev_fscore"]
        )


def test_features_that_the_model_does_not_know_are_counted(folder, inside):
    (folder / "t").write_text("0 qid:1 1:1 2:1\n1 qid:1 1:2 2:1\n")
    succeeds(inside("tmira", "t", "-o", "m", "--order", "1"))
    (folder / "u").write_text("0 qid:9 1:1 2:7 99:1\n0 qid:9 1:3 98:2\n0 qid:8\n")
    run = inside("rerank", "m", "u")
    assert [line.split("\t")[:2] for line in succeeds(run).splitlines()] == [["9", "2"], ["8", "1"]]
    assert (
        b"warning: u:1: index 2 is not among the model's 1 features (3 x unknown feature ignored)"
        in run.stderr
    )
    assert b"u:1: index 2" in inside("rerank", "m", "u", "--strict").stderr


def test_lists_that_teach_nothing(folder, inside):
    (folder / "t").write_text(
        "1 qid:1 1:1\n0.5 qid:2 1:2\n0.5 qid:2 1:3\n0 qid:3 2:1\n0 qid:3\n0.2 qid:4\n0.3 qid:4\n"
    )
    run = inside("tmira", "t", "-o", "m", "--order", "1")
    out = metrics(succeeds(run))
    assert out["loss"] == "0.025" and (out["covered"], out["total"]) == ("3", "4")
    assert (
        b"4 lists, 7 candidates, 1 list of one, 2 of equal candidates; 2 features kept, 2 vary" in run.stderr
    )
    run = inside("rerank", "m", "t")
    assert [line.split("\t")[1] for line in succeeds(run).splitlines()] == ["1", "1", "1", "1"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--min-feature-count", "61"], "none of 120 features varies in 61 lists or more"),
        (["--modes", "3x4"], "modes 3x4 have no room for 120 features"),
        (["--counts", "short"], "1 line of counts for 600 candidates"),
        (["--counts", LISTS], "nbest.txt:2: "),
        (["--dev", "short"], "short:1: "),
        (["--resume", LISTS], "is not a model file"),
    ],
)
def test_faults_are_one_line(folder, inside, options, says):
    (folder / "short").write_text("1 1 1 1\n")
    before = sorted(folder.iterdir())
    fails(inside("tmira", LISTS, "-o", "m", *options), says)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["tmira", LISTS, "-o", "-"], "a model cannot be written to standard output"),
        (["tmira", LISTS], "Missing option"),
        (["tmira", LISTS, "-o", "m", "--modes", "3xa"], "is no shape"),
        (
            ["tmira", LISTS, "-o", "m", "--modes", "9x9", "--order", "3"],
            "--modes has 2 sizes, and --order is 3",
        ),
        (["tmira", LISTS, "-o", "m", "--dev-counts", COUNTS], "--dev-counts needs --dev"),
        (["tmira", "-", "-", "-o", "m"], "only one of the inputs"),
        (["tmira", LISTS, "-o", LISTS], "an output has the path of an input"),
        (["tmira", LISTS, "-o", "m", "--C", "0"], "--C"),
        (["rerank", "m", LISTS, "--json", "-o", "-"], "both want standard output"),
    ],
)
def test_wrong_usage(folder, inside, arguments, says):
    fails(inside(*arguments), says, code=2)


def test_u104_models_of_other_kinds_are_refused(folder, inside, questions, trained):
    fails(
        inside("rerank", questions, LISTS),
        "this is a model of kind 'rpa', expected a reranker (the -o of tmira)",
    )
    fails(inside("predict", trained, LISTS), "this is a model of kind 'reranker'")
    fails(inside("rerank", "m", LISTS, "--counts", LISTS), "nbest.txt:2: ")


def test_counts_of_other_lists_are_refused(folder, inside, trained, samples):
    lines = (samples / "nbest.counts").read_text().splitlines(keepends=True)
    for kept, says in (
        (lines[:-1], "c: 599 lines of counts for 600 candidates"),
        ([*lines, lines[-1]], "c: 601 lines of counts for 600 candidates"),
        ([*lines[:9], *lines[10:]], "c:10: counts of qid 2, expected qid 1"),
    ):
        (folder / "c").write_text("".join(kept))
        (folder / "chosen").write_text("old")
        fails(inside("rerank", "m", LISTS, "--counts", "c", "-o", "chosen"), says)
        assert (folder / "chosen").read_text() == "old"


def test_skipped_candidates_take_their_counts_with_them(folder, inside, samples):
    """A model of lists with bad lines among them, and its f-scores, are those of the lists without."""
    lines = (samples / "nbest.txt").read_text().splitlines(keepends=True)
    counts = (samples / "nbest.counts").read_text().splitlines(keepends=True)
    head = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    start = next(i for i, line in enumerate(counts) if not line.startswith("#"))
    spoilt, kept, kept_counts = lines[:head], lines[:head], counts[:start]
    for place, (line, count) in enumerate(zip(lines[head:], counts[start:], strict=True)):
        bad = place in (0, 17, 599) or 40 <= place < 50  # the first, one, a whole list, the last
        spoilt.append(line.replace(" qid", "x qid", 1) if bad else line)
        kept += [] if bad else [line]
        kept_counts += [] if bad else [count]
    for name, text in (("bad", spoilt), ("good", kept), ("good.counts", kept_counts)):
        (folder / name).write_text("".join(text))
    skip = ("--counts", COUNTS, "--skip-invalid")
    run = inside("tmira", "bad", *skip, "-o", "1", "--dev", "bad", "--dev-counts", COUNTS)
    told = b"counts of a candidate that was passed over (26 x line of counts skipped)"
    assert told in run.stderr and b"(26 x n-best line skipped)" in run.stderr
    expected = inside(
        "tmira", "good", "--counts", "good.counts", "-o", "2", "--dev", "good", "--dev-counts", "good.counts"
    )
    assert succeeds(run) == succeeds(expected)
    run = inside("rerank", "1", "bad", *skip, "-o", "a")
    assert succeeds(run) == succeeds(inside("rerank", "2", "good", "--counts", "good.counts", "-o", "b"))
    assert b"(13 x line of counts skipped)" in run.stderr
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    fails(inside("rerank", "1", "bad", "--counts", COUNTS), "bad:")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_u063_u079_resumed_bytes_equal_uninterrupted_bytes(folder, inside, number):
    options = (
        "--epochs",
        "3000",
        "--rank",
        "2",
        "--average",
        "--average-of",
        "modes",
        "--dev",
        LISTS,
        "--dev-counts",
        COUNTS,
    )
    command = ("tmira", *WITH_COUNTS, *options)
    (folder / "m").write_bytes(b"old")
    code, message = interrupted(folder, *command, "-o", "m", number=number)
    assert code == 130 and (folder / "m").read_bytes() == b"old"
    assert message.rstrip().endswith("state written to c: go on with the same command and --resume c")
    shorter = [*command, "-o", "part", "--checkpoint", "c", "--resume", "c"]
    done = read_header(folder / "c")["epochs_done"]
    assert done >= 2
    shorter[shorter.index("3000")] = str(done + 20)
    succeeds(inside(*shorter))
    whole = ["whole" if word == "part" else word for word in shorter[:-4]]
    succeeds(inside(*whole, "--log", "log2"))
    first, second = (load_reranker(folder / name) for name in ("part", "whole"))
    assert first.weights_.vectors.tobytes() == second.weights_.vectors.tobytes()
    assert first.best_epoch_ == second.best_epoch_


def test_a_checkpoint_of_other_data_or_options_is_refused(folder, inside, samples):
    succeeds(inside("tmira", *WITH_COUNTS, "-o", "m", "--checkpoint", "c", "--epochs", "2"))
    (folder / "other").write_bytes((samples / "nbest.txt").read_bytes().replace(b"0.9333", b"0.9334"))
    resume = ("-o", "n", "--resume", "c", "--epochs", "4")
    fails(inside("tmira", "other", "--counts", COUNTS, *resume), "c: was trained on other data")
    fails(
        inside("tmira", *WITH_COUNTS, *resume, "--rank", "3"), "c: --rank was 1, not 3: leave it out to go on"
    )
    fails(inside("tmira", *WITH_COUNTS, *resume, "--no-shuffle"), "c: --no-shuffle was off, not on: leave")
    fails(inside("tmira", *WITH_COUNTS, *resume, "--modes", "12x10"), "c: --modes was the default, not 12x10")
    fails(inside("tmira", *WITH_COUNTS, *resume[:2], "--resume", "m"), "expected a checkpoint of tmira")
    succeeds(inside("tmira", *WITH_COUNTS, *resume))
    succeeds(inside("tmira", *WITH_COUNTS, "-o", "m", "--epochs", "4"))
    assert (folder / "n").read_bytes() == (folder / "m").read_bytes()
