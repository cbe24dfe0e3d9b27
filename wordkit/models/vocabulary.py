"""Numbers of the words of a corpus: frequent words by falling count, and one number for all the others."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from wordkit.checks import array_of, require
from wordkit.errors import WordkitError
from wordkit.formats.model_file import pack_words, unpack_words

UNKNOWN = "-*-"  # the token that stands for rare and unknown words; its number is 0


class Vocabulary:
    """Words with numbers and counts.

    Args:
        words: number 0 is :data:`UNKNOWN`, the others are distinct.
        counts: how often each occurs (int64); that of number 0 is the number of tokens that were cut.
    """

    def __init__(self, words: Sequence[str], counts: np.ndarray) -> None:
        self.words, self.counts = list(words), np.asarray(counts, dtype=np.int64)
        if self.words[:1] != [UNKNOWN] or self.counts.shape != (len(self.words),):
            raise ValueError(f"words begin with {UNKNOWN}, and each has a count")

    def __len__(self) -> int:
        return len(self.words)

    @functools.cached_property
    def index(self) -> dict[str, int]:
        """Number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def numbers(self, words: Sequence[str]) -> np.ndarray:
        """Number (int32) of each word, 0 for unknown ones."""
        known = self.index
        return np.fromiter((known.get(word, 0) for word in words), dtype=np.int32, count=len(words))

    def extended(self, newer: Vocabulary) -> Vocabulary:
        """This vocabulary with the words that ``newer`` has beside it appended; the others keep number and count."""
        fresh = [number for number, word in enumerate(newer.words) if word not in self.index]
        words = [*self.words, *(newer.words[number] for number in fresh)]
        return Vocabulary(words, np.concatenate([self.counts, newer.counts[fresh]]))

    def state(self) -> dict[str, np.ndarray]:
        """Arrays that :meth:`from_state` takes."""
        return {"words": pack_words(self.words), "word_counts": self.counts}

    @classmethod
    def from_state(cls, arrays: dict[str, Any]) -> Vocabulary:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        words = unpack_words(array_of(arrays, "words", np.uint8, (None,)))
        counts = array_of(arrays, "word_counts", np.int64, (len(words),))
        require(len(set(words)) == len(words), "words are doubled")
        require(bool((counts >= 0).all()), "word_counts are negative")
        return cls(words, counts)


def folded(names: Iterable[str]) -> tuple[list[str], np.ndarray]:
    """The distinct names in order of first occurrence, and the place (int64) of each name among them."""
    places: dict[str, int] = {}
    place_of = np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)
    return list(places), place_of


def most_frequent(
    names: Sequence[str], counts: np.ndarray, min_count: int = 1, at_most: int | None = None
) -> tuple[list[str], np.ndarray]:
    """Names by falling count, ties in their order, after :data:`UNKNOWN`; and the counts (int64).

    What occurs fewer than ``min_count`` times, or is beyond the first ``at_most``, is counted as :data:`UNKNOWN`; so is
    a name that is spelled like it.
    """
    kept = np.flatnonzero(counts >= max(min_count, 1))
    kept = kept[np.argsort(-counts[kept], kind="stable")]
    if UNKNOWN in names:
        kept = kept[kept != names.index(UNKNOWN)]
    kept = kept[:at_most]
    rest = int(counts.sum()) - int(counts[kept].sum())
    return [UNKNOWN, *(names[i] for i in kept.tolist())], np.concatenate([[rest], counts[kept]]).astype(
        np.int64
    )


def learned(
    names: Sequence[str], counts: np.ndarray, *, min_count: int = 1, max_vocab: int | None = None
) -> tuple[Vocabulary, list[str]]:
    """The vocabulary of a corpus, and what the user should know of it.

    Args:
        names: distinct words in order of first occurrence.
        counts: (len(names),) how often each occurs; those that never do are not looked at.
        min_count: words that occur fewer times become :data:`UNKNOWN`.
        max_vocab: exactly so many of the most frequent words are kept, ties by first occurrence.

    Raises:
        WordkitError: ``min_count`` leaves nothing.
    """
    vocabulary = Vocabulary(*most_frequent(names, counts, min_count, max_vocab))
    types, tokens = int(np.count_nonzero(counts)), int(counts.sum())
    notes = []
    at = list(names).index(UNKNOWN) if UNKNOWN in names else -1
    if at >= 0 and counts[at]:
        notes.append(
            f"`{UNKNOWN}` occurs {counts[at]} times in the text: it is the token of rare words, and counted as such"
        )
        types -= 1
    if len(vocabulary) == 1:
        most = f" (most frequent: `{names[int(np.argmax(counts))]}`, {counts.max()})" if types else ""
        what = f"0 of {types} word types occur at least {min_count} times{most}"
        raise WordkitError(f"{what}; lower --min-count" if types else f"no word but `{UNKNOWN}`")
    options = f"--min-count {min_count}" + ("" if max_vocab is None else f", --max-vocab {max_vocab}")
    kept, cut = len(vocabulary) - 1, int(vocabulary.counts[0])
    rest = f"; the other {cut} are rare (`{UNKNOWN}`)" if cut else ""
    share = 100 * (tokens - cut) / tokens
    notes.append(f"{kept} of {types} word types kept ({options}), {share:.1f}% of {tokens} tokens{rest}")
    return vocabulary, notes
