"""Documents as 0-1 bags of words and word n-grams: ragged rows of token ids in, sparse rows of feature numbers out."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.sparse

from wordkit._kernels import tokenizing
from wordkit.checks import array_of, require, value_of
from wordkit.errors import WordkitError
from wordkit.formats.labelled import Documents
from wordkit.formats.model_file import pack_words, unpack_words
from wordkit.formats.text import TypeMap, TypeTable

_UNKNOWN = -1
MOST_NGRAMS = 8


class BagOfWords:
    """Vocabulary of words and exact word n-grams, cut by count.

    Features are numbered words first, then 2-grams, 3-grams, ..., each by falling count (ties by first occurrence). N-grams run
    over neighbouring words of the raw text; since an n-gram is no more frequent than its words, a word below ``min_count`` is in
    none of them.

    Args:
        min_count: words and n-grams that occur fewer times are left out (counted over tokens).
        ngrams: longest n-gram.
        lowercase: fold case; types that fold together are counted together.

    Attributes:
        words_: the kept words. counts_: int64, how often each occurs. grams_: per order from 2 on, sorted int64 codes
        ``(feature rank of the first n-1 words) * len(words_) + last word`` and the rank of each among its order's n-grams.
        n_types_, n_tokens_: types and tokens seen; n_kept_tokens_: tokens that are in the vocabulary.
    """

    def __init__(self, *, min_count: int = 2, ngrams: int = 1, lowercase: bool = False) -> None:
        self.min_count, self.ngrams, self.lowercase = min_count, ngrams, lowercase

    @property
    def n_features_(self) -> int:
        return len(self.words_) + sum(len(codes) for codes, _ in self.grams_)

    def fit(self, documents: Documents, types: TypeTable) -> BagOfWords:
        """Learn the vocabulary; see :meth:`fit_transform`."""
        self.fit_transform(documents, types)
        return self

    def fit_transform(self, documents: Documents, types: TypeTable) -> scipy.sparse.csr_array:
        """Learn the vocabulary, and give the rows of the same documents.

        Raises:
            WordkitError: ``min_count`` leaves nothing.
        """
        names = types.words()
        word_of = np.arange(len(names))
        counts = np.bincount(documents.ids, minlength=len(names))
        if self.lowercase:
            folded: dict[str, int] = {}
            lower = (folded.setdefault(name.lower(), len(folded)) for name in names)
            word_of = np.fromiter(lower, dtype=np.int64, count=len(names))
            names = list(folded)
            counts = np.bincount(word_of, weights=counts, minlength=len(names)).astype(np.int64)
        # Labels are types too, and never occur in the text.
        self.n_types_, self.n_tokens_ = int(np.count_nonzero(counts)), len(documents.ids)
        kept = np.flatnonzero(counts >= self.min_count)
        if not len(kept):
            raise WordkitError(self._nothing_kept(names, counts))
        kept = kept[np.argsort(-counts[kept], kind="stable")]
        self._set_words([names[i] for i in kept.tolist()], counts[kept].astype(np.int64))
        self.n_kept_tokens_ = int(self.counts_.sum())
        rank = np.full(len(names), _UNKNOWN, dtype=np.int32)
        rank[kept] = np.arange(len(kept))
        ids = rank[word_of][documents.ids] if len(documents) else documents.ids
        self.grams_: list[tuple[np.ndarray, np.ndarray]] = []
        self._fit_grams(ids, documents.ends)
        return self._rows(ids, documents.ends)

    def _nothing_kept(self, names: list[str], counts: np.ndarray) -> str:
        if not self.n_types_:
            return "the documents have no words"
        most = f" (most frequent: `{names[int(np.argmax(counts))]}`, {counts.max()})"
        what = f"0 of {self.n_types_} word types occur at least {self.min_count} times"
        return f"{what}{most}; lower --min-count"

    def _set_words(self, words: list[str], counts: np.ndarray) -> None:
        self.words_, self.counts_ = words, counts

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words_)}

    def _fit_grams(self, ids: np.ndarray, ends: np.ndarray) -> None:
        previous = ids
        for order in range(2, self.ngrams + 1):
            codes = self._codes(previous, ids, ends, order)
            distinct, first, counts = np.unique(codes[codes >= 0], return_index=True, return_counts=True)
            kept = np.flatnonzero(counts >= self.min_count)
            by_count = np.lexsort((first[kept], -counts[kept]))
            ranks = np.empty(len(kept), dtype=np.int32)
            ranks[by_count] = np.arange(len(kept))
            self.grams_.append((distinct[kept], ranks))
            previous = _ranks(codes, *self.grams_[-1])

    def _codes(self, previous: np.ndarray, ids: np.ndarray, ends: np.ndarray, order: int) -> np.ndarray:
        """Code of the n-gram that ends at each token, -1 where there is none within its document."""
        codes = np.full(len(ids), -1, dtype=np.int64)
        if len(ids) < order:
            return codes
        start_of = np.repeat(np.concatenate([[0], ends[:-1]]), np.diff(ends, prepend=0))
        inside = np.arange(len(ids)) - start_of >= order - 1
        inside[1:] &= (previous[:-1] >= 0) & (ids[1:] >= 0)
        inside[0] = False
        at = np.flatnonzero(inside)
        codes[at] = previous[at - 1].astype(np.int64) * len(self.words_) + ids[at]
        return codes

    def numbers(self, types: TypeTable, start: int) -> np.ndarray:
        """Feature number (int32) of each type from ``start`` on, -1 for unknown words: what a :class:`TypeMap` needs."""
        words = types.words(start)
        if self.lowercase:
            words = [word.lower() for word in words]
        known = self._index
        return np.fromiter((known.get(word, _UNKNOWN) for word in words), dtype=np.int32, count=len(words))

    def vocabulary_numbers(self, words: list[str]) -> list[int]:
        """Feature number of each word as the vocabulary spells it; KeyError for a word that is not in it."""
        return [self._index[word] for word in words]

    def transform(self, documents: Documents, features_of: TypeMap) -> scipy.sparse.csr_array:
        """0-1 rows (float32) of documents; ``features_of`` maps their type ids through :meth:`numbers`."""
        return self._rows(features_of(documents.ids), documents.ends)

    def _rows(self, ids: np.ndarray, ends: np.ndarray) -> scipy.sparse.csr_array:
        """Rows of documents whose tokens are feature numbers already."""
        columns, previous, first = [ids], ids, len(self.words_)
        for order, (codes, ranks) in enumerate(self.grams_, start=2):
            previous = _ranks(self._codes(previous, ids, ends, order), codes, ranks)
            columns.append(np.where(previous >= 0, previous + first, _UNKNOWN).astype(np.int32))
            first += len(codes)
        flat = np.ascontiguousarray(np.stack(columns, axis=1).ravel()) if len(columns) > 1 else ids
        indices = np.empty(len(flat), dtype=np.int32)
        indptr = np.zeros(len(ends) + 1, dtype=np.int64)
        seen = np.full(self.n_features_, -1, dtype=np.int64)
        n = tokenizing.distinct_in_rows(flat, ends * len(columns), seen, indices, indptr[1:])
        shape = (len(ends), self.n_features_)
        rows = scipy.sparse.csr_array((np.ones(n, dtype=np.float32), indices[:n].copy(), indptr), shape=shape)
        rows.sort_indices()  # here, in place: models want it so
        return rows

    def extended(self, documents: Documents, types: TypeTable) -> BagOfWords:
        """This vocabulary with the new words of some documents appended that occur ``min_count`` times in them."""
        newer = BagOfWords(min_count=self.min_count, lowercase=self.lowercase)
        try:
            newer.fit(documents, types)
        except WordkitError:  # nothing in them is that frequent
            return self
        return self.merged(newer)

    def merged(self, newer: BagOfWords) -> BagOfWords:
        """This vocabulary with the words that ``newer`` has beside it appended; earlier features keep their numbers.

        Raises:
            WordkitError: n-grams are in use, whose numbers depend on the number of words.
        """
        if self.ngrams > 1:
            raise WordkitError(
                "a model with n-grams cannot take new words: continue without --ngrams, or train anew"
            )
        fresh = [i for i, word in enumerate(newer.words_) if word not in self._index]
        out = BagOfWords(min_count=self.min_count, ngrams=1, lowercase=self.lowercase)
        counts = np.concatenate([self.counts_, newer.counts_[fresh]]) if fresh else self.counts_
        out._set_words([*self.words_, *(newer.words_[i] for i in fresh)], counts)
        out.grams_ = []
        out.n_types_, out.n_tokens_, out.n_kept_tokens_ = (
            newer.n_types_,
            newer.n_tokens_,
            newer.n_kept_tokens_,
        )
        return out

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and JSON values that :meth:`from_state` takes."""
        arrays = {"words": pack_words(self.words_), "word_counts": self.counts_}
        for order, (codes, ranks) in enumerate(self.grams_, start=2):
            arrays |= {f"gram_codes_{order}": codes, f"gram_ranks_{order}": ranks}
        return arrays, {"min_count": self.min_count, "ngrams": self.ngrams, "lowercase": self.lowercase}

    @classmethod
    def from_state(cls, arrays: dict[str, np.ndarray], values: dict[str, Any]) -> BagOfWords:
        """Inverse of :meth:`state`; ValueError for what cannot be a state."""
        bag = cls(
            min_count=value_of(values, "min_count", int, 1), ngrams=value_of(values, "ngrams", int, 1, MOST_NGRAMS),
            lowercase=value_of(values, "lowercase", bool),
        )  # fmt: skip
        words = unpack_words(array_of(arrays, "words", np.uint8, (None,)))
        require(len(set(words)) == len(words) > 0, "words are missing or doubled")
        bag._set_words(words, array_of(arrays, "word_counts", np.int64, (len(words),)))
        bag.grams_ = []
        for n in range(2, bag.ngrams + 1):
            codes = array_of(arrays, f"gram_codes_{n}", np.int64, (None,))
            ranks = array_of(arrays, f"gram_ranks_{n}", np.int32, (len(codes),))
            require(
                bool((np.diff(codes) > 0).all()) and bool((codes >= 0).all()), f"{n}-grams are not in order"
            )
            require(
                np.array_equal(np.sort(ranks), np.arange(len(ranks))),
                f"ranks of {n}-grams are not a permutation",
            )
            bag.grams_.append((codes, ranks))
        return bag


def _ranks(codes: np.ndarray, known: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Rank of each code among the known ones, -1 for the others."""
    out = np.full(len(codes), _UNKNOWN, dtype=np.int32)
    if len(known):
        at = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        hit = known[at] == codes
        out[hit] = ranks[at[hit]]
    return out
