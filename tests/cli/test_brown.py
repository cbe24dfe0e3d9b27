"""``wordkit brown``: what it writes, says and refuses."""

from __future__ import annotations

import json
import signal
import time

import numpy as np
import pytest

from tests.cli.conftest import fails, start, succeeds
from wordkit.formats.clusters import read_clusters
from wordkit.models.brown import BrownClustering


@pytest.fixture
def folder(tmp_path, samples):
    (tmp_path / "data_samples").symlink_to(samples)
    (tmp_path / "small.txt").write_text("the cat sat\nthe dog sat\na cat ran\na dog ran\n" * 3)
    return tmp_path


def test_paths_file_and_metrics(folder, inside):
    out = succeeds(
        inside("brown", "data_samples/corpus.txt", "-o", "x.paths", "--clusters", "20", "--min-count", "2")
    )
    metrics = dict(line.split("\t") for line in out.splitlines())
    found = read_clusters(folder / "x.paths")
    sentences = [line.split() for line in (folder / "data_samples/corpus.txt").read_text().splitlines()]
    model = BrownClustering(clusters=20, min_count=2).fit(sentences)
    assert len(found.paths) == 20 and found.paths == model.paths_
    assert dict(zip(found.words, found.labels.tolist(), strict=True)) == dict(
        zip(model.words_, model.labels_.tolist(), strict=True)
    )
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == dict(
        zip(model.words_, model.counts_.tolist(), strict=True)
    )
    assert float(metrics["mutual_information"]) == pytest.approx(model.mutual_information_, rel=1e-5)
    assert float(metrics["clusters"]) == 20 and float(metrics["types"]) == len(found.words)


def test_json(folder, inside):
    command = ("brown", "small.txt", "-o", "x", "--clusters", "3", "--algorithm", "exchange", "--json")
    found = json.loads(succeeds(inside(*command, "--sweeps", "5", "--max-vocab", "5")))
    assert found["command"] == "brown" and found["clusters"] == 3 and found["types"] == 5
    assert {"signature", "seconds", "mutual_information", "covered", "total", "results"} <= set(found)
    assert (found["total"], found["covered"], found["tokens"]) == (
        36,
        30,
        30,
    )  # of six words with six tokens each, five are kept
    (result,) = found["results"]
    assert result["data"] == "small.txt" and result["bigrams"] == found["bigrams"] > 0
    assert found["mutual_information"] == pytest.approx(result["mutual_information"])


def test_all_options(folder, inside):
    run = inside(
        "brown", "data_samples/trees.conllu", "-o", "x.gz", "--clusters", "6", "--structure", "tree", "--token", "lemma/pos",
        "--tag-column", "xpos", "--lowercase", "--format", "conllu", "--min-count", "3", "--max-vocab", "50",
        "--algorithm", "brown", "--skip-invalid", "--strict",
    )  # fmt: skip
    succeeds(run)
    found = read_clusters(folder / "x.gz")
    assert len(found.words) == 50 and len(found.paths) == 6 and all("/" in word for word in found.words)
    assert found.counts.min() >= 3 and b"bigrams with words that are left out are not counted" in run.stderr


def test_trees_are_not_chains(folder, inside):
    command = ("brown", "data_samples/trees.conllu", "-o", "-", "--clusters", "10", "--structure")
    tree, chain = (succeeds(inside(*command, structure)) for structure in ("tree", "chain"))
    assert tree != chain and sorted(line.split("\t")[1:] for line in tree.splitlines()) == sorted(
        line.split("\t")[1:] for line in chain.splitlines()
    )


@pytest.mark.parametrize("algorithm", ["brown", "exchange"])
def test_same_bytes_twice_and_from_standard_input(folder, wordkit, inside, algorithm):
    command = ("brown", "data_samples/corpus.txt", "--clusters", "15", "--algorithm", algorithm)
    for name in ("one", "two"):
        succeeds(inside(*command, "-o", name))
    assert (folder / "one").read_bytes() == (folder / "two").read_bytes()
    text = (folder / "data_samples/corpus.txt").read_bytes()
    run = wordkit("-q", "brown", "-", "--clusters", "15", "--algorithm", algorithm, "-o", "-", stdin=text)
    assert succeeds(run).encode() == (folder / "one").read_bytes() and run.stderr == b""


def test_several_inputs_are_one_corpus(folder, inside):
    lines = (folder / "small.txt").read_text().splitlines(keepends=True)
    (folder / "a").write_text("".join(lines[:5]))
    (folder / "b").write_text("".join(lines[5:]))
    both = succeeds(inside("brown", "a", "b", "-o", "-", "--clusters", "3"))
    assert both == succeeds(inside("brown", "small.txt", "-o", "-", "--clusters", "3"))


def test_u070_help_names_the_columns(inside):
    out = succeeds(inside("brown", "--help"))
    assert "bit string<TAB>word<TAB>count" in " ".join(out.split())


def test_u070_every_line_has_three_columns(folder, inside):
    out = succeeds(inside("brown", "small.txt", "-o", "-", "--clusters", "3"))
    rows = [line.split("\t") for line in out.splitlines()]
    assert {len(row) for row in rows} == {3} and {row[1]: int(row[2]) for row in rows}["cat"] == 6
    assert all(set(row[0]) <= {"0", "1"} for row in rows) and rows == sorted(rows, key=lambda row: row[0])


def test_u069_more_clusters_than_words(folder, inside):
    (folder / "ab.txt").write_text("a b a b\n")
    for algorithm in ("brown", "exchange"):
        run = inside("brown", "ab.txt", "-o", "-", "--clusters", "10", "--algorithm", algorithm)
        assert succeeds(run) == "0\ta\t2\n1\tb\t2\n"
        assert b"warning: 2 words make no 10 clusters: each has its own" in run.stderr
        assert run.stderr.count(b"make no") == 1


def test_u050_min_count_that_leaves_nothing(folder, inside):
    (folder / "few.txt").write_text("a b a c d\n")
    run = inside("brown", "few.txt", "-o", "x", "--clusters", "2", "--min-count", "5")
    fails(run, "0 of 4 word types occur at least 5 times (most frequent: `a`, 2)")
    assert not (folder / "x").exists()


def test_u017_nothing_to_read(folder, inside):
    (folder / "empty").write_bytes(b"")
    (folder / "blank").write_bytes(b"\n\n")
    fails(inside("brown", "empty", "-o", "x", "--clusters", "2"), "empty: is empty")
    fails(inside("brown", "blank", "-o", "x", "--clusters", "2"), "blank: holds no token")
    fails(inside("brown", "absent", "-o", "x", "--clusters", "2"), "absent: No such file")
    assert not (folder / "x").exists()


def test_one_word_and_sentences_of_one(folder, inside):
    (folder / "one.txt").write_text("a\n")
    assert succeeds(inside("brown", "one.txt", "-o", "-", "--clusters", "1")) == "0\ta\t1\n"
    (folder / "ones.txt").write_text("a\nb\na\n")
    assert succeeds(inside("brown", "ones.txt", "-o", "-", "--clusters", "2")) == "0\ta\t2\n1\tb\t1\n"


def test_bad_usage(folder, inside):
    for options in (
        ["-o", "x"],
        ["--clusters", "2"],
        ["-o", "x", "--clusters", "0"],
        ["-o", "x", "--clusters", "2", "--algorithm", "greedy"],
        ["-o", "x", "--clusters", "2", "--structure", "graph"],
        ["-o", "small.txt", "--clusters", "2"],
    ):
        fails(inside("brown", "small.txt", *options), code=2)
    message = fails(inside("brown", "small.txt", "-o", "x", "--clusters", "2", "--structure", "tree"), code=1)
    assert "small.txt" in message


@pytest.mark.parametrize(("number", "algorithm"), [(signal.SIGINT, "brown"), (signal.SIGTERM, "exchange")])
def test_u079_interrupted_writes_nothing(folder, number, algorithm):
    random = np.random.default_rng(0)
    words = np.minimum(np.exp(random.random((20_000, 12)) * np.log(20_000)).astype(int), 19_999)
    (folder / "long.txt").write_text("\n".join(" ".join(map(str, row)) for row in words.tolist()) + "\n")
    (folder / "x").write_text("precious")
    process = start(
        folder,
        "brown",
        "long.txt",
        "-o",
        "x",
        "--clusters",
        "1200",
        "--algorithm",
        algorithm,
        "--sweeps",
        "999",
    )
    assert b"word types kept" in process.stderr.readline()
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and out == b"" and b"Traceback" not in err, err
    assert b"words; nothing was written" in err, err
    assert (folder / "x").read_text() == "precious" and not [
        p for p in folder.iterdir() if p.name.startswith(".")
    ]
