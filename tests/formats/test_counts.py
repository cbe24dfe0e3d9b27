"""Counts files: what is written is read, by SciPy too; what is damaged is told."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError, WordkitError
from wordkit.formats.counts import Counts, describe_counts, is_counts, read_counts, write_counts
from wordkit.formats.model_file import pack_words, read_header, write_model
from wordkit.formats.opening import Input
from wordkit.formats.vectors import read_vectors

SAID = r"is not a counts file, or is damaged, expected the -o of wordkit cooccur$|the counts are damaged: "
NAMES = ["data", "indices", "indptr", "shape", "format", "words", "counts", "meta"]


def made(dense, words=None, dtype=np.int32, **meta) -> Counts:
    dense = np.asarray(dense)
    words = [f"w{i}" for i in range(len(dense))] if words is None else words
    return Counts(scipy.sparse.csr_array(dense.astype(dtype)), words, np.arange(len(words))[::-1] + 1, meta)


def same(one: Counts, two: Counts) -> None:
    assert one.words == two.words and one.matrix.dtype == two.matrix.dtype
    np.testing.assert_array_equal(one.counts, two.counts)
    np.testing.assert_array_equal(one.matrix.toarray(), two.matrix.toarray())


words = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=5),
    max_size=8,
    unique=True,
)
dtypes = st.sampled_from([np.int32, np.int64, np.float32, np.float64])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words, dtypes, st.integers(0, 2**32 - 1), st.sampled_from(["c.npz", "c.npz.gz", "c"]))
def test_round_trip(tmp_path, words, dtype, seed, name):
    random = np.random.default_rng(seed)
    dense = random.integers(0, 9, (len(words), len(words))) * random.integers(0, 2, (len(words), len(words)))
    counts = made(dense, words, dtype, window=5, inputs=[{"name": "é\udcff"}])
    write_counts(tmp_path / name, counts)
    found = read_counts(tmp_path / name)
    same(found, counts)
    assert found.meta.items() >= counts.meta.items() and found.meta["format_version"] == 1
    first = (tmp_path / name).read_bytes()
    if name == "c":
        write_counts(tmp_path / "again", found)
        assert (tmp_path / "again").read_bytes() == first


def test_scipy_reads_it_without_wordkit(tmp_path):
    counts = made([[0, 2], [3, 0]], window=5)
    write_counts(tmp_path / "c.npz", counts)
    with np.load(tmp_path / "c.npz", allow_pickle=False) as file:
        assert file.files == NAMES
        matrix = scipy.sparse.csr_matrix((file["data"], file["indices"], file["indptr"]), file["shape"])
        assert file["words"].tobytes().decode() == "w0\nw1\n" and file["words"].dtype == np.uint8
        assert json.loads(file["meta"].tobytes())["window"] == 5
        assert (file["indices"].dtype, file["indptr"].dtype, file["counts"].dtype) == (
            np.int32,
            np.int64,
            np.int64,
        )
    np.testing.assert_array_equal(matrix.toarray(), counts.matrix.toarray())
    loaded = scipy.sparse.load_npz(tmp_path / "c.npz")
    assert loaded.format == "csr" and loaded.dtype == np.int32
    np.testing.assert_array_equal(loaded.toarray(), counts.matrix.toarray())


def test_files_without_the_format_of_scipy_are_read(tmp_path):
    (tmp_path / "old").write_bytes(packed(arrays_of(GOOD, format=None)))
    same(read_counts(tmp_path / "old"), GOOD)


def test_what_is_printed_of_counts_is_short():
    assert repr(made(np.eye(300))) == "Counts(300 words, 300 cells of int32, 45150 tokens)"


def test_matrices_that_are_not_in_order_are_put_in_order(tmp_path):
    matrix = scipy.sparse.csr_array((np.array([1, 2, 0, 4]), [1, 0, 1, 0], [0, 2, 4]), shape=(2, 2))
    write_counts(tmp_path / "c", Counts(matrix, ["a", "b"], np.array([2, 1])))
    found = read_counts(tmp_path / "c").matrix
    assert found.toarray().tolist() == [[2, 1], [4, 0]] and found.nnz == 3 and found.has_canonical_format
    assert matrix.indices.tolist() == [1, 0, 1, 0]


def test_what_is_no_table_is_refused(tmp_path):
    for dense in ([[-1]], [[np.nan]], [[np.inf]]):
        with pytest.raises(ValueError):
            write_counts(tmp_path / "c", made(dense, dtype=np.float64))
    with pytest.raises(ValueError, match="line feed"):
        write_counts(tmp_path / "c", made([[1]], ["a\nb"]))
    with pytest.raises(ValueError, match="doubled"):
        write_counts(tmp_path / "c", made([[1, 0], [0, 1]], ["a", "a"]))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="3 words"):
        Counts(scipy.sparse.csr_array((2, 2)), ["a", "b", "c"], np.zeros(3, np.int64))


def test_sniffing(tmp_path):
    write_counts(tmp_path / "c.npz", made([[1]]))
    write_counts(tmp_path / "c.gz", made([[1]]))
    write_model(tmp_path / "m", "rpa", {"data": np.zeros(3)}, {})
    (tmp_path / "text").write_text("data and words\n")
    (tmp_path / "short").write_bytes(b"PK\x03\x04")
    (tmp_path / "empty").write_bytes(b"")
    for name, expected in (
        ("c.npz", True), ("c.gz", True), ("m", False), ("text", False), ("short", False), ("empty", False),
    ):  # fmt: skip
        assert is_counts(tmp_path / name) is expected
        with Input(tmp_path / name) as source:  # it can still be read from its start
            assert is_counts(source) is expected
            if expected:
                assert read_counts(source).words == ["w0"]
            else:
                assert source.read() == (tmp_path / name).read_bytes()


def test_description(tmp_path):
    write_counts(tmp_path / "c", made([[1, 0], [2, 0]], window=3))
    with Input(tmp_path / "c") as source:
        found = describe_counts(source)
    assert found.items() >= {"kind": "counts", "window": 3, "words": 2, "cells": 2, "type": "int32"}.items()


def arrays_of(counts: Counts, /, **changed) -> dict[str, np.ndarray]:
    meta = json.dumps({"format": "wordkit-counts", "format_version": 1, **counts.meta})
    matrix = counts.matrix
    arrays = {
        "data": matrix.data, "indices": matrix.indices.astype(np.int32), "indptr": matrix.indptr.astype(np.int64),
        "shape": np.array(matrix.shape), "format": np.array(b"csr"), "words": pack_words(counts.words), "counts": counts.counts,
        "meta": np.frombuffer(meta.encode(), np.uint8),
    }  # fmt: skip
    return arrays | changed


def packed(arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            if array is not None:
                file = io.BytesIO()
                np.lib.format.write_array(file, array)
                archive.writestr(f"{name}.npy", file.getvalue())
    return out.getvalue()


GOOD = made([[0, 2, 1], [3, 0, 0], [0, 0, 4]])


def meta(value) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


@pytest.mark.parametrize(
    "changed",
    [
        *({name: None} for name in NAMES if name != "format"), {"format": np.array(b"csc")}, {"format": np.array("csr")},
        *({name: np.zeros((2, 2), np.float64)} for name in NAMES),
        {"data": np.array([1, 2, 3], np.int32)}, {"data": np.array([1, 2, 0, 4], np.int32)},
        {"data": np.array([1, 2, -3, 4], np.int32)}, {"data": np.array([1, np.nan, 3, 4])},
        {"data": np.array([1, np.inf, 3, 4])}, {"data": np.array([1, 2, 3, 4], np.complex128)},
        {"indices": np.array([1, 2, 0, 3], np.int32)}, {"indices": np.array([-1, 2, 0, 2], np.int32)},
        {"indices": np.array([2, 1, 0, 2], np.int32)}, {"indices": np.array([1, 1, 0, 2], np.int32)},
        {"indices": np.array([1, 2, 0, 2], np.int64)},
        {"indptr": np.array([0, 2, 3, 5])}, {"indptr": np.array([1, 2, 3, 4])}, {"indptr": np.array([0, 3, 2, 4])},
        {"indptr": np.array([0, 2, 4])}, {"indptr": np.array([0, 2**62, -(2**62), 4])},
        {"shape": np.array([3, 4])}, {"shape": np.array([3, 3, 3])}, {"counts": np.array([1, 2])},
        {"counts": np.array([1, 2, -1])}, {"words": pack_words(["a", "b", "a"])}, {"words": pack_words(["a", "b"])},
        {"words": np.frombuffer(b"a\nb\n\xff\n", np.uint8)},
        {"meta": meta([])}, {"meta": meta({})}, {"meta": meta({"format": "wordkit-counts", "format_version": "1"})},
        {"meta": np.frombuffer(b"{", np.uint8)}, {"meta": np.frombuffer(b"\xff", np.uint8)},
    ],
    ids="-".join,
)  # fmt: skip
def test_arrays_that_do_not_fit(tmp_path, changed):
    (tmp_path / "c").write_bytes(packed(arrays_of(GOOD)))
    same(read_counts(tmp_path / "c"), GOOD)
    (tmp_path / "c").write_bytes(packed(arrays_of(GOOD, **changed)))
    with pytest.raises(DataError, match=SAID):
        read_counts(tmp_path / "c")


def test_what_is_wrong_is_told(tmp_path):
    for changed, says in (
        ({"indices": np.array([2, 1, 0, 2], np.int32)}, "c: the counts are damaged: columns do not rise"),
        ({"data": np.array([1, 2, -3, 4], np.int32)}, "a cell is not a positive number"),
    ):
        (tmp_path / "c").write_bytes(packed(arrays_of(GOOD, **changed)))
        with pytest.raises(DataError, match=says):
            read_counts(tmp_path / "c")


def test_a_counts_file_is_told_where_another_is_wanted(tmp_path):
    write_counts(tmp_path / "c", GOOD)
    for read in (read_header, read_vectors):
        with pytest.raises(DataError, match="c: is a counts file, expected "):
            read(tmp_path / "c")


def test_u080_words_of_another_run(tmp_path):
    """48 rows of counts, 541,869 words."""
    words = pack_words([f"w{i}" for i in range(541_869)])
    (tmp_path / "c").write_bytes(packed(arrays_of(made(np.eye(48)), words=words)))
    with pytest.raises(DataError, match=SAID):
        read_counts(tmp_path / "c")


def test_a_newer_format_is_told(tmp_path):
    newer = meta({"format": "wordkit-counts", "format_version": 2, "wordkit_version": "9.9"})
    (tmp_path / "c").write_bytes(packed(arrays_of(GOOD, meta=newer)))
    with pytest.raises(WordkitError, match=r"counts format 2 \(written by wordkit 9.9\) is newer"):
        read_counts(tmp_path / "c")


def test_other_files(tmp_path):
    write_model(tmp_path / "m", "rpa", {"x": np.zeros(3)}, {})
    (tmp_path / "text").write_text("a b c\n")
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"a b\n"))
    for name in ("m", "text", "text.gz"):
        with pytest.raises(DataError, match=SAID):
            read_counts(tmp_path / name)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(DataError, match=r"empty: is empty$"):
        read_counts(tmp_path / "empty")
    with pytest.raises(WordkitError, match="absent: No such file"):
        read_counts(tmp_path / "absent")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_bytes_only_ever_raise_one_line(tmp_path, data):
    """Bytes changed, cut or added anywhere."""
    good = bytearray(packed(arrays_of(GOOD)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(good) - 1))
        good[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    (tmp_path / "c").write_bytes(bytes(good))
    try:
        read_counts(tmp_path / "c")
    except WordkitError as error:
        assert len(str(error).splitlines()) == 1


def test_every_cut_is_noticed(tmp_path):
    good = packed(arrays_of(GOOD))
    for size in range(1, len(good), 7):
        (tmp_path / "c").write_bytes(good[:size])
        with pytest.raises(DataError, match=SAID):
            read_counts(tmp_path / "c")
