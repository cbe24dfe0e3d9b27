"""``wordkit evaluate composition``: the samples, a model's transitions, and how odd input is told of."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import fails, made, succeeds


@pytest.fixture(scope="module")
def chain(shared):
    made(
        shared, "train-hmtm", "data_samples/corpus.txt", "-o", "phrases.model", "--structure", "chain", "--states", "8",
        "--epochs", "1", "--vectors-out", "phrases.vec",
    )  # fmt: skip
    return shared


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_the_sample(inside, samples):
    result = found(
        inside("evaluate", "composition", samples / "vectors.txt", samples / "phrases.txt", "--json")
    )
    assert result["covered"] == result["total"] == 60 and result["t_add"] is None
    assert result["add"] > 0.3 and set(result["spearman"]) == {"baseline", "add", "mult", "t_add", "t_mult"}


def test_all_kinds_in_one_table(inside, chain, tmp_path):
    (tmp_path / "verbs.txt").write_text(
        "verb subject object landmark score\n"
        "wrote painter song painted 6\nwrote actor novel found 2\nsings singer song wrote 3\n"
    )
    sets = (chain / "data_samples" / "phrases.txt", "verbs.txt", chain / "data_samples" / "pairs.txt")
    arguments = (
        "evaluate",
        "composition",
        chain / "phrases.vec",
        *sets,
        "--transition",
        chain / "phrases.model",
    )
    lines = [
        line.split("\t")
        for line in succeeds(inside(*arguments, "--summary", "--similarity", "hellinger")).splitlines()
    ]
    assert lines[0] == [
        "data", "baseline", "add", "mult", "t_add", "t_mult", "t_statistic", "p_value", "mean_acceptable", "mean_deviant",
        "covered", "total",
    ]  # fmt: skip
    assert len(lines) == 5 and lines[1][6] == "n/a" != lines[1][4] and lines[3][1] == "n/a" != lines[3][6]
    result = found(inside(*arguments, "--json", "--intervals"))["results"][0]
    assert result["intervals"]["t_mult"]["low"] < result["t_mult"] < result["intervals"]["t_mult"]["high"]


def test_acceptability_needs_a_model(inside, samples):
    run = inside("evaluate", "composition", samples / "vectors.txt", samples / "pairs.txt")
    fails(run, "--transition MODEL", code=2)


def test_odd_input(inside, tmp_path, samples):
    (tmp_path / "none.txt").write_text("adjectivenouns q w e r 3\n")
    run = inside("evaluate", "composition", samples / "vectors.txt", "none.txt")
    assert succeeds(run).splitlines()[:2] == ["baseline\tn/a", "add\tn/a"]
    assert b"none.txt: n/a (0 of 1 judgements to score)" in run.stderr
    (tmp_path / "bad.txt").write_text("adjectivenouns good soup bad soup x1\n" * 2)
    fails(
        inside("evaluate", "composition", samples / "vectors.txt", "bad.txt"),
        "bad.txt:2: `x1` is not a number",
    )
    fails(
        inside("evaluate", "composition", samples / "vectors.txt", samples / "vectors.txt"), "of another kind"
    )
