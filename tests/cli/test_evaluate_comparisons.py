"""``--summary``, ``--intervals`` and ``--against`` of all evaluations that have them."""

from __future__ import annotations

import json

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
