"""Words with a part of speech, as vector files write them: `dog`, `dog-n` or `dog/NOUN`.

Data sets such as BLESS say of each word whether it is a noun, a verb or an adjective; vectors of ``train-hmtm --token lemma/pos``
keep those apart, most others do not. The tags are those of the sets: n, v, j (adjectives) and a (adverbs).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wordkit.evaluation.known_vectors import KnownVectors

UPOS = {"n": "NOUN", "v": "VERB", "j": "ADJ", "a": "ADV"}
FORMS = ("plain", "short", "upos")
_SUFFIXES = tuple(f"-{tag}" for tag in UPOS)


class TaggedWord(NamedTuple):
    """A word and its tag; None: unknown, which looks the word up as it is."""

    word: str
    tag: str | None = None


def without_suffix(word: str) -> TaggedWord:
    """``dog-n`` as the word and its tag; a word without such an end has no tag."""
    return TaggedWord(word[:-2], word[-1]) if word[:-2] and word.endswith(_SUFFIXES) else TaggedWord(word)


def tagged(words: Sequence[str], tag: str | None = None) -> list[TaggedWord]:
    """Words of a list with a tag; without one they have those of their own ends, if all of them end so."""
    if tag is None and all(word.endswith(_SUFFIXES) for word in words):
        return [without_suffix(word) for word in words]
    return [
        TaggedWord(without_suffix(word).word if word.endswith(f"-{tag}") else word, tag) for word in words
    ]


def written(word: TaggedWord, form: str) -> str:
    """The word in one of FORMS."""
    if word.tag is None or form == "plain":
        return word.word
    return f"{word.word}-{word.tag}" if form == "short" else f"{word.word}/{UPOS[word.tag]}"


def all_forms(words: Iterable[TaggedWord]) -> list[str]:
    """Everything that a vector file may call these words."""
    return list(dict.fromkeys(written(word, form) for word in words for form in FORMS))


def choose_form(
    known: KnownVectors, words: Sequence[TaggedWord], asked: str, *, lowercase: bool = False
) -> str:
    """The form to look words up in: the one asked for, or of all the one that finds most of them, plain if that is as good."""
    if asked != "auto":
        return asked
    counts = {form: sum(known.row(written(word, form), lowercase) >= 0 for word in words) for form in FORMS}
    return max(FORMS, key=counts.__getitem__)  # the first of equal ones
