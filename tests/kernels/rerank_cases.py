"""Small n-best lists as the kernels take them, and as dense rows."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from wordkit.formats.nbest import NbestLists
from wordkit.models.nbest_corpus import FeatureTable, PackedLists, Packer

V = 7
# Values that add up exactly, so that which candidate is best does not hang on the order of a sum.
value = st.sampled_from([0, 0, 0, 1, 1, 2, -1, -2, 0.5])
row = st.lists(value, min_size=V, max_size=V)
one_list = st.lists(st.tuples(st.sampled_from([0, 0.25, 0.5, 0.75, 1]), row), min_size=1, max_size=5)
some_lists = st.lists(one_list, min_size=1, max_size=6)


def lists_of(made) -> NbestLists:
    """n-best lists of (score, dense row) candidates."""
    rows = csr_array(np.array([row for candidates in made for _, row in candidates], np.float32))
    scores = np.array([score for candidates in made for score, _ in candidates], np.float64)
    starts = np.cumsum([0, *map(len, made)]).astype(np.int64)
    return NbestLists(
        np.arange(1, len(made) + 1), starts, scores, rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data,
        np.arange(len(scores)),
    )  # fmt: skip


def dense_of(made) -> list[tuple[np.ndarray, np.ndarray]]:
    """(scores, rows) of each list."""
    return [
        (np.array([score for score, _ in own], float), np.array([row for _, row in own], float))
        for own in made
    ]


def packed_of(made, width: int = V, wide: bool = False) -> PackedLists:
    """Packed with all features under their own numbers; ``wide``: places as int32, else as uint16."""
    table = FeatureTable(np.arange(width, dtype=np.int32), np.ones(width, np.float32))
    packed = Packer(table).packed(lists_of(made))
    if not wide:
        packed.places = packed.places.astype(np.uint16)
    return packed


def random_lists(seed: int, lists: int = 20, candidates: int = 8, width: int = V, density: float = 0.4):
    """Lists of random candidates, as :func:`lists_of` takes them."""
    rng = np.random.default_rng(seed)
    return [
        [
            (
                float(rng.random()),
                (rng.standard_normal(width) * (rng.random(width) < density)).astype(np.float32),
            )
            for _ in range(rng.integers(1, candidates + 1))
        ]
        for _ in range(lists)
    ]
