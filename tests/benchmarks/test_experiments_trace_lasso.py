"""Smoke test of the trace Lasso's experiment: rows, going on after an interruption, figures."""

from __future__ import annotations

import pytest

from tests.benchmarks import experiment_trace_lasso as experiment

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
