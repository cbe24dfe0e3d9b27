"""Phrases with people's judgements: pairs of two-word phrases, verbs in context beside a landmark, acceptable and deviant pairs.

The fields stand between tabs, commas or spaces. What a file holds is told by the names of its columns or, without a line of
names, by the number of fields:

    phrase pairs (Mitchell and Lapata 2010)     participant type group word1 word2 word3 word4 score; or type word1 ... score
    verbs (Grefenstette and Sadrzadeh 2011)     participant verb subject object landmark input hilo; or, in any order, columns of
                                                the names verb subject object landmark and score or input; or participant sent1
                                                sent2 score, sentences of subject, verb, object that differ in the verb
    acceptability (Vecchi et al. 2011)          adjective noun class, the class acceptable or deviant

The head of a two-word phrase is its second word: in Mitchell and Lapata's file a verb comes after its object. Each judgement is a
row: several people's of one item are several rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened
from wordkit.formats.separated import columns_found, finite_number, separated_rows
from wordkit.tally import Tally

# Type of a phrase to the parts of speech of head and dependent.
TYPES = {"adjectivenouns": ("n", "j"), "compoundnouns": ("n", "n"), "verbobjects": ("v", "n")}
VERBS = "verbs"
_SCORES = ("score", "input", "rating")
_VERB_COLUMNS, _SENTENCE_COLUMNS = ("verb", "subject", "object", "landmark"), ("sent1", "sent2")
CLASSES = ("acceptable", "deviant")
_EXPECTED = (
    "type and four words and score; verb, subject, object, landmark and score; or adjective, noun and class"
)
Words = tuple[str, ...]  # a head and its dependents
Row = tuple[str, Words, Words, float]


@dataclass
class Phrases:
    """One row a judgement.

    ``kind``: ``pairs``, ``verbs`` or ``acceptability``; ``types``: of each row (TYPES, VERBS, or another name); ``left``,
    ``right``: words, the head first, ``right`` empty for acceptability and a bare landmark for verbs; ``scores``: float64, for
    acceptability 1 (acceptable) or 0 (deviant).
    """

    kind: str
    types: list[str] = field(default_factory=list)
    left: list[Words] = field(default_factory=list)
    right: list[Words] = field(default_factory=list)
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.types)


class _Fault(Exception):
    """What is wrong with a row, and what was expected."""


def read_phrases(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> Phrases:
    """The judgements in file order.

    Raises:
        DataError: an input that is empty, holds no row or is none of the kinds; a row of another width; a score that is no
            number; a class that is neither acceptable nor deviant.
    """
    tally = Tally() if tally is None else tally
    found: Phrases | None = None
    scores: list[float] = []
    width = 0
    with opened(path) as source:
        for number, fields in separated_rows(source, tally):
            if found is None:
                kind, convert, is_header = _recognized(fields, source.name, number)
                found, width = Phrases(kind), len(fields)
                if is_header:
                    continue
            try:
                if len(fields) != width:
                    raise _Fault(columns_found(len(fields)), f"{width} as before")
                kind, left, right, score = convert(fields)
                if not all((*left, *right)):
                    raise _Fault("an empty word", None)
            except _Fault as fault:
                tally.invalid(DataError(source.name, number, *fault.args), "row")
                continue
            found.types.append(kind)
            found.left.append(left)
            found.right.append(right)
            scores.append(score)
        if found is None or not scores:
            raise DataError(source.name, None, "holds no phrase", f"columns of {_EXPECTED}")
    found.scores = np.array(scores)
    return found


def _recognized(fields: list[str], name: str, line: int) -> tuple[str, Callable[[list[str]], Row], bool]:
    """(kind, how a row is read, whether these are the names of the columns) by the first row."""
    names = [text.lower() for text in fields]
    score = next((column for column in _SCORES if column in names), "")
    for columns, convert in ((_VERB_COLUMNS, _verb), (_SENTENCE_COLUMNS, _sentences)):
        if score and set(columns) <= set(names):
            return "verbs", _of_columns([names.index(column) for column in (*columns, score)], convert), True
    if len(fields) == 3:
        is_header = names[2] not in CLASSES
        if not is_header or names[:2] == ["adjective", "noun"]:
            return "acceptability", _acceptability, is_header
    if len(fields) in (6, 8):
        first = len(fields) - 5
        place = 0 if len(fields) == 6 else 1
        return "pairs", lambda row: _pair(row[place], row[first:]), finite_number(fields[-1]) is None
    if len(fields) == 7 and finite_number(fields[5]) is not None:
        return "verbs", lambda row: _verb(row[1:6]), False
    raise DataError(name, line, f"{columns_found(len(fields))} of another kind", _EXPECTED)


def _of_columns(places: list[int], convert: Callable[[list[str]], Row]) -> Callable[[list[str]], Row]:
    return lambda row: convert([row[place] for place in places])


def _score(text: str) -> float:
    value = finite_number(text)
    if value is None:
        raise _Fault(f"`{text}` is not a number", None)
    return value


def _pair(kind: str, row: list[str]) -> Row:
    a, b, c, d, score = row
    return kind, (b, a), (d, c), _score(score)


def _verb(row: list[str]) -> Row:
    verb, subject, object_, landmark, score = row
    return VERBS, (verb, subject, object_), (landmark,), _score(score)


def _sentences(row: list[str]) -> Row:
    one, two = (text.split()[:3] for text in row[:2])
    if len(one) < 3 or len(two) < 3:
        raise _Fault("a sentence of fewer than three words", "subject, verb, object")
    return VERBS, (one[1], one[0], one[2]), (two[1],), _score(row[2])


def _acceptability(row: list[str]) -> Row:
    adjective, noun, name = row
    if name.lower() not in CLASSES:
        raise _Fault(f"class `{name}`", " or ".join(CLASSES))
    return "adjectivenouns", (noun, adjective), (), float(name.lower() == CLASSES[0])
