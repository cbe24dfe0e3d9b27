"""Twin of the kernel parse_svmlight: one line at a time, by regular expressions and Python's float()."""

from __future__ import annotations

import re

import numpy as np

NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
FEATURE = re.compile(r"([0-9]+):([^ \t\r#]*)")


Record = tuple[str, int, list[tuple[int, np.float32]]]


def parse_line(line: str, base: int, labelled: bool) -> Record | str | None:
    """A record as (label, qid, features), None for a line that is none, or the name of its fault."""
    rest = line.strip(" \t\r")
    if not rest or rest.startswith("#"):
        return None
    label, qid = "", -1
    if not re.match(r"[0-9]+:|qid:", rest):
        label = re.match(r"[^ \t\r]*", rest).group()
        rest = rest[len(label) :].lstrip(" \t\r")
    elif labelled:
        return "NO_LABEL"
    found = re.match(r"qid:([0-9]{1,18})(?=[ \t\r#]|$)", rest)
    if found:
        qid = int(found[1])
        rest = rest[found.end() :]
    features: dict[int, np.float32] = {}
    twice = False
    while (rest := rest.lstrip(" \t\r")) and not rest.startswith("#"):
        field = FEATURE.match(rest)
        if not field:
            return "BAD_FIELD"
        index = int(field[1])
        if index > 2**31 - 1:
            return "TOO_LARGE"
        if index < base:
            return "BELOW_BASE"
        if not NUMBER.fullmatch(field[2]):
            return "BAD_VALUE"
        with np.errstate(over="ignore"):
            value = np.float32(float(field[2]))
        if not np.isfinite(value):
            return "NOT_FINITE"
        twice |= index - base in features
        features[index - base] = value
        rest = rest[field.end() :]
    return "TWICE" if twice else (label, qid, sorted(features.items()))
