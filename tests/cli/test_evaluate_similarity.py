"""``wordkit evaluate similarity``: several sets, JSON, and how odd input is told of."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from wordkit.formats.vectors import read_vectors, write_vectors
from wordkit.formats.word_pairs import read_word_pairs

VECTORS = "4 2\na 1 0\nc 0 1\nd -1 0\nb 0.8 0.6\n"
PAIRS = "a\tb\t9\na\tc\t5\na\td\t1\na\tzzz\t10\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text(VECTORS)
    (tmp_path / "one.txt").write_text(PAIRS)
    (tmp_path / "none.txt").write_text("x\ty\t1\ny\tz\t2\nx\tz\t3\n")
    return tmp_path


def test_the_sample(inside, samples):
    run = inside("evaluate", "similarity", samples / "vectors.txt", samples / "similarity.txt", "--json")
    found = json.loads(run.stdout)
    words, vectors = read_vectors(samples / "vectors.txt")
    unit = vectors.astype(float) / np.linalg.norm(vectors.astype(float), axis=1, keepdims=True)
    pairs = read_word_pairs(samples / "similarity.txt")
    at = {word: i for i, word in enumerate(words)}
    scores = [unit[at[a]] @ unit[at[b]] for a, b in zip(pairs.first, pairs.second, strict=True)]
    assert found["spearman"] == pytest.approx(spearmanr(scores, pairs.scores)[0], rel=1e-9)
    assert found["pearson"] == pytest.approx(pearsonr(scores, pairs.scores)[0], rel=1e-9)
    assert found["command"] == "evaluate similarity" and found["covered"] == found["total"] == 240
    assert found["results"][0]["parameters"] == {
        "similarity": "cosine",
        "unknown": "skip",
        "ignore_case": False,
    }


def test_u081_pairs_used_and_missing_are_always_shown(inside, files):
    run = inside("evaluate", "similarity", "v.vec", "one.txt")
    assert (
        run.stdout.decode().splitlines()[0::2] == ["spearman\t1", "covered\t3"]
        and b"total\t4\n" in run.stdout
    )
    assert b"one.txt: 3 of 4 pairs scored, 1 has an unknown word (--unknown skip): zzz" in run.stderr
    run = inside("evaluate", "similarity", "v.vec", "one.txt", "--unknown", "zero", "--json")
    found = json.loads(run.stdout)
    assert found["spearman"] == pytest.approx(0.632, abs=5e-4) and (found["covered"], found["total"]) == (
        3,
        4,
    )
    assert found["used"] == 4 and found["unknown_words"] == ["zzz"]


def test_u082_nothing_to_score_is_null(inside, files):
    run = inside("evaluate", "similarity", "v.vec", "none.txt")
    assert run.returncode == 0 and run.stdout == b"spearman\tn/a\npearson\tn/a\ncovered\t0\ntotal\t3\n"
    assert b"none.txt: n/a (0 of 3 pairs to score)" in run.stderr
    found = json.loads(inside("evaluate", "similarity", "v.vec", "none.txt", "one.txt", "--json").stdout)
    assert [r["spearman"] for r in found["results"]] == [None, pytest.approx(1.0)]
    assert found["spearman"] == pytest.approx(1.0) and (found["covered"], found["total"]) == (3, 7)


def test_several_sets_have_their_mean_first(inside, files):
    (files / "two.txt").write_text("a,c,9\na,b,5\na,d,1\n")
    run = inside("evaluate", "similarity", "v.vec", "one.txt", "two.txt")
    lines = [line.split("\t") for line in run.stdout.decode().splitlines()]
    assert lines[0] == ["spearman", "0.75", "mean"] and [l[2] for l in lines[4::4]] == ["one.txt", "two.txt"]


def test_options_change_the_signature_and_the_result(inside, files):
    (files / "upper.txt").write_text("A\tB\t9\nA\tC\t5\nA\tD\t1\n")
    covered = []
    for options in (
        (),
        ("--ignore-case",),
        ("--unknown", "lowercase"),
        ("--ignore-case", "--restrict-vocab", "3"),
    ):
        found = json.loads(inside("evaluate", "similarity", "v.vec", "upper.txt", *options, "--json").stdout)
        covered.append((found["covered"], found["signature"]))
    assert [n for n, _ in covered] == [0, 3, 3, 2] and len({name for _, name in covered}) == 4


def test_vectors_from_standard_input_once(inside, files):
    run = inside("evaluate", "similarity", "-", "one.txt", stdin=VECTORS.encode())
    assert run.returncode == 0 and run.stdout.startswith(b"spearman\t1\n")
    run = inside("evaluate", "similarity", "v.vec", "-", stdin=PAIRS.encode())
    assert run.returncode == 0 and run.stdout.startswith(b"spearman\t1\n")
    run = inside("evaluate", "similarity", "-", "-", stdin=b"")
    assert run.returncode == 2 and b"standard input" in run.stderr


def test_bad_lines_negative_values_and_zero_vectors(inside, files):
    (files / "bad.txt").write_text(PAIRS + "a\tb\n")
    run = inside("evaluate", "similarity", "v.vec", "bad.txt")
    assert run.returncode == 1 and run.stdout == b""
    assert run.stderr == b"wordkit: error: bad.txt:5: 2 columns, expected 3: word, word, score\n"
    run = inside("evaluate", "similarity", "v.vec", "bad.txt", "--skip-invalid")
    assert run.returncode == 0 and b"(pair skipped)" in run.stderr
    run = inside("evaluate", "similarity", "v.vec", "one.txt", "--similarity", "kl")
    assert run.returncode == 1 and b"v.vec: the vector of 'd' holds negative values" in run.stderr
    (files / "z.vec").write_text(VECTORS.replace("d -1 0", "d 0 0"))
    run = inside("evaluate", "similarity", "z.vec", "one.txt", "one.txt")
    assert run.returncode == 0 and b"'d' is zero: its cosine with anything is 0 (zero vector)" in run.stderr
    assert inside("evaluate", "similarity", "z.vec", "one.txt", "--strict").returncode == 1


@pytest.mark.realdata
def test_real_sets_in_one_call(inside, real_data, tmp_path):
    """Vectors that are made so that the cosine follows the scores of WS-353 as well as it can for words in one pair."""
    sets = [real_data / "wordsim" / f"EN-WS-353-{name}.txt" for name in ("ALL", "REL", "SIM")]
    pairs = read_word_pairs(sets[0])
    words = sorted({*pairs.first, *pairs.second})
    at = {word: i for i, word in enumerate(words)}
    gram = np.zeros((len(words), len(words)))
    for a, b, score in zip(pairs.first, pairs.second, pairs.scores, strict=True):
        gram[at[a], at[b]] = gram[at[b], at[a]] = score / 10
    np.fill_diagonal(gram, 0)
    values, basis = np.linalg.eigh(gram)
    vectors = basis * np.sqrt(np.clip(values - values.min(), 0, None))
    write_vectors(tmp_path / "made.vec", words, vectors.astype(np.float32))
    found = json.loads(inside("evaluate", "similarity", "made.vec", *sets, "--json").stdout)
    assert [(r["covered"], r["total"]) for r in found["results"]] == [(353, 353), (252, 252), (203, 203)]
    assert all(r["spearman"] > 0.98 for r in found["results"])
    assert found["pearson"] == pytest.approx(np.mean([r["pearson"] for r in found["results"]]))
