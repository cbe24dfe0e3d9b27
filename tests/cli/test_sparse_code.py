"""``wordkit sparse-code``: from text or counts to vectors, interrupted and resumed, and what it refuses."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from wordkit.formats.forest import read_forest
from wordkit.formats.model_file import read_header
from wordkit.formats.vectors import read_vectors
from wordkit.monitor import Monitor

QUICK = ("--dim", "26", "--epochs", "2", "--batch-size", "100")


@pytest.fixture(scope="module")
def counts(tmp_path_factory, samples):
    from wordkit.formats.counts import write_counts
    from wordkit.models.cooccurrence import count_cooccurrences

    path = tmp_path_factory.mktemp("counts") / "counts.npz"
    write_counts(path, count_cooccurrences([samples / "corpus.txt"], min_count=10))
    return path


def test_text_and_counts_give_the_same_vectors(inside, counts, samples, tmp_path):
    run = inside("sparse-code", counts, *QUICK, "-o", "a.vec", "--json")
    succeeds(run)
    found = json.loads(run.stdout)
    assert found["command"] == "sparse-code" and found["heldout_error"] > 0 and found["unused_atoms"] == 0
    assert set(found["density_of_level"]) == {"0", "1", "2"} and len(found["history"]) == 2
    succeeds(inside("sparse-code", samples / "corpus.txt", *QUICK, "--min-count", "10", "-o", "b.vec"))
    assert (tmp_path / "a.vec").read_bytes() == (tmp_path / "b.vec").read_bytes()
    _, vectors = read_vectors(tmp_path / "a.vec")
    assert vectors.shape == (found["total"], 26) and np.mean(vectors != 0) == pytest.approx(found["density"])
    run = inside("sparse-code", counts, "--window", "3", *QUICK, "-o", "c.vec")
    succeeds(run)
    assert "--window means nothing" in run.stderr.decode()


def test_zeros_are_exact_and_follow_the_forest(inside, counts, tmp_path):
    options = ("--lam", "8", "--dictionary-out", "d.vec", "--forest-out", "f.txt")
    succeeds(inside("sparse-code", counts, *QUICK, *options, "-o", "a.vec"))
    words, vectors = read_vectors(tmp_path / "a.vec")
    contexts, atoms = read_vectors(tmp_path / "d.vec")
    parents = read_forest(tmp_path / "f.txt")
    assert contexts == words and atoms.shape == vectors.shape and len(parents) == 26
    below = np.flatnonzero(parents >= 0)
    used = vectors != 0
    assert (used[:, parents[below]] | ~used[:, below]).all() and 0 < used.mean() < 0.9
    assert b" 0.0 " in (tmp_path / "a.vec").read_bytes()
    run = inside("sparse-code", counts, *QUICK[2:], "--lam", "8", "--forest", "f.txt", "-o", "b.vec")
    succeeds(run)
    assert (tmp_path / "b.vec").read_bytes() == (tmp_path / "a.vec").read_bytes()


def test_threads_seed_and_standard_output(inside, counts, tmp_path):
    for name, options in (("1", ()), ("2", ("--threads", "2")), ("s", ("--seed", "2"))):
        succeeds(inside("sparse-code", counts, *QUICK, *options, "-o", f"{name}.vec"))
    one, two, other = ((tmp_path / f"{name}.vec").read_bytes() for name in "12s")
    assert one == two != other
    assert succeeds(inside("sparse-code", counts, *QUICK, "-o", "-")).encode() == one


@pytest.mark.parametrize(
    "options", [(), ("--regularizer", "l1", "--nonnegative", "--no-shuffle"), ("--algorithm", "sgd", "--threads", "1")],
    ids=" ".join,
)  # fmt: skip
def test_u063_u079_stopped_and_resumed_gives_the_same_bytes(inside, counts, tmp_path, options, monkeypatch):
    command = ("sparse-code", counts, *QUICK, *options)
    succeeds(inside(*command, "-o", "whole.vec"))
    from wordkit.cli.report import ProgressMonitor

    advance, left = Monitor.advance, [1]

    def counted(self, done):
        left[0] -= done > 0
        self.stopping = left[0] <= 0

    monkeypatch.setattr(ProgressMonitor, "advance", counted)
    resume: tuple[str, ...] = ()
    for steps in (1,) if "sgd" in options else (2, 1):
        left[0] = steps
        run = inside(*command, "-o", "m.vec", "--checkpoint", "c", *resume)
        assert run.returncode == 130 and "go on with the same command and --resume c" in run.stderr.decode()
        assert set(os.listdir(tmp_path)) == {"whole.vec", "c"}
        assert read_header(tmp_path / "c")["kind"] == "sparse-coding"
        resume = ("--resume", "c")
    monkeypatch.setattr(ProgressMonitor, "advance", advance)
    succeeds(inside(*command, "-o", "m.vec", *resume))
    assert (tmp_path / "m.vec").read_bytes() == (tmp_path / "whole.vec").read_bytes()


def test_u061_resume_that_contradicts(inside, counts, samples, tmp_path):
    succeeds(inside("sparse-code", counts, *QUICK, "-o", "a.vec", "--checkpoint", "c"))
    for options, says in (
        (("--dim", "13"), "c: --dim was 26, not 13"),
        (("--weighting", "ppmi"), "c: --weighting was pmi, not ppmi"),
        (("--seed", "9"), "c: --seed was 1, not 9"),
    ):
        fails(inside("sparse-code", counts, "-o", "m", "--resume", "c", *options), says)
    other = ("sparse-code", samples / "reviews.test.txt", "-o", "m", "--min-count", "5")
    fails(inside(*other, "--resume", "c"), "--min-count was 10, not 5")
    fails(inside(*other[:-2], "--resume", "c"), "c: was trained on other data")
    fails(inside("sparse-code", counts, "-o", "m", "--resume", counts), "counts.npz: ")
    data = (tmp_path / "c").read_bytes()
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    fails(inside("sparse-code", counts, "-o", "m", "--resume", "cut"), "cut: ")
    succeeds(inside("sparse-code", counts, "-o", "m.vec", "--resume", "c", "--epochs", "3"))
    succeeds(inside("sparse-code", counts, *QUICK, "--epochs", "3", "-o", "whole.vec"))
    assert (tmp_path / "m.vec").read_bytes() == (tmp_path / "whole.vec").read_bytes()


def test_svd_and_weightings(inside, counts, tmp_path):
    for weighting in ("pmi", "ppmi", "count"):
        run = inside(
            "sparse-code",
            counts,
            "--algorithm",
            "svd",
            "--dim",
            "20",
            "--weighting",
            weighting,
            "-o",
            "a.vec",
        )
        succeeds(run)
        _, vectors = read_vectors(tmp_path / "a.vec")
        norms = np.linalg.norm(vectors, axis=0)
        assert vectors.shape[1] == 20 and (np.diff(norms) <= 1e-3 * norms[0]).all()


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--dim", "27"), "multiple of 13"), (("--tree-shape", "3by3"), "tree shape"), (("--lam", "-1"), "--lam"),
     (("--resume", "c", "--algorithm", "svd"), "svd has no epochs"), (("--forest", "f", "--tree-shape", "2"), "--tree-shape"),
     (("--zeros", "2"), "--zeros"), (("--learning-rate", "nan"), "--learning-rate"), (("--checkpoint", "-"), "--checkpoint")],
)  # fmt: skip
def test_bad_usage(inside, counts, options, says):
    fails(inside("sparse-code", counts, "-o", "a.vec", *options), says, code=2)


def test_bad_inputs_have_a_message_of_their_own(inside, counts, tmp_path):
    (tmp_path / "one.txt").write_text("a b c\n")
    (tmp_path / "lonely.txt").write_text("a\nb\n" * 20)
    (tmp_path / "cycle.txt").write_text("-1\n2\n1\n")
    (tmp_path / "empty.txt").write_text("")
    fails(
        inside("sparse-code", "one.txt", "-o", "m", "--min-count", "10", *QUICK),
        "0 of 3 word types",
        "lower --min-count",
    )
    fails(inside("sparse-code", "lonely.txt", "-o", "m", "--min-count", "2", *QUICK), "nothing to code")
    fails(
        inside("sparse-code", counts, "-o", "m", "--forest", "cycle.txt"), "cycle.txt:2: parent 2 of node 1"
    )
    fails(inside("sparse-code", counts, "-o", "m", "--forest", "empty.txt"), "empty.txt: is empty")
    fails(inside("sparse-code", counts, "-o", "m", "--algorithm", "svd", "--dim", "5000"), "--dim 5000")
    fails(inside("sparse-code", counts, "one.txt", "-o", "m", *QUICK), "one file alone")
    fails(inside("sparse-code", "missing", "-o", "m", *QUICK), "missing: No such file")
    assert not (tmp_path / "m").exists()


def test_sgd_that_diverges_says_what_to_change(inside, counts, tmp_path):
    run = inside("sparse-code", counts, *QUICK, "--algorithm", "sgd", "--learning-rate", "1e9", "-o", "m")
    if run.returncode:  # implicit steps hold a long time
        fails(run, "diverged", "--learning-rate")
        assert not (tmp_path / "m").exists()
    else:
        assert np.isfinite(read_vectors(tmp_path / "m")[1]).all()
