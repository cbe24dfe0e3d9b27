"""Lists of words: one a line; whatever follows a tab (a count, a path, a group) is not part of it.

Nor are spaces at the end, but in a word of spaces alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.opening import Input, open_output, text_blocks
from wordkit.tally import Tally


def read_word_list(path: str | os.PathLike[str], tally: Tally) -> list[str]:
    """The words in file order, each line one; blank lines are passed over.

    Raises:
        DataError: an input that is empty or holds no word, or a line that is not UTF-8 unless the tally skips it.
    """
    return read_grouped_words(path, tally)[0]


def read_grouped_words(path: str | os.PathLike[str], tally: Tally) -> tuple[list[str], list[str]]:
    """The words as :func:`read_word_list` has them, and the second column of each, empty where there is none."""
    words: list[str] = []
    groups: list[str] = []
    with Input(path) as source:
        for _, block in text_blocks(source, tally):
            for line in block.decode("utf-8").split("\n"):
                word, _, rest = line.rstrip("\r").partition("\t")
                if word:
                    words.append(word.rstrip(" ") or word)
                    groups.append(rest.partition("\t")[0])
        if not words and not tally.counts:
            raise DataError(source.name, None, "holds no word", "one a line")
    return words, groups


def write_word_counts(path: str | os.PathLike[str], words: Sequence[str], counts: np.ndarray) -> None:
    """Write ``word<TAB>count``, a word a line, whole or not at all."""
    with open_output(path) as out:
        rows = [f"{word}\t{count}\n" for word, count in zip(words, counts.tolist(), strict=True)]
        out.write("".join(rows).encode("utf-8"))
