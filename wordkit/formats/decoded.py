"""What ``wordkit decode`` writes: each token with its class, or its distribution over classes.

Either ``word<TAB>5`` or ``word<TAB>5:0.93,17:0.07`` a line and a blank line after a sentence, or CoNLL with ``Class=5`` or
``Posterior=5:0.93,17:0.07`` in MISC; the first line decides which.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse

from wordkit.errors import DataError
from wordkit.formats.conll import read_conll
from wordkit.formats.opening import Input, opened
from wordkit.formats.tagged import DOCUMENT_MARK, SentenceLines
from wordkit.tally import Tally

_CLASS = re.compile("[0-9]{1,6}")
_PAIR = re.compile(r"([0-9]{1,6}):([0-9]*\.?[0-9]+(?:e-?[0-9]+)?)")
_CONLL = re.compile(rb"(?:[0-9]+(?:[-.][0-9]+)?\t(?:[^\t\n]*\t){6,}[^\n]*|#[^\t\n]*)\n?")
_ATTRIBUTES = ("Class", "Posterior")
_FEWEST = 8  # columns of CoNLL
_WIDTH_OF_CONLLULEX = 19
_EXPECTED = "what wordkit decode writes: 5 or 5:0.93,17:0.07"


@dataclass
class Decoded:
    """``words``: of each sentence; ``lines``: where each sentence begins; ``vectors``: float64 (tokens, classes), class
    probabilities, one 1 a row for classes alone; ``kind``: ``Class`` or ``Posterior``."""

    name: str
    words: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    vectors: scipy.sparse.csr_array = field(default_factory=lambda: scipy.sparse.csr_array((0, 0)))
    kind: str = "Class"

    def check_words(self, sentences: Iterable[list[str]], name: str) -> None:
        """DataError, with the line, unless these sentences, of the input ``name``, are the same."""
        n = 0
        for n, words in enumerate(sentences, 1):
            if n > len(self.words):
                raise DataError(
                    self.name, None, f"{len(self.words)} sentences", f"those of {name}, which has more"
                )
            own = self.words[n - 1]
            if own != words:
                at = next(
                    (i for i, (a, b) in enumerate(zip(own, words, strict=False)) if a != b),
                    min(len(own), len(words)),
                )
                ours, theirs = ([*each, "(the end of the sentence)"][at] for each in (own, words))
                raise DataError(
                    self.name,
                    self.lines[n - 1],
                    f"sentence {n}, word {at + 1} is `{ours}`",
                    f"`{theirs}`, as in {name}",
                )
        if n < len(self.words):
            raise DataError(self.name, self.lines[n], f"sentence {n + 1}", f"the {n} sentences of {name}")


def read_decoded(path: str | os.PathLike[str] | Input, *, tally: Tally | None = None) -> Decoded:
    """All sentences of a file; those that are a mark of documents (``-DOCSTART-``) alone are left out.

    Raises:
        DataError: an input that is empty or holds no sentence; a token without its class or distribution.
    """
    tally = Tally() if tally is None else tally
    values: list[float] = []
    columns: list[int] = []
    ends = [0]
    with opened(path) as source:
        found = Decoded(source.name)
        start = source.peek(1 << 16).removeprefix(b"\xef\xbb\xbf")
        rows = _of_conll(source, tally, start) if _CONLL.match(start) else _of_columns(source, tally)
        for line, words, texts in rows:
            cells = [_cells(text) for text in texts]
            if None in cells:
                at = cells.index(None)
                raise DataError(
                    source.name, line, f"`{texts[at]:.40}` of the word `{words[at]:.40}`", _EXPECTED
                )
            for cell in cells:
                assert cell is not None
                columns += [column for column, _ in cell]
                values += [value for _, value in cell]
                ends.append(len(columns))
            if any(":" in text for text in texts):
                found.kind = "Posterior"
            found.words.append(words)
            found.lines.append(line)
        if not found.words:
            raise DataError(source.name, None, "holds no sentence", _EXPECTED)
    shape = len(ends) - 1, max(columns, default=-1) + 1
    found.vectors = scipy.sparse.csr_array(
        (np.array(values), np.array(columns, np.int32), np.array(ends)), shape=shape
    )
    return found


def _cells(text: str) -> list[tuple[int, float]] | None:
    """Classes and probabilities of a token; None for a text that is neither."""
    if _CLASS.fullmatch(text):
        return [(int(text), 1.0)]
    pairs = [_PAIR.fullmatch(part) for part in text.split(",")]
    if not all(pairs):
        return None
    return [(int(pair[1]), float(pair[2])) for pair in pairs if pair]


def _of_columns(source: Input, tally: Tally) -> Iterator[tuple[int, list[str], list[str]]]:
    for first, texts in SentenceLines(source, tally):
        words, cells = [], []
        for i, text in enumerate(texts):
            word, tab, cell = text.rpartition("\t")
            if not tab or not word:
                raise DataError(source.name, first + i, "no word and representation between tabs", _EXPECTED)
            words.append(word)
            cells.append(cell)
        yield first, words, cells


def _of_conll(source: Input, tally: Tally, start: bytes) -> Iterator[tuple[int, list[str], list[str]]]:
    rows = [line for line in start.split(b"\n") if line[:1].isdigit()]
    form = "conllulex" if rows and rows[0].count(b"\t") + 1 == _WIDTH_OF_CONLLULEX else "auto"
    for sentence in read_conll(source, columns=("form", "misc"), heads="none", format=form, tally=tally):
        if sentence.forms != [DOCUMENT_MARK]:
            yield sentence.line, sentence.forms, [_attribute(misc) for misc in sentence.misc]


def _attribute(misc: str) -> str:
    """The value that ``decode`` has put into MISC; empty if there is none."""
    for part in misc.split("|"):
        name, equals, value = part.partition("=")
        if equals and name in _ATTRIBUTES:
            return value
    return ""
