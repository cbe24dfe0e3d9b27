"""``wordkit train-hmtm``: the same bytes, options, interruptions, outputs."""

from __future__ import annotations

import json
import math
import os
import signal
import time

import numpy as np
import pytest

from tests.cli.conftest import fails, run_wordkit, start, succeeds
from wordkit.formats.model_file import read_header, read_model
from wordkit.formats.vectors import read_vectors
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_model import TreeModel
from wordkit.monitor import Monitor

QUICK = ("--states", "6", "--k", "3", "--epochs", "2", "--batch-size", "10")


@pytest.fixture(scope="module")
def data(tmp_path_factory, samples):
    """60 trees."""
    path = tmp_path_factory.mktemp("trees") / "s.conllu"
    path.write_text("\n\n".join((samples / "trees.conllu").read_text().split("\n\n")[:60]) + "\n\n")
    return path


# --- the same bytes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["online", "batch"])
@pytest.mark.parametrize("projection", ["kbest", "ebest", "exact"])
def test_u062_same_seed_gives_the_same_bytes_at_any_thread_count(inside, data, tmp_path, method, projection):
    options = (
        data,
        "--states",
        "6",
        "--epochs",
        "2",
        "--batch-size",
        "25",
        "--method",
        method,
        "--projection",
        projection,
    )
    for threads in (1, 2, 8):
        outputs = ("-o", f"{threads}.model", "--vectors-out", f"{threads}.vec", "--threads", threads)
        succeeds(inside("train-hmtm", *options, *outputs))
    for kind in ("model", "vec"):
        first = (tmp_path / f"1.{kind}").read_bytes()
        assert first == (tmp_path / f"2.{kind}").read_bytes() == (tmp_path / f"8.{kind}").read_bytes()
    succeeds(inside("train-hmtm", *options, "-o", "other", "--seed", "2"))
    assert (tmp_path / "other").read_bytes() != (tmp_path / "1.model").read_bytes()


def test_no_shuffle_keeps_the_order(inside, data, tmp_path):
    for name, options in (("a", ()), ("b", ("--no-shuffle",))):
        succeeds(inside("train-hmtm", data, *QUICK, *options, "-o", name))
    a, b = (read_model(tmp_path / name)[1]["emissions"] for name in "ab")
    assert not (a == b).all()


# --- interruptions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--no-shuffle", "--projection", "exact"),
        ("--method", "batch", "--tol", "0"),
        ("--start-states", "2", "--split-every", "4"),
        ("--labels", "deprel", "--label-min-count", "10", "--resplit", "--states", "4"),
        ("--init", "../base"),
    ],
    ids=" ".join,
)
def test_u063_u079_stopped_anywhere_and_resumed_gives_the_same_bytes(
    inside, data, tmp_path, options, monkeypatch
):
    """The training is stopped after 1 batch, 4 more, and so on, in the middle of epochs."""
    command = ("train-hmtm", data, *QUICK, *options)
    if "--init" in options:
        succeeds(inside("train-hmtm", data, *QUICK, "-o", "../base"))
    succeeds(inside(*command, "-o", "whole", "--vectors-out", "whole.vec", "--epochs", "3"))
    advance, left = Monitor.advance, [1]

    def counted(self, done):
        left[0] -= 1
        self.stopping = left[0] <= 0

    from wordkit.cli.report import ProgressMonitor

    monkeypatch.setattr(ProgressMonitor, "advance", counted)
    resume: tuple[str, ...] = ()
    places = []
    for batches in (1, 4, 8):
        left[0] = batches
        run = inside(*command, "-o", "m", "--epochs", "3", "--checkpoint", "c", *resume)
        assert run.returncode == 130 and not (tmp_path / "m").exists(), run.stderr
        assert "go on with the same command and --resume c" in run.stderr.decode()
        assert set(os.listdir(tmp_path)) == {"whole", "whole.vec", "c"}
        header = read_header(tmp_path / "c")
        places.append((header["epochs_done"], header["position"]))
        resume = ("--resume", "c")
    monkeypatch.setattr(ProgressMonitor, "advance", advance)
    assert any(position for _, position in places)
    succeeds(inside(*command, "-o", "m", "--epochs", "3", "--vectors-out", "v.vec", *resume))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()
    assert (tmp_path / "v.vec").read_bytes() == (tmp_path / "whole.vec").read_bytes()


def test_u079_signal_writes_a_checkpoint(data, tmp_path):
    command = ("train-hmtm", data, *QUICK[:-4], "--batch-size", "5")
    process = start(tmp_path, *command, "--epochs", "2000", "-o", "m", "--checkpoint", "c", "--log", "log")
    while not (tmp_path / "log").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"") and b"--resume c" in err and b"Traceback" not in err
    assert set(os.listdir(tmp_path)) == {"c", "log"}
    more = str(read_header(tmp_path / "c")["epochs_done"] + 1)
    for name, options in (("m", ("--resume", "c")), ("whole", ())):
        succeeds(run_wordkit(tmp_path, *command, "--epochs", more, "-o", name, *options))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "whole").read_bytes()


def test_u061_resume_that_contradicts(inside, data, tmp_path, samples):
    succeeds(inside("train-hmtm", data, *QUICK, "-o", "c"))
    for options, says in [
        (("--states", "7"), "--states 7 contradicts the earlier training, which had --states 6"),
        (("--k", "4"), "--k 4 contradicts the earlier training, which had --k 3"),
        (
            ("--structure", "chain"),
            "--structure chain contradicts the earlier training, which had --structure tree",
        ),
        (("--lowercase",), "--lowercase contradicts the earlier training, which had no such option"),
        (("--labels", "deprel"), "--labels deprel contradicts the earlier training, which had --labels none"),
        (("--min-count", "1"), "--min-count 1 contradicts the earlier training, which had --min-count 2"),
        (("--max-vocab", "9"), "--max-vocab 9 contradicts the earlier training, which had no such option"),
        (("--init", "brown"), "--init brown contradicts the earlier training, which had --init random"),
        (("--seed", "2"), "--seed 2 contradicts the earlier training, which had --seed 1"),
        (("--epochs", "1"), "--epochs 1: the checkpoint has 2 epochs already"),
    ]:
        fails(inside("train-hmtm", data, "--resume", "c", "-o", "m", *options), says)
    fails(inside("train-hmtm", data, data, "--resume", "c", "-o", "m"), "c: was trained on other data than")
    (tmp_path / "other.conllu").write_bytes(data.read_bytes()[: data.read_bytes().index(b"\n\n") + 2])
    fails(inside("train-hmtm", "other.conllu", "--resume", "c", "-o", "m"), "c: was trained on other data")
    assert not (tmp_path / "m").exists()
    succeeds(inside("train-hmtm", data, *QUICK, "--min-count", "2", "--resume", "c", "-o", "m"))
    assert (tmp_path / "m").read_bytes() == (tmp_path / "c").read_bytes()


# --- beginnings ------------------------------------------------------------------------------------------------


def test_init_model_appends_new_words(inside, data, tmp_path):
    succeeds(inside("train-hmtm", data, *QUICK, "-o", "base"))
    (tmp_path / "new.conllu").write_text(
        "1\tfresh\t_\t_\t_\t_\t0\troot\t_\t_\n2\tword\t_\t_\t_\t_\t1\tobj\t_\t_\n\n" * 3
    )
    run = inside("train-hmtm", "new.conllu", "--init", "base", "-o", "m", "--vectors-out", "v.vec")
    succeeds(run)
    assert "2 new words appended" in run.stderr.decode()
    old, new = (TreeModel.load(tmp_path / name).model for name in ("base", "m"))
    assert new.vocabulary_.words == [*old.vocabulary_.words, "fresh", "word"]
    assert np.isfinite(new.emissions_).all() and np.allclose(new.emissions_.sum(axis=0), 1)
    assert len(read_header(tmp_path / "m")["inputs"]) == 2
    fails(
        inside("train-hmtm", "new.conllu", "--init", "base", "-o", "m", "--states", "9"),
        "--states 9 contradicts",
    )
    fails(inside("train-hmtm", "new.conllu", "--init", "base", "-o", "m", "--clusters", "p"), code=2)


def test_brown_clusters_as_the_beginning(inside, data, tmp_path):
    succeeds(inside("brown", data, "-o", "paths", "--clusters", "5"))
    run = inside("train-hmtm", data, "--clusters", "paths", "-o", "m", "--epochs", "1")
    succeeds(run)
    assert read_header(tmp_path / "m")["parameters"]["states"] == 5
    run = inside("train-hmtm", data, "--clusters", "paths", "--states", "7", "-o", "m")
    fails(run, "paths: has 5 clusters, and --states 7 asks for others")
    succeeds(inside("train-hmtm", data, "--init", "brown", "--states", "5", "-o", "b", "--epochs", "1"))
    run = inside("train-hmtm", data, "--init", "brown", "--states", "400", "-o", "b", "--epochs", "1")
    succeeds(run)
    assert (
        "warning: 54 words make no 400 clusters" in run.stderr.decode()
        and "DataWarning" not in run.stderr.decode()
    )


def test_u078_restarts_list_all_and_keep_the_best(inside, data, tmp_path):
    run = inside("train-hmtm", data, *QUICK, "--restarts", "3", "-o", "m", "--json")
    result = json.loads(succeeds(run))
    assert set(result["restarts"]) == {"1", "2", "3"}
    assert result["log_likelihood"] == max(result["restarts"].values())
    best = max(result["restarts"], key=result["restarts"].get)
    succeeds(inside("train-hmtm", data, *QUICK, "--seed", best, "-o", "alone"))
    one, other = (read_model(tmp_path / name)[1] for name in ("m", "alone"))
    assert all((one[name] == other[name]).all() for name in one)


def test_states_are_split(inside, data, tmp_path):
    options = (
        "--states",
        "7",
        "--start-states",
        "2",
        "--epochs",
        "4",
        "--batch-size",
        "30",
        "--split-every",
        "2",
    )
    run = inside("train-hmtm", data, *options, "-o", "m", "--json")
    assert [r["states"] for r in json.loads(succeeds(run))["history"]] == [4, 7, 7, 7]
    assert np.allclose(TreeModel.load(tmp_path / "m").model.transitions_.sum(axis=1), 1)


def test_states_are_split_with_labels(inside, data, tmp_path):
    labels = ("--labels", "deprel", "--label-min-count", "10", "--start-states", "2", "--split-every", "1")
    succeeds(inside("train-hmtm", data, *QUICK, *labels, "-o", "m"))


# --- what is reported ------------------------------------------------------------------------------------------


def test_u074_why_batch_em_ended(inside, data, tmp_path):
    command = (
        "train-hmtm",
        data,
        "--method",
        "batch",
        "--projection",
        "exact",
        "--states",
        "4",
        "-o",
        "m",
        "--json",
    )
    limit = json.loads(succeeds(inside(*command, "--epochs", "15", "--tol", "0")))
    assert limit["stopped"] in ("epochs", "tolerance", "decrease") and limit["epochs"] == len(
        limit["history"]
    )
    values = np.array([record["log_likelihood"] for record in limit["history"]])
    assert (np.diff(values) >= -1e-8 * np.abs(values[1:])).all()
    early = json.loads(succeeds(inside(*command, "--epochs", "15", "--tol", "0.5")))
    assert early["stopped"] == "tolerance" and early["epochs"] == len(early["history"]) < 15
    assert json.loads(succeeds(inside(*command, "--epochs", "2")))["stopped"] == "epochs"
    assert read_header(tmp_path / "m")["stopped"] == "epochs"


def test_heldout_log_and_json(inside, data, tmp_path):
    run = inside("train-hmtm", data, *QUICK, "-o", "m", "--heldout", data, "--log", "log", "--json")
    result = json.loads(succeeds(run))
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2] and all("seconds" in line for line in lines)
    assert run.stderr.decode().count("heldout_log_likelihood") == 2
    assert lines[-1]["heldout_log_likelihood"] == result["heldout_log_likelihood"]
    assert result["heldout_perplexity"] == pytest.approx(math.exp(-result["heldout_log_likelihood"]))
    scored = json.loads(succeeds(inside("evaluate", "likelihood", "m", data, "--json")))
    assert scored["log_likelihood_per_token"] == pytest.approx(result["heldout_log_likelihood"], rel=1e-12)


def test_vectors_are_distributions_and_neighbors_reads_them(inside, data, tmp_path):
    succeeds(inside("train-hmtm", data, *QUICK, "-o", "m", "--vectors-out", "v.vec"))
    words, vectors = read_vectors(tmp_path / "v.vec")
    model: HiddenMarkovTree = TreeModel.load(tmp_path / "m").model
    assert words == model.vocabulary_.words and (vectors == model.word_vectors()).all()
    np.testing.assert_allclose(vectors.sum(axis=1), 1, atol=1e-5)
    assert succeeds(inside("neighbors", "v.vec", "the", "--similarity", "bhattacharyya"))


# --- bad usage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [("--gamma", "0"), ("--gamma", "nan"), ("--gamma", "2"), ("--gamma", "inf"), ("--offset", "0"), ("--epsilon", "nan"),
     ("--epsilon", "1"), ("--epsilon", "0"), ("--tol", "nan"), ("--tol", "-1"), ("--states", "0"), ("--k", "0"),
     ("--states", "3", "--start-states", "4"), ("--structure", "chain", "--labels", "deprel"), ("--restarts", "0"),
     ("--restarts", "2", "--checkpoint", "c"), ("--restarts", "2", "--init", "m"), ("--clusters", "p", "--init", "brown"),
     ("-o", "-"), ("--vectors-out", "-"), ("--checkpoint", "-"), ("--log", "-"), ("--log", "m"), ("--smoothing", "nan"),
     ("--seed", "-1"), ("--threads", "0"), ("--heldout", "-", "-"), ("--back-off", "0"), ("--max-length", "0")],
    ids=" ".join,
)  # fmt: skip
def test_bad_usage(inside, data, tmp_path, options):
    fails(inside("train-hmtm", data, "-o", "m", *options), "Error: ", code=2)
    assert os.listdir(tmp_path) == []


def test_extreme_sizes(inside, data, tmp_path):
    succeeds(inside("train-hmtm", data, "--states", "1", "--epochs", "1", "-o", "m"))
    succeeds(inside("train-hmtm", data, "--states", "4", "--k", "400", "--epochs", "1", "-o", "m"))
    run = inside("train-hmtm", data, "--states", "2000000000", "-o", "n")
    fails(run, "more than this machine has", "fewer --states")
    assert os.listdir(tmp_path) == ["m"]
