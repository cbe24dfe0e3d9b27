"""Model files that were changed: each loads as a model that can be used, or is one clear error."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from tests.cli.conftest import fails
from wordkit.errors import DataError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models import TextClassifier

TEXT = "__label__a x y x\n__label__b y z z\n__label__c x z y x\n__label__b z z\n" * 3
TRAIN = ("train-rpa", "t", "-o", "m", "--epochs", "2", "--dim", "3")
KINDS = {
    "text": ("--ngrams", "2", "--average"),
    "words": ("--concat-onehot",),
    "one-hot": ("--algorithm", "pa-onehot"),
}

ARRAY_MUTATIONS = {
    "float64": lambda a: a.astype(np.float64) if a.dtype != np.float64 else a.astype(np.float32),
    "int32": lambda a: a.astype(np.int32) if a.dtype != np.int32 else a.astype(np.int64),
    "big-endian": lambda a: a.astype(a.dtype.newbyteorder(">")) if a.dtype.itemsize > 1 else a.astype(bool),
    "complex": lambda a: a.astype(complex),
    "strings": lambda a: a.astype("U30"),
    "bytes": lambda a: a.astype("S30"),
    "flat": lambda a: a.reshape(-1) if a.ndim > 1 else a.reshape(1, -1),
    "scalar": lambda a: np.zeros((), a.dtype),
    "empty": lambda a: a[:0],
    "one more axis": lambda a: a[None],
    "one row less": lambda a: a[:-1],
    "one row more": lambda a: np.concatenate([a, a[-1:]]),
    "one column less": lambda a: a[..., :-1],
    "one column more": lambda a: np.concatenate([a, a[..., -1:]], axis=-1),
    "third axis shorter": lambda a: a[:, :, :-1] if a.ndim > 2 else a[:-2],
    "third axis longer": lambda a: np.concatenate([a, a[:, :, -1:]], axis=2) if a.ndim > 2 else a[[0, *range(len(a))]],
    "second axis longer": lambda a: np.concatenate([a, a, a], axis=1) if a.ndim > 1 else np.tile(a, 3),
    "swapped": lambda a: a.swapaxes(0, -1) if a.ndim > 1 else a[::-1],
    "least": lambda a: _with(a, np.iinfo(a.dtype).min if a.dtype.kind in "iu" else -np.inf),
    "greatest": lambda a: _with(a, np.iinfo(a.dtype).max if a.dtype.kind in "iu" else np.inf),
    "nan": lambda a: _with(a, 0 if a.dtype.kind in "iu" else np.nan),
}  # fmt: skip
# Changes that leave a model as sound as it was: nothing can tell.
SOUND = {
    "same": lambda a: a.copy(),
    "fortran": np.asfortranarray,
}

VALUES = [
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    [],
    [1],
    {},
    {"a": 1},
    [[]],
]


def _with(array, value):
    out = array.copy()
    out.reshape(-1)[-1:] = value
    return out


@pytest.fixture(params=KINDS)
def trained(request, inside, tmp_path):
    (tmp_path / "t").write_text(TEXT)
    assert inside(*TRAIN, *KINDS[request.param]).returncode == 0
    return read_model(tmp_path / "m")


def loads(path, header, arrays) -> bool:
    """Whether a changed model loads; if it does not, that is one line."""
    write_model_anyhow(path, header, arrays)
    try:
        TextClassifier.load(path)
    except DataError as error:
        assert "is not a classifier that wordkit wrote, or is damaged (" in str(
            error
        ) or "is not a model" in str(error)
        assert "\n" not in str(error)
        return False
    return True


def write_model_anyhow(path, header, arrays):
    """As write_model, NaN and lone surrogates in the header too."""
    import json
    from unittest import mock

    dumps = json.dumps
    with mock.patch("wordkit.formats.model_file.json.dumps", lambda value, **_: dumps(value)):
        write_model(path, "rpa", arrays, header)


def test_every_array_is_checked(trained, tmp_path):
    header, arrays = trained
    cases = 0
    for name, array in arrays.items():
        for what, change in ARRAY_MUTATIONS.items():
            changed = change(array)
            if changed.dtype == array.dtype and np.array_equal(changed, array):
                continue
            cases += 1
            assert not loads(tmp_path / "x", header, {**arrays, name: changed}), (name, what)
        for change in SOUND.values():
            assert loads(tmp_path / "x", header, {**arrays, name: change(array)})
        assert not loads(tmp_path / "x", header, {k: v for k, v in arrays.items() if k != name}), name
    assert cases > 100


def paths_of(value, path=()):
    """Where every value of nested JSON is."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths_of(inner, (*path, key))


def replaced(header, path, value):
    out = copy.deepcopy(header)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return out


def test_every_header_field_is_checked(trained, inside, tmp_path):
    """A change that cannot be told from another model's header loads, and all commands go through or say one line."""
    header, arrays = trained
    fixed = {"format", "format_version", "kind", "wordkit_version"}
    loaded = set()
    for path in paths_of(header):
        if not path or path[0] in fixed:
            continue
        for value in VALUES:
            changed = replaced(header, path, value)
            if loads(tmp_path / "x", changed, arrays):
                shape = tuple("*" if isinstance(key, int) else key for key in path)
                if (shape, type(value)) in loaded:
                    continue
                loaded.add((shape, type(value)))
                for args in (
                    ("predict", "x", "t"),
                    ("evaluate", "classification", "x", "t"),
                    ("train-rpa", "t", "--init", "x", "-o", "o", "--epochs", "1"),
                    ("train-rpa", "t", "--resume", "x", "-o", "o", "--epochs", "3"),
                ):
                    run = inside(*args)
                    if run.returncode:
                        fails(run)
    never = {("features", "format"), ("features", "ngrams"), ("history",), ("parameters",), ("labels",), ("labels", "a"),
             ("epochs_done",), ("parameters", "algorithm"), ("parameters", "average")}  # fmt: skip
    assert not never & {path for path, _ in loaded}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("class_names", np.frombuffer(b"c\nb\na\n", np.uint8)),
        ("class_names", np.frombuffer(b"a\na\nb\n", np.uint8)),
        ("class_names", np.frombuffer(b"a\nb\n\xff\n", np.uint8)),
        ("words", np.frombuffer(b"x\nx\nz\n", np.uint8)),
        ("words", np.frombuffer(b"x\ny z\nz\n", np.uint8)),
        ("classes", np.array(["a", "b", "c"])),
        ("class_counts", np.array([-1, 6, 3])),
        ("class_counts", np.array([3, 6, 2**62])),
        ("one_hot", np.zeros((3, 1, 2, 1), np.float32)),
    ],
)  # fmt: skip
def test_commands_say_one_line(inside, tmp_path, name, value):
    (tmp_path / "t").write_text(TEXT)
    assert inside(*TRAIN, "--concat-onehot").returncode == 0
    header, arrays = read_model(tmp_path / "m")
    write_model(tmp_path / "x", "rpa", {**arrays, name: value}, header)
    for args in (
        ("predict", "x", "t"),
        ("evaluate", "classification", "x", "t"),
        ("train-rpa", "t", "--init", "x", "-o", "o"),
        ("train-rpa", "t", "--resume", "x", "-o", "o"),
    ):
        fails(inside(*args), "x: is not a classifier that wordkit wrote, or is damaged (")


def test_labels_as_an_array_of_strings_are_read(trained, tmp_path):
    header, arrays = trained
    del arrays["class_names"]
    assert loads(tmp_path / "x", header, {**arrays, "classes": np.array(["a", "b", "c"])})
    assert not loads(tmp_path / "x", header, {**arrays, "classes": np.array(["a", "c", "b"])})
    assert not loads(tmp_path / "x", header, {**arrays, "classes": np.array(["a", "b", "\ud800"])})
