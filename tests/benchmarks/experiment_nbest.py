"""From a treebank to reranked trees: does reranking beat the parser's first choice?

    experiment_nbest.py --data FOLDER --output results/nbest

UD English GUM (FOLDER/ud: train, dev, test) and the Penn Treebank sample (FOLDER/ptb-dep: the last tenth of the training lists is
the development part). Rerankers are trained on the jack-knifed lists; epoch and settings are chosen on the development part, for
each algorithm by itself, and the test part is reranked with three seeds. Writes a TSV with heads right (%) of the parser, of each
reranker and of the best choices; lists and models are kept, so that a run that is called again goes on. On the command line:

    wordkit nbest TRAIN -o lists.gz --counts-out lists.counts --model-out parser
    wordkit tmira lists.gz -o model --algorithm perceptron --counts lists.counts --dev dev.gz --dev-counts dev.counts
    wordkit nbest TEST --model parser -o test.gz --counts-out test.counts
    wordkit rerank model test.gz --counts test.counts -o choices
    wordkit nbest TEST --model parser --choices choices --trees-out reranked.conllu
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wordkit.formats.conll import read_conll

TREEBANKS = {  # name: train, dev, test, options of nbest
    "Penn sample": ("ptb-dep/wsj-train.conll", None, "ptb-dep/wsj-test.conll", ()),
    "UD GUM": (
        "ud/gum-train.conllu.gz",
        "ud/gum-dev.conllu.gz",
        "ud/gum-test.conllu.gz",
        ("--tag-column", "xpos"),
    ),
}
SETTINGS: dict[str, list[tuple[str, ...]]] = {
    "averaged perceptron": [("--algorithm", "perceptron")],
    "MIRA": [
        ("--algorithm", "mira", "--average", "--rival", rival, "--C", C)
        for rival in ("model", "cost") for C in ("0.01", "0.001", "0.0001")
    ],
    "T-MIRA, D = 2": [
        ("--mapping", mapping, "--plain", "20", "--C", C)
        for mapping in ("approximate", "sequential") for C in ("0.01", "0.001")
    ],
}  # fmt: skip
SEEDS, EPOCHS = (1, 2, 3), "8"
COLUMNS = (
    "treebank",
    "reranker",
    "heads right",
    "standard deviation",
    "development",
    "parameters",
    "setting",
)


def wordkit(*arguments: Any) -> dict[str, Any]:
    """Run a command; its JSON result."""
    command = [sys.executable, "-m", "wordkit", "-q", *map(str, arguments), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def beside(stem: Path, name: str) -> Path:
    """STEM.name; stems may hold dots."""
    return stem.with_name(f"{stem.name}.{name}")


def split(lists: Path, counts: Path, stem: Path) -> None:
    """The first nine tenths of lists and counts as STEM.train..., the last tenth as STEM.dev..."""
    with gzip.open(lists, "rt") as lines:
        last = max(int(line.split(" ", 2)[1][4:]) for line in lines if not line.startswith("#"))
    for source, suffix, place in ((lists, "gz", 1), (counts, "counts", 0)):
        read = gzip.open if suffix == "gz" else open
        parts = {name: beside(stem, f"{name}.{suffix}") for name in ("train", "dev")}
        with (
            read(source, "rt") as lines,
            read(parts["train"], "wt") as train,
            read(parts["dev"], "wt") as dev,
        ):
            for line in lines:
                if not line.startswith("#"):
                    qid = int(line.split(" ", 2)[place].removeprefix("qid:"))
                    (train if qid <= last * 9 // 10 else dev).write(line)


def lists_of(name: str, data: Path, output: Path, more: tuple[str, ...]) -> dict[str, tuple[Path, Path]]:
    """Lists and counts of the parts of a treebank, made where they are not there yet."""
    train, dev, test, options = TREEBANKS[name]
    stem = output.with_name(f"{output.name}.{name.replace(' ', '-')}")
    parser, parts = beside(stem, "parser"), {}
    for part, path in (("all", train), ("dev", dev), ("test", test)):
        if path is None:
            continue
        lists, counts = parts[part] = beside(stem, f"{part}.gz"), beside(stem, f"{part}.counts")
        if not (lists.exists() and counts.exists()):
            how = ("--model-out", parser, *options, *more) if part == "all" else ("--model", parser)
            wordkit("nbest", data / path, *how, "-o", lists, "--counts-out", counts)
    if dev is None:
        split(*parts["all"], stem)
        for part in ("train", "dev"):
            parts[part] = beside(stem, f"{part}.gz"), beside(stem, f"{part}.counts")
    else:
        parts["train"] = parts["all"]
    return parts


def heads_right(gold: Path, parsed: Path) -> float:
    """Share of the words with the gold head, from the files themselves."""
    pairs = zip(read_conll(gold), read_conll(parsed), strict=True)
    right = [a == b for s, t in pairs for a, b in zip(s.heads, t.heads, strict=True)]
    return sum(right) / len(right)


def treebank(name: str, data: Path, output: Path, epochs: str, more: tuple[str, ...]) -> Iterator[list[str]]:
    """The rows of a treebank, each as soon as it is known."""
    parts = lists_of(name, data, output, more)
    stem = output.with_name(f"{output.name}.{name.replace(' ', '-')}")
    model, choices = beside(stem, "reranker"), beside(stem, "choices")
    shared = (
        "--counts",
        parts["train"][1],
        "--dev",
        parts["dev"][0],
        "--dev-counts",
        parts["dev"][1],
        "--epochs",
        epochs,
    )

    def train(setting: tuple[str, ...], seed: int) -> dict[str, Any]:
        return wordkit("tmira", parts["train"][0], "-o", model, *shared, *setting, "--seed", seed)

    def rerank() -> dict[str, Any]:
        return wordkit("rerank", model, parts["test"][0], "--counts", parts["test"][1], "-o", choices)

    first, best_choices = "", ""
    for algorithm, settings in SETTINGS.items():
        tried = [(train(setting, SEEDS[0])["dev_fscore"], setting) for setting in settings]
        development, best = max(tried, key=lambda pair: pair[0])
        found, parameters = [], 0
        for seed in SEEDS:
            parameters = train(best, seed)["parameters"]
            result = rerank()
            found.append(100 * result["fscore"])
        if not first:
            first, best_choices = (f"{100 * result[key]:.2f}" for key in ("first_fscore", "oracle_fscore"))
            yield [name, "the parser", first, "", "", "", ""]
        yield [name, algorithm, f"{statistics.mean(found):.2f}", f"{statistics.stdev(found):.2f}",
               f"{100 * development:.2f}", str(parameters), " ".join(best)]  # fmt: skip
        reranked, parser = beside(stem, "reranked.conllu"), beside(stem, "parser")
        wordkit(
            "nbest",
            data / TREEBANKS[name][2],
            "--model",
            parser,
            "--choices",
            choices,
            "--trees-out",
            reranked,
        )
        share = 100 * heads_right(data / TREEBANKS[name][2], reranked)
        if abs(share - found[-1]) > 1e-6:
            raise RuntimeError(f"{reranked} has {share} % of its heads right, its counts say {found[-1]}")
    yield [name, "best choices", best_choices, "", "", "", ""]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, help="folder with ptb-dep and ud")
    parser.add_argument("--output", required=True, type=Path, help="beginning of the names of all files")
    parser.add_argument("--epochs", default=EPOCHS, help="of the rerankers")
    parser.add_argument("--nbest", default="", help="more options of nbest, such as --n 10")
    parser.add_argument(
        "names", nargs="*", metavar="TREEBANK", help=f"some of {', '.join(TREEBANKS)}; all by default"
    )
    given = parser.parse_args(arguments)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    table = ["\t".join(COLUMNS)]
    for name in given.names or TREEBANKS:
        for row in treebank(name, given.data, given.output, given.epochs, tuple(given.nbest.split())):
            table.append("\t".join(row))
            print(table[-1], flush=True)
    beside(given.output, "tsv").write_text("\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
