"""Smoke test of the experiment of tensor-MIRA, on the sample lists."""

from __future__ import annotations

import gzip

import pytest

from tests.benchmarks import experiment_tmira

pytest.importorskip("matplotlib")


@pytest.fixture
def folder(tmp_path, samples):
    """The sample lists and counts under the names of the real ones."""
    nbest = tmp_path / "nbest"
    nbest.mkdir()
    lines = [line for line in (samples / "nbest.txt").read_text().splitlines(keepends=True) if line[0] != "#"]
    counts = (samples / "nbest.counts").read_text().splitlines(keepends=True)
    pieces = {
        "nbest.train-1.gz": lines[:200],
        "nbest.train-2.gz": lines[200:400],
        "nbest.dev.gz": lines[400:],
    }
    for name, piece in {**pieces, "counts.train.gz": counts[:400], "counts.dev.gz": counts[400:]}.items():
        (nbest / name).write_bytes(gzip.compress("".join(piece).encode()))
    return tmp_path


def test_tables_and_figures_are_written_and_resumed(folder, monkeypatch):
    monkeypatch.setattr(experiment_tmira, "TENSOR_C", (1e-2, 1e-1))
    monkeypatch.setattr(experiment_tmira, "VECTOR_C", (1e-2, 1e-1))
    monkeypatch.setattr(experiment_tmira, "THRESHOLDS", (2,))
    output = folder / "results"
    given = [
        "--data",
        str(folder),
        "--output",
        str(output),
        "--seeds",
        "2",
        "--epochs",
        "2",
        "--shares",
        "0.25",
        "1",
    ]
    experiment_tmira.main([*given, "--parts", "figures", "printed", "ideas"])
    for name in ("figure3.png", "figure4.png", "figure3.tsv", "printed.md", "ideas.md"):
        assert (output / name).stat().st_size > 100
    text = (output / "runs.tsv").read_text()
    rows = [line.split("\t") for line in text.splitlines()]
    assert tuple(rows[0]) == experiment_tmira.COLUMNS
    assert {row[1] for row in rows[1:] if row[0] == "printed"} == {
        name for name, _, _ in experiment_tmira.table_methods("model", False)
    }
    assert all(0 <= float(row[7]) <= 100 for row in rows[1:])
    experiment_tmira.main([*given, "--parts", "printed"])
    assert (output / "runs.tsv").read_text() == text
