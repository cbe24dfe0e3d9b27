"""Concepts with related and random words, as BLESS has them (Baroni and Lenci 2011).

A line has concept, class of the concept, relation, relatum, between tabs, commas or spaces; words end in ``-n``, ``-j``, ``-v``.
Relations whose name begins with ``random`` hold words that are not related. The part of speech of a relatum is that of its
relation: adjectives in ``attri`` and ``random-j``, verbs in ``event`` and ``random-v``; concepts and all others are nouns.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened
from wordkit.formats.separated import columns_found, separated_rows
from wordkit.tally import Tally

ORDER = ("coord", "hyper", "mero", "attri", "event", "random-n", "random-j", "random-v")  # of the figures
_TAGS = {"attri": "j", "event": "v", "random-j": "j", "random-v": "v"}


@dataclass
class Relations:
    """One row a tuple: ``concepts``, ``relations`` and ``relata`` (words without their ends), ``tags`` of the relata."""

    concepts: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    relata: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.concepts)

    def names(self) -> list[str]:
        """The relations that occur, those of BLESS in the order of its figures and others as they come."""
        there = dict.fromkeys(self.relations)
        return [name for name in ORDER if name in there] + [name for name in there if name not in ORDER]


def is_random(relation: str) -> bool:
    """Whether the words of a relation are not related."""
    return relation.startswith("random")


def read_relations(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> Relations:
    """The tuples in file order; one that is there twice counts once, and is counted as a warning.

    Raises:
        DataError: an input that is empty or holds no tuple; a line that has not four fields; an empty field.
    """
    tally = Tally() if tally is None else tally
    found = Relations()
    there: set[tuple[str, ...]] = set()
    with opened(path) as source:
        for number, fields in separated_rows(source, tally):
            if len(fields) != 4 or not all(fields):
                what = columns_found(len(fields)) if len(fields) != 4 else "an empty field"
                fault = DataError(source.name, number, what, "4: concept, class, relation, relatum")
                tally.invalid(fault, "tuple")
                continue
            concept, _, relation, relatum = fields
            tag = _TAGS.get(relation, "n")
            row = (_bare(concept, "n"), relation, _bare(relatum, tag), tag)
            if row in there:
                fault = DataError(source.name, number, f"`{concept} {relation} {relatum}` was there before")
                tally.warn("duplicate tuple", fault)
                continue
            there.add(row)
            for column, text in zip(
                (found.concepts, found.relations, found.relata, found.tags), row, strict=True
            ):
                column.append(text)
        if not found.concepts:
            raise DataError(source.name, None, "holds no tuple", "lines of concept, class, relation, relatum")
    return found


def _bare(word: str, tag: str) -> str:
    """The word without the tag at its end."""
    return word[:-2] if word.endswith(f"-{tag}") and len(word) > 2 else word
