"""Twin of ``tokenizing``: lines, tokens, types and bags of words with Python's own strings and dicts."""

from __future__ import annotations


def lines_of(text: str) -> list[str]:
    """Lines end at LF only; a CR before it, or at the end of the text, belongs to the end."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def tokens_of(line: str) -> list[str]:
    """Maximal runs without space and tab."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


def encode(text: str, types: dict[str, int]) -> tuple[list[int], list[int]]:
    """(ids of all tokens, number of ids up to the end of each line); ``types`` grows."""
    ids: list[int] = []
    ends = []
    for line in lines_of(text):
        ids += [types.setdefault(token, len(types)) for token in tokens_of(line)]
        ends.append(len(ids))
    return ids, ends


def distinct_in_rows(ids: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
    """The distinct non-negative ids of each row in order of first occurrence, and the rows' new ends."""
    out: list[int] = []
    out_ends = []
    start = 0
    for end in ends:
        out += dict.fromkeys(i for i in ids[start:end] if i >= 0)
        out_ends.append(len(out))
        start = end
    return out, out_ends
