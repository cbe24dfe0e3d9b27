"""``wordkit cooccur``: what it writes, says and refuses."""

from __future__ import annotations

import gzip
import json
import os
import signal
import time

import numpy as np
import pytest

from tests.cli.conftest import fails, start, succeeds
from wordkit.formats.counts import read_counts
from wordkit.models import count_cooccurrences

CORPUS = "data_samples/corpus.txt"


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    (tmp_path / "small.txt").write_text("the cat sat\nthe dog sat on 2 mats\n\na cat\n" * 3)
    return tmp_path


def same(one, two) -> None:
    assert one.words == two.words and one.counts.tolist() == two.counts.tolist()
    assert one.matrix.dtype == two.matrix.dtype and (one.matrix != two.matrix).nnz == 0


def test_counts_file_and_metrics(folder, inside):
    out = succeeds(inside("cooccur", CORPUS, "-o", "c.npz"))
    metrics = {name: int(value) for name, value in (line.split("\t") for line in out.splitlines())}
    found, expected = read_counts(folder / "c.npz"), count_cooccurrences([folder / CORPUS])
    same(found, expected)
    assert metrics == {
        "words": len(found.words), "cells": found.matrix.nnz, "pairs": found.matrix.sum(), "tokens": 59099,
        "rare_tokens": found.counts[found.words.index("#rare#")], "number_tokens": 0,
        "covered": 59099 - metrics["rare_tokens"], "total": 59099,
    }  # fmt: skip
    assert found.meta.items() >= expected.meta.items() and found.meta["command"] == "cooccur"


def test_json_and_options(folder, inside):
    run = inside(
        "cooccur", "small.txt", "-o", "c.npz", "--window", "2", "--min-count", "4", "--max-vocab", "3", "--lowercase",
        "--context", "right", "--distance-weighting", "harmonic", "--no-rare-token", "--no-number-token", "--memory", "1M",
        "--threads", "2", "--skip-invalid", "--strict", "--json",
    )  # fmt: skip
    result = json.loads(succeeds(run))
    found = read_counts(folder / "c.npz")
    expected = count_cooccurrences(
        [folder / "small.txt"], window=2, min_count=4, max_vocab=3, lowercase=True, context="right",
        distance_weighting="harmonic", rare_token=False, number_token=False,
    )  # fmt: skip
    same(found, expected)
    assert found.words == ["the", "cat", "sat"]
    assert result["command"] == "cooccur" and result["words"] == 3 and result["cells"] == found.matrix.nnz
    assert result["pairs"] == pytest.approx(found.matrix.sum()) and (result["covered"], result["total"]) == (
        18,
        33,
    )
    assert "window:2|context:right|distance_weighting:harmonic|min_count:4|max_vocab:3" in result["signature"]
    assert result["signature"] == found.meta["signature"] and result["results"][0]["data"] == "small.txt"


def test_rare_words_and_numbers_are_told_apart(folder, inside):
    (folder / "mixed.txt").write_text("a a 1 2\n3 a b c\n")
    for options in ((), ("--no-rare-token",)):
        found = json.loads(
            succeeds(inside("cooccur", "mixed.txt", "-o", "c", "--min-count", "2", "--json", *options))
        )
        assert [found[name] for name in ("rare_tokens", "number_tokens", "covered", "total")] == [2, 3, 6, 8]


def test_vectors_are_not_taken_for_text(folder, inside):
    (folder / "v.vec").write_text("2 3\nthe 0.1 0.2 0.3\n7 1 2 3\n")
    (folder / "v.bin").write_bytes(b"1 2\na " + bytes(8) + b"\n")
    (folder / "text").write_text("2 3\nthe 1 2 3\nthe 1 2\n")
    for name in ("v.vec", "v.bin"):
        fails(
            inside("cooccur", name, "-o", "c", "--min-count", "1"), f"{name}: is a vector file, expected text"
        )
    fails(inside("brown", "v.vec", "-o", "c", "--clusters", "2"), "v.vec: is a vector file")
    succeeds(inside("cooccur", "text", "-o", "c", "--min-count", "1"))
    (folder / "pairs.txt").write_text("the a 1\n")
    fails(inside("evaluate", "similarity", "c", "pairs.txt"), "c: is a counts file, expected vectors")
    fails(inside("plot", "forest", "c", "the", "-o", "f.png"), "c: is a counts file, expected vectors")


def test_u051_what_is_cut_and_how_large_it_is_are_said_first(folder, inside):
    run = inside("cooccur", "small.txt", "-o", "c.npz", "--min-count", "4")
    succeeds(run)
    said = run.stderr.decode().splitlines()
    assert said[0] == "wordkit: 3 tokens of 1 types are numbers, counted as `#number#`"
    assert said[1] == (
        "wordkit: 3 words kept of 8 types (--min-count 4), 54.5% of 33 tokens; the other 15 are counted as `#rare#`"
    )
    assert said[2] == "wordkit: a matrix of 4 words, at most 16 cells (128 bytes), in memory"


def test_u067_sizes_are_told_before_the_memory_is_taken(folder, inside):
    """10,000 words that stand beside few others: a dense matrix would have 10^8 cells."""
    (folder / "wide.txt").write_text("".join(f"w{i} w{i + 1}\n" for i in range(10_000)))
    run = inside("cooccur", "wide.txt", "-o", "c.npz", "--min-count", "1", "--memory", "100K")
    succeeds(run)
    said = "a matrix of 10001 words, at most 200000 cells (1.53 MiB), beyond 50 KiB in temporary files"
    assert said in run.stderr.decode()
    assert read_counts(folder / "c.npz").matrix.nnz == 20_000


def test_same_bytes_at_any_thread_count_and_memory_and_from_pipes(folder, inside):
    for name, options in (
        ("1", ["--threads", "1"]), ("2", ["--threads", "2"]), ("8", ["--threads", "8"]), ("spilled", ["--memory", "50K"]),
    ):  # fmt: skip
        succeeds(inside("cooccur", CORPUS, "-o", name, *options))
    expected = (folder / "1").read_bytes()
    assert all((folder / name).read_bytes() == expected for name in ("2", "8", "spilled"))
    text = (folder / CORPUS).read_bytes()
    for data in (text, gzip.compress(text), text.replace(b"\n", b"\r\n")):
        run = inside("-q", "cooccur", "-", "-o", "piped", stdin=data)
        assert succeeds(run) and run.stderr == b""
        same(read_counts(folder / "piped"), read_counts(folder / "1"))


def test_several_inputs_are_one_corpus(folder, inside):
    lines = (folder / "small.txt").read_text().splitlines(keepends=True)
    (folder / "a").write_text("".join(lines[:5]))
    (folder / "b.gz").write_bytes(gzip.compress("".join(lines[5:]).encode()))
    succeeds(inside("cooccur", "a", "b.gz", "-o", "two", "--min-count", "1"))
    succeeds(inside("cooccur", "small.txt", "-o", "one", "--min-count", "1"))
    same(read_counts(folder / "two"), read_counts(folder / "one"))
    assert [record["name"] for record in read_counts(folder / "two").meta["inputs"]] == ["a", "b.gz"]


def test_info(folder, inside):
    succeeds(inside("cooccur", "small.txt", "-o", "c.npz", "--min-count", "1"))
    found = json.loads(succeeds(inside("info", "c.npz", "--json")))
    assert found["kind"] == "counts" and found["window"] == 5 and found["words"] == 8
    assert found["inputs"][0]["name"] == "small.txt" and found["cells"] > 0


def test_bad_lines(folder, inside):
    (folder / "bad.txt").write_bytes(b"a b\n\xff\na b\n")
    command = ("cooccur", "bad.txt", "-o", "c.npz", "--min-count", "1")
    fails(inside(*command), "bad.txt:2: byte 0xff at offset 4, expected UTF-8 text")
    assert not (folder / "c.npz").exists()
    run = inside(*command, "--skip-invalid")
    succeeds(run)
    assert b"warning: bad.txt:2: byte 0xff" in run.stderr


def test_nothing_to_count(folder, inside):
    (folder / "few.txt").write_text("a b a c d\n")
    said = "0 of 4 word types occur at least 5 times (most frequent: `a`, 2)"
    fails(inside("cooccur", "few.txt", "-o", "c", "--min-count", "5"), said)
    (folder / "blank").write_bytes(b"\n\n")
    fails(inside("cooccur", "blank", "-o", "c"), "blank: holds no token")
    fails(inside("cooccur", "absent", "-o", "c"), "absent: No such file")
    assert not (folder / "c").exists()


def test_bad_usage(folder, inside):
    good = ["small.txt", "-o", "c"]
    for arguments in (
        ["small.txt"], ["-o", "c"], [*good, "--window", "0"], [*good, "--window", "10001"], [*good, "--memory", "0"],
        [*good, "--memory", "4X"], [*good, "--memory", "-1"], [*good, "--memory", ""], [*good, "--memory", "9" * 30],
        [*good, "--context", "up"], [*good, "--distance-weighting", "linear"], ["small.txt", "-o", "-"],
        ["small.txt", "-o", "small.txt"], ["-", "-", "-o", "c"], [*good, "--threads", "0"],
    ):  # fmt: skip
        fails(inside("cooccur", *arguments), code=2)
    fails(inside("cooccur", "small.txt", "-o", "no/c"), "no folder")


@pytest.mark.parametrize("size", ["30000", "30K", "1m", "4G", "2GB", "1GiB", "1T"])
def test_sizes(folder, inside, size):
    succeeds(inside("cooccur", "small.txt", "-o", "c", "--min-count", "1", "--memory", size))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_u079_interrupted_leaves_nothing(folder, number):
    random = np.random.default_rng(0)
    words = np.minimum(np.exp(random.random((60_000, 20)) * np.log(50_000)).astype(int), 49_999)
    (folder / "long.txt").write_text("\n".join(" ".join(map(str, row)) for row in words.tolist()) + "\n")
    (folder / "c").write_text("precious")
    (folder / "cache").mkdir()
    process = start(
        folder, "cooccur", "long.txt", "-o", "c", "--window", "200", "--memory", "1M", "--min-count", "1",
        "--no-number-token", env={"TMPDIR": str(folder / "cache")},
    )  # fmt: skip
    assert b"words kept" in process.stderr.readline()
    time.sleep(0.3)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and out == b"" and b"Traceback" not in err, err
    assert err.endswith(b"wordkit: interrupted\n")
    assert (folder / "c").read_text() == "precious" and not os.listdir(folder / "cache")
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]
