"""Every evaluation of vectors, over what each method makes of the same text, in one table.

    experiment_evaluate.py --data FOLDER --output results/evaluate [--texts mixed brown] [--dim 104] [--peer-python PYTHON]

The texts, lower-cased, are one file, which these read (words under 10 occurrences left out):

    wordkit brown TEXT -o brown.paths --clusters 128 --algorithm exchange
    wordkit train-hmtm TEXT -o hmm.model --structure chain --clusters brown.paths --vectors-out HMM
    wordkit sparse-code TEXT -o FOREST --dim M
    wordkit sparse-code TEXT -o SVD --dim M --algorithm svd --power 0.5
    wordkit dcme TEXT -o DCME --task embedding --dim M        (where this wordkit has it)

and gensim's CBOW where --peer-python has gensim. Vectors are in one column of the table, which has the numbers of all ``wordkit
evaluate`` commands; posteriors of the HMM are compared by the Hellinger distance, all else by cosines. Clusters are no vectors:
they have numbers for entities and supersenses alone. Vectors and results stay in the output folder; a run that is called again
goes on. The table is printed and written to table.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.forest_rows import GENSIM, children_seconds, results
from wordkit.cli import cli
from wordkit.formats.opening import open_output

MIN_COUNT = "10"
METHODS = ("Brown clusters", "HMM", "FOREST", "SVD", "DCME", "CBOW")
_SECONDS = "processor seconds to learn"
_HELLINGER = ("--similarity", "hellinger")


class Evaluation(NamedTuple):
    """A call of ``wordkit evaluate``.

    Attributes:
        task, files: its name, and data in the folder. options: what is given to all.
        numbers: row of the table to the place of its number: data set (0: the first), key.
        measured: whether it has ``--similarity``. of_tokens: whether vectors go in as ``--vectors``, and clusters can.
    """

    task: str
    files: tuple[str, ...]
    numbers: dict[str, tuple[int, str]]
    options: tuple[str, ...] = ()
    measured: bool = False
    of_tokens: bool = False


_PAIRS = {
    "WS-353-ALL": "WordSim", "WS-353-SIM": "WordSim, similar", "WS-353-REL": "WordSim, related", "SIMLEX-999": "SimLex",
    "MEN-TR-3k": "MEN", "RW-STANFORD": "rare words",
}  # fmt: skip
_WIKIGOLD = ("ner/wikigold.train.conll", "ner/wikigold.dev.conll")
_STREUSLE = ("supersense/streusle.ud_dev.conllulex",)
_SENSES = {"nouns": (0, "noun_accuracy"), "verbs": (0, "verb_accuracy")}
EVALUATIONS = (
    Evaluation(
        "similarity",
        tuple(f"wordsim/EN-{name}.txt" for name in _PAIRS),
        {name: (i, "spearman") for i, name in enumerate(_PAIRS.values())},
        measured=True,
    ),
    Evaluation("analogy", ("analogy/questions-words.txt",), {
        "analogies, semantic": (0, "semantic"), "analogies, syntactic": (0, "syntactic")}),
    Evaluation("completion", ("msr-completion/dev.questions.csv",), {"completion": (0, "accuracy")}, measured=True),
    Evaluation("sentences", tuple(f"sentence_polarity/{part}.txt" for part in ("train", "dev", "test")), {
        "sentence polarity": (0, "accuracy")}),
    Evaluation(
        "categorization", tuple(f"categorization/{name}.tsv" for name in ("ap", "esslli2008-concrete-nouns", "esslli2008-verbs")),
        {"purity: AP": (0, "purity"), "nouns in 6 classes": (1, "purity"), "verbs in 9 classes": (4, "purity")}, measured=True,
    ),
    Evaluation("bless", ("bless/BLESS.txt",), {
        "BLESS, average precision": (0, "average_precision"), "median of coordinates": (0, "median_coord"),
        "of hypernyms": (0, "median_hyper")}, measured=True),
    Evaluation("composition", ("compositional/ELLDIS.txt",), {
        "verbs in context: verb": (0, "baseline"), "added": (0, "add"), "multiplied": (0, "mult")}, measured=True),
    Evaluation("supersense", _STREUSLE, {
        "supersenses": (0, "accuracy"), **_SENSES}, ("--unlexicalized",), of_tokens=True),
    Evaluation("supersense", _STREUSLE, {"supersenses with words": (0, "accuracy")}, of_tokens=True),
    Evaluation("ner", _WIKIGOLD, {"entities, F1": (0, "f1")}, ("--unlexicalized",), of_tokens=True),
    Evaluation("ner", _WIKIGOLD, {"with words": (0, "f1")}, of_tokens=True),
)  # fmt: skip


class Experiment:
    """Vectors and results in a folder.

    Args:
        data: folder of the data sets. output: where all goes. text: what is learned from; dim: of vectors.
        peer_python: an interpreter with gensim, or empty.
    """

    def __init__(
        self, data: Path, output: Path, *, dim: int, clusters: int, epochs: int, peer_python: str = ""
    ) -> None:
        self.data, self.output, self.text = data, output, output / "text.txt"
        self.dim, self.clusters, self.epochs, self.peer_python = (
            str(dim),
            str(clusters),
            str(epochs),
            peer_python,
        )

    def write_text(self, texts: Sequence[str]) -> None:
        """Write the text, lower-cased, unless it is there."""
        if not self.text.exists():
            self.output.mkdir(parents=True, exist_ok=True)
            with open_output(self.text) as out:
                for name in texts:
                    out.write(
                        gzip.decompress((self.data / "text" / f"{name}.txt.gz").read_bytes())
                        .decode()
                        .lower()
                        .encode()
                    )

    def vectors(self, method: str) -> Path:
        """Where the vectors or clusters of a method are."""
        return self.output / ("brown.paths" if method == "Brown clusters" else f"{method}.vec")

    def make(self, method: str) -> bool:
        """Learn what a method learns, unless it is there; False where that cannot be done here."""
        path = self.vectors(method)
        if path.exists():
            return True
        before = children_seconds()
        if not getattr(self, "_" + method.split()[0].lower())(path):
            return False
        self._keep(f"{method}.seconds", round(children_seconds() - before))
        return True

    def _brown(self, path: Path) -> bool:
        clustering = ("--clusters", self.clusters, "--algorithm", "exchange", "--min-count", MIN_COUNT)
        results("brown", self.text, "-o", path, *clustering)
        return True

    def _hmm(self, path: Path) -> bool:
        start = (
            "--structure",
            "chain",
            "--clusters",
            self.vectors("Brown clusters"),
            "--min-count",
            MIN_COUNT,
        )
        results(
            "train-hmtm", self.text, "-o", self.output / "hmm.model", "--epochs", self.epochs, *start, "--vectors-out", path
        )  # fmt: skip
        return True

    def _coded(self, path: Path, *options: str) -> bool:
        reading = ("--min-count", MIN_COUNT)
        results("sparse-code", self.text, "-o", path, *reading, "--dim", self.dim, "--threads", "1", *options)
        return True

    def _forest(self, path: Path) -> bool:
        return self._coded(path)

    def _svd(self, path: Path) -> bool:
        return self._coded(path, "--algorithm", "svd", "--power", "0.5")

    def _dcme(self, path: Path) -> bool:
        if "dcme" not in cli.list_commands(None):  # type: ignore[arg-type]
            print("DCME is left out: this wordkit has no such command", file=sys.stderr)
            return False
        options = (
            "--task",
            "embedding",
            "--dim",
            self.dim,
            "--epochs",
            self.epochs,
            "--min-count",
            MIN_COUNT,
        )
        results("dcme", self.text, "-o", path, *options, "--threads", "1")
        return True

    def _cbow(self, path: Path) -> bool:
        if not self.peer_python:
            return False
        command = [self.peer_python, "-c", GENSIM, str(self.text), self.dim, "0", MIN_COUNT, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"CBOW is left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return not done.returncode

    def _keep(self, name: str, value: Any) -> Any:
        with open_output(self.output / f"{name}.json") as out:
            out.write(json.dumps(value).encode())
        return value

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What was kept under a name, or is made now."""
        path = self.output / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else self._keep(name, make())

    def numbers(self, method: str, evaluations: Sequence[Evaluation]) -> dict[str, float | None]:
        """Row of the table to the method's number; None where it has none."""
        found: dict[str, float | None] = {}
        clusters = method == "Brown clusters"
        for evaluation in evaluations:
            if clusters and not evaluation.of_tokens:
                continue
            words = "" if "--unlexicalized" in evaluation.options or not evaluation.of_tokens else ".words"
            result = self._kept(
                f"{method}.{evaluation.task}{words}",
                lambda: self._evaluated(method, evaluation, clusters),  # noqa: B023
            )
            for name, (place, key) in evaluation.numbers.items():
                found[name] = result["results"][place].get(key) if "results" in result else result.get(key)
        return found

    def seconds(self, method: str) -> float | None:
        """Of the processor, to learn what a method learns."""
        return self._kept(f"{method}.seconds", lambda: None)

    def _evaluated(self, method: str, evaluation: Evaluation, clusters: bool) -> dict[str, Any]:
        files = [self.data / name for name in evaluation.files]
        given: list[str | Path] = [self.vectors(method), *files]
        if evaluation.of_tokens:
            given = [*files, "--clusters" if clusters else "--vectors", self.vectors(method)]
        options = list(evaluation.options)
        if method == "HMM" and evaluation.measured:
            options += _HELLINGER
        if evaluation.task == "completion":
            options += ["--answers", str(self.data / "msr-completion/dev.answers.csv")]
        return results("evaluate", evaluation.task, *given, *options, "--ignore-case")


def table(numbers: dict[str, dict[str, float | None]]) -> str:
    """Markdown: a line a number, a column a method."""
    lines = ["|  | " + " | ".join(numbers) + " |", "|---" * (len(numbers) + 1) + "|"]
    names = [*(name for evaluation in EVALUATIONS for name in evaluation.numbers), _SECONDS]
    for name in [name for name in names if any(name in each for each in numbers.values())]:
        values = [each.get(name) for each in numbers.values()]
        cells = [
            "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
            for value in values
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, help="folder of the texts and data sets")
    parser.add_argument("--output", default="results/evaluate", type=Path)
    parser.add_argument(
        "--texts", nargs="+", default=["mixed", "brown"], help="of FOLDER/text, without .txt.gz"
    )
    parser.add_argument(
        "--dim", type=int, default=104, help="of vectors; a multiple of 13, for FOREST's trees"
    )
    parser.add_argument("--clusters", type=int, default=128, help="Brown clusters, and states of the HMM")
    parser.add_argument("--epochs", type=int, default=2, help="of the HMM and of DCME")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--peer-python", default="", help="an interpreter with gensim")
    given = parser.parse_args(arguments)
    needed = [f"text/{name}.txt.gz" for name in given.texts]
    needed += [name for evaluation in EVALUATIONS for name in evaluation.files]
    for name in needed:
        if not (given.data / name).is_file():
            parser.error(f"--data: there is no {given.data / name}")
    if given.dim % 13:
        parser.error(f"--dim is {given.dim}, expected a multiple of 13")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the peer
    experiment = Experiment(
        given.data, given.output, dim=given.dim, clusters=given.clusters, epochs=given.epochs, peer_python=given.peer_python
    )  # fmt: skip
    experiment.write_text(given.texts)
    experiment.make("Brown clusters")  # the HMM begins with them
    made = [method for method in given.methods if experiment.make(method)]
    numbers = {method: {_SECONDS: experiment.seconds(method)} for method in made}
    of_vectors = [each for each in EVALUATIONS if not each.of_tokens]
    for evaluations in (
        of_vectors,
        *([each] for each in EVALUATIONS if each.of_tokens),
    ):  # the slow ones last
        for method in made:
            numbers[method] |= experiment.numbers(method, evaluations)
            with open_output(given.output / "table.md") as out:
                out.write(table(numbers).encode())
    print(table(numbers), end="")


if __name__ == "__main__":
    main()
