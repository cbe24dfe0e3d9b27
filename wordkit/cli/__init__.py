"""The command line: a lazy click group that turns every failure into one line and an exit code.

``wordkit.cli:main`` is the entry point. A command's module is imported only when the command runs or shows its help, and
NumPy only inside a command, so that ``wordkit --help`` is quick and BLAS can be told to use one thread before it loads.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import Any

import click

from wordkit import __version__
from wordkit.cli.streams import drop_output, say, set_up, was_interrupted
from wordkit.errors import Interrupted, WordkitError, one_line

COMPLETE_VARIABLE = "_WORDKIT_COMPLETE"

# group -> command -> module under wordkit.cli and one line of help
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Train": {
        "train-rpa": ("train_rpa", "Train a text classifier that learns its word vectors online."),
        "brown": ("brown", "Cluster words by their neighbours: Brown and exchange clustering."),
        "train-hmtm": (
            "train_hmtm",
            "Learn classes of words, and word vectors, from dependency trees or text.",
        ),
        "sparse-code": ("sparse_code", "Learn word vectors with exact zeros from co-occurrence counts."),
        "nbest": ("nbest", "Make lists of the best parses of sentences, for rerankers."),
        "trace-lasso": ("trace_lasso", "Select variables of a regression with correlated columns."),
        "dcme": ("dcme", "Learn word vectors, or a classifier of very many classes, by a full soft-max."),
        "tmira": ("tmira", "Learn to rerank n-best lists, with weights in a tensor or in a vector."),
    },
    "Apply": {
        "predict": ("predict", "Label documents, or predict numbers, with a trained model."),
        "decode": ("decode", "Write the classes of words in their sentences."),
        "rerank": ("rerank", "Choose candidates of n-best lists with a trained model."),
        "classes": ("classes", "List the classes of a model, their words and what follows them."),
        "neighbors": ("neighbors", "List the nearest words in a vector file."),
    },
    "Evaluate": {
        "evaluate": ("evaluate", "Score vectors and models on labelled data."),
        "plot": ("plot", "Draw figures from results."),
    },
    "Convert": {
        "cooccur": ("cooccur", "Count which words stand near each other in a text."),
        "vocab": ("vocab", "List the words of a text with their counts."),
        "convert": ("convert", "Convert between vector file formats."),
        "info": ("info", "Show what a model, vector or counts file holds."),
        "completion": ("completion", "Print the shell completion script."),
    },
}


class LazyGroup(click.Group):
    """Imports a command's module when it is asked for."""

    def __init__(
        self, *args: Any, package: str, commands_in: dict[str, dict[str, tuple[str, str]]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.package, self.commands_in = package, commands_in

    def list_commands(self, context: click.Context) -> list[str]:
        return [name for group in self.commands_in.values() for name in group]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        for group in self.commands_in.values():
            if name in group:
                return importlib.import_module(f"{self.package}.{group[name][0]}").command
        return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(context, args[0]) is None and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], self.list_commands(context), 1)
            hint = f" Did you mean {close[0]}?" if close else ""
            context.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for group, commands in self.commands_in.items():
            with formatter.section(group):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


@click.group(
    cls=LazyGroup,
    package="wordkit.cli",
    commands_in=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="\b\nExample:\n  wordkit train-rpa data_samples/questions.train.txt -o questions.model",
)
@click.option("-q", "--quiet", is_flag=True, help="Print results and errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Print more, and tracebacks of errors.")
@click.version_option(__version__, "--version", prog_name="wordkit", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context, quiet: bool, verbose: bool) -> None:
    """Learn and evaluate word representations with methods that published papers describe.

    Inputs are paths or - for standard input; .gz, .bz2, .xz and .zst are read and written by suffix. Results go to
    standard output or to --output, messages to standard error.
    """
    context.ensure_object(dict).update(quiet=quiet, verbose=verbose)


def _blas_on_one_thread() -> None:
    from wordkit.parallel import available_threads

    available_threads()  # remembers OMP_NUM_THREADS before it is changed
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ):
        os.environ[name] = "1"


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 success, 1 failure, 2 bad usage, 130 interrupted."""
    flags: dict[str, bool] = {}
    if instruction := os.environ.get(
        COMPLETE_VARIABLE
    ):  # the shell asks for completions of a half-typed line
        from click.shell_completion import shell_complete

        try:
            return shell_complete(cli, {}, "wordkit", COMPLETE_VARIABLE, instruction)
        except KeyError as error:  # not called by a completion script
            say(f"error: completion needs the variable {error}")
            return 2
    warnings.showwarning = _say_warning  # type: ignore[assignment]
    try:
        arguments = list(sys.argv[1:] if arguments is None else arguments)
        with cli.make_context("wordkit", arguments, obj=flags) as context:
            cli.invoke(context)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return 130
    except Interrupted as error:
        say(str(error))
        return 130
    except BrokenPipeError:
        drop_output()
        return 0
    except WordkitError as error:
        _traceback(flags)
        say(f"error: {error}")
        return 1
    except MemoryError:
        _traceback(flags)
        say("error: not enough memory")
        return 1
    except OSError as error:
        _traceback(flags)
        say(f"error: {error.filename or '<stdout>'}: {error.strerror or error}")
        return 1
    except Exception as error:
        if was_interrupted():
            say("interrupted")
            return 130
        _traceback(flags)
        say(
            f"error: {type(error).__name__}: {error} (this is a bug in wordkit: please report it with the output of --verbose)"
        )
        return 1


def _say_warning(said: Warning | str, *place: Any) -> None:
    """What the library warns of as one line, without the place in the code."""
    from wordkit.cli.report import message

    message(f"warning: {one_line(' '.join(str(said).split()))}")


def _traceback(flags: dict[str, bool]) -> None:
    if flags.get("verbose"):
        import traceback

        traceback.print_exc()


def main() -> None:
    """Entry point of the ``wordkit`` script."""
    set_up()
    _blas_on_one_thread()
    code = run()
    try:
        sys.stdout.flush()
    except OSError as error:
        drop_output()
        if code == 0 and not isinstance(error, BrokenPipeError):
            say(f"error: <stdout>: {error.strerror or error}")
            code = 1
    sys.exit(code)
