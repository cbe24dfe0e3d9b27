"""Hashed arc features written out: which places an arc has, its score, and a MIRA step on dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

_ALL = (1 << 64) - 1
ROOT, BEYOND = 1, 2  # words and tags of the sentence are counted from 3
# What a feature says of the head and of the word: w word, t tag, p and n the tags before and behind.
HEAD = [
    "wt",
    "w",
    "t",
    "-",
    "-",
    "-",
    "wt",
    "t",
    "w",
    "wt",
    "wt",
    "w",
    "t",
    "w",
    "t",
    "tn",
    "pt",
    "tn",
    "pt",
    "tn",
    "pt",
    "t",
    "t",
]
WORD = [
    "-",
    "-",
    "-",
    "wt",
    "w",
    "t",
    "wt",
    "wt",
    "wt",
    "t",
    "w",
    "w",
    "t",
    "t",
    "w",
    "pt",
    "pt",
    "tn",
    "tn",
    "t",
    "t",
    "pt",
    "tn",
]
WORD_NUMBERS = [*range(32, 50), 51, 52, 53, 54, 55]
BETWEEN_HEAD, BETWEEN_WORD, BETWEEN_TAG, DIRECTION = 23, 56, 50, 60


def mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _ALL
    return x ^ (x >> 31)


def part(number: int, a: int, b: int) -> int:
    return mix((number << 58) ^ (a << 29) ^ b)


def fields(what: str, words: Sequence[int], tags: Sequence[int], i: int) -> tuple[int, int]:
    """The two numbers that a part hashes."""

    def tag(j: int) -> int:
        return ROOT if j == 0 else tags[j - 1] + 3 if 1 <= j <= len(tags) else BEYOND

    value = {"w": words[i - 1] + 3 if i else ROOT, "t": tag(i), "p": tag(i - 1), "n": tag(i + 1), "-": 0}
    if what in ("wt", "tn", "pt"):
        return value[what[0]], value[what[1]]
    return (value["w"], 0) if what == "w" else (0, value[what])


def places(words: Sequence[int], tags: Sequence[int], h: int, m: int, bits: int) -> list[int]:
    """The places of the arc from h to m (from 1, 0 the root)."""

    def place(total: int) -> int:
        return (((total & _ALL) * 0x9E3779B97F4A7C15) & _ALL) >> (64 - bits)

    way, distance = part(DIRECTION, 1 + (h < m), 0), abs(h - m)
    step = distance if distance < 5 else 5 if distance <= 10 else 6
    found = []
    for number, (head, word, word_number) in enumerate(zip(HEAD, WORD, WORD_NUMBERS, strict=True)):
        total = (
            part(number, *fields(head, words, tags, h))
            + part(word_number, *fields(word, words, tags, m))
            + way
        )
        bucket = place(total) // 8 * 8
        found += [bucket, bucket + step]
    base = (
        part(BETWEEN_HEAD, *fields("t", words, tags, h))
        + part(BETWEEN_WORD, *fields("t", words, tags, m))
        + way
    )
    between = {tags[i - 1] for i in range(min(h, m) + 1, max(h, m))}
    return found + [place(base + part(BETWEEN_TAG, tag + 3, 0)) for tag in sorted(between)]


def tree_features(words: Sequence[int], tags: Sequence[int], heads: Sequence[int], bits: int) -> Counter[int]:
    """How often a tree has each place."""
    return Counter(p for m, h in enumerate(heads, 1) for p in places(words, tags, h, m, bits))


def difference(words, tags, gold, predicted, bits: int) -> dict[int, int]:
    """Features of the gold tree less those of the predicted one."""
    total = tree_features(words, tags, gold, bits)
    total.subtract(tree_features(words, tags, predicted, bits))
    return {place: amount for place, amount in total.items() if amount}
