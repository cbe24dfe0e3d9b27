"""Tables 3 and 4 of the RPA paper (Denis and Ralaivola 2017), the rows that need no downloaded vectors.

    experiment_rpa.py --data FOLDER --output results/rpa.tsv

Writes a TSV row by row, whole at each row, and the same as a Markdown table beside it (``.md``). Rows that are there already
are not computed again, so an interrupted run goes on where it stopped.

Protocol of the paper: case intact, words that occur more than once, 0-1 bags of words, documents of unit length, one binary
problem a class, C balanced over the classes; C, lambda and the number of epochs by 10-fold cross-validation on the training
part with the paper's grid. Table 1 counts words over training and test text together, so that is ``--vocabulary both``; no
label of the test part is looked at. The cross-validation is run once a row, with seed 1; the test part is then classified by
one model a seed, of which ``mean`` and ``std`` tell. Table 4 is one pass over the data, with a cross-validation of its own.
What runs by default takes about 50 minutes of one core.

Rows of table ``beyond`` have what wordkit offers beside the paper's method; their words are those of the training text, and
their parameters come from cross-validation too, over BEYOND_GRID. ``method`` is what `wordkit train-rpa` takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.formats.opening import open_output
from wordkit.models.cross_validation import stratified_folds
from wordkit.models.features import LabelledRows, TextFeatures
from wordkit.models.rpa import RPAClassifier
from wordkit.models.rpa_search import PAPER_GRID, search
from wordkit.parallel import available_threads, map_blocks
from wordkit.tally import Tally

FILES = {
    "trec": ("trec/train.txt", "trec/test.txt"),
    "comp": ("20news/comp.train.txt.gz", "20news/comp.test.txt.gz"),
    "sports": ("20news/sports.train.txt.gz", "20news/sports.test.txt.gz"),
    # Not in the paper, or less data than there: rows without a number to compare with.
    "sentence_polarity": ("sentence_polarity/train.txt", "sentence_polarity/test.txt"),
    "imdb-small": ("imdb-small/train.txt.gz", "imdb-small/dev.txt.gz"),
}
DIMS = (50, 100, 200)
# Accuracy (%) by table, data and method: one-hot, PA at 50/100/200, RPA at 50/100/200.
PAPER = {
    ("3", "trec"): (88.00, (56.80, 68.00, 70.00), (88.40, 88.20, 88.20)),
    ("3", "comp"): (87.26, (54.57, 62.03, 65.51), (87.13, 87.39, 87.64)),
    ("3", "sports"): (93.47, (63.07, 65.58, 71.11), (92.34, 93.22, 92.96)),
    ("4", "trec"): (85.80, (53.20, 61.20, 59.60), (83.60, 83.00, 83.40)),
    ("4", "comp"): (84.56, (56.76, 63.06, 64.86), (84.04, 84.17, 85.07)),
    ("4", "sports"): (90.58, (64.20, 65.58, 68.59), (90.08, 90.95, 90.95)),
}
EPOCHS = {"3": PAPER_GRID["epochs"], "4": (1,)}
# The paper's best lambda is at the end of its grid: this one goes on, and leaves out what is never best.
BEYOND_GRID = {"C": (0.1, 1.0, 10.0, 100.0), "lam": (1e-4, 1e-3, 1e-2), "epochs": (5, 10, 20)}
AVERAGE: dict[str, Any] = {"average": True}
EMBEDDING_FIRST: dict[str, Any] = {"update": "embedding-first"}
BEST: dict[str, Any] = {**EMBEDDING_FIRST, **AVERAGE}
PRINTED: dict[str, Any] = {"update": "printed"}
SHARED: dict[str, Any] = {"embedding": "shared"}
LOWERCASE: dict[str, Any] = {"lowercase": True}
ALL_WORDS: dict[str, Any] = {"min_count": 1}
BIGRAMS: dict[str, Any] = {"min_count": 1, "ngrams": 2}
ONE_HOT: dict[str, Any] = {"algorithm": "pa-onehot"}
# Parameters of the classifier and of its features; dim 50.
BEYOND: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({**ONE_HOT, **AVERAGE}, BIGRAMS),
    (BEST, BIGRAMS),
    ({**BEST, "class_weight": "none"}, BIGRAMS),
    ({**BEST, **SHARED}, BIGRAMS),
    ({**BEST, "concat_onehot": True}, BIGRAMS),
    (AVERAGE, BIGRAMS),
    ({**ONE_HOT, **AVERAGE}, ALL_WORDS),
    (BEST, ALL_WORDS),
    ({**BEST, **SHARED}, ALL_WORDS),
    ({**ONE_HOT, **AVERAGE}, {}),
    (BEST, {}),
    ({**BEST, **SHARED}, {}),
    ({**BEST, "concat_onehot": True}, {}),
    ({**BEST, "normalize": "input"}, {}),
    ({**BEST, "inner_iterations": 1}, {}),
    ({**AVERAGE, "update": "joint"}, {}),
    (AVERAGE, {}),
)
COLUMNS = (
    "dataset", "table", "vocabulary", "method", "dim", "folds", "seeds", "mean", "std", "paper", "difference",
    "C", "lam", "epochs", "cv_accuracy", "seconds",
)  # fmt: skip
KEY = COLUMNS[:7]


@dataclass(frozen=True)
class Row:
    """What one line of the result is about."""

    dataset: str
    table: str
    vocabulary: str
    parameters: Mapping[str, Any]
    text: Mapping[str, Any] = field(default_factory=dict)
    paper: float | None = None

    @property
    def method(self) -> str:
        named = {k: v for k, v in {**self.parameters, **self.text}.items() if k not in ("algorithm", "dim")}
        flags = [f"--{k.replace('_', '-')}" + ("" if v is True else f" {v}") for k, v in named.items()]
        return " ".join([self.parameters.get("algorithm", "rpa"), *flags])

    @property
    def dim(self) -> str:
        return str(self.parameters["dim"]) if "dim" in self.parameters else "-"

    @property
    def key(self) -> tuple[str, ...]:
        return self.dataset, self.table, self.vocabulary, self.method, self.dim

    @property
    def grid(self) -> Mapping[str, tuple[Any, ...]]:
        return BEYOND_GRID if self.table == "beyond" else {**PAPER_GRID, "epochs": EPOCHS[self.table]}


def paper_rows(dataset: str, vocabulary: str, dims: list[int], with_fixed: bool) -> Iterator[Row]:
    """Both tables' rows of one data set, and their like with departures: mean of the weights, embedding first, case folded."""
    for table in ("3", "4"):
        onehot, fixed, learned = PAPER.get((table, dataset), (None, (None,) * 3, (None,) * 3))
        for departure, text in (({}, {}), (AVERAGE, {}), ({}, LOWERCASE)):
            yield Row(dataset, table, vocabulary, {**ONE_HOT, **departure}, text, paper=onehot)
        for departure, text in (
            ({}, {}),
            (EMBEDDING_FIRST, {}),
            (EMBEDDING_FIRST, LOWERCASE),
            (BEST, {}),
            (AVERAGE, {}),
            (PRINTED, {}),
        ):
            for dim in dims[:1] if departure is PRINTED else dims:
                parameters = {"algorithm": "rpa", "dim": dim, **departure}
                yield Row(dataset, table, vocabulary, parameters, text, paper=learned[DIMS.index(dim)])
        for dim in dims if with_fixed else []:
            parameters = {"algorithm": "pa", "dim": dim}
            yield Row(dataset, table, vocabulary, parameters, paper=fixed[DIMS.index(dim)])


def rows_to_do(given: argparse.Namespace) -> Iterator[Row]:
    """The paper's rows of all data sets, then the others."""
    for dataset in given.datasets:
        yield from paper_rows(dataset, given.vocabulary, given.dims, with_fixed=given.rows != "quick")
    if given.rows == "all":
        for dataset in given.beyond:
            for parameters, text in BEYOND:
                dim = {} if parameters.get("algorithm") == "pa-onehot" else {"dim": DIMS[0]}
                yield Row(dataset, "beyond", "train", {**parameters, **dim}, text)


def read(folder: Path, row: Row) -> tuple[LabelledRows, LabelledRows]:
    """Training and test rows over the vocabulary that the row wants."""
    train, test = (str(folder / name) for name in FILES[row.dataset])
    features = TextFeatures(**row.text)
    fitted = features.read([train, test] if row.vocabulary == "both" else [train], Tally(), fit=True)
    return fitted if row.vocabulary == "train" else features.read([train], Tally()), features.read(
        [test], Tally()
    )


def measure(row: Row, folder: Path, folds: int, seeds: int, threads: int) -> dict[str, str]:
    """Choose the parameters by cross-validation, then test: the line's values by column."""
    started = time.monotonic()
    train, test = read(folder, row)
    fold = stratified_folds(train.labels, folds, seed=1)
    splits = [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(folds)]
    best = search(
        RPAClassifier(**row.parameters), train.rows, train.labels, splits, row.grid, threads=threads
    )[0]

    def accuracy(seed: int) -> float:
        model = RPAClassifier(**row.parameters, C=best.C, lam=best.lam, epochs=best.epochs, seed=seed)
        return 100 * model.fit(train.rows, train.labels).score(test.rows, test.labels)

    accuracies = map_blocks(accuracy, range(1, seeds + 1), threads)
    mean = float(np.mean(accuracies))
    values = (
        *row.key, folds, seeds, f"{mean:.2f}", f"{np.std(accuracies):.2f}",
        "-" if row.paper is None else f"{row.paper:.2f}", "-" if row.paper is None else f"{mean - row.paper:+.2f}",
        f"{best.C:g}", f"{best.lam:g}" if row.parameters.get("algorithm", "rpa") == "rpa" else "-", best.epochs,
        f"{100 * best.mean:.2f}", f"{time.monotonic() - started:.0f}",
    )  # fmt: skip
    return dict(zip(COLUMNS, map(str, values), strict=True))


def written(path: Path) -> list[dict[str, str]]:
    """Lines of an earlier run."""
    if not path.exists():
        return []
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    if header != "\t".join(COLUMNS):
        raise WordkitError(f"{path}: its columns are not those of this program; name another --output")
    return [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines]


def save(path: Path, lines: list[dict[str, str]]) -> None:
    """The TSV and its Markdown rendering, each whole or not at all."""
    table = [list(COLUMNS), *([line[name] for name in COLUMNS] for line in lines)]
    with open_output(path) as out:
        out.write("".join("\t".join(cells) + "\n" for cells in table).encode())
    table.insert(1, ["---"] * len(COLUMNS))
    with open_output(path.with_suffix(".md")) as out:
        out.write("".join("| " + " | ".join(cells) + " |\n" for cells in table).encode())


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--data", required=True, help="folder with trec/ and 20news/")
    parser.add_argument("--output", default="results/rpa.tsv", type=Path)
    parser.add_argument(
        "--datasets", default="trec,comp,sports", help=f"some of {','.join(FILES)}: %(default)s"
    )
    parser.add_argument(
        "--beyond", default="trec", help="data sets that get the rows beyond the paper: %(default)s"
    )
    parser.add_argument(
        "--rows",
        choices=["quick", "paper", "all"],
        default="all",
        help="without fixed vectors; the tables; more",
    )
    parser.add_argument("--dims", default=",".join(map(str, DIMS)), help="of the paper's rows: %(default)s")
    parser.add_argument("--vocabulary", choices=["both", "train"], default="both", help="of the paper's rows")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5, help="models a row, with the seeds 1, 2, ...")
    parser.add_argument("--threads", type=int, default=available_threads())
    given = parser.parse_args(arguments)
    for option in ("datasets", "beyond"):
        names = getattr(given, option).split(",")
        if unknown := [name for name in names if name not in FILES]:
            parser.error(f"--{option}: {', '.join(unknown)} is not among {', '.join(FILES)}")
        setattr(given, option, names)
    given.dims = [dim for dim in DIMS if str(dim) in given.dims.split(",")]
    if not given.data or not Path(given.data).is_dir():
        parser.error(f"--data: there is no folder `{given.data}`; with make, DATA=folder")
    given.data = Path(given.data)
    return given


def main(arguments: list[str] | None = None) -> None:
    given = parse(arguments)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    lines = written(given.output)
    done = {tuple(line[name] for name in KEY) for line in lines}
    print("\t".join(COLUMNS))
    for row in rows_to_do(given):
        if (*row.key, str(given.folds), str(given.seeds)) in done:
            continue
        lines.append(measure(row, given.data, given.folds, given.seeds, given.threads))
        save(given.output, lines)
        print("\t".join(lines[-1].values()), flush=True)


if __name__ == "__main__":
    main()
