"""Model files: one ``.npz`` of plain arrays with a JSON header, no pickled object in it.

The header always holds ``format``, ``format_version``, ``kind`` (what sort of model), ``wordkit_version``; the command line
adds the command, its parameters, seed, signature and inputs. Equal models give equal bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from wordkit import __version__
from wordkit.errors import DataError
from wordkit.formats.npz import (
    Archive,
    check_description,
    open_archive,
    pack_words,
    unpack_words,
    write_archive,
)
from wordkit.formats.opening import Input

__all__ = ["open_model", "pack_words", "read_header", "read_model", "unpack_words", "write_model"]

FORMAT, FORMAT_VERSION = "wordkit-model", 1
_EXPECTED = "a wordkit model file (the -o or --model-out of a train command)"


def write_model(
    path: str | os.PathLike[str], kind: str, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> None:
    """Write a model whole or not at all; arrays are streamed, not copied.

    Args:
        kind: what reads it back, for example ``rpa``.
        arrays: name to array; object arrays are refused.
        header: JSON values beside the fixed keys.
    """
    fixed = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": kind, "wordkit_version": __version__}
    text = json.dumps({**fixed, **header}, ensure_ascii=False, indent=1, allow_nan=False)
    write_archive(path, [("header", np.array(text)), *arrays.items()])


@contextlib.contextmanager
def _archive(path: str | os.PathLike[str] | Input) -> Iterator[tuple[str, Archive]]:
    with open_archive(path, "a model file", _EXPECTED) as opened_archive:
        yield opened_archive


def _checked_header(name: str, archive: Archive) -> dict[str, Any]:
    header = check_description(name, json.loads(str(archive["header"])), "model", FORMAT, FORMAT_VERSION)
    if not isinstance(header.get("kind"), str):
        raise ValueError("kind")
    return header


def read_header(path: str | os.PathLike[str] | Input) -> dict[str, Any]:
    """The JSON header of a model file."""
    with _archive(path) as (name, archive):
        return _checked_header(name, archive)


@contextlib.contextmanager
def open_model(
    path: str | os.PathLike[str] | Input, kinds: Mapping[str, str] | None = None
) -> Iterator[tuple[dict[str, Any], Archive]]:
    """Header and archive (``archive["name"]`` loads an array) of a model file, held open.

    Arguments and errors as for :func:`read_model`; an open input stays open.
    """
    with _archive(path) as (name, archive):
        header = _checked_header(name, archive)
        kind = header["kind"]
        if kinds is not None and kind not in kinds:
            raise DataError(
                name, None, f"this is a model of kind {kind!r}", " or ".join(sorted(set(kinds.values())))
            )
        yield header, archive


def read_model(
    path: str | os.PathLike[str] | Input, kinds: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a model file.

    Args:
        kinds: accepted kinds with the words for them (``{"rpa": "a classifier"}``); any kind when None.

    Raises:
        DataError: not a model file, a damaged one, or a model of another kind.
        WordkitError: written in a newer format than this version reads.
    """
    with open_model(path, kinds) as (header, archive):
        return header, {key: archive[key] for key in archive.names if key != "header"}
