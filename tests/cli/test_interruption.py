"""Training that is interrupted: by Ctrl-C, SIGTERM and SIGKILL, and taken up again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time

import pytest

from tests.cli.conftest import fails, made, run_wordkit, start, succeeds
from wordkit.cli.report import graceful_stop
from wordkit.models import TextClassifier
from wordkit.monitor import Monitor

DATA = "data_samples/questions.train.txt"
VECTORS = ("--vectors", "data_samples/vectors.txt")
GRID = (
    "--dev",
    "data_samples/questions.test.txt",
    "--grid",
    "C=0.5,1:lam=0.01:epochs=60,70",
    "--C",
    "3",
    "--epochs",
    "7",
)
LONG = ("--epochs", "80")


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    return tmp_path


def interrupted(folder, *args, number: int = signal.SIGINT, after_lines: int = 2):
    """Start a training and send it a signal when its log has so many lines; returns (exit code, messages)."""
    with contextlib.suppress(FileNotFoundError):
        (folder / "log").unlink()
    process = start(folder, *args, "--log", "log", "--checkpoint", "c")
    deadline = time.monotonic() + 30
    while not (folder / "log").exists() or (folder / "log").read_bytes().count(b"\n") < after_lines:
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert out == b"" and b"Traceback" not in err, err
    return process.returncode, err.decode()


def leftovers(folder) -> set[str]:
    return {name for name in os.listdir(folder) if name.startswith(".")}


@pytest.mark.parametrize(
    ("number", "options"),
    [
        (signal.SIGINT, LONG),
        (signal.SIGTERM, (*LONG, *VECTORS, "--embedding", "shared", "--average")),
        (signal.SIGINT, (*GRID, "--ngrams", "2", "--min-count", "3", "--dim", "20")),
    ],
    ids=["plain", "vectors", "grid"],
)
def test_u063_u079_resumed_bytes_equal_uninterrupted_bytes(folder, number, options):
    command = ("train-rpa", DATA, *options)
    (folder / "m").write_bytes(b"old")
    code, message = interrupted(folder, *command, "-o", "m", number=number)
    assert code == 130
    assert message.splitlines()[-1].startswith("wordkit: interrupted in epoch ")
    assert message.rstrip().endswith("state written to c: go on with the same command and --resume c")
    assert (folder / "m").read_bytes() == b"old" and leftovers(folder) == set()
    done = TextClassifier.load(folder / "c").classifier.n_iter_
    assert done >= 2
    code, message = interrupted(folder, *command, "--resume", "c", "-o", "m", after_lines=1)  # and once more
    assert code == 130 and f"going on after epoch {done}" in message
    succeeds(run_wordkit(folder, *command, "--resume", "c", "-o", "m", "--checkpoint", "c"))
    made(folder, *command, "-o", "whole")
    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes() == (folder / "c").read_bytes()


def test_u063_continued_model_is_resumed(folder):
    made(folder, "train-rpa", "data_samples/reviews.train.txt", "-o", "base", "--dim", "5", "--epochs", "1")
    command = ("train-rpa", "data_samples/reviews.test.txt", "--init", "base", "--epochs", "1500")
    code, _ = interrupted(folder, *command, "-o", "m")
    assert code == 130
    succeeds(run_wordkit(folder, *command, "--resume", "c", "-o", "m"))
    made(folder, *command, "-o", "whole")
    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes()
    other = ("train-rpa", "data_samples/reviews.train.txt", "--resume", "c", "-o", "m")
    fails(run_wordkit(folder, *other), "c: was trained on other data than data_samples/reviews.train.txt")


def test_u063_two_epochs_and_two_are_four(folder):
    command = ("train-rpa", DATA, "--dim", "5", "--average")
    made(folder, *command, "--epochs", "2", "-o", "two", "--log", "log")
    more = ("--resume", "two", "--epochs", "4", "--threads", "2", "--log", "log")
    succeeds(run_wordkit(folder, "train-rpa", DATA, *more, "-o", "resumed"))
    epochs = [json.loads(line)["epoch"] for line in (folder / "log").read_text().splitlines()]
    assert epochs == [1, 2, 3, 4]
    made(folder, *command, "--epochs", "4", "-o", "four", "--threads", "1")
    assert (folder / "resumed").read_bytes() == (folder / "four").read_bytes()


def test_u061_resume_that_contradicts_the_checkpoint(folder, inside):
    made(folder, "train-rpa", DATA, "--dim", "5", "--epochs", "1", "-o", "c")
    resume = ("train-rpa", DATA, "--resume", "c", "-o", "m")
    for options, says in [
        (("--C", "2"), "--C 2.0 contradicts the earlier training, which had --C 0.01"),
        (("--seed", "2"), "--seed 2 contradicts the earlier training, which had --seed 1"),
        (("--dim", "6"), "--dim 6 contradicts the earlier training, which had --dim 5"),
        (("--lowercase",), "--lowercase contradicts the earlier training, which had no such option"),
        (("--ngrams", "2"), "--ngrams 2 contradicts the earlier training, which had --ngrams 1"),
        (
            ("--label-prefix", "#"),
            "--label-prefix # contradicts the earlier training, which had --label-prefix __label__",
        ),
        (
            ("--format", "svmlight"),
            "--format svmlight contradicts the earlier training, which had --format text",
        ),
        (VECTORS, "--vectors is the earlier model's to say"),
        (("--cv", "3"), "--cv is the earlier model's to say"),
    ]:
        fails(inside(*resume, *options), says)
    fails(
        inside("train-rpa", "data_samples/reviews.train.txt", "--resume", "c", "-o", "m"),
        "c: was trained on other data than",
    )
    assert not (folder / "m").exists()


def test_u079_without_a_checkpoint_nothing_is_written(folder):
    process = start(folder, "train-rpa", DATA, *LONG, "-o", "m", "--log", "log")
    while not (folder / "log").exists() or not (folder / "log").read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and b"nothing was written (--checkpoint keeps the work)" in err
    assert set(os.listdir(folder)) == {"data_samples", "log"}


def test_u079_interrupted_in_the_grid_search(folder):
    grid = ("--cv", "5", "--grid", "C=1,2,3,4,5,6,7,8,9:epochs=50", "--threads", "2")
    process = start(folder, "train-rpa", DATA, *grid, "-o", "m", "--checkpoint", "c")
    while b"word types kept" not in (line := process.stderr.readline()):
        assert line, "it ended"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (
        process.returncode == 130
        and b"interrupted in the grid search, which is not kept; nothing was written" in err
    ), err
    assert set(os.listdir(folder)) == {"data_samples"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_u079_u095_signals_at_any_moment_leave_whole_files(folder, questions, number):
    draw = random.Random(number)
    shutil.copy(questions, folder / "m")
    before = (folder / "m").read_bytes()
    command = ("train-rpa", DATA, "--epochs", "9999", "-o", "m", "--checkpoint", "c")
    for _ in range(4):
        process = start(folder, *command)
        time.sleep(draw.uniform(0.2, 1.2))
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        # Before wordkit's first line runs, Python itself answers a signal; and it dies of SIGINT (which a shell shows as
        # 130) where KeyboardInterrupt has passed through the exec of an import, whoever caught it.
        assert process.returncode in (130, -number, -signal.SIGINT), err.decode()
        if number != signal.SIGKILL:
            assert leftovers(folder) == set()
            assert b"Traceback" not in err or b'File "<frozen' in err
        assert (folder / "m").read_bytes() == before
        if (folder / "c").exists():
            assert TextClassifier.load(folder / "c").classifier.n_iter_ >= 0


def test_u079_another_signal_ends_at_once(folder):
    process = start(
        folder, "train-rpa", DATA, *LONG, "--dim", "200", "-o", "m", "--checkpoint", "c", "--log", "log"
    )
    while not (folder / "log").exists() or (folder / "log").read_bytes().count(b"\n") < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and b"Traceback" not in err
    assert leftovers(folder) == set() and TextClassifier.load(folder / "c").classifier.n_iter_ >= 1


def test_u079_first_signal_asks_and_the_second_interrupts():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    monitor = Monitor()
    with pytest.raises(KeyboardInterrupt), graceful_stop(monitor):
        os.kill(os.getpid(), signal.SIGTERM)
        assert monitor.stopping
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("not reached")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
