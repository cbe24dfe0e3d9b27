"""What holds for every command: help, exit codes, streams, locale, start-up."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys

import click
import pytest

from tests.cli.conftest import fails, succeeds
from tests.conftest import environment
from wordkit import __version__
from wordkit.cli import cli

TEST = "data_samples/questions.test.txt"


def commands(
    group: click.Group = cli, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it, groups included."""
    found: list[tuple[tuple[str, ...], click.Command]] = [(path, group)]
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += (
            commands(command, (*path, name))
            if isinstance(command, click.Group)
            else [((*path, name), command)]
        )
    return found


ALL = commands()
each = pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) or "wordkit" for path, _ in ALL])


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    return tmp_path


def shell(script: str, folder, **env: str) -> subprocess.CompletedProcess:
    """A bash script in which ``wordkit`` is this wordkit; the exit code is that of the first failure in a pipe."""
    start = f'wordkit() {{ {sys.executable} -m wordkit "$@"; }}; set -o pipefail; '
    return subprocess.run(
        ["bash", "-c", start + script],
        cwd=folder,
        capture_output=True,
        env=environment(**env),
        timeout=60,
        check=False,
    )


# --- help and usage --------------------------------------------------------------------------------------------


@each
def test_help_pages(inside, path, command):
    short, long = (succeeds(inside(*path, option)) for option in ("-h", "--help"))
    assert short == long and long.startswith("Usage: ")
    assert "Example" in long and "wordkit" in long.split("Example")[1]
    assert max(map(len, long.splitlines())) <= 110
    for parameter in command.params:
        assert not isinstance(parameter, click.Option) or parameter.help, f"{parameter.name} has no help"


@each
def test_every_default_is_shown(path, command):
    context = click.Context(command, info_name="wordkit", show_default=True, parent=click.Context(cli))
    for parameter in command.params:
        if (
            isinstance(parameter, click.Option)
            and not parameter.is_flag
            and isinstance(parameter.default, (int, float))
        ):
            assert str(parameter.default) in command.get_help(context), parameter.name


def test_commands_are_listed_in_groups(inside):
    text = succeeds(inside("--help"))
    places = [text.index(f"\n{group}:\n") for group in ("Train", "Apply", "Evaluate", "Convert")]
    assert places == sorted(places)
    for path, _ in ALL[1:]:
        assert len(path) > 1 or f"\n  {path[0]} " in text


def test_version(wordkit):
    assert succeeds(wordkit("--version")) == f"wordkit {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--nonsense",), "No such option"),
        (("predct",), "No such command 'predct'. Did you mean predict?"),
        (("evaluate", "classificaton"), "Did you mean classification?"),
        (("evaluate", "xyzzy"), "No such command 'xyzzy'."),
        (("predict",), "Missing argument"),
        (("train-rpa", "x"), "Missing option"),
        (("predict", "a", "b", "--top", "x"), "--top"),
        (("completion", "tcsh"), "tcsh"),
        ((), "Usage:"),
        (("evaluate",), "Usage:"),
    ],
)
def test_bad_usage_exits_2(inside, arguments, says):
    fails(inside(*arguments), says, code=2)


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_scripts(inside, tmp_path, name):
    script = succeeds(inside("completion", name))
    assert "_WORDKIT_COMPLETE" in script
    if name == "bash":
        assert (
            subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False).stderr
            == b""
        )
        run = shell('eval "$(wordkit completion bash)" && complete -p wordkit', tmp_path)
        assert b"wordkit" in run.stdout


def test_completion_answers(wordkit):
    env = {"_WORDKIT_COMPLETE": "bash_complete", "COMP_WORDS": "wordkit pre", "COMP_CWORD": "1"}
    assert "predict" in succeeds(wordkit(env=env))


# --- start-up --------------------------------------------------------------------------------------------------


def test_u099_help_imports_no_numeric_library(tmp_path):
    code = "import sys, wordkit.cli; wordkit.cli.run(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    for arguments in (["-c", code], ["-c", code.replace("--help", "--version")]):
        run = subprocess.run(
            [sys.executable, *arguments], capture_output=True, env=environment(), timeout=30, check=True
        )
        modules = run.stderr.decode()
        assert "'wordkit.cli'" in modules
        for heavy in ("numpy", "scipy", "sklearn", "tqdm", "matplotlib", "wordkit._kernels"):
            assert f"'{heavy}'" not in modules


@pytest.mark.parametrize(
    "arguments",
    [("info", "vectors.txt"), ("neighbors", "vectors.txt", "good"), ("evaluate", "analogy", "vectors.txt", "analogies.txt")],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_u099_what_reads_vectors_only_waits_for_no_scipy(samples, arguments):
    code = "import sys, wordkit.cli; code = wordkit.cli.run(sys.argv[1:]); print(code, *sys.modules, file=sys.stderr)"
    run = subprocess.run(
        [sys.executable, "-c", code, "-q", *arguments], cwd=samples, capture_output=True, env=environment(), check=True
    )  # fmt: skip
    code, *modules = run.stderr.decode().splitlines()[-1].split()
    assert code == "0" and "numpy" in modules
    assert not {"scipy.sparse", "scipy.linalg", "scipy.stats"} & set(modules)


def test_u099_help_is_quick(wordkit):
    def seconds() -> float:
        """Of the processor: what else the machine does is no matter."""
        started = os.times()
        succeeds(wordkit("--help"))
        ended = os.times()
        return ended.children_user + ended.children_system - started.children_user - started.children_system

    assert min(seconds() for _ in range(5)) < 0.5


def test_u100_threads_bound_the_total(tmp_path):
    code = """
import os, sys
import wordkit.cli as c
c._blas_on_one_thread()
import numpy
from wordkit.parallel import available_threads
print(os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"], available_threads())
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=environment(OMP_NUM_THREADS="1"),
        timeout=30,
        check=True,
    )
    assert run.stdout.split() == [b"1", b"1", b"1"]


# --- streams ---------------------------------------------------------------------------------------------------


def test_u092_standard_output_holds_results_only(inside, wordkit, questions, folder):
    for arguments in (
        ("train-rpa", "data_samples/reviews.train.txt", "-o", "m", "--dim", "5", "--epochs", "1"),
        ("evaluate", "classification", questions, TEST),
        ("evaluate", "classification", questions, TEST, TEST),
    ):
        plain, quiet = inside(*arguments), wordkit("--quiet", *arguments)
        assert succeeds(plain) == succeeds(quiet) and quiet.stderr == b"" and plain.stderr != b""
        assert all(line.count("\t") in (1, 2) for line in plain.stdout.decode().splitlines())
        as_json = succeeds(inside("-q", *arguments, "--json"))
        assert as_json.count("\n") == 1 and isinstance(json.loads(as_json), dict)
    error = inside("-q", "predict", "none", TEST)
    fails(error, "none: No such file")
    assert error.stderr.count(b"\n") == 1


def test_verbose_shows_epochs_and_tracebacks(inside, folder):
    run = inside(
        "-v", "train-rpa", "data_samples/reviews.train.txt", "-o", "m", "--dim", "5", "--epochs", "2"
    )
    assert succeeds(run) and run.stderr.count(b"train-rpa: epoch") == 2
    failed = inside("--verbose", "predict", "none", TEST)
    assert failed.returncode == 1 and b"Traceback" in failed.stderr
    assert failed.stderr.splitlines()[-1] == b"wordkit: error: none: No such file or directory"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "command",
    ["predict {model} x --scores --top 6", "predict {model} x -o /dev/stdout", "info {model}", "--help", "evaluate -h",
     "evaluate classification {model} x --details", "convert data_samples/vectors.txt -"],
)  # fmt: skip
def test_u093_closed_pipe(questions, folder, command, unbuffered):
    text = (folder / TEST).read_text()
    (folder / "x").write_text(text * (40 if "predict" in command else 1))
    call = command.format(model=questions)
    for reader in ("head -1", "true"):
        run = shell(f"wordkit {call} | {reader}", folder, PYTHONUNBUFFERED=unbuffered)
        assert run.returncode == 0, run.stderr
        for word in (b"Traceback", b"Exception ignored", b"Broken pipe", b"error"):
            assert word not in run.stderr


@pytest.mark.parametrize(
    "call", ["--help", "info {model}", "predict {model} data_samples/questions.test.txt"]
)
def test_full_disk_and_closed_streams(questions, folder, call):
    call = call.format(model=questions)
    for unbuffered in ("", "1"):
        run = shell(f"wordkit {call} > /dev/full", folder, PYTHONUNBUFFERED=unbuffered)
        assert run.returncode == 1 and run.stderr.startswith(b"wordkit: error: "), run.stderr
        assert run.stderr.count(b"\n") == 1 and b"No space left on device" in run.stderr
    closed = shell(f"wordkit {call} >&-", folder)
    assert (
        closed.returncode in (0, 1) and b"Traceback" not in closed.stderr and b"ignored" not in closed.stderr
    )
    assert b"Traceback" not in shell(f"wordkit {call} 2>&-", folder).stdout


def test_closed_standard_input(questions, folder):
    run = shell(f"wordkit predict {questions} - <&-", folder)
    assert run.returncode == 1 and run.stderr == b"wordkit: error: <stdin>: is closed\n"


# --- locale ----------------------------------------------------------------------------------------------------


def test_u016_u094_same_bytes_under_every_locale(wordkit, folder):
    text = "".join(f"__label__größe ü{i % 3} naïve 語\n__label__ß a{i % 3} b\n" for i in range(9))
    (folder / "tüx").write_text(text)
    results = []
    for number, locale in enumerate(("C", "POSIX", "C.UTF-8", "de_DE.UTF-8")):
        env = {
            "LC_ALL": locale,
            "LANG": locale,
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
            "PYTHONWARNINGS": "ignore",
        }
        outputs = ("-o", f"m{number}", "--vectors-out", f"v{number}")
        trained = wordkit("train-rpa", "tüx", *outputs, "--dim", "3", "--json", env=env)
        predicted = wordkit("predict", f"m{number}", "-", "--scores", stdin=text.encode(), env=env)
        succeeds(trained)
        assert "tüx" in trained.stdout.decode()
        results.append((succeeds(predicted), *((folder / f"{x}{number}").read_bytes() for x in "mv")))
    assert all(result == results[0] for result in results)
    assert "__label__größe\t" in results[0][0] and "." in results[0][0]


def test_u094_names_and_messages_that_are_not_utf8(wordkit, folder):
    name = os.fsdecode(b"bad\xff")
    (folder / name).write_bytes(b"")
    fails_with = wordkit("predict", name, name, env={"LC_ALL": "C"})
    assert fails_with.returncode == 1 and fails_with.stderr.startswith(b"wordkit: error: bad\xff: ")


# --- endings ---------------------------------------------------------------------------------------------------


def test_u023_failures_end_by_themselves(inside, questions, samples):
    """Every broken file, read as what it is not, too: an end within the time, one line, no traceback."""
    for path, command in itertools.product(
        sorted((samples / "broken").iterdir()),
        (
            ("predict", questions),
            ("evaluate", "classification", questions),
            ("info",),
            ("train-rpa", "-o", "m"),
        ),
    ):
        run = inside(*command, path)
        assert run.returncode in (0, 1)
        message = run.stderr.decode()
        assert "Traceback" not in message and "bug in wordkit" not in message, (path, command, message)
        if run.returncode:
            assert run.stdout == b"" or command[0] == "predict"  # which answers line by line
            assert message.splitlines()[-1].startswith("wordkit: error: ")


def test_u103_no_display_changes_nothing(wordkit, questions, folder):
    succeeds(wordkit("predict", questions, TEST, env={"DISPLAY": "bad:0"}))
