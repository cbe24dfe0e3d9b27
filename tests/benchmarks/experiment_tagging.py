"""Named entities and supersenses with word representations: the shapes of Tables 4.1 to 4.6 and Figures 4.1 and 4.2
of Grave's thesis.

    experiment_tagging.py --data FOLDER --output results/tagging

Brown clusters and hidden Markov chains (random and Brown start) of FOLDER/text/mixed.txt.gz, tried on wikigold, WNUT
2017 (CRF trained on the training part, scored on the dev part) and STREUSLE's dev (five-fold cross-validation), words
being features or not; chains beside trees, of the GUM treebank, on STREUSLE, whose trees are given. MUC-7 and SemCor
are not at hand: shapes, not values. Everything is done by commands as users call them; models, decoded files and scores stay
in the output folder, and a run that is called again goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads of BLAS only get in each other's way on small matrices

from wordkit.cli import run
from wordkit.formats.opening import open_output
from wordkit.plotting.figure import new_figure, save_figure

TEXT = "text/mixed.txt.gz"
TREEBANK = "ud/gum-train.conllu.gz"
ENTITIES = {name: (f"ner/{name}.train.conll", f"ner/{name}.dev.conll") for name in ("wikigold", "wnut17")}
SENSES = "supersense/streusle.ud_dev.conllulex"
SETS = ("streusle", *ENTITIES)
REPRESENTATIONS = ("viterbi", "posterior-type", "posterior-token", "both")
COLUMNS = (
    "data", "text", "structure", "states", "init", "representation", "setting", "precision", "recall", "f1", "accuracy",
    "noun", "verb", "baseline", "covered",
)  # fmt: skip


class Runs:
    """Commands whose outputs are kept in a folder."""

    def __init__(self, data: Path, folder: Path, epochs: int, min_count: int) -> None:
        self.data, self.folder = data, folder
        self.epochs, self.min_count = epochs, min_count

    def wordkit(self, *arguments: object) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = run(["-q", *map(str, arguments)])
        if code:
            raise SystemExit(code)
        return out.getvalue()

    def made(self, name: str, *arguments: object) -> Path:
        """The file ``name``, made by a command that takes ``-o`` unless it is there."""
        path = self.folder / name
        if not path.exists():
            self.wordkit(*arguments, "-o", path)
        return path

    def clusters(self, text: str, structure: str, states: int) -> Path:
        reading = (
            "--structure",
            structure,
            "--clusters",
            states,
            "--algorithm",
            "exchange",
            "--min-count",
            self.min_count,
        )
        return self.made(f"{Path(text).stem}.{structure}.{states}.paths", "brown", self.data / text, *reading)

    def model(self, text: str, structure: str, states: int, init: str) -> Path:
        start: tuple[object, ...] = ("--init", init)
        if init == "brown":
            start = ("--clusters", self.clusters(text, structure, states))
        options = (
            "--structure",
            structure,
            "--states",
            states,
            "--epochs",
            self.epochs,
            "--min-count",
            self.min_count,
        )
        name = f"{Path(text).stem}.{structure}.{states}.{init}.model"
        return self.made(name, "train-hmtm", self.data / text, *options, *start)

    def decoded(self, model: Path, data: str, representation: str) -> Path:
        form = "columns" if data.startswith("ner/") else "conllulex"
        options = ("--input-format", form, "--format", "tsv", "--representation", representation)
        return self.made(
            f"{model.stem}.{representation}.{Path(data).stem}", "decode", model, self.data / data, *options
        )

    def score(self, task: str, files: Sequence[str], *options: object) -> dict[str, Any]:
        arguments = [
            "evaluate",
            task,
            *(str(self.data / file) for file in files),
            "--json",
            *map(str, options),
        ]
        path = self.folder / f"{hashlib.sha256(' '.join(arguments).encode()).hexdigest()[:16]}.json"
        if not path.exists():
            text = self.wordkit(*arguments)
            with open_output(path) as out:
                out.write(text.encode())
        return json.loads(path.read_text(encoding="utf-8"))


def _row(found: dict[str, Any], **what: object) -> dict[str, str]:
    numbers = {name: found.get(name) for name in ("precision", "recall", "f1", "accuracy")}
    numbers |= {"noun": found.get("noun_accuracy"), "verb": found.get("verb_accuracy")}
    numbers["baseline"] = found.get("baseline_f1", found.get("baseline_accuracy"))
    numbers["covered"] = found["covered"] / found["total"]
    texts = {name: "" if value is None else f"{100 * value:.1f}" for name, value in numbers.items()}
    return {name: str(what.get(name, texts.get(name, ""))) for name in COLUMNS}


def rows(
    runs: Runs, states: Sequence[int], treebank_states: int, sets: Sequence[str] = SETS
) -> Iterator[dict[str, str]]:
    """A line a score."""
    tasks: list[tuple[str, str, tuple[str, ...]]] = [("supersense", "streusle", (SENSES,))]
    tasks += [("ner", name, files) for name, files in ENTITIES.items()]
    for task, name, files in tasks:
        if name not in sets:
            continue
        yield _row(runs.score(task, files), data=name, representation="none", setting="lexicalized")
        if task == "ner":
            yield _row(
                runs.score(task, files, "--unlexicalized"),
                data=name,
                representation="none",
                setting="unlexicalized",
            )
        models = [(TEXT, "chain", count, init) for count in states for init in ("random", "brown")]
        if task == "supersense":
            models += [(TREEBANK, structure, treebank_states, "brown") for structure in ("chain", "tree")]
        for setting in ("unlexicalized", "lexicalized"):
            for text, structure, count, init in models:
                what = {
                    "data": name,
                    "text": Path(text).name.split(".")[0],
                    "structure": structure,
                    "states": count,
                }
                option = ("--unlexicalized",) if setting == "unlexicalized" else ()
                if init == "brown":
                    paths = runs.clusters(text, structure, count)
                    found = runs.score(task, files, "--clusters", paths, *option)
                    yield _row(found, **what, init="", representation="brown", setting=setting)
                model = runs.model(text, structure, count, init)
                # All representations at the largest size (Tables 4.1, 4.4 and 4.6), the best one at the others (the figures).
                whole = init == "brown" and (count == max(states) or text == TREEBANK)
                for representation in REPRESENTATIONS if whole else ("both",):
                    files_in = [runs.decoded(model, file, representation) for file in files]
                    given = [part for file in files_in for part in ("--decoded", file)]
                    found = runs.score(task, files, *given, *option)
                    yield _row(found, **what, init=init, representation=representation, setting=setting)


def draw(table: Sequence[dict[str, str]], path: Path) -> None:
    """Figures 4.1 and 4.2: scores against states, dashed for a random start, solid for a Brown start."""
    names = list(dict.fromkeys(row["data"] for row in table))
    figure, axes = new_figure(4 * len(names), 4, len(names))
    for own, name in zip(axes, names, strict=True):
        score = "accuracy" if name == "streusle" else "f1"
        lines: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
        for row in table:
            if row["data"] == name and row["text"] == "mixed" and row["representation"] in ("brown", "both"):
                key = row["representation"], row["setting"], row["init"]
                lines.setdefault(key, []).append((int(row["states"]), float(row[score])))
        for (representation, setting, init), points in lines.items():
            own.plot(
                *zip(*sorted(points), strict=True),
                "--" if init == "random" else "-",
                color="tab:blue" if representation == "brown" else "tab:red",
                marker="o" if setting == "lexicalized" else "s",
                label=f"{'Brown clusters' if representation == 'brown' else f'HMM, {init} start'}, {setting}",
            )
        own.set(title=name, xlabel="states", ylabel=score)
    axes[0].legend(fontsize="x-small")
    save_figure(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--states", type=int, nargs="+", default=[64, 128])
    parser.add_argument("--treebank-states", type=int, default=64)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, help="only rows of these")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--min-count", type=int, default=3)
    given = parser.parse_args(arguments)
    folder = Path(given.output)
    folder.mkdir(parents=True, exist_ok=True)
    table = []
    print("\t".join(COLUMNS), flush=True)
    runs = Runs(Path(given.data), folder, given.epochs, given.min_count)
    for row in rows(runs, given.states, given.treebank_states, given.sets):
        table.append(row)
        print("\t".join(row.values()), flush=True)
        with open_output(folder / "tagging.tsv") as out:
            out.write(
                "".join(
                    "\t".join(line) + "\n" for line in (COLUMNS, *(each.values() for each in table))
                ).encode()
            )
    draw(table, folder / "tagging.png")


if __name__ == "__main__":
    main()
