"""``wordkit dcme``: word vectors, or a classifier of very many classes, by dual-clustering maximum entropy."""

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
)
from wordkit.errors import Interrupted, WordkitError


@options.command(
    "dcme",
    example="wordkit dcme data_samples/corpus.txt -o corpus.vec --heldout data_samples/corpus.txt --curves curves.tsv",
)
@options.input_argument("input", many=True)
@options.output_option("Word vectors (embedding) or the model file (classification).")
@click.option("--task", type=click.Choice(["embedding", "classification"]), default="embedding",
              help="Word vectors from text, or a classifier from labelled documents.")  # fmt: skip
@click.option("--objective", type=click.Choice(["dcme", "nce", "ns", "gd"]), default="dcme",
              help="Dual clustering; noise-contrastive estimation; negative sampling; the exact gradient (slow).")  # fmt: skip
@click.option("--variant", type=click.Choice(["exact", "printed"]), default="exact",
              help="Of dcme: nothing is late, or the paper's algorithm with its delay.")  # fmt: skip
@click.option("--clusters", type=options.count, default=20, help="Clusters of dual distributions.")
@click.option("--beta", type=options.positive, show_default="1.2; printed 1",
              help="Instances between two refreshes, at most, as a share of the words (printed: of one cluster), or of "
                   "--clusters times the classes.")  # fmt: skip
@click.option("--top", type=click.IntRange(0, 10_000), show_default="20; words of the printed variant 10; classes 48",
              help="Most frequent words, or likeliest classes of a cluster, which dcme treats exactly; with --variant printed "
                   "words of a cluster that are not delayed (embedding).")  # fmt: skip
@click.option("--prior", type=click.Choice(["unigram", "none"]), show_default="unigram; none for ns",
              help="Start from the shares of the words or classes.")  # fmt: skip
@click.option(
    "--negative", type=click.IntRange(1, 10_000), default=20, help="Drawn items an instance (nce, ns)."
)
@click.option("--noise-power", type=options.not_negative, default=0.75,
              help="Items are drawn in proportion to this power of their counts (nce, ns).")  # fmt: skip
@click.option("--dim", type=options.count, default=100, help="Length of the vectors (embedding).")
@click.option("--window", type=click.IntRange(1, 100_000), default=10, help="Words on each side (embedding).")
@click.option(
    "--dynamic-window", is_flag=True, help="Each target draws a width up to --window, as in word2vec."
)
@click.option("--epochs", type=options.count, default=5, help="Passes over the data.")
@click.option("--learning-rate", type=options.positive,
              show_default="0.25; printed 0.002; ns 0.05; for classification 2, printed 0.02",
              help="First step size; it falls to 0 in a line.")  # fmt: skip
@click.option("--decay", type=options.not_negative, default=0.0,
              help="Share of a word's vector, times the step size, lost at each of its occurrences.")  # fmt: skip
@click.option("--min-count", type=options.count, show_default="5; for classification 2",
              help="Leave out words that are rarer.")  # fmt: skip
@click.option(
    "--max-vocab", type=options.count, metavar="N", help="Keep the N most frequent words (embedding)."
)
@click.option("--lowercase", is_flag=True, help="Fold case.")
@click.option("--sample", type=options.not_negative, default=0.0,
              help="Thin out words with a larger share of the text than this, as in word2vec; 0: none.")  # fmt: skip
@click.option("--format", "format", type=click.Choice(["auto", "text", "conll", "conllu", "conllx", "conllulex", "svmlight"]),
              default="auto", help="Format of the input; svmlight is for classification.")  # fmt: skip
@options.labelled_options
@click.option("--no-normalize", "normalize", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Keep the length of the documents' rows, which is 1 otherwise (classification).")  # fmt: skip
@options.path_option(
    "--heldout", help="Exact log-likelihood of this file after each epoch; accuracy too (classification)."
)
@click.option(
    "--output-vectors", type=click.Path(), metavar="VEC", help="Write the output vectors too (embedding)."
)
@click.option("--model-out", type=click.Path(), metavar="MODEL",
              help="Write both matrices, the prior and the vocabulary (embedding).")  # fmt: skip
@click.option(
    "--curves", type=click.Path(), metavar="TSV", help="Write epoch, metric, value and seconds a line."
)
@click.option("--init", type=click.Path(), metavar="MODEL",
              help="Continue a model on this data; new words are appended (embedding).")  # fmt: skip
@click.option("--no-shuffle", "shuffle", is_flag=True, flag_value=False, default=True, show_default=False,
              help="Keep the order of sentences or documents.")  # fmt: skip
@options.training_options
@options.policy_options
@options.seed_option
@options.lock_free_threads_option("dcme")
@options.json_option
@click.pass_context
def command(context: click.Context, input: tuple[str, ...], output: str, **given: Any) -> None:
    """Learn a soft-max over very many words or classes: dual-clustering maximum entropy.

    For word vectors INPUT is text, one sentence a line; the words around each word predict it among all words. For
    classification INPUT holds labelled documents, `__label__NAME token token ...`, or svmlight records; the model is for
    `predict` and `evaluate classification`. Several files are read one after the other. Method: Wang, Wang and Zhai, AAAI 2017.
    """
    from wordkit.tally import Tally

    embedding = given["task"] == "embedding"
    explicit = options.given_by_user(context) & set(given)
    if given["min_count"] is None:
        given["min_count"] = 5 if embedding else 2
    if given["format"] == "auto" and not embedding:
        given["format"] = "text"
    _check(input, output, given, explicit)
    started = time.monotonic()
    tally = Tally(skip_invalid=given["skip_invalid"], strict=given["strict"])
    if embedding:
        from wordkit.models.dcme_training import EmbeddingRun as Run
    else:
        from wordkit.models.dcme_classification import ClassifierRun as Run  # type: ignore[assignment]
    run = Run(given, explicit, tally)
    for note in run.read(input):
        message(note)
    report_tally(tally)
    monitor = ProgressMonitor(
        "dcme", log=given["log"], append=bool(given["resume"]), tell=bool(given["heldout"]),
        decorate=getattr(run, "held_out_metrics", dict),
    )  # fmt: skip
    curves = _Curves()

    saved = 0  # epochs whose state is in the checkpoint

    def after_epoch() -> None:
        nonlocal saved
        curves.add(run.model.history_[-1])
        if given["checkpoint"]:
            run.save(given["checkpoint"])
            saved += 1

    monitor.on_epoch = after_epoch
    try:
        with resumable(monitor, given["checkpoint"], lambda: run.save if run.begun else None):
            run.fit(monitor)
    except Interrupted:
        raise
    except WordkitError as error:
        raise _with_place(error, given["checkpoint"], saved) from None
    run.write_outputs(output)
    if given["curves"]:
        curves.write(given["curves"])
    for line in run.warnings():
        message(line)
    signature, result = run.file.header["signature"], run.result()
    if output == "-":  # the vectors are the result
        for name, value in result.metrics.items():
            message(f"{name} {value if value is None else round(value, 6)}")
        message(f"signature: {signature}")
    else:
        print_results("dcme", signature, time.monotonic() - started, [result], as_json=given["as_json"])


class _Curves:
    """Records of the epochs as they come, with the seconds since the training began."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self.records: list[dict[str, Any]] = []
        self._seconds: list[float] = []

    def add(self, record: dict[str, Any]) -> None:
        self.records.append(dict(record))
        self._seconds.append(time.monotonic() - self._began)

    def write(self, path: str) -> None:
        from wordkit.formats.curves import write_curves

        write_curves(path, self.records, self._seconds, digits=10)


def _with_place(error: WordkitError, checkpoint: str | None, saved: int) -> WordkitError:
    """Where the last good state is, if there is one."""
    if saved:
        return WordkitError(f"{error}; the state after the last full epoch is in {checkpoint}")
    return error


# What an option means nothing to: (option, value) and the options that it switches off.
_LABELLED = ("ngrams", "label_prefix", "multi_label", "normalize")
_DUAL, _SAMPLED = ("variant", "clusters", "beta", "top"), ("negative", "noise_power")
_MEANINGLESS = {
    ("objective", "dcme"): _SAMPLED,
    ("objective", "nce"): _DUAL,
    ("objective", "ns"): _DUAL,
    ("objective", "gd"): (*_DUAL, *_SAMPLED),
    ("task", "classification"): ("dim", "window", "dynamic_window", "max_vocab", "sample", "decay"),
    ("task", "embedding"): _LABELLED,
    ("format", "svmlight"): ("min_count", "lowercase", "ngrams", "label_prefix", "multi_label"),
}
_EMBEDDING_ONLY = ("output_vectors", "model_out", "init")


def _check(input: tuple[str, ...], output: str, given: dict[str, Any], explicit: set[str]) -> None:
    """Refuse what contradicts, and say which options have no effect."""
    embedding = given["task"] == "embedding"
    if not embedding:
        options.not_standard_output(output, "a model")
    if output == "-" and given["as_json"]:
        raise click.UsageError("--json and -o - both want standard output")
    for name in ("output_vectors", "model_out", "checkpoint", "log"):
        options.not_standard_output(given[name], f"--{name.replace('_', '-')}")
    for name in _EMBEDDING_ONLY if not embedding else ():
        if given[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --task embedding")
    if embedding and given["format"] == "svmlight":
        raise click.UsageError("--format svmlight needs --task classification")
    if not embedding and given["format"] not in ("auto", "text", "svmlight"):
        raise click.UsageError(f"--format {given['format']} needs --task embedding")
    if given["init"] and given["resume"]:
        raise click.UsageError("--init does not go with --resume")
    options.one_standard_input(*input, given["heldout"], given["init"], given["resume"])
    outputs = (
        output,
        given["output_vectors"],
        given["model_out"],
        given["curves"],
        given["checkpoint"],
        given["log"],
    )
    options.check_outputs(*outputs, inputs=[*input, given["heldout"]])
    # A model that is gone on with may be replaced by what becomes of it, and by nothing else.
    others = (
        (output, given["output_vectors"], given["curves"], given["log"])
        if embedding
        else (given["curves"], given["log"])
    )
    options.check_outputs(*others, inputs=[given["init"], given["resume"]])
    options.warn_meaningless(_MEANINGLESS, given, explicit)
    if not embedding and given["objective"] == "dcme":
        options.warn_meaningless({("variant", "printed"): ("top",)}, given, explicit)
