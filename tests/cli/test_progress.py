"""Progress lines where there is no terminal: with --quiet none, from whichever thread; with --verbose each epoch's record."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import click
import pytest

from wordkit.cli import report


@pytest.mark.parametrize("flags", [{"quiet": True}, {"verbose": True}, {}], ids=str)
def test_other_threads_know_the_flags(flags, monkeypatch, capsys):
    monkeypatch.setattr(report, "LINE_SECONDS", 0.0)
    with click.Context(click.Command("c"), obj=flags):
        monitor = report.ProgressMonitor("c")
        monitor.begin(10, "words")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(monitor.advance, 5).result()
            pool.submit(monitor.epoch, {"epoch": 1}).result()
        monitor.close()
    lines = capsys.readouterr().err.splitlines()
    expected = {"quiet": [], "verbose": ["5 of 10", "epoch 1"]}.get(next(iter(flags), ""), ["5 of 10"])
    assert len(lines) == len(expected) and all(b in a for a, b in zip(lines, expected, strict=True)), lines
