"""Smoke test of the dcme experiment, on the samples under the names of the real data, and of what its tables ask of curves."""

from __future__ import annotations

import gzip
import shutil

import pytest

from tests.benchmarks import experiment_dcme
from tests.benchmarks.dcme_rows import CurvePoint, Rows, Watch, best, curve_table, last


@pytest.fixture
def data(tmp_path, samples):
    for folder in ("text", "analogy", "trec"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    corpus = (samples / "corpus.txt").read_bytes().splitlines(keepends=True)
    for name, lines in (("brown", corpus[:200]), ("brown.heldout", corpus[200:210])):
        (tmp_path / "data/text" / f"{name}.txt.gz").write_bytes(gzip.compress(b"".join(lines)))
    shutil.copy(samples / "analogies.txt", tmp_path / "data/analogy/questions-words.txt")
    for name in ("train", "test"):
        lines = (samples / f"reviews.{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:60]
        (tmp_path / "data/trec" / f"{name}.fine.txt").write_text("".join(lines), encoding="utf-8")
    return tmp_path / "data"


def test_tables_are_made_once(data, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(experiment_dcme, "RATES", {"dcme": (0.1,), "nce": (0.3,), "ns": (0.05,)})
    monkeypatch.setattr(experiment_dcme, "CLASS_RATES", {"trec": (1.0,), "words": (0.5,)})
    monkeypatch.setattr(experiment_dcme, "curves_figure", lambda *_, **__: None)
    output = tmp_path / "out"
    given = ["--data", str(data), "--output", str(output), "--texts", "brown", "--epochs", "2", "--min-count", "1",
             "--class-epochs", "2", "--rows", "100", "--least", "3", "--seeds", "1", "--clusters", "3"]  # fmt: skip
    experiment_dcme.main(given)
    text = (output / "tables.md").read_text(encoding="utf-8")
    for expected in (
        "Figure 2a",
        "Figure 2b",
        "Table 1",
        "| nce, rate 0.",
        "| dcme printed, Q = 0 | 1 |",
        "| unigram |",
        "| 3 | ",
    ):
        assert expected in text
    assert "nan" not in text.replace("nance", "")
    written = {path.name: path.read_bytes() for path in output.glob("*.tsv")}
    assert written.keys() == {"brown.tsv", "trec.tsv", "words.tsv", "variance.tsv", "clusters.tsv"}
    monkeypatch.setattr(experiment_dcme.Text, "train", None)  # nothing is trained again
    monkeypatch.setattr(experiment_dcme.Classes, "train", None)
    capsys.readouterr()
    experiment_dcme.main(given)
    assert (output / "tables.md").read_text(encoding="utf-8") == text == capsys.readouterr().out
    assert written == {path.name: path.read_bytes() for path in output.glob("*.tsv")}


def test_what_has_run_away_has_no_curve(tmp_path):
    rows = Rows(tmp_path)
    assert rows.run("a", "dcme", list) == [] and rows.curves("a") == {}


def test_scoring_stops_the_clock(monkeypatch):
    clock = iter([0.0, 1.0, 11.0, 13.0, 20.0])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    watch = Watch(lambda at_end: {"a": 1.0, **({"b": 2.0} if at_end else {})}, 2)
    watch.epoch({"epoch": 1})
    watch.epoch({"epoch": 2})
    assert watch.points == [CurvePoint(1, "a", 1, 1), CurvePoint(2, "a", 1, 3), CurvePoint(2, "b", 2, 3)]


def test_best_rate_is_that_of_the_last_epoch(tmp_path):
    rows = Rows(tmp_path)
    runs = {
        "nce": (0.0, -5.0),
        "nce, rate 1": (-9.0, -4.0),
        "nce, rate 2": (-1.0, -6.0),
        "nce, rate 1, longer": (0.0, 0.0),
    }
    for name, values in runs.items():
        rows.run(
            "a", name, lambda values=values: [CurvePoint(i + 1, "m", v, i + 1) for i, v in enumerate(values)]
        )
    curves = rows.curves("a")
    assert best(curves, "nce", "m") == "nce, rate 1" and last(curves["nce"], "m") == -5
    assert list(curve_table({"nce": curves["nce"]}, "m"))[-1] == "| nce | 0.000 | -5.000 | 1.00 |"
