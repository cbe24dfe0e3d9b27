"""``wordkit nbest``: lists of the best parses of sentences, with features and counts, for rerankers."""

from __future__ import annotations

import time
from typing import Any

import click

from wordkit.cli import options
from wordkit.cli.report import (
    ProgressMonitor,
    message,
    print_results,
    report_tally,
    resumable,
    tell_results,
)

_DEFAULTS = {"n": 50, "max_length": 250}  # of a training; a model has its own


@options.command(
    "nbest",
    example="wordkit nbest data_samples/trees.conllu -o lists.gz --n 10 --folds 3 --epochs 2 --model-out parser",
)
@options.input_argument("input", many=True, required=False)
@click.option("-o", "--output", type=click.Path(allow_dash=True), metavar="LISTS",
              help="The lists, `score qid:N index:value ...` a line; score: share of heads or brackets right.")  # fmt: skip
@click.option("--n", type=options.count, show_default="50, or the model's", help="Candidates a sentence.")
@options.path_option("--model", metavar="M", help="Parse with this model instead of training.")
@options.path_option("--model-out", metavar="M",
                     help="Write a parser trained on all of INPUT, with the features of its lists.")  # fmt: skip
@options.path_option(
    "--counts-out", metavar="C", help="Write `qid matched gold proposed`, a line a candidate."
)
@options.path_option(
    "--trees-out",
    metavar="T",
    help="Write a tree a sentence, the first candidate: CoNLL, or brackets with --trees.",
)
@options.path_option(
    "--choices", metavar="C", help="Write these candidates into --trees-out: what `rerank` has chosen."
)
@options.path_option(
    "--features-out", metavar="F", help="Write `index<TAB>feature`, what each feature of the lists says."
)
@options.path_option(
    "--trees",
    metavar="T",
    help="Candidates of another parser instead of INPUT: `qid<TAB>score<TAB>(S1 ...)` a line.",
)
@options.path_option("--gold", metavar="G", help="Their gold trees: `qid<TAB>(S1 ...)` a line.")
@click.option("--min-feature-count", type=options.count, default=5,
              help="Features that tell candidates apart in fewer lists are left out.")  # fmt: skip
@click.option("--folds", type=click.IntRange(2, 2**31 - 1), default=10,
              help="Parts of INPUT, each parsed by a parser trained on the others.")  # fmt: skip
@click.option("--epochs", type=options.count, default=5, help="Passes over the sentences.")
@click.option("--C", "C", type=options.positive, default=0.01, help="Greatest step of the parser's training.")
@click.option("--hash-bits", type=click.IntRange(3, 30), default=22, help="The parser has 2^N weights.")
@click.option(
    "--tag-column", type=click.Choice(["upos", "xpos"]), default="upos", help="Column of the part of speech."
)
@click.option("--min-count", type=options.count, default=2, help="Rarer words become the one word `-*-`.")
@click.option("--max-length", type=options.count, show_default="250, or the model's",
              help="Pass over longer sentences; they are counted.")  # fmt: skip
@options.training_options
@options.policy_options
@options.seed_option
@options.threads_option
@options.json_option
@click.pass_context
def command(context: click.Context, input: tuple[str, ...], **given: Any) -> None:
    """Make lists of the best parses of sentences, with what a reranker needs.

    INPUT is a treebank in CoNLL-X or CoNLL-U: a first-order projective dependency parser is trained by jack-knifing, and the k
    best trees of each sentence get features of grandparents, siblings, valency, chains and more. With --model, INPUT is parsed
    instead; heads in it are the gold ones, or `_`. One word hangs on the root. With --trees the candidates are bracketed trees.
    Train a reranker with `tmira`; `rerank` chooses.
    """
    explicit = options.given_by_user(context) & set(given)
    _check_meaning(input, given, explicit)
    outputs = [
        given[name]
        for name in ("output", "model_out", "counts_out", "trees_out", "features_out", "checkpoint", "log")
    ]
    for name in ("model_out", "checkpoint", "log"):
        options.not_standard_output(given[name], f"--{name.replace('_', '-')}")
    if outputs.count("-") > 1:
        raise click.UsageError("standard output (-) can be only one of the outputs")
    inputs = [*input, given["trees"], given["gold"], given["model"], given["choices"]]
    options.one_standard_input(*inputs, given["resume"])
    options.check_outputs(*outputs, inputs=inputs)
    options.check_outputs(*outputs[:5], given["log"], inputs=[given["resume"]])
    if given["as_json"] and "-" in outputs:
        raise click.UsageError("--json wants standard output, which an output has (-)")
    started = time.monotonic()
    run = _bracketed if given["trees"] else _parsed if given["model"] else _trained
    result, signature = run(input, given)
    seconds = time.monotonic() - started
    if "-" in outputs:  # standard output has the lists
        tell_results(signature, result)
    else:
        print_results("nbest", signature, seconds, [result], as_json=given["as_json"])


def _trained(input: tuple[str, ...], given: dict[str, Any]) -> tuple[Any, str]:
    from wordkit.models.treebank_lists import TreebankRun
    from wordkit.tally import Tally

    given.update({name: value for name, value in _DEFAULTS.items() if given[name] is None})
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = TreebankRun(given, tally)
    for note in run.read(input):
        message(note)
    report_tally(tally)
    monitor = ProgressMonitor("nbest", log=given["log"], append=bool(given["resume"]))
    started = time.monotonic()
    save = run.save_checkpoint
    with resumable(monitor, given["checkpoint"], lambda: save if run.jackknife.begun else None):
        run.parse(monitor)
    message(f"{run.jackknife.folds} folds in {time.monotonic() - started:.0f} s{_peak_memory()}")
    return run.write(), run.signature


def _parsed(input: tuple[str, ...], given: dict[str, Any]) -> tuple[Any, str]:
    from wordkit.models.treebank_lists import ParserRun
    from wordkit.tally import Tally

    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = ParserRun(given, tally)
    monitor = ProgressMonitor("nbest")
    try:
        result = run.run(input, monitor)
    finally:
        monitor.close()
    report_tally(tally)
    if run.n_long:
        message(
            f"{run.n_long} of {run.n_sentences} sentences passed over, longer than --max-length {run.max_length}"
        )
    return result, run.signature


def _bracketed(input: tuple[str, ...], given: dict[str, Any]) -> tuple[Any, str]:
    from wordkit.models.bracketed_lists import BracketedRun
    from wordkit.tally import Tally

    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    run = BracketedRun(given, tally)
    result = run.run()
    report_tally(tally)
    return result, run.signature


def _peak_memory() -> str:
    try:
        import resource
    except ImportError:  # not on every system
        return ""
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return f", peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20:.0f} MiB"


# Options that only a training heeds.
_TRAINING = (
    "folds",
    "epochs",
    "C",
    "hash_bits",
    "tag_column",
    "min_count",
    "checkpoint",
    "resume",
    "log",
    "seed",
)


def _check_meaning(input: tuple[str, ...], given: dict[str, Any], explicit: set[str]) -> None:
    """Refuse what contradicts, and say which options have no effect."""
    if bool(input) == bool(given["trees"]):
        raise click.UsageError("give INPUT, or candidates with --trees" + (", not both" if input else ""))
    if given["model"] and given["model_out"]:
        raise click.UsageError("--model-out does not go with --model: nothing is learned")
    if given["gold"] and not given["trees"]:
        raise click.UsageError("--gold belongs to --trees; the gold heads of INPUT are in it")
    if given["choices"] and not given["trees_out"]:
        raise click.UsageError("--choices needs --trees-out, where the chosen trees go")
    if given["features_out"] and not given["model_out"]:
        raise click.UsageError(
            "--features-out needs --model-out: it tells what the features of the model are"
        )
    if not any(given[name] for name in ("output", "model_out", "counts_out", "trees_out")):
        raise click.UsageError("nothing to write: give -o LISTS, --trees-out, --counts-out or --model-out")
    idle = set(_TRAINING) if given["model"] or given["trees"] else set()
    idle |= {"n", "max_length"} if given["trees"] else set()
    idle |= {"min_feature_count"} if given["model"] else set()
    for name in sorted(explicit & idle):
        message(f"warning: --{name.replace('_', '-')} means nothing here")
