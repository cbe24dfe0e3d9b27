"""``wordkit train-hmtm``: odd and broken data."""

from __future__ import annotations

import gzip
import json
import os

import numpy as np
import pytest

from tests.cli.conftest import fails, succeeds
from wordkit.formats.model_file import read_header, read_model
from wordkit.formats.vectors import read_vectors
from wordkit.models.tree_model import TreeModel

CHAIN = ("--structure", "chain", "--min-count", "1", "--states", "4", "--epochs", "2")
TREE = ("--min-count", "1", "--states", "4", "--epochs", "2")


def conll(*sentences: list[tuple[str, object]]) -> str:
    """Sentences of (word, head)."""
    return "".join(
        "".join(f"{i}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for i, (word, head) in enumerate(sentence, 1))
        + "\n"
        for sentence in sentences
    )


def written(folder, text: str | bytes, name: str) -> str:
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def sound(path) -> TreeModel:
    """The model of a path, whose numbers must be probabilities."""
    model = TreeModel.load(path)
    for matrix, axis in ((model.model.emissions_, 0), (model.model.transitions_, 1), (model.model.start_, 0)):
        assert np.isfinite(matrix).all() and (matrix >= 0).all()
        np.testing.assert_allclose(matrix.sum(axis=axis), 1, atol=1e-9)
    assert np.isfinite(model.model.word_vectors()).all()
    return model


@pytest.mark.parametrize("method", ["online", "batch"])
@pytest.mark.parametrize("projection", ["kbest", "exact"])
def test_u071_more_states_than_the_text_has_use_for(inside, tmp_path, method, projection):
    path = written(tmp_path, "a b\na b\n", "x")
    options = ("--states", "10", "--epochs", "50", "--method", method, "--projection", projection)
    run = inside("train-hmtm", path, "-o", "m", *CHAIN, *options, "--json", "--vectors-out", "v.vec")
    assert "NaN" not in succeeds(run)
    sound(tmp_path / "m")
    assert np.isfinite(read_vectors(tmp_path / "v.vec")[1]).all()
    succeeds(inside("classes", "m", "--transitions", "--json"))
    assert len(succeeds(inside("decode", "m", "x", "--representation", "both")).split()) == 8


def test_u018_own_token_in_the_text(inside, tmp_path):
    path = written(tmp_path, "-*- a b -*- a b\n", "x")
    run = inside("train-hmtm", path, "-o", "m", *CHAIN, "--vectors-out", "v.vec")
    succeeds(run)
    assert "`-*-` occurs 2 times in the text: it is the token of rare words" in run.stderr.decode()
    assert sorted(read_vectors(tmp_path / "v.vec")[0]) == ["-*-", "a", "b"]
    assert sorted(sound(tmp_path / "m").model.vocabulary_.words) == ["-*-", "a", "b"]
    fails(inside("train-hmtm", written(tmp_path, "-*-\n", "y"), "-o", "m", *CHAIN), "no word but `-*-`")


@pytest.mark.parametrize("projection", ["kbest", "exact"])
def test_u073_depth_and_fan_out(inside, tmp_path, projection):
    n = 5000
    words = ["a", "b", "c"]
    deep = [(words[i % 3], i) for i in range(n)]
    wide = [(words[i % 3], 1 if i else 0) for i in range(n)]
    path = written(tmp_path, conll(deep, wide, deep), "x.conllu")
    options = ("--max-length", "10000", "--projection", projection, "--k", "3")
    run = inside("train-hmtm", path, "-o", "m", *TREE, *options, "--json")
    assert np.isfinite(json.loads(succeeds(run))["log_likelihood"])
    sound(tmp_path / "m")
    out = succeeds(
        inside("decode", "m", path, "--projection", projection, "--representation", "posterior-token")
    )
    assert out.count("Posterior=") == 3 * n and "nan" not in out


def test_u073_long_line(inside, tmp_path):
    path = written(tmp_path, "a b c a c " * 1000 + "\na\n", "x")
    run = inside("train-hmtm", path, "-o", "m", *CHAIN, "--max-length", "10000", "--json")
    assert np.isfinite(json.loads(succeeds(run))["log_likelihood"])
    run = inside("train-hmtm", path, "-o", "n", *CHAIN)
    succeeds(run)
    assert (
        "1 sentences with 5000 tokens are passed over: longer than 50 tokens (--max-length)"
        in run.stderr.decode()
    )
    sound(tmp_path / "m"), sound(tmp_path / "n")


def test_odd_shapes(inside, tmp_path):
    single = conll([("a", 0)], [("b", 0)])
    forest = conll([("a", 0), ("b", 0), ("c", 2)], [("a", 0), ("b", 0)])
    for name, text in (("single", single), ("forest", forest)):
        path = written(tmp_path, text, f"{name}.conllu")
        for method in ("online", "batch"):
            succeeds(inside("train-hmtm", path, "-o", "m", *TREE, "--method", method))
            sound(tmp_path / "m")
            succeeds(inside("evaluate", "likelihood", "m", path))
    headless = written(tmp_path, conll([("a", "_"), ("b", "_")]), "headless.conllu")
    succeeds(inside("train-hmtm", headless, "-o", "m", *CHAIN))
    fails(inside("train-hmtm", headless, "-o", "m", *TREE), "headless.conllu:1: ")


GOOD = [("a", 2), ("b", 0)]
BAD = {
    "cycle": ([("a", 2), ("b", 1), ("c", 0)], 4, "go round in a circle"),
    "own": ([("a", 0), ("b", 2)], 5, "word 2 is its own head"),
    "range": ([("a", 0), ("b", 9)], 5, "head 9 of word 2 is beyond the sentence"),
    "word": ([("a", 0), ("b", "x")], 5, "head `x` of word 2, expected a number"),
    "missing": ([("a", 0), ("b", "_")], 5, ""),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_trees_are_one_line_or_counted(inside, tmp_path, name):
    sentence, line, says = BAD[name]
    path = written(tmp_path, conll(GOOD, sentence, GOOD), "x.conllu")
    fails(inside("train-hmtm", path, "-o", "m", *TREE), f"x.conllu:{line}: ", says)
    assert os.listdir(tmp_path) == [path]
    run = inside("train-hmtm", path, "-o", "m", *TREE, "--skip-invalid", "--json")
    assert json.loads(succeeds(run))["sentences"] == 2 and f"x.conllu:{line}: " in run.stderr.decode()
    only = written(tmp_path, conll(sentence), "only.conllu")
    fails(inside("train-hmtm", only, "-o", "n", *TREE, "--skip-invalid"), "error: ")


@pytest.mark.parametrize("format", ["auto", "text"])
def test_text_where_trees_or_lemmas_are_needed(inside, tmp_path, format):
    path = written(tmp_path, "a b\nb a\n", "x")
    trees = written(tmp_path, conll(GOOD, GOOD), "t.conllu")
    fails(inside("train-hmtm", path, "-o", "m", *TREE, "--format", format), "x:1: plain text has no trees")
    lemma = ("--token", "lemma")
    fails(
        inside("train-hmtm", path, "-o", "m", *CHAIN, *lemma, "--format", format), "plain text has no lemmas"
    )
    fails(inside("train-hmtm", trees, "-o", "m", *TREE, "--heldout", path), "x:1: plain text has no trees")
    succeeds(inside("train-hmtm", trees, "-o", "tree", *TREE))
    fails(
        inside("train-hmtm", path, "-o", "m", "--init", "tree", "--format", format), "plain text has no trees"
    )
    succeeds(inside("train-hmtm", path, "-o", "chain", *CHAIN))
    succeeds(inside("train-hmtm", path, "-o", "m", "--init", "chain", "--format", format))


def test_labels(inside, tmp_path):
    rare = conll(GOOD).replace("dep", "rare")
    path = written(tmp_path, conll(*[GOOD] * 5) + rare, "x.conllu")
    run = inside("train-hmtm", path, "-o", "m", *TREE, "--labels", "deprel", "--label-min-count", "2")
    succeeds(run)
    assert read_header(tmp_path / "m")["label_names"] == ["-*-", "dep"]
    assert "1 rarer ones are one label" in run.stderr.decode()
    sound(tmp_path / "m")


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_inputs_and_outputs(inside, tmp_path, suffix):
    import zstandard

    pack = gzip.compress if suffix == "gz" else zstandard.ZstdCompressor().compress
    text = b"a b c\nb c a\n" * 5
    path = written(tmp_path, pack(text), f"x.{suffix}")
    succeeds(inside("train-hmtm", path, "-o", f"m.{suffix}", "--vectors-out", f"v.{suffix}", *CHAIN))
    succeeds(inside("train-hmtm", written(tmp_path, text, "x"), "-o", "m", *CHAIN))
    packed, plain = read_model(tmp_path / f"m.{suffix}")[1], read_model(tmp_path / "m")[1]
    assert all((packed[name] == plain[name]).all() for name in plain)
    assert len(read_vectors(tmp_path / f"v.{suffix}")[0]) == 4
    succeeds(inside("train-hmtm", "-", "-o", "piped", *CHAIN, stdin=pack(text)))
    assert (read_model(tmp_path / "piped")[1]["emissions"] == plain["emissions"]).all()


def test_u017_u104_wrong_files(inside, tmp_path, questions, samples):
    path = written(tmp_path, conll(GOOD, GOOD), "x.conllu")
    empty = written(tmp_path, "", "empty")
    command = ("train-hmtm", path, "-o", "m", *TREE)
    for options in (("--init", empty), ("--resume", empty), ("--heldout", empty), ("--clusters", empty)):
        fails(inside(*command, *options), "empty: ")
    fails(inside("train-hmtm", empty, "-o", "m", *CHAIN), "empty: is empty")
    fails(inside("train-hmtm", written(tmp_path, "\n \n", "blank"), "-o", "m", *CHAIN), "blank: ")
    for option in ("--init", "--resume"):
        fails(
            inside(*command, option, questions),
            "this is a model of kind 'rpa', expected a hidden Markov tree model",
        )
        fails(inside(*command, option, path), "x.conllu: is not a model file")
        fails(inside(*command, option, "nowhere"), "nowhere: No such file")
    fails(inside(*command, "--clusters", questions), "is a zip archive")
    fails(inside(*command, "--clusters", path), "x.conllu:1: ", "expected bit string, word and count")
    fails(inside("train-hmtm", questions, "-o", "m", *CHAIN), "is a zip archive")
    fails(inside("train-hmtm", samples / "vectors.bin", "-o", "m"), "vectors.bin:")
    assert not (tmp_path / "m").exists()
