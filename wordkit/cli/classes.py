"""``wordkit classes``: what the classes of a model hold."""

from __future__ import annotations

from typing import Any

import click

from wordkit.cli import options
from wordkit.cli.report import print_json, print_lines
from wordkit.errors import WordkitError


@options.command("classes", example="wordkit classes trees.model --top 5 --transitions")
@options.input_argument("model")
@click.option("--top", type=options.count, default=10, help="Words a class.")
@click.option(
    "--transitions",
    is_flag=True,
    help="Also the five classes that most probably follow each, by their words.",
)
@click.option(
    "--word", metavar="W", help="Only the classes that hold this word, by their share of its tokens."
)
@click.option(
    "--min-share",
    type=options.share,
    default=0.01,
    help="Least share of the word's tokens, with --word.",
)
@options.json_option
def command(
    model: str, top: int, transitions: bool, word: str | None, min_share: float, as_json: bool
) -> None:
    """List the classes of a model of train-hmtm with their most probable words, the largest class first.

    Columns: class, its share of all tokens (with --word, of the word's tokens), words. With --transitions, a line for each of the
    most probable classes of a word's children (on chains, of the next word): class, `>` and the label if there are any, the
    other class, probability, its words.
    """
    from wordkit.models.class_table import ClassTable
    from wordkit.models.tree_model import TreeModel

    loaded = TreeModel.load(model)
    table = ClassTable(loaded.model, top)
    if word is None:
        listed = table.by_share()
    else:
        if loaded.reading["lowercase"]:
            word = word.lower()
        if word not in loaded.model.vocabulary_.index:
            token = loaded.reading["token"]
            hint = "" if token == "form" else f": its words are {token}s"
            raise WordkitError(f"{model}: does not know the word `{word}`{hint}")
        listed = table.of_word(word, min_share)
    rows = [
        {
            "class": number,
            "share": share,
            "words": table.words(number),
            **_followers(table, number, transitions),
        }
        for number, share in listed
    ]
    if as_json:
        print_json({"command": "classes", "signature": loaded.header["signature"], "classes": rows})
        return
    for row in rows:
        print_lines([f"{row['class']}\t{row['share']:.4g}\t{' '.join(row['words'])}"])
        for next_ in row.get("transitions", ()):
            label = f">{next_['label']}" if "label" in next_ else ">"
            words = " ".join(next_["words"])
            print_lines([f"{row['class']}\t{label}\t{next_['class']}\t{next_['probability']:.4g}\t{words}"])


def _followers(table: Any, number: int, wanted: bool) -> dict[str, Any]:
    return {"transitions": table.followers(number)} if wanted else {}
