"""A model file that was changed by hand, or written by something else, is one DataError: no crash, no nonsense."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from wordkit.errors import DataError, WordkitError
from wordkit.formats.model_file import read_model, write_model
from wordkit.models import TextClassifier
from wordkit.models.rpa_training import Run
from wordkit.tally import Tally

VALUES = [None, -1, 10**30, 1.5, "x", "", [], {}, True, [1], {"a": 1}]


@pytest.fixture(scope="module", params=[(), ("--ngrams", "2", "--average"), ("--algorithm", "pa-onehot")])
def model(request, tmp_path_factory):
    from wordkit.cli import run

    folder = tmp_path_factory.mktemp("damaged")
    text = "".join(f"__label__{'abc'[i % 3]} w{i % 3} v{i % 5} u\n" for i in range(30))
    (folder / "text").write_text(text)
    arguments = [
        "-q",
        "train-rpa",
        str(folder / "text"),
        "-o",
        str(folder / "m"),
        "--dim",
        "3",
        "--epochs",
        "2",
    ]
    assert run([*arguments, *request.param]) == 0
    header, arrays = read_model(folder / "m")
    return folder, header, arrays


def loads(folder, header, arrays) -> TextClassifier:
    fixed = ("format", "format_version", "kind", "wordkit_version")
    write_model(folder / "x", "rpa", arrays, {k: v for k, v in header.items() if k not in fixed})
    return TextClassifier.load(folder / "x")


def use(folder, classifier) -> None:
    """Predict and evaluate; a model that loads must do both."""
    for scores, best, _ in classifier.predict_stream(str(folder / "text"), Tally()):
        assert np.isfinite(scores).all() and (best < len(classifier.classifier.classes_)).all()


def array_mutations(array: np.ndarray):
    yield np.zeros(array.shape, np.float32 if array.dtype == np.float64 else np.float64)
    yield np.zeros(array.shape, "S4")
    yield array[..., None]
    yield array.ravel()[:-1]
    yield array[:0]
    if array.ndim > 1:
        for axis in range(array.ndim):
            yield np.take(array, range(array.shape[axis] - 1), axis=axis)
            yield np.concatenate([array, array], axis=axis)
        yield np.asfortranarray(array)
    if array.dtype.kind == "f" and array.size:
        for value in (np.nan, np.inf):
            spoilt = array.copy()
            spoilt.flat[array.size // 2] = value
            yield spoilt
    if array.dtype.kind in "iuU" and array.size:
        yield array[::-1].copy()
        doubled = array.copy()
        doubled.flat[-1] = doubled.flat[0]
        yield doubled
        if array.dtype.kind in "iu":
            yield (array.astype(np.int64) - 10**6).astype(array.dtype)


def test_arrays(model):
    folder, header, arrays = model
    refused = 0
    for name, array in arrays.items():
        with pytest.raises(DataError, match="damaged"):
            loads(folder, header, {k: v for k, v in arrays.items() if k != name})
        for changed in array_mutations(array):
            try:
                use(folder, loads(folder, header, {**arrays, name: changed}))
            except WordkitError as error:
                assert str(error).startswith(str(folder / "x")) and "\n" not in str(error)
                refused += 1
    assert refused > 5 * len(arrays)


def paths(value, so_far=()):
    """Places of a JSON value, the whole excepted."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*so_far, key)
        yield from paths(item, (*so_far, key))


def options(**more):
    """Options of a run that takes all from an earlier model."""
    names = ("dev", "cv", "grid", "init", "resume", "vectors", "vectors_out")
    return {**dict.fromkeys(names), "threads": 1, **more}


def test_headers(model):
    folder, header, arrays = model
    for at, place in enumerate(paths(header)):
        if place[0] in ("format", "format_version", "kind", "wordkit_version"):
            continue
        for value in (VALUES * 2)[3 * at % len(VALUES) :][:3]:  # each comes to places of every kind
            changed = copy.deepcopy(header)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = value
            try:
                use(folder, loads(folder, changed, arrays))
                for option in ("init", "resume"):
                    run = Run(options(**{option: str(folder / "x")}), {option}, Tally())
                    run.read([str(folder / "text")])
            except WordkitError as error:
                assert "\n" not in str(error)


def test_one_hot_weights_of_fewer_features_are_refused_by_the_kernel():
    from wordkit._kernels import rpa_step

    ones, rows = np.ones(1, np.float32), (np.array([5], np.int32), np.array([0, 1], np.int64))
    phi, w, one_hot = (
        np.zeros((1, 6, 0), np.float32),
        np.zeros((1, 1, 0), np.float32),
        np.zeros((1, 2, 1), np.float32),
    )
    with pytest.raises(ValueError, match="shapes"):
        rpa_step.train_pass(ones, *rows, np.zeros(1, np.int64), np.zeros(1, np.int32), 0, np.ones((1, 2)), 1.0, 0, 1, 0,
                            phi, w, one_hot, 0.0, np.zeros(0, np.float32), np.zeros(3))  # fmt: skip
    with pytest.raises(ValueError, match="shapes"):
        rpa_step.score_rows(
            ones, *rows, 0, 1, 0, phi[0], w[0], one_hot[0], np.zeros(0, np.float32), np.zeros((1, 1))
        )
