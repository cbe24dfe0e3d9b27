"""Shared fixtures: paths, the command line as a subprocess, where the real data lie."""

from __future__ import annotations

import contextlib
import fcntl
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: threads of BLAS make small matrices slower
import signal
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

from wordkit.cli import run as run_inside

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "data_samples"
# Under nohup, or behind an &, signals are ignored, by every process that a test starts too.
for _number, _action in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _action)
# How long an example takes says nothing on a busy machine.
hypothesis.settings.register_profile(
    "busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy")
REAL_DATA = Path(os.environ.get("DATA") or ROOT.parent / "shared" / "data")


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that is to find this wordkit, with its streams buffered as users have them."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", **more}


def pytest_collection_modifyitems(items):
    if not REAL_DATA.is_dir():
        for item in items:
            if "realdata" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="the real data sets are not there; set DATA=folder"))


@pytest.fixture(scope="session")
def samples() -> Path:
    return SAMPLES


@pytest.fixture(scope="session")
def real_data() -> Path:
    return REAL_DATA


@pytest.fixture
def wordkit(tmp_path):
    """Run ``wordkit ARGS`` in a process of its own, in a temporary folder; returns the CompletedProcess."""

    def run(*args, stdin: bytes | None = None, env: dict | None = None, timeout: float = 60, cwd=None):
        return subprocess.run(
            [sys.executable, "-m", "wordkit", *map(str, args)],
            check=False,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=cwd or tmp_path,
            env=environment(**(env or {})),
            timeout=timeout,
        )

    return run


@contextlib.contextmanager
def _standard_input(data: bytes | None):
    """Descriptor 0 and ``sys.stdin`` as ``wordkit`` gives them to a process: a pipe that holds the data, or no input at all."""
    if data is None:
        source = os.open(os.devnull, os.O_RDONLY)
    else:
        source, target = os.pipe()
        if len(data) > 1 << 16:  # what any pipe takes without a reader
            fcntl.fcntl(target, fcntl.F_SETPIPE_SZ, len(data))
        with open(target, "wb", buffering=0) as pipe:
            assert pipe.write(data) == len(data)
    kept, before = os.dup(0), sys.stdin
    os.dup2(source, 0)
    os.close(source)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stdin.close()
        sys.stdin = before
        os.dup2(kept, 0)
        os.close(kept)


@pytest.fixture
def inside(tmp_path, monkeypatch, capfdbinary):
    """As the fixture ``wordkit``, but in this process: ten times as fast.

    For all that needs no process of its own: signals, closed streams, locales and limits do, and so does what is written while
    more than a pipe's megabyte of input comes.
    """

    def run(*args, stdin: bytes | None = None, cwd=None) -> subprocess.CompletedProcess:
        monkeypatch.chdir(cwd or tmp_path)
        capfdbinary.readouterr()
        with _standard_input(stdin):
            code = run_inside(list(map(str, args)))
        out, err = capfdbinary.readouterr()
        return subprocess.CompletedProcess(args, code, out, err)

    return run
