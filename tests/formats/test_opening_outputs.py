"""Whole-or-nothing outputs: links, permissions, pipes, devices, compression."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from tests.formats.test_opening import TEXT, read_all, suffixes
from wordkit.errors import WordkitError
from wordkit.formats import opening
from wordkit.formats.opening import check_output, open_output


def write(path, content: bytes = b"new") -> None:
    with open_output(path) as out:
        out.write(content)


def files(folder) -> set[str]:
    return set(os.listdir(folder))


def test_u095_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "o"
    path.write_bytes(b"old")
    for error in (RuntimeError, KeyboardInterrupt, BrokenPipeError, SystemExit):
        with pytest.raises(error), open_output(path) as out:
            out.write(b"half")
            raise error
        assert path.read_bytes() == b"old" and files(tmp_path) == {"o"}
    with pytest.raises(RuntimeError), open_output(tmp_path / "fresh.gz") as out:
        out.write(b"half")
        raise RuntimeError
    assert files(tmp_path) == {"o"}
    write(path)
    assert path.read_bytes() == b"new" and files(tmp_path) == {"o"}


def test_nothing_is_seen_before_the_end(tmp_path):
    with open_output(tmp_path / "o") as out:
        out.write(b"x" * 1_000_000)
        assert "o" not in files(tmp_path)
    assert files(tmp_path) == {"o"}


def test_permissions(tmp_path):
    path = tmp_path / "o"
    mask = os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(mask)


def test_links_are_followed(tmp_path):
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "o"
    link = tmp_path / "link"
    link.symlink_to("deep/o")
    write(link, b"through a dangling link")
    assert link.is_symlink() and target.read_bytes() == b"through a dangling link"
    write(link, b"again")
    assert link.is_symlink() and target.read_bytes() == b"again"
    assert files(tmp_path / "deep") == {"o"}


@suffixes
def test_written_compressed_by_suffix(tmp_path, suffix):
    write(tmp_path / f"o{suffix}", TEXT)
    assert read_all(tmp_path / f"o{suffix}") == TEXT
    assert (tmp_path / f"o{suffix}").read_bytes() != TEXT


@suffixes
def test_equal_content_gives_equal_bytes(tmp_path, suffix, monkeypatch):
    write(tmp_path / f"a{suffix}", TEXT)
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    write(tmp_path / f"b{suffix}", TEXT)
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_long_names(tmp_path):
    name = "n" * 255
    write(tmp_path / name)
    assert files(tmp_path) == {name}


def test_named_pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    check_output(path)
    write(path, b"through")
    reader.join(10)
    assert got == [b"through"] and stat.S_ISFIFO(path.stat().st_mode)


def test_device(tmp_path):
    check_output("/dev/null")
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(WordkitError, match="/dev/full: No space left"):
        write("/dev/full")


def test_closed_reader_of_a_pipe_is_a_broken_pipe():
    read, out = os.pipe()
    os.close(read)
    try:
        with pytest.raises(BrokenPipeError):
            write(f"/dev/fd/{out}", b"x" * 1_000_000)
    finally:
        os.close(out)


def run_python(code: str, **kwargs):
    return subprocess.run(
        [sys.executable, "-c", code], check=False, stderr=subprocess.PIPE, timeout=30, **kwargs
    )


DEV_STDOUT = """
from wordkit.formats.opening import check_output, open_output
check_output("/dev/stdout")
print("before")
with open_output("/dev/stdout") as out:
    out.write(b"result\\n")
print("after")
"""


def test_dev_stdout_is_standard_output_itself(tmp_path):
    assert run_python(DEV_STDOUT, stdout=-1).stdout == b"before\nresult\nafter\n"
    path = tmp_path / "o"
    path.write_bytes(b"earlier\n")
    with open(path, "ab") as stream:
        run_python(DEV_STDOUT, stdout=stream)
    assert path.read_bytes() == b"earlier\nbefore\nresult\nafter\n"
    assert files(tmp_path) == {"o"}


def test_check_output(tmp_path):
    check_output("-")
    check_output(tmp_path / "fresh")
    with pytest.raises(WordkitError, match="there is no folder"):
        check_output(tmp_path / "none" / "x")
    with pytest.raises(WordkitError, match="is a folder"):
        check_output(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WordkitError, match="there is no folder"):
        check_output(tmp_path / "file" / "x")


def test_unwritable_folder(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied", "some temporary name")

    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the tests may run as root, who may all
    with pytest.raises(WordkitError, match="x: the folder cannot be written"):
        check_output(tmp_path / "x")
    monkeypatch.setattr(opening.tempfile, "mkstemp", refuse)
    with pytest.raises(WordkitError, match=r"/x: Permission denied$"):
        write(tmp_path / "x")
