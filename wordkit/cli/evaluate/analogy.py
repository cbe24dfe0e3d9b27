"""``wordkit evaluate analogy``."""

from __future__ import annotations

import time

import click

from wordkit.cli import options
from wordkit.cli.report import message, print_results, refuse_unknown, report_tally, some_words


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
@click.option(
    "--details", is_flag=True, help="Each section and unknown words as well (--json always has them)."
)
@options.policy_options
@options.threads_option
@options.json_option
def command(
    vec: str, questions: tuple[str, ...], method: str, output_vectors: str | None, unknown: str, ignore_case: bool,
    restrict_vocab: int | None, details: bool, skip_invalid: bool, strict: bool, threads: int, as_json: bool,
) -> None:  # fmt: skip
    """Accuracy of the vectors in VEC on analogies: a is to b as c is to d.

    Each QUESTIONS file has four words a line, in sections that begin with a line `: NAME`. The answer is the best of all words
    of VEC but a, b and c, of equal ones the first; it is right if it is d. semantic and syntactic: accuracy in the sections
    whose names begin otherwise, and with gram. covered: questions whose four words have a vector. n/a where there is
    nothing to score, and for log_likelihood (nats) without --output-vectors.
    """
    from wordkit.evaluation.analogy import analogy_result
    from wordkit.evaluation.known_vectors import read_all_vectors, warn_of_zero_vectors
    from wordkit.formats.opening import Input
    from wordkit.formats.questions import read_questions
    from wordkit.signature import signature
    from wordkit.tally import Tally

    options.one_standard_input(vec, output_vectors, *questions)
    started = time.monotonic()
    tally = Tally(skip_invalid=skip_invalid, strict=strict)
    sets, inputs, tables = [], [], []
    for path in questions:
        with Input(path, digest=True) as source:
            sets.append(read_questions(source, tally))
            inputs.append(source.record())
    for matrix in [vec] if output_vectors is None else [vec, output_vectors]:
        with Input(matrix, digest=True) as source:
            tables.append(
                read_all_vectors(source, ignore_case=ignore_case, restrict_vocab=restrict_vocab, tally=tally)
            )
            inputs.insert(len(tables) - 1, source.record())
    known, outputs = tables[0], tables[1] if output_vectors is not None else None
    words = dict.fromkeys(word for each in sets for four in each.words for word in four)
    warn_of_zero_vectors(known, words, tally, unknown == "lowercase")
    first = "the first " if restrict_vocab is not None else ""
    message(f"answers are looked for among {first}{len(known.vectors)} words of {known.name}")
    results = [
        analogy_result(
            each, known, data=path, method=method, unknown=unknown, outputs=outputs, threads=threads
        )
        for path, each in zip(questions, sets, strict=True)
    ]
    for result in results:
        used, missing = result.details["used"], result.details["unknown_words"]
        if not used:
            message(f"{result.data}: n/a (0 of {result.total} questions to score)")
        if missing:
            counts = f"{used} of {result.total} questions scored, {result.total - result.covered} have an unknown word"
            message(f"{result.data}: {counts} (--unknown {unknown}): {some_words(missing)}")
        if strict:
            refuse_unknown(
                result.data, result.total - result.covered, result.total, "questions have words that are"
            )
    report_tally(tally)
    parameters = {
        "method": method, "unknown": unknown, "ignore-case": ignore_case, "restrict-vocab": restrict_vocab,
        "outputs": outputs is not None,
    }  # fmt: skip
    run = signature("evaluate-analogy", parameters, inputs)
    print_results(
        "evaluate analogy", run, time.monotonic() - started, results, as_json=as_json, details=details
    )
