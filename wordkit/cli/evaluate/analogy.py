"""``wordkit evaluate analogy``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.evaluate.running import (
    print_evaluation,
    read_each,
    tell_unknown,
    with_comparisons,
)
from wordkit.cli.report import message, report_tally
from wordkit.evaluation.result import Result


@options.command(
    "analogy",
    example="wordkit evaluate analogy data_samples/vectors.txt data_samples/analogies.txt --details",
)
@options.input_argument("vec")
@options.input_argument("questions", many=True)
@click.option(
    "--method",
    type=click.Choice(["add", "mul"]),
    default="add",
    help="The best row v by cos(v, b) - cos(v, a) + cos(v, c); or by f(b) f(c) / (f(a) + 0.001), f = (1 + cosine) / 2.",
)
@options.path_option(
    "--output-vectors",
    metavar="VEC2",
    help="Output vectors of the same model: log-likelihood of d too, the softmax over all rows of VEC2 (the first N with "
    "--restrict-vocab) of their products with b - a + c.",
)
@options.lookup_options(
    "Questions with an unknown word: left out; scored with the zero vector or the mean of all vectors for a, b and c, an "
    "unknown d being wrong; or the word in lower case, and left out if that is unknown too."
)
@options.comparison_options
@options.path_option("--against-outputs", metavar="VEC3", help="Output vectors that go with --against.")
@click.option(
    "--details", is_flag=True, help="Each section and unknown words as well (--json always has them)."
)
@options.policy_options
@options.threads_option
@options.json_option
def command(
    vec: str, questions: tuple[str, ...], method: str, output_vectors: str | None, unknown: str, ignore_case: bool,
    restrict_vocab: int | None, mmap: bool, summary: bool, intervals: bool, against: str | None, seed: int,
    against_outputs: str | None, details: bool, skip_invalid: bool, strict: bool, threads: int, as_json: bool,
) -> None:  # fmt: skip
    """Accuracy of the vectors in VEC on analogies: a is to b as c is to d.

    Each QUESTIONS file has four words a line, in sections that begin with a line `: NAME`. The answer is the best of all words
    of VEC but a, b and c, of equal ones the first; it is right if it is d. semantic and syntactic: accuracy in the sections
    whose names begin otherwise, and with gram. covered: questions whose four words have a vector. n/a where there is
    nothing to score, and for log_likelihood (nats) without --output-vectors.
    """
    from wordkit.evaluation.analogy import analogy_result
    from wordkit.evaluation.known_vectors import KnownVectors, read_all_vectors, warn_of_zero_vectors
    from wordkit.formats.opening import Input
    from wordkit.formats.questions import read_questions
    from wordkit.tally import Tally

    if against_outputs is not None and (against is None or output_vectors is None):
        raise click.UsageError("--against-outputs goes with --against and --output-vectors")
    options.one_standard_input(vec, output_vectors, against, against_outputs, *questions)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    set_records: list = []
    vector_records: list = []
    sets = read_each(questions, read_questions, tally, set_records)
    words = dict.fromkeys(word for each in sets for four in each.words for word in four)

    def read(path: str) -> KnownVectors:
        with Input(path, digest=not mmap) as source:
            known = read_all_vectors(
                source, ignore_case=ignore_case, restrict_vocab=restrict_vocab, mapped=mmap, tally=tally
            )
            vector_records.append(source.record())
        return known

    def evaluate(path: str) -> list[Result]:
        matrix = against_outputs if vector_records else output_vectors
        known = read(path)
        outputs = None if matrix is None else read(matrix)
        warn_of_zero_vectors(known, words, tally, unknown == "lowercase")
        first = "the first " if restrict_vocab is not None else ""
        message(f"answers are looked for among {first}{len(known.vectors)} words of {known.name}")
        found = [
            analogy_result(
                each, known, data=data, method=method, unknown=unknown, outputs=outputs, threads=threads
            )
            for data, each in zip(questions, sets, strict=True)
        ]
        for result in found:
            if outputs is None:
                break
            scored, used = result.details["used"], result.details["log_likelihood_used"]
            if used < scored:
                message(
                    f"warning: {result.data}: {scored - used} of {scored} answers have no vector in {outputs.name}: "
                    f"log_likelihood is over the other {used}, among {len(outputs.vectors)} words"
                )
        return found

    results = with_comparisons(vec, against, evaluate, intervals, seed)
    tell_unknown(results, "questions", unknown, strict)
    report_tally(tally)
    parameters = {
        "method": method, "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "outputs": output_vectors is not None, "seed": seed if intervals or against else None,
    }  # fmt: skip
    count = 1 if output_vectors is None else 2
    records = [*vector_records[:count], *set_records, *vector_records[count:]]
    print_evaluation("analogy", parameters, records, started, results, as_json, details, summary)
