"""Sentences in columns whose tags mark entities: CoNLL 2002 and 2003, wikigold, WNUT and their like.

A token a line, a blank line (spaces and tabs count as blank) or the end of the file after a sentence. Fields are
between tabs where the line holds one, else between spaces; every line has as many as the first. ``#`` is a word like
any other. A line ``-DOCSTART-`` is neither a word nor a sentence, whatever its other fields: it ends a sentence and
is counted. A tag is ``O``, or ``B-``, ``I-``, ``E-``, ``S-``, ``L-``, ``U-`` and a type.

A sentence with a line that cannot be used is a DataError that names the line, or is counted and passed over as a whole if the
tally says so: a token less would change the others' neighbours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from wordkit.errors import DataError
from wordkit.formats.conll import ByteFaults
from wordkit.formats.opening import Input, opened, text_blocks
from wordkit.tally import Tally

DOCUMENT_MARK = "-DOCSTART-"
_MARK = re.compile(f"{DOCUMENT_MARK}(?:[ \t]|$)")
_TAG = re.compile("O|[BIESLU]-.+", re.DOTALL)
_SPACES = re.compile(" +")


class SentenceLines:
    """The sentences of an input as ``(number of the first line, its lines)``, marks of documents left out.

    ``marks``: how many of those there were so far.
    """

    def __init__(self, source: Input, tally: Tally) -> None:
        self.source, self.tally = source, tally
        self.marks = 0

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        faults: dict[int, DataError] = {}
        bad_bytes = ByteFaults(self.tally, faults)
        first, texts = 0, list[str]()
        for start, block in text_blocks(self.source, bad_bytes):
            if bad_bytes.new:
                block = bad_bytes.poisoned(start, block)
            for number, text in enumerate(block.decode("utf-8").removesuffix("\n").split("\n"), start):
                text = text.rstrip("\r")
                mark = _MARK.match(text) is not None
                self.marks += mark
                if text.strip(" \t") and not mark:
                    first = first if texts else number
                    texts.append(text)
                elif texts:
                    yield from self._usable(first, texts, faults)
                    texts = []
        if texts:
            yield from self._usable(first, texts, faults)

    def _usable(
        self, first: int, texts: list[str], faults: dict[int, DataError]
    ) -> Iterator[tuple[int, list[str]]]:
        """The sentence, unless one of its lines was no text."""
        found = [faults[line] for line in range(first, first + len(texts)) if line in faults]
        if found:
            self.tally.invalid(found[0], "sentence")
        else:
            yield first, texts


@dataclass
class Tagged:
    """Sentences with tags.

    Attributes:
        name: the input as errors name it.
        words, tags: of each sentence, lists of one length.
        pos: parts of speech likewise; None where the file has none.
        predicted: a second column of tags likewise, where it was asked for.
        width: columns a line. marks: lines ``-DOCSTART-``, which are left out.
    """

    name: str
    words: list[list[str]] = field(default_factory=list)
    tags: list[list[str]] = field(default_factory=list)
    pos: list[list[str]] | None = None
    predicted: list[list[str]] = field(default_factory=list)
    width: int = 0
    marks: int = 0

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.words))


class _Columns(NamedTuple):
    """Where things stand in a line, from 0; -1: nowhere."""

    word: int
    tag: int
    pos: int
    predicted: int


def read_tagged(
    path: str | os.PathLike[str] | Input,
    *,
    word_column: int = 1,
    label_column: int | None = None,
    pos_column: int | None = None,
    predicted: bool = False,
    tally: Tally | None = None,
) -> Tagged:
    """All sentences of a file, in its order.

    Args:
        word_column, label_column, pos_column: counted from 1. The tags stand in the last column by default, and the parts
            of speech in the second, where there is one between words and tags; 0: there are none.
        predicted: the last column holds predicted tags, and the gold ones stand before it by default, as conlleval reads them.
        tally: what is done with bad sentences; raised by default.

    Raises:
        DataError: an input that is empty or holds no sentence; a line with too few columns, another number of them than
            the first, an empty word, or a tag that is none.
    """
    tally = Tally() if tally is None else tally
    with opened(path) as source:
        found = Tagged(source.name)
        sentences = SentenceLines(source, tally)
        columns: _Columns | None = None
        for first, texts in sentences:
            rows = [_fields(text) for text in texts]
            if columns is None:
                found.width = len(rows[0])
                columns = _columns(found.width, word_column, label_column, pos_column, predicted)
            if fault := _fault(rows, columns, found.width):
                line, *what = fault
                tally.invalid(DataError(source.name, first + line, *what), "sentence")
                columns = columns if found.words else None  # a bad first line does not decide for the others
                continue
            found.words.append([row[columns.word] for row in rows])
            found.tags.append([row[columns.tag] for row in rows])
            if columns.pos >= 0:
                found.pos = [] if found.pos is None else found.pos
                found.pos.append([row[columns.pos] for row in rows])
            if predicted:
                found.predicted.append([row[columns.predicted] for row in rows])
        found.marks = sentences.marks
        if not found.words:
            raise DataError(source.name, None, "holds no sentence", "lines of a word and its tag")
    return found


def _fields(text: str) -> list[str]:
    return text.rstrip(" \t").split("\t") if "\t" in text else _SPACES.split(text.strip(" "))


def _columns(width: int, word: int, label: int | None, pos: int | None, predicted: bool) -> _Columns:
    last = width - 1
    tag = (last - 1 if predicted else last) if label is None else label - 1
    if pos is None:
        pos = 2 if word == 1 and tag > 1 else 0
    return _Columns(word - 1, tag, pos - 1, last if predicted else -1)


def _fault(rows: list[list[str]], columns: _Columns, width: int) -> tuple[int, str, str] | None:
    """Where in a sentence something is wrong, what, and what was expected."""
    needed = max(*columns, columns.word + 1) + 1
    for i, row in enumerate(rows):
        if width < needed:
            return i, _counted(width), f"{needed} at least: a word and its tag"
        if len(row) != width:
            return i, _counted(len(row)), f"{width}, as in the lines before"
        if not row[columns.word]:
            return i, "an empty word", "a word and its tag"
        for column in (columns.tag, columns.predicted):
            if column >= 0 and not _TAG.fullmatch(row[column]):
                return i, f"tag `{row[column]:.40}`", "O, B-TYPE or I-TYPE"
    return None


def _counted(columns: int) -> str:
    return f"{columns} column{'s' * (columns != 1)}"
