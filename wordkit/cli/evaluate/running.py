"""What the evaluations of word vectors do alike: read sets and vectors with their digests, tell of unknown words, compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wordkit.cli.report import message, print_results, refuse_unknown, some_words
from wordkit.evaluation.result import Result

if TYPE_CHECKING:
    from wordkit.evaluation.known_vectors import KnownVectors
    from wordkit.evaluation.word_forms import TaggedWord
    from wordkit.formats.opening import Input
    from wordkit.tally import Tally

Set = TypeVar("Set")
Vectors = TypeVar("Vectors")


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


def lookup_of(unknown: str, ignore_case: bool, restrict_vocab: int | None, mmap: bool) -> dict[str, Any]:
    """Arguments of :func:`read_known_vectors` by the options of the same names."""
    return {
        "ignore_case": ignore_case, "restrict_vocab": restrict_vocab, "mean": unknown == "mean", "mapped": mmap,
    }  # fmt: skip


def read_vectors_of(
    path: str, words: Iterable[str], lookup: dict[str, Any], tally: Tally, records: list[dict[str, Any]]
) -> KnownVectors:
    """The vectors of some words; the file's record is added to ``records``.

    Args:
        lookup: what :func:`lookup_of` says.
    """
    from wordkit.evaluation.known_vectors import read_known_vectors
    from wordkit.formats.opening import Input

    with Input(path, digest=not lookup["mapped"]) as source:
        known = read_known_vectors(source, words, **lookup, tally=tally)
        records.append(source.record())
    return known


def read_vectors_in_form(
    path: str,
    words: Sequence[TaggedWord],
    word_form: str,
    similarity: str,
    unknown: str,
    lookup: dict[str, Any],
    tally: Tally,
    records: list[dict[str, Any]],
) -> tuple[KnownVectors, str]:
    """As :func:`read_vectors_of`, of words with a part of speech, and how their file writes these; zero vectors are told.

    Args:
        word_form: the form that the user named, or that it is to be found out.
    """
    from wordkit.evaluation.known_vectors import warn_of_zero_vectors
    from wordkit.evaluation.word_forms import all_forms, choose_form, written

    known = read_vectors_of(path, all_forms(words), lookup, tally, records)
    lowercase = unknown == "lowercase"
    form = choose_form(known, words, word_form, lowercase=lowercase)
    if similarity == "cosine":
        warn_of_zero_vectors(known, [written(word, form) for word in words], tally, lowercase)
    return known, form


def print_evaluation(
    name: str,
    parameters: dict[str, Any],
    records: Sequence[dict[str, Any]],
    started: float,
    results: Sequence[Result],
    as_json: bool,
    details: bool,
    summary: bool,
) -> None:
    """Print results with the signature of parameters and files, and the seconds since ``started``."""
    from wordkit.signature import signature

    run = signature(f"evaluate-{name}", parameters, records)
    seconds = time.monotonic() - started
    print_results(
        f"evaluate {name}", run, seconds, results, as_json=as_json, details=details, summary=summary
    )


def with_comparisons(
    vec: Vectors,
    against: Vectors | None,
    evaluate: Callable[[Vectors], list[Result]],
    intervals: bool,
    seed: int,
) -> list[Result]:
    """Results of the vectors, with what ``--intervals`` and ``--against`` add.

    Args:
        vec, against: vector files, or other things whose string is what results call them.
        evaluate: results of one of them, one a set.
    """
    from wordkit.formats.opening import Input

    if against is not None and str(against) != "-" and not Path(str(against)).is_fifo():
        with Input(str(against)):  # a name that leads nowhere is told now, not after the work on the other
            pass
    results = evaluate(vec)
    if intervals or against is not None:
        from wordkit.evaluation.uncertainty import compared

        others = None if against is None else evaluate(against)
        results = compared(results, others, None if against is None else str(against), intervals, seed)
    return results


def refuse_comparison_by_transitions(transition: str | None, against: str | None) -> None:
    """The transitions of one model do not fit the classes of another's vectors."""
    if transition is not None and against is not None:
        raise click.UsageError(
            "--transition is of the model of VEC; --against compares vectors without transitions"
        )


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
            counts = f"{used} of {result.total} {items} scored, "
            counts += f"{without} {'has' if without == 1 else 'have'} an unknown word" if without else (
                "some with words that have no vector"
            )  # fmt: skip
            message(f"{result.data}: {counts} (--unknown {unknown}): {some_words(missing)}")
        if strict:
            refuse_unknown(
                result.data, result.total - result.covered, result.total, f"{items} have words that are"
            )
