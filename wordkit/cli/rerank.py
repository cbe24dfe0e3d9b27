"""``wordkit rerank``: the candidates that a model chooses."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import message, print_results, report_tally, tell_results


@options.command(
    "rerank", example="wordkit rerank small.model data_samples/nbest.txt --counts data_samples/nbest.counts"
)
@options.input_argument("model")
@options.input_argument("nbest", many=True)
@options.output_option("Where the choices go.", default="-")
@options.path_option(
    "--counts", help="Counts of the candidates: `qid matched gold proposed` a line; for the f-score."
)
@options.policy_options
@options.threads_option
@options.json_option
@click.pass_context
def command(
    context: click.Context, model: str, nbest: tuple[str, ...], output: str, counts: str | None, skip_invalid: bool, strict: bool,
    threads: int, as_json: bool,
) -> None:  # fmt: skip
    """Choose a candidate of each n-best list with a trained reranker.

    MODEL comes from tmira; NBEST has the form of its input, and its scores are looked at for the measures only. A line a list
    goes out: qid, the place of the chosen candidate in its list (from 1), and its score by the model, separated by tabs; of
    equal scores the first. With --counts the f-score of all chosen candidates together is measured, with those of the first
    candidates and of the best; without, the mean of the scores in NBEST. Measures go to standard output where the choices do
    not; --json prints them alone, and choices only into a file. Features that the model does not know count nothing, and are
    counted.
    """
    from wordkit.formats.nbest_counts import CandidateCounts
    from wordkit.formats.opening import Input, open_output
    from wordkit.models.rerank_lists import Reranking
    from wordkit.models.reranker_model import load_reranker
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.one_standard_input(model, *nbest, counts)
    chosen_to = options.given_by_user(context)
    if as_json and output == "-" and "output" in chosen_to:
        raise click.UsageError("--json and -o - both want standard output")
    options.check_outputs(output, inputs=[model, *nbest, counts])
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    records = []
    with Input(model, digest=True) as source:
        reranker = load_reranker(source)
        records.append(source.record())
    reranker.threads = threads
    numbers = None
    if counts:
        with Input(counts, digest=True) as source:
            numbers = CandidateCounts(source, tally=tally)
            records.append(source.record())
    reranking = Reranking(reranker, numbers, tally)
    if as_json and output == "-":
        for _ in reranking.choices(nbest):
            pass
    else:
        with open_output(output) as out:
            for qids, best, scores in reranking.choices(nbest):
                rows = zip(qids.tolist(), best.tolist(), scores.tolist(), strict=True)
                out.write(
                    "".join(f"{qid}\t{place + 1}\t{score:.9g}\n" for qid, place, score in rows).encode()
                )
                out.flush()
    report_tally(tally)
    if reranking.unknown:
        message(
            f"{reranking.unknown} values are of features that the model left out or did not see in training"
        )
    result = reranking.result()
    named = signature("rerank", {}, [*records[:1], *reranking.inputs, *records[1:]])
    if output == "-" and not as_json:  # the choices are the result
        tell_results(named, result)
    else:
        print_results("rerank", named, time.monotonic() - started, [result], as_json=as_json)
