"""Model files: round trip, damage, versions, kinds."""

from __future__ import annotations

import io
import json
import os
import random
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordkit import __version__
from wordkit.errors import DataError, WordkitError
from wordkit.formats.model_file import pack_words, read_header, read_model, unpack_words, write_model

ARRAYS = {
    "weights": np.arange(600, dtype=np.float32).reshape(20, 30),
    "counts": np.array([1, 2, 3], dtype=np.int64),
    "labels": np.array(["a", "naïve", "語"]),
    "words": pack_words(["the", "cat", "\u2028"]),
    "empty": np.empty((3, 0), dtype=np.float32),
}
HEADER = {"seed": 1, "note": "ünïcode \u2028 «»", "history": [{"loss": 0.1}], "none": None}
NOT_A_MODEL = "is not a model file, or is damaged, expected a wordkit model file"


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "m.model"
    write_model(path, "rpa", ARRAYS, HEADER)
    return path


def assert_same(arrays) -> None:
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_round_trip(tmp_path, suffix):
    path = tmp_path / f"m.model{suffix}"
    write_model(path, "rpa", ARRAYS, HEADER)
    header, arrays = read_model(path, {"rpa": "a classifier"})
    assert_same(arrays)
    fixed = {"format": "wordkit-model", "format_version": 1, "kind": "rpa", "wordkit_version": __version__}
    assert header == {**fixed, **HEADER} == read_header(path)


def test_u062_equal_models_give_equal_bytes(tmp_path, stored, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    write_model(tmp_path / "again.model", "rpa", ARRAYS, HEADER)
    assert (tmp_path / "again.model").read_bytes() == stored.read_bytes()


def test_numpy_reads_it_without_pickle(stored):
    with np.load(stored, allow_pickle=False) as archive:
        assert json.loads(str(archive["header"]))["kind"] == "rpa"
        np.testing.assert_array_equal(archive["weights"], ARRAYS["weights"])


def test_through_a_pipe(tmp_path, stored):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    if os.fork() == 0:
        pipe.write_bytes(stored.read_bytes())
        os._exit(0)
    assert_same(read_model(pipe)[1])
    os.wait()


def test_objects_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_model(tmp_path / "m", "rpa", {"x": np.array([{}], dtype=object)}, {})
    assert os.listdir(tmp_path) == []


def test_u102_pickles_are_not_read(tmp_path):
    np.savez(tmp_path / "m.npz", header=np.array(json.dumps({"format": "wordkit-model", "format_version": 1})),
             x=np.array([{}], dtype=object))  # fmt: skip
    with pytest.raises(DataError, match=NOT_A_MODEL):
        read_model(tmp_path / "m.npz")


def test_values_that_json_cannot_hold_are_refused(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_model(tmp_path / "m", "rpa", {}, {"loss": float("nan")})
    assert os.listdir(tmp_path) == []


def test_truncated(tmp_path, stored):
    data = stored.read_bytes()
    path = tmp_path / "cut.model"
    for part in range(20):
        path.write_bytes(data[: len(data) * part // 20])
        with pytest.raises(DataError, match=r"cut\.model: (is not a model file|is empty)"):
            read_model(path)


def test_truncated_by_one_byte(tmp_path, stored):
    stored.write_bytes(stored.read_bytes()[:-1])
    with pytest.raises(DataError, match=NOT_A_MODEL):
        read_model(stored)


def test_damaged_bytes_are_found_or_do_not_matter(tmp_path, stored):
    data = stored.read_bytes()
    path = tmp_path / "damaged.model"
    draw = random.Random(1)
    found = 0
    places = [*range(100), *range(len(data) - 400, len(data)), *draw.choices(range(len(data)), k=200)]
    for at in places:
        changed = bytearray(data)
        changed[at] ^= 1 << draw.randrange(8)
        path.write_bytes(changed)
        try:
            _, arrays = read_model(path)
        except WordkitError:
            found += 1
        else:  # what is still there is right; a part that is missing is for the model's own reader to tell
            for name in arrays.keys() & ARRAYS.keys():
                np.testing.assert_array_equal(arrays[name], ARRAYS[name])
    assert found > len(places) / 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text\n",
        b"PK\x03\x04",
        b"\x93NUMPY\x01\x00",
        b"PK\x05\x06" + bytes(18),
        b"\x80\x04N.",
        b"[1]" * 100,
    ],
)
def test_other_files(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"x: is (not a model file|empty)"):
        read_model(path)


@pytest.mark.parametrize("header", ["[]", "{}", "{", '{"format": "other"}', '{"format": "wordkit-model"}'])
def test_foreign_headers(tmp_path, header):
    np.savez(tmp_path / "x.npz", header=np.array(header))
    with pytest.raises(WordkitError, match=r"x\.npz: "):
        read_model(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", weights=np.zeros(3))
    with pytest.raises(DataError, match=NOT_A_MODEL):
        read_model(tmp_path / "y.npz")


def test_header_of_another_type(tmp_path):
    np.savez(tmp_path / "x.npz", header=np.zeros(3))
    with pytest.raises(DataError, match=NOT_A_MODEL):
        read_header(tmp_path / "x.npz")


def test_u102_newer_version(tmp_path):
    newer = {"format_version": 2, "wordkit_version": "9.9"}
    write_model(tmp_path / "m", "rpa", ARRAYS, newer)
    with pytest.raises(
        WordkitError,
        match=rf"m: model format 2 \(written by wordkit 9\.9\) is newer than this wordkit {__version__}",
    ):
        read_model(tmp_path / "m")


def test_u104_wrong_kind(tmp_path):
    write_model(tmp_path / "m", "hmtm", ARRAYS, {})
    with pytest.raises(DataError, match=r"m: this is a model of kind 'hmtm', expected a text classifier"):
        read_model(tmp_path / "m", {"rpa": "a text classifier"})
    assert read_model(tmp_path / "m")[0]["kind"] == "hmtm"


def test_u095_failed_write_keeps_the_old_model(stored):
    before = stored.read_bytes()
    with pytest.raises(ValueError):
        write_model(stored, "rpa", {"a": np.zeros(3), "x": np.array([{}], dtype=object)}, {})
    assert stored.read_bytes() == before and os.listdir(stored.parent) == ["m.model"]


def test_large_arrays_are_not_copied_whole(tmp_path):
    write_model(tmp_path / "m", "rpa", {"x": np.broadcast_to(np.float32(1), (1 << 10, 1 << 12))}, {})
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert archive.getinfo("x.npy").file_size == pytest.approx(4 << 22, rel=1e-4)
        np.lib.format.read_magic(io.BytesIO(archive.read("header.npy")))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1)))
def test_words_are_packed_and_unpacked(words):
    assert unpack_words(pack_words(words)) == words


def test_words_with_line_feeds_are_refused():
    with pytest.raises(ValueError, match="line feed"):
        pack_words(["a", "b\nc"])
