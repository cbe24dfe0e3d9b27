"""Vector files mapped into memory: pages are read when they are used, dropped when memory is short, shared by processes.

The format is npz, whose rows lie in the file as they lie in memory; text has no numbers to map, and rows of word2vec's binary
format, a word before each, begin at odd places.
"""

from __future__ import annotations

import os
import sys

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.formats.model_file import open_model, unpack_words
from wordkit.formats.npz import ZIP, Archive
from wordkit.formats.opening import Input, compression_of, opened

_HOW = "a plain file of `wordkit convert VEC FILE.npz`"


def check_vectors_arrays(archive: Archive) -> tuple[list[str], tuple[int, int]]:
    """The words of an archive of vectors, and the shape of its array ``vectors``: float32, a row a word.

    Raises:
        ValueError: other arrays.
    """
    member, shape, _, dtype = archive.open("words")
    if dtype != np.uint8 or len(shape) != 1:
        raise ValueError("words")
    with member:
        words = unpack_words(np.frombuffer(member.read(), dtype=np.uint8))
    member, shape, by_columns, dtype = archive.open("vectors")
    member.close()
    if by_columns or len(shape) != 2 or shape[0] != len(words) or shape[1] < 1 or dtype != np.dtype("<f4"):
        raise ValueError("vectors")
    return words, (shape[0], shape[1])


def map_vectors(path: str | os.PathLike[str] | Input) -> tuple[list[str], np.ndarray]:
    """Words and vectors of an npz file of :func:`wordkit.formats.vectors.write_vectors`; the words alone are read.

    Returns:
        words and a float32 array (words, dim) that cannot be written to. Its values have not been looked at: they may hold nan.

    Raises:
        DataError: another format, compressed, a pipe, damaged, a word twice. WordkitError: this machine stores numbers otherwise.
    """
    if sys.byteorder == "big":
        raise WordkitError(
            "vector files cannot be mapped on this machine, whose numbers begin with the highest byte"
        )
    with opened(path) as source:
        regular = source.path != "-" and os.path.isfile(source.path) and not compression_of(source.path)
        if not regular or (source.peek(len(ZIP)) != ZIP and source.peek(1)):
            raise DataError(source.name, None, "cannot be mapped into memory", _HOW)
        with open_model(source, {"vectors": "vectors"}) as (_, archive):
            words, shape = check_vectors_arrays(archive)
            vectors = archive.mapped("vectors") if words else np.empty(shape, dtype="<f4")
    if not vectors.flags.aligned:
        raise DataError(source.name, None, "is of an earlier version, whose numbers cannot be mapped", _HOW)
    if len(set(words)) < len(words):
        raise DataError(source.name, None, "holds a word twice, and so cannot be mapped", _HOW)
    return words, vectors
