"""``wordkit convert``: streams, formats, and what scripts rely on."""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import environment
from wordkit.formats.vectors import read_vectors, write_vectors

TEXT = b"2 2\na 1.0 0.0\nb 0.0 1.0\n"


def test_chain_of_all_formats_ends_as_it_began(inside, tmp_path, samples):
    names = [samples / "vectors.txt", "v.bin", "v.npz", "v.glove.gz", "v.vec"]
    for source, target in itertools.pairwise(names):
        options = ["--to", "glove"] if "glove" in str(target) else []
        run = inside("convert", source, target, *options)
        assert run.returncode == 0 and run.stdout == b"" and b"600 vectors of 20 dimensions" in run.stderr
    first, last = read_vectors(names[0]), read_vectors(tmp_path / "v.vec")
    assert first[0] == last[0] and np.array_equal(first[1], last[1])
    assert gzip.decompress((tmp_path / "v.glove.gz").read_bytes()).startswith(b"the 0.295 ")
    assert read_vectors(samples / "vectors.bin")[0] == first[0]


def test_u092_pipes_and_a_silent_standard_error(inside, samples):
    binary = (samples / "vectors.bin").read_bytes()
    run = inside("-q", "convert", "-", "-", "--max-rows", "3", stdin=gzip.compress(binary))
    assert run.returncode == 0 and run.stderr == b""
    assert run.stdout.split(b"\n")[0] == b"3 20" and run.stdout.count(b"\n") == 4


def test_only_words(inside, tmp_path):
    (tmp_path / "v.vec").write_bytes(b"3 2\nnew york 1 0\na 0 1\nb 1 1\n")
    run = inside("convert", "v.vec", "-", "--only-words", "-", stdin=b"b\t12\r\n\nnew york\nzzz\n")
    assert run.returncode == 0 and run.stdout == b"2 2\nnew york 1.0 0.0\nb 1.0 1.0\n"
    assert b"1 of 3 words of standard input are not there, such as 'zzz'" in run.stderr
    run = inside("convert", "v.vec", "out.vec", "--only-words", "-", "--strict", stdin=b"b\nzzz\n")
    assert run.returncode == 1 and not (tmp_path / "out.vec").exists()
    run = inside("convert", "v.vec", "out.vec", "--only-words", "-", stdin=b"zzz\n")
    assert run.returncode == 1 and b"none of the 1 words" in run.stderr


def test_u095_a_failing_run_leaves_the_old_output(inside, tmp_path):
    (tmp_path / "bad.vec").write_bytes(TEXT + b"c 1\n")
    (tmp_path / "out.bin").write_bytes(b"precious")
    run = inside("convert", "bad.vec", "out.bin")
    assert run.returncode == 1 and (tmp_path / "out.bin").read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.vec", "out.bin"]
    (message,) = run.stderr.splitlines()
    assert message == b"wordkit: error: bad.vec:4: 1 number after the word, expected 2"
    run = inside("convert", "bad.vec", "out.bin", "--skip-invalid")
    assert run.returncode == 0 and read_vectors(tmp_path / "out.bin")[0] == ["a", "b"]


def test_u004_a_word_that_does_not_fit_is_named(inside, tmp_path):
    (tmp_path / "v.vec").write_bytes(b"1 2\nmy name 1 0\n")
    run = inside("convert", "v.vec", "v.bin")
    assert run.returncode == 1 and b"'my name'" in run.stderr and not (tmp_path / "v.bin").exists()


def test_u013_and_u023_faults_end_by_themselves_with_one_line(inside, tmp_path, samples):
    faulty = [
        path
        for path in (samples / "broken").iterdir()
        if path.name.endswith((".vec.gz", ".html.vec", "cut.bin"))
    ]
    assert len(faulty) >= 4
    for path in faulty:
        run = inside("convert", path, "out.vec")
        assert (
            run.returncode == 1
            and run.stderr.startswith(b"wordkit: error: ")
            and run.stderr.count(b"\n") == 1
        )
        assert not any(tmp_path.iterdir())


def test_u017_empty_input(inside, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    run = inside("convert", "empty", "out.vec")
    assert run.returncode == 1 and b"empty: is empty" in run.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_u093_closed_pipe_ends_quietly(tmp_path, unbuffered):
    write_vectors(tmp_path / "v.npz", [f"w{i}" for i in range(20_000)], np.ones((20_000, 20)))
    command = f"'{sys.executable}' -m wordkit -q convert v.npz - | head -n 1; echo ${{PIPESTATUS[0]}}"
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONUNBUFFERED": unbuffered, "PATH": "/usr/bin:/bin"}
    run = subprocess.run(
        ["bash", "-c", command], capture_output=True, cwd=tmp_path, env=environment, check=True
    )
    assert run.stdout == b"20000 20\n0\n" and run.stderr == b""


def test_u094_and_u016_bytes_do_not_depend_on_the_locale(wordkit, tmp_path):
    (tmp_path / "v.vec").write_bytes("1 2\nnaïve 0.5 1e-30\n".encode())
    for name in ("C", "C.UTF-8", "de_DE.UTF-8"):
        run = wordkit("convert", "v.vec", "-", env={"LC_ALL": name, "PYTHONUTF8": "0"})
        assert run.stdout == "1 2\nnaïve 0.5 1e-30\n".encode()


def test_bad_usage(inside, tmp_path):
    (tmp_path / "v.vec").write_bytes(TEXT)
    for arguments in (
        ["v.vec"],
        ["v.vec", "-", "--to", "npz"],
        ["v.vec", "-", "--max-rows", "0"],
        ["-", "-", "--only-words", "-"],
    ):
        run = inside("convert", *arguments, stdin=b"")
        assert run.returncode == 2 and run.stdout == b"", arguments
    run = inside("convert", "absent.vec", "-")
    assert run.returncode == 1 and b"absent.vec: No such file" in run.stderr
    run = inside("convert", "v.vec", "-", "--from", "word2vec-binary")
    assert run.returncode == 1 and b"looks like a text file" in run.stderr


def test_u099_help_loads_no_numbers(wordkit):
    run = wordkit("convert", "--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert run.returncode == 0 and b"numpy" not in run.stderr and b"Example" in run.stdout


def test_standard_output_by_its_path_and_full_devices(wordkit, tmp_path, samples):
    (tmp_path / "v.vec").write_bytes(TEXT)
    assert wordkit("convert", "v.vec", "/dev/stdout").stdout == TEXT
    for out, name in (("-", b"<stdout>"), ("/dev/stdout", b"/dev/stdout"), ("/dev/full", b"/dev/full")):
        for file in ("v.vec", samples / "vectors.txt"):
            with open("/dev/full", "wb") as full:
                command = [sys.executable, "-m", "wordkit", "convert", str(file), out]
                run = subprocess.run(
                    command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False, env=environment()
                )
            assert (
                run.returncode == 1
                and run.stderr == b"wordkit: error: " + name + b": No space left on device\n"
            )


def test_process_substitution(tmp_path, samples):
    script = f"{sys.executable} -m wordkit -q convert {samples / 'vectors.txt'} >(head -1 > head); wait $!"
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, env=environment())
    assert (tmp_path / "head").read_text() == "600 20\n"
