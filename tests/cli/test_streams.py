"""Standard streams that are closed or full, signals that are ignored, options at their limits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import fails, start, succeeds
from tests.conftest import environment

TRAIN = ("train-rpa", "data_samples/reviews.train.txt", "-o", "m", "--dim", "5", "--epochs", "3")


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    return tmp_path


def shell(folder, text: str) -> subprocess.CompletedProcess:
    command = text.replace("wordkit", f"{sys.executable} -m wordkit")
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment(), capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize("standard_error", ["2> >(true)", "2>/dev/full", "2>&-"])
def test_messages_that_cannot_be_shown_do_not_end_a_training(folder, standard_error):
    run = shell(folder, f"wordkit -v {' '.join(TRAIN)} {standard_error} > /dev/null; sleep 0.1")
    assert run.returncode == 0 and (folder / "m").stat().st_size > 1000
    again = shell(folder, f"wordkit -v {' '.join(TRAIN)} --log /nowhere/log {standard_error} > /dev/null")
    assert again.returncode == 1
    assert shell(folder, f"wordkit train-rpa --nonsense {standard_error}").returncode == 2


def test_a_full_standard_output_is_named(folder):
    run = shell(folder, "wordkit info data_samples/vectors.txt > /dev/full")
    assert run.returncode == 1 and b"<stdout>: No space left" in run.stderr


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_hang_up_ends_as_an_interrupt_does(folder, number):
    process = start(folder, *TRAIN[:-1], "100000", "--checkpoint", "c", env={"PYTHONUNBUFFERED": "1"})
    while not (folder / "c").exists():
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and b"--resume c" in err
    assert sorted(os.listdir(folder)) == ["c", "data_samples"]


def test_signals_that_the_caller_ignores_are_ignored(folder):
    command = f"trap '' INT TERM HUP; exec wordkit {' '.join(TRAIN)} --log log"
    command = command.replace("wordkit", f"{sys.executable} -m wordkit").replace(
        "--epochs 3", "--epochs 2000"
    )
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment(), stdout=subprocess.DEVNULL
    )
    while not (folder / "log").exists():  # the trap is set, and training
        time.sleep(0.01)
    while process.poll() is None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process.send_signal(number)
        time.sleep(0.02)
    assert process.wait(timeout=60) == 0 and (folder / "m").exists()


def test_a_model_that_is_gone_on_with_is_replaced_by_its_like_only(inside, folder):
    succeeds(inside(*TRAIN, "--checkpoint", "c"))
    before = (folder / "c").read_bytes()
    for option in ("--log", "--vectors-out"):
        for source in ("--init", "--resume"):
            fails(inside(*TRAIN[:4], source, "c", option, "c"), "an output has the path of an input", code=2)
    assert (folder / "c").read_bytes() == before
    succeeds(inside(*TRAIN[:3], "c", "--resume", "c", "--checkpoint", "c2", "--epochs", "4"))
    assert (folder / "c").read_bytes() != before


def test_a_run_that_fails_early_leaves_the_log_alone(inside, folder):
    (folder / "log").write_text("old\n")
    (folder / "bad").write_text("no label\n")
    fails(inside("train-rpa", "bad", "-o", "m", "--log", "log"), "bad:1")
    assert (folder / "log").read_text() == "old\n"


def test_resuming_to_fewer_epochs_is_refused(inside, folder):
    succeeds(inside(*TRAIN))
    fails(inside(*TRAIN[:-1], "2", "--resume", "m"), "--epochs 2: the checkpoint is beyond")


@pytest.mark.parametrize(
    "options",
    [("--inner-iterations", "10000000000"), ("--epochs", "99999999999"), ("--cv", "2", "--grid", "epochs=99999999999"),
     ("--cv", "2", "--grid", "C=1e999"), ("--label-prefix", "\udcff"), ("--dim", "1e3")],
)  # fmt: skip
def test_numbers_that_are_too_large_are_bad_usage(inside, folder, options):
    fails(inside(*TRAIN, *options), code=2)


def test_a_threshold_that_is_no_number_is_bad_usage(inside, folder):
    fails(
        inside("predict", "m", "data_samples/reviews.test.txt", "--threshold", "nan"),
        "not a finite number",
        code=2,
    )


def test_a_library_that_hides_an_interruption(monkeypatch, capsys):
    """Extension modules that are interrupted while they load raise ImportError."""
    from wordkit import cli

    def fails(*_args, **_more):
        raise ImportError("initialization failed")

    monkeypatch.setattr(cli.cli, "make_context", fails)
    monkeypatch.setattr(cli.streams, "_interrupted", [signal.SIGHUP])
    assert cli.run(["x"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "wordkit: interrupted"
