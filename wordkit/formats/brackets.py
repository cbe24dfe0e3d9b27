"""Bracketed trees, ``(S1 (NP (DT the) (NN cat)) ...)``: candidates and gold trees.

Candidates are ``qid<TAB>score<TAB>tree`` a line, those of a qid together; gold trees ``qid<TAB>tree``. Lines that begin with
``#`` and blank lines say nothing.

A word stands in a bracket with its tag; a bracket with others in it is a phrase, whose label may be missing at the root. Words
and labels hold no brackets and no blanks (the Penn treebank writes -LRB- and -RRB-).
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened, text_blocks
from wordkit.tally import Tally

MOST_SCORE = 1e37  # differences of scores are float32 values of a feature
_TOKEN = re.compile(r"[()]|[^() \t]+")
_CANDIDATE, _GOLD = "qid<TAB>score<TAB>tree", "qid<TAB>tree"


class Tree:
    """A phrase, or a word with its tag: ``word`` is None for a phrase, ``children`` is empty for a word.

    ``start`` and ``end`` count words: the tree covers those from ``start`` to ``end - 1`` of its sentence.
    """

    __slots__ = ("children", "end", "label", "start", "word")

    def __init__(
        self, label: str, children: tuple[Tree, ...], word: str | None, start: int, end: int
    ) -> None:
        self.label, self.children, self.word, self.start, self.end = label, children, word, start, end

    def __str__(self) -> str:
        parts: list[str] = []
        stack: list[Tree | str] = [self]
        while stack:
            top = stack.pop()
            if isinstance(top, str):
                parts.append(top)
            elif top.word is not None:
                parts.append(f"({top.label} {top.word})")
            else:
                parts.append(f"({top.label}")
                stack += [")", *(x for child in reversed(top.children) for x in (child, " "))]
        return "".join(parts)

    def phrases(self) -> Iterator[Tree]:
        """The phrases of the tree, each before what is in it."""
        stack = [self]
        while stack:
            top = stack.pop()
            if top.word is None:
                yield top
                stack.extend(reversed(top.children))

    def leaves(self) -> Iterator[Tree]:
        """The words in their order."""
        stack = [self]
        while stack:
            top = stack.pop()
            if top.word is None:
                stack.extend(reversed(top.children))
            else:
                yield top


def parse_tree(text: str, known: dict[Hashable, Tree] | None = None) -> Tree:
    """The tree that a text writes out.

    Args:
        known: parts of other trees of the same sentence; equal parts of them and of this tree become one object.

    Raises:
        ValueError: the text is no tree; the message says what was found.
    """
    known = {} if known is None else known
    labels: list[str | None] = []  # of the open brackets; None: none seen yet
    starts: list[int] = []
    parts: list[list[Tree]] = [[]]
    words: list[str | None] = []
    n_words = 0
    for token in _TOKEN.findall(text):
        if token == "(":
            if words and words[-1] is not None:
                raise ValueError(f"a bracket behind the word `{words[-1][:40]}`")
            if not labels and parts[0]:
                raise ValueError("more than one tree")
            labels.append(None)
            words.append(None)
            starts.append(n_words)
            parts.append([])
        elif token == ")":
            if not labels:
                raise ValueError("a closing bracket too many")
            label, word, start, children = labels.pop(), words.pop(), starts.pop(), tuple(parts.pop())
            if word is None and not children:
                raise ValueError(f"nothing in the bracket `({label or ''})`")
            n_words += word is not None
            key = (label, word, start, children)
            tree = known.get(key)
            if tree is None:
                tree = known[key] = Tree(label or "", children, word, start, n_words)
            parts[-1].append(tree)
        elif not labels:
            raise ValueError(f"`{token[:40]}` outside of brackets")
        elif labels[-1] is None and not parts[-1]:
            labels[-1] = token
        elif words[-1] is None and not parts[-1]:
            words[-1] = token
        else:
            raise ValueError(f"`{token[:40]}` beside another word or a bracket")
    if labels:
        raise ValueError(f"{len(labels)} bracket{'s' * (len(labels) > 1)} not closed")
    if not parts[0]:
        raise ValueError("no bracket")
    if parts[0][0].word is not None:
        raise ValueError("a word with its tag alone")
    return parts[0][0]


@dataclass
class Candidates:
    """The candidates of a sentence, in the order of the file; equal parts of their trees are one object."""

    qid: int
    scores: list[float]
    trees: list[Tree]
    texts: list[str]  # the lines
    lines: list[int]  # their numbers


def _rows(source: Input, tally: Tally, columns: int, expected: str) -> Iterator[tuple[int, int, list[str]]]:
    """Line number, qid and the other fields of each line that says something."""
    found = False
    for first, block in text_blocks(source, tally):
        for number, line in enumerate(block.decode("utf-8").split("\n"), first):
            line = line.rstrip("\r")
            if not line.strip(" \t") or line.startswith("#"):
                continue
            found = True
            fields = line.split("\t")
            if len(fields) != columns:
                what = f"{len(fields)} column{'s' * (len(fields) != 1)}"
                tally.invalid(DataError(source.name, number, what, expected), "tree")
            elif not (fields[0].isascii() and fields[0].isdigit() and len(fields[0]) < 19):
                tally.invalid(DataError(source.name, number, f"qid `{fields[0][:40]}`", expected), "tree")
            else:
                yield number, int(fields[0]), fields[1:]
    if not found:
        raise DataError(source.name, None, "holds no tree", expected)


def _number(text: str) -> float | None:
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        return None
    return value if value is not None and value - value == 0 else None


def iter_candidates(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> Iterator[Candidates]:
    """The lists of candidate trees of a file, one after the other.

    Raises:
        DataError: a line with other columns, no score, no tree, another number of words than the first tree of its qid has, a qid
            that returns after others.
    """
    tally = Tally() if tally is None else tally
    with opened(path) as source:
        seen: set[int] = set()
        one: Candidates | None = None
        known: dict[Hashable, Tree] = {}
        for line, qid, (score_text, text) in _rows(source, tally, 3, _CANDIDATE):
            if one is None or one.qid != qid:
                if qid in seen:
                    fault = DataError(source.name, line, f"qid {qid} again", "its lines one after the other")
                    tally.invalid(fault, "tree")
                    continue
                if one is not None and one.trees:
                    yield one
                seen.add(qid)
                one, known = Candidates(qid, [], [], [], []), {}
            score = _number(score_text)
            if score is None:
                fault = DataError(source.name, line, f"score `{score_text[:40]}` is not a number", _CANDIDATE)
                tally.invalid(fault, "tree")
                continue
            if abs(score) > MOST_SCORE:
                fault = DataError(
                    source.name, line, f"score `{score_text[:40]}` is too large", f"at most {MOST_SCORE:g}"
                )
                tally.invalid(fault, "tree")
                continue
            try:
                tree = parse_tree(text, known)
                if one.trees and tree.end != one.trees[0].end:
                    raise ValueError(
                        f"a tree of {tree.end} words; the first of its qid has {one.trees[0].end}"
                    )
            except ValueError as error:
                tally.invalid(DataError(source.name, line, str(error), "a bracketed tree"), "tree")
                continue
            one.scores.append(score)
            one.trees.append(tree)
            one.texts.append(f"{qid}\t{score_text}\t{text}")
            one.lines.append(line)
        if one is not None and one.trees:
            yield one


def read_gold(path: str | os.PathLike[str] | Input, tally: Tally | None = None) -> dict[int, Tree]:
    """The gold tree of each qid.

    Raises:
        DataError: a line with other columns, no tree, a qid that comes twice.
    """
    tally = Tally() if tally is None else tally
    trees: dict[int, Tree] = {}
    with opened(path) as source:
        for line, qid, (text,) in _rows(source, tally, 2, _GOLD):
            if qid in trees:
                tally.invalid(DataError(source.name, line, f"qid {qid} again", "one gold tree a qid"), "tree")
                continue
            try:
                trees[qid] = parse_tree(text)
            except ValueError as error:
                tally.invalid(DataError(source.name, line, str(error), "a bracketed tree"), "tree")
    return trees
