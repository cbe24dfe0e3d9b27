"""``wordkit neighbors``: the nearest words of words, or of all words: a distributional thesaurus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from wordkit.cli import options

if TYPE_CHECKING:
    from wordkit.evaluation.neighbors import WordNeighbors


@options.command("neighbors", example="wordkit neighbors data_samples/vectors.txt good city --top 5")
@options.input_argument("vec")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--top", type=click.IntRange(1), default=10, metavar="N", help="How many neighbours a word.")
@options.similarity_option(*options.SIMILARITIES)
@click.option(
    "--all", "every", is_flag=True, help="List the neighbours of all words: a distributional thesaurus."
)
@click.option(
    "--dimension",
    "dimensions",
    type=click.IntRange(0),
    multiple=True,
    metavar="N",
    help="In place of neighbours, the words farthest from zero in dimension N, from 0; may be given again.",
)
@options.output_option("Where the lists go.", default="-")
@click.option(
    "--format", "format", type=click.Choice(["pairs", "lines"]), default="pairs",
    help="QUERY, WORD, SCORE a line; or a line a query, then WORD(SCORE) of all its neighbours, between tabs.",
)  # fmt: skip
@click.option(
    "--from",
    "from_format",
    type=click.Choice(["word2vec", "glove", "word2vec-binary", "npz"]),
    show_default="found in the content",
    help="Format of VEC.",
)
@click.option("--max-rows", type=click.IntRange(1), metavar="N", help="Search the first N rows only.")
@options.mmap_option
@options.policy_options
@options.threads_option
@options.json_option
def command(
    vec: str, words: tuple[str, ...], top: int, similarity: str, every: bool, dimensions: tuple[int, ...], output: str,
    format: str, from_format: str | None, max_rows: int | None, mmap: bool, skip_invalid: bool, strict: bool, threads: int,
    as_json: bool,
) -> None:  # fmt: skip
    """List the nearest words of each WORD in vector file VEC; without WORD they are read from standard input,
    one a line.

    Prints QUERY, WORD and SCORE, separated by tabs, the nearest first and equal scores in file order. A query
    is not its own neighbour. Words that are not in the file are counted; it is an error if none is. A zero
    vector has cosine 0 with everything. With --dimension it prints N, WORD and its value there: what a dimension of a
    sparse code stands for, or a tree, whose words are those of its root.
    """
    import time

    from wordkit.cli.report import ProgressMonitor, message, report_tally
    from wordkit.errors import DataError, WordkitError, times
    from wordkit.evaluation.neighbors import neighbors_of_words
    from wordkit.formats.opening import Input, open_output
    from wordkit.formats.vectors import read_vectors
    from wordkit.formats.word_list import read_word_list
    from wordkit.signature import signature
    from wordkit.tally import Tally

    if every and words:
        raise click.UsageError("--all lists every word: it takes no WORD")
    if dimensions and (words or every):
        raise click.UsageError("--dimension lists the words of dimensions: it takes neither WORD nor --all")
    if not words and not every and not dimensions and vec == "-":
        raise click.UsageError("standard input is the vector file, so the words must be arguments")
    options.check_outputs(output, inputs=[vec])
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    queries = None if every or dimensions else words or read_word_list("-", tally)
    with Input(vec, digest=not mmap) as source:
        names, vectors = read_vectors(source, max_rows=max_rows, format=from_format, tally=tally, mapped=mmap)
    if dimensions:
        parameters = {"top": top, "dimensions": ",".join(map(str, dimensions)), "max-rows": max_rows}
        run = signature("neighbors", parameters, [source.record()])
        lists = _of_dimensions(dimensions, names, vectors, top, source.name)
        for number in [number for number, near in lists.items() if not near]:
            fault = DataError(source.name, None, f"no word has a value in dimension {number}")
            tally.warn("dimension without words", fault)
        with open_output(output) as out:
            for text in _dimension_texts(lists, run, started, as_json, format == "pairs"):
                out.write(text.encode("utf-8", "surrogateescape"))
        report_tally(tally)
        message(f"signature: {run}")
        return
    monitor = ProgressMonitor("neighbors")
    found = neighbors_of_words(
        queries, names, vectors, top=top, similarity=similarity, threads=threads,
        source=source.name, tally=tally, monitor=monitor,
    )  # fmt: skip
    total = len(names) if queries is None else len(queries)
    if not found.queries:
        report_tally(tally)
        raise WordkitError(f"{source.name}: none of the {times(total, 'word')} has a vector")
    if len(names) == 1:
        message(f"{source.name}: holds one word, which has no neighbours")
    parameters = {"top": top, "similarity": similarity, "all": True if every else None, "max-rows": max_rows}
    run = signature("neighbors", parameters, [source.record()])
    head = {"command": "neighbors", "signature": run, "covered": len(found.queries), "total": total}
    try:
        with open_output(output) as out:
            for text in _json(found, head, started) if as_json else _lines(found, format == "pairs"):
                out.write(text.encode("utf-8", "surrogateescape"))
    finally:
        monitor.close()
    report_tally(tally)
    message(f"signature: {run}")


def _of_dimensions(
    dimensions: Sequence[int], names: list[str], vectors: Any, top: int, source: str
) -> dict[int, list[tuple[str, float]]]:
    from wordkit.errors import WordkitError
    from wordkit.evaluation.dimensions import words_of_dimension

    try:
        return {number: words_of_dimension(names, vectors, number, top) for number in dimensions}
    except ValueError as error:
        raise WordkitError(f"{source}: {error}") from None


def _dimension_texts(
    lists: Mapping[int, list[tuple[str, float]]], run: str, started: float, as_json: bool, pairs: bool
) -> Iterator[str]:
    """Words of dimensions, as neighbours are written."""
    import json
    import time

    if as_json:
        results = [
            {"dimension": number, "words": [{"word": word, "value": value} for word, value in near]}
            for number, near in lists.items()
        ]
        seconds = round(time.monotonic() - started, 3)
        whole = {"command": "neighbors", "signature": run, "seconds": seconds, "results": results}
        yield json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"
        return
    for number, near in lists.items():
        yield _text(str(number), near, pairs)


def _text(query: str, near: Sequence[tuple[str, float]], pairs: bool) -> str:
    """A list as text."""
    if pairs:
        return "".join(f"{query}\t{word}\t{score + 0.0:.6f}\n" for word, score in near)
    return "\t".join([query, *(f"{word}({score + 0.0:.2f})" for word, score in near)]) + "\n"


def _lines(found: WordNeighbors, pairs: bool) -> Iterator[str]:
    """The lists as text, a query at a time."""
    for query, near in zip(found.queries, found.lists, strict=True):
        yield _text(query, near, pairs)


def _json(found: WordNeighbors, head: Mapping[str, Any], started: float) -> Iterator[str]:
    """One object with all lists on one line."""
    import json
    import time

    results = [
        {"query": query, "neighbors": [{"word": word, "score": score} for word, score in near]}
        for query, near in zip(found.queries, found.lists, strict=True)
    ]
    seconds = round(time.monotonic() - started, 3)
    whole = {**head, "seconds": seconds, "zero_vectors": found.zero_vectors, "results": results}
    yield json.dumps(whole, ensure_ascii=False, allow_nan=False) + "\n"
