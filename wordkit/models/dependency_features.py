"""Features of dependency trees for reranking: names of the kernel's keys, and their counts in a list of candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordkit._kernels import dependency_features as kernel

MOST_TAGS, MOST_WORDS = kernel.MOST["t"], kernel.MOST["w"]  # greatest numbers that keys can hold
_SPECIAL = ("<none>", "<root>", "<other>")


def count_features(words: np.ndarray, tags: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct features of some trees of one sentence, and how often each tree has each.

    Args:
        words, tags: int32 (n,).
        heads: int32 (k, n), from 1, 0 the root.

    Returns:
        keys: uint64 (U,), in order of first occurrence; counts: int32 (k, U).

    Raises:
        ValueError: numbers below 0, heads that are not trees.
    """
    k, n = heads.shape
    size = k * n * kernel.KEYS_PER_WORD
    keys = np.empty((k, n * kernel.KEYS_PER_WORD), np.uint64)
    kernel.tree_keys(words, tags, heads, np.empty((kernel.SHAPE_ROWS, n + 2), np.int32), keys)
    places = 1 << (2 * size - 1).bit_length()
    distinct, numbers = np.empty(size, np.uint64), np.empty(keys.shape, np.int32)
    scratch = np.empty(places, np.uint64), np.empty(places, np.int32)
    found = kernel.number_keys(keys.reshape(-1), *scratch, distinct, numbers.reshape(-1))
    counts = np.zeros((k, found), np.int32)
    kernel.count_numbers(numbers, counts)
    return distinct[:found].copy(), counts


def classes_of(keys: np.ndarray) -> np.ndarray:
    """The template of each key."""
    return keys & np.uint64((1 << kernel.TEMPLATE_BITS) - 1)


def name_of(key: int, words: Sequence[str], tags: Sequence[str]) -> str:
    """What a key says, for people: ``grandparent g.t=VBD h.t=NN m.t=DT ways=3``.

    Args:
        words, tags: by number.
    """
    name, fields = kernel.TEMPLATES[key & ((1 << kernel.TEMPLATE_BITS) - 1)]
    key >>= kernel.TEMPLATE_BITS
    parts = [name]
    for field in fields.split():
        kind = field[-1]
        value = key & ((1 << kernel.FIELD_BITS[kind]) - 1)
        key >>= kernel.FIELD_BITS[kind]
        if kind == "n":
            parts.append(f"{field[:-2]}={value}")
        else:
            names = tags if kind == "t" else words
            parts.append(f"{field}={_SPECIAL[value] if value < 3 else names[value - 3]}")
    return " ".join(parts)


def are_keys(keys: np.ndarray, n_words: int, n_tags: int) -> bool:
    """Whether all of these are keys of words and tags below some numbers."""
    templates = classes_of(keys)
    if (templates >= len(kernel.TEMPLATES)).any():
        return False
    most = {"n": kernel.MOST["n"], "t": n_tags + 2, "w": n_words + 2}
    for template, (_, fields) in enumerate(kernel.TEMPLATES):
        rest = keys[templates == template] >> np.uint64(kernel.TEMPLATE_BITS)
        for field in fields.split():
            bits = kernel.FIELD_BITS[field[-1]]
            if ((rest & np.uint64((1 << bits) - 1)) > most[field[-1]]).any():
                return False
            rest = rest >> np.uint64(bits)
        if rest.any():
            return False
    return True
