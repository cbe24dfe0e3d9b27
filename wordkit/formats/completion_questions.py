"""Sentences with a gap and the words to choose from, as the Microsoft sentence completion challenge has them.

Two forms are read, told apart by the first line. A table between commas or tabs, its first line the names of the columns: ``id``,
``question`` (a sentence with a gap, two or more underscores), ``a)`` to ``e)`` or as many as there are, and maybe ``answer``, a
letter. Or a line a choice, ``1a) ... [word] ...``, the word in brackets; the answers then are those lines that are right.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened
from wordkit.formats.separated import columns_found, filled_lines, separator_of, split_fields
from wordkit.tally import Tally

_CHOICE = re.compile(r"^\s*(\d+)([a-z])\)\s*(.*)$")
_LETTER = re.compile(r"^([a-z])\)?$")
_BRACKETS = re.compile(r"\[([^\]\[]+)\]")
_GAP = re.compile(r"_{2,}")
_TABLE = "columns id, question, a), b), ..., or lines `1a) ... [word] ...`"


@dataclass
class CompletionQuestions:
    """One row a question.

    ``ids``; ``sentences``: the tokens around the gap, split at spaces; ``choices``: words; ``letters``: of the choices;
    ``answers``: number of the right choice, -1 where it is not known; ``lines``: where each begins; ``name``: of the input.
    """

    name: str
    ids: list[str] = field(default_factory=list)
    sentences: list[list[str]] = field(default_factory=list)
    choices: list[list[str]] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    there: set[str] = field(default_factory=set, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def answer(self, letters: Mapping[str, str] | None) -> None:
        """Set the answers by id, or check that the questions have their own.

        Raises:
            DataError: a question without an answer, or with one that is no letter of its choices.
        """
        for i, name in enumerate(self.ids):
            if letters is not None:
                letter = letters.get(name)
                if letter is not None and letter not in self.letters[i]:
                    what = f"the answer of question {name} is `{letter}`"
                    raise DataError(self.name, self.lines[i], what, f"one of {', '.join(self.letters[i])}")
                self.answers[i] = -1 if letter is None else self.letters[i].index(letter)
            if self.answers[i] < 0:
                raise DataError(
                    self.name, self.lines[i], f"question {name} has no answer", "one of its letters"
                )


def read_completion_questions(
    path: str | os.PathLike[str] | Input, tally: Tally | None = None
) -> CompletionQuestions:
    """The questions in file order.

    Raises:
        DataError: an input that is empty, holds no question or has neither form; a line of another width; a sentence without a
            gap, or with several; an empty choice; an answer that is no letter of the choices; an id that was there before.
    """
    tally = Tally() if tally is None else tally
    with opened(path) as source:
        found = CompletionQuestions(source.name)
        columns: dict[str, int] | None = None
        separator: str | None = None
        is_table: bool | None = None
        for number, line in filled_lines(source, tally):
            if is_table is None:
                is_table = _CHOICE.match(line) is None
                if is_table:
                    separator = separator_of(line)
                    columns = _columns(split_fields(line, separator), source.name, number)
                    continue
            try:
                if columns is not None:
                    _add_row(found, split_fields(line, separator), columns, number)
                else:
                    _add_choice(found, line, number)
            except DataError as fault:
                tally.invalid(fault, "question")
        if not len(found):
            raise DataError(source.name, None, "holds no question", _TABLE)
    return found


def read_completion_answers(
    path: str | os.PathLike[str] | Input, tally: Tally | None = None
) -> dict[str, str]:
    """Id to the letter of the right choice, from ``id,answer`` lines or those lines ``1a) ...`` that are right.

    Raises:
        DataError: an input that is empty or holds no answer; a line that has neither form; an id that was there before.
    """
    tally = Tally() if tally is None else tally
    found: dict[str, str] = {}
    with opened(path) as source:
        for place, (number, line) in enumerate(filled_lines(source, tally)):
            if match := _CHOICE.match(line):
                name, letter = match[1], match[2]
            else:
                fields = split_fields(line, separator_of(line))
                letters = _LETTER.match(fields[-1].lower()) if len(fields) == 2 else None
                if letters is None:
                    if place == 0 and len(fields) == 2:
                        continue  # the names of the columns
                    fault = DataError(source.name, number, "is no answer", "`id,letter` or `1a) ...`")
                    tally.invalid(fault, "answer")
                    continue
                name, letter = fields[0], letters[1]
            if name in found:
                tally.invalid(DataError(source.name, number, f"question {name} was there before"), "answer")
                continue
            found[name] = letter
        if not found:
            raise DataError(source.name, None, "holds no answer", "lines of id and letter")
    return found


def _columns(names: list[str], name: str, line: int) -> dict[str, int]:
    """Name of a column to its place; choices by their letter."""
    found: dict[str, int] = {}
    for place, text in enumerate(names):
        letter = _LETTER.match(text.lower())
        found.setdefault(letter[1] if letter else text.lower(), place)
    if not {"id", "question", "a", "b"} <= set(found):
        raise DataError(name, line, "is neither a question nor names of columns", _TABLE)
    return {**found, "": len(names)}


def _add_row(found: CompletionQuestions, fields: list[str], columns: Mapping[str, int], line: int) -> None:
    if len(fields) != columns[""]:
        raise DataError(found.name, line, columns_found(len(fields)), f"{columns['']} as the first line has")
    letters = "".join(sorted(name for name in columns if len(name) == 1))
    sentence = fields[columns["question"]]
    parts = _GAP.split(sentence)
    if len(parts) != 2:
        what = "a sentence without a gap" if len(parts) < 2 else f"{len(parts) - 1} gaps"
        raise DataError(found.name, line, what, "one gap, `_____`")
    choices = [fields[columns[letter]] for letter in letters]
    answer = -1
    if "answer" in columns:
        letter = fields[columns["answer"]].lower().rstrip(")")
        if len(letter) != 1 or letter not in letters:
            raise DataError(found.name, line, f"answer `{letter}`", f"one of {', '.join(letters)}")
        answer = letters.index(letter)
    _add(found, fields[columns["id"]], parts[0].split() + parts[1].split(), choices, letters, answer, line)


def _add(
    found: CompletionQuestions,
    name: str,
    sentence: list[str],
    choices: list[str],
    letters: str,
    answer: int,
    line: int,
) -> None:
    if not all(choices):
        raise DataError(found.name, line, "an empty choice")
    if name in found.there:
        raise DataError(found.name, line, f"question {name} was there before")
    found.there.add(name)
    found.ids.append(name)
    found.sentences.append(sentence)
    found.choices.append(choices)
    found.letters.append(letters)
    found.answers.append(answer)
    found.lines.append(line)


def _add_choice(found: CompletionQuestions, line: str, number: int) -> None:
    match = _CHOICE.match(line)
    words = _BRACKETS.findall(match[3]) if match else []
    if match is None or len(words) != 1:
        raise DataError(found.name, number, "is no choice", "`1a) ... [word] ...` with one word in brackets")
    name, letter, sentence = match[1], match[2], _BRACKETS.sub(" ", match[3]).split()
    if not found.ids or found.ids[-1] != name:
        _add(found, name, sentence, [words[0].strip()], letter, -1, number)
    elif letter in found.letters[-1]:
        raise DataError(found.name, number, f"choice {letter} of question {name} was there before")
    elif sentence != found.sentences[-1]:
        raise DataError(found.name, number, f"another sentence than the choices of question {name} before it")
    else:
        found.choices[-1].append(words[0].strip())
        found.letters[-1] += letter
