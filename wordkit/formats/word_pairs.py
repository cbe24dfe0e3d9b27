"""Pairs of words with the scores that people gave them.

A pair a line: word, word, score. The first line decides what separates the fields: a tab if there is one, else a comma if
there are two, else spaces. The first pair decides which field is the score: the third if it is a number, otherwise the
first one that is; the words are the first two of the others. Fields after those are not looked at. Blank lines are passed
over; so are, before the first pair, lines that begin with ``#``, and one line of names, none of them a number.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field

import numpy as np

from wordkit.errors import DataError, times
from wordkit.formats.opening import Input, opened
from wordkit.formats.separated import columns_found, filled_lines, finite_number, separator_of, split_fields
from wordkit.tally import Tally

_EXPECTED = "3: word, word, score"


@dataclass
class WordPairs:
    """``first``, ``second``: words; ``scores``: float64; ``lines``: where each pair stands; ``notes``: lines for the user."""

    first: list[str]
    second: list[str]
    scores: np.ndarray
    lines: list[int]
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.first)


def read_word_pairs(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> WordPairs:
    """The pairs in file order. A pair that is there twice, in either order, is kept twice, and a note says so.

    Args:
        path: a path, ``-``, or an open input.
        tally: what is done with lines that are no pair; raised by default.

    Raises:
        DataError: an input that is empty or holds no pair; a line without two words and a number.
    """
    tally = Tally() if tally is None else tally
    pairs = WordPairs([], [], np.empty(0), [])
    scores: list[float] = []
    columns: tuple[int, int, int] | None = None
    header = False
    separator: str | None = ""
    with opened(path) as source:
        for number, line in filled_lines(source, tally):
            if columns is None and line.startswith("#"):
                continue
            if separator == "":
                separator = separator_of(line, least_commas=2)
            fields = split_fields(line, separator)
            if columns is None:
                numeric = [i for i, text in enumerate(fields) if finite_number(text) is not None]
                scored = any(map(_stands_for_a_number, fields[2:]))
                if not numeric and len(fields) >= 3 and not header and not scored:
                    pairs.notes.append(
                        f"{source.name}:{number}: no number, taken for the names of the columns"
                    )
                    header = True
                    continue
                columns = _columns(numeric) if len(fields) >= 3 else None
            if fault := _fault(fields, columns or (0, 1, 2)):
                tally.invalid(DataError(source.name, number, *fault), "pair")
                continue
            assert columns is not None
            a, b, score = (fields[i] for i in columns)
            pairs.first.append(a)
            pairs.second.append(b)
            pairs.lines.append(number)
            scores.append(float(score))
        if not scores:
            raise DataError(source.name, None, "holds no pair", "lines of word, word, score")
        if twice := len(pairs) - len(
            {frozenset(pair) for pair in zip(pairs.first, pairs.second, strict=True)}
        ):
            pairs.notes.append(f"{source.name}: {times(twice, 'pair')} more than once; each counts")
    pairs.scores = np.array(scores)
    return pairs


def _stands_for_a_number(text: str) -> bool:
    """Whether it is nan or inf: a bad score, but no name of a column."""
    try:
        return not math.isfinite(float(text))
    except ValueError:
        return False


def _columns(numeric: list[int]) -> tuple[int, int, int]:
    """Where the words and the score stand, by the fields of the first pair that are numbers."""
    score = 2 if 2 in numeric or not numeric else numeric[0]
    first, second = [i for i in range(3) if i != score][:2]
    return first, second, score


def _fault(fields: list[str], columns: tuple[int, int, int]) -> tuple[str, str | None] | None:
    """What is wrong with a line, and what was expected."""
    a, b, score = columns
    if len(fields) <= max(columns):
        return (
            columns_found(len(fields)),
            _EXPECTED if score < 3 else f"at least {score + 1}",
        )
    if finite_number(fields[score]) is None:
        return f"`{fields[score]}` is not a number", None
    if not fields[a] or not fields[b]:
        return "an empty word", _EXPECTED
    return None
