"""Forest files: a round trip, and the line of every fault."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.forest_prox import random_parents
from wordkit.errors import DataError, WordkitError
from wordkit.formats.forest import read_forest, write_forest


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("forest") / "forest.txt"


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), M=st.integers(1, 60))
def test_round_trip(path, seed, M):
    parents = random_parents(np.random.default_rng(seed), M)
    write_forest(path, parents)
    found = read_forest(path)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, parents)


@settings(max_examples=100)
@given(st.one_of(st.binary(), st.text("-01 \n\r9x").map(str.encode)))
def test_arbitrary_bytes_are_read_or_refused_in_one_line(path, content):
    path.write_bytes(content)
    try:
        parents = read_forest(path)
    except WordkitError as error:
        assert "\n" not in str(error)
    else:
        assert ((parents >= -1) & (parents < np.arange(len(parents)))).all()


@pytest.mark.parametrize("content", ["-1\n0\n0\n", "-1\r\n0\r\n0", "\ufeff -1 \n0\t\n00\n"])
def test_forms(path, content):
    path.write_bytes(content.encode())
    assert read_forest(path).tolist() == [-1, 0, 0]


def test_compressed(tmp_path):
    (tmp_path / "f.gz").write_bytes(gzip.compress(b"-1\n0\n"))
    assert read_forest(tmp_path / "f.gz").tolist() == [-1, 0]
    write_forest(tmp_path / "g.gz", np.array([-1, 0]))
    assert gzip.decompress((tmp_path / "g.gz").read_bytes()) == b"-1\n0\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", ": is empty"),
        ("0\n", ":1: parent 0 of node 0, expected -1, a root (0 is line 1)"),
        ("-1\n1\n", ":2: parent 1 of node 1, expected -1 to 0 (0 is line 1)"),
        ("-1\n0\n-2\n", ":3: parent -2 of node 2, expected -1 to 1 (0 is line 1)"),
        ("-1\n\n0\n", ":2: `` is not a node, expected a parent's number, or -1"),
        ("-1\n0\n\n", ":3: `` is not a node, expected a parent's number, or -1"),
        ("-1\n0.5\n", ":2: `0.5` is not a node, expected a parent's number, or -1"),
        ("-1 0\n", ":1: `-1 0` is not a node, expected a parent's number, or -1"),
        ("-1\n" + "1" * 5000, ":2: `" + "1" * 60 + "` is not a node, expected a parent's number, or -1"),
    ],
)
def test_faults(path, content, says):
    path.write_text(content)
    with pytest.raises(DataError) as caught:
        read_forest(path)
    assert str(caught.value) == f"{path}{says}"
