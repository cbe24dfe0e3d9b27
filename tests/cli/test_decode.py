"""``wordkit decode``: classes of words in their sentences."""

from __future__ import annotations

import gzip
import os
import subprocess

import numpy as np
import pytest

from tests.cli.conftest import fails, made, succeeds
from tests.cli.test_train_rpa import on_path
from wordkit.models.tree_corpus import TreeCorpus
from wordkit.models.tree_model import TreeModel

MODEL = ("--states", "6", "--k", "4", "--epochs", "2", "--quiet")
ODD = """# a comment
#    another = one

1-2\tThe-the\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\tSpaceAfter=No
2\tunheard-of\tx\tNOUN\tNN\tA=b|C=d\t0\troot\t0:root|3:x\t_
2.1\tgone\tgo\tVERB\t_\t_\t_\t_\t1:a\tClass=9
3\t?\t?\tPUNCT\t.\t_\t2\tpunct\t_\tA=1|B=2

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, samples):
    folder = tmp_path_factory.mktemp("decode")
    blocks = (samples / "trees.conllu").read_text().split("\n\n")[:60]
    (folder / "s.conllu").write_text("\n\n".join(blocks) + "\n\n")
    (folder / "s.txt").write_text(
        "".join((samples / "corpus.txt").read_text().splitlines(keepends=True)[:100])
    )
    made(folder, "train-hmtm", "s.conllu", "-o", "tree", *MODEL)
    made(folder, "train-hmtm", "s.txt", "-o", "chain", "--structure", "chain", *MODEL)
    return folder


def misc(text: str) -> list[str]:
    """Of each word the value that was added."""
    rows = [line.split("\t") for line in text.splitlines() if line and line[0].isdigit()]
    return [row[9].rsplit("=", 1)[1] for row in rows if row[0].isdigit()]


def dense(texts: list[str], width: int) -> np.ndarray:
    out = np.zeros((len(texts), width))
    for row, text in zip(out, texts, strict=True):
        for cell in text.split(","):
            number, _, probability = cell.partition(":")
            row[int(number)] = float(probability)
    return out


def test_output_is_that_of_the_model_in_python(inside, folder):
    model = TreeModel.load(folder / "tree").model
    rows = [b.splitlines() for b in (folder / "s.conllu").read_text().split("\n\n") if b.strip()]
    rows = [[line.split("\t") for line in block if not line.startswith("#")] for block in rows]
    words, heads = [[r[1] for r in s] for s in rows], [[int(r[6]) for r in s] for s in rows]
    corpus = TreeCorpus.from_sentences(
        words, heads, vocabulary=model.vocabulary_, label_names=model.label_names_
    )
    for projection in ("exact", "kbest", "ebest"):
        options = (folder / "tree", folder / "s.conllu", "--projection", projection)
        text = succeeds(inside("decode", *options))
        assert [int(c) for c in misc(text)] == np.concatenate(
            model.decode(corpus, projection=projection)
        ).tolist()
        text = succeeds(
            inside("decode", *options, "--representation", "posterior-token", "--min-probability", "0")
        )
        found, expected = dense(misc(text), 6), np.concatenate(model.transform(corpus, projection=projection))
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-12)
    text = succeeds(inside("decode", *options, "--representation", "both", "--min-probability", "0"))
    types = model.word_vectors()[model.vocabulary_.numbers([word for s in words for word in s])]
    np.testing.assert_allclose(dense(misc(text), 12)[:, 6:], types, rtol=1e-3, atol=1e-12)


def test_u053_probabilities_lie_between_0_and_1_and_sum_to_1(inside, folder):
    for kind in ("posterior-token", "posterior-type"):
        options = ("--representation", kind, "--min-probability", "0", "--format", "tsv")
        text = succeeds(inside("decode", folder / "tree", folder / "s.conllu", *options))
        found = dense([line.split("\t")[1] for line in text.splitlines() if line], 6)
        assert found.min() >= 0 and found.max() <= 1
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=2e-3)  # four digits are printed
    cut = succeeds(inside("decode", folder / "tree", folder / "s.conllu", "--representation", "posterior-token",
                          "--min-probability", "1"))  # fmt: skip
    assert all(text.count(":") >= 1 for text in misc(cut))


def test_all_but_misc_stays_byte_for_byte(inside, folder, tmp_path):
    (tmp_path / "odd.conllu").write_text(ODD.replace("\n\n1-2", "\n1-2"))
    out = succeeds(inside("decode", folder / "tree", "odd.conllu"))
    given = (tmp_path / "odd.conllu").read_text().split("\n")
    assert len(out.split("\n")) == len(given)
    for before, after in zip(given, out.split("\n"), strict=True):
        if before[:1].isdigit() and before.split("\t")[0].isdigit():
            assert after.split("\t")[:9] == before.split("\t")[:9]
            kept, _, added = after.split("\t")[9].rpartition("Class=")
            assert kept.rstrip("|") == before.split("\t")[9].replace("_", "") and added.isdigit()
        else:
            assert after == before
    again = succeeds(inside("decode", folder / "tree", "odd.conllu", "-o", "one.conllu"))
    assert again == "" and (tmp_path / "one.conllu").read_text() == out
    assert succeeds(inside("decode", folder / "tree", "one.conllu")) == out, "an earlier Class= is replaced"


def test_text_for_chains(inside, folder, tmp_path):
    (tmp_path / "t").write_text("the dog\n\n\nof zzz\n")
    out = succeeds(inside("decode", folder / "chain", "t"))
    assert [[row.split("\t")[0] for row in block.split("\n")] for block in out.rstrip("\n").split("\n\n")] == [
        ["the", "dog"], ["of", "zzz"]]  # fmt: skip
    conll = succeeds(inside("decode", folder / "chain", "t", "--format", "conll"))
    assert conll.split("\n")[0].split("\t")[:2] == ["1", "the"]
    assert misc(conll) == [row.split("\t")[1] for row in out.splitlines() if row]
    # A chain model reads CoNLL too, whatever its heads.
    (tmp_path / "c.conllu").write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert misc(succeeds(inside("decode", folder / "chain", "c.conllu"))) == misc(conll)[:2]


def test_u072_unknown_words_are_decoded_and_counted(inside, folder, tmp_path):
    (tmp_path / "t").write_text("zzz yyy\nxxx\n")
    run = inside("decode", folder / "chain", "t", "--representation", "both")
    assert len(succeeds(run).split()) == 6 and "nan" not in run.stdout.decode()
    assert "3 tokens decoded, 3 of them unknown to the model" in run.stderr.decode()


def test_u073_long_sentences_do_not_underflow(inside, folder, tmp_path):
    (tmp_path / "t").write_text("the dog of a king " * 1000 + "\n")
    out = succeeds(inside("decode", folder / "chain", "t", "--representation", "posterior-token"))
    texts = [line.split("\t")[1] for line in out.splitlines() if line]
    assert len(texts) == 5000 and len(set(texts[2000:3000])) > 1 and "nan" not in out


def test_bad_sentences(inside, folder, tmp_path):
    good = ODD.replace("\n\n1-2", "\n1-2")
    (tmp_path / "x.conllu").write_text(good + good.replace("\t2\tpunct", "\t3\tpunct") + good)
    (tmp_path / "out").write_text("old")
    fails(inside("decode", folder / "tree", "x.conllu", "-o", "out"), "x.conllu:15: word 3 is its own head")
    assert (tmp_path / "out").read_text() == "old"
    run = inside("decode", folder / "tree", "x.conllu", "--skip-invalid")
    assert succeeds(run).count("another = one") == 2 and "x.conllu:15: " in run.stderr.decode()


@pytest.mark.parametrize("options", [(), ("--input-format", "text")])
def test_text_where_the_model_needs_more(inside, folder, tmp_path, options):
    message = fails(
        inside("decode", folder / "tree", folder / "s.txt", *options, "-o", "out"),
        "s.txt:1: plain text has no trees",
    )
    assert message.count("\n") == 1 and os.listdir(tmp_path) == []
    lemmas = ("--structure", "chain", "--token", "lemma/pos", *MODEL)
    succeeds(inside("train-hmtm", folder / "s.conllu", "-o", "lemmas", *lemmas))
    fails(inside("decode", "lemmas", folder / "s.txt", *options), "s.txt:1: plain text has no lemmas")
    succeeds(inside("decode", "lemmas", folder / "s.conllu"))


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "2"])
def test_probabilities_that_are_none(inside, folder, value):
    fails(inside("decode", folder / "tree", folder / "s.conllu", "--min-probability", value), code=2)


def test_u017_u104_wrong_files(inside, folder, questions, tmp_path):
    (tmp_path / "empty").write_text("")
    for name in ("tree", "chain"):
        fails(inside("decode", folder / name, "empty"), "empty: is empty")
        fails(inside("decode", folder / name, folder / "tree"), "tree")
        fails(inside("decode", folder / name, "nowhere"), "nowhere: No such file")
    fails(
        inside("decode", questions, folder / "s.txt"),
        "this is a model of kind 'rpa', expected a hidden Markov tree",
    )
    fails(inside("decode", folder / "s.txt", folder / "s.txt"), "is not a model file")
    fails(
        inside("decode", folder / "tree", folder / "s.conllu", "-o", folder / "s.conllu"), "an input", code=2
    )


def test_pipes_and_compressed_files(folder, tmp_path, inside):
    data = (folder / "s.conllu").read_bytes()
    plain = succeeds(inside("decode", folder / "tree", folder / "s.conllu"))
    (tmp_path / "s.gz").write_bytes(gzip.compress(data))
    assert succeeds(inside("decode", folder / "tree", "-", stdin=gzip.compress(data))) == plain
    succeeds(inside("decode", folder / "tree", "s.gz", "-o", "out.gz", "--threads", "2"))
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == plain
    (tmp_path / "big.conllu").write_bytes(data * 12)
    script = f"wordkit decode {folder / 'tree'} big.conllu | head -1"
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, env=on_path(tmp_path), check=False
    )
    assert (run.returncode, run.stderr, run.stdout.count(b"\n")) == (0, b"", 1)


def test_words_of_entity_columns_are_decoded_as_text(inside, tmp_path):
    (tmp_path / "c.txt").write_text("the cat sat\nthe dog ran\n" * 5)
    (tmp_path / "n.conll").write_text("-DOCSTART- O\n\nthe O\ncat B-X\n\ndog O\n")
    options = ("--structure", "chain", "--states", "3", "--min-count", "1")
    assert inside("train-hmtm", "c.txt", "-o", "m", *options).returncode == 0
    run = inside("decode", "m", "n.conll", "--input-format", "columns")
    assert run.returncode == 0
    assert [line.split(b"\t")[0] for line in run.stdout.split(b"\n")] == [
        b"the",
        b"cat",
        b"",
        b"dog",
        b"",
        b"",
    ]
    (tmp_path / "bad.conll").write_text("the NN\n")
    run = inside("decode", "m", "bad.conll", "--input-format", "columns")
    assert run.returncode == 1 and b"bad.conll:1: tag `NN`" in run.stderr
