"""Sentences whose nouns and verbs have supersenses, the lexicographer classes of WordNet.

Two forms. STREUSLE's 19 columns (CONLLULEX): CoNLL-U with the supersense in the fourteenth column, on the first word
of a strong multiword expression. And columns as those of named entities, with types such as ``n.PERSON`` or
``noun.person``; there too, what counts is an expression's first word. Supersenses that are neither of nouns (``n.``,
``noun.``) nor of verbs (``v.``, ``verb.``), such as those of prepositions, are passed over.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from wordkit.errors import DataError
from wordkit.formats.conll import read_conll
from wordkit.formats.entity_tags import entities
from wordkit.formats.opening import Input, opened
from wordkit.formats.tagged import read_tagged
from wordkit.tally import Tally

FORMATS = ("auto", "conllulex", "columns")
_KINDS = {"n": "noun", "noun": "noun", "v": "verb", "verb": "verb"}
_SENSE_COLUMN = 13
_CONLL = re.compile(rb"[0-9]+(?:[-.][0-9]+)?\t(?:[^\t\n]*\t){6}")
_SNIFFED_BYTES = 1 << 16


@dataclass
class Supersenses:
    """``words``: of each sentence; ``labels``: likewise, empty for words without a supersense of nouns or verbs;
    ``others``: how many words have another one; ``name``: the input as errors name it."""

    name: str
    words: list[list[str]] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)
    others: int = 0


def kind_of(label: str) -> str:
    """``noun`` or ``verb``, by what stands before the dot; empty for another label."""
    kind, _, name = label.partition(".")
    return _KINDS.get(kind, "") if name else ""


def read_supersenses(
    path: str | os.PathLike[str] | Input, *, format: str = "auto", tally: Tally | None = None
) -> Supersenses:
    """All sentences of a file, in its order.

    Args:
        format: one of FORMATS; ``auto`` goes by the first line that is not blank and no comment.
        tally: what is done with bad sentences; raised by default.

    Raises:
        DataError: as :func:`wordkit.formats.conll.read_conll` and :func:`wordkit.formats.tagged.read_tagged`; no word
            has a supersense
            of nouns or verbs.
        ValueError: no such format.
    """
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
    tally = Tally() if tally is None else tally
    with opened(path) as source:
        if format == "auto":
            format = "conllulex" if _is_conll(source.peek(_SNIFFED_BYTES)) else "columns"
        found = (_of_conllulex if format == "conllulex" else _of_columns)(source, tally)
        for labels in found.labels:
            for i, label in enumerate(labels):
                if not kind_of(label):
                    found.others += label not in ("", "_")
                    labels[i] = ""
        if not any(map(any, found.labels)):
            raise DataError(source.name, None, "has no supersense", "labels such as n.PERSON and v.motion")
    return found


def _is_conll(start: bytes) -> bool:
    for line in start.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip(b" \t\r") and not line.startswith(b"# "):
            return _CONLL.match(line) is not None
    return False


def _of_conllulex(source: Input, tally: Tally) -> Supersenses:
    found = Supersenses(source.name)
    for sentence in read_conll(source, columns=("form",), heads="none", format="conllulex", tally=tally):
        rows = [line.split("\t") for line in sentence.lines if not line.startswith("#")]
        found.words.append(sentence.forms)
        found.labels.append([row[_SENSE_COLUMN] for row in rows if row[0].isdigit()])
    return found


def _of_columns(source: Input, tally: Tally) -> Supersenses:
    tagged = read_tagged(source, tally=tally)
    found = Supersenses(source.name, tagged.words)
    for words, tags in zip(tagged.words, tagged.tags, strict=True):
        labels = [""] * len(words)
        for entity in entities(tags):
            labels[entity.start] = entity.type
        found.labels.append(labels)
    return found
