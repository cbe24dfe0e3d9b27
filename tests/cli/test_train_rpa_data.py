"""``wordkit train-rpa`` on data that cannot be used, or not as it is."""

from __future__ import annotations

import json
import os

import pytest

from tests.cli.conftest import fails, succeeds
from tests.cli.test_train_rpa import QUICK, labelled

BAD = {
    "empty.txt": "empty.txt: is empty",
    "latin1.txt": "latin1.txt:2: byte 0xe9 at offset",
    "nul.txt": "nul.txt:2: NUL byte",
    "one_class.txt": "all documents have the label",
    "some_unlabelled.txt": "some_unlabelled.txt:2: no label",
    "two_labels.txt": "two_labels.txt:2: 2 labels",
    "unlabelled.txt": "`__label__`",
    "utf16.txt": "looks like UTF-16",
    "not_gzip.vec.gz": "compressed file is damaged",
    "truncated.vec.gz": "compressed file is incomplete",
}


@pytest.mark.parametrize("name", BAD)
def test_u017_u044_u054_broken_files(inside, samples, tmp_path, name):
    labelled(tmp_path, b"old", "m")
    fails(inside("train-rpa", samples / "broken" / name, "-o", "m", "--min-count", "1"), BAD[name])
    assert (tmp_path / "m").read_bytes() == b"old" and os.listdir(tmp_path) == ["m"]


def test_u044_no_labelled_line_at_all(inside, tmp_path):
    labelled(tmp_path, "sports ball game\n")
    fails(inside("train-rpa", "x.txt", "-o", "m"), "x.txt:1: no label", "`__label__`")
    skipped = inside("train-rpa", "x.txt", "-o", "m", "--skip-invalid")
    fails(skipped, "x.txt: no labelled line; labels start with `__label__`")


def test_bad_lines_are_skipped_and_counted(inside, tmp_path):
    labelled(
        tmp_path, b"__label__a x y\nno label\n__label__b x z\n\xff\n__label__b __label__a x\n__label__a x\n"
    )
    run = inside("train-rpa", "x.txt", "-o", "m", "--min-count", "1", "--skip-invalid", "--json")
    assert json.loads(succeeds(run))["total"] == 3
    for part in ("x.txt:2: no label", "x.txt:4: byte 0xff", "x.txt:5: 2 labels"):
        assert part in run.stderr.decode()


def test_u050_min_count_removes_everything(inside, tmp_path):
    labelled(tmp_path, "__label__x a b a\n__label__y c d\n")
    run = inside("train-rpa", "x.txt", "-o", "m", "--min-count", "5")
    fails(run, "0 of 4 word types occur at least 5 times (most frequent: `a`, 2)", "--min-count")


def test_u051_what_was_kept_is_always_said(inside, tmp_path):
    labelled(tmp_path, "__label__x a b a\n__label__y c d\n")
    run = inside("train-rpa", "x.txt", "-o", "m")
    assert "1 of 4 word types kept (--min-count 2), 40.0% of 5 tokens" in run.stderr.decode()


@pytest.mark.parametrize(("choice", "total"), [("first", 3), ("each", 4)])
def test_several_labels(inside, tmp_path, choice, total):
    labelled(tmp_path, "__label__a x\n__label__b y __label__a x\n__label__b y\n")
    run = inside("train-rpa", "x.txt", "-o", "m", *QUICK, "--min-count", "1", "--multi-label", choice)
    assert f"total\t{total}\n" in succeeds(run)
    assert f"total\t{total}\n" in succeeds(
        inside("evaluate", "classification", "m", "x.txt")
    )  # as in training


def test_u060_numeric_labels(inside, tmp_path):
    labelled(tmp_path, "".join(f"__label__{x} w{x} common\n" for x in ("0", "-1", "+1") * 4))
    succeeds(inside("train-rpa", "x.txt", "-o", "m"))
    labelled(tmp_path, "w0\nw-1\nw+1\n", "t")
    assert succeeds(inside("predict", "m", "t")).split() == ["__label__0", "__label__-1", "__label__+1"]
