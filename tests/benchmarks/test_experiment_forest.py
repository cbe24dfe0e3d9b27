"""Smoke test of the sparse coding experiment, on the samples under the names of the real data."""

from __future__ import annotations

import gzip
import shutil

import pytest

from tests.benchmarks import experiment_forest, experiment_forest_figures, forest_rows
from tests.cli.conftest import made
from wordkit.errors import WordkitError
from wordkit.formats.forest import read_forest

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")


@pytest.fixture
def data(tmp_path, samples):
    for folder in ("text", "wordsim", "analogy", "sentence_polarity"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    corpus = (samples / "corpus.txt").read_bytes()
    for name in ("mixed", "brown"):
        (tmp_path / "data/text" / f"{name}.txt.gz").write_bytes(gzip.compress(corpus))
    for name in forest_rows.SETS:
        shutil.copy(samples / "similarity.txt", tmp_path / "data/wordsim" / name)
    shutil.copy(samples / "analogies.txt", tmp_path / "data/analogy/questions-words.txt")
    for name in ("train", "dev", "test"):
        lines = (samples / f"reviews.{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:80]
        (tmp_path / "data/sentence_polarity" / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    return tmp_path / "data"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Fewer rows, words that the sample has, real scores of the first row alone, and two commands in processes of their own."""
    in_a_process = forest_rows.wordkit

    def called(*arguments, stdin: str | None = None) -> str:
        if arguments[0] == "cooccur" or stdin is not None:
            return in_a_process(*arguments, stdin=stdin)
        made(tmp_path, "-q", *arguments, stdout="printed")
        return (tmp_path / "printed").read_text(encoding="utf-8")

    for module in (forest_rows, experiment_forest_figures):
        monkeypatch.setattr(module, "wordkit", called)
    scores, found = forest_rows.Rows._scores, []

    def first_scores(rows, vectors):
        found[:] = found or [scores(rows, vectors)]
        return found[0]

    monkeypatch.setattr(forest_rows.Rows, "_scores", first_scores)
    kept = ("PCA^1", "CBOW", "SC", "FOREST", "binary")
    monkeypatch.setattr(experiment_forest, "METHODS", {k: experiment_forest.METHODS[k] for k in kept})
    why = {"FOREST, axes^0": ("FOREST", 0.0), "FOREST, sgd": ("--algorithm", "sgd", "--epochs", "1")}
    monkeypatch.setattr(experiment_forest, "WHY", why)
    monkeypatch.setattr(experiment_forest_figures, "HEAT_MAPS", {"animals": ["dog", "cat", "nowhere"]})
    monkeypatch.setattr(experiment_forest_figures, "TREES", ("dog", "cat"))
    monkeypatch.setattr(
        experiment_forest_figures, "GROUPS", {"good": ["dog", "cat"], "bad": ["the", "nowhere", "a"]}
    )


def test_tables_and_figures_are_made_once(data, small, tmp_path, capsys):
    output = tmp_path / "out"
    given = [
        "--data",
        str(data),
        "--output",
        str(output),
        "--min-count",
        "5",
        "--dims",
        "13",
        "--large",
        "26",
    ]
    given += ["--sgd-dim", "26", "--times", "13"]
    experiment_forest.main(given)
    lines = [line.split("\t") for line in (output / "rows.tsv").read_text().splitlines()]
    assert tuple(lines[0]) == forest_rows.COLUMNS
    first = ("PCA^1", "SC", "FOREST", "binary", "FOREST, axes^0", "FOREST, sgd")
    rows = [*((method, "13") for method in first), ("FOREST, sgd", "26"), ("FOREST", "26")]
    assert [(line[0], line[1]) for line in lines[1:]] == rows
    assert all(0 < float(line[8]) <= 1 for line in lines[1:] if "axes" not in line[0])
    tables = (output / "tables.md").read_text()
    assert "| M = 13 | PCA^1 | SC | FOREST | binary |" in tables and "| M = 26 | FOREST |" in tables
    assert (
        "| PCA^1 |" in tables.split("shared with PCA |")[1] and " | 13 |\n" in tables
    )  # its space is its own
    assert "million |" in tables and "figure2.animals.png: 2 words; pairs of them that agree" in tables
    assert "figure4.FOREST.png: 4 of 5 words, KL divergence" in tables
    for name in ("figure2.animals", "figure3", "figure4.FOREST"):
        assert (output / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    forest = read_forest(output / "binary.13.txt")
    assert [list(forest).count(node) for node in range(6)] == [2] * 6 and list(forest).count(-1) == 1
    written = (output / "rows.tsv").read_text()
    capsys.readouterr()
    experiment_forest.main([*given, "--parts", "table1", "why"])
    assert (output / "rows.tsv").read_text() == written
    assert capsys.readouterr().out.startswith("| M = 13 |")


def test_rescaled_codes_have_equal_axes(tmp_path, monkeypatch):
    import numpy as np

    from wordkit.formats.vectors import read_vectors, write_vectors

    rows = forest_rows.Rows(tmp_path, ["x"], tmp_path / "out")
    monkeypatch.setattr(rows, "_scores", lambda vectors: {})
    codes = np.random.default_rng(1).standard_normal((30, 4)).astype(np.float32) * [1, 2, 5, 0]
    write_vectors(rows.vectors("A", 4), [f"w{i}" for i in range(30)], codes.astype(np.float32))
    rows.rescaled("A^0", 4, "A", 0.0)
    rows.rescaled("A^1", 4, "A", 1.0)
    equal, turned = (read_vectors(rows.vectors(name, 4))[1] for name in ("A^0", "A^1"))
    np.testing.assert_allclose(equal.T @ equal, np.eye(3), rtol=0, atol=1e-5)
    np.testing.assert_allclose(turned @ turned.T, codes @ codes.T, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--data", "nowhere"], "--data: there is no "),
        (["--dims", "50"], "M is 50, expected a multiple of 13"),
    ],
)
def test_wrong_arguments_are_told(data, wrong, says, capsys):
    with pytest.raises(SystemExit) as stop:
        experiment_forest.main(["--data", str(data), *wrong])
    assert stop.value.code == 2 and says in capsys.readouterr().err


def test_columns_of_another_program_are_refused(data, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rows.tsv").write_text("a\tb\n")
    with pytest.raises(WordkitError, match="its columns are not"):
        experiment_forest.main(["--data", str(data), "--output", str(tmp_path / "out")])
