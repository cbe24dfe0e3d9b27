"""Vector files: what is written is read again, streams, bytes of any kind, and files of others."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import sys
import tracemalloc
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.formats.test_vectors import SUFFIX
from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import Input
from wordkit.formats.vectors import FORMATS, read_vectors, vector_writer, write_vectors
from wordkit.formats.vectors_sniff import sniff
from wordkit.tally import Tally


def test_what_no_format_may_lose(tmp_path):
    for format, word in [
        ("word2vec", ""), ("word2vec", "a\nb"), ("word2vec", "a\0b"), ("word2vec", "\ud800"),
        ("word2vec-binary", " "), ("word2vec-binary", "\n"), ("npz", "a\nb"), ("npz", ""),
        ("glove", "\ufeffa"), ("glove", "x 5"), ("glove", "see nan"), ("glove", " 5"),
    ]:  # fmt: skip
        with pytest.raises(WordkitError, match="cannot be stored"):
            write_vectors(tmp_path / "v", [word, "b"], np.eye(2), format)
    with pytest.raises(WordkitError, match="'a' is there twice"):
        write_vectors(tmp_path / "v", ["a", "a"], np.eye(2))
    with pytest.raises(WordkitError, match="no row"):
        write_vectors(tmp_path / "v", [], np.empty((0, 2)), "glove")
    with pytest.raises(ValueError):
        write_vectors(tmp_path / "v", ["a"], np.eye(2))
    with pytest.raises(ValueError):
        write_vectors(tmp_path / "v", ["a"], np.empty((1, 0)))
    assert not any(tmp_path.iterdir())


def test_rows_and_words_longer_than_any_block(tmp_path):
    vectors = np.random.default_rng(0).standard_normal((3, 300_000)).astype(np.float32)
    words = ["a", "b" * 50_000, "c"]
    for format, suffix in SUFFIX.items():
        path = tmp_path / f"v{suffix}"
        write_vectors(path, words, vectors, format)
        found = read_vectors(path)
        assert found[0] == words and np.array_equal(found[1], vectors)


def test_streams_without_a_known_length(tmp_path):
    blocks = [(["a", "b"], np.eye(2)), ([], np.empty((0, 2))), (["c"], np.ones((1, 2)))]
    for suffix in (".vec", ".bin", ".npz", ".vec.gz"):
        path = tmp_path / f"v{suffix}"
        with vector_writer(path, 2) as write:
            for words, vectors in blocks:
                write(words, vectors)
        assert read_vectors(path)[0] == ["a", "b", "c"]
        path.unlink()
        with pytest.raises(ZeroDivisionError), vector_writer(path, 2) as write:
            write(*blocks[0])
            _ = 1 / 0
        assert not any(tmp_path.iterdir())


def test_standard_input_of_every_format(tmp_path, monkeypatch):
    for format, suffix in SUFFIX.items():
        path = tmp_path / f"v{suffix}"
        write_vectors(path, ["a", "b"], np.eye(2), format)
        for data in (path.read_bytes(), gzip.compress(path.read_bytes())):
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data))))
            assert read_vectors("-")[0] == ["a", "b"]


def test_digest_is_of_the_whole_file(tmp_path):
    for format, suffix in SUFFIX.items():
        path = tmp_path / f"v{suffix}"
        write_vectors(path, ["a", "b"], np.eye(2), format)
        with Input(path, digest=True) as source:
            read_vectors(source)
            assert source.record()["bytes"] == path.stat().st_size


# --- hypothesis ------------------------------------------------------------------------------------------

characters = st.characters(codec="utf-8", exclude_characters="\0\n")
words_of_text = st.one_of(
    st.text(characters, min_size=1, max_size=8),
    st.text(" \ta1.\r\u00a0\ufeff-", min_size=1, max_size=5),
    st.sampled_from(["nan", "1", "2 3", " ", "3 2", "PK\x03\x04", "\r", "é", "\u2028", "\x85"]),
)
tables = st.integers(1, 4).flatmap(
    lambda dim: st.lists(
        st.tuples(words_of_text, st.lists(st.floats(width=32), min_size=dim, max_size=dim)),
        max_size=8,
        unique_by=lambda row: row[0],
    ).map(
        lambda rows: (
            [word for word, _ in rows],
            np.array([v for _, v in rows], np.float32).reshape(len(rows), dim),
        )
    )
)


@settings(max_examples=150)
@given(tables, st.sampled_from(FORMATS), st.sampled_from(["", ".gz", ".bz2", ".xz"]), st.booleans())
@example((["3"], np.float32([[2]])), "glove", "", True)
@example((["a", " b", "\ufeff"], np.float32([[1], [-0.0], [1e-40]])), "word2vec", "", False)
def test_round_trip(tmp_path_factory, table, format, compression, stream):
    words, vectors = table
    path = tmp_path_factory.getbasetemp() / f"round{SUFFIX[format]}{compression}"
    try:
        if stream:
            with vector_writer(path, vectors.shape[1], format=format) as write:
                write(words[:2], vectors[:2])
                write(words[2:], vectors[2:])
        else:
            write_vectors(path, words, vectors, format)
    except WordkitError as error:
        assert format in ("glove", "word2vec-binary") and "format" in str(error)
        return
    tally = Tally()
    read, values = read_vectors(path, tally=tally)
    assert read == words and values.shape == vectors.shape
    known = ~np.isnan(vectors)
    assert np.array_equal(values[known].view(np.int32), vectors[known].view(np.int32))
    assert np.isnan(values[~known]).all()
    assert set(tally.counts) <= {"row with nan or inf", "word that ends in a number"}


parts = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [
            b"3 2\n",
            b"2 1\n",
            b"a 1 2\n",
            b"b 0.5 1e9\n",
            b"a ",
            b"\n",
            b"PK\x03\x04\0",
            b"9" * 25,
            b" 999999999\n",
        ]
    ),
)


@settings(max_examples=300)
@given(
    st.lists(parts, max_size=8).map(b"".join),
    st.sampled_from([None, *FORMATS]),
    st.booleans(),
    st.sampled_from(["", ".gz", ".xz", ".bz2"]),
)
@example(b"1 2147483647\n\x00 1 1", None, True, "")
@example(b"99999999999 300000000\na " + bytes(50), None, True, "")
def test_any_bytes_are_read_or_refused(tmp_path_factory, data, format, skip, compression):
    path = tmp_path_factory.getbasetemp() / f"any{compression}"
    pack = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}[compression]
    path.write_bytes(pack(data))
    tracemalloc.start()
    try:
        with contextlib.suppress(WordkitError):
            words, vectors = read_vectors(path, format=format, tally=Tally(skip_invalid=skip))
            assert len(words) == len(vectors) == len(set(words)) and vectors.shape[1] >= 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 120e6  # the decompressor of .xz alone takes some


@settings(max_examples=120)
@given(st.sampled_from(list(SUFFIX)), st.integers(0, 400), st.integers(0, 255), st.booleans())
def test_one_wrong_byte_or_an_early_end(tmp_path_factory, format, place, byte, cut):
    path = tmp_path_factory.getbasetemp() / f"wrong{SUFFIX[format]}"
    write_vectors(path, ["a", "b", "c d"[: 1 if "bin" in format else 3]], np.eye(3), format)
    data = bytearray(path.read_bytes())
    place %= len(data)
    data[place] = byte
    path.write_bytes(data[:place] if cut else data)
    with contextlib.suppress(WordkitError):
        read_vectors(path, tally=Tally(skip_invalid=True))


# --- real files ------------------------------------------------------------------------------------------


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "rows", "dim", "format"),
    [
        ("EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt", 20, 300, "word2vec"),
        ("crime-and-punishment.vec", 291, 5, "word2vec"),
        ("lee_fasttext.vec", 1762, 10, "word2vec"),
        ("toy-model.vec", 22, 5, "word2vec"),
        ("high_precision.kv.txt", 2, 2, "word2vec"),
        ("high_precision.kv.bin", 2, 2, "word2vec-binary"),
        ("euclidean_vectors.bin", 2747, 10, "word2vec-binary"),
    ],
)
def test_real_files(real_data, tmp_path, name, rows, dim, format):
    path: Path = real_data / "vectors" / name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        words, vectors = read_vectors(path)
    assert vectors.shape == (rows, dim) == (len(words), dim) and np.isfinite(vectors).all()
    with Input(path) as source:
        assert sniff(source).format == format
    if format == "word2vec":
        lines = path.read_text(encoding="utf-8").split("\n")[1:-1]
        expected = [[np.float32(float(field)) for field in line.split(" ")[1:] if field] for line in lines]
        assert np.array_equal(vectors, expected) and words == [line.split(" ")[0] for line in lines]
    for to in FORMATS:
        write_vectors(tmp_path / "copy", words, vectors, to)
        again = read_vectors(tmp_path / "copy")
        assert again[0] == words and np.array_equal(again[1], vectors)


@pytest.mark.realdata
def test_real_file_with_cut_characters(real_data):
    path = real_data / "vectors" / "w2v_keyedvectors_load_test.modeldata"
    with pytest.raises(DataError, match=r":2: row 1 of 2: byte 0xe3 is not UTF-8 \(offset 19\)"):
        read_vectors(path)
    assert read_vectors(path, errors="ignore")[0] == ["ありがとう", "どういたしまして"]
