"""``wordkit brown``: hard clusters of words in a hierarchy."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import ProgressMonitor, graceful_stop, message, print_results, report_tally
from wordkit.errors import Interrupted


@options.command("brown", example="wordkit brown data_samples/corpus.txt -o corpus.paths --clusters 20")
@options.input_argument("input", many=True)
@options.output_option("The paths file: bit string, word and count between tabs.")
@click.option("--clusters", type=options.count, required=True, metavar="C", help="How many clusters.")
@options.structure_option("chain", "tree")
@click.option("--algorithm", type=click.Choice(["brown", "exchange"]), default="brown",
              help="Merge clusters, or move words between them.")  # fmt: skip
@click.option(
    "--sweeps",
    type=options.count,
    default=2,
    help="Of exchange over the words, after they are dealt out; more are slower and better.",
)
@options.token_options
@click.option(
    "--min-count", type=options.count, default=1, help="Leave out rarer words, and bigrams with them."
)
@click.option("--max-vocab", type=options.count, metavar="N", help="Cluster the N most frequent words.")
@options.policy_options
@options.json_option
def command(
    input: tuple[str, ...], output: str, clusters: int, structure: str, algorithm: str, sweeps: int, token: str, tag_column: str,
    lowercase: bool, format: str, min_count: int, max_vocab: int | None, skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Cluster words so that the clusters of neighbouring words tell most about each other.

    INPUT is text, one sentence a line, or CoNLL; neighbours are a word and the next, or with --structure tree a word and one that
    hangs on it. OUTPUT has a line a word, `bit string<TAB>word<TAB>count`: the bit strings are the ways of the clusters from the
    root of their hierarchy, prefixes of them are coarser clusters. mutual_information is the average, in bits, of the clusters of
    two neighbours. Method: Brown et al. 1992; exchange: Kneser and Ney 1993.
    """
    from wordkit.evaluation.result import Result
    from wordkit.formats.clusters import check_words, write_clusters
    from wordkit.models.brown import BrownClustering
    from wordkit.models.tree_corpus import read_corpus
    from wordkit.signature import signature
    from wordkit.tally import Tally

    if output == "-" and as_json:
        raise click.UsageError("--json and -o - both want standard output")
    options.one_standard_input(*input)
    options.check_outputs(output, inputs=input)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    corpus = read_corpus(
        input, structure=structure, format=format, token=token, tag_column=tag_column, lowercase=lowercase,
        min_count=min_count, max_vocab=max_vocab, max_length=None, tally=tally,
    )  # fmt: skip
    for note in corpus.notes:
        message(note)
    report_tally(tally)
    check_words(corpus.vocabulary.words)  # before the work
    found = len(corpus.vocabulary) - 1
    if clusters > found:
        message(f"warning: {found} words make no {clusters} clusters: each has its own")
    model = BrownClustering(
        clusters=min(clusters, found), algorithm=algorithm, structure=structure, sweeps=sweeps
    )
    monitor = ProgressMonitor("brown")
    try:
        with graceful_stop(monitor):
            model.fit(corpus, monitor=monitor)
    except Interrupted as error:
        raise Interrupted(f"{error}; nothing was written") from None
    finally:
        monitor.close()
    write_clusters(output, model.paths_, model.words_, model.counts_, model.labels_)
    bigrams = model.bigrams_
    if bigrams.n_dropped:
        message(f"{bigrams.n_dropped} bigrams with words that are left out are not counted")
    parameters = {
        "clusters": clusters, "structure": structure, "algorithm": algorithm,
        "sweeps": sweeps if algorithm == "exchange" else None, "token": token, "lowercase": lowercase,
        "min_count": min_count, "max_vocab": max_vocab,
    }  # fmt: skip
    result = Result(
        name="brown",
        data=", ".join(record["name"] for record in corpus.inputs),
        metrics={
            "mutual_information": model.mutual_information_,
            "clusters": len(model.paths_),
            "types": len(model.words_),
            "tokens": int(model.counts_.sum()),
            "bigrams": bigrams.total,
        },
        covered=corpus.n_tokens - int(corpus.word_counts[0]),
        total=corpus.n_tokens,
    )
    run = signature("brown", parameters, corpus.inputs)
    if output == "-":  # the clusters are the result
        message(f"mutual information {model.mutual_information_:.6g} bits")
    else:
        print_results("brown", run, time.monotonic() - started, [result], as_json=as_json)
