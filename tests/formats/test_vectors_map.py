"""Vector files mapped into memory: what is read is what was written, and what cannot be mapped is told."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.errors import DataError
from wordkit.formats.model_file import write_model
from wordkit.formats.npz import open_archive, write_archive
from wordkit.formats.vectors import read_vectors, write_vectors
from wordkit.formats.vectors_map import map_vectors

WORDS = ["a", "b c", "é"]
VECTORS = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_a_mapped_file_is_what_was_written_and_cannot_be_changed(tmp_path):
    path = tmp_path / "v.npz"
    write_vectors(path, WORDS, VECTORS)
    words, vectors = map_vectors(path)
    assert words == WORDS and vectors.tolist() == VECTORS.tolist()
    assert vectors.dtype == np.float32 and vectors.flags.aligned and not vectors.flags.writeable
    assert not vectors.flags.owndata and vectors.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        vectors[0, 0] = 1
    assert read_vectors(path, mapped=True, max_rows=2)[0] == WORDS[:2]
    assert read_vectors(path, mapped=True, max_rows=2)[1].shape == (2, 2)


def test_values_are_not_read(tmp_path):
    """Damage in the values, which a checksum would tell when they are read, is not noticed: they have not been looked at."""
    path = tmp_path / "v.npz"
    large = np.arange(3 * 5000, dtype=np.float32).reshape(3, 5000)
    write_vectors(path, WORDS, large)
    data = path.read_bytes()
    place = data.index(large.tobytes())
    assert place % 64 == 0
    path.write_bytes(data[:place] + np.float32(7).tobytes() + data[place + 4 :])
    assert map_vectors(path)[1][0, 0] == 7
    with pytest.raises(DataError, match="damaged"):
        read_vectors(path)


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="/\\\0"), min_size=1, max_size=70),
        st.integers(0, 40),
        min_size=1,
        max_size=5,
    )
)
def test_all_arrays_begin_at_multiples_of_64(tmp_path_factory, sizes):
    """Whatever lies before them; NumPy and zipfile read the archive as any other."""
    path = tmp_path_factory.mktemp("aligned") / "a.npz"
    arrays = {name: np.arange(size, dtype=np.int8) for name, size in sizes.items()}
    write_archive(path, arrays.items())
    with open_archive(path, "x", "y") as (_, archive):
        for name, array in arrays.items():
            if len(array):
                mapped = archive.mapped(name)
                assert mapped.tolist() == array.tolist() and mapped.ctypes.data % 64 == 0
    with np.load(path) as loaded:
        assert {name: loaded[name].tolist() for name in loaded} == {k: v.tolist() for k, v in arrays.items()}
    assert zipfile.ZipFile(path).testzip() is None


def test_no_rows(tmp_path):
    write_vectors(tmp_path / "v.npz", [], np.empty((0, 3), np.float32))
    words, vectors = map_vectors(tmp_path / "v.npz")
    assert words == [] and vectors.shape == (0, 3)


def _unaligned(path):
    """As the archives of NumPy itself are: values where they happen to fall."""
    write_vectors(path, WORDS, VECTORS)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (
            lambda p: write_vectors(p, WORDS[:1], VECTORS[:1], "word2vec-binary"),
            "cannot be mapped into memory",
        ),
        (lambda p: write_vectors(p, WORDS, VECTORS, "word2vec"), "cannot be mapped into memory"),
        (lambda p: p.write_bytes(b""), "is empty"),
        (lambda p: write_model(p, "rpa", {"x": VECTORS}, {}), "this is a model of kind 'rpa'"),
        (lambda p: write_model(p, "vectors", {"words": VECTORS, "vectors": VECTORS}, {}), "damaged"),
        (lambda p: p.write_bytes(_written(WORDS[:1] + WORDS[:1])), "holds a word twice"),
        (lambda p: p.write_bytes(_written(WORDS)[:-40]), "damaged"),
        (lambda p: p.write_bytes(b"PK\x03\x04"), "damaged"),
        (_unaligned, "of an earlier version"),
    ],
    ids=["binary", "text", "empty", "model", "other arrays", "twice", "cut", "start", "unaligned"],
)
def test_what_cannot_be_mapped_is_told(tmp_path, make, says):
    path = tmp_path / "v.npz"
    make(path)
    with pytest.raises(DataError, match=says):
        map_vectors(path)


def _written(words: list[str]) -> bytes:
    """An archive of vectors of these words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "v.npz"
        packed = np.frombuffer("".join(f"{word}\n" for word in words).encode(), dtype=np.uint8)
        write_model(path, "vectors", {"words": packed, "vectors": VECTORS[: len(words)]}, {})
        return path.read_bytes()


def test_compressed_files_and_pipes_are_not_mapped(tmp_path, monkeypatch):
    write_vectors(tmp_path / "v.npz", WORDS, VECTORS)
    (tmp_path / "v.npz.gz").write_bytes(gzip.compress((tmp_path / "v.npz").read_bytes()))
    with pytest.raises(DataError, match=r"v\.npz\.gz: cannot be mapped"):
        map_vectors(tmp_path / "v.npz.gz")
    with open(tmp_path / "v.npz", "rb") as stream:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
        with pytest.raises(DataError, match="<stdin>: cannot be mapped"):
            map_vectors("-")
