"""``wordkit neighbors``: lists on standard output, everything else on standard error."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from wordkit.evaluation.neighbors import nearest_neighbors
from wordkit.formats.vectors import read_vectors

TEXT = b"5 2\na 1 0\nb 100 100\nnew york 2 0.1\nzero 0 0\nc 1 0\n"


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "v.vec").write_bytes(TEXT)
    return "v.vec"


def test_u086_same_lists_as_the_library(inside, samples):
    run = inside("neighbors", samples / "vectors.txt", "good", "city", "--top", 7)
    words, vectors = read_vectors(samples / "vectors.txt")
    found = nearest_neighbors(np.array([words.index("good"), words.index("city")]), vectors, top=7)
    expected = [
        f"{query}\t{words[row]}\t{score:.6f}"
        for query, rows, scores in zip(("good", "city"), found.rows, found.scores, strict=True)
        for row, score in zip(rows, scores, strict=True)
    ]
    assert run.returncode == 0 and run.stdout.decode().splitlines() == expected
    run = inside("neighbors", samples / "vectors.txt", "good", "city", "--top", 7, "--threads", 1)
    assert run.stdout.decode().splitlines() == expected


def test_order_ties_and_the_query_itself(inside, vectors):
    run = inside("neighbors", vectors, "a")
    assert run.stdout == b"a\tc\t1.000000\na\tnew york\t0.998752\na\tb\t0.707107\na\tzero\t0.000000\n"
    assert b"the vector of 'zero' is zero" in run.stderr
    run = inside("neighbors", vectors, "a", "--similarity", "dot", "--top", "1")
    assert run.stdout == b"a\tb\t100.000000\n" and b"zero" not in run.stderr


def test_u097_words_on_standard_input(inside, vectors):
    run = inside("neighbors", vectors, "--top", "1", stdin=b"a \r\n\nnew york\t7\nzzz\n")
    assert run.returncode == 0 and run.stdout == b"a\tc\t1.000000\nnew york\ta\t0.998752\n"
    assert b"the word 'zzz' is not there" in run.stderr
    run = inside("neighbors", "-", "a", "--top", "1", stdin=TEXT)
    assert run.stdout == b"a\tc\t1.000000\n"
    assert inside("neighbors", "-", stdin=TEXT).returncode == 2


def test_nothing_to_ask_and_nobody_near(inside, tmp_path, vectors):
    fails(inside("neighbors", vectors, stdin=b"\n\n"), "<stdin>: holds no word")
    (tmp_path / "one.vec").write_text("alone 1 2\n")
    run = inside("neighbors", "one.vec", "--all")
    assert succeeds(run) == "" and b"one.vec: holds one word, which has no neighbours" in run.stderr


def test_unknown_words(inside, vectors):
    run = inside("neighbors", vectors, "zzz", "yyy")
    assert run.returncode == 1 and run.stdout == b"" and b"none of the 2 words" in run.stderr
    run = inside("neighbors", vectors, "zzz", "a", "--strict")
    assert run.returncode == 1 and run.stdout == b""


def test_json(inside, vectors):
    run = inside("-q", "neighbors", vectors, "a", "zzz", "--top", "2", "--json")
    result = json.loads(run.stdout)
    assert run.stdout.count(b"\n") == 1 and run.stderr == b""
    assert (result["command"], result["covered"], result["total"], result["zero_vectors"]) == (
        "neighbors",
        1,
        2,
        1,
    )
    assert result["signature"].startswith("command:neighbors|top:2|similarity:cosine|")
    (entry,) = result["results"]
    assert entry["query"] == "a" and [near["word"] for near in entry["neighbors"]] == ["c", "new york"]
    assert entry["neighbors"][0]["score"] == 1.0


def test_restriction_to_the_first_rows(inside, vectors):
    assert inside("neighbors", vectors, "a", "--max-rows", 2).stdout == b"a\tb\t0.707107\n"


def test_u014_a_query_without_a_finite_vector(inside, tmp_path):
    (tmp_path / "v.vec").write_bytes(b"3 2\na nan 1\nb 1 0\nc 1 1\n")
    run = inside("neighbors", "v.vec", "b", "a")
    assert run.returncode == 0 and run.stdout == b"b\tc\t0.707107\n" and b"'a'" in run.stderr
    run = inside("neighbors", "v.vec", "a")
    assert run.returncode == 1 and run.stderr.count(b"error") == 1


def test_probabilities(inside, tmp_path):
    (tmp_path / "v.vec").write_bytes(b"a 0.25 0.75\nb 0.25 0.75\nc 1 0\n")
    run = inside("neighbors", "v.vec", "a", "--similarity", "bhattacharyya")
    assert run.stdout == b"a\tb\t1.000000\na\tc\t0.500000\n"
    (tmp_path / "v.vec").write_bytes(b"a 0.25 0.75\nb -1 2\n")
    run = inside("neighbors", "v.vec", "a", "--similarity", "bhattacharyya")
    assert run.returncode == 1 and b"negative" in run.stderr and b"bug" not in run.stderr


def test_help_ends_with_an_example(inside):
    assert b"Example" in inside("neighbors", "-h").stdout


def test_thesaurus(inside, tmp_path):
    (tmp_path / "v.vec").write_bytes(b"a 0.25 0.75\nb 0.25 0.75\nc 1 0\nd nan 1\n")
    run = inside(
        "neighbors", "v.vec", "--all", "--similarity", "bhattacharyya", "--format", "lines", "-o", "t.txt"
    )
    assert run.returncode == 0 and run.stdout == b""
    assert (
        tmp_path / "t.txt"
    ).read_bytes() == b"a\tb(1.00)\tc(0.50)\nb\ta(1.00)\tc(0.50)\nc\ta(0.50)\tb(0.50)\n"
    run = inside("neighbors", "v.vec", "--all", "--top", 1)
    assert run.stdout == b"a\tb\t1.000000\nb\ta\t1.000000\nc\ta\t0.316228\n"
    result = json.loads(inside("neighbors", "v.vec", "--all", "--json").stdout)
    assert (result["covered"], result["total"]) == (3, 4) and [r["query"] for r in result["results"]] == [
        "a",
        "b",
        "c",
    ]
    assert inside("neighbors", "v.vec", "a", "--all").returncode == 2
    before = (tmp_path / "t.txt").read_bytes()
    run = inside("neighbors", "v.vec", "zzz", "-o", "t.txt")
    assert run.returncode == 1 and (tmp_path / "t.txt").read_bytes() == before
    assert inside("neighbors", "v.vec", "a", "-o", "v.vec").returncode == 2


def test_batches_of_queries_give_the_same_lists(inside, samples, monkeypatch):
    whole = inside("neighbors", samples / "vectors.txt", "--all", "--top", 3).stdout
    monkeypatch.setattr("wordkit.evaluation.neighbors.WORDS_AT_ONCE", 77)
    assert (
        whole.count(b"\n") == 1800
        and inside("neighbors", samples / "vectors.txt", "--all", "--top", 3).stdout == whole
    )


@pytest.mark.parametrize("similarity", ["kl", "chi-squared", "jensen-shannon", "hellinger"])
def test_distances_of_probabilities(inside, tmp_path, similarity):
    (tmp_path / "v.vec").write_bytes(b"a 0.25 0.75\nb 0.3 0.7\nc 1 0\ne 0.25 0.75\n")
    lines = inside("neighbors", "v.vec", "a", "--similarity", similarity).stdout.decode().splitlines()
    assert [line.split("\t")[1] for line in lines] == ["e", "b", "c"]
    scores = [float(line.split("\t")[2]) for line in lines]
    assert scores[0] == 0 > scores[1] > scores[2]


def test_mapped_vectors_give_the_same_lists(inside, vectors, tmp_path):
    """And rows with nan or inf are told, though no reader has looked at them."""
    (tmp_path / "v.vec").write_bytes(TEXT + b"odd nan 1\nodder 1 inf\n")
    inside("convert", vectors, "v.npz")
    read, mapped = (inside("neighbors", "v.npz", "a", *more) for more in ((), ("--mmap",)))
    assert read.returncode == mapped.returncode == 0
    assert read.stdout == mapped.stdout and read.stdout.count(b"\n") == 4
    for run in (read, mapped):
        assert b"v.npz: row 6: the vector of 'odd' holds nan or inf (2 x row with nan or inf)" in run.stderr
    assert b"|data:unread|" in mapped.stderr
    run = inside("neighbors", vectors, "a", "--mmap")
    assert run.returncode == 1 and run.stdout == b""
    assert (
        b"v.vec: cannot be mapped into memory, expected a plain file of `wordkit convert VEC FILE.npz`"
        in run.stderr
    )


def test_words_of_dimensions(inside, vectors, tmp_path):
    (tmp_path / "v.vec").write_bytes(TEXT + b"low 0 -200\nodd nan 1\n")
    text = succeeds(inside("neighbors", "v.vec", "--dimension", "1", "--dimension", "0", "--top", "2"))
    assert text == "1\tlow\t-200.000000\n1\tb\t100.000000\n0\tb\t100.000000\n0\tnew york\t2.000000\n"
    assert (
        succeeds(inside("neighbors", "v.vec", "--dimension", "1", "--top", "9")).count("\n") == 4
    )  # no zeros
    line = succeeds(inside("neighbors", "v.vec", "--dimension", "1", "--top", "2", "--format", "lines"))
    assert line == "1\tlow(-200.00)\tb(100.00)\n"
    found = json.loads(succeeds(inside("neighbors", "v.vec", "--dimension", "1", "--json")))
    assert found["results"][0]["words"][0] == {"word": "low", "value": -200.0}
    (tmp_path / "zero.vec").write_bytes(b"1 2\na 0 1\n")
    run = inside("neighbors", "zero.vec", "--dimension", "0")
    assert succeeds(run) == "" and b"no word has a value in dimension 0" in run.stderr
    fails(
        inside("neighbors", "v.vec", "--dimension", "2"),
        "v.vec: there is no dimension 2, the vectors have 2, from 0",
    )
    fails(
        inside("neighbors", "v.vec", "a", "--dimension", "1"),
        "--dimension lists the words of dimensions",
        code=2,
    )
