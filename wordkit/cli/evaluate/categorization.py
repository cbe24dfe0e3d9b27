"""``wordkit evaluate categorization``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import (
    lookup_of,
    print_evaluation,
    read_each,
    read_vectors_in_form,
    tell_unknown,
    with_comparisons,
)
from wordkit.cli.report import message, report_tally
from wordkit.errors import DataError
from wordkit.evaluation.result import Result


@options.command(
    "categorization",
    example="wordkit evaluate categorization data_samples/vectors.txt data_samples/categories.txt --json > tree.json",
)
@options.input_argument("vec")
@options.input_argument("dataset", many=True)
@click.option("--linkage", type=click.Choice(["complete", "single", "average"]), default="complete",
              help="Distance of two clusters: of their farthest words, the nearest, or the mean of all pairs.")  # fmt: skip
@options.similarity_option(*(name for name in options.SIMILARITIES if name != "dot"))
@click.option("--column", metavar="NAME", help="Only this column of classes; by default each is evaluated.")
@click.option("--clusters", type=options.count, show_default="as many as there are classes", metavar="N",
              help="Where the tree is cut.")  # fmt: skip
@click.option("--with-unclassed", is_flag=True,
              help="Cluster and list words without a class too; they are not scored.")  # fmt: skip
@click.option("--tag", type=click.Choice(["n", "v", "j", "a"]),
              help="Part of speech of the words, where DATASET does not say it: noun, verb, adjective, adverb.")  # fmt: skip
@options.tagged_word_option
@options.lookup_options(
    "Words without a vector: left out; clustered with the zero vector or the mean of all vectors; or looked up in lower case, "
    "and left out if that is unknown too."
)
@options.comparison_options
@click.option(
    "--details",
    is_flag=True,
    help="Confusion table, clusters and unknown words too (--json always has them).",
)
@options.policy_options
@options.json_option
def command(
    vec: str, dataset: tuple[str, ...], linkage: str, similarity: str, column: str | None, clusters: int | None,
    with_unclassed: bool, tag: str | None, word_form: str, unknown: str, ignore_case: bool, restrict_vocab: int | None,
    mmap: bool,
    summary: bool, intervals: bool, against: str | None, seed: int, details: bool, skip_invalid: bool, strict: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Purity and entropy of an agglomerative clustering of words by their vectors in VEC.

    Each DATASET has a word a line, then its class, or a class in each of several columns; a first line that begins with `word`
    names them. Words may end in -n, -v, -j or -a. Higher purity is better, lower entropy. n/a where fewer than two classes are
    left, or all distances are equal. covered: words with a class and a vector. `plot dendrogram` draws the tree from --json.
    """
    from wordkit.evaluation.categorization import categorization_result
    from wordkit.evaluation.word_forms import tagged, written
    from wordkit.formats.word_classes import read_word_classes
    from wordkit.tally import Tally

    options.one_standard_input(vec, against, *dataset)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    set_records: list = []
    vector_records: list = []
    sets = read_each(dataset, read_word_classes, tally, set_records)
    for path, each in zip(dataset, sets, strict=True):
        if column is not None and column not in each.columns:
            raise DataError(path, None, f"has no column `{column}`", f"one of {', '.join(each.columns)}")
    words = [tagged(each.words, tag) for each in sets]
    every = [word for some in words for word in some]

    def evaluate(path: str) -> list[Result]:
        lookup = lookup_of(unknown, ignore_case, restrict_vocab, mmap)
        known, form = read_vectors_in_form(
            path, every, word_form, similarity, unknown, lookup, tally, vector_records
        )
        return [
            categorization_result(
                each.words, classes, [written(word, form) for word in some], known,
                data=data if len(each.columns) == 1 else f"{data}:{name}", similarity=similarity, linkage=linkage,
                clusters=clusters, unknown=unknown, with_unclassed=with_unclassed,
            )
            for data, each, some in zip(dataset, sets, words, strict=True)
            for name, classes in each.columns.items()
            if column in (None, name)
        ]  # fmt: skip

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    for result in results:
        if result.details["tied_cut"]:
            message(f"{result.data}: equal distances where the tree is cut; the order of the words decided")
    tell_unknown(results, "words", unknown, strict)
    report_tally(tally)
    parameters = {
        "linkage": linkage, "similarity": similarity, "column": column, "clusters": clusters, "with-unclassed": with_unclassed,
        "tag": tag, "word-form": word_form, "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "seed": seed if intervals or against else None,
    }  # fmt: skip
    records = [vector_records[0], *set_records, *vector_records[1:]]
    print_evaluation("categorization", parameters, records, started, results, as_json, details, summary)
