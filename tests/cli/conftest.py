"""Models and small data that the tests of the commands share."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import environment
from wordkit.cli import run as run_inside


def run_wordkit(folder, *args, **kwargs) -> subprocess.CompletedProcess:
    """``wordkit ARGS`` in a folder, for fixtures of the whole session."""
    command = [sys.executable, "-m", "wordkit", *map(str, args)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, timeout=60, check=False, env=environment(), **kwargs
    )


def made(folder, *args, stdout: str = os.devnull) -> None:
    """``wordkit ARGS > STDOUT`` in a folder, in this process: for fixtures of more than one test, which ask for files."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        with open(stdout, "w", encoding="utf-8", newline="\n") as out, contextlib.redirect_stdout(out):
            assert run_inside(list(map(str, args))) == 0, args  # pytest shows what it said
    finally:
        os.chdir(before)


def start(folder, *args, env: dict | None = None, **kwargs) -> subprocess.Popen:
    """The same, not waited for."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **kwargs}
    command = [sys.executable, "-m", "wordkit", *map(str, args)]
    return subprocess.Popen(command, cwd=folder, env=environment(**(env or {})), **pipes)


def fails(run, *parts: str, code: int = 1) -> str:
    """The message of a run that failed as it should: one line, nothing on standard output, no traceback."""
    message = run.stderr.decode()
    assert run.returncode == code, message
    assert run.stdout == b"" and "Traceback" not in message and "bug in wordkit" not in message
    if code == 1:
        last = message.splitlines()[-1]
        assert last.startswith("wordkit: error: ")
        assert message.count("error:") == 1
    for part in parts:
        assert part in message, message
    return message


def succeeds(run) -> str:
    """Standard output of a run that went well."""
    assert run.returncode == 0, run.stderr.decode()
    assert "Traceback" not in run.stderr.decode()
    return run.stdout.decode()


@pytest.fixture(scope="session")
def shared(tmp_path_factory, samples) -> Path:
    """A folder with a link to data_samples; read only by agreement."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "data_samples").symlink_to(samples)
    lines = (samples / "questions.train.txt").read_text().splitlines(keepends=True)
    (folder / "small.txt").write_text("".join(lines[:300]))
    return folder


def _trained(shared, name: str, *args) -> Path:
    made(shared, "train-rpa", *args, "-o", name)
    return shared / name


@pytest.fixture(scope="session")
def questions(shared) -> Path:
    """A model of the sample questions."""
    return _trained(shared, "questions.model", "data_samples/questions.train.txt", "--dim", "20")


@pytest.fixture(scope="session")
def reviews(shared) -> Path:
    """A model of two classes."""
    return _trained(shared, "reviews.model", "data_samples/reviews.train.txt", "--dim", "10", "--epochs", "3")


@pytest.fixture(scope="session")
def small(shared) -> Path:
    """300 documents of the questions."""
    return shared / "small.txt"


def selected(path: Path) -> list[str]:
    """Names of the coefficients that a table of trace-lasso marks as selected."""
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert lines[0] == ["name", "value", "selected"] and lines[-1][0] == "(intercept)"
    return [name for name, _, chosen in lines[1:-1] if chosen == "1"]


@pytest.fixture
def regression_data(samples):
    """Rows and targets, correlated columns among them."""
    return samples / "regression.csv", samples / "regression.y.txt"
