"""The experiment of all evaluations: its calls are ones that the commands take, results are kept, the table is whole."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import click
import pytest

from tests.benchmarks import experiment_evaluate
from wordkit.cli import cli


@pytest.fixture
def data(tmp_path):
    """A folder with the names of the data sets; nothing reads them here."""
    names = [name for evaluation in experiment_evaluate.EVALUATIONS for name in evaluation.files]
    for name in names:
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("x")
    (tmp_path / "data/text").mkdir()
    (tmp_path / "data/text/a.txt.gz").write_bytes(gzip.compress("Ärger A\n".encode()))
    return tmp_path / "data"


@pytest.fixture
def calls(monkeypatch):
    """Commands are parsed, not run: each writes its output, and has a number under every key."""
    called: list[tuple[str, ...]] = []

    def results(*arguments):
        words = [str(argument) for argument in arguments]
        group = cli.get_command(click.Context(cli), words[0])
        command, rest = group, words[1:]
        if isinstance(group, click.Group):
            command, rest = group.get_command(click.Context(group), rest[0]), rest[1:]
        given = command.make_context(words[0], list(rest)).params
        called.append(tuple(words))
        for name in ("output", "vectors_out"):
            if given.get(name):
                Path(given[name]).write_text("x")
        numbers = {
            key: len(called) / 100
            for evaluation in experiment_evaluate.EVALUATIONS
            for _, key in evaluation.numbers.values()
        }
        return {"results": [numbers] * 6}

    monkeypatch.setattr(experiment_evaluate, "results", results)
    return called


def test_every_method_has_all_numbers_and_goes_on(data, calls, tmp_path, capsys):
    output = tmp_path / "out"
    given = ["--data", str(data), "--output", str(output), "--texts", "a"]
    experiment_evaluate.main(given)
    assert (output / "text.txt").read_text(encoding="utf-8") == "ärger a\n"
    table = capsys.readouterr().out
    assert (output / "table.md").read_text() == table
    has_dcme = "dcme" in cli.list_commands(click.Context(cli))
    methods = ["Brown clusters", "HMM", "FOREST", "SVD", *(["DCME"] if has_dcme else [])]
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    assert lines[0] == ["", *methods]
    rows = {line[0]: line[1:] for line in lines[2:]}
    expected = [name for evaluation in experiment_evaluate.EVALUATIONS for name in evaluation.numbers]
    assert set(rows) == {*expected, experiment_evaluate._SECONDS}
    for name, cells in rows.items():
        with_clusters = name.startswith(
            ("entities", "with words", "supersenses", "nouns", "verbs", "processor")
        )
        assert (cells[0] != "") == (with_clusters and "classes" not in name and "context" not in name), name
        assert all(cells[1:]), name
    of_hmm = [call for call in calls if "hellinger" in call]
    assert len(of_hmm) == 5 and all("HMM.vec" in call[2] for call in of_hmm)
    count = len(calls)
    (output / "FOREST.bless.json").unlink()
    experiment_evaluate.main(given)
    assert len(calls) == count + 1 and calls[-1][:2] == ("evaluate", "bless")


def test_a_peer_that_is_not_there_is_left_out(data, calls, tmp_path, capsys):
    peer = tmp_path / "python"
    peer.write_text("#!/bin/sh\necho no gensim >&2\nexit 1\n")
    peer.chmod(0o755)
    given = [
        "--data",
        str(data),
        "--output",
        str(tmp_path / "out"),
        "--texts",
        "a",
        "--methods",
        "SVD",
        "CBOW",
    ]
    experiment_evaluate.main([*given, "--peer-python", str(peer)])
    found = capsys.readouterr()
    assert found.out.startswith("|  | SVD |\n") and "CBOW is left out: no gensim" in found.err
    assert json.loads((tmp_path / "out" / "SVD.seconds.json").read_text()) >= 0


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--dim", "100"], "--dim is 100, expected a multiple of 13"),
        (["--texts", "b"], "--data: there is no "),
    ],
)
def test_wrong_arguments_are_told(data, more, says, capsys):
    with pytest.raises(SystemExit) as stop:
        experiment_evaluate.main(["--data", str(data), "--texts", "a", *more])
    assert stop.value.code == 2 and says in capsys.readouterr().err
