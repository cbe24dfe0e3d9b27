"""``wordkit completion``: the shell's completion script."""

from __future__ import annotations

import click

from wordkit.cli.options import command as wordkit_command


@wordkit_command("completion", example="wordkit completion bash > wordkit-completion.sh")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL, to be sourced at start-up.

    bash: eval "$(wordkit completion bash)" in .bashrc; zsh likewise in .zshrc; fish: wordkit completion fish | source.
    """
    from click.shell_completion import get_completion_class

    from wordkit.cli import COMPLETE_VARIABLE, cli

    completion = get_completion_class(shell)
    assert completion is not None  # click has these three
    # Class-level source: click's own bash check runs the shell, which a script file does not need.
    values = completion(cli, {}, "wordkit", COMPLETE_VARIABLE)
    click.echo(values.source_template % values.source_vars())
