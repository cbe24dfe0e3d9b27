"""``--summary``, ``--intervals`` and ``--against`` of all evaluations that have them."""

from __future__ import annotations

import json
import os
import threading

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr

from tests.cli.conftest import fails, succeeds
from wordkit.formats.vectors import read_vectors, write_vectors


@pytest.fixture
def noisy(samples, tmp_path):
    """Vectors that are worse than the sample's, without the last 100 words."""
    words, vectors = read_vectors(samples / "vectors.txt")
    rng = np.random.default_rng(1)
    worse = vectors + rng.normal(0, 0.4, vectors.shape).astype(np.float32)
    write_vectors(tmp_path / "noisy.vec", words[:500], worse[:500])
    return samples


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_similarity(inside, noisy):
    arguments = ("evaluate", "similarity", noisy / "vectors.txt", noisy / "similarity.txt", "--intervals")
    result = found(inside(*arguments, "--against", "noisy.vec", "--json"))
    assert (
        result["intervals"]["spearman"]["low"] < result["spearman"] < result["intervals"]["spearman"]["high"]
    )
    other = found(inside("evaluate", "similarity", "noisy.vec", noisy / "similarity.txt", "--json"))
    against = result["against"]
    assert against["vectors"] == "noisy.vec" and against["spearman"] == other["spearman"]
    assert against["covered"] == other["covered"] < result["covered"] == 240
    difference = against["differences"]["spearman"]
    assert difference["compared"] == other["covered"] and 0 < difference["p_value"] < 0.01
    # the same numbers again, and others with another seed
    assert found(inside(*arguments, "--against", "noisy.vec", "--json"))["against"] == against
    assert found(inside(*arguments, "--seed", 2, "--json"))["intervals"] != result["intervals"]


def test_difference_is_on_common_items(inside, noisy, tmp_path):
    words, vectors = read_vectors(noisy / "vectors.txt")
    write_vectors(tmp_path / "part.vec", words[:300], vectors[:300])
    arguments = (
        "evaluate",
        "similarity",
        noisy / "vectors.txt",
        noisy / "similarity.txt",
        "--against",
        "part.vec",
    )
    difference = found(inside(*arguments, "--json"))["against"]["differences"]["spearman"]
    assert difference["difference"] == pytest.approx(0, abs=1e-12) and difference["p_value"] == 1.0
    assert 0 < difference["compared"] < 240


def test_analogy(inside, noisy):
    arguments = (
        "evaluate",
        "analogy",
        noisy / "vectors.txt",
        noisy / "analogies.txt",
        "--against",
        "noisy.vec",
        "--json",
    )
    result = found(inside(*arguments, "--intervals"))
    differences = result["against"]["differences"]
    assert set(differences) == {"accuracy", "semantic", "syntactic"} == set(result["intervals"])
    compared = differences["accuracy"]["compared"]
    assert differences["semantic"]["compared"] + differences["syntactic"]["compared"] == compared <= 274
    assert differences["accuracy"]["difference"] > 0 and differences["accuracy"]["p_value"] < 0.05
    outputs = found(
        inside(*arguments, "--output-vectors", noisy / "vectors.txt", "--against-outputs", "noisy.vec")
    )
    assert outputs["against"]["differences"]["log_likelihood"]["compared"] > 0
    fails(inside(*arguments, "--against-outputs", "noisy.vec"), "goes with", code=2)


def test_sentences(inside, noisy):
    pytest.importorskip("sklearn")
    sets = [noisy / f"reviews.{name}.txt" for name in ("train", "dev", "test")]
    run = inside(
        "evaluate",
        "sentences",
        noisy / "vectors.txt",
        *sets,
        "--against",
        "noisy.vec",
        "--intervals",
        "--summary",
    )
    header, row = (line.split("\t") for line in succeeds(run).splitlines())
    numbers = dict(zip(header, row, strict=True))
    assert float(numbers["accuracy_low"]) < float(numbers["accuracy"]) < float(numbers["accuracy_high"])
    assert float(numbers["accuracy_difference"]) > 0 and 0 < float(numbers["accuracy_p_value"]) < 1


def test_classification_and_likelihood_in_one_table(inside, questions, shared):
    data = shared / "data_samples" / "questions.test.txt"
    run = inside("evaluate", "classification", questions, data, data, "--summary", "--intervals")
    lines = [line.split("\t") for line in succeeds(run).splitlines()]
    assert lines[0][:6] == ["data", "accuracy", "accuracy_low", "accuracy_high", "macro_f1", "micro_f1"]
    assert [line[0] for line in lines[1:]] == [str(data), str(data), "mean"] and lines[3][2:4] == ["", ""]


def test_mcnemar_on_what_each_has_right(inside, tmp_path):
    (tmp_path / "a.vec").write_text("5 2\na 1 0\nb 0 1\nc 1 0.1\nd 0.1 1\nx 1 1\n")
    (tmp_path / "b.vec").write_text("5 2\na 1 0\nb 0 1\nc 0.1 1\nd 1 0.1\nx 1 1\n")
    rows = "".join(f"{i},a _____,c,d\n" for i in range(12))
    (tmp_path / "q.csv").write_text("id,question,a),b)\n" + rows)
    (tmp_path / "k.csv").write_text("".join(f"{i},{'b' if i == 0 else 'a'}\n" for i in range(12)))
    run = inside(
        "evaluate", "completion", "a.vec", "q.csv", "--answers", "k.csv", "--against", "b.vec", "--json"
    )
    difference = found(run)["against"]["differences"]["accuracy"]
    assert difference["p_value"] == pytest.approx(binomtest(1, 12).pvalue)
    assert difference["difference"] == pytest.approx(10 / 12)


@pytest.mark.realdata
def test_equals_scipy_on_the_real_sets(inside, real_data, tmp_path):
    """Random vectors for all words of WordSim-353 and SimLex-999: the correlations are SciPy's, to 1e-6."""
    from wordkit.formats.word_pairs import read_word_pairs

    sets = [real_data / "wordsim" / f"EN-{name}.txt" for name in ("WS-353-ALL", "SIMLEX-999")]
    pairs = [read_word_pairs(path) for path in sets]
    words = sorted({word for each in pairs for word in (*each.first, *each.second)})
    vectors = np.random.default_rng(0).normal(size=(len(words), 12)).astype(np.float32)
    write_vectors(tmp_path / "r.vec", words, vectors)
    _, vectors = read_vectors(tmp_path / "r.vec")
    at = {word: vectors[i].astype(float) for i, word in enumerate(words)}
    results = found(inside("evaluate", "similarity", "r.vec", *sets, "--json"))["results"]
    for each, result in zip(pairs, results, strict=True):
        cosines = [
            at[a] @ at[b] / np.linalg.norm(at[a]) / np.linalg.norm(at[b])
            for a, b in zip(each.first, each.second, strict=True)
        ]
        assert result["spearman"] == pytest.approx(spearmanr(cosines, each.scores)[0], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "data", "more"),
    [
        ("similarity", ["similarity.txt"], ["--unknown", "mean", "--ignore-case", "--restrict-vocab", "300"]),
        ("analogy", ["analogies.txt"], ["--against", "v.npz"]),
        ("bless", ["relations.txt"], []),
        ("supersense", ["supersenses.conllulex"], ["--unlexicalized", "--cv", "2"]),
    ],
)
def test_mapped_vectors_give_the_same_numbers(inside, samples, name, data, more):
    assert inside("convert", samples / "vectors.txt", "v.npz").returncode == 0
    sets = [samples / each for each in data]
    places = [*sets, "--vectors", "v.npz"] if name == "supersense" else ["v.npz", *sets]
    read, mapped = (inside("evaluate", name, *places, *more, *extra) for extra in ([], ["--mmap"]))
    assert read.returncode == mapped.returncode == 0, mapped.stderr
    assert read.stdout == mapped.stdout


@pytest.mark.parametrize(
    ("name", "data", "metric"),
    [("bless", "relations.txt", "average_precision"), ("composition", "phrases.txt", "add")],
)
def test_sets_with_parts_of_speech(inside, noisy, name, data, metric):
    """Concepts, or judgements, that both have; with the same vectors nothing differs."""
    arguments = ("evaluate", name, noisy / "vectors.txt", noisy / data, "--json", "--against")
    first = found(inside(*arguments, "noisy.vec"))
    alone = found(inside("evaluate", name, "noisy.vec", noisy / data, "--json"))
    assert first["against"][metric] == alone[metric] and first["against"]["covered"] == alone["covered"]
    difference = first["against"]["differences"][metric]
    assert difference["compared"] > 1 and 0 < difference["p_value"] <= 1
    same = found(inside(*arguments, noisy / "vectors.txt"))["against"]["differences"][metric]
    assert same["difference"] == 0 and same["p_value"] == 1
    fails(
        inside(*arguments, "noisy.vec", "--transition", "x.model"),
        "--transition is of the model of VEC",
        code=2,
    )


ENTITIES = "Ann B-PER\nsaw O\nRome B-LOC\n\nhe O\nmet O\nAnn B-PER\n\nBob B-PER\nsaw O\nRome O\n\n"


def test_ner_by_sentences(inside, tmp_path):
    pytest.importorskip("pycrfsuite")
    (tmp_path / "train").write_text(ENTITIES * 4)
    (tmp_path / "test").write_text(ENTITIES.replace("Ann", "Eve") * 5)
    (tmp_path / "good.vec").write_text("6 2\nAnn 1 0\nBob 1 0\nEve 1 0\nRome 0 1\nsaw 0 0.1\nmet 0 0.1\n")
    (tmp_path / "bad.vec").write_text("6 2\nAnn 1 0\nBob 1 0\nEve 0 0.1\nRome 0 1\nsaw 0 0.1\nmet 0 0.1\n")
    command = ("evaluate", "ner", "train", "test", "--unlexicalized", "--window", "0", "--json")
    alone = [found(inside(*command, "--vectors", name)) for name in ("good.vec", "bad.vec")]
    arguments = (*command, "--vectors", "good.vec", "--against", "bad.vec", "--intervals")
    result = found(inside(*arguments))
    assert set(result["intervals"]) == {"precision", "recall", "f1", "accuracy"}
    assert result["intervals"]["f1"]["low"] <= result["f1"] <= result["intervals"]["f1"]["high"]
    assert result["against"]["vectors"] == "bad.vec" and result["against"]["f1"] == alone[1]["f1"]
    difference = result["against"]["differences"]["f1"]
    assert difference["difference"] == pytest.approx(alone[0]["f1"] - alone[1]["f1"])
    assert difference["difference"] > 0.2 and difference["p_value"] < 0.01 and difference["compared"] == 15
    again = found(inside(*arguments))
    assert (again["intervals"], again["against"]) == (result["intervals"], result["against"])
    other = found(inside(*arguments, "--seed", 2))
    assert other["signature"] != result["signature"] and other["f1"] == result["f1"]
    words = found(inside(*command[:4], "--json", "--against", "good.vec"))  # do vectors help?
    assert words["against"]["f1"] >= words["f1"]


def test_ner_without_entities_or_with_one_sentence(inside, tmp_path):
    (tmp_path / "none").write_text("a O O\n\nb O O\n")
    given = ("evaluate", "ner", "--method", "given", "--intervals")
    result = found(inside(*given, "none", "--json"))
    assert result["f1"] is None and result["intervals"]["f1"] == {"low": None, "high": None}
    assert result["intervals"]["accuracy"] == {"low": 1.0, "high": 1.0}
    (tmp_path / "one").write_text("a B-P B-P\nb O O\n")
    result = found(inside(*given, "one", "--json"))
    assert result["f1"] == 1 and result["intervals"]["f1"] == {"low": None, "high": None}
    lines = succeeds(inside(*given, "none", "one", "--summary")).splitlines()
    assert lines[0].split("\t")[:2] == ["data", "precision"] and "f1_low" in lines[0] and len(lines) == 4
    run = inside(*given, "one", "--against", "nowhere.vec")
    succeeds(run)
    assert b"--against means nothing to --method given" in run.stderr


def test_supersenses_by_sentences(inside, samples):
    pytest.importorskip("sklearn")
    command = ("evaluate", "supersense", samples / "supersenses.conllulex", "--cv", "2", "--json")
    result = found(inside(*command, "--against", samples / "vectors.txt", "--intervals"))
    assert set(result["intervals"]) == {"accuracy", "noun_accuracy", "verb_accuracy"}
    other = found(inside(*command, "--vectors", samples / "vectors.txt"))
    sentences = {difference["compared"] for difference in result["against"]["differences"].values()}
    assert len(sentences) == 1 and 50 < sentences.pop() < 485  # of all folds
    difference = result["against"]["differences"]["accuracy"]
    assert difference["difference"] == pytest.approx(result["accuracy"] - other["accuracy"])
    assert difference["difference"] < 0 and difference["p_value"] < 0.05
    assert result["intervals"]["accuracy"]["low"] < result["accuracy"]


def test_likelihood_by_sentences(inside, tmp_path):
    (tmp_path / "text").write_text("a b c\nb a\n" * 6 + "c c\n")
    for name, states, data in (("m", "4", "text"), ("n", "1", "text"), ("other", "2", "more")):
        (tmp_path / "more").write_text("a d\na d\n")
        train = (
            "train-hmtm",
            data,
            "-o",
            name,
            "--structure",
            "chain",
            "--states",
            states,
            "--method",
            "batch",
        )
        succeeds(inside(*train, "--epochs", "9", "--projection", "exact"))
    command = ("evaluate", "likelihood", "m", "text", "--json")
    result = found(inside(*command, "--against", "n", "--intervals"))
    alone = found(inside("evaluate", "likelihood", "n", "text", "--json"))
    name = "log_likelihood_per_token"
    difference = result["against"]["differences"][name]
    assert result["against"][name] == alone[name] and difference["compared"] == 13
    assert (
        difference["difference"] == pytest.approx(result[name] - alone[name]) and difference["p_value"] < 0.01
    )
    assert result["intervals"][name]["low"] < result[name] < result["intervals"][name]["high"]
    assert found(inside(*command, "--against", "n", "--intervals"))["intervals"] == result["intervals"]
    assert found(inside(*command, "--against", "m"))["against"]["differences"][name]["p_value"] == 1
    fails(inside(*command, "--against", "other"), "other: knows other words than m: their likelihoods do not")
    (tmp_path / "one").write_text("a b\n")
    one = found(inside("evaluate", "likelihood", "m", "one", "--intervals", "--json"))
    assert one["intervals"][name] == {"low": None, "high": None}


def test_against_a_pipe(inside, noisy, tmp_path):
    """A pipe can be opened once only: that is when its vectors are read."""
    os.mkfifo(tmp_path / "pipe.vec")
    writer = threading.Thread(
        target=lambda: (tmp_path / "pipe.vec").write_bytes((tmp_path / "noisy.vec").read_bytes()), daemon=True
    )
    writer.start()
    arguments = (
        "evaluate",
        "similarity",
        noisy / "vectors.txt",
        noisy / "similarity.txt",
        "--json",
        "--against",
    )
    piped = found(inside(*arguments, "pipe.vec"))["against"]
    writer.join(5)
    assert piped["spearman"] == found(inside(*arguments, "noisy.vec"))["against"]["spearman"]
