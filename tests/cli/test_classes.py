"""``wordkit classes``: words of the classes of a model."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import fails, made, succeeds
from wordkit.models.tree_model import TreeModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory, samples):
    folder = tmp_path_factory.mktemp("classes")
    (folder / "s.conllu").write_text(
        "\n\n".join((samples / "trees.conllu").read_text().split("\n\n")[:60]) + "\n\n"
    )
    options = ("--states", "6", "--epochs", "2", "--quiet")
    made(folder, "train-hmtm", "s.conllu", "-o", "m", *options)
    labels = ("--labels", "deprel", "--label-min-count", "20")
    made(folder, "train-hmtm", "s.conllu", "-o", "labelled", *options, *labels)
    return folder


def test_lines_and_json_say_the_same(inside, folder):
    lines = [
        line.split("\t") for line in succeeds(inside("classes", folder / "m", "--top", "3")).splitlines()
    ]
    found = json.loads(succeeds(inside("classes", folder / "m", "--top", "3", "--json")))["classes"]
    assert [(int(n), words.split(" ")) for n, _, words in lines] == [
        (row["class"], row["words"]) for row in found
    ]
    shares = [row["share"] for row in found]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)
    emissions, words = (model := TreeModel.load(folder / "m").model).emissions_, model.vocabulary_.words
    for row in found:
        assert row["words"][0] == words[emissions[:, row["class"]].argmax()] and len(row["words"]) == 3
    everything = json.loads(succeeds(inside("classes", folder / "m", "--top", "1000000", "--json")))[
        "classes"
    ]
    assert all(sorted(row["words"]) == sorted(words) for row in everything)


@pytest.mark.parametrize("name", ["m", "labelled"])
def test_transitions(inside, folder, name):
    found = json.loads(succeeds(inside("classes", folder / name, "--transitions", "--json")))["classes"]
    model = TreeModel.load(folder / name).model
    for row in found:
        probabilities = [after["probability"] for after in row["transitions"]]
        assert probabilities == sorted(probabilities, reverse=True) and 0 < sum(probabilities) <= 1 + 1e-9
        assert all(("label" in after) == (name == "labelled") for after in row["transitions"])
        if name == "m":
            best = row["transitions"][0]
            column = model.transitions_[0, :, row["class"]]
            assert best["class"] == column.argmax() and best["probability"] == pytest.approx(column.max())
    assert "\t>" in succeeds(inside("classes", folder / name, "--transitions"))


def test_classes_of_a_word(inside, folder):
    command = ("classes", folder / "m", "--json", "--min-share", "0", "--word")
    found = json.loads(succeeds(inside(*command, "the")))["classes"]
    assert sum(row["share"] for row in found) == pytest.approx(1, abs=1e-5) and len(found) == 6
    assert json.loads(succeeds(inside(*command, "-*-")))["classes"]
    fails(inside("classes", folder / "m", "--word", "nosuch"), "does not know the word `nosuch`")
    fails(inside("classes", folder / "m", "--word", ""), "does not know the word ``")


@pytest.mark.parametrize("options", [("--top", "0"), ("--min-share", "nan"), ("--min-share", "2"), ("x",)])
def test_bad_usage(inside, folder, options):
    fails(inside("classes", folder / "m", *options), code=2)


def test_u017_u104_wrong_files(inside, folder, questions, tmp_path, samples):
    (tmp_path / "empty").write_text("")
    fails(inside("classes", questions), "this is a model of kind 'rpa', expected a hidden Markov tree model")
    for path in ("empty", samples / "vectors.txt", samples / "vectors.bin", folder / "s.conllu", "nowhere"):
        fails(inside("classes", path), str(path))


def test_info_describes_the_model(inside, folder):
    found = json.loads(succeeds(inside("info", folder / "labelled", "--json")))
    assert found["kind"] == "hmtm" and found["parameters"]["states"] == 6 and found["label_names"][0] == "-*-"
