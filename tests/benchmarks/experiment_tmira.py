"""Reranking 50-best parses with little data: the shape of Table 1, Figures 3 and 4 of Cao and Khudanpur (2014).

    experiment_tmira.py --data FOLDER --output results/tmira

FOLDER/nbest has the lists (nbest.train-1.gz, nbest.train-2.gz, nbest.dev.gz) and their counts. The last tenth of the training
lists is held out: it chooses C and the epoch. Each method learns from the first 1/16, 1/8, 1/4, 1/2 and all of the others; C is
chosen with the first seed, then the C chosen is trained with every seed. Features are all that the lists of the whole training
part have, as in the paper. What is reported is the f-score of the dev lists, mean and standard deviation over the seeds: what
`wordkit tmira ... --dev HELD --keep best` and `wordkit rerank` do.

Parts: ``printed`` is the paper's Table 1 (rival by the model's score, last weights); ``cost`` the same with the rival by score +
cost and averaged weights; ``ideas`` what else may help. Runs that are written already are not made again.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wordkit.evaluation.reranking import chosen_quality
from wordkit.formats.nbest import ListReader, iter_lists, read_lists
from wordkit.formats.nbest_counts import read_counts
from wordkit.models.nbest_corpus import ListCorpus, PackedLists, pack_lists
from wordkit.models.rerank_weights import score_all
from wordkit.models.rerankers import RERANKERS, TensorMira
from wordkit.models.tensor_shape import approximate_positions, mode_places, mode_sizes, singular_values
from wordkit.plotting.curves import CurvePoint, curves_figure
from wordkit.plotting.singular_values import singular_values_figure

TRAIN = ("nbest.train-1.gz", "nbest.train-2.gz")
THRESHOLDS = (1, 2, 5, 20)
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
TENSOR_C = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
VECTOR_C = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2)
COLUMNS = ("part", "method", "share", "C", "seed", "epoch", "heldout", "dev", "parameters", "seconds")
Method = tuple[str, dict[str, Any]]


class Data:
    """Packed lists and counts: what is learned from, what chooses, what is reported."""

    def __init__(self, folder: Path, *, standardize: bool = False) -> None:
        self.folder = folder
        self._scaled: Data | None = None
        self._thresholds: dict[tuple[float, int], Data] = {}
        corpus, reader = ListCorpus(), ListReader()
        for name in TRAIN:
            for piece in reader.pieces(folder / name):
                corpus.add(piece)
        self.table = corpus.choose(0, standardize=standardize)
        whole = corpus.pack(self.table)
        _, counts = read_counts(folder / "counts.train.gz", whole.candidate_qids())
        self.size = len(whole) - len(whole) // 10
        rows = whole.starts[self.size]
        self.train, self.train_counts = whole.part(0, self.size), counts[:rows]
        self.heldout, self.heldout_counts = whole.part(self.size, len(whole)), counts[rows:]
        self.dev, _ = pack_lists(iter_lists(folder / "nbest.dev.gz"), self.table)
        _, self.dev_counts = read_counts(folder / "counts.dev.gz", self.dev.candidate_qids())

    def scaled(self) -> Data:
        """The same with standardized features."""
        if self._scaled is None:
            self._scaled = Data(self.folder, standardize=True)
        return self._scaled

    def thresholded(self, share: float, count: int) -> Data:
        """The same with the features that vary in ``count`` of the lists learned from, or more, and no others."""
        if (share, count) not in self._thresholds:
            other, corpus = copy.copy(self), ListCorpus()
            lists = read_lists(*(self.folder / name for name in TRAIN))
            corpus.add(lists.part(0, max(1, int(self.size * share))))
            other.table = corpus.choose(count)
            other.train = corpus.pack(other.table)
            other.heldout, _ = pack_lists([lists.part(self.size, len(lists))], other.table)
            other.dev, _ = pack_lists(iter_lists(self.folder / "nbest.dev.gz"), other.table)
            self._thresholds[share, count] = other
        return self._thresholds[share, count]

    def first(self, share: float) -> tuple[PackedLists, np.ndarray]:
        lists = self.train.part(0, max(1, int(self.size * share)))
        return lists, self.train_counts[: len(lists.scores)]


def one_run(
    data: Data, method: Method, share: float, C: float | None, seed: int, epochs: int
) -> dict[str, Any]:
    """Train, choose the epoch on the held-out lists, measure on the dev lists."""
    algorithm, options = method
    data = data.scaled() if options.get("standardize") else data
    if count := options.get("min_feature_count"):
        data = data.thresholded(share, count)
    lists, _ = data.first(share)
    more = {} if C is None else {"C": C}
    started = time.process_time()
    model = RERANKERS[algorithm](**options, **more, seed=seed, epochs=epochs)
    model.fit_packed(lists, data.table, None, data.heldout, data.heldout_counts, curves=False)
    seconds = time.process_time() - started
    _, best = score_all(model.weights_, data.dev)
    _, dev = chosen_quality(data.dev.starts, data.dev.scores, data.dev_counts, best)
    heldout = max(record["dev_fscore"] for record in model.history_)
    return {
        "epoch": model.best_epoch_, "heldout": 100 * heldout, "dev": 100 * (dev or 0), "parameters": model.n_parameters_,
        "seconds": seconds,
    }  # fmt: skip


def table_methods(rival: str, average: bool) -> Iterator[tuple[str, Method, Sequence[float | None]]]:
    """The rows of Table 1."""
    yield "perceptron", ("perceptron", {}), (None,)
    yield "mira", ("mira", {"rival": rival, "average": average}), VECTOR_C
    for mapping in ("approximate", "sequential"):
        for rank in (1, 2, 3):
            for order in (2, 3, 4):
                options = {
                    "mapping": mapping,
                    "rank": rank,
                    "order": order,
                    "rival": rival,
                    "average": average,
                }
                yield f"{mapping} H={rank} D={order}", ("tmira", options), TENSOR_C


def ideas(features: int) -> Iterator[tuple[str, Method, Sequence[float | None]]]:
    """One change at a time to D = 2, H = 1 with the rival by cost and averaged weights."""
    *_, n2 = mode_sizes(features, 2)
    few = {share: max(1, n2 // share) for share in (4, 16)}
    many = {share: -(-features // size) for share, size in few.items()}
    thresholds = {f"features of {count} lists": {"min_feature_count": count} for count in THRESHOLDS}
    changes: dict[str, dict[str, Any]] = {
        "as it is": {},
        "no average": {"average": False},
        "average of modes": {"average_of": "modes"},
        "printed step": {"step": "printed"},
        "start at zero": {"start": "zero"},
        "start at zero, H=2": {"start": "zero", "rank": 2},
        "start at zero, H=3": {"start": "zero", "rank": 3},
        "standardized": {"standardize": True},
        "standardized, start at zero": {"standardize": True, "start": "zero"},
        "1 plain weight": {"plain": 1},
        "20 plain weights": {"plain": min(20, features)},
        "1000 plain weights": {"plain": min(1000, features)},
        "20 plain weights, start at zero": {"plain": 20, "start": "zero"},
        "first mode 1/16": {"modes": (few[16], many[16])},
        "first mode 1/4": {"modes": (few[4], many[4])},
        "first mode x 4": {"modes": (many[4], few[4])},
        "first mode x 16": {"modes": (many[16], few[16])},
        **thresholds,
    }
    for mapping in ("approximate", "sequential"):
        own = {"surrogate of 5 epochs": {"surrogate_epochs": 5}} if mapping == "approximate" else {}
        for name, change in {**changes, **own}.items():
            options = {"mapping": mapping, "rival": "cost", "average": True, **change}
            yield f"{mapping}, {name}", ("tmira", options), TENSOR_C
    yield "mira, as it is", ("mira", {"rival": "cost", "average": True}), VECTOR_C
    yield "mira, no average", ("mira", {"rival": "cost"}), VECTOR_C
    yield "mira, rival by the model", ("mira", {"average": True}), VECTOR_C
    for name, change in ({"standardized": {"standardize": True}} | thresholds).items():
        yield f"mira, {name}", ("mira", {"rival": "cost", "average": True, **change}), VECTOR_C


class Runs:
    """Results in a TSV file, each made once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[tuple[str, ...], dict[str, str]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines()[1:]:
                row = dict(zip(COLUMNS, line.split("\t"), strict=True))
                self.rows[self._key(row)] = row
        else:
            path.write_text("\t".join(COLUMNS) + "\n", encoding="utf-8")

    def _key(self, row: dict[str, str]) -> tuple[str, ...]:
        return tuple(row[name] for name in COLUMNS[:5])

    def get(self, fixed: dict[str, str], make: Any) -> dict[str, str]:
        key = self._key(fixed)
        if key not in self.rows:
            made = {name: f"{value:.6g}" for name, value in make().items()}
            self.rows[key] = {**fixed, **made}
            with self.path.open("a", encoding="utf-8") as out:
                out.write("\t".join(self.rows[key][name] for name in COLUMNS) + "\n")
        return self.rows[key]


def rows_of(
    part: str, methods: Any, data: Data, runs: Runs, shares: Sequence[float], seeds: int, epochs: int
) -> list[dict[str, Any]]:
    """For each method and share the C that is best on the held-out lists, and the f-scores of all seeds with it."""
    table = []
    for name, method, values in methods:
        for share in shares:

            def result(C: float | None, seed: int, name=name, method=method, share=share) -> dict[str, str]:
                fixed = {
                    "part": part, "method": name, "share": f"{share:.6g}", "C": "-" if C is None else f"{C:g}", "seed": str(seed),
                }  # fmt: skip
                return runs.get(fixed, lambda: one_run(data, method, share, C, seed, epochs))

            C = max(values, key=lambda C: float(result(C, 1)["heldout"]))
            own = [result(C, seed) for seed in range(1, seeds + 1)]
            dev, heldout = ([float(row[key]) for row in own] for key in ("dev", "heldout"))
            table.append({
                "method": name, "share": share, "C": C, "dev": np.mean(dev), "deviation": np.std(dev, ddof=int(seeds > 1)),
                "heldout": np.mean(heldout), "parameters": int(float(own[0]["parameters"])),
            })  # fmt: skip
            print(
                part,
                name,
                f"{share:.4f}",
                C,
                f"{np.mean(dev):.2f} +- {table[-1]['deviation']:.2f}",
                flush=True,
            )
    return table


def write_table(path: Path, table: list[dict[str, Any]], data: Data) -> None:
    """Markdown: a row a method, a column a share, dev f-score and its deviation; last the tensor that held-out lists choose."""
    zeros = np.zeros(len(data.dev), int)
    first, oracle = (
        100 * (chosen_quality(data.dev.starts, data.dev.scores, data.dev_counts, chosen)[1] or 0)
        for chosen in (zeros, data.dev.oracles)
    )
    shares = sorted({row["share"] for row in table})
    lines = [
        f"First candidates {first:.2f}, oracle {oracle:.2f}.",
        "",
        "| method | parameters | " + " | ".join(f"{int(data.size * share)} lists" for share in shares) + " |",
        "|---|---|" + "---|" * len(shares),
    ]
    for method in dict.fromkeys(row["method"] for row in table):
        own = {row["share"]: row for row in table if row["method"] == method}
        cells = [f"{own[s]['dev']:.2f} +- {own[s]['deviation']:.2f}" if s in own else "" for s in shares]
        smallest = min(row["parameters"] for row in own.values())
        lines.append(f"| {method} | {smallest} | " + " | ".join(cells) + " |")
    tensors = [row for row in table if "D=" in row["method"]]
    if tensors:
        chosen = [
            max((row for row in tensors if row["share"] == s), key=lambda row: row["heldout"]) for s in shares
        ]
        cells = [f"{row['dev']:.2f} +- {row['deviation']:.2f} ({row['method']})" for row in chosen]
        lines.append("| tmira, what the held-out lists choose | | " + " | ".join(cells) + " |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def figure_3(data: Data, output: Path, share: float, epochs: int) -> None:
    """f-scores on the training and the held-out lists after each epoch (D = 2, H = 2, approximate)."""
    lists, counts = data.first(share)
    how = {"rival": "cost", "epochs": epochs}
    models = {
        "tmira": TensorMira(rank=2, C=0.003, **how),
        "mira": RERANKERS["mira"](C=0.0003, **how),
        "perceptron": RERANKERS["perceptron"](average=False, epochs=epochs),
    }
    curves: dict[str, list[CurvePoint]] = {}
    lines = ["epoch\tmetric\tvalue\tseconds\tmethod"]
    for name, model in models.items():
        model.fit_packed(lists, data.table, counts, data.heldout, data.heldout_counts)
        for record in model.history_:
            for metric in ("train_fscore", "dev_fscore"):
                own = "heldout" if metric == "dev_fscore" else "train"
                point = CurvePoint(record["epoch"], "fscore", record[metric], 0.0)
                curves.setdefault(f"{name}, {own}", []).append(point)
                lines.append(f"{record['epoch']}\tfscore\t{record[metric]:.6g}\t0\t{name}, {own}")
    (output / "figure3.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    curves_figure(curves, "fscore", output / "figure3.png")


def figure_4(data: Data, output: Path, share: float) -> None:
    """The largest singular values of the surrogate, mapped to a matrix both ways."""
    lists, _ = data.first(share)
    model = TensorMira(epochs=1)
    model.fit_packed(lists, data.table, curves=False)
    modes = mode_sizes(len(data.table), 2)
    positions = {
        "approximate": approximate_positions(model.surrogate_, modes),
        "sequential": np.arange(len(data.table)),
    }
    values = {
        name: singular_values(model.surrogate_, mode_places(own, modes, name), modes)
        for name, own in positions.items()
    }
    (output / "figure4.json").write_text(
        json.dumps({k: v.tolist() for k, v in values.items()}), encoding="utf-8"
    )
    singular_values_figure(values, output / "figure4.png")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, help="its folder nbest has the lists")
    parser.add_argument("--output", default="results/tmira", type=Path)
    parser.add_argument("--parts", nargs="+", default=["figures", "printed", "cost", "ideas"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--methods", default="", help="a regular expression: only rows that it finds")
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True, exist_ok=True)
    data = Data(given.data / "nbest")
    runs = Runs(given.output / "runs.tsv")
    if "figures" in given.parts:
        figure_3(data, given.output, 1 / 4, given.epochs)
        figure_4(data, given.output, 1 / 2)
    parts = {
        "printed": (table_methods("model", False), given.shares),
        "cost": (table_methods("cost", True), given.shares),
        "ideas": (ideas(len(data.table)), [share for share in given.shares if share in (1 / 16, 1 / 4)]),
    }
    for part, (methods, shares) in parts.items():
        if part in given.parts and shares:
            methods = [row for row in methods if re.search(given.methods, row[0])]
            table = rows_of(part, methods, data, runs, shares, given.seeds, given.epochs)
            write_table(given.output / f"{part}.md", table, data)


if __name__ == "__main__":
    main()
