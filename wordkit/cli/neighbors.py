"""``wordkit neighbors``: the nearest words of words."""

from __future__ import annotations

import click

from wordkit.cli.options import command as wordkit_command
from wordkit.cli.options import input_argument, json_option, policy_options, threads_option


@wordkit_command("neighbors", example="wordkit neighbors data_samples/vectors.txt good city --top 5")
@input_argument("vec")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--top", type=click.IntRange(1), default=10, metavar="N", help="How many neighbours a word.")
@click.option(
    "--similarity",
    type=click.Choice(["cosine", "dot", "euclidean", "bhattacharyya"]),
    default="cosine",
    help="Higher is nearer: euclidean is minus the distance, bhattacharyya is for rows of probabilities.",
)
@click.option(
    "--from",
    "from_format",
    type=click.Choice(["word2vec", "glove", "word2vec-binary", "npz"]),
    show_default="found in the content",
    help="Format of VEC.",
)
@click.option("--max-rows", type=click.IntRange(1), metavar="N", help="Search the first N rows only.")
@policy_options
@threads_option
@json_option
def command(
    vec: str, words: tuple[str, ...], top: int, similarity: str, from_format: str | None, max_rows: int | None,
    skip_invalid: bool, strict: bool, threads: int, as_json: bool,
) -> None:  # fmt: skip
    """List the nearest words of each WORD in vector file VEC; without WORD they are read from standard input,
    one a line.

    Prints QUERY, WORD and SCORE, separated by tabs, the nearest first and equal scores in file order. A query
    is not its own neighbour. Words that are not in the file are counted; it is an error if none is. A zero
    vector has cosine 0 with everything.
    """
    import time

    from wordkit.cli.report import message, print_json, print_lines, report_tally
    from wordkit.errors import WordkitError
    from wordkit.evaluation.neighbors import neighbors_of_words
    from wordkit.formats.opening import Input
    from wordkit.formats.vectors import read_vectors
    from wordkit.formats.word_list import read_word_list
    from wordkit.signature import signature
    from wordkit.tally import Tally

    if not words and vec == "-":
        raise click.UsageError("standard input is the vector file, so the words must be arguments")
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    queries = words or read_word_list("-", tally)
    with Input(vec, digest=True) as source:
        names, vectors = read_vectors(source, max_rows=max_rows, format=from_format, tally=tally)
    found = neighbors_of_words(
        queries, names, vectors, top=top, similarity=similarity, threads=threads,
        source=source.name, tally=tally,
    )  # fmt: skip
    if not found.lists:
        report_tally(tally)
        raise WordkitError(f"{source.name}: none of the {len(queries)} words has a vector")
    run = signature(
        "neighbors", {"top": top, "similarity": similarity, "max-rows": max_rows}, [source.record()]
    )
    if as_json:
        results = [
            {"query": query, "neighbors": [{"word": word, "score": score} for word, score in near]}
            for query, near in found.lists
        ]
        head = {"command": "neighbors", "signature": run, "seconds": round(time.monotonic() - started, 3)}
        counts = {"covered": len(results), "total": len(queries), "zero_vectors": found.zero_vectors}
        print_json({**head, **counts, "results": results})
    else:
        for query, near in found.lists:
            print_lines(f"{query}\t{word}\t{score:.6f}" for word, score in near)
    report_tally(tally)
    message(f"signature: {run}")
