"""Tags that mark entities in a sentence: what they span, and the tags of given spans.

Two readings. ``conlleval``, that of the shared tasks' program: an entity begins at B-, at I- behind anything but a
token of its own type, and goes on as long as the type does; IOB1 and IOB2 need no telling apart, and E- and S- (L-,
U-) end one. ``iob2``: an entity is B- and the I- of its type behind it; an I- without its B- is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

SCHEMES = ("conlleval", "iob2")
_AS_IOBES = {"L": "E", "U": "S"}


class Entity(NamedTuple):
    """Tokens [start, end) of a sentence."""

    start: int
    end: int
    type: str


def _parts(tag: str) -> tuple[str, str]:
    """Prefix, one of O, B, I, E and S, and type."""
    prefix, _, type_ = tag.partition("-")
    return _AS_IOBES.get(prefix, prefix), type_


def entities(tags: Sequence[str], scheme: str = "conlleval") -> list[Entity]:
    """The entities of a sentence, in order.

    Raises:
        ValueError: no such scheme.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme is {scheme!r}, expected one of {', '.join(SCHEMES)}")
    found: list[Entity] = []
    start, last, last_type = -1, "O", ""  # start: of the entity that is open, -1 if none is
    for i, tag in enumerate(tags):
        prefix, type_ = _parts(tag)
        if scheme == "iob2":
            goes_on = start >= 0 and prefix == "I" and type_ == last_type
            begins = prefix == "B"
        else:
            goes_on = start >= 0 and prefix in "IE" and last in "BI" and type_ == last_type
            begins = prefix != "O" and not goes_on
        if start >= 0 and not goes_on:
            found.append(Entity(start, i, last_type))
            start = -1
        if begins:
            start = i
        last, last_type = prefix, type_
    if start >= 0:
        found.append(Entity(start, len(tags), last_type))
    return found


def iob2(length: int, found: Iterable[Entity]) -> list[str]:
    """The tags of a sentence whose entities do not overlap."""
    tags = ["O"] * length
    for entity in found:
        tags[entity.start : entity.end] = [f"I-{entity.type}"] * (entity.end - entity.start)
        tags[entity.start] = f"B-{entity.type}"
    return tags


def scheme_of(sentences: Iterable[Sequence[str]]) -> str:
    """What scheme some tags follow: IOB2 (every entity begins with B-), IOB1 (B- only behind an entity of its type),
    IOBES, BILOU, or `mixed`."""
    seen: set[str] = set()
    without_b = needless_b = False
    for tags in sentences:
        last, last_type = "O", ""
        for tag in tags:
            prefix, _, type_ = tag.partition("-")
            seen.add(prefix)
            behind = last != "O" and last_type == type_
            without_b |= prefix == "I" and not behind
            needless_b |= prefix == "B" and not behind
            last, last_type = prefix, type_
    if seen & set("ES"):
        return "IOBES"
    if seen & set("LU"):
        return "BILOU"
    return ("mixed" if needless_b else "IOB1") if without_b else "IOB2"
