"""The examples of the help pages, README.md and docs run as they are printed, and name only what exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.conftest import ROOT, SAMPLES, environment
from wordkit.cli import cli

DOCUMENTS = ("README.md", "docs/COMMANDS.md", "docs/RESULTS.md")
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in DOCUMENTS}


def blocks_of(name: str) -> list[str]:
    """The scripts of a document."""
    return re.findall(r"^```sh\n(.*?)^```$", TEXTS[name], flags=re.MULTILINE | re.DOTALL)


def anchors_of(text: str) -> set[str]:
    """What links can point to: its headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def walk(command: click.Command, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command and group by the words that call it."""
    found = {words: command}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            found |= walk(inner, (*words, name))
    return found


COMMANDS = walk(cli)


def example_of(words: tuple[str, ...]) -> str:
    """The line after ``Example:`` at the end of a help page."""
    settings = {
        **COMMANDS[words].context_settings,
        "terminal_width": 80,
    }  # click keeps the help option that it makes first
    page = COMMANDS[words].get_help(click.Context(COMMANDS[words], **settings))
    lines = page.rstrip().splitlines()
    assert lines[-2].strip() == "Example:", page
    return lines[-1].strip()


def made_by(words: tuple[str, ...]) -> bool:
    """Whether a command trains: it must run before those that use its model, or draw its path."""
    return words == () or words[0].startswith(("train", "trace-lasso", "tmira", "dcme"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder as a clone's: data_samples is there, and ``wordkit`` and ``python3`` are on the path."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "data_samples").symlink_to(SAMPLES)
    (folder / ".bin").mkdir()
    for name, call in (("wordkit", "-m wordkit"), ("python3", "")):
        tool = folder / ".bin" / name
        tool.write_text(f'#!/bin/sh\nexec {sys.executable} {call} "$@"\n')
        tool.chmod(0o755)
    return folder


def run(script: str, folder: Path) -> None:
    """Run a script, which must succeed and say nothing of a bug."""
    on_path = environment(PATH=f"{folder / '.bin'}:{os.environ['PATH']}")
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", script], cwd=folder, env=on_path, capture_output=True, text=True,
        timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stderr}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", sorted(COMMANDS, key=lambda w: (not made_by(w), w)), ids=" ".join)
def test_examples_of_help_pages_run(words, folder, inside):
    example = example_of(words)
    assert example.startswith("wordkit ")
    assert tuple(example.split()[1 : 1 + len(words)]) == words
    if set("|&;<>()$`*?[]{}~#!=%") & set(example):  # what a shell makes something of
        return run(example, folder)
    done = inside(*shlex.split(example)[1:], cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if blocks_of(name)])
def test_blocks_of_documents_run(name, folder):
    for block in blocks_of(name):
        run(block, folder)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_name_only_what_exists(name):
    known = {name for command in COMMANDS.values() for option in command.params for name in option.opts}
    known |= {"--help", "-h"}
    options = set(re.findall(r"(?<![\w-])--[A-Za-z][A-Za-z0-9-]*", TEXTS[name]))
    assert options <= known, f"{name} names options that do not exist: {options - known}"
    for block in blocks_of(name):
        for words in re.findall(r"^(?:.*\| *)?wordkit +(.*)$", block, flags=re.MULTILINE):
            called = next(word for word in words.split() if not word.startswith("-"))
            assert (called,) in COMMANDS, f"{name} calls `wordkit {called}`"
    for call in re.findall(r"`wordkit ([a-z][a-z-]*)", TEXTS[name]):
        assert (call,) in COMMANDS, f"{name} names `wordkit {call}`"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_of_documents_lead_somewhere(name):
    for target in re.findall(r"\]\(([^)]+)\)", TEXTS[name]):
        path, _, anchor = target.partition("#")
        there = ((ROOT / name).parent / path) if path else ROOT / name
        assert there.is_file(), f"{name} links to {target}"
        assert not anchor or anchor in anchors_of(there.read_text(encoding="utf-8")), (
            f"{name} links to {target}"
        )


def test_every_command_is_described():
    for words, command in COMMANDS.items():
        if not isinstance(command, click.Group):
            assert f"`{' '.join(words)}`" in TEXTS["README.md"], f"README.md does not list {' '.join(words)}"
            assert words[0] in TEXTS["docs/COMMANDS.md"], f"docs/COMMANDS.md lacks {words[0]}"


def test_options_with_one_meaning_are_told_alike():
    """An option of several commands has one type; the first word of the contract's names is never used otherwise."""
    kinds: dict[str, set[str]] = {}
    for command in COMMANDS.values():
        for option in command.params:
            if isinstance(option, click.Option) and option.opts[-1] in (
                "--vectors", "--dim", "--epochs", "--min-count", "--lowercase", "--threads", "--seed", "--json", "--top",
                "--skip-invalid", "--strict",
            ):  # fmt: skip
                kinds.setdefault(option.opts[-1], set()).add(repr(option.type))
    assert {name: found for name, found in kinds.items() if len(found) > 1 and name != "--top"} == {}


def test_documents_are_finished():
    for name in (*DOCUMENTS, "CONTRIBUTING.md", "CHANGELOG.md"):
        assert "@@" not in (ROOT / name).read_text(encoding="utf-8"), name
