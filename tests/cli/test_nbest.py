"""``nbest``: lists of a treebank by jack-knifing and by a model; what is written and what is refused."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time

import numpy as np
import pytest

from tests.cli.conftest import fails, run_wordkit, start, succeeds
from wordkit.formats.conll import read_conll
from wordkit.formats.nbest import read_lists
from wordkit.formats.nbest_counts import read_counts
from wordkit.formats.opening import Input

QUICK = ("--n", "6", "--folds", "3", "--epochs", "2", "--hash-bits", "14", "--threads", "1")


def head(samples, sentences: int) -> str:
    text = (samples / "trees.conllu").read_text()
    return "".join(text.split("\n\n")[i] + "\n\n" for i in range(sentences))


@pytest.fixture(scope="module")
def made(tmp_path_factory, samples):
    """Lists, counts, trees, features and model of 200 sentences, and the same by the model of 50 others."""
    folder = tmp_path_factory.mktemp("nbest")
    (folder / "train.conllu").write_text(head(samples, 200))
    everything = (samples / "trees.conllu").read_text().split("\n\n")
    (folder / "test.conllu").write_text("".join(text + "\n\n" for text in everything[200:250]))
    outputs = ("-o", "train.gz", "--counts-out", "train.counts", "--trees-out", "train.trees", "--model-out", "parser",
               "--features-out", "features", "--log", "log")  # fmt: skip
    run = run_wordkit(folder, "nbest", "train.conllu", *QUICK, *outputs)
    (folder / "report").write_text(succeeds(run))
    (folder / "messages").write_text(run.stderr.decode())
    outputs = ("-o", "test.gz", "--counts-out", "test.counts", "--trees-out", "test.trees")
    (folder / "test.report").write_text(
        succeeds(run_wordkit(folder, "nbest", "test.conllu", "--model", "parser", *outputs))
    )
    return folder


def report(text: str) -> dict[str, str]:
    return dict(line.split("\t") for line in text.splitlines())


@pytest.mark.parametrize("part", ["train", "test"])
def test_lists_counts_and_trees_say_the_same(made, part):
    lists = read_lists(made / f"{part}.gz")
    qids, counts = read_counts(made / f"{part}.counts", lists.candidate_qids())
    gold = list(read_conll(made / f"{part}.conllu"))
    first = list(read_conll(made / f"{part}.trees"))
    assert lists.qids.tolist() == list(range(1, len(gold) + 1))
    assert np.array_equal(lists.scores, counts[:, 0] / counts[:, 1])
    for s, (sentence, parse) in enumerate(zip(gold, first, strict=True)):
        right = sum(a == b for a, b in zip(sentence.heads, parse.heads, strict=True))
        assert counts[lists.starts[s]].tolist() == [right, len(sentence), len(sentence)]
        assert parse.heads.count(0) == 1 and parse.forms == sentence.forms and set(parse.deprels) == {"_"}
        assert lists.starts[s + 1] - lists.starts[s] <= 6
    said = report((made / ("report" if part == "train" else "test.report")).read_text())
    assert float(said["first_fscore"]) == pytest.approx(
        counts[lists.starts[:-1], 0].sum() / counts[lists.starts[:-1], 1].sum(), abs=1e-6
    )
    best = np.maximum.reduceat(counts[:, 0], lists.starts[:-1])
    assert float(said["best_fscore"]) == pytest.approx(
        best.sum() / counts[lists.starts[:-1], 1].sum(), abs=1e-6
    )
    assert int(said["candidates"]) == len(qids)


def test_features_have_names_and_enough_lists(made):
    lists = read_lists(made / "train.gz")
    names = [line.split("\t") for line in (made / "features").read_text().splitlines()]
    assert [int(number) for number, _ in names] == list(range(1, len(names) + 1))
    assert names[0][1] == "score" and len({name for _, name in names}) == len(names)
    assert lists.n_features <= len(names) == int(report((made / "report").read_text())["features"]) + 1
    rows = lists.rows().toarray()
    in_lists = np.zeros(rows.shape[1], int)
    for begin, end in zip(lists.starts[:-1], lists.starts[1:], strict=True):
        in_lists += (rows[begin:end] != rows[begin]).any(axis=0)
        assert rows[begin, 0] == 0 and np.all(np.diff(rows[begin:end, 0]) <= 1e-5)
    assert in_lists[1:].min() >= 5
    # Classes stand together.
    classes = [name.split()[0] for _, name in names[1:]]
    templates = [
        (cls, " ".join(field.split("=")[0] for field in name.split()[1:]))
        for cls, (_, name) in zip(classes, names[1:], strict=True)
    ]
    assert len({t for t in templates}) == 1 + sum(a != b for a, b in itertools.pairwise(templates))
    assert read_lists(made / "test.gz").n_features <= len(names)


def test_the_log_has_every_epoch_of_every_fold(made):
    records = [json.loads(line) for line in (made / "log").read_text().splitlines()]
    assert sorted((r["fold"], r["epoch"]) for r in records) == [(f, e) for f in range(4) for e in (1, 2)]
    messages = (made / "messages").read_text()
    assert "distinct tags in the column upos" in messages and "3 folds in" in messages


def test_the_same_bytes_at_any_number_of_threads_and_after_a_break(made, tmp_path, inside):
    whole = ("nbest", made / "train.conllu", *QUICK[:-1])
    outputs = ("-o", "lists", "--model-out", "parser", "--counts-out", "counts")
    succeeds(inside(*whole, "3", *outputs, "--checkpoint", "ckpt"))
    with Input(made / "train.gz") as source:
        assert (tmp_path / "lists").read_bytes() == source.read()
    assert (tmp_path / "parser").read_bytes() == (made / "parser").read_bytes()
    before = [(tmp_path / name).read_bytes() for name in ("lists", "parser", "counts")]
    for name in ("lists", "parser", "counts"):
        (tmp_path / name).unlink()
    succeeds(inside(*whole, "1", *outputs, "--resume", "ckpt"))
    assert [(tmp_path / name).read_bytes() for name in ("lists", "parser", "counts")] == before
    fails(
        inside(*whole, "1", *outputs, "--seed", "2", "--resume", "ckpt"),
        "ckpt: the checkpoint is of other data or options",
    )
    fails(inside(*whole, "1", *outputs, "--resume", "parser2"), "parser2: No such file")
    fails(inside(*whole, "1", "-o", "lists", "--resume", made / "parser"), "expected a checkpoint of nbest")


def test_an_interrupted_run_goes_on(tmp_path, inside, samples):
    (tmp_path / "part.conllu").write_text(head(samples, 100))
    long = (
        "nbest",
        "part.conllu",
        "--n",
        "3",
        "--folds",
        "4",
        "--epochs",
        "40",
        "--hash-bits",
        "14",
        "--threads",
        "1",
    )
    run = start(tmp_path, *long, "-o", "lists", "--checkpoint", "ckpt")
    until = time.monotonic() + 60
    while not (tmp_path / "ckpt").exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(run.pid, signal.SIGINT)
    _, messages = run.communicate(timeout=60)
    assert run.returncode == 130, messages.decode()
    assert b"state written to ckpt: go on with the same command and --resume ckpt" in messages
    assert not (tmp_path / "lists").exists()
    succeeds(inside(*long, "-o", "lists", "--resume", "ckpt"))
    succeeds(inside(*long, "-o", "again"))
    assert (tmp_path / "lists").read_bytes() == (tmp_path / "again").read_bytes()


def test_chosen_candidates_are_written(made, tmp_path, inside):
    lists = read_lists(made / "test.gz")
    _, counts = read_counts(made / "test.counts")
    oracle = [
        int(np.argmax(counts[b:e, 0])) + 1 for b, e in zip(lists.starts[:-1], lists.starts[1:], strict=True)
    ]
    (tmp_path / "choices").write_text(
        "".join(f"{q}\t{c}\n" for q, c in zip(lists.qids.tolist(), oracle, strict=True))
    )
    again = ("nbest", made / "test.conllu", "--model", made / "parser", "--choices", "choices")
    said = report(succeeds(inside(*again, "--trees-out", "best.conllu")))
    assert said["chosen_fscore"] == said["best_fscore"] != said["first_fscore"]
    gold = [head for sentence in read_conll(made / "test.conllu") for head in sentence.heads]
    best = [head for sentence in read_conll(tmp_path / "best.conllu") for head in sentence.heads]
    share = sum(a == b for a, b in zip(gold, best, strict=True)) / len(gold)
    assert share == pytest.approx(float(report((made / "test.report").read_text())["best_fscore"]), abs=1e-6)
    (tmp_path / "choices").write_text("1\t1\n")
    fails(inside(*again, "--trees-out", "x"), "choices: no candidate of qid 2")
    (tmp_path / "choices").write_text("1\t99\n")
    fails(inside(*again, "--trees-out", "x"), "choices: candidate 99 of qid 1")
    with (tmp_path / "choices").open("w") as out:
        out.writelines(f"{qid}\t1\n" for qid in range(1, 53))
    fails(inside(*again, "--trees-out", "x"), "choices: a choice for qid 51, which has no list")
    (tmp_path / "choices").write_text("1\tx\n")  # read before anything is learned
    run = inside("nbest", made / "train.conllu", *QUICK, "--choices", "choices", "--trees-out", "x")
    fails(run, "choices:1: `1\\tx`")
    assert b"distinct tags" not in run.stderr
    assert not (tmp_path / "x").exists()


def test_tagged_text_is_parsed_to_conll_through_pipes(made, tmp_path, wordkit, inside):
    """Heads may be `_`; ranges, empty nodes and comments stay; what is too long gets no heads."""
    row = "{0}\tword\t_\tNOUN\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    text = (
        "# one\n1-2\twordword"
        + "\t_" * 8
        + "\n"
        + row.format(1)
        + row.format(2)
        + "2.1\tx"
        + "\t_" * 8
        + "\n\n"
    )
    text += "".join(row.format(i) for i in range(1, 5)) + "\n"
    run = wordkit(
        "nbest",
        "-",
        "--model",
        made / "parser",
        "--n",
        "1",
        "--max-length",
        "3",
        "--trees-out",
        "-",
        stdin=text.encode(),
    )
    lines = succeeds(run).split("\n")
    assert lines[0] == "# one" and lines[1].startswith("1-2\t") and lines[4].startswith("2.1\t")
    assert sorted(line.split("\t")[6] for line in lines[2:4]) in (["0", "1"], ["0", "2"])
    assert [line.split("\t")[6] for line in lines[6:10]] == ["_"] * 4
    assert lines[2].split("\t")[7:] == ["_", "_", "SpaceAfter=No"]
    assert "1 of 2 sentences passed over, longer than --max-length 3" in run.stderr.decode()
    (tmp_path / "tagged.conllu").write_text(text)
    run = inside("nbest", "tagged.conllu", "--model", made / "parser", "-o", "-")
    assert all(line.startswith(("0.0 qid:", "#")) for line in succeeds(run).splitlines())
    assert b"wordkit: first_fscore n/a\n" in run.stderr and b"signature: command:nbest" in run.stderr
    run = inside("nbest", "tagged.conllu", "--model", made / "parser", "-o", "l", "--counts-out", "c")
    fails(run, "c: no counts: no sentence has a gold tree")


def test_u028_u037_crossing_arcs_and_several_roots_are_counted_against_the_trees_as_they_are(
    tmp_path, inside
):
    heads = ["2 0 2", "3 4 0 3", "0 0 2", "2 3 0"] * 3
    text = ""
    for line in heads:
        for i, h in enumerate(line.split(), 1):
            text += f"{i}\tw{i}\t_\tX\t_\t_\t{h}\t_\t_\t_\n"
        text += "\n"
    (tmp_path / "t.conll").write_text(text)
    run = inside(
        "nbest",
        "t.conll",
        *QUICK,
        "-o",
        "l",
        "--counts-out",
        "c",
        "--trees-out",
        "t.out",
        "--min-count",
        "1",
        "--json",
    )
    result = json.loads(succeeds(run))
    assert (result["crossing"], result["several_roots"], result["covered"], result["total"]) == (3, 3, 12, 12)
    assert (
        "3 of 12 trees have crossing arcs" in run.stderr.decode()
        and "3 of 12 trees have several roots" in run.stderr.decode()
    )
    _, counts = read_counts(tmp_path / "c")
    assert counts[:, 1].sum() == counts[:, 2].sum()
    for sentence in read_conll(tmp_path / "t.out"):
        assert sentence.heads.count(0) == 1


def test_u038_long_sentences_are_passed_over_and_counted(tmp_path, inside, samples):
    n = 1500
    deep = "".join(f"{i}\tw\t_\tX\t_\t_\t{i - 1}\t_\t_\t_\n" for i in range(1, n + 1))
    (tmp_path / "t.conllu").write_text(head(samples, 12) + deep + "\n")
    run = inside("nbest", "t.conllu", *QUICK, "-o", "l", "--trees-out", "t")
    result = report(succeeds(run))
    assert (result["too_long"], result["covered"], result["total"]) == ("1", "12", "13")
    assert "1 of 13 sentences passed over, longer than --max-length 250" in run.stderr.decode()
    assert list(read_conll(tmp_path / "t", heads="any"))[-1].heads == [-1] * n
    assert read_lists(tmp_path / "l").qids.tolist() == list(range(1, 13))
    fails(
        inside("nbest", "t.conllu", *QUICK, "-o", "m", "--max-length", "1"),
        "every sentence is longer than --max-length 1",
    )


def test_u043_the_number_of_tags_is_told(tmp_path, inside, samples):
    rows = [line.split("\t") for line in head(samples, 60).splitlines()]
    for number, row in enumerate(rows):
        if len(row) == 10:
            row[3] = f"{number}"
    (tmp_path / "ids.conllu").write_text("\n".join("\t".join(row) for row in rows) + "\n")
    run = inside("nbest", "ids.conllu", *QUICK, "-o", "l")
    succeeds(run)
    assert "is the column upos one of tags?" in run.stderr.decode()
    for row in rows:
        if len(row) == 10:
            row[3] = "_"
    (tmp_path / "none.conllu").write_text("\n".join("\t".join(row) for row in rows) + "\n")
    run = inside("nbest", "none.conllu", *QUICK, "-o", "l")
    succeeds(run)
    assert "all tags are the same; --tag-column chooses another column" in run.stderr.decode()


def test_options_without_effect_are_told(made, inside):
    run = inside(
        "nbest",
        made / "test.conllu",
        "--model",
        made / "parser",
        "-o",
        "l",
        "--folds",
        "3",
        "--min-feature-count",
        "2",
    )
    succeeds(run)
    assert (
        "--folds means nothing here" in run.stderr.decode()
        and "--min-feature-count means" in run.stderr.decode()
    )


def test_faults_of_treebanks_and_models(made, tmp_path, inside, samples):
    (tmp_path / "few.conllu").write_text(head(samples, 2))
    fails(inside("nbest", "few.conllu", "-o", "l"), "2 sentences are too few for --folds 10")
    (tmp_path / "bad.conllu").write_text(head(samples, 4) + "1\ta\t_\tX\t_\t_\t2\t_\t_\t_\n\n")
    lines = head(samples, 4).count("\n")
    fails(
        inside("nbest", "bad.conllu", "-o", "l", *QUICK),
        f"bad.conllu:{lines + 1}: head 2 of word 1 is beyond the sentence",
    )
    run = inside("nbest", "bad.conllu", "-o", "l", *QUICK, "--skip-invalid")
    assert run.returncode == 0 and b"sentence skipped" in run.stderr
    fails(
        inside("nbest", "few.conllu", "--model", samples / "trees.conllu", "-o", "l"), "is not a model file"
    )
    fails(inside("info", "few.conllu"))
    data = bytearray((made / "parser").read_bytes())
    (tmp_path / "cut").write_bytes(data[: len(data) // 2])
    fails(
        inside("nbest", "few.conllu", "--model", "cut", "-o", "l"), "cut: is not a model file, or is damaged"
    )
