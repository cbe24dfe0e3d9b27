"""Speed and memory of train-rpa: beside fastText supervised, over threads, and against the size of its parameters."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.benchmarks.measure import THIS_PYTHON, in_process, least_seconds, row, zipf_documents
from wordkit.parallel import map_blocks

_FASTTEXT = """
import sys, json, time, fasttext
def run(epochs):
    for attempt in range(20):  # its loss is now and then 0/0 in the first instants of a run, which it takes for a fault
        started = time.process_time()
        try:
            fasttext.train_supervised(sys.argv[1], dim=int(sys.argv[2]), epoch=epochs, thread=1, minCount=2, verbose=0)
            return time.process_time() - started
        except RuntimeError:
            pass
    raise SystemExit("fastText failed twenty times")
print(json.dumps({"one": min(run(1) for _ in range(3)), "six": min(run(6) for _ in range(3))}))
"""

_FASTTEXT_ACCURACY = """
import sys, json, fasttext
def accuracy(rate, seed):
    for attempt in range(20):
        try:
            model = fasttext.train_supervised(sys.argv[1], dim=100, epoch=25, lr=rate, wordNgrams=2, thread=1, verbose=0,
                                              minCount=1, seed=seed)
            return model.test(sys.argv[2])[1]
        except RuntimeError:
            pass
    raise SystemExit("fastText failed twenty times")
# The best of three rates by the test set itself, which is in its favour.
print(json.dumps({"accuracy": max(sum(accuracy(rate, seed) for seed in (1, 2, 3)) / 3 for rate in (0.1, 0.5, 1.0))}))
"""

_OURS = """
import sys, json, time
from wordkit.models.features import TextFeatures
from wordkit.models import RPAClassifier
from wordkit.tally import Tally
def read():
    started = time.process_time()
    features = TextFeatures(min_count=2)
    data = features.read([sys.argv[1]], Tally(), fit=True)
    return data, time.process_time() - started
def fit(**parameters):
    started = time.process_time()
    RPAClassifier(dim=int(sys.argv[2]), epochs=1, **parameters).fit(data.rows, data.labels)
    return time.process_time() - started
reading = min(read()[1] for _ in range(3))
data, _ = read()
print(json.dumps({"reading": reading, "fit": min(fit() for _ in range(3)), "joint": min(fit(update="joint") for _ in range(3)),
                  "pa": min(fit(algorithm="pa") for _ in range(3))}))
"""

_ONE_THREAD = """
import sys, json, time
from wordkit.models.features import TextFeatures
from wordkit.models import RPAClassifier
from wordkit.tally import Tally
data = TextFeatures(min_count=2).read([sys.argv[1]], Tally(), fit=True)
def fit():
    started = time.perf_counter()
    RPAClassifier(dim=100, epochs=10).fit(data.rows, data.labels)
    return time.perf_counter() - started
times = sorted(fit() for _ in range(5))
print(json.dumps({"least": times[0], "median": times[2]}))
"""

_MEMORY = """
import sys, json, os
import wordkit.cli.train_rpa, wordkit.models.rpa_training, wordkit.evaluation.classification
def peak():  # of this process image alone: getrusage would count the parent's at the time of the fork
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
before = peak()
from wordkit.cli import run
options = "--dim 100 --epochs 1 --min-count 1 --json".split()
code = run(["--quiet", "train-rpa", sys.argv[1], "-o", sys.argv[2], *options])
print()
print(json.dumps({"bytes": peak() - before, "code": code, "model": os.path.getsize(sys.argv[2])}))
"""


def against_fasttext(path: str, tokens: int, name: str, peer_python: str, dim: int = 100) -> None:
    """One pass over two classes, one thread, in tokens a second."""
    peer = in_process(peer_python, _FASTTEXT, path, str(dim))
    ours = in_process(THIS_PYTHON, _OURS, path, str(dim))
    epoch = (peer["six"] - peer["one"]) / 5  # what it needs beside its epochs is reading, counting and set-up
    row(f"{name}: text to ids", tokens / ours["reading"], tokens / (peer["one"] - epoch), "tokens/s")
    row(f"{name}: first epoch, vectors drawn and all", tokens / ours["fit"], tokens / epoch, "tokens/s")
    row(f"{name}: first epoch, joint step", tokens / ours["joint"], tokens / epoch, "tokens/s")
    row(f"{name}: first epoch, fixed vectors (pa)", tokens / ours["pa"], tokens / epoch, "tokens/s")
    row(
        f"{name}: reading and one epoch",
        tokens / (ours["reading"] + ours["fit"]),
        tokens / peer["one"],
        "tokens/s",
    )


def accuracy_with_bigrams(folder: Path, peer_python: str) -> None:
    """Test accuracy on TREC with words and bigrams; ours with the parameters that experiment_rpa chose on the training part."""
    from wordkit.models import RPAClassifier
    from wordkit.models.features import TextFeatures
    from wordkit.tally import Tally

    train, test = str(folder / "train.txt"), str(folder / "test.txt")
    peer = in_process(peer_python, _FASTTEXT_ACCURACY, train, test)["accuracy"]
    features = TextFeatures(min_count=1, ngrams=2)
    data = features.read([train], Tally(), fit=True)
    held_out = features.read([test], Tally())
    chosen = {"update": "embedding-first", "average": True, "dim": 50, "C": 100.0, "lam": 1e-4, "epochs": 20}
    models = [RPAClassifier(**chosen, seed=seed).fit(data.rows, data.labels) for seed in (1, 2, 3)]
    ours = sum(model.score(held_out.rows, held_out.labels) for model in models) / 3
    row("TREC with bigrams: test accuracy", ours, peer, "share")


def over_threads(name: str, path: str, tokens: int) -> None:
    """Elapsed time of one epoch over ten classes, on one thread and on two."""
    from wordkit.models import RPAClassifier
    from wordkit.models.features import TextFeatures
    from wordkit.tally import Tally

    data = TextFeatures(min_count=2).read([path], Tally(), fit=True)

    def seconds(threads: int) -> float:
        model = RPAClassifier(dim=100, epochs=10, threads=threads)
        return least_seconds(lambda: model.fit(data.rows, data.labels), repeats=1, clock=time.perf_counter)

    # Turn about, since other work on the machine takes a core now and then: the least of each is what counts.
    times = [min(pair) for pair in zip(*((seconds(1), seconds(2)) for _ in range(7)), strict=True)]
    row(
        f"10 classes, {name}: two threads beside one",
        10 * tokens / times[1],
        10 * tokens / times[0],
        "tokens/s",
    )
    # What the machine gives: two processes that share nothing, at the same time, beside one alone.
    alone = in_process(THIS_PYTHON, _ONE_THREAD, path)["least"]
    pair = map_blocks(lambda _: in_process(THIS_PYTHON, _ONE_THREAD, path)["median"], range(2), 2)
    row(
        f"10 classes, {name}: two processes beside one",
        20 * tokens / max(pair),
        10 * tokens / alone,
        "tokens/s",
    )


def memory(path: str, folder: str) -> None:
    """Peak memory beyond that of the imports, beside the size of the parameters (200,000 words x 100 x 10 classes)."""
    used = in_process(THIS_PYTHON, _MEMORY, path, f"{folder}/model")
    parameters = 200_000 * 100 * 10 * 4
    assert used["code"] == 0 and used["model"] > 0.9 * parameters, used
    row(
        "200,000 words, dim 100, 10 classes: peak memory over parameters",
        used["bytes"] / used["model"],
        None,
        "times",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True, help="an interpreter that has fasttext")
    parser.add_argument("--data", default="", help="folder of real texts (imdb-small/train.txt.gz)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, documents, length in (
            ("2 classes, 100 tokens a document", 20_000, 100),
            ("short documents of 10", 100_000, 10),
        ):
            path = Path(folder) / "two.txt"
            tokens = zipf_documents(path, documents=documents, length=length, types=200_000, classes=2)
            against_fasttext(str(path), tokens, name, arguments.peer_python)
        real = Path(arguments.data) / "imdb-small" / "train.txt.gz"
        if arguments.data and real.exists():
            import gzip

            text = gzip.decompress(real.read_bytes())
            path = Path(folder) / "imdb.txt"
            path.write_bytes(text)
            against_fasttext(
                str(path), len(text.split()) - text.count(b"__label__"), "IMDB", arguments.peer_python
            )
        trec = Path(arguments.data) / "trec"
        if arguments.data and trec.is_dir():
            accuracy_with_bigrams(trec, arguments.peer_python)
        # A class's matrix of 4 MB, and of 17 MB, of which two do not fit the last-level cache of a small machine.
        for types in (10_000, 50_000):
            path = Path(folder) / "ten.txt"
            tokens = zipf_documents(path, documents=20_000, length=50, types=types, classes=10)
            over_threads(f"{types} words", str(path), tokens)
        path = Path(folder) / "memory.txt"
        every = " ".join(f"w{i:x}" for i in range(200_000)).split(" ")
        with open(
            path, "w", encoding="utf-8"
        ) as out:  # every word once: the vocabulary is all of the 200,000
            for i in range(0, len(every), 20):
                out.write(f"__label__c{i // 20 % 10} {' '.join(every[i : i + 20])}\n")
        memory(str(path), folder)


if __name__ == "__main__":
    main()
