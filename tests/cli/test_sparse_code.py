"""``wordkit sparse-code``: from text or counts to vectors, interrupted and resumed, and what it refuses."""

from __future__ import annotations

import inspect
import json
import os

import numpy as np
import pytest
import scipy.sparse

from tests.cli.conftest import fails, succeeds
from wordkit.formats.counts import Counts, write_counts
from wordkit.formats.forest import read_forest
from wordkit.formats.model_file import read_header
from wordkit.formats.vectors import read_vectors
from wordkit.monitor import Monitor

QUICK = ("--dim", "26", "--epochs", "2", "--batch-size", "100")


@pytest.fixture(scope="module")
def counts(tmp_path_factory, samples):
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
    assert "--window means nothing to counts that are made already, with 5" in run.stderr.decode()
    assert "|window:5|min_count:10|lowercase:no|" in run.stderr.decode()


def signature_of(run) -> str:
    succeeds(run)
    return run.stderr.decode().split("signature: ")[1].strip()


def test_signature_is_that_of_the_counts(inside, samples, tmp_path):
    counting = ("--window", "2", "--min-count", "20", "--lowercase", "--max-vocab", "300")
    succeeds(inside("cooccur", samples / "corpus.txt", *counting, "-o", "c.npz"))
    told = "|window:2|min_count:20|max_vocab:300|lowercase:yes|"
    assert told in signature_of(inside("sparse-code", "c.npz", *QUICK, "-o", "a.vec", "--checkpoint", "k"))
    assert told in signature_of(inside("sparse-code", "c.npz", *QUICK, "--min-count", "9", "-o", "a.vec"))
    assert told in signature_of(
        inside("sparse-code", samples / "corpus.txt", *counting, *QUICK, "-o", "b.vec")
    )
    header = read_header(tmp_path / "k")
    assert header["reading"]["window"] == 2 and header["reading"]["lowercase"] is True
    fails(
        inside("sparse-code", "c.npz", "-o", "m", "--resume", "k", "--window", "5"),
        "--window 5 contradicts the earlier training, which had --window 2",
    )


def test_equal_work_signs_equally(inside, counts, samples, tmp_path):
    whole = inside("sparse-code", counts, *QUICK, "-o", "a.vec", "--checkpoint", "c", "--forest-out", "f")
    expected = signature_of(whole)
    assert "|tree_shape:3x3|" in expected and "|epochs:2|" in expected
    assert read_header(tmp_path / "c")["signature"] == expected
    for options in (("--resume", "c"), (*QUICK, "--forest", "f"), (*QUICK, "--zeros", "0.3", "--power", "1")):
        assert signature_of(inside("sparse-code", counts, "-o", "b.vec", *options)) == expected
    (tmp_path / "chain").write_text("-1\n" + "0\n" * 25)
    fails(
        inside("sparse-code", counts, "-o", "m", "--resume", "c", "--forest", "chain"),
        "chain: is not the forest of c",
    )
    five = signature_of(inside("sparse-code", counts, "--dim", "13", "--batch-size", "100", "-o", "b.vec"))
    assert "|epochs:5|" in five


def test_signature_leaves_out_what_has_no_effect(inside, counts):
    def names(*options) -> set[str]:
        signed = signature_of(
            inside("sparse-code", counts, "-o", "a.vec", "--epochs", "1", "--dim", "13", *options)
        )
        return {pair.partition(":")[0] for pair in signed.split("|")}

    sgd = {"learning_rate", "tau", "sgd_step", "sampling", "zeros"}
    online = names()
    assert not online & {*sgd, "power", "threads"} and online >= {
        "lam",
        "tree_shape",
        "batch_size",
        "tol",
        "shift",
        "seed",
    }
    svd = names("--algorithm", "svd", "--weighting", "count")
    assert svd == {
        "command",
        "weighting",
        "window",
        "min_count",
        "lowercase",
        "dim",
        "algorithm",
        "power",
        "seed",
        "data",
        "version",
    }
    assert names("--algorithm", "sgd", "--threads", "2", "--regularizer", "l1") == {
        *sgd, "command", "weighting", "shift", "window", "min_count", "lowercase", "dim", "regularizer", "lam", "nonnegative",
        "algorithm", "epochs", "heldout", "seed", "threads", "data", "version",
    }  # fmt: skip
    assert "lam" not in names("--regularizer", "none")


@pytest.mark.parametrize("algorithm", ["online", "sgd"])
def test_fewer_epochs_than_are_done_are_refused(inside, counts, tmp_path, algorithm):
    succeeds(
        inside("sparse-code", counts, *QUICK, "--algorithm", algorithm, "-o", "a.vec", "--checkpoint", "c")
    )
    fails(
        inside("sparse-code", counts, "-o", "m", "--resume", "c", "--epochs", "1"),
        "c: epochs is 1, and 2 are begun",
    )
    assert not (tmp_path / "m").exists()


def test_epochs_are_told_a_line_each(inside, counts):
    for options in ((), ("--algorithm", "sgd")):
        told = inside("sparse-code", counts, *QUICK, *options, "-o", "a.vec").stderr.decode()
        assert [line[: line.index(",")] for line in told.splitlines() if ": epoch " in line] == [
            "wordkit: sparse-code: epoch 1 of 2", "wordkit: sparse-code: epoch 2 of 2",
        ]  # fmt: skip


def test_codes_that_are_all_zero_are_told(inside, counts, tmp_path):
    succeeds(run := inside("sparse-code", counts, *QUICK, "--lam", "1e6", "-o", "a.vec"))
    assert "warning: all codes are zero" in run.stderr.decode()
    fails(inside("sparse-code", "a.vec", "-o", "b.vec"), "a.vec: is a vector file, expected text")


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


@pytest.mark.parametrize("options", [("--algorithm", "svd"), ("--checkpoint", "c"), ()], ids=" ".join)
def test_stopped_where_there_is_nothing_to_keep(inside, counts, samples, tmp_path, options, monkeypatch):
    """While counting, and in the decomposition, which has no steps to come back to."""
    from wordkit.cli.report import ProgressMonitor

    monkeypatch.setattr(ProgressMonitor, "stopping", True)
    data = counts if "svd" in options else samples / "corpus.txt"
    run = inside("sparse-code", data, *QUICK, *options, "-o", "m.vec")
    said = run.stderr.decode()
    assert run.returncode == 130 and "bug" not in said and "nothing was written" in said.splitlines()[-1]
    assert "--checkpoint keeps" not in said and os.listdir(tmp_path) == []


def test_u061_resume_that_contradicts(inside, counts, samples, tmp_path):
    succeeds(inside("sparse-code", counts, *QUICK, "-o", "a.vec", "--checkpoint", "c"))
    (tmp_path / "f.txt").write_text("-1\n" * 26)
    for options, says in (
        (("--dim", "13"), "c: --dim 13 contradicts the earlier training, which had --dim 26"),
        (("--weighting", "ppmi"), "c: --weighting ppmi contradicts the earlier training"),
        (("--seed", "9"), "c: --seed 9 contradicts"),
        (("--no-shuffle",), "c: --no-shuffle contradicts the earlier training, which had no such option"),
        (("--forest", "f.txt"), "f.txt: is not the forest of c"),
    ):
        fails(inside("sparse-code", counts, "-o", "m", "--resume", "c", *options), says)
    other = ("sparse-code", samples / "reviews.test.txt", "-o", "m", "--min-count", "5")
    fails(
        inside(*other, "--resume", "c"),
        "--min-count 5 contradicts the earlier training, which had --min-count 10",
    )
    fails(inside(*other[:-2], "--resume", "c"), "c: was trained on other data")
    fails(inside("sparse-code", counts, "-o", "m", "--resume", counts), "counts.npz: ")
    data = (tmp_path / "c").read_bytes()
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    fails(inside("sparse-code", counts, "-o", "m", "--resume", "cut"), "cut: ")
    run = inside(
        "sparse-code", counts, "-o", "m.vec", "--resume", "c", "--epochs", "3", "--learning-rate", "0.03"
    )
    succeeds(run)
    said = run.stderr.decode()
    assert (
        "going on after epoch 2 of 3" in said
        and "--learning-rate means nothing to --algorithm online" in said
    )
    succeeds(inside("sparse-code", counts, *QUICK, "--epochs", "3", "-o", "whole.vec"))
    assert (tmp_path / "m.vec").read_bytes() == (tmp_path / "whole.vec").read_bytes()


def test_resumed_sgd_is_told_apart_from_a_whole_run(inside, counts, tmp_path):
    sgd = ("sparse-code", counts, *QUICK, "--algorithm", "sgd", "--threads", "1")
    succeeds(inside(*sgd, "-o", "a.vec", "--checkpoint", "c"))
    run = inside("sparse-code", counts, "-o", "b.vec", "--resume", "c", "--epochs", "3", "--max-iter", "9")
    succeeds(run)
    said = run.stderr.decode()
    assert "was to fall over 2 epochs: this is not what 3 epochs at once give" in said
    assert "--max-iter means nothing to --algorithm sgd" in said  # the checkpoint's


def test_a_forest_file_that_means_nothing_changes_nothing(inside, counts, tmp_path):
    (tmp_path / "f.txt").write_text("-1\n0\n0\n")
    for options in (("--regularizer", "l1"), ("--algorithm", "svd")):
        run = inside("sparse-code", counts, *QUICK, *options, "--forest", "f.txt", "-o", "a.vec")
        succeeds(run)
        assert "--forest means nothing" in run.stderr.decode()
        assert read_vectors(tmp_path / "a.vec")[1].shape[1] == 26


def test_data_of_which_nothing_can_be_learned(inside, counts, tmp_path):
    (tmp_path / "one.txt").write_text("ab " * 100)
    (tmp_path / "two.txt").write_text("a b\n" * 30)
    (tmp_path / "apart.txt").write_text("a\nb\n" * 30)
    for algorithm in ("online", "sgd", "svd"):
        one = ("--min-count", "1", "--algorithm", algorithm, "--regularizer", "l1", "--dim", "1", "-o", "v")
        fails(inside("sparse-code", "one.txt", *one), "one.txt: every association is 0")
        fails(inside("sparse-code", "apart.txt", *one), "apart.txt: no word stands near another")
        succeeds(inside("sparse-code", "two.txt", *one, "--heldout", "0.999"))  # something is always left
    ppmi = ("--weighting", "ppmi", "--shift", "1e30")
    fails(inside("sparse-code", counts, *ppmi, *QUICK, "-o", "w"), "every association is 0")
    fails(inside("sparse-code", counts, *QUICK, "-o", "w", "--heldout", "1"), "--heldout", code=2)
    fails(
        inside("sparse-code", counts, "--dim", "1300000", "-o", "w"),
        "GiB, more than this machine has; use a smaller --dim",
    )
    assert not (tmp_path / "w").exists()


def test_words_that_no_vector_file_can_hold_are_told_before_the_work(inside, tmp_path):
    for words in (["a", ""], ["a", "b\0"]):
        matrix = scipy.sparse.csr_array(np.array([[1, 2], [2, 1]], np.int32))
        write_counts(tmp_path / "c.npz", Counts(matrix, words, np.array([3, 3])))
        fails(inside("sparse-code", "c.npz", *QUICK, "-o", "v"), f"c.npz: holds the word {words[1]!r}")


def test_options_far_from_the_data(inside, counts, tmp_path):
    command = ("sparse-code", counts, *QUICK, "--threads", "1", "-o", "v")
    for options in (("--tol", "1e308"), ("--algorithm", "sgd", "--lam", "1e308"),
                    ("--algorithm", "sgd", "--sgd-step", "printed", "--lam", "1e308")):  # fmt: skip
        succeeds(inside(*command, *options))  # warnings of NumPy are errors here
        assert np.isfinite(read_vectors(tmp_path / "v")[1]).all()
    fails(inside(*command, "--algorithm", "sgd", "--tau", "1e308"), "a --tau below 1e+308")
    for power in ("1e308", "30", "-1e20"):
        fails(
            inside(*command, "--algorithm", "svd", "--power", power),
            "beyond float32: use a --power nearer to 0",
        )


def test_svd_gives_no_weight_to_what_is_rounding(inside, tmp_path):
    (tmp_path / "t.txt").write_text(
        "a b\na c\na d\n" * 30
    )  # b, c and d stand alike: two singular values, and no more
    command = ("sparse-code", "t.txt", "--min-count", "1", "--algorithm", "svd", "--dim", "3", "-o", "v")
    for power in ("0.5", "-3"):
        succeeds(inside(*command, "--power", power))
        codes = read_vectors(tmp_path / "v")[1]
        assert np.abs(codes[:, :2]).max() > 0.01 and not codes[:, 2].any()


def test_warnings_are_one_line_without_a_place_in_the_code(wordkit, counts):
    for options, lines in (((), 4), (("-q",), 0)):
        run = wordkit("sparse-code", counts, *QUICK, "--max-iter", "1", "-o", "v", *options)
        succeeds(run)
        said = run.stderr.decode().splitlines()
        assert len(said) == lines and all(line.startswith("wordkit: ") for line in said)
        assert not said or "did not reach the tolerance; raise max_iter or tol" in "".join(said)


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
        assert "reconstruction_error\t0." in run.stdout.decode() and "epochs" not in run.stdout.decode()
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


def test_defaults_are_those_of_the_coder():

    from wordkit.cli.sparse_code import command
    from wordkit.models import ForestCoder

    ours = {option.name: option.default for option in command.params}
    theirs = {name: each.default for name, each in inspect.signature(ForestCoder).parameters.items()}
    shared = (ours.keys() & theirs.keys()) - {"threads", "nonnegative", "epochs"}  # a flag, and None
    assert len(shared) > 15
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
