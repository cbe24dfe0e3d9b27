"""Words with the classes that people sorted them into: categorization sets as of ESSLLI 2008 or Almuhareb and Poesio.

A word a line, then its class, or a class in each of several columns (six classes and three of the same words); between tabs,
commas or spaces. The first line names the columns if its first field is one of HEADERS. A class that is empty or ``-`` is none:
the word has no class in that column. Blank lines and a beginning with ``#`` are passed over.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened
from wordkit.formats.separated import columns_found, separated_rows
from wordkit.tally import Tally

HEADERS = ("word", "words", "noun", "verb", "adjective", "term", "concept", "target")
_EXPECTED = "a word and its class"


@dataclass
class WordClasses:
    """``words``: distinct, in file order; ``columns``: name of a column to the class of each word, "" where it has none."""

    words: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)


def read_word_classes(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> WordClasses:
    """The words in file order; of a word that is there twice the first line counts, and the others are counted as a warning.

    Args:
        path: a path, ``-``, or an open input.
        tally: what is done with bad lines and repeated words.

    Raises:
        DataError: no word; a line of another number of columns than the first, or without a word; one column; two columns of
            one name.
    """
    tally = Tally() if tally is None else tally
    found = WordClasses()
    there: set[str] = set()
    names: list[str] | None = None
    with opened(path) as source:
        for number, fields in separated_rows(source, tally):
            if names is None:
                is_header = fields[0].lower() in HEADERS and len(fields) > 1
                names = fields[1:] if is_header else _names(len(fields) - 1)
                if not names:
                    raise DataError(source.name, number, columns_found(len(fields)), _EXPECTED)
                if len(set(names)) < len(names):
                    raise DataError(source.name, number, "two columns have one name")
                found.columns = {name: [] for name in names}
                if is_header:
                    continue
            if len(fields) != len(names) + 1:
                fault = DataError(
                    source.name, number, columns_found(len(fields)), f"{len(names) + 1} as before"
                )
                tally.invalid(fault, "word")
            elif not fields[0]:
                tally.invalid(DataError(source.name, number, "an empty word", _EXPECTED), "word")
            elif fields[0] in there:
                what = f"the word `{fields[0]}` was there before"
                tally.warn("duplicate word", DataError(source.name, number, what))
            else:
                there.add(fields[0])
                found.words.append(fields[0])
                for name, text in zip(names, fields[1:], strict=True):
                    found.columns[name].append("" if text == "-" else text)
        if not found.words:
            raise DataError(source.name, None, "holds no word", "lines of a word and its class")
    return found


def _names(count: int) -> list[str]:
    """Names of columns that have none."""
    return ["class"] if count == 1 else [f"class{i}" for i in range(1, count + 1)]
