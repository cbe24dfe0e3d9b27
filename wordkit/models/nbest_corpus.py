"""n-best lists made ready for learning: parsed once, features numbered from 0, kept in memory-mapped files.

A feature is kept if it varies in enough lists; what is constant within a list says nothing of its candidates. The numbers keep
the order of the file's indices, but for the features that are to come first.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wordkit._kernels import nbest_pack
from wordkit.checks import array_of, require
from wordkit.errors import WordkitError, times
from wordkit.formats.nbest import NbestLists, joined_ends
from wordkit.models.array_spool import ArraySpool

# Indices below this have a place each in tables; where greater ones occur, such as hashed features of 31 bits, those that are
# there are numbered, which takes longer and no memory for all the others.
MOST_PLACES = 2**23


@dataclass(eq=False)
class FeatureTable:
    """Which features a model knows, and under what numbers.

    Attributes:
        indices: int32 (V,): the index, from 0, of each feature in the lists.
        scale: float32 (V,): what a feature's values are multiplied by.
    """

    indices: np.ndarray
    scale: np.ndarray
    _places: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32), repr=False)

    def __len__(self) -> int:
        return len(self.indices)

    def lookup(self, indices: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Where to look up features: int32 places, one for each of ``indices``, and the feature's number in each place.

        The number is -1 for a feature that the model does not know. All indices are below ``width``.
        """
        width = max(width, int(self.indices.max(initial=-1)) + 1)
        if width > MOST_PLACES:
            known, order = self._sorted
            at = np.searchsorted(known, indices)
            places = np.where(np.append(known, -1)[at] == indices, at, len(known))
            return places.astype(np.int32), np.append(order, -1).astype(np.int32)
        if width > len(self._places):
            self._places = np.full(width, -1, np.int32)
            self._places[self.indices] = np.arange(len(self.indices), dtype=np.int32)
        return indices, self._places

    @functools.cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.indices)
        return self.indices[order], order

    def arrays(self) -> dict[str, np.ndarray]:
        """For a model file."""
        return {"indices": self.indices, "scale": self.scale}

    @classmethod
    def from_arrays(cls, arrays: Any) -> FeatureTable:
        """Inverse of :meth:`arrays`; ValueError for arrays that are no such table."""
        indices = array_of(arrays, "indices", np.int32, (None,))
        scale = array_of(arrays, "scale", np.float32, (len(indices),))
        require(bool((indices >= 0).all()), "indices are negative")
        require(len(np.unique(indices)) == len(indices), "indices are doubled")
        require(bool(np.isfinite(scale).all()), "scale is not finite")
        return cls(indices, scale)


class PackedLists:
    """Lists as the kernels take them; see ``nbest_pack``.

    Attributes:
        qids, starts, scores, oracles: int64 (S,), int64 (S + 1,), float64 (R,), int32 (S,): as in
            :class:`wordkit.formats.nbest.NbestLists`; the oracle is the first candidate with the highest score.
        ends, places, values: int64 (R + 1,), uint16 or int32 (F,), float32 (F,): entries of the candidates.
        firsts, features: int64 (S + 1,), int32: features of the lists.
    """

    def __init__(
        self, qids: np.ndarray, starts: np.ndarray, scores: np.ndarray, entries: tuple[np.ndarray, ...],
        of_lists: tuple[np.ndarray, ...],
    ) -> None:  # fmt: skip
        self.qids, self.starts, self.scores = qids, starts, scores
        self.ends, self.places, self.values = entries
        self.firsts, self.features = of_lists
        self.oracles = first_best(self.scores, self.starts)

    def __len__(self) -> int:
        return len(self.qids)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """What every door begins with."""
        return self.places, self.starts, self.ends, self.values, self.firsts, self.features

    def part(self, low: int, high: int) -> PackedLists:
        """Lists ``low`` to ``high``; only what counts is copied."""
        begin, end = self.starts[low], self.starts[high]
        at, to, first, last = self.ends[begin], self.ends[end], self.firsts[low], self.firsts[high]
        return PackedLists(
            self.qids[low:high],
            self.starts[low : high + 1] - begin,
            self.scores[begin:end],
            (self.ends[begin : end + 1] - at, self.places[at:to], self.values[at:to]),
            (self.firsts[low : high + 1] - first, self.features[first:last]),
        )

    def candidate_qids(self) -> np.ndarray:
        """int64 (R,): the qid of each candidate."""
        return np.repeat(self.qids, np.diff(self.starts))


def first_best(scores: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """int32: the place, in each list, of the first candidate with the highest score."""
    highest = np.maximum.reduceat(scores, starts[:-1])
    best = np.flatnonzero(scores == np.repeat(highest, np.diff(starts)))
    first = best[np.searchsorted(best, starts[:-1])]
    return (first - starts[:-1]).astype(np.int32)


class Packer:
    """Packs pieces of lists with the features of a table.

    ``unknown``: values so far whose feature the table does not have; ``entries``: those that it has.
    """

    def __init__(self, table: FeatureTable) -> None:
        self.table = table
        self._last = np.full(len(table), -1, np.int64)
        self._place = np.empty(len(table), np.int32)
        self._lists = self.unknown = self.entries = 0

    def packed(self, piece: NbestLists) -> PackedLists:
        """One piece, packed in memory.

        Raises:
            WordkitError: a value is too large for its feature's scale.
        """
        indices, lookup = self.table.lookup(piece.indices, piece.n_features)
        size = len(piece.indices)
        ends, firsts = np.empty(len(piece.indptr), np.int64), np.empty(len(piece) + 1, np.int64)
        places, features, values = (
            np.empty(size, np.int32),
            np.empty(size, np.int32),
            np.empty(size, np.float32),
        )
        kept, distinct = nbest_pack.pack(
            piece.starts, piece.indptr, indices, piece.values, lookup, self.table.scale, self._lists,
            self._last, self._place, ends, places, values, firsts, features,
        )  # fmt: skip
        if not np.isfinite(values[:kept]).all():
            raise WordkitError("a value times its feature's scale is not finite")
        self._lists += len(piece)
        self.unknown += size - kept
        self.entries += kept
        entries, of_lists = (ends, places[:kept], values[:kept]), (firsts, features[:distinct])
        return PackedLists(piece.qids, piece.starts, piece.scores, entries, of_lists)


def pack_lists(
    pieces: Iterable[NbestLists], table: FeatureTable, folder: str | os.PathLike[str] | None = None
) -> tuple[PackedLists, int]:
    """All lists packed, in memory-mapped files; and how many of their values are of features that the table does not have."""
    packer = Packer(table)
    places, values, features = (ArraySpool(kind, folder) for kind in (np.uint16, np.float32, np.int32))
    parts: list[PackedLists] = []
    for piece in pieces:
        packed = packer.packed(piece)
        if places.dtype == np.uint16 and np.diff(packed.firsts).max(initial=0) > 2**16:
            places = _widened(places, folder)
        places.append(packed.places)
        values.append(packed.values)
        features.append(packed.features)
        packed.places, packed.values, packed.features = _NOTHING
        parts.append(packed)
    entries = (joined_ends([part.ends for part in parts]), places.mapped(), values.mapped())
    of_lists = (joined_ends([part.firsts for part in parts]), features.mapped())
    heads = (
        np.concatenate([part.qids for part in parts]),
        joined_ends([part.starts for part in parts]),
        np.concatenate([part.scores for part in parts]),
    )
    return PackedLists(*heads, entries, of_lists), packer.unknown


_NOTHING = np.empty(0, np.int32), np.empty(0, np.float32), np.empty(0, np.int32)


def _widened(spool: ArraySpool, folder: str | os.PathLike[str] | None) -> ArraySpool:
    """The same numbers with room for larger ones."""
    wider = ArraySpool(np.int32, folder)
    for start in range(0, len(spool), 1 << 20):
        wider.append(spool.read(start, min(start + (1 << 20), len(spool))))
    return wider


class ListCorpus:
    """Lists to learn from, whose features are counted before any is chosen.

    Call :meth:`add` for each piece, then :meth:`choose`, then :meth:`pack`.

    Attributes:
        lists_of: int32, in how many lists each feature varies, by place: that of its index, or of the index among ``known``.
        known: int32, the indices that occur, in their order; None as long as all are below ``MOST_PLACES``.
        entries: of all candidates.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = folder
        self._indices, self._values = ArraySpool(np.int32, folder), ArraySpool(np.float32, folder)
        self._heads: list[NbestLists] = []
        self._last, self._scratch = np.empty(0, np.int64), [np.empty(0, kind) for kind in _COUNTING]
        self.known: np.ndarray | None = None
        self._width = self._lists = self._candidates = 0

    def add(self, piece: NbestLists) -> None:
        """Count the features of some lists, and keep them."""
        self._width = max(self._width, piece.n_features)
        indices = piece.indices
        if self._width > MOST_PLACES:
            indices = self._numbered(indices)
        else:
            self._grow(self._width)
        first, times, lists, sums, squares, spread = self._scratch
        nbest_pack.count_lists(
            piece.starts, piece.indptr, indices, piece.values, self._lists, self._last, first, times, lists, sums, squares,
            spread,
        )  # fmt: skip
        self._indices.append(piece.indices)
        self._values.append(piece.values)
        self._heads.append(replace(piece, indices=_NOTHING[0], values=_NOTHING[1]))
        self._lists += len(piece)
        self._candidates += len(piece.scores)

    def _numbered(self, indices: np.ndarray) -> np.ndarray:
        """The place of each index among the known ones, of which there is one from now on for each that occurs."""
        if self.known is None:
            self.known = np.flatnonzero(self._last >= 0).astype(np.int32)
            self._last = self._last[self.known]
            self._scratch = [array[self.known] for array in self._scratch]
        new = np.setdiff1d(indices, self.known)
        if len(new):
            at = np.searchsorted(self.known, new)
            self.known = np.insert(self.known, at, new)
            self._last = np.insert(self._last, at, -1)
            self._scratch = [np.insert(array, at, 0) for array in self._scratch]
        return np.searchsorted(self.known, indices).astype(np.int32)

    def _grow(self, width: int) -> None:
        if width > len(self._last):
            more = max(width, 2 * len(self._last)) - len(self._last)
            self._last = np.concatenate([self._last, np.full(more, -1, np.int64)])
            self._scratch = [np.concatenate([old, np.zeros(more, old.dtype)]) for old in self._scratch]

    def __len__(self) -> int:
        return self._lists

    @property
    def entries(self) -> int:
        return len(self._indices)

    @property
    def lists_of(self) -> np.ndarray:
        return self._scratch[2][: self._width if self.known is None else None]

    def choose(self, min_count: int, *, plain: int = 0, standardize: bool = False) -> FeatureTable:
        """The features to learn weights of.

        Args:
            min_count: keep those that vary in at least so many lists; 0 keeps every index up to the greatest.
            plain: so many of them, those that vary in the most lists (the lower index of two), come first.
            standardize: divide a feature's values by their standard deviation within lists, over all candidates.

        Raises:
            WordkitError: none is left, or far too many.
        """
        lists_of = self.lists_of
        if not min_count and self.known is not None:
            raise WordkitError(
                f"indices go up to {self._width}, too many to keep all (min_feature_count 0); 1 keeps those that vary"
            )
        kept = np.flatnonzero(lists_of >= min_count)
        if not len(kept):
            most = int(lists_of.max(initial=0))
            raise WordkitError(
                f"none of {np.count_nonzero(lists_of)} features varies in {times(min_count, 'list')} or more (the most: {most})"
            )
        if plain:
            often = kept[np.argsort(-lists_of[kept], kind="stable")[:plain]]
            kept = np.concatenate([often, np.setdiff1d(kept, often, assume_unique=True)])
        scale = np.ones(len(kept), np.float32)
        if standardize:
            spread = self._scratch[5][kept]
            known = spread > 0
            scale[known] = np.sqrt(self._candidates / spread[known])
        return FeatureTable((kept if self.known is None else self.known[kept]).astype(np.int32), scale)

    def pack(self, table: FeatureTable) -> PackedLists:
        """The lists with those features."""
        return pack_lists(self._pieces(), table, self._folder)[0]

    def _pieces(self) -> Iterator[NbestLists]:
        at = 0
        for head in self._heads:
            end = at + int(head.indptr[-1])
            yield replace(head, indices=self._indices.read(at, end), values=self._values.read(at, end))
            at = end


# first, times, lists, sums, squares, spread: what ``count_lists`` keeps of each feature.
_COUNTING = (np.float32, np.int32, np.int32, np.float64, np.float64, np.float64)
