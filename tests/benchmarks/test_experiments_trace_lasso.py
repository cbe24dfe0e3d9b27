"""Smoke test of the trace Lasso's experiment: rows, going on after an interruption, figures."""

from __future__ import annotations

import gzip
import random

import pytest

from tests.benchmarks import experiment_trace_lasso as experiment
from tests.benchmarks import experiment_trace_lasso_real as real

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")


def test_rows_figures_and_going_on(tmp_path, monkeypatch, capsys):
    tiny = experiment.Size((8, 16, 2, 1), (10, 16), (8, 16), (2, 4), 1, 4)
    monkeypatch.setattr(experiment, "QUICK", tiny)
    given = ["--output", str(tmp_path / "out" / "t"), "--threads", "1"]
    experiment.main(given)
    assert "criterion\tdesign\tsupport\ttrace" in capsys.readouterr().out
    for number in range(1, 5):
        assert (tmp_path / "out" / f"t.quick.figure{number}.png").read_bytes().startswith(b"\x89PNG")
    path = tmp_path / "out" / "t.quick.figure4.tsv"
    whole = path.read_text()
    rows = [line.split("\t") for line in whole.splitlines()]
    assert len(rows) == 1 + 2 * 2 * (5 + 6 + 5) and all(float(row[-1]) >= 0 for row in rows[1:])
    # The last group of rows is lost: only that is computed again, to the same values.
    path.write_text("".join(whole.splitlines(keepends=True)[:-5]))
    experiment.main(given)
    assert path.read_text() == whole


def test_a_foreign_file_is_not_gone_on_with(tmp_path):
    (tmp_path / "t.quick.figure3.tsv").write_text("x\n")
    with pytest.raises(SystemExit, match="not an earlier run"):
        experiment.main(["--output", str(tmp_path / "t")])


@pytest.mark.parametrize("features", ["words", "letters"])
def test_reviews(tmp_path, features, capsys):
    draw = random.Random(1)
    (tmp_path / "imdb-small").mkdir()
    for name, lines in (("train", 40), ("dev", 80)):
        texts = [
            f"{label} {' '.join(draw.choices(['great', 'dull', 'movie', 'plot'], weights, k=9))}\n"
            for label, weights in (("pos", (4, 1, 2, 2)), ("neg", (1, 4, 2, 2)))
            for _ in range(lines // 2)
        ]
        draw.shuffle(texts)
        with gzip.open(tmp_path / "imdb-small" / f"{name}.txt.gz", "wt") as out:
            out.writelines(texts)
    output = tmp_path / "out" / "t.tsv"
    real.main(
        ["--data", str(tmp_path), "--output", str(output), "--features", features, "--documents", "40",
         "--words", "4", "--samples", "3", "--threads", "1"]
    )  # fmt: skip
    rows = [line.split("\t") for line in output.read_text().splitlines()]
    assert [row[0] for row in rows] == ["penalty", "trace", "lasso"]
    assert all(float(row[3]) > 0.6 and 0 <= float(row[4]) <= 1 for row in rows[1:])
    assert ("grea" if features == "letters" else "great") in capsys.readouterr().out
