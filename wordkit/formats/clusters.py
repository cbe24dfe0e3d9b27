"""Brown paths files: ``bit string<TAB>word<TAB>count``, a word a line, as users of the usual Brown clustering tool read them.

Lines are sorted by bit string, and those of a cluster by falling count. A bit string is not empty; a single cluster's is `0`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import Input, open_output, opened, text_blocks
from wordkit.tally import Tally

_EXPECTED = "bit string, word and count between tabs"
_BITS = re.compile("[01]+")
_UNFIT = re.compile("[\t\n\0\ud800-\udfff]|\r$")  # of words; half a surrogate pair has no UTF-8


@dataclass(frozen=True)
class Clusters:
    """A clustering of words.

    Attributes:
        paths: bit strings of the clusters, sorted. words; counts (int64) and labels (int32, numbers of paths): an entry a word.
    """

    paths: list[str]
    words: list[str]
    counts: np.ndarray
    labels: np.ndarray

    def numbers(self, words: Sequence[str]) -> np.ndarray:
        """Cluster (n,) int32 of each word, -1 for words that are in none."""
        index = dict(zip(self.words, self.labels.tolist(), strict=True))
        return np.array([index.get(word, -1) for word in words], dtype=np.int32)


def check_words(words: Sequence[str]) -> None:
    """WordkitError, with the word, for one that a paths file cannot hold."""
    for word in words:
        if not word or _UNFIT.search(word):
            raise WordkitError(f"a paths file cannot hold the word {word!r}")


def write_clusters(
    path: str | os.PathLike[str],
    paths: Sequence[str],
    words: Sequence[str],
    counts: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Write a paths file, whole or not at all.

    Args:
        paths: bit string of each cluster. words, counts, labels: an entry a word, labels being numbers of ``paths``.

    Raises:
        WordkitError: a word that the format cannot hold, named.
    """
    check_words(words)
    rows = zip((paths[c] for c in labels.tolist()), (-counts).tolist(), range(len(words)), strict=True)
    with open_output(path) as out:
        for bits, count, i in sorted(rows):
            out.write(f"{bits}\t{words[i]}\t{-count}\n".encode())


def is_clusters(source: Input) -> bool:
    """Whether an open input is a paths file, by its first line."""
    fields = source.peek(1 << 12).split(b"\n", 1)[0].rstrip(b"\r").split(b"\t")
    return (
        len(fields) == 3
        and _BITS.fullmatch(fields[0].decode("ascii", "replace")) is not None
        and fields[2].isdigit()
    )


def read_clusters(path: str | os.PathLike[str] | Input, *, tally: Tally | None = None) -> Clusters:
    """Read a paths file; a word that comes twice keeps its first cluster, which is counted.

    Raises:
        DataError: a line that is no such record, with its number; an empty file.
    """
    tally = Tally() if tally is None else tally
    bits: list[str] = []
    counts: list[int] = []
    words: dict[str, None] = {}
    with opened(path) as source:
        for first, block in text_blocks(source, tally):
            for number, line in enumerate(block.decode("utf-8").removesuffix("\n").split("\n"), first):
                if not line.strip(" \t\r"):
                    continue
                fields = line.removesuffix("\r").split("\t")
                if len(fields) != 3 or not fields[1]:
                    what = (
                        "the word is empty"
                        if len(fields) == 3
                        else f"{len(fields)} field{'s' * (len(fields) > 1)}"
                    )
                    tally.invalid(DataError(source.name, number, what, _EXPECTED), "line")
                elif not _BITS.fullmatch(fields[0]):
                    tally.invalid(
                        DataError(source.name, number, f"bit string {fields[0]!r:.40}", "zeros and ones"),
                        "line",
                    )
                elif not (fields[2].isascii() and fields[2].isdigit() and len(fields[2]) < 19):
                    tally.invalid(
                        DataError(source.name, number, f"count {fields[2]!r:.40}", "a whole number"), "line"
                    )
                elif fields[1] in words:
                    tally.warn(
                        "duplicate word", DataError(source.name, number, f"duplicate word `{fields[1]}`")
                    )
                else:
                    words[fields[1]] = None
                    bits.append(fields[0])
                    counts.append(int(fields[2]))
        if not words:
            raise DataError(source.name, None, "holds no word", _EXPECTED)
    paths = sorted(set(bits))
    index = {path: i for i, path in enumerate(paths)}
    return Clusters(
        paths, list(words), np.array(counts, np.int64), np.array([index[b] for b in bits], np.int32)
    )
