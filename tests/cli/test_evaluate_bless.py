"""``wordkit evaluate bless``: the sample, transitions of a model, JSON, and how odd input is told of."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import fails, made, succeeds


@pytest.fixture(scope="module")
def trees(shared):
    made(
        shared, "train-hmtm", "data_samples/trees.conllu", "-o", "bless.model", "--states", "8", "--epochs", "1",
        "--vectors-out", "bless.vec",
    )  # fmt: skip
    return shared


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_the_sample(inside, samples):
    result = found(inside("evaluate", "bless", samples / "vectors.txt", samples / "relations.txt", "--json"))
    assert result["covered"] == result["total"] == 684 and result["concepts"] == 20
    assert 0.6 < result["average_precision"] < 1 and result["median_coord"] > result["median_random_n"]
    assert len(result["scores"]["coord"]) == 20 and result["unknown_words"] == []


def test_transitions_change_what_they_should(inside, trees):
    sample = trees / "data_samples" / "relations.txt"
    arguments = ("evaluate", "bless", trees / "bless.vec", sample, "--similarity", "hellinger", "--json")
    plain = found(inside(*arguments))
    moved = found(inside(*arguments, "--transition", trees / "bless.model"))
    assert moved["parameters"] if "parameters" in moved else moved["results"][0]["parameters"]["transition"]
    assert plain["covered"] == moved["covered"] > 300
    assert plain["scores"]["attri"] != moved["scores"]["attri"] and plain["signature"] != moved["signature"]
    fails(inside("evaluate", "bless", trees / "data_samples" / "vectors.txt", sample, "--transition", trees / "bless.model"),
          "8 classes, but the vectors have 20 dimensions")  # fmt: skip


def test_several_sets_and_intervals(inside, samples, tmp_path):
    text = (samples / "relations.txt").read_text().splitlines(keepends=True)
    (tmp_path / "half.txt").write_text("".join(text[:300]))
    run = inside(
        "evaluate",
        "bless",
        samples / "vectors.txt",
        samples / "relations.txt",
        "half.txt",
        "--summary",
        "--intervals",
    )
    lines = [line.split("\t") for line in succeeds(run).splitlines()]
    assert lines[0][:4] == ["data", "average_precision", "average_precision_low", "average_precision_high"]
    assert [line[0] for line in lines[2:]] == ["half.txt", "mean"]
    low, high = map(float, lines[1][2:4])
    assert low < float(lines[1][1]) < high


def test_details_are_lines(inside, samples):
    lines = succeeds(
        inside("evaluate", "bless", samples / "vectors.txt", samples / "relations.txt", "--details")
    ).splitlines()
    assert any(line.startswith("relations/coord/lower_quartile\t") for line in lines)
    assert not any(line.startswith(("scores", "precision")) for line in lines)


def test_odd_input(inside, tmp_path, samples):
    (tmp_path / "none.txt").write_text("zzz\tc\tcoord\tyyy\n")
    run = inside("evaluate", "bless", samples / "vectors.txt", "none.txt")
    assert succeeds(run) == "average_precision\tn/a\nmedian_coord\tn/a\ncovered\t0\ntotal\t1\n"
    assert b"none.txt: n/a (0 of 1 tuples to score)" in run.stderr
    (tmp_path / "bad.txt").write_text("cat\tc\tcoord\tdog\ncat\tc\tcoord\n")
    fails(inside("evaluate", "bless", samples / "vectors.txt", "bad.txt"), "bad.txt:2: 3 columns, expected 4")
    succeeds(inside("evaluate", "bless", samples / "vectors.txt", "bad.txt", "--skip-invalid"))
    fails(
        inside("evaluate", "bless", samples / "vectors.txt", "none.txt", "--strict"),
        "1 of 1 tuples have words",
    )
    fails(
        inside("evaluate", "bless", samples / "vectors.txt", "none.txt", "--transition", "none.txt"),
        "none.txt",
    )
