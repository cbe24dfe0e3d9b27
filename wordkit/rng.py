"""Random numbers: every draw comes from a seed through one of these doors."""

from __future__ import annotations

import numpy as np


def as_generator(seed: int | np.random.Generator | None) -> np.random.Generator:
    """A generator from a seed; a generator passes through unchanged, None draws fresh entropy."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed)


def stream(seed: int, *key: int) -> np.random.Generator:
    """An independent generator for one part of a run, for example ``stream(seed, SHUFFLE, epoch)``.

    It depends on the numbers alone, so a resumed run needs no stored state to draw what it would have drawn.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


# First number of a key, one a purpose, so that no two purposes share a stream.
VECTORS, SHUFFLE, FOLDS, NOISE, INITIAL, SPLIT, ENTRIES, BOOTSTRAP, PROJECTION, SURROGATE, SAMPLING = range(
    11
)
