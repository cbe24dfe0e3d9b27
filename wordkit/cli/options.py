"""Options that several commands share, each written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def command(name: str, *, example: str) -> Decorator:
    """A click command whose help ends with a runnable example on ``data_samples/``."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for flag, text in (
            ("verbose", "Print more, and tracebacks of errors."),
            ("quiet", "Print results and errors only."),
        ):
            function = click.option(
                f"-{flag[0]}", f"--{flag}", is_flag=True, expose_value=False, callback=_set_flag, help=text
            )(function)
        return click.command(
            name,
            epilog=f"\b\nExample:\n  {example}",
            context_settings={
                "help_option_names": ["-h", "--help"],
                "show_default": True,
                "max_content_width": 110,
            },
        )(function)

    return decorate


def _set_flag(context: click.Context, option: click.Parameter, value: bool) -> None:
    """``-q`` and ``-v`` behind the command mean what they mean before it."""
    if value:
        context.find_root().ensure_object(dict)[option.name] = True


def input_argument(name: str = "input", *, many: bool = False, required: bool = True) -> Decorator:
    """A path or ``-``; a missing file is told by the reader, which names it."""
    return click.argument(
        name,
        type=click.Path(allow_dash=True),
        nargs=-1 if many else 1,
        required=required,
        metavar=name.upper() + ("..." if many else ""),
    )


def output_option(help: str, *, default: str | None = None) -> Decorator:
    """``-o``, which must be given where it has no default."""
    kind = click.Path(allow_dash=True)
    if default is None:  # newer versions of click take a default of None for a value that is there
        return click.option("-o", "--output", type=kind, required=True, help=help)
    return click.option("-o", "--output", type=kind, default=default, help=help)


_PATH = click.Path(allow_dash=True)  # one object: options of one name have one type


def path_option(*names: str, help: str, metavar: str = "FILE") -> Decorator:
    return click.option(*names, type=_PATH, metavar=metavar, help=help)


class _Positive(click.FloatRange):
    """A finite number within a range."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        number = super().convert(value, param, context)
        if number - number != 0:  # nan and inf
            self.fail(f"{value} is not a finite number", param, context)
        return number


class _Finite(click.types.FloatParamType):
    """A number, nan and infinities refused."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        number = super().convert(value, param, context)
        if number - number != 0:
            self.fail(f"{value} is not a finite number", param, context)
        return number


class _Bytes(click.ParamType):
    """A number of bytes: digits, and K, M, G or T for 2^10, 2^20, 2^30 or 2^40 of them."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        text = value.strip().upper().removesuffix("B").removesuffix("I")
        number, power = (text[:-1], "KMGT".find(text[-1]) + 1) if text[-1:] in tuple("KMGT") else (text, 0)
        if not (number.isascii() and number.isdecimal() and int(number[:18]) and len(number) <= 18):
            self.fail(
                f"{value!r} is no size; expected a whole number of bytes, or with K, M, G or T: 4G",
                param,
                context,
            )
        return int(number) << (10 * power)


memory_size = _Bytes()
finite = _Finite()
positive = _Positive(0, min_open=True)
not_negative = _Positive(0)
share = _Positive(0, 1)
part = _Positive(0, 1, max_open=True)  # a share that leaves something


def between(lowest: float, highest: float, *, max_open: bool = False) -> click.ParamType:
    """A finite number from one to the other, which with ``max_open`` it must not reach."""
    return _Positive(lowest, highest, max_open=max_open)


def up_to(highest: float) -> click.ParamType:
    """A number above zero, and at most this."""
    return _Positive(0, highest, min_open=True)


count = click.IntRange(1, 2**31 - 1)  # what fits the kernels' integers

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of TSV lines."
)

seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, help="Seed of everything random."
)


def _default_threads() -> int:
    from wordkit.parallel import available_threads

    return available_threads()


threads_option = click.option(
    "--threads",
    type=click.IntRange(1, 4096),
    default=_default_threads,
    show_default="the processors this process may use",
    help="Threads; results do not depend on it.",
)


def lock_free_threads_option(method: str) -> Decorator:
    """``--threads`` of a command one of whose methods updates without locks."""
    return click.option(
        "--threads",
        type=click.IntRange(1, 4096),
        default=_default_threads,
        show_default="the processors this process may use",
        help=f"Threads. Those of {method} do not wait for each other: only with one are its results the same again.",
    )


def policy_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--skip-invalid`` and ``--strict``: what to do with odd records."""
    function = click.option(
        "--strict",
        is_flag=True,
        help="Turn warnings (duplicate word, header count, unknown feature) into errors.",
    )(function)
    return click.option(
        "--skip-invalid", is_flag=True, help="Count and pass over bad records instead of stopping."
    )(function)


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Checkpoints and logs of long runs."""
    for option in (
        path_option("--log", help="Write a JSON line an epoch."),
        path_option("--resume", help="Go on from this checkpoint, to the same result as without the break."),
        path_option("--checkpoint", help="Write the state here after each epoch, and when interrupted."),
    ):
        function = option(function)
    return function


def _prefix(context: click.Context, option: click.Parameter, text: str) -> str:
    printable = (
        text.isascii() or text.encode("utf-8", "ignore").decode() == text
    )  # no bytes that were not UTF-8
    if not text or not printable or any(c in text for c in " \t\r\n"):
        raise click.BadParameter(f"{text!r}: expected some characters, and no space among them")
    return text


def labelled_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How labelled text is read."""
    for option in (
        click.option("--multi-label", type=click.Choice(["refuse", "first", "each"]), default="refuse",
                     help="Documents with several labels: an error, the first one, or one copy for each."),
        click.option("--label-prefix", default="__label__", callback=_prefix,
                     help="What a label begins with; it ends at the next space or tab."),
        click.option("--ngrams", type=click.IntRange(1, 8), default=1, help="Word n-grams up to this length as features."),
    ):  # fmt: skip
        function = option(function)
    return function


def structure_option(*choices: str) -> Decorator:
    """``--structure``; the first choice is the default."""
    return click.option(
        "--structure",
        type=click.Choice(choices),
        default=choices[0],
        help="A word's parent: its head in the dependency tree, or the word before.",
    )


mmap_option = click.option(
    "--mmap",
    is_flag=True,
    help="Map vectors into memory instead of reading them: pages are read as they are used, and shared by processes. For npz "
    "files of convert; their digest is then not in the signature.",
)


def lookup_options(unknown: str) -> Decorator:
    """How words are looked up among vectors; ``unknown``: help for what becomes of those that are not there."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            mmap_option,
            click.option("--restrict-vocab", type=count, metavar="N",
                         help="Use the first N rows of VEC only (their order matters)."),
            click.option("--ignore-case", is_flag=True,
                         help="Compare words in lower case; of words that become one the first in VEC counts."),
            click.option("--unknown", type=click.Choice(["skip", "zero", "mean", "lowercase"]), default="skip", help=unknown),
        ):  # fmt: skip
            function = option(function)
        return function

    return decorate


summary_option = click.option(
    "--summary", is_flag=True, help="Print one table: a line of names, then a line a data set."
)


def interval_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--summary`` and ``--intervals``."""
    function = seed_option(function)
    return summary_option(
        click.option(
            "--intervals",
            is_flag=True,
            help="95 % bootstrap intervals too, from 2,000 resamples of the items (of tokens, their sentences).",
        )(function)
    )


def against_options(metavar: str, help: str) -> Decorator:
    """``--summary``, ``--intervals`` and ``--against``; ``help``: what is compared with what, and how."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return interval_options(path_option("--against", metavar=metavar, help=help)(function))

    return decorate


comparison_options = against_options(
    "VEC2",
    "Evaluate these vectors too, and test whether they differ on the items that both score: exact McNemar test of right and "
    "wrong, permutation test of correlations.",
)


def tagged_word_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--word-form``: how the vectors write words with a part of speech."""
    return click.option(
        "--word-form", type=click.Choice(["auto", "plain", "short", "upos"]), default="auto",
        help="How VEC writes a noun: dog, dog-n or dog/NOUN; auto takes what finds the most words.",
    )(function)  # fmt: skip


def transition_option(help: str) -> Decorator:
    """``--transition``: the model whose transitions transform vectors of dependents."""
    return path_option("--transition", metavar="MODEL", help=help)


def similarity_option(*choices: str) -> Decorator:
    """``--similarity``, cosine by default."""
    return click.option(
        "--similarity", type=click.Choice(choices), default="cosine",
        help="Distances are taken with a minus, so that higher is nearer; from kl on for rows of probabilities.",
    )  # fmt: skip


SIMILARITIES = (
    "cosine",
    "dot",
    "euclidean",
    "kl",
    "chi-squared",
    "jensen-shannon",
    "hellinger",
    "bhattacharyya",
)


def token_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What of a CoNLL line is the word."""
    for option in (
        click.option("--format", "format", type=click.Choice(["auto", "text", "conll", "conllu", "conllx", "conllulex"]),
                     default="auto", help="Format of the input; auto goes by its first lines."),
        click.option("--lowercase", is_flag=True, help="Fold case."),
        click.option("--tag-column", type=click.Choice(["upos", "xpos"]), default="upos",
                     help="Column of the part of speech in lemma/pos."),
        click.option("--token", type=click.Choice(["form", "lemma", "lemma/pos"]), default="form",
                     help="What a word is, in CoNLL files."),
    ):  # fmt: skip
        function = option(function)
    return function


def projection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How messages between tokens are passed."""
    for option in (
        click.option("--epsilon", type=_Positive(0, 1, min_open=True, max_open=True), default=0.01,
                     help="Share of a message that ebest may lose."),
        click.option("--k", type=count, default=16, help="Classes that kbest keeps."),
        click.option("--projection", type=click.Choice(["kbest", "ebest", "exact"]), default="kbest",
                     help="Keep each token's k likeliest classes, the fewest that hold 1 - epsilon, or all."),
    ):  # fmt: skip
        function = option(function)
    return function


def given_by_user(context: click.Context) -> set[str]:
    """Names of the parameters that are on the command line."""
    line = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) is line}


def warn_meaningless(
    meaningless: Mapping[tuple[str, str], Sequence[str]], given: Mapping[str, Any], explicit: set[str]
) -> None:
    """Say which options have no effect.

    Args:
        meaningless: (option, value) and the options that it switches off.
        given: values of all options; explicit: names of those that the user gave.
    """
    from wordkit.cli.report import message

    for (option, value), others in meaningless.items():
        if given[option] == value:
            for name in sorted(explicit & set(others)):
                message(f"warning: --{name.replace('_', '-')} means nothing to --{option} {value}")


def one_standard_input(*paths: str | None) -> None:
    """Raise a usage error if standard input is named more than once."""
    if sum(path == "-" for path in paths) > 1:
        raise click.UsageError("standard input (-) can be only one of the inputs")


def check_outputs(*outputs: str | None, inputs: Sequence[str | None] = ()) -> None:
    """Check before the work that every output can be written, and that no two are one file, or one of the inputs."""
    from wordkit.formats.opening import check_output

    given = [path for path in outputs if path is not None]
    taken: set[str] = set()
    read = {file for _, file in _real_files([path for path in inputs if path not in (None, "-")])}
    for path, file in _real_files(given):
        if file in taken:
            raise click.UsageError(f"two outputs have the same path: {path}")
        if file in read:
            raise click.UsageError(f"an output has the path of an input, which it would replace: {path}")
        taken.add(file)
    for path in given:
        check_output(path)


def _real_files(paths: Sequence[str | None]) -> list[tuple[str, str]]:
    """Paths with the files behind them, present or to be made; devices and pipes, which several may share, are left out."""
    import os

    return [
        (path, os.path.realpath(path))
        for path in paths
        if path and (not os.path.exists(path) or os.path.isfile(path))
    ]


def not_standard_output(path: str | None, what: str) -> None:
    """Binary results do not go to a terminal or into a text pipe."""
    if path == "-":
        raise click.UsageError(f"{what} cannot be written to standard output")
