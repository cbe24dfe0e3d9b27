"""Figures of evaluations and of classes: written without a display from results and models, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import fails, made, succeeds

pytest.importorskip("matplotlib")
MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def folder(shared):
    """Results of the evaluations on the samples, and a model."""
    made(
        shared, "train-hmtm", "data_samples/trees.conllu", "-o", "figures.model", "--states", "8", "--epochs", "1",
        "--vectors-out", "figures.vec",
    )  # fmt: skip
    calls = {
        "tree.json": ("categorization", "data_samples/vectors.txt", "data_samples/categories.txt"),
        "bless.json": ("bless", "data_samples/vectors.txt", "data_samples/relations.txt"),
        "pairs.json": (
            "composition",
            "figures.vec",
            "data_samples/pairs.txt",
            "--transition",
            "figures.model",
        ),
        "phrases.json": ("composition", "figures.vec", "data_samples/phrases.txt"),
    }
    for name, call in calls.items():
        made(shared, "evaluate", *call, "--json", stdout=name)
    return shared


@pytest.fixture
def figures(inside, tmp_path, monkeypatch):
    """Draw a kind of figure with different options in SVG, with the last ones in other formats: all written, none the same."""

    def draw(kind: str, suffix: str, *calls: tuple) -> None:
        monkeypatch.delenv("DISPLAY", raising=False)
        calls, drawn = calls if suffix == "svg" else calls[-1:], []
        for call in calls:
            run = inside("plot", kind, *call, "-o", f"f.{suffix}")
            assert succeeds(run) == "" and b"warning" not in run.stderr
            drawn.append((tmp_path / f"f.{suffix}").read_bytes())
        assert len(set(drawn)) == len(calls) and min(map(len, drawn)) > 1000
        assert all(one.startswith(MAGIC[suffix]) for one in drawn)

    return draw


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_all_are_written(figures, folder, suffix):
    one = (folder / "tree.json", "--data", "data_samples/categories.txt:kind")
    two = (folder / "tree.json", "--data", "data_samples/categories.txt:living", "--title", "a $x_1$ & b")
    figures("dendrogram", suffix, one, two)
    figures("bless", suffix, (folder / "bless.json",), (folder / "bless.json", folder / "bless.json"))
    figures("acceptability", suffix, (folder / "pairs.json",), (folder / "pairs.json", "--title", "x"))
    figures("transitions", suffix, (folder / "figures.model",), (folder / "figures.model", "--by-share"))


def test_words_in_context(inside, figures, folder):
    pytest.importorskip("sklearn")
    call = (folder / "figures.model", folder / "data_samples" / "trees.conllu")
    figures(
        "context",
        "svg",
        (*call, "soup", "bread", "bridge"),
        (*call, "what", "who", "--method", "pca", "--most", "3"),
    )
    run = inside("plot", "context", *call, "what", "who", "dog", "-o", "c.png", "--most", "5")
    assert b"what: 5 of " in run.stderr
    fails(inside("plot", "context", *call, "zzz", "-o", "c.png"), "does not know the word `zzz`")


def test_contexts_are_the_posteriors_of_the_tokens(folder, tmp_path):
    from wordkit.evaluation.contexts import contexts_of
    from wordkit.models.tree_model import TreeModel
    from wordkit.tally import Tally

    model = TreeModel.load(folder / "figures.model")
    text = (folder / "data_samples" / "trees.conllu").read_text().split("\n\n")
    (tmp_path / "some.conllu").write_text("\n\n".join(text[:40]) + "\n\n")
    found = contexts_of(model, "what", ["who"], str(tmp_path / "some.conllu"), Tally(), most=3)
    sentences, heads = [], []
    for block in text[:40]:
        rows = [line.split("\t") for line in block.splitlines() if line[:1].isdigit()]
        rows = [row for row in rows if row[0].isdigit()]
        sentences.append(
            [
                row[1] if row[1] in model.model.vocabulary_.index else model.model.vocabulary_.words[0]
                for row in rows
            ]
        )
        heads.append([int(row[6]) for row in rows])
    posteriors = model.model.transform(sentences, heads)
    places = [(s, i) for s, words in enumerate(sentences) for i, word in enumerate(words) if word == "what"]
    assert found.total == len(places) > 3 and len(found.vectors) == 5 and found.words == ["what", "who"]
    for row, (s, i) in zip(found.vectors[2:], places, strict=False):
        np.testing.assert_allclose(row, posteriors[s][i], rtol=1e-5, atol=1e-7)
    assert found.sentences[0].split()[places[0][1]] == "[what]"
    np.testing.assert_allclose(found.vectors.sum(axis=1), 1, rtol=1e-5)


def test_what_is_refused(inside, folder, tmp_path):
    (tmp_path / "no.json").write_text("{")
    (tmp_path / "list.json").write_text("[]")
    (tmp_path / "bare.json").write_text(json.dumps({"command": "evaluate bless", "results": [{"data": "d"}]}))
    fails(
        inside("plot", "bless", "no.json", "-o", "f.png"),
        "no.json: is not JSON, expected a result of wordkit evaluate bless --json",
    )
    fails(inside("plot", "bless", "list.json", "-o", "f.png"), "list.json: holds no results")
    fails(
        inside("plot", "bless", "bare.json", "-o", "f.png"), "bare.json: bare: holds no scores of relations"
    )
    fails(
        inside("plot", "bless", folder / "tree.json", "-o", "f.png"), "is a result of evaluate categorization"
    )
    fails(
        inside("plot", "acceptability", folder / "phrases.json", "-o", "f.png"),
        "holds no scores of acceptable",
    )
    fails(inside("plot", "dendrogram", folder / "tree.json", "-o", "f.png"), "--data says which", code=2)
    fails(
        inside("plot", "dendrogram", folder / "tree.json", "--data", "x", "-o", "f.png"),
        "holds no data set `x`",
    )
    fails(inside("plot", "transitions", folder / "tree.json", "-o", "f.png"), "tree.json")
    (tmp_path / "c.tsv").write_text("epoch\tmetric\tvalue\tseconds\n1\tloss\t2\t1\n")
    fails(inside("plot", "curves", "c.tsv", "-o", "f.png"), "c.tsv: no curve has the metric")
    fails(inside("plot", "bless", folder / "bless.json", "-o", "f.txt"), "a figure ends in")
    assert not (tmp_path / "f.png").exists()


def test_overall_transitions_of_labels_are_weighted():
    from wordkit.evaluation.transitions import overall_transitions
    from wordkit.models.hmtm import HiddenMarkovTree

    sentences = [["a", "b", "c"], ["b", "c", "a"], ["c", "b"]] * 5
    heads = [[0, 1, 1], [2, 0, 2], [0, 1]] * 5
    model = HiddenMarkovTree(states=3, epochs=2, seed=1).fit(sentences, heads)
    found = overall_transitions(model)
    np.testing.assert_allclose(found, model.transitions_[0], rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=0), 1, rtol=1e-6)


def test_constant_scores_are_drawn(tmp_path):
    from wordkit.plotting.evaluations import acceptability_figure

    for values in ([0.5, 0.5], [0.0, 0.0]):
        result = {"scores": {"acceptable": values, "deviant": values}}
        acceptability_figure([("x", result)], tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 1000


def test_equal_distances_are_drawn_without_a_word_of_matplotlib(inside, tmp_path):
    (tmp_path / "same.vec").write_text("a 1 1\nb 1 1\nc 1 1\n")
    (tmp_path / "c.tsv").write_text("a\tx\nb\tx\nc\ty\n")
    (tmp_path / "tree.json").write_text(
        succeeds(inside("evaluate", "categorization", "same.vec", "c.tsv", "--json"))
    )
    run = inside("plot", "dendrogram", "tree.json", "-o", "f.png")
    assert succeeds(run) == "" and run.stderr == b"" and (tmp_path / "f.png").stat().st_size > 1000
