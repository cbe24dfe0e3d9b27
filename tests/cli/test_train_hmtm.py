"""``wordkit train-hmtm`` on the command line: options, files, interruption, bad input."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import fails, run_wordkit, start, succeeds
from wordkit.formats.vectors import read_vectors
from wordkit.models.tree_model import TreeModel

LINE = "{}\t{}\t_\t_\t_\t_\t{}\td\t_\t_\n"


def conll(*sentences) -> str:
    """Sentences of (word, head) pairs."""
    return "".join("".join(LINE.format(i, *pair) for i, pair in enumerate(s, 1)) + "\n" for s in sentences)


@pytest.fixture
def trees(samples):
    return str(samples / "trees.conllu")


@pytest.fixture
def corpus(samples):
    return str(samples / "corpus.txt")


QUICK = ("--states", "6", "--epochs", "2")


def told(run) -> str:
    return run.stderr.decode()


def train(folder, *args, output="m", **kwargs):
    return run_wordkit(folder, "train-hmtm", *args, "-o", output, **kwargs)


@pytest.mark.parametrize(
    "options",
    [("--labels", "deprel"), ("--projection", "ebest"), ("--projection", "exact", "--method", "batch"),
     ("--start-states", "2", "--resplit"), ("--init", "brown", "--lowercase")],
    ids=" ".join,
)  # fmt: skip
def test_u062_threads_and_repetition_give_the_same_bytes(tmp_path, trees, options):
    for output, threads in (("a", "1"), ("b", "2"), ("c", "8")):
        succeeds(
            train(
                tmp_path,
                trees,
                *QUICK,
                *options,
                "--threads",
                threads,
                "--vectors-out",
                f"{output}.vec",
                output=output,
            )
        )
    for suffix in ("", ".vec"):
        first = (tmp_path / f"a{suffix}").read_bytes()
        assert first == (tmp_path / f"b{suffix}").read_bytes() == (tmp_path / f"c{suffix}").read_bytes()


def test_results_and_json(tmp_path, trees):
    run = train(
        tmp_path, trees, *QUICK, "--heldout", trees, "--json", "--log", "log", "--vectors-out", "v.vec"
    )
    record = json.loads(succeeds(run))
    assert record["command"] == "train-hmtm" and record["states"] == 6 and record["epochs"] == 2
    assert record["stopped"] == "epochs" and len(record["history"]) == 2
    assert record["heldout_perplexity"] == pytest.approx(np.exp(-record["heldout_log_likelihood"]))
    assert record["covered"] < record["total"]
    assert [json.loads(line)["epoch"] for line in (tmp_path / "log").read_text().splitlines()] == [1, 2]
    assert told(run).count("heldout_log_likelihood") == 2
    words, vectors = read_vectors(tmp_path / "v.vec")
    assert words[0] == "-*-" and vectors.shape == (len(words), 6)
    np.testing.assert_allclose(vectors.sum(axis=1), 1.0, rtol=1e-4)
    near = run_wordkit(tmp_path, "neighbors", "v.vec", "the", "--similarity", "bhattacharyya", "--top", "2")
    assert succeeds(near).count("\n") == 2
    info = json.loads(succeeds(run_wordkit(tmp_path, "info", "m")))
    assert info["kind"] == "hmtm" and info["parameters"]["states"] == 6


def test_u074_batch_em_says_why_it_ended_and_never_falls(tmp_path, trees):
    options = ("--states", "3", "--projection", "exact", "--method", "batch", "--json")
    record = json.loads(succeeds(train(tmp_path, trees, *options, "--epochs", "100", "--tol", "0.01")))
    assert record["stopped"] == "tolerance" and record["epochs"] == len(record["history"]) < 100
    values = np.array([epoch["log_likelihood"] for epoch in record["history"]])
    assert (np.diff(values) > -1e-8 * np.abs(values[1:])).all()
    record = json.loads(succeeds(train(tmp_path, trees, *options, "--epochs", "2")))
    assert record["stopped"] == "epochs"


@pytest.mark.parametrize(
    "options", [(), ("--no-shuffle",), ("--projection", "exact", "--method", "batch")], ids=" ".join
)
def test_u063_u079_interrupted_and_resumed_gives_the_same_bytes(tmp_path, trees, options):
    many = ("--states", "8", "--batch-size", "10", *options)
    process = start(
        tmp_path, "train-hmtm", trees, "-o", "m", "--checkpoint", "c", "--epochs", "100000", *many
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "c").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    text = errors.decode()
    assert "--resume c" in text and "Traceback" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]
    done = TreeModel.load(tmp_path / "c").model.n_iter_
    epochs = ("--epochs", str(done + 2))
    succeeds(train(tmp_path, trees, *many, *epochs, "--resume", "c", output="resumed"))
    succeeds(train(tmp_path, trees, *many, *epochs, output="whole"))
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "whole").read_bytes()


def test_resume_is_for_the_same_data_and_options(tmp_path, trees, corpus):
    succeeds(train(tmp_path, trees, *QUICK, output="c"))
    shutil.copy(trees, tmp_path / "other.conllu")
    (tmp_path / "other.conllu").write_text(Path(trees).read_text() + conll([("new", 0)]))
    fails(train(tmp_path, "other.conllu", "--epochs", "3", "--resume", "c"), "other data")
    fails(
        train(tmp_path, trees, "--states", "7", "--epochs", "3", "--resume", "c"),
        "--states 7 contradicts the model's 6",
    )
    fails(
        train(tmp_path, trees, "--token", "lemma", "--epochs", "3", "--resume", "c"),
        "contradicts the model's form",
    )
    fails(train(tmp_path, trees, "--epochs", "1", "--resume", "c"), "beyond")
    assert not (tmp_path / "m").exists()


def test_init_model_appends_new_words(tmp_path, trees):
    succeeds(train(tmp_path, trees, *QUICK, "--min-count", "1", output="first"))
    (tmp_path / "more.conllu").write_text(conll([("brandnew", 2), ("dog", 0)], [("brandnew", 0)]))
    run = train(tmp_path, "more.conllu", "--init", "first", "--epochs", "1", "--min-count", "1")
    succeeds(run)
    assert "1 new words" in told(run) or "2 new words" in told(run)
    model = TreeModel.load(tmp_path / "m")
    assert "brandnew" in model.model.vocabulary_.index
    assert len(model.header["inputs"]) == 2
    fails(train(tmp_path, "more.conllu", "--init", "first", "--states", "9"), "contradicts")


def test_clusters_file_is_the_beginning(tmp_path, corpus):
    succeeds(run_wordkit(tmp_path, "brown", corpus, "-o", "p", "--clusters", "9"))
    run = train(tmp_path, corpus, "--structure", "chain", "--clusters", "p", "--epochs", "1")
    assert "states\t9" in succeeds(run)
    fails(train(tmp_path, corpus, "--structure", "chain", "--clusters", "p", "--states", "5"), "9 clusters")


@pytest.mark.parametrize("name", ["--init", "--resume", "--clusters", "--heldout"])
def test_u104_a_file_of_another_kind_is_told(tmp_path, samples, trees, name):
    fails(train(tmp_path, trees, *QUICK, name, str(samples / "vectors.bin")), "vectors.bin")
    assert not (tmp_path / "m").exists()


def test_restarts_are_listed(tmp_path, trees):
    record = json.loads(succeeds(train(tmp_path, trees, *QUICK, "--restarts", "3", "--json")))
    assert sorted(record["restarts"]) == ["1", "2", "3"]
    assert record["log_likelihood"] == pytest.approx(max(record["restarts"].values()))


def test_labels_have_their_own_transitions(tmp_path, trees):
    run = train(tmp_path, trees, *QUICK, "--labels", "deprel", "--label-min-count", "500")
    succeeds(run)
    assert "labels occur at least 500 times" in told(run)
    model = TreeModel.load(tmp_path / "m").model
    assert model.transitions_.shape[0] == len(model.label_names_) > 2
    np.testing.assert_allclose(model.transitions_.sum(axis=1), 1.0, rtol=1e-9)


BAD = {
    "cycle": ([("a", 2), ("b", 1)], 1), "own head": ([("a", 1)], 1), "range": ([("a", 9), ("b", 0)], 1),
    "no head": ([("a", "_"), ("b", 0)], 1),
}  # fmt: skip


@pytest.mark.parametrize("sentence, line", BAD.values(), ids=BAD)
def test_u027_u029_u041_bad_heads_are_one_line_and_can_be_skipped(tmp_path, sentence, line):
    (tmp_path / "t").write_text(conll([("fine", 0), ("word", 1)], sentence, [("word", 2), ("fine", 0)]))
    fails(train(tmp_path, "t", *QUICK, "--min-count", "1"), f"t:{3 + line}:")
    assert not (tmp_path / "m").exists()
    run = train(tmp_path, "t", *QUICK, "--min-count", "1", "--skip-invalid")
    assert "sentences\t2" in succeeds(run)
    assert "skipped" in told(run)
    chain = train(tmp_path, "t", *QUICK, "--min-count", "1", "--structure", "chain")
    assert "sentences\t3" in succeeds(chain)


def test_u028_several_roots_are_several_trees(tmp_path):
    (tmp_path / "t").write_text(conll([("a", 0), ("b", 0), ("c", 2)]) * 3)
    assert "total\t9" in succeeds(train(tmp_path, "t", *QUICK))


@pytest.mark.parametrize("heads", [[0, *range(1, 5000)], [0] + [1] * 4999], ids=["deep", "wide"])
def test_u038_u073_sentences_of_any_length_and_depth(tmp_path, heads):
    (tmp_path / "t").write_text(conll([(f"w{i % 9}", h) for i, h in enumerate(heads)]))
    fails(train(tmp_path, "t", *QUICK), "longer than 50 tokens")
    record = json.loads(
        succeeds(train(tmp_path, "t", *QUICK, "--max-length", "5000", "--heldout", "t", "--json"))
    )
    assert -5 < record["heldout_log_likelihood"] < 0


def test_long_sentences_are_passed_over_and_counted(tmp_path):
    (tmp_path / "t.txt").write_text("a b\n" + "a b c " * 20 + "\na\n")
    run = train(tmp_path, "t.txt", *QUICK, "--structure", "chain", "--min-count", "1")
    assert "sentences\t2" in succeeds(run)
    assert "1 sentences with 60 tokens are passed over" in told(run)


def test_u018_own_token_for_rare_words_in_the_text(tmp_path):
    (tmp_path / "t.txt").write_text("-*- a b a\nb -*- a b\n")
    run = train(tmp_path, "t.txt", *QUICK, "--structure", "chain")
    succeeds(run)
    assert "`-*-`" in told(run)


def test_pipes_and_compression(tmp_path, corpus):
    succeeds(train(tmp_path, corpus, *QUICK, "--structure", "chain", output="plain"))
    text = Path(corpus).read_bytes()
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(text))
    succeeds(train(tmp_path, "c.txt.gz", *QUICK, "--structure", "chain", output="packed"))
    one, other = (TreeModel.load(tmp_path / name).model for name in ("plain", "packed"))
    np.testing.assert_array_equal(one.statistics_.emissions, other.statistics_.emissions)
    piped = train(tmp_path, "-", *QUICK, "--structure", "chain", output="piped", input=text)
    succeeds(piped)


@pytest.mark.parametrize(
    "options, says",
    [(("--gamma", "2"), "gamma"), (("--gamma", "nan"), "gamma"), (("--gamma", "0"), "gamma"), (("--states", "0"), "states"),
     (("--epsilon", "1"), "epsilon"), (("--start-states", "9", "--states", "4"), "--start-states 9"),
     (("--structure", "chain", "--labels", "deprel"), "--labels"), (("--restarts", "2", "--checkpoint", "c"), "--restarts"),
     (("--clusters", "x", "--init", "brown"), "--clusters")],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)  # fmt: skip
def test_bad_options_are_bad_usage(tmp_path, trees, options, says):
    run = train(tmp_path, trees, *options)
    assert run.returncode == 2 and says in told(run) and "Traceback" not in told(run)
    assert not (tmp_path / "m").exists()


def test_text_has_no_trees_and_empty_files_no_sentence(tmp_path, corpus):
    fails(train(tmp_path, corpus, *QUICK), "corpus.txt")
    (tmp_path / "empty").write_text("")
    fails(train(tmp_path, "empty", *QUICK), "empty: is empty")
    (tmp_path / "once.txt").write_text("a b c d\n")
    fails(train(tmp_path, "once.txt", "--structure", "chain", "--min-count", "5"), "0 of 4 word types")


def test_one_state_and_more_kept_than_there_are(tmp_path, trees):
    assert "states\t1" in succeeds(train(tmp_path, trees, "--states", "1", "--k", "99", "--epochs", "1"))


@pytest.mark.parametrize(
    "name", ["emissions", "transitions", "starts", "words", "word_counts", "totals", "epoch_sums"]
)
def test_a_damaged_model_is_told_in_one_line(tmp_path, trees, name):
    from wordkit.formats.model_file import read_model, write_model

    succeeds(train(tmp_path, trees, *QUICK))
    header, arrays = read_model(tmp_path / "m")
    for number, spoiled in enumerate((arrays[name][1:], arrays[name].astype(np.float16), None)):
        changed = (
            {**arrays, name: spoiled}
            if spoiled is not None
            else {k: v for k, v in arrays.items() if k != name}
        )
        write_model(tmp_path / f"bad{number}", "hmtm", changed, header)
        fails(run_wordkit(tmp_path, "classes", f"bad{number}"), f"bad{number}")
