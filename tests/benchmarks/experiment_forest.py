"""Hierarchical sparse coding on a real text: Tables 1, 2 and 4, Figures 2 to 4 of Yogatama et al. 2015, and why they differ.

    experiment_forest.py --data FOLDER --output results/forest [--parts table1 large why sgd time figures]

The texts mixed and brown of FOLDER/text (5.2 million tokens) are counted once in a window of 5, lower-cased, words under 10
occurrences as one; then each row is what these commands do:

    wordkit cooccur TEXT... -o counts.npz --lowercase
    wordkit sparse-code counts.npz -o vectors --dim M --algorithm ... --regularizer ...
    wordkit evaluate similarity vectors MEN SIMLEX WS353
    wordkit evaluate analogy vectors QUESTIONS
    wordkit evaluate sentences vectors TRAIN DEV TEST

Rows go to rows.tsv: Spearman's correlation with three sets of word pairs, accuracy on analogies and on sentence polarity, share
of the codes that are not zero, error on held-out words (sgd: cells), processor seconds of the vectors. Rows that are there are
not made again. The tables are printed and written to tables.md. With --peer-python, gensim's CBOW and skip-gram on the same text
stand beside them, where it is installed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks.experiment_forest_figures import figures
from tests.benchmarks.forest_rows import Rows
from wordkit.formats.counts import read_counts
from wordkit.formats.forest import write_forest
from wordkit.formats.vectors import read_vectors
from wordkit.models import pmi
from wordkit.models.forest_sgd import ForestSgd
from wordkit.models.forests import forest_of_shape

PARTS = ("table1", "large", "why", "sgd", "time", "figures")
TREE = 13  # nodes
# Columns of Table 1 in its order: options of sparse-code, or whether gensim's is skip-gram. NNSE has positive PMI, as its paper.
METHODS: dict[str, tuple[str, ...] | bool] = {
    "PCA^1": ("--algorithm", "svd", "--power", "1"),
    "PCA^1/2": ("--algorithm", "svd", "--power", "0.5"),
    "PCA^0": ("--algorithm", "svd", "--power", "0"),
    "CBOW": False,
    "SG": True,
    "NNSE": ("--regularizer", "l1", "--nonnegative", "--weighting", "ppmi"),
    "SC": ("--regularizer", "l1"),
    "FOREST": (),
    "binary": ("--forest", "BINARY"),
}
# At the least M. Another lambda is another scale of PMI: s x with s a has the penalty of lambda / s.
WHY: dict[str, tuple[str, ...] | tuple[str, float]] = {
    "FOREST, axes^1/2": ("FOREST", 0.5),
    "FOREST, axes^0": ("FOREST", 0.0),
    "SC, axes^0": ("SC", 0.0),
    "FOREST, seed 2": ("--seed", "2"),
    "SC, seed 2": ("--regularizer", "l1", "--seed", "2"),
    "no penalty": ("--regularizer", "none"),
    "FOREST, lam 0.3": ("--lam", "0.3"),
    "FOREST, lam 1": ("--lam", "1"),
    "SC, lam 1": ("--regularizer", "l1", "--lam", "1"),
    "FOREST, positive PMI": ("--weighting", "ppmi"),
    "FOREST, sgd, non-zeros only": ("--algorithm", "sgd", "--zeros", "0"),
    "FOREST, sgd": ("--algorithm", "sgd"),
}
TASKS = (
    ("MEN", "men"), ("SimLex", "simlex"), ("WordSim", "ws353"), ("syntactic", "syntactic"), ("semantic", "semantic"),
    ("sentences", "sentences"), ("not zero", "density"), ("seconds", "seconds"),
)  # fmt: skip


def binary_forest(path: Path, dim: int) -> None:
    """Write a forest of binary trees with as many nodes as the others have: 1 + 2 + 4 + 6."""
    tree = np.array([-1, *((node - 1) // 2 for node in range(1, TREE))])
    write_forest(path, np.concatenate([np.where(tree < 0, -1, tree + at) for at in range(0, dim, TREE)]))


def make(rows: Rows, method: str, dim: int) -> None:
    """A row of Table 1."""
    options = METHODS[method]
    if isinstance(options, bool):
        rows.peer(method, dim, skip_gram=options)
        return
    if "BINARY" in options:
        path = rows.output / f"binary.{dim}.txt"
        binary_forest(path, dim)
        options = ("--forest", str(path))
    rows.coded(method, dim, options)


def explain(rows: Rows, dim: int) -> None:
    """The rows that say where the differences come from."""
    for method in ("FOREST", "SC"):
        make(rows, method, dim)
    for name, what in WHY.items():
        if isinstance(what[1], float):
            rows.rescaled(name, dim, what[0], what[1])
        else:
            rows.coded(name, dim, tuple(map(str, what)))


def times(rows: Rows, dims: Sequence[int]) -> Iterator[str]:
    """Lines of Table 4: an epoch of sgd on one thread, in processor time."""
    rows.count()
    matrix = pmi(read_counts(rows.counts)).T
    yield "| M | seconds an epoch | entries a second |\n|---|---|---|"
    for dim in dims:
        model = ForestSgd(matrix, forest_of_shape("3x3", dim=dim).parents, epochs=20)
        started = time.process_time()
        model.run_epoch()
        seconds = time.process_time() - started
        yield f"| {dim} | {seconds:.2f} | {model.sampling.nnz / seconds / 1e6:.2f} million |"


def tables(rows: Rows, dims: Sequence[int], large: int, least: int) -> Iterator[str]:
    """Markdown of what rows there are: Table 1 as the paper lays it out, the others a row a line."""
    for dim in [*dims, large]:
        there = [method for method in METHODS if (method, str(dim)) in rows.lines]
        if there:
            yield f"\n| M = {dim} | {' | '.join(there)} |\n|---|{'---|' * len(there)}"
        for task, column in TASKS if there else ():
            yield f"| {task} | {' | '.join(rows.lines[method, str(dim)][column] for method in there)} |"
    others = [key for key in rows.lines if key[0] not in METHODS]
    if others:
        yield f"\n| | M | {' | '.join(task for task, _ in TASKS)} |\n|---|---|{'---|' * len(TASKS)}"
    for key in [*((method, str(least)) for method in ("PCA^1", "PCA^0", "SC", "FOREST")), *others]:
        if others and key in rows.lines:
            yield f"| {key[0]} | {key[1]} | {' | '.join(rows.lines[key][column] for _, column in TASKS)} |"


def spaces(rows: Rows, dim: int) -> Iterator[str]:
    """Markdown of how evenly codes A = U S W' use their axes, and how many PCA has too: principal angles of cosine above 0.9."""
    methods = [
        name
        for name in ("PCA^1", *WHY, "SC", "FOREST")
        if rows.vectors(name, dim).exists() and "axes" not in name
    ]
    if "PCA^1" not in methods:
        return
    words, codes = read_vectors(rows.vectors("PCA^1", dim))
    theirs = np.linalg.svd(codes, full_matrices=False)[0]
    yield f"| M = {dim} | axes, (sum s^2)^2 / sum s^4 | shared with PCA |\n|---|---|---|"
    for method in methods:
        names, codes = read_vectors(rows.vectors(method, dim))
        if names == words:
            ours, values, _ = np.linalg.svd(codes.astype(np.float64), full_matrices=False)
            squares = values**2
            cosines = np.linalg.svd(theirs.T @ ours, compute_uv=False)
            yield f"| {method} | {squares.sum() ** 2 / np.sum(squares**2):.1f} | {np.count_nonzero(cosines > 0.9)} |"


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="folder of text, wordsim, analogy, sentence_polarity")
    parser.add_argument(
        "--output", default="results/forest", type=Path, help="folder of tables, vectors, figures"
    )
    parser.add_argument(
        "--texts", nargs="+", default=["mixed", "brown"], help="of FOLDER/text, without .txt.gz"
    )
    parser.add_argument("--min-count", type=int, default=10, help="rarer words are one")
    parser.add_argument("--dims", type=int, nargs="+", default=[52, 130], help="M of Table 1")
    parser.add_argument("--large", type=int, default=520, help="M of one more row: FOREST")
    parser.add_argument("--sgd-dim", type=int, default=260, help="M of the row of Table 2")
    parser.add_argument("--times", type=int, nargs="+", default=[52, 130, 260, 520], help="M of Table 4")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--peer-python", default="", help="an interpreter with gensim")
    given = parser.parse_args(arguments)
    given.data = Path(given.data)
    for name in given.texts:
        if not (given.data / "text" / f"{name}.txt.gz").is_file():
            parser.error(f"--data: there is no {given.data / 'text' / name}.txt.gz")
    for dim in [*given.dims, given.large, given.sgd_dim, *given.times]:
        if dim < TREE or dim % TREE:
            parser.error(f"M is {dim}, expected a multiple of {TREE}")
    return given


def main(arguments: list[str] | None = None) -> None:
    given = parse(arguments)
    rows = Rows(
        given.data, given.texts, given.output, min_count=given.min_count, peer_python=given.peer_python
    )
    least = min(given.dims)
    if "table1" in given.parts:
        for dim in given.dims:
            for method in METHODS:
                make(rows, method, dim)
    if "why" in given.parts:
        explain(rows, least)
    if "sgd" in given.parts:
        rows.coded("FOREST, sgd", given.sgd_dim, ("--algorithm", "sgd"))
    if "large" in given.parts:
        make(rows, "FOREST", given.large)
    lines = list(tables(rows, given.dims, given.large, least))
    if "why" in given.parts:
        lines += ["", *spaces(rows, least)]
    if "time" in given.parts:
        lines += ["", *times(rows, given.times)]
    if "figures" in given.parts:
        lines += ["", *figures(rows, least, given.large, max(given.dims))]
    text = "\n".join(lines).lstrip() + "\n"
    (given.output / "tables.md").write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
