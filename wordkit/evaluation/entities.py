"""How well predicted entities agree with given ones, and the baseline that needs no model.

Scores count entities whose first token, last token and type all agree (see :mod:`wordkit.formats.entity_tags` for
what tags span).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.evaluation.result import Sample
from wordkit.formats.entity_tags import Entity, entities, iob2


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


def entity_samples(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], scheme: str = "conlleval"
) -> dict[str, Sample]:
    """The sentences behind each metric of :func:`entity_scores`, which is a ratio of sums over them."""
    counts = np.array(
        [
            (len(a), len(b), len(a & b), sum(map(str.__eq__, right, guess)), len(right))
            for right, guess in zip(gold, predicted, strict=True)
            for a, b in [(set(entities(right, scheme)), set(entities(guess, scheme)))]
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
    wanted, found, correct, equal, tokens = counts.T
    return {
        "precision": Sample.of_ratio(correct, found),
        "recall": Sample.of_ratio(correct, wanted),
        "f1": Sample.of_ratio(2 * correct, wanted + found),
        "accuracy": Sample.of_ratio(equal, tokens),
    }


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
