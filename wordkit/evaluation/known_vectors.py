"""The vectors that an evaluation needs: of some words, or of all, looked up with or without case."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.formats.opening import Input, opened
from wordkit.formats.vectors import iter_vectors, read_vectors
from wordkit.tally import Tally

_MAPPED_ROWS = 4096  # that are looked at together
UNKNOWN_POLICIES = ("skip", "zero", "mean", "lowercase")


@dataclass(frozen=True)
class KnownVectors:
    """The vectors that some evaluation needs.

    Attributes:
        name: the vector file as errors name it.
        rows: row of each word, in lower case with ``ignore_case``.
        vectors: (rows, dim), all finite: float64, or float32 from :func:`read_all_vectors`.
        mean: float64 (dim,), mean of all finite vectors of the file that were looked at, those of other words included.
        ignore_case: whether words are looked up in lower case; of words that differ in case alone the first in the file counts.
    """

    name: str
    rows: Mapping[str, int]
    vectors: np.ndarray
    mean: np.ndarray
    ignore_case: bool = False

    def row(self, word: str, lowercase: bool = False) -> int:
        """Row of a word, with ``lowercase`` that of its lower case if it has none itself; -1 if there is none."""
        return find_row(self.rows, word, self.ignore_case, lowercase)


def find_row(rows: Mapping[str, int], word: str, ignore_case: bool = False, lowercase: bool = False) -> int:
    """Row of a word, in lower case with ``ignore_case``; -1 if it has none. ``lowercase``: then that of its lower case."""
    found = rows.get(word.lower() if ignore_case else word, -1)
    return rows.get(word.lower(), -1) if lowercase and found < 0 else found


def read_known_vectors(
    path: str | os.PathLike[str] | Input,
    words: Iterable[str],
    *,
    ignore_case: bool = False,
    restrict_vocab: int | None = None,
    mean: bool = True,
    mapped: bool = False,
    tally: Tally | None = None,
) -> KnownVectors:
    """The vectors of some words and of their lower cases; of a large file no more is kept.

    Vectors that hold nan or inf are left out, as if the word were unknown.

    Args:
        restrict_vocab: only the first rows of the file are looked at.
        mean: whether the mean of all vectors is wanted; otherwise zeros stand for it.
        mapped: map the file into memory (:func:`wordkit.formats.vectors.read_vectors`); without ``mean`` the rows of these words
            alone are read.

    Raises:
        DataError: as :func:`wordkit.formats.vectors.read_vectors`.
    """
    wanted = {form for word in words for form in ((word.lower(),) if ignore_case else (word, word.lower()))}
    rows: dict[str, int] = {}
    kept: list[np.ndarray] = []
    total, count = np.zeros(1), 0
    with opened(path) as source:
        for names, vectors in (
            _mapped_blocks(source, restrict_vocab)
            if mapped
            else iter_vectors(source, max_rows=restrict_vocab, tally=tally)
        ):
            total = total if len(total) == vectors.shape[1] else np.zeros(vectors.shape[1])
            if mean:
                finite = np.isfinite(vectors).all(axis=1)
                total += vectors[finite].sum(axis=0, dtype=np.float64)
                count += int(np.count_nonzero(finite))
            if ignore_case:
                names = [name.lower() for name in names]
            asked = [i for i, name in enumerate(names) if name in wanted]
            found = vectors[asked].astype(np.float64)
            good = np.atleast_1d(np.isfinite(found).all(axis=1))
            some = []
            for place, i in enumerate(asked):
                if good[place] and names[i] not in rows:
                    rows[names[i]] = len(rows)
                    some.append(place)
            kept.append(found if len(some) == len(found) else found[some])
        return KnownVectors(source.name, rows, np.concatenate(kept), total / max(count, 1), ignore_case)


def _mapped_blocks(source: Input, restrict_vocab: int | None) -> Iterator[tuple[list[str], np.ndarray]]:
    """As of :func:`iter_vectors`, of a file that is mapped into memory."""
    names, vectors = read_vectors(source, max_rows=restrict_vocab, mapped=True)
    for lo in range(0, max(len(names), 1), _MAPPED_ROWS):
        yield names[lo : lo + _MAPPED_ROWS], vectors[lo : lo + _MAPPED_ROWS]


def read_all_vectors(
    path: str | os.PathLike[str] | Input,
    *,
    ignore_case: bool = False,
    restrict_vocab: int | None = None,
    mapped: bool = False,
    tally: Tally | None = None,
) -> KnownVectors:
    """The vectors of all words, or of the first rows, as float32.

    Left out are vectors that hold nan or inf, and with ``ignore_case`` words that differ from an earlier one in case alone. A
    file that is ``mapped`` into memory (:func:`wordkit.formats.vectors.read_vectors`) stays there unless rows are left out.

    Raises:
        DataError: as :func:`wordkit.formats.vectors.read_vectors`; no vector is left.
    """
    with opened(path) as source:
        names, vectors = read_vectors(source, max_rows=restrict_vocab, tally=tally, mapped=mapped)
        name = source.name
    finite, total = np.empty(len(vectors), dtype=bool), np.zeros(vectors.shape[1])
    for lo in range(0, len(vectors), _MAPPED_ROWS):
        block = vectors[lo : lo + _MAPPED_ROWS]
        good = finite[lo : lo + _MAPPED_ROWS] = np.isfinite(block).all(axis=1)
        total += block.sum(axis=0, dtype=np.float64, where=good[:, None])
    mean = total / max(int(np.count_nonzero(finite)), 1)
    if mapped and tally is not None and not finite.all():  # a reader would have told
        row = int(np.argmin(finite))
        what = f"row {row + 1}: the vector of {names[row]!r} holds nan or inf"
        tally.warn("row with nan or inf", DataError(name, None, what), int(np.count_nonzero(~finite)))
    rows: dict[str, int] = {}
    kept = []
    for row, (word, good) in enumerate(zip(names, finite.tolist(), strict=True)):
        form = word.lower() if ignore_case else word
        if good and form not in rows:
            rows[form] = len(rows)
            kept.append(row)
    if not kept:
        raise DataError(name, None, "holds no finite vector")
    return KnownVectors(name, rows, vectors if len(kept) == len(names) else vectors[kept], mean, ignore_case)


@dataclass(frozen=True)
class ChosenVectors:
    """The vectors of some words, in their order.

    Attributes:
        words: those that have a finite vector, each once.
        vectors: (words, dim).
        total: how many different words were asked for.
    """

    words: list[str]
    vectors: np.ndarray
    total: int


def read_chosen_vectors(
    path: str | os.PathLike[str] | Input, words: Sequence[str] | None, *, tally: Tally, top: int | None = None
) -> ChosenVectors:
    """The vectors of words; the tally is told of words that have none, or one that holds nan or inf, and of repeated ones.

    Args:
        words: None for those of the first ``top`` rows.

    Raises:
        DataError: as :func:`wordkit.formats.vectors.read_vectors`; no word has a finite vector.
    """
    with opened(path) as source:
        if words is None:
            names, vectors = read_vectors(source, max_rows=top, tally=tally)
            words, rows = (
                names,
                {name: row for row, name in enumerate(names) if np.isfinite(vectors[row]).all()},
            )
        else:
            known = read_known_vectors(source, words, tally=tally)
            rows, vectors = dict(known.rows), known.vectors
        asked = list(dict.fromkeys(words))
        if repeated := len(words) - len(asked):
            tally.warn(
                "repeated word",
                DataError(source.name, None, "a word that is asked for twice counts once"),
                repeated,
            )
        chosen = [word for word in asked if word in rows]
        if not chosen:
            raise DataError(source.name, None, f"none of the {len(asked)} words has a vector")
        for word in asked:
            if word not in rows:
                tally.warn(
                    "unknown word",
                    DataError(source.name, None, f"the word {word!r} has no vector, or none that is finite"),
                )
        return ChosenVectors(chosen, vectors[[rows[word] for word in chosen]], len(asked))


def stand_in(known: KnownVectors, unknown: str) -> np.ndarray:
    """What an unknown word has by a policy: the mean vector, or the zero vector (which ``skip`` leaves unused)."""
    return known.mean if unknown == "mean" else np.zeros_like(known.mean)


def check_policy(unknown: str) -> None:
    """Raise ValueError unless it is one of UNKNOWN_POLICIES."""
    if unknown not in UNKNOWN_POLICIES:
        raise ValueError(f"unknown is {unknown!r}, expected one of {', '.join(UNKNOWN_POLICIES)}")


def warn_of_zero_vectors(
    known: KnownVectors, words: Iterable[str], tally: Tally, lowercase: bool = False
) -> None:
    """Count the words whose vector is zero, which has cosine 0 with everything."""
    zero = np.all(known.vectors == 0, axis=1)
    found = [word for word in words if (row := known.row(word, lowercase)) >= 0 and zero[row]]
    if found:
        what = f"the vector of {found[0]!r} is zero: its cosine with anything is 0"
        tally.warn("zero vector", DataError(known.name, None, what), len(found))


def refuse_negative(known: KnownVectors, rows: Iterable[tuple[str, int]], similarity: str) -> None:
    """WordkitError if the vector of one of these words (word, row or -1) holds negative values, which are no probabilities."""
    negative = np.any(known.vectors < 0, axis=1)
    for word, row in rows:
        if row >= 0 and negative[row]:
            what = f"the vector of {word!r} holds negative values"
            raise WordkitError(f"{known.name}: {what}: {similarity} is for probabilities")
