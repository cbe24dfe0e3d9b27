"""Speed of tmira: an epoch of each algorithm, sums of the same arrays, parsing beside scikit-learn.

Each time is the least of several, as nanoseconds an entry (a feature value of a candidate). With --data the real lists, else
made-up ones of the same shape.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import in_process, least_seconds, row
from wordkit.formats.nbest import ListReader, NbestLists, read_lists, write_lists
from wordkit.models.nbest_corpus import ListCorpus, PackedLists
from wordkit.models.rerank_weights import Layout, Learner, Steps, TensorLearner, VectorLearner
from wordkit.models.tensor_shape import mode_sizes

_SKLEARN = """
import sys, json, time
from sklearn.datasets import load_svmlight_file
best = 1e9
for _ in range(2):
    started = time.process_time()
    load_svmlight_file(sys.argv[1], dtype="float32", query_id=True)
    best = min(best, time.process_time() - started)
print(json.dumps({"seconds": best}))
"""


def made_up(lists: int, seed: int = 1) -> NbestLists:
    """50 candidates a list, 300 features a candidate, most of them shared with the list's others; 250,000 features in all."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(lists):
        own = np.unique((rng.random(1800) ** 3 * 250_000).astype(np.int32))
        rows += [np.sort(rng.choice(own, 300, replace=False)) for _ in range(50)]
    size = 300 * len(rows)
    return NbestLists(
        np.arange(lists), np.arange(lists + 1) * 50, rng.random(len(rows)).round(4), np.arange(len(rows) + 1) * 300,
        np.concatenate(rows), rng.integers(1, 4, size).astype(np.float32), np.arange(len(rows)),
    )  # fmt: skip


def epochs(packed: PackedLists, features: int, repeats: int) -> None:
    """An epoch of each, against a pass that sums the arrays and against MIRA."""
    entries, order = len(packed.values), np.arange(len(packed))
    unit = 1e9 / entries

    def epoch(learner: Learner) -> float:
        return unit * least_seconds(lambda: learner.learn(packed, order, 0, np.zeros(2)), repeats)

    def summed() -> float:
        return float(packed.values.sum()) + int(packed.places.sum())

    def tensor(order: int, rank: int) -> Learner:
        layout = Layout(features, 0, mode_sizes(features, order), "sequential")
        return TensorLearner(layout, rank, Steps(C=0.003), average=None, seed=1)

    once = unit * least_seconds(summed, repeats)
    vector = VectorLearner(features, Steps(C=3e-4), averaged=False)
    mira = epoch(vector)
    once = min(once, unit * least_seconds(summed, repeats))
    row(
        "an epoch of MIRA; peer: a pass that sums the same arrays",
        mira,
        once,
        "ns/entry",
        lower_is_better=True,
    )
    for order_, rank in ((2, 1), (2, 2), (3, 1), (4, 3)):
        name = f"an epoch of tmira, D = {order_}, H = {rank}; peer: our MIRA"
        row(name, epoch(tensor(order_, rank)), mira, "ns/entry", lower_is_better=True)
    own = VectorLearner(features, Steps(perceptron=True), averaged=True)
    row(
        "an epoch of the averaged perceptron; peer: our MIRA",
        epoch(own),
        mira,
        "ns/entry",
        lower_is_better=True,
    )


def parsing(path: Path, peer_python: str) -> None:
    """Megabytes of uncompressed text a second, beside scikit-learn's svmlight reader."""
    megabytes = path.stat().st_size / 1e6
    ours = megabytes / least_seconds(lambda: read_lists(path))
    peer = megabytes / in_process(peer_python, _SKLEARN, str(path))["seconds"]
    row("n-best text read; peer: scikit-learn's load_svmlight_file", ours, peer, "MB/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True, help="an interpreter with scikit-learn")
    parser.add_argument("--data", default="", help="folder whose nbest/ has the real lists")
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    folder = Path(given.data) / "nbest"
    with tempfile.TemporaryDirectory() as scratch:
        text = Path(scratch) / "lists"
        corpus = ListCorpus()
        if given.data and folder.is_dir():
            text.write_bytes(gzip.decompress((folder / "nbest.dev.gz").read_bytes()))
            reader = ListReader()
            for name in ("nbest.train-1.gz", "nbest.train-2.gz"):
                for piece in reader.pieces(folder / name):
                    corpus.add(piece)
        else:
            lists = made_up(400)
            write_lists(text, lists)
            corpus.add(lists)
        parsing(text, given.peer_python)
        table = corpus.choose(1)
        epochs(corpus.pack(table), len(table), given.repeats)


if __name__ == "__main__":
    main()
