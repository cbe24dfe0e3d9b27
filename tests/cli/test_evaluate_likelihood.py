"""``wordkit evaluate likelihood``, and files that are no whole models of train-hmtm."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from tests.models.test_damaged_models import array_mutations, paths
from wordkit.cli import run as run_inside
from wordkit.errors import WordkitError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models.class_table import ClassTable
from wordkit.models.hmtm_training import Run
from wordkit.models.representations import Decoder
from wordkit.models.tree_model import TreeModel
from wordkit.monitor import Monitor
from wordkit.tally import Tally

VALUES = [None, -1, 10**30, 1.5, "x", [], True]
FIXED = ("format", "format_version", "kind", "wordkit_version")
TREE = "1\ta\ta\tX\tX\t_\t2\tnsubj\t_\t_\n2\tb\tb\tY\tY\t_\t0\troot\t_\t_\n3\tc\tc\tX\tX\t_\t2\tobj\t_\t_\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("likelihood")
    (folder / "tree.conllu").write_text(TREE * 3)
    (folder / "text").write_text("a b c\nb a\n" * 5)
    tree = ("--labels", "deprel", "--label-min-count", "1", "--states", "3", "--k", "2", "--epochs", "2")
    chain = ("--structure", "chain", "--states", "4", "--method", "batch", "--k", "2", "--epochs", "3")
    for name, data, options in (("tree", "tree.conllu", tree), ("chain", "text", chain)):
        arguments = ["-q", "train-hmtm", str(folder / data), "-o", str(folder / name), *options]
        assert run_inside(arguments) == 0
    return folder


def test_keys_and_their_meaning(inside, folder):
    result = json.loads(
        succeeds(inside("evaluate", "likelihood", folder / "tree", folder / "tree.conllu", "--json"))
    )
    assert {
        "log_likelihood_per_token",
        "perplexity",
        "tokens",
        "covered",
        "total",
        "signature",
        "seconds",
    } <= set(result)
    assert (
        result["command"] == "evaluate likelihood"
        and result["tokens"] == result["total"] == result["covered"] == 9
    )
    assert result["perplexity"] == pytest.approx(math.exp(-result["log_likelihood_per_token"]))
    model = TreeModel.load(folder / "tree")
    corpus = model.read([str(folder / "tree.conllu")], Tally())
    assert result["log_likelihood_per_token"] == model.model.log_likelihood(corpus)
    for projection in ("kbest", "ebest"):
        run = inside(
            "evaluate",
            "likelihood",
            folder / "tree",
            folder / "tree.conllu",
            "--json",
            "--projection",
            projection,
        )
        assert (
            json.loads(succeeds(run))["log_likelihood_per_token"] <= result["log_likelihood_per_token"] + 1e-6
        )


def test_several_files_are_scored_by_themselves(inside, folder, tmp_path):
    (tmp_path / "other").write_text("c c c zzz\n")
    run = inside("evaluate", "likelihood", folder / "chain", folder / "text", "other", "--json")
    result = json.loads(succeeds(run))
    values = [record["log_likelihood_per_token"] for record in result["results"]]
    assert result["log_likelihood_per_token"] == pytest.approx(sum(values) / 2) and len(set(values)) == 2
    assert [record["data"].split("/")[-1] for record in result["results"]] == ["text", "other"]
    assert (result["results"][1]["covered"], result["results"][1]["total"]) == (3, 4)
    alone = json.loads(succeeds(inside("evaluate", "likelihood", folder / "chain", "other", "--json")))
    assert alone["log_likelihood_per_token"] == values[1]


def test_u072_unknown_words_have_a_finite_likelihood(inside, folder, tmp_path):
    (tmp_path / "unknown").write_text("x y z\nq\n")
    result = json.loads(succeeds(inside("evaluate", "likelihood", folder / "chain", "unknown", "--json")))
    assert math.isfinite(result["log_likelihood_per_token"]) and result["covered"] == 0


def test_sentences_of_all_lengths_count(inside, folder, tmp_path):
    (tmp_path / "long").write_text("a b c " * 1000 + "\n")
    result = json.loads(succeeds(inside("evaluate", "likelihood", folder / "chain", "long", "--json")))
    assert result["tokens"] == 3000 and math.isfinite(result["perplexity"])


def test_bad_sentences_are_counted_when_skipped(inside, folder, tmp_path):
    (tmp_path / "bad.conllu").write_text(TREE + TREE.replace("\t2\tnsubj", "\t9\tnsubj") + TREE)
    command = ("evaluate", "likelihood", folder / "tree", "bad.conllu")
    fails(inside(*command), "bad.conllu:5: head 9 of word 1 is beyond the sentence")
    run = inside(*command, "--skip-invalid", "--json")
    assert json.loads(succeeds(run))["tokens"] == 6 and "bad.conllu:5: " in run.stderr.decode()


@pytest.mark.parametrize("options", [(), ("--format", "text")])
def test_text_where_the_model_needs_more(inside, folder, options):
    run = inside("evaluate", "likelihood", folder / "tree", folder / "text", *options)
    fails(run, "text", "plain text has no trees")


def test_u017_u104_wrong_files(inside, folder, questions, tmp_path):
    (tmp_path / "empty").write_text("")
    fails(inside("evaluate", "likelihood", folder / "chain", "empty"), "empty: is empty")
    fails(inside("evaluate", "likelihood", "empty", folder / "text"), "empty: ")
    fails(inside("evaluate", "likelihood", questions, folder / "text"), "this is a model of kind 'rpa'")
    fails(inside("evaluate", "likelihood", folder / "text", folder / "text"), "is not a model file")
    fails(inside("evaluate", "likelihood", folder / "chain", folder / "chain"), "is a zip archive")
    fails(inside("evaluate", "likelihood", "-", "-"), "standard input", code=2)
    fails(inside("predict", folder / "chain", folder / "text"), "this is a model of kind 'hmtm'")


# --- damaged models --------------------------------------------------------------------------------------------


def used(folder, name, header, arrays) -> None:
    """Whatever can be done with a model that loads; all of it must be finite."""
    write_model(folder / "x", "hmtm", arrays, {k: v for k, v in header.items() if k not in FIXED})
    model = TreeModel.load(folder / "x")
    data = str(folder / ("tree.conllu" if name == "tree" else "text"))
    corpus = model.read([data], Tally())
    for projection in ("exact", "kbest"):
        assert np.isfinite(model.model.log_likelihood(corpus, projection))
    for kind in ("viterbi", "both"):
        assert "nan" not in "".join("".join(d.texts) for d in Decoder(model, kind).decode(data, Tally()))
    table = ClassTable(model.model, 2)
    assert [table.followers(number) for number, _ in table.by_share()]
    assert np.isfinite(model.model.word_vectors()).all()


def goes_on(folder, name) -> None:
    data = str(folder / ("tree.conllu" if name == "tree" else "text"))
    for option in ("init", "resume"):
        names = ("heldout", "clusters", "checkpoint", "resume", "max_vocab")
        options = {**dict.fromkeys(names), "init": "random", "threads": 1, "min_count": 1, "format": "auto"}
        options |= {"label_min_count": 1, option: str(folder / "x")}
        run = Run(options, {option}, Tally())
        run.read([data])
        if run.model.epochs - run.model.n_iter_ < 9:
            run.fit(Monitor())


@pytest.mark.parametrize("name", ["tree", "chain"])
def test_arrays_that_are_damaged(folder, name):
    header, arrays = read_model(folder / name)
    refused = 0
    for key, array in arrays.items():
        with pytest.raises(WordkitError, match="damaged"):
            used(folder, name, header, {k: v for k, v in arrays.items() if k != key})
        for changed in array_mutations(array):
            try:
                used(folder, name, header, {**arrays, key: changed})
            except WordkitError as error:
                assert str(error).startswith(str(folder / "x")) and "\n" not in str(error)
                refused += 1
    assert refused > 4 * len(arrays)


def test_headers_that_are_damaged(folder):
    name = "tree"
    header, arrays = read_model(folder / name)
    found = []
    for number, place in enumerate(paths(header)):
        if place[0] in FIXED or any(isinstance(key, int) and key for key in place):
            continue
        for value in VALUES[number % 2 :: 2]:
            changed = copy.deepcopy(header)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            try:
                used(folder, name, changed, arrays)
                if place[0] not in ("label_names", "signature", "reading", "statistics"):
                    goes_on(folder, name)
            except WordkitError as error:
                assert "\n" not in str(error), (place, value)
            except Exception as error:
                found.append((place, value, error))
    assert not found
