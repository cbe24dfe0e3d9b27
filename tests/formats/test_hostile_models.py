"""Model files made to take memory, or to raise what no reader tells in wordkit's words."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

from wordkit.errors import DataError
from wordkit.formats.model_file import pack_words, read_header, read_model, write_model
from wordkit.formats.vectors import read_vectors

HEADER = {"format": "wordkit-model", "format_version": 1, "kind": "rpa"}
NOT_A_MODEL = r"is not a model file, or is damaged, expected a wordkit model file"


def npy(array) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array))
    return out.getvalue()


def npy_with(header: str, data: bytes = b"") -> bytes:
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def archive(method=zipfile.ZIP_STORED, json_header=HEADER, **members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in {"header": npy(np.array(json.dumps(json_header))), **members}.items():
            file.writestr(f"{name}.npy", data)
    return out.getvalue()


@pytest.fixture
def refused(tmp_path):
    """The file is refused in one way, without a warning and without much memory."""

    def check(data: bytes, name: str = "m", reader=read_model) -> None:
        (tmp_path / name).write_bytes(data)
        tracemalloc.start()
        try:
            with warnings.catch_warnings(), pytest.raises(DataError, match=NOT_A_MODEL) as caught:
                warnings.simplefilter("error")
                reader(tmp_path / name)
            assert tracemalloc.get_traced_memory()[1] < 8 << 20
        finally:
            tracemalloc.stop()
        assert len(str(caught.value).splitlines()) == 1

    return check


def test_compressed_file_that_is_no_zip_is_not_read_to_its_end(refused):
    for reader in (read_model, read_header):
        refused(gzip.compress(bytes(64 << 20), 1), "m.gz", reader)


def test_members_are_no_larger_than_the_file(refused):
    big = npy(np.zeros(16 << 20, np.uint8))
    refused(archive(zipfile.ZIP_DEFLATED, x=big))
    refused(archive(zipfile.ZIP_DEFLATED))
    data = archive(x=npy(np.zeros(3)))
    at = data.rindex(b"PK\x01\x02")
    size = (1 << 30).to_bytes(4, "little")
    refused(data[: at + 20] + size + size + data[at + 28 :])


def test_members_that_share_their_bytes(refused):
    data = archive(x=npy(np.zeros(100_000)))
    at, end = data.rindex(b"PK\x01\x02"), data.rindex(b"PK\x05\x06")
    entry = data[at:end]
    copies = b"".join(entry.replace(b"x.npy", b"%c.npy" % (65 + i)) for i in range(20))
    tail = bytearray(data[end:])
    tail[8:10] = tail[10:12] = (22).to_bytes(2, "little")
    tail[12:16] = (end - data.index(b"PK\x01\x02") + len(copies)).to_bytes(4, "little")
    refused(data[:end] + copies + bytes(tail))


@pytest.mark.parametrize("name", ["x", "header"])
@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, -2)}",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (1099511627776,)}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1099511627776,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,)}",  # NumPy warns: Python 2
        "{b'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",  # TypeError
        "{'descr': [()], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': ('<f4',), 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
        "[" * 5000,
        "-" * 9000 + "1",
        "{}",
        "",
    ],
)
def test_array_headers(refused, name, header):
    refused(archive(**{name: npy_with(header, bytes(8))}))


def test_bare_array(refused):
    refused(npy(np.array(json.dumps(HEADER))))


@pytest.mark.parametrize(
    "header",
    [
        {**HEADER, "note": "\ud800"},
        {**HEADER, "kind": None},
        {**HEADER, "kind": ["rpa"]},
        {**HEADER, "kind": {}},
        {**HEADER, "format_version": None},
        {**HEADER, "format_version": "1"},
        {"format": ["wordkit-model"]},
        None,
    ],
)
def test_json_headers(refused, header):
    for reader in (read_header, read_model, lambda path: read_model(path, {"rpa": "a classifier"})):
        refused(archive(json_header=header), reader=reader)


def test_names_of_inputs_that_are_not_utf8_are_no_damage(tmp_path):
    write_model(tmp_path / "m", "rpa", {}, {"inputs": [{"name": "a\udcff"}]})
    assert read_header(tmp_path / "m")["inputs"][0]["name"] == "a\udcff"


def test_vectors_with_more_or_fewer_values_than_their_header_says(tmp_path):
    for size in (7, 9):
        vectors = npy_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}", bytes(size))
        words = npy(np.frombuffer(b"a\n", np.uint8))
        (tmp_path / "v.npz").write_bytes(
            archive(json_header={**HEADER, "kind": "vectors"}, words=words, vectors=vectors)
        )
        with pytest.raises(DataError, match=NOT_A_MODEL):
            read_vectors(tmp_path / "v.npz")


def test_arrays_by_columns(tmp_path):
    array = np.asfortranarray(np.arange(6).reshape(2, 3))
    write_model(tmp_path / "m", "rpa", {"x": array}, {})
    np.testing.assert_array_equal(read_model(tmp_path / "m")[1]["x"], array)
    write_model(
        tmp_path / "v",
        "vectors",
        {"words": pack_words(["a", "b"]), "vectors": np.asfortranarray(array, "<f4")},
        {},
    )
    with pytest.raises(DataError, match=NOT_A_MODEL):
        read_vectors(tmp_path / "v")
