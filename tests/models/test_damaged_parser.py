"""Parsers, features of trees and checkpoints of nbest that were changed by hand: one DataError, or a model that works."""

from __future__ import annotations

import copy
import shutil

import numpy as np
import pytest

from tests.models.test_damaged_models import VALUES, array_mutations, paths
from wordkit.cli import run
from wordkit.errors import DataError, WordkitError
from wordkit.formats.conll import read_conll_blocks
from wordkit.formats.model_file import read_model, write_model
from wordkit.models.parser_model import ParserModel

FIXED = ("format", "format_version", "kind", "wordkit_version")
TRAIN = (
    "--n",
    "3",
    "--folds",
    "2",
    "--epochs",
    "1",
    "--hash-bits",
    "6",
    "--min-feature-count",
    "1",
    "--threads",
    "1",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, samples):
    folder = tmp_path_factory.mktemp("parser")
    text = (samples / "trees.conllu").read_text().split("\n\n")
    (folder / "trees.conllu").write_text("".join(one + "\n\n" for one in text[:12]))
    shutil.copy(samples / "parses.txt", folder)
    outputs = ["-o", f"{folder}/lists", "--model-out", f"{folder}/parser", "--checkpoint", f"{folder}/ckpt"]
    assert run(["-q", "nbest", f"{folder}/trees.conllu", *TRAIN, *outputs]) == 0
    assert (
        run(
            [
                "-q",
                "nbest",
                "--trees",
                f"{folder}/parses.txt",
                "-o",
                f"{folder}/lists",
                "--model-out",
                f"{folder}/features",
            ]
        )
        == 0
    )
    return folder


def written(folder, kind, header, arrays):
    write_model(folder / "x", kind, arrays, {k: v for k, v in header.items() if k not in FIXED})
    return folder / "x"


def use_parser(folder):
    """What loads must parse and have names for its features."""
    model = ParserModel.load(folder / "x")
    model.feature_names()
    for block in read_conll_blocks(
        folder / "trees.conllu", ("form", model.reading["tag_column"]), heads="any"
    ):
        for heads, scores in model.parser.parse(model.sentences(block), 2):
            assert np.isfinite(scores).all() and (np.count_nonzero(heads == 0, axis=1) == 1).all()


def test_parsers_with_other_arrays(folder):
    header, arrays = read_model(folder / "parser")
    refused = 0
    for name, array in arrays.items():
        written(folder, "parser", header, {k: v for k, v in arrays.items() if k != name})
        with pytest.raises(DataError, match="damaged"):
            ParserModel.load(folder / "x")
        for changed in array_mutations(array):
            written(folder, "parser", header, {**arrays, name: changed})
            try:
                use_parser(folder)
            except WordkitError as error:
                assert str(error).startswith(str(folder / "x"))
                refused += 1
    assert refused > 5 * len(arrays)


def test_parsers_with_other_headers(folder):
    header, arrays = read_model(folder / "parser")
    refused = 0
    for place in paths(header):
        for value in VALUES if place[0] in ("parser", "reading", "signature") else ():
            changed = copy.deepcopy(header)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            written(folder, "parser", changed, arrays)
            try:
                use_parser(folder)
            except WordkitError as error:
                assert "\n" not in str(error)
                refused += 1
    assert refused > 40


@pytest.mark.parametrize("kind", ["ckpt", "features"])
def test_checkpoints_and_features_of_trees(folder, kind, capsys):
    header, arrays = read_model(folder / kind)
    refused = 0
    for name, array in arrays.items():
        for changed in array_mutations(array):
            path = written(folder, header["kind"], header, {**arrays, name: changed})
            if kind == "ckpt":
                command = [
                    "nbest",
                    f"{folder}/trees.conllu",
                    *TRAIN,
                    "--model-out",
                    f"{folder}/m",
                    "--resume",
                    str(path),
                ]
            else:
                command = ["nbest", "--trees", f"{folder}/parses.txt", "--model", str(path)]
            code = run(["-q", *command, "-o", f"{folder}/lists"])
            messages = capsys.readouterr().err
            assert code in (0, 1) and "bug in wordkit" not in messages and "Traceback" not in messages
            refused += code
    assert refused > 3 * len(arrays)
