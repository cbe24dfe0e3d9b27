"""Which words of a text are counted under their own names; numbers and rare words under a common one.

A token is a number if it is made of digits, with single marks of ``. , : / -`` between them, after an optional sign and an
optional point or comma: ``7``, ``-3.5``, ``.25``, ``1,000``, ``3:45``, ``1990-95``, ``1/2``, ``12/31/99``. Digits are those of
any script. A token that holds anything else is a word: ``1st``, ``5%``, ``$5``, ``1e5``, ``5.``, ``+``, ``IV``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wordkit.errors import WordkitError

RARE, NUMBER = "#rare#", "#number#"
_NUMBER = re.compile(r"[+-]?[.,]?\d+(?:[.,:/-]\d+)*")


def is_number(token: str) -> bool:
    """Whether a token is a number; see the text at the head of this module."""
    return _NUMBER.fullmatch(token) is not None


@dataclass
class WordChoice:
    """The words that are counted.

    Attributes:
        words: by falling count, ties by first occurrence. counts: int64, an entry a word.
        number_of: int32 (names,), the word that stands for each name; ``len(words)`` for a name that is left out.
        notes: lines for the user.
    """

    words: list[str]
    counts: np.ndarray
    number_of: np.ndarray
    notes: list[str] = field(default_factory=list)


def choose_words(
    names: Sequence[str],
    counts: np.ndarray,
    *,
    min_count: int = 1,
    max_vocab: int | None = None,
    rare_token: bool = False,
    number_token: bool = False,
) -> WordChoice:
    """Choose words by their counts.

    Args:
        names: distinct words in order of first occurrence; counts: int64, how often each occurs.
        min_count: a word that occurs fewer times is cut.
        max_vocab: exactly so many of the most frequent are kept, ties by first occurrence, if there are as many;
            :data:`NUMBER` is one of them, :data:`RARE` comes in addition.
        rare_token: what is cut is counted as :data:`RARE`, if there is any; else it is left out.
        number_token: numbers are counted as :data:`NUMBER`, which is a word like others.

    Raises:
        WordkitError: nothing is left.
    """
    labels, target, notes = _joined(names, counts, number_token)
    merged = np.zeros(len(names), dtype=np.int64)
    np.add.at(merged, target, counts)
    kept = np.flatnonzero(merged >= max(min_count, 1))
    if rare_token and RARE in names:
        own = names.index(RARE)
        kept = kept[kept != own]
        notes.append(f"`{RARE}` occurs {counts[own]} times in the text: it is counted with the rare words")
    kept = kept[np.argsort(-merged[kept], kind="stable")][:max_vocab]
    if not len(kept):
        raise _nothing_left(names, counts, min_count)
    words, word_counts = [labels.get(i, names[i]) for i in kept.tolist()], merged[kept]
    number_of = np.full(len(names), len(kept), dtype=np.int32)
    number_of[kept] = np.arange(len(kept))
    rest = int(counts.sum()) - int(word_counts.sum())
    if rest and rare_token:
        at = int(np.searchsorted(-word_counts, -rest, side="right"))
        words.insert(at, RARE)
        word_counts = np.insert(word_counts, at, rest)
        number_of[number_of >= at] += 1
        number_of[number_of == len(words)] = at
    notes.append(_summary(len(names), counts, len(kept), rest, min_count, max_vocab, rare_token))
    return WordChoice(words, word_counts, number_of[target], notes)


def _joined(
    names: Sequence[str], counts: np.ndarray, number_token: bool
) -> tuple[dict[int, str], np.ndarray, list[str]]:
    """New labels of some names, the name that each is counted with, notes."""
    target = np.arange(len(names))
    if not number_token:
        return {}, target, []
    numbers = np.flatnonzero([name == NUMBER or _NUMBER.fullmatch(name) is not None for name in names])
    if not len(numbers):
        return {}, target, []
    target[numbers] = numbers[0]
    notes = [f"{counts[numbers].sum()} tokens of {len(numbers)} types are numbers, counted as `{NUMBER}`"]
    if NUMBER in names:
        own = counts[names.index(NUMBER)]
        notes.append(f"`{NUMBER}` occurs {own} times in the text: it is counted with the numbers")
    return {int(numbers[0]): NUMBER}, target, notes


def _nothing_left(names: Sequence[str], counts: np.ndarray, min_count: int) -> WordkitError:
    most = int(np.argmax(counts))
    return WordkitError(
        f"0 of {len(names)} word types occur at least {min_count} times (most frequent: `{names[most]}`, {counts[most]}); "
        "lower --min-count"
    )


def _summary(
    types: int,
    counts: np.ndarray,
    kept: int,
    rest: int,
    min_count: int,
    max_vocab: int | None,
    rare_token: bool,
) -> str:
    options = f"--min-count {min_count}" + ("" if max_vocab is None else f", --max-vocab {max_vocab}")
    tokens = int(counts.sum())
    what = f"counted as `{RARE}`" if rare_token else "left out"
    others = f"; the other {rest} are {what}" if rest else ""
    return f"{kept} words kept of {types} types ({options}), {100 * (tokens - rest) / tokens:.1f}% of {tokens} tokens{others}"
