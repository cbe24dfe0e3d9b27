"""Smoke test of the experiment on reranked parses, on the sample treebank."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from tests.benchmarks import experiment_nbest
from tests.conftest import environment
from wordkit.cli import run


@pytest.fixture
def data(tmp_path, samples, monkeypatch):
    sentences = (samples / "trees.conllu").read_text().split("\n\n")
    for name, lo, hi in (("train", 0, 120), ("dev", 120, 150), ("test", 150, 200)):
        (tmp_path / f"{name}.conllu").write_text("".join(text + "\n\n" for text in sentences[lo:hi]))
    treebanks = {
        "with dev": ("train.conllu", "dev.conllu", "test.conllu", ()),
        "without": ("train.conllu", None, "test.conllu", ("--tag-column", "xpos")),
    }
    monkeypatch.setattr(experiment_nbest, "TREEBANKS", treebanks)
    monkeypatch.setattr(experiment_nbest, "SEEDS", (1, 2))
    few = {name: settings[:1] for name, settings in experiment_nbest.SETTINGS.items()}
    monkeypatch.setattr(experiment_nbest, "SETTINGS", few)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def mostly_inside(monkeypatch):
    """One command in a process of its own, as in the experiment; the forty others in this one, in a tenth of the time."""
    alone, calls = experiment_nbest.wordkit, []

    def wordkit(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            return alone(*arguments)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = run(["-q", *map(str, arguments), "--json"])
        assert code == 0, arguments
        return json.loads(out.getvalue())

    monkeypatch.setattr(experiment_nbest, "wordkit", wordkit)


@pytest.mark.usefixtures("mostly_inside")
def test_a_row_for_the_parser_each_reranker_and_the_best_choices(data, tmp_path, capsys):
    output = tmp_path / "out" / "nbest"
    nbest = "--nbest=--n 8 --folds 2 --epochs 2 --hash-bits 14 --min-feature-count 2 --threads 1"
    experiment_nbest.main(["--data", str(data), "--output", str(output), "--epochs", "2", nbest])
    rows = [line.split("\t") for line in output.with_suffix(".tsv").read_text().splitlines()]
    assert rows[0] == list(experiment_nbest.COLUMNS)
    assert [row[1] for row in rows[1:]] == 2 * ["the parser", *experiment_nbest.SETTINGS, "best choices"]
    for first in (1, 6):
        worst, *_, best = (float(row[2]) for row in rows[first : first + 5])
        assert 50 < worst < best <= 100
        assert all(float(row[2]) <= best for row in rows[first : first + 5])
