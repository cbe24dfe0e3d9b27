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
    vec: str,
    words: tuple[str, ...],
    top: int,
    similarity: str,
    from_format: str | None,
    max_rows: int | None,
    skip_invalid: bool,
    strict: bool,
    threads: int,
    as_json: bool,
) -> None:
    """List the nearest words of each WORD in vector file VEC; without WORD they are read from standard input,
    one a line.

    Prints QUERY, WORD and SCORE, separated by tabs, the nearest first and equal scores in file order. A query
    is not its own neighbour. Words that are not in the file are counted; it is an error if none is. A zero
    vector has cosine 0 with everything.
    """
    import time

    import numpy as np

    from wordkit.cli.report import message, print_json, print_lines, report_tally
    from wordkit.errors import DataError, WordkitError
    from wordkit.evaluation.neighbors import nearest_neighbors
    from wordkit.formats.opening import Input
    from wordkit.formats.vectors import read_vectors
    from wordkit.formats.word_list import read_word_list
    from wordkit.signature import signature
    from wordkit.tally import Tally

    if not words and vec == "-":
        raise click.UsageError("standard input is the vector file, so the words must be arguments")
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    queries = list(words) or read_word_list("-", tally)
    with Input(vec, digest=True) as source:
        names, vectors = read_vectors(source, max_rows=max_rows, format=from_format, tally=tally)
    row_of = {name: row for row, name in enumerate(names)}
    known = []
    for word in queries:
        if word not in row_of:
            tally.warn("unknown word", DataError(source.name, None, f"the word {word!r} is not there"))
        elif not np.isfinite(vectors[row_of[word]]).all():
            tally.warn(
                "query with nan or inf", DataError(source.name, None, f"the vector of {word!r} is not finite")
            )
        else:
            known.append(word)
    if not known:
        report_tally(tally)
        raise WordkitError(f"{source.name}: none of the {len(queries)} words has a vector")
    try:
        found = nearest_neighbors(
            np.array([row_of[word] for word in known]),
            vectors,
            top=top,
            similarity=similarity,
            threads=threads,
        )
    except ValueError as error:
        raise WordkitError(f"{source.name}: {error}") from None
    if found.zero_vectors and similarity == "cosine":
        tally.warn(
            "zero vector", DataError(source.name, None, "cosine with a zero vector is 0"), found.zero_vectors
        )
    lists = [
        [(names[row], float(score)) for row, score in zip(rows, scores, strict=True) if row >= 0]
        for rows, scores in zip(found.rows.tolist(), found.scores, strict=True)
    ]
    parameters = {"top": top, "similarity": similarity, "max-rows": max_rows}
    run = signature("neighbors", parameters, [source.record()])
    if as_json:
        results = [
            {"query": word, "neighbors": [{"word": name, "score": score} for name, score in near]}
            for word, near in zip(known, lists, strict=True)
        ]
        head = {"command": "neighbors", "signature": run, "seconds": round(time.monotonic() - started, 3)}
        counts = {"covered": len(known), "total": len(queries), "zero_vectors": found.zero_vectors}
        print_json({**head, **counts, "results": results})
    else:
        for word, near in zip(known, lists, strict=True):
            print_lines(f"{word}\t{name}\t{score:.6f}" for name, score in near)
    report_tally(tally)
    message(f"signature: {run}")
