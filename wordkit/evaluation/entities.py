"""Entities as tags mark them: which tokens they span, and how well predicted ones agree with given ones.

Two readings of tags. ``conlleval``, that of the shared tasks' program: an entity begins at B-, at I- behind anything
but a token of its own type, and goes on as long as the type does; IOB1 and IOB2 need no telling apart, and E- and S-
(L-, U-) end one. ``iob2``: an entity is B- and the I- of its type behind it; an I- without its B- is nothing. Scores
count entities whose first token, last token and type all agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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


class Lexicon:
    """The baseline of the shared tasks: entities of the training data, wherever their words come again.

    A sequence of words that was an entity of one type only is one wherever it comes; from the left, the longest
    first. Those that had several types are left out.
    """

    def __init__(
        self, sentences: Iterable[Sequence[str]], tags: Iterable[Sequence[str]], scheme: str
    ) -> None:
        types: dict[tuple[str, ...], set[str]] = {}
        for words, own in zip(sentences, tags, strict=True):
            for start, end, type_ in entities(own, scheme):
                types.setdefault(tuple(words[start:end]), set()).add(type_)
        self.types = {words: next(iter(found)) for words, found in types.items() if len(found) == 1}
        self.ambiguous = len(types) - len(self.types)
        self._longest: dict[str, int] = {}
        for words in self.types:
            self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def tag(self, words: Sequence[str]) -> list[str]:
        """IOB2 tags of a sentence."""
        found, at = [], 0
        while at < len(words):
            longest = min(self._longest.get(words[at], 0), len(words) - at)
            for length in range(longest, 0, -1):
                type_ = self.types.get(tuple(words[at : at + length]))
                if type_ is not None:
                    found.append(Entity(at, at + length, type_))
                    at += length
                    break
            else:
                at += 1
        return iob2(len(words), found)


def entity_scores(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], scheme: str = "conlleval"
) -> tuple[dict[str, float | None], dict[str, Any]]:
    """Agreement of predicted with given tags, sentence by sentence.

    Returns:
        ``precision``, ``recall`` and ``f1`` over entities, ``accuracy`` over tokens (equal tags); and details:
        ``per_type`` (the first three, and how many ``gold``, ``predicted`` and ``correct`` ones) and ``entities``,
        those numbers in all. As conlleval has it, a precision of nothing predicted or a recall of nothing to find is
        0; with neither they and f1 are None.

    Raises:
        ValueError: sentences of different lengths.
    """
    counts: dict[str, Counter[str]] = {"gold": Counter(), "predicted": Counter(), "correct": Counter()}
    equal = tokens = 0
    for right, guess in zip(gold, predicted, strict=True):
        equal += sum(a == b for a, b in zip(right, guess, strict=True))
        tokens += len(right)
        a, b = set(entities(right, scheme)), set(entities(guess, scheme))
        for name, found in (("gold", a), ("predicted", b), ("correct", a & b)):
            counts[name].update(entity.type for entity in found)
    types = sorted(set(counts["gold"]) | set(counts["predicted"]))
    per_type = {type_: _scores({name: count[type_] for name, count in counts.items()}) for type_ in types}
    totals = _scores({name: count.total() for name, count in counts.items()})
    metrics = {name: totals[name] for name in ("precision", "recall", "f1")}
    return (
        {**metrics, "accuracy": equal / tokens if tokens else None},
        {
            "per_type": per_type,
            "entities": {name: count.total() for name, count in counts.items()},
        },
    )


def _scores(counts: Mapping[str, int]) -> dict[str, Any]:
    gold, predicted, correct = counts["gold"], counts["predicted"], counts["correct"]
    if not gold and not predicted:
        return {"precision": None, "recall": None, "f1": None, **counts}
    return {
        "precision": correct / predicted if predicted else 0.0,
        "recall": correct / gold if gold else 0.0,
        "f1": 2 * correct / (gold + predicted),
        **counts,
    }
