"""``wordkit info``: one look at the input, whatever it is and wherever it comes from."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import fails, succeeds


def test_vectors_from_standard_input(inside, tmp_path, samples):
    text = (samples / "vectors.txt").read_bytes()
    expected = {"format": "word2vec", "rows": 600, "dim": 20}
    assert json.loads(succeeds(inside("info", "-", stdin=text))) == expected
    assert json.loads(succeeds(inside("info", "/dev/stdin", stdin=text))) == expected
    succeeds(inside("convert", samples / "vectors.txt", "v.npz"))
    for suffix in ("", ".gz"):
        succeeds(inside("convert", samples / "vectors.txt", f"v.npz{suffix}"))
        assert json.loads(succeeds(inside("info", f"v.npz{suffix}"))) == {**expected, "format": "npz"}
    stored = (tmp_path / "v.npz").read_bytes()
    for name in ("-", "/dev/stdin"):
        assert json.loads(succeeds(inside("info", name, stdin=stored))) == {**expected, "format": "npz"}


@pytest.mark.parametrize("data", [b"", b"text\n", b"PK\x03\x04" + bytes(40), b"PK\x03\x04"])
def test_other_inputs(inside, data):
    fails(inside("info", "-", stdin=data), "<stdin>")
