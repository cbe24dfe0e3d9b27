"""Smoke tests of the experiments on tree models, on the sample treebank under the names of the real ones."""

import shutil

import pytest

from tests.benchmarks import experiment_hmtm, experiment_hmtm_approximation

pytest.importorskip("matplotlib")


@pytest.fixture
def data(tmp_path, samples):
    for train, dev, test in experiment_hmtm.TREEBANKS.values():
        for name in filter(None, (train, dev, test)):
            path = tmp_path / "data" / name.removesuffix(".gz")
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(samples / "trees.conllu", path)
    (tmp_path / "data/wordsim").mkdir()
    shutil.copy(samples / "similarity.txt", tmp_path / "data" / experiment_hmtm.SIMILARITY)
    return tmp_path / "data"


@pytest.fixture
def plain_names(monkeypatch):
    plain = {
        key: tuple(name and name.removesuffix(".gz") for name in names)
        for key, names in experiment_hmtm.TREEBANKS.items()
    }
    monkeypatch.setattr(experiment_hmtm, "TREEBANKS", plain)
    for name in ("TRAIN", "HELDOUT"):
        monkeypatch.setattr(experiment_hmtm_approximation, name, plain["ud"][0])
    monkeypatch.setattr(experiment_hmtm_approximation, "GAMMAS", (0.7,))


def test_a_row_for_each_setting(data, plain_names, tmp_path, capsys):
    output = tmp_path / "out" / "hmtm"
    given = ["--data", str(data), "--output", str(output), "--seeds", "1", "--epochs", "1", "--states", "4"]
    experiment_hmtm.main(given)
    lines = output.with_suffix(".tsv").read_text().splitlines()
    assert lines[0].split("\t") == list(experiment_hmtm.COLUMNS)
    assert len(lines) == 1 + 2 * (3 + 2)
    for line in lines[1:]:
        row = dict(zip(experiment_hmtm.COLUMNS, line.split("\t"), strict=True))
        assert -7 < float(row["log_likelihood"]) < -3
        assert float(row["perplexity"]) > 20


def test_curves_supports_and_figures(data, plain_names, tmp_path, capsys):
    output = tmp_path / "approximation"
    given = ["--data", str(data), "--output", str(output), "--states", "20", "--epochs", "1"]
    experiment_hmtm_approximation.main(given)
    printed = capsys.readouterr().out
    assert "exact is ahead of k = 16 by at most" in printed
    for suffix in ("", ".support"):
        assert (tmp_path / f"approximation{suffix}.png").read_bytes().startswith(b"\x89PNG")
    assert "classes_kept" in (tmp_path / "approximation.support.tsv").read_text()
