"""``wordkit evaluate ner``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import print_evaluation, with_comparisons
from wordkit.cli.evaluate.token_inputs import Representation, representation_options, token_comparison_options
from wordkit.cli.report import (
    ProgressMonitor,
    message,
    refuse_unknown,
    report_tally,
    some_words,
)
from wordkit.evaluation.result import Result

if TYPE_CHECKING:
    from wordkit.evaluation.ner import EntityTagger, TaggedData
    from wordkit.formats.tagged import Tagged

_COLUMN = click.IntRange(1, 1000)


@options.command(
    "ner",
    example="wordkit evaluate ner data_samples/entities.{train,test}.conll --vectors data_samples/vectors.txt",
)
@options.input_argument("train")
@options.input_argument("test", many=True, required=False)
@representation_options
@click.option("--method", type=click.Choice(["crf", "baseline", "given"]), default="crf",
              help="Conditional random field; entities of TRAIN wherever their words come again; or nothing is "
                   "trained, and all files end in columns of given and predicted tags, as for conlleval.")  # fmt: skip
@click.option("--scheme", type=click.Choice(["conlleval", "iob2"]), default="conlleval",
              help="How tags are read: I- may begin an entity, as conlleval has it; or only B- may.")  # fmt: skip
@click.option(
    "--window",
    type=click.IntRange(0, 20),
    default=1,
    help="Tokens on either side whose features a token has too.",
)
@click.option("--lam", type=options.not_negative, default=0.1, help="Weight of the squared l2 penalty.")
@click.option("--word-column", type=_COLUMN, default=1, help="Column of the words.")
@click.option("--label-column", type=_COLUMN, show_default="the last", help="Column of the tags.")
@click.option("--pos-column", type=click.IntRange(0, 1000), show_default="the second, unless it has the tags",
              help="Column of the parts of speech; 0: none.")  # fmt: skip
@options.path_option(
    "-o",
    "--output",
    help="Write the words of TEST with their tags and the predicted ones, as conlleval reads them.",
)
@click.option("--details", is_flag=True, help="Scores of each type too (--json always has them).")
@token_comparison_options
@options.policy_options
@options.json_option
def command(
    train: str, test: tuple[str, ...], clusters: str | None, vectors: str | None, decoded: tuple[str, ...],
    prefixes: tuple[int, ...], unlexicalized: bool, unknown: str, ignore_case: bool, restrict_vocab: int | None,
    mmap: bool, method: str,
    scheme: str, window: int, lam: float, word_column: int, label_column: int | None, pos_column: int | None,
    output: str | None, details: bool, summary: bool, intervals: bool, against: str | None, seed: int,
    skip_invalid: bool, strict: bool, as_json: bool,
) -> None:  # fmt: skip
    """Precision, recall and F1 of named entities, found with word representations as features.

    TRAIN and each TEST have a token and its tag (O, B-TYPE, I-TYPE) a line and a blank line after a sentence;
    -DOCSTART- lines are left out. Features are capitalization, the part of speech where there is one, the
    representation, and the word. The CRF is python-crfsuite's (the extra eval). baseline_f1: of the entities of TRAIN
    wherever they come again. covered: tokens that the representation knows; without one, words of TRAIN.
    """
    from wordkit.evaluation.entities import Lexicon
    from wordkit.evaluation.ner import EntityTagger, TaggedData, crfsuite, ner_result
    from wordkit.formats.opening import Input
    from wordkit.formats.tagged import read_tagged
    from wordkit.tally import Tally

    given = method == "given"
    data = (train, *test)
    if not given and not test:
        raise click.UsageError("Missing argument 'TEST...'.")
    _check_options(method, output, data[0 if given else 1 :])
    if method != "crf":  # nothing is learned from a representation
        against = None
    own = Representation(clusters, vectors, decoded, prefixes, unknown, ignore_case, restrict_vocab, mmap)
    own.check(data, against)
    options.check_outputs(output, inputs=[*data, clusters, vectors, against, *decoded])
    if method == "crf":
        crfsuite()
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    read, inputs = [], []
    for path in data:
        with Input(path, digest=True) as source:
            read.append(
                read_tagged(
                    source, word_column=word_column, label_column=label_column, pos_column=pos_column, predicted=given,
                    tally=tally,
                )
            )  # fmt: skip
            inputs.append(source.record())
    for each in read:
        _describe(each, scheme)
    with_pos = all(each.pos is not None for each in read)
    if not with_pos and any(each.pos is not None for each in read):
        message("warning: parts of speech are left out: not all files have them")
    parameters: dict[str, Any] = {"method": method, "scheme": scheme}
    if intervals or against:
        parameters["seed"] = seed

    def evaluate(representation: Representation) -> list[Result]:
        if given:
            return [
                ner_result(TaggedData(each), each.predicted, parameters=parameters, as_given=True)
                for each in read
            ]
        features, records = representation.read([(each.name, each.words) for each in read], tally)
        inputs.extend(records)
        sets = [TaggedData(each, own) for each, own in zip(read, features, strict=True)]
        lexicon = Lexicon(read[0].words, read[0].tags, scheme)
        tagger, own_parameters = None, parameters
        if method == "crf":
            own_parameters = {
                **parameters, **representation.parameters(unlexicalized), "pos": with_pos, "window": window, "lam": lam,
            }  # fmt: skip
            tagger = _fitted(
                EntityTagger(
                    lexicalized=not unlexicalized, pos=with_pos, window=window, lam=lam, scheme=scheme
                ),
                sets[0],
            )
        predicted = [
            tagger.predict(each) if tagger else [lexicon.tag(words) for words in each.tagged.words]
            for each in sets[1:]
        ]
        if output and representation is own:
            _write(output, sets[1].tagged, sets[1].iob2(scheme), predicted[0])
        return [
            ner_result(each, tags, parameters=own_parameters, train=sets[0], lexicon=lexicon, tagger=tagger)
            for each, tags in zip(sets[1:], predicted, strict=True)
        ]

    results = with_comparisons(own, own.instead(against), evaluate, intervals, seed)
    if not given:
        _report(results, read[0])
    if strict:
        for result in results:
            refuse_unknown(result.data, result.total - result.covered, result.total, "tokens are")
    report_tally(tally)
    columns = {"word-column": word_column, "label-column": label_column, "pos-column": pos_column}
    parameters = {**results[0].parameters, **columns}
    print_evaluation("ner", parameters, inputs, started, results, as_json, details, summary)


def _check_options(method: str, output: str | None, test: Sequence[str]) -> None:
    if output and (method == "given" or len(test) > 1):
        raise click.UsageError("--output is for one TEST, and not for --method given")
    if output:
        options.not_standard_output(output, "the tags")
    context = click.get_current_context()
    of_crf = (
        "clusters",
        "vectors",
        "decoded",
        "prefixes",
        "unlexicalized",
        "unknown",
        "ignore_case",
        "restrict_vocab",
        "mmap",
        "against",
        "window",
        "lam",
    )
    meaningless = {("method", "given"): of_crf, ("method", "baseline"): of_crf}
    options.warn_meaningless(meaningless, context.params, options.given_by_user(context))


def _describe(data: Tagged, scheme: str) -> None:
    """What was read, before the work."""
    from wordkit.formats.entity_tags import scheme_of

    found = scheme_of(data.tags)
    pos = "parts of speech" if data.pos is not None else "no parts of speech: capitalization only"
    tags = len({tag for own in data.tags for tag in own})
    message(f"{data.name}: {len(data.words)} sentences, {data.n_tokens} tokens, {tags} tags ({found}), {pos}")
    if data.marks:
        message(f"{data.name}: {data.marks} -DOCSTART- lines left out")
    if scheme == "iob2" and found != "IOB2":
        message(
            f"warning: {data.name}: tags are {found}; with --scheme iob2 an I- without its B- is no entity"
        )


def _fitted(tagger: EntityTagger, train: TaggedData) -> EntityTagger:
    monitor = ProgressMonitor("evaluate ner")
    try:
        tagger.fit(train, monitor)
    finally:
        monitor.close()
    message(f"{tagger.n_features} weights, {tagger.iterations} iterations")
    if not tagger.converged:
        message("warning: the training did not converge")
    return tagger


def _report(results: Sequence[Any], train: Tagged) -> None:
    known = {tag.partition("-")[2] for tags in train.tags for tag in tags}
    for result in results:
        message(f"{result.data}: {result.covered} of {result.total} tokens known")
        new = [
            name
            for name, scores in result.details["per_type"].items()
            if scores["gold"] and name not in known
        ]
        if new:
            message(f"{result.data}: types that the training data lack: {some_words(new)}")


def _write(
    path: str, tagged: Tagged, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> None:
    from wordkit.formats.opening import open_output

    with open_output(path) as out:
        for rows in zip(tagged.words, gold, predicted, strict=True):
            lines = "".join(f"{word} {tag} {guess}\n" for word, tag, guess in zip(*rows, strict=True))
            out.write(f"{lines}\n".encode())
