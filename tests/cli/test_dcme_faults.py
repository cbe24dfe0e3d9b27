"""``wordkit dcme`` and its models where data, options or files are odd: each is told in one line, and nothing is half-written."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from wordkit.errors import WordkitError
from wordkit.formats.model_file import read_model, write_model
from wordkit.formats.vectors import read_vectors
from wordkit.models import DualClusteringClassifier, DualClusteringEmbedding
from wordkit.models.tree_corpus import TreeCorpus

TRAIN = ("--min-count", "1", "--epochs", "1", "--threads", "1")
EMBED = (*TRAIN, "--dim", "3", "--clusters", "2")
CLASSIFY = (*TRAIN, "--task", "classification")
SENTENCES = [["a", "dog", "barks"], ["a", "cat", "sleeps"]] * 5


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t").write_text("".join(" ".join(words) + "\n" for words in SENTENCES))
    (tmp_path / "d").write_text("__label__x one two\n__label__y two three\n" * 5)
    return tmp_path


# --- data --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [(), ("--objective", "gd"), ("--variant", "printed"), ("--objective", "nce")]
)
def test_text_of_one_word_a_line_teaches_nothing(inside, folder, options):
    """It went through with an objective of 0 and vectors that were those of the beginning."""
    (folder / "single").write_text("a\nb\n" * 5)
    fails(inside("dcme", "single", "-o", "v", *EMBED, *options), "error: single: no line has two known words")
    assert not (folder / "v").exists()


def test_one_word_again_and_again(inside, folder):
    (folder / "one").write_text("x " * 100_000)
    fails(inside("dcme", "one", "-o", "v", *EMBED), "one: `x` is the only word that is kept")
    fails(inside("dcme", "t", "-o", "v", *EMBED, "--max-vocab", "1"), "t: `a` is the only word that is kept")


def test_documents_without_words(inside, folder):
    (folder / "empty").write_text("__label__x\n__label__y \n" * 3)
    fails(inside("dcme", "empty", "-o", "m", *CLASSIFY), "empty: the documents have no words")
    (folder / "some").write_text("__label__x\n__label__y b\n" * 3)
    run = inside("dcme", "some", "-o", "m", *CLASSIFY)
    assert succeeds(run) and "3 of them without any known feature" in run.stderr.decode()


def test_labels_in_text_for_vectors_are_told(inside, folder):
    run = inside("dcme", "d", "-o", "v", *EMBED)
    succeeds(run)
    assert "2 words begin with `__label__`" in run.stderr.decode()
    assert "__label__" not in inside("dcme", "t", "-o", "v", *EMBED).stderr.decode()


def test_held_out_text_with_nothing_to_score(inside, folder):
    (folder / "single").write_text("a\ndog\n")
    run = inside("dcme", "t", "-o", "v", *EMBED, "--heldout", "single", "--json")
    assert json.loads(succeeds(run))["heldout_log_likelihood"] is None
    assert "warning: single: no line has two known words" in run.stderr.decode()


def test_held_out_documents_that_cannot_be_right_are_told(inside, folder):
    (folder / "h").write_text("__label__x one\n__label__z four\n__label__q two\n")
    run = inside("dcme", "d", "-o", "m", *CLASSIFY, "--heldout", "h", "--json")
    assert json.loads(succeeds(run))["heldout_accuracy"] <= 1 / 3
    message = run.stderr.decode()
    assert "h: 2 of 3 documents have labels that the training data lack: q, z" in message
    assert "h: 1 of 3 documents have no known feature" in message
    assert "lack" not in inside("dcme", "d", "-o", "m", *CLASSIFY, "--heldout", "d").stderr.decode()


@pytest.mark.parametrize("task", [EMBED, CLASSIFY])
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "bad: is empty"),
        (b"__label__x a\0b\n", "bad:1: NUL byte"),
        (b"__label__x a b\n__label__y \xff\n", "bad:2: byte 0xff"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K", "bad: compressed file is incomplete"),
    ],
)
def test_bad_bytes(inside, folder, task, data, says):
    (folder / "bad").write_bytes(data)
    source = "bad"
    if says.endswith("incomplete"):
        (folder / "bad").rename(folder / "bad.gz")
        source, says = "bad.gz", says.replace("bad:", "bad.gz:")
    fails(inside("dcme", source, "-o", "out", *task), says)
    fails(inside("dcme", ".", "-o", "out", *task), ".: is a folder")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("task", [EMBED, CLASSIFY])
def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(inside, folder, task):
    source = folder / ("d" if task is CLASSIFY else "t")
    text = source.read_bytes()
    for name, data in (("u", text), ("v", text.replace(b"\n", b"\r\n")), ("w", b"\xef\xbb\xbf" + text)):
        source.write_bytes(data)
        succeeds(inside("dcme", source.name, "-o", name, *task))
    if task is EMBED:
        assert (folder / "u").read_bytes() == (folder / "v").read_bytes() == (folder / "w").read_bytes()
    else:
        weights = [read_model(folder / name)[1]["weights"] for name in "uvw"]
        assert (weights[0] == weights[1]).all() and (weights[0] == weights[2]).all()


def test_a_long_line(inside, folder):
    (folder / "long").write_text(" ".join(f"w{i % 7}" for i in range(20_000)))
    succeeds(inside("dcme", "long", "-o", "v", *EMBED, "--window", "2"))
    assert len(read_vectors(folder / "v")[0]) == 7


# --- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [EMBED, CLASSIFY])
@pytest.mark.parametrize("objective", ["nce", "ns"])
@pytest.mark.parametrize("power", ["500", "1e9"])
def test_a_power_of_the_noise_that_overflows(inside, folder, task, objective, power):
    """Shares of drawn items were NaN, after two warnings of NumPy."""
    source = "d" if task is CLASSIFY else "t"
    run = inside(
        "dcme", source, "-o", "out", *task, "--objective", objective, "--noise-power", power, "--json"
    )
    assert np.isfinite(json.loads(succeeds(run))["objective"])
    assert "overflow" not in run.stderr.decode() and "invalid" not in run.stderr.decode()


@pytest.mark.parametrize("task", [EMBED, CLASSIFY])
def test_clusters_that_cannot_fit_are_named(inside, folder, task):
    source = "d" if task is CLASSIFY else "t"
    fails(
        inside("dcme", source, "-o", "out", *task, "--clusters", "1000000"),
        "GiB, more than this machine has",
        "--clusters",
    )


def test_feature_numbers_that_cannot_fit_are_named(inside, folder):
    (folder / "s").write_text("x 2147483646:1\ny 2:1\n" * 5)
    fails(inside("dcme", "s", "-o", "m", *CLASSIFY, "--format", "svmlight"), "use lower feature numbers")


@pytest.mark.parametrize("task", [EMBED, CLASSIFY])
@pytest.mark.parametrize(
    "options",
    [("--clusters", "300"), ("--top", "10000"), ("--top", "0"), ("--beta", "1e-30"), ("--beta", "1e308"), ("--threads", "64"),
     ("--variant", "printed", "--top", "0"), ("--learning-rate", "1e-40")],
)  # fmt: skip
def test_numbers_far_from_the_usual_ones_that_work(inside, folder, task, options):
    source = "d" if task is CLASSIFY else "t"
    run = inside("dcme", source, "-o", "out", *task, *options, "--json")
    assert np.isfinite(json.loads(succeeds(run))["objective"])


def test_top_of_a_printed_classifier_means_nothing(inside, folder):
    run = inside("dcme", "d", "-o", "m", *CLASSIFY, "--variant", "printed", "--top", "3")
    assert succeeds(run) and "warning: --top means nothing to --variant printed" in run.stderr.decode()
    assert "means nothing" not in inside("dcme", "d", "-o", "m", *CLASSIFY, "--top", "3").stderr.decode()
    assert (
        "means nothing"
        not in inside("dcme", "t", "-o", "v", *EMBED, "--variant", "printed", "--top", "3").stderr.decode()
    )


def test_draws_without_end_are_named_beside_the_rate(inside, folder):
    options = ("--objective", "ns", "--negative", "10000", "--learning-rate", "1e6")
    fails(inside("dcme", "t", "-o", "v", *EMBED, *options), "use a smaller --learning-rate", "or --negative")
    (folder / "same").write_text("__label__x one\n__label__y one\n" * 5)
    fails(inside("dcme", "same", "-o", "v", *CLASSIFY, *options), "have run away", "or --negative")


# --- earlier models ----------------------------------------------------------------------------------------------


def test_what_contradicts_a_checkpoint_names_it_and_the_way(inside, folder):
    succeeds(inside("dcme", "t", "-o", "v", *EMBED, "--checkpoint", "c"))
    succeeds(inside("dcme", "d", "-o", "m", *CLASSIFY, "--checkpoint", "k"))
    resumed = ("dcme", "t", "-o", "v", "--threads", "1", "--resume", "c")
    fails(inside(*resumed, "--epochs", "2"), "c: --epochs 2 contradicts", "--init")
    fails(
        inside(*resumed, "--lowercase"),
        "c: --lowercase contradicts the earlier training, which had no such option",
    )
    classified = ("dcme", "d", "-o", "m", "--task", "classification", "--resume", "k")
    fails(
        inside(*classified, "--epochs", "2"),
        "k: --epochs 2 contradicts",
        "the step sizes fall over the epochs",
    )
    fails(inside(*classified, "--ngrams", "2"), "k: --ngrams 2 contradicts")
    fails(
        inside("dcme", "d", "-o", "v", "--resume", "c", *CLASSIFY),
        "c: this is a model of kind 'dcme-embedding'",
    )
    fails(inside("predict", "c", "d"), "c: this is a model of kind", "dcme --task classification")
    fails(inside("dcme", "t", "-o", "w", "--init", "v"), "v: is not a model file", "--model-out")
    run = inside("dcme", "t", "-o", "v", "--init", "c", "--threads", "1")
    assert succeeds(run) and "0 new words appended to the model's 5" in run.stderr.decode()


@pytest.mark.parametrize("task", [EMBED, CLASSIFY])
def test_a_checkpoint_beyond_the_end_of_its_data(inside, folder, task):
    source = "d" if task is CLASSIFY else "t"
    succeeds(inside("dcme", source, "-o", "out", *task, "--checkpoint", "c"))
    header, arrays = read_model(folder / "c")
    kind = header["kind"]
    values = {
        key: value
        for key, value in header.items()
        if key not in ("format", "format_version", "kind", "wordkit_version")
    }
    for field in ("position", "passed") if task is EMBED else ("position",):
        write_model(folder / "x", kind, arrays, {**values, "epochs_done": 0, field: 10**6})
        fails(inside("dcme", source, "-o", "new", *task, "--resume", "x"), "the data are shorter than those")
    assert not (folder / "new").exists()


# --- outputs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option", ["--output", "--checkpoint", "--curves", "--log", "--model-out", "--output-vectors"]
)
def test_a_full_disk_is_one_line(inside, folder, option):
    """That of the checkpoint said that the state was in it."""
    output = () if option == "--output" else ("-o", "v")
    run = inside("dcme", "t", *output, *EMBED, option, "/dev/full")
    fails(run, "/dev/full: No space left on device")
    assert "the state after" not in run.stderr.decode()


def test_paths_that_clash_are_named(inside, folder):
    fails(inside("dcme", "t", "-o", "t", *EMBED), "which it would replace: t", code=2)
    fails(inside("dcme", "t", "-o", "v", *EMBED, "--heldout", "v"), "which it would replace: v", code=2)
    fails(
        inside("dcme", "t", "-o", "v", *EMBED, "--curves", "./v"),
        "two outputs have the same path: ./v",
        code=2,
    )
    for option in ("--checkpoint", "--curves", "--log", "--model-out", "--output-vectors"):
        fails(inside("dcme", "t", "-o", "v", *EMBED, option, "no/x"), "no/x: there is no folder no")


# --- Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentences", "says"),
    [
        (["a dog barks", "a cat sleeps"], "sentence 0 is a string"),
        ("a dog", "sentence 0 is a string"),
        ([["a", 1]], "a word is 1, expected a string"),
        ([["a", None]], "a word is None"),
        ([["a", ""]], "a word is empty"),
        ([[]], "there is no sentence"),
    ],
)
def test_sentences_that_are_none(sentences, says):
    """Strings were taken for lists of letters, and numbers for words."""
    with pytest.raises(ValueError, match=says):
        DualClusteringEmbedding(dim=2, min_count=1).fit(sentences)


def test_resuming_on_shorter_data():
    model = DualClusteringEmbedding(dim=2, min_count=1, epochs=2).fit(SENTENCES)
    model.n_iter_, model.position_ = 1, 1
    with pytest.raises(WordkitError, match="the data are shorter"):
        model.resume(TreeCorpus.from_sentences(SENTENCES, vocabulary=model.vocabulary_))
    X, y = np.eye(4)[np.arange(8) % 4], np.arange(8) % 4
    classifier = DualClusteringClassifier(epochs=2).fit(X, y)
    classifier.n_iter_, classifier.position_ = 1, 8
    with pytest.raises(WordkitError, match="the data are shorter"):
        classifier.resume(X, y)


def test_strings_are_no_contexts():
    with pytest.raises(ValueError, match="a context is the string 'a dog'"):
        DualClusteringEmbedding(dim=2, min_count=1).fit(SENTENCES).predict_log_proba(["a dog"])


def test_a_fitted_model_is_copied_and_pickled_and_goes_on_with_more_threads():
    """The threads of its training could not be copied; and with more of them than before it ended in an IndexError."""
    sentences = [[f"w{(i * 7 + j) % 30}" for j in range(20)] for i in range(400)]
    model = DualClusteringEmbedding(dim=2, min_count=1, epochs=1, clusters=2).fit(sentences)
    corpus = TreeCorpus.from_sentences(sentences, vocabulary=model.vocabulary_)
    twins = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for each in (model, *twins):
        each.epochs = 2
        each.resume(corpus)
        assert each.history_[-1] == model.history_[-1] and each.n_iter_ == 2
        assert (each.input_vectors_ == model.input_vectors_).all()
    model.epochs, model.threads = 3, 3
    assert np.isfinite(model.resume(corpus).history_[-1]["objective"])


def test_powers_of_the_noise_stay_what_they_were():
    from wordkit.models.window_training import Noise

    counts = np.array([8.0, 4.0, 0.0, 2.0])
    np.testing.assert_allclose(np.exp(Noise.of(counts, 1.0, 7).shift)[[0, 1, 3]], [4, 2, 1], rtol=1e-6)
    np.testing.assert_allclose(np.exp(Noise.of(counts, 1e6, 7).shift), [7, 0, 0, 0], atol=1e-6)
