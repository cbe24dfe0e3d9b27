"""What the evaluations of word vectors do alike: read sets and vectors with their digests, tell of unknown words, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from wordkit.cli.report import message, refuse_unknown, some_words
from wordkit.evaluation.result import Result

if TYPE_CHECKING:
    from wordkit.evaluation.known_vectors import KnownVectors
    from wordkit.formats.opening import Input
    from wordkit.tally import Tally

Set = TypeVar("Set")


def read_each(
    paths: Sequence[str], read: Callable[[Input, Tally], Set], tally: Tally, records: list[dict[str, Any]]
) -> list[Set]:
    """One set a file; the files' records are added to ``records``."""
    from wordkit.formats.opening import Input

    sets = []
    for path in paths:
        with Input(path, digest=True) as source:
            sets.append(read(source, tally))
            records.append(source.record())
    return sets


def read_vectors_of(
    path: str, words: Iterable[str], lookup: dict[str, Any], tally: Tally, records: list[dict[str, Any]]
) -> KnownVectors:
    """The vectors of some words; the file's record is added to ``records``.

    Args:
        lookup: ``ignore_case`` and ``restrict_vocab``.
    """
    from wordkit.evaluation.known_vectors import read_known_vectors
    from wordkit.formats.opening import Input

    with Input(path, digest=True) as source:
        known = read_known_vectors(source, words, **lookup, tally=tally)
        records.append(source.record())
    return known


def with_comparisons(
    vec: str,
    against: str | None,
    evaluate: Callable[[str], list[Result]],
    intervals: bool,
    seed: int,
) -> list[Result]:
    """Results of the vectors, with what ``--intervals`` and ``--against`` add.

    Args:
        evaluate: results of a vector file, one a set.
    """
    results = evaluate(vec)
    if intervals or against is not None:
        from wordkit.evaluation.uncertainty import compared

        others = None if against is None else evaluate(against)
        results = compared(results, others, against, intervals, seed)
    return results


def tell_unknown(results: Sequence[Result], items: str, unknown: str, strict: bool) -> None:
    """Say how many items were scored, and which words have no vector; with ``--strict`` those are an error.

    Args:
        items: what a set holds, in the plural: pairs, words.
        unknown: the policy.
    """
    for result in results:
        used, missing = result.details["used"], result.details["unknown_words"]
        if all(value is None for value in result.metrics.values()):
            message(f"{result.data}: n/a ({used} of {result.total} {items} to score)")
        if missing:
            without = result.total - result.covered
            counts = f"{used} of {result.total} {items} scored, {without} have an unknown word"
            message(f"{result.data}: {counts} (--unknown {unknown}): {some_words(missing)}")
        if strict:
            refuse_unknown(
                result.data, result.total - result.covered, result.total, f"{items} have words that are"
            )
