"""Smoke tests of the experiment scripts, on data that take a moment."""

import pytest

from tests.benchmarks import experiment_rpa, experiment_rpa_noise
from wordkit.errors import WordkitError


@pytest.fixture
def folder(tmp_path, samples):
    """The sample questions under the names of the real ones."""
    (tmp_path / "data" / "trec").mkdir(parents=True)
    for part in ("train", "test"):
        lines = (samples / f"questions.{part}.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "data" / "trec" / f"{part}.txt").write_text("".join(lines[:60]), encoding="utf-8")
    return tmp_path


@pytest.fixture
def small_grids(monkeypatch):
    grid = {"C": (1.0,), "lam": (0.01, 0.1), "epochs": (1, 2)}
    monkeypatch.setattr(experiment_rpa, "PAPER_GRID", grid)
    monkeypatch.setattr(experiment_rpa, "EPOCHS", {"3": (1, 2), "4": (1,)})
    monkeypatch.setattr(experiment_rpa, "BEYOND_GRID", grid)


def arguments(folder, *more):
    output = folder / "results" / "rpa.tsv"
    fixed = ["--datasets", "trec", "--folds", "2", "--seeds", "2", "--threads", "1"]
    return output, ["--data", str(folder / "data"), "--output", str(output), *fixed, *more]


def test_tables_are_written_and_resumed(folder, small_grids, capsys):
    output, given = arguments(folder, "--rows", "quick", "--dims", "50")
    experiment_rpa.main(given)
    text = output.read_text()
    lines = [
        dict(zip(experiment_rpa.COLUMNS, line.split("\t"), strict=True)) for line in text.splitlines()[1:]
    ]
    assert {(line["table"], line["method"]) for line in lines} == {
        (table, method + departure)
        for table in "34"
        for method, departures in (
            ("pa-onehot", ("", " --average", " --lowercase")),
            ("rpa", ("", " --average", " --update printed")),
            ("rpa --update embedding-first", ("", " --average", " --lowercase")),
        )
        for departure in departures
    }
    assert {line["epochs"] for line in lines if line["table"] == "4"} == {"1"}
    assert all(float(x["difference"]) == pytest.approx(float(x["mean"]) - float(x["paper"])) for x in lines)
    assert output.with_suffix(".md").read_text().count("\n") == len(lines) + 2

    kept = text.splitlines(keepends=True)
    output.write_text("".join(kept[:-1]))  # as if the run had been interrupted before its last row
    capsys.readouterr()
    experiment_rpa.main(given)
    again = output.read_text().splitlines(keepends=True)
    assert again[:-1] == kept[:-1]
    assert again[-1].split("\t")[:-1] == kept[-1].split("\t")[:-1]  # all but the seconds
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_rows_beyond_the_paper(folder, small_grids):
    output, given = arguments(folder, "--rows", "all", "--dims", "50", "--vocabulary", "train")
    experiment_rpa.main(given)
    rows = [line.split("\t") for line in output.read_text().splitlines()[1:]]
    assert sum(row[1] == "beyond" for row in rows) == len(experiment_rpa.BEYOND)
    assert {row[2] for row in rows} == {"train"}
    assert "rpa --average --min-count 1 --ngrams 2" in {row[3] for row in rows}


def test_columns_of_another_program_are_refused(folder):
    output, given = arguments(folder)
    output.parent.mkdir()
    output.write_text("a\tb\n")
    with pytest.raises(WordkitError, match="its columns are not"):
        experiment_rpa.main(given)


@pytest.mark.parametrize(
    "wrong", [["--data", ""], ["--data", "nowhere"], ["--data", ".", "--datasets", "none"]]
)
def test_wrong_arguments_are_told(wrong, capsys):
    with pytest.raises(SystemExit) as stop:
        experiment_rpa.main(wrong)
    assert stop.value.code == 2
    assert "error: --da" in capsys.readouterr().err


def test_noise_writes_results_and_figures(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("DISPLAY", "bad:0")
    small = ["--samples", "20", "--words", "10", "--most-noise", "0.4", "--step", "0.2"]
    experiment_rpa_noise.main(["--output", str(tmp_path / "out" / "noise"), "--initializations", "1", *small])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "noise.tsv", "noise.points.tsv", "noise.figure1.png", "noise.figure2.png",
    }  # fmt: skip
    lines = (tmp_path / "out" / "noise.tsv").read_text().splitlines()
    assert lines == capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["0\tpa\t1.0000\t0.0000", "0\trpa\t1.0000\t0.0000"]
    assert [line.split("\t")[0] for line in lines[1::2]] == ["0", "0.2", "0.4"]
    points = (tmp_path / "out" / "noise.points.tsv").read_text().splitlines()
    assert len(points) == 202 and points[-1].startswith("weights\t\t")
