"""``wordkit decode``, ``classes`` and ``evaluate likelihood`` on the command line."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from tests.cli.conftest import fails, run_wordkit, succeeds
from wordkit.formats.conll import read_conll
from wordkit.models.tree_corpus import read_corpus
from wordkit.models.tree_model import TreeModel

ODD = (
    "# text = I don't\n1\tI\tI\tPRON\t_\t_\t2\tnsubj\t_\tSpaceAfter=No\n2-3\tdont\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_\n2.1\tgap\t_\t_\t_\t_\t_\t_\t0:x\t_\n3\tnot\tnot\tPART\t_\t_\t2\tadvmod\t_\tA=b|Class=9\n\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, samples):
    folder = tmp_path_factory.mktemp("decode")
    quick = ("--states", "6", "--epochs", "2")
    succeeds(
        run_wordkit(
            folder, "train-hmtm", samples / "trees.conllu", "-o", "trees.model", "--labels", "deprel", *quick
        )
    )
    succeeds(
        run_wordkit(
            folder, "train-hmtm", samples / "corpus.txt", "-o", "text.model", "--structure", "chain", *quick
        )
    )
    (folder / "trees").symlink_to(samples / "trees.conllu")
    (folder / "text").symlink_to(samples / "corpus.txt")
    (folder / "odd").write_text(ODD)
    return folder


def decode(folder, *args, **kwargs) -> str:
    return succeeds(run_wordkit(folder, "decode", *args, **kwargs))


def test_conll_is_kept_but_for_misc(folder):
    out = decode(folder, "trees.model", "odd").splitlines()
    given = ODD.splitlines()
    assert len(out) == len(given)
    for before, after in zip(given, out, strict=True):
        assert before.split("\t")[:9] == after.split("\t")[:9]
    assert out[2] == given[2] and out[4] == given[4] and out[0] == given[0]
    assert out[1].split("\t")[9].startswith("SpaceAfter=No|Class=")
    assert "A=b|Class=" in out[5] and out[5].count("Class=") == 1
    assert out[6] == ""


@pytest.mark.parametrize("projection", ["exact", "kbest"])
def test_classes_and_posteriors_are_those_of_the_model(folder, projection):
    loaded = TreeModel.load(folder / "trees.model")
    corpus = loaded.read([str(folder / "trees")], tally=None, limited=False)
    viterbi = np.concatenate(loaded.model.decode(corpus, projection=projection))
    posterior = np.concatenate(loaded.model.transform(corpus, projection=projection))
    text = decode(folder, "trees.model", "trees", "--format", "tsv", "--projection", projection)
    assert [int(line.split("\t")[1]) for line in text.splitlines() if line] == viterbi.tolist()
    text = decode(
        folder, "trees.model", "trees", "--representation", "posterior-token", "--format", "tsv", "--min-probability", "0",
        "--projection", projection,
    )  # fmt: skip
    rows = [line.split("\t")[1] for line in text.splitlines() if line]
    for row, expected in itertools.islice(zip(rows, posterior, strict=True), 300):
        cells = dict(cell.split(":") for cell in row.split(","))
        assert sum(map(float, cells.values())) == pytest.approx(1.0, abs=2e-3)
        found = [float(cells.get(str(c), 0)) for c in range(6)]
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_both_are_numbered_one_behind_the_other(folder):
    (folder / "s").write_text("the dog eats\n")
    both = decode(
        folder, "text.model", "s", "--representation", "both", "--min-probability", "0"
    ).splitlines()[0]
    parts = [
        decode(
            folder, "text.model", "s", "--representation", f"posterior-{kind}", "--min-probability", "0"
        ).splitlines()[0]
        for kind in ("token", "type")
    ]
    word, cells = both.split("\t")
    token, type_ = (part.split("\t")[1].split(",") for part in parts)
    shifted = [f"{int(cell.split(':')[0]) + 6}:{cell.split(':')[1]}" for cell in type_]
    assert word == "the" and cells.split(",") == token + shifted


def test_text_gives_tsv_or_conll(folder):
    tsv = decode(folder, "text.model", "-", input=b"the dog\n\nunseenword !\n")
    assert [line.split("\t")[0] for line in tsv.splitlines()] == ["the", "dog", "", "unseenword", "!", ""]
    (folder / "two").write_text("the dog\nthe cat\n")
    decode(folder, "text.model", "two", "--format", "conll", "-o", "two.conllu")
    sentences = list(read_conll(folder / "two.conllu", heads="any"))
    assert [s.forms for s in sentences] == [["the", "dog"], ["the", "cat"]]
    assert all(m.startswith("Class=") for s in sentences for m in s.misc)


def test_u072_unknown_words_have_a_class_and_are_counted(folder):
    run = run_wordkit(folder, "decode", "text.model", "-", input=b"zzz yyy the\n")
    assert succeeds(run).count("\n") == 4
    assert b"3 tokens decoded, 2 of them unknown" in run.stderr


def test_sentences_of_any_length_are_decoded(folder):
    text = decode(
        folder, "text.model", "-", "--representation", "posterior-token", input=b"the dog " * 2500 + b"\n"
    )
    assert text.count("\n") == 5001
    assert "nan" not in text


def test_what_does_not_fit_is_one_line(folder):
    fails(run_wordkit(folder, "decode", "trees.model", "text"), "CoNLL")
    fails(run_wordkit(folder, "decode", "trees.model", "text", "--input-format", "text"), "CoNLL")
    fails(run_wordkit(folder, "decode", "text", "trees"), "text: is not a model file")
    (folder / "bad").write_text(ODD + "1\ta\t_\t_\t_\t_\t5\t_\t_\t_\n\n")
    fails(run_wordkit(folder, "decode", "trees.model", "bad", "-o", "out"), "bad:8:")
    assert not (folder / "out").exists()
    run = run_wordkit(folder, "decode", "trees.model", "bad", "--skip-invalid")
    assert succeeds(run).count("Class=") == 3
    assert b"skipped" in run.stderr
    (folder / "nothing").write_text("")
    fails(run_wordkit(folder, "decode", "text.model", "nothing"), "is empty")


def test_classes_list_words_and_what_follows(folder):
    lines = succeeds(run_wordkit(folder, "classes", "text.model", "--top", "4", "--transitions")).splitlines()
    own = [line.split("\t") for line in lines if line.split("\t")[1] != ">"]
    assert len(own) == 6 and len(lines) == 6 + 30
    shares = [float(share) for _, share, _ in own]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1.0, abs=1e-3)
    assert all(len(words.split(" ")) == 4 for *_, words in own)
    labelled = succeeds(run_wordkit(folder, "classes", "trees.model", "--transitions"))
    assert ">det" in labelled or ">nsubj" in labelled
    record = json.loads(succeeds(run_wordkit(folder, "classes", "text.model", "--json", "--transitions")))
    assert len(record["classes"]) == 6 and len(record["classes"][0]["transitions"]) == 5


def test_classes_of_a_word(folder):
    lines = succeeds(
        run_wordkit(folder, "classes", "text.model", "--word", "the", "--min-share", "0")
    ).splitlines()
    assert sum(float(line.split("\t")[1]) for line in lines) == pytest.approx(1.0, abs=1e-3)
    fails(run_wordkit(folder, "classes", "text.model", "--word", "zzz"), "does not know the word `zzz`")


def test_likelihood_is_the_model_s(folder):
    record = json.loads(
        succeeds(run_wordkit(folder, "evaluate", "likelihood", "trees.model", "trees", "--json"))
    )
    loaded = TreeModel.load(folder / "trees.model")
    value = loaded.model.log_likelihood(loaded.read([str(folder / "trees")], tally=None))
    assert record["log_likelihood_per_token"] == pytest.approx(value)
    assert record["perplexity"] == pytest.approx(np.exp(-value))
    assert record["tokens"] == record["total"] > record["covered"]
    assert record["signature"].startswith("command:evaluate-likelihood")
    bound = json.loads(
        succeeds(
            run_wordkit(
                folder, "evaluate", "likelihood", "trees.model", "trees", "--json", "--projection", "kbest"
            )
        )
    )
    assert bound["log_likelihood_per_token"] <= value + 1e-6


def test_likelihood_of_several_files(folder):
    record = json.loads(
        succeeds(run_wordkit(folder, "evaluate", "likelihood", "trees.model", "trees", "odd", "--json"))
    )
    values = [result["log_likelihood_per_token"] for result in record["results"]]
    assert record["log_likelihood_per_token"] == pytest.approx(np.mean(values))
    assert [result["data"] for result in record["results"]] == ["trees", "odd"]
    fails(run_wordkit(folder, "evaluate", "likelihood", "trees.model", "text"), "text")


def test_plain_reading_agrees_with_the_corpus_reader(folder, samples):
    """What decode counts as unknown is what the corpus reader does, lower case and lemmas included."""
    options = ("--token", "lemma/pos", "--lowercase", "--states", "3", "--epochs", "1")
    succeeds(run_wordkit(folder, "train-hmtm", samples / "trees.conllu", "-o", "lemma.model", *options))
    run = run_wordkit(folder, "decode", "lemma.model", "trees")
    succeeds(run)
    loaded = TreeModel.load(folder / "lemma.model")
    corpus = read_corpus(
        [folder / "trees"], token="lemma/pos", lowercase=True, max_length=None, vocabulary=loaded.model.vocabulary_,
        label_names=loaded.model.label_names_,
    )  # fmt: skip
    assert f"{corpus.n_tokens} tokens decoded, {corpus.word_counts[0]} of them unknown" in run.stderr.decode()
