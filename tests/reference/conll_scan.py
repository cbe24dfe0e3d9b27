"""Twin of ``conll_scan`` and ``tree_shape``: whole lines and lists, every check on its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

COMMENT, RANGE, EMPTY_NODE = 1, 2, 3


@dataclass
class Scanned:
    """words: (line, head, [(start, end) a column]); sentences: (first word, start, end, first line)."""

    words: list = field(default_factory=list)
    sentences: list = field(default_factory=list)
    others: list = field(default_factory=list)
    errors: list = field(default_factory=list)  # (name of the status, line)
    position: int = 0
    line: int = 0
    stray: int = 0


def lines_of(block, final):
    """(number, start, end of the content, start of the next line) of every line that ends."""
    at, number = 0, 0
    while at < len(block):
        end = block.find(b"\n", at)
        if end < 0:
            if not final:
                return
            end = len(block)
        yield number, at, at + len(block[at:end].rstrip(b"\r")), min(end + 1, len(block))
        at, number = min(end + 1, len(block)), number + 1


def is_blank(text):
    return text.strip(b" \t\r") == b""


def scan(block, columns, width, policy, final):
    """The scan with every bad sentence passed over; ``policy`` is none, any or tree."""
    result, group = Scanned(), []
    for line in lines_of(block, final):
        number, start, stop, after = line
        if not is_blank(block[start:stop]):
            group.append(line)
            continue
        if all(block[a : a + 1] == b"#" for _, a, _, _ in group):
            if group:
                continue  # comments wait for the sentence they stand before
        else:
            take_sentence(result, block, group, columns, width, policy)
            group = []
        result.position, result.line = after, number + 1
    if final:
        if any(block[a : a + 1] != b"#" for _, a, _, _ in group):
            take_sentence(result, block, group, columns, width, policy)
        else:
            result.stray = len(group)
        result.position = len(block)
    return result


def take_sentence(result, block, group, columns, width, policy):
    words, others = [], []
    for number, start, stop, _ in group:
        text = block[start:stop]
        if text.startswith(b"#"):
            others.append((COMMENT, start, number))
            continue
        status = read_line(text, start, number, columns, width, policy, words, others)
        if status:
            result.errors.append((status, number))
            return
    if not words:
        result.errors.append(("NO_WORDS", group[0][0]))
        return
    if policy == "tree":
        status, word = tree_fault([head for _, head, _ in words])
        if status:
            result.errors.append((status, words[word][0] if status != "CYCLE" else None))
            return
    result.sentences.append((len(result.words), group[0][1], group[-1][3], group[0][0]))
    result.words += words
    result.others += others


def read_line(text, start, number, columns, width, policy, words, others):
    fields = text.split(b"\t")
    if len(fields) != width:
        return "BAD_COLUMNS"
    if re.fullmatch(rb"[0-9]{1,9}-[0-9]{1,9}", fields[0]):
        others.append((RANGE, start, number))
        return None
    if re.fullmatch(rb"[0-9]{1,9}\.[0-9]{1,9}", fields[0]):
        others.append((EMPTY_NODE, start, number))
        return None
    if not re.fullmatch(rb"[0-9]{1,9}", fields[0]):
        return "BAD_ID"
    if int(fields[0]) != len(words) + 1:
        return "BAD_ID_ORDER"
    if any(column in (1, 2) and not fields[column] for column in columns):
        return "EMPTY_FIELD"
    head = None
    if policy != "none":
        if fields[6] == b"_":
            if policy == "tree":
                return "NO_HEAD"
            head = -1
        elif re.fullmatch(rb"[0-9]{1,9}", fields[6]):
            head = int(fields[6])
        else:
            return "BAD_HEAD"
    starts = [start + sum(len(f) + 1 for f in fields[:column]) for column in columns]
    words.append((number, head, [(s, s + len(fields[c])) for s, c in zip(starts, columns, strict=True)]))
    return None


def climb(heads, word):
    """Words from ``word`` (from 0) up to the root; None if it is never reached."""
    path = [word]
    while heads[path[-1]] != 0:
        path.append(heads[path[-1]] - 1)
        if len(path) > len(heads):
            return None
    return path


def tree_fault(heads):
    """(name of the fault, word) of the first word that is wrong, looked at one by one, then of a circle."""
    for i, head in enumerate(heads):
        if not 0 <= head <= len(heads):
            return "HEAD_RANGE", i
        if head == i + 1:
            return "SELF_HEAD", i
    for i in range(len(heads)):
        if climb(heads, i) is None:
            return "CYCLE", i
    return None, 0


def gapped_yields(heads):
    """Words whose descendants, themselves included, are not a stretch."""
    below = [[i for i in range(len(heads)) if word in climb(heads, i)] for word in range(len(heads))]
    return sum(max(b) - min(b) + 1 != len(b) for b in below)


def level_order(heads):
    """Words by depth, then by the place of their parent, then by their own."""
    order, parents = [], [-1]
    while parents:
        children = [i for parent in parents for i in range(len(heads)) if heads[i] == parent + 1]
        order += children
        parents = children
    return order
