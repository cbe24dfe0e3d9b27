"""Analogy questions as the set ``questions-words.txt`` has them.

A line ``: NAME`` begins a section; the sections whose name begins with ``gram`` are the syntactic ones, the others semantic.
Every other line is a question of four words between spaces or tabs: a is to b as c is to d. Blank lines are passed over.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened
from wordkit.formats.text import text_lines
from wordkit.tally import Tally

_SEPARATOR = re.compile("[ \t]+")


@dataclass
class Questions:
    """``words``: the four words of each question, in file order; ``sections``: the number of each one's section in ``names``."""

    words: list[tuple[str, str, str, str]] = field(default_factory=list)
    sections: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.words)


def is_syntactic(section: str) -> bool:
    """Whether the questions of a section are about forms of words."""
    return section.startswith("gram")


def read_questions(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> Questions:
    """The questions in file order; sections of one name are one section. A question that is there twice is kept twice.

    Args:
        path: a path, ``-``, or an open input.
        tally: what is done with lines that are no question; raised by default.

    Raises:
        DataError: an input that is empty or holds no question; a line that has not four words; a question before the first
            section; a section without a name.
    """
    tally = Tally() if tally is None else tally
    questions = Questions()
    numbers: dict[str, int] = {}
    section: int | None = None
    with opened(path) as source:
        for number, line in text_lines(source, tally):
            words = _SEPARATOR.split(line.strip(" \t"))
            if words == [""]:
                continue
            # A smiley is a word: only what cannot be a question needs no space after its colon.
            if words[0] == ":" or (words[0][0] == ":" and len(words) != 4):
                if name := line.strip(" \t")[1:].strip(" \t"):
                    section = numbers.setdefault(name, len(numbers))
                else:
                    tally.invalid(DataError(source.name, number, "a section without a name"), "section")
                continue
            if fault := _fault(words, section):
                tally.invalid(DataError(source.name, number, *fault), "question")
                continue
            assert section is not None
            a, b, c, d = words
            questions.words.append((a, b, c, d))
            questions.sections.append(section)
        if not questions.words:
            raise DataError(source.name, None, "holds no question", "sections `: NAME` and four words a line")
    questions.names = list(numbers)
    return questions


def _fault(words: list[str], section: int | None) -> tuple[str, str] | None:
    """What is wrong with a line, and what was expected."""
    if len(words) != 4:
        return f"{len(words)} word{'s' * (len(words) != 1)}", "4: a is to b as c is to d"
    if section is None:
        return (
            "a question before the first section",
            "a line `: NAME` (names of syntactic sections begin with gram)",
        )
    return None
