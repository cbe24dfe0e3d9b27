"""Speed of dcme: words a second beside gensim's CBOW and word2vec.c, of its objectives beside one another, rows a second of
classification, and the cost of an instance against the number of items.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

from tests.benchmarks.measure import THIS_PYTHON, in_process, least_seconds, row, zipf_documents

_SETTING = {"dim": 100, "window": 10, "negative": 20, "min_count": 5}
OURS = {
    "ns": {"objective": "ns"},
    "nce": {"objective": "nce"},
    "dcme": {},
    "dcme printed, Q = 10": {"variant": "printed"},
    "dcme printed, Q = 0": {"variant": "printed", "top": 0},
}

_GENSIM = """
import sys, json, time
from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence
threads = int(sys.argv[2])
clock = time.process_time if threads == 1 else time.perf_counter
sentences = list(LineSentence(sys.argv[1]))
model = Word2Vec(vector_size=100, window=10, negative=20, min_count=5, sample=0, sg=0, cbow_mean=1, workers=threads)
model.build_vocab(sentences)
def epoch():
    started = clock()
    model.train(sentences, total_examples=model.corpus_count, epochs=1)
    return clock() - started
print(json.dumps({"seconds": min(epoch() for _ in range(3))}))
"""

_OURS = """
import sys, json, time
from wordkit.models import DualClusteringEmbedding, read_corpus
from wordkit.monitor import Monitor
path, threads, parameters = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
clock = time.process_time if threads == 1 else time.perf_counter
corpus = read_corpus([path], structure="chain", format="text", min_count=5, max_length=None)
class Clock(Monitor):
    times = []
    def epoch(self, record):
        self.times.append(clock())
times = Clock()
model = DualClusteringEmbedding(**{**parameters, "threads": threads, "epochs": 4})
started = clock()
model.fit(corpus, monitor=times)
marks = [started, *times.times]
epochs = [b - a for a, b in zip(marks, marks[1:])]
print(json.dumps({"seconds": min(epochs), "mean": sum(epochs) / 4, "tokens": corpus.n_tokens}))
"""


def word2vec_seconds(binary: Path, text: str, threads: int, folder: Path) -> float:
    """Time of an epoch of word2vec.c: of two less that of one; processor time for one thread."""
    options = ["-cbow", "1", "-size", "100", "-window", "10", "-negative", "20", "-hs", "0", "-sample", "0"]
    options += ["-min-count", "5", "-binary", "1"]

    def run(epochs: int) -> float:
        command = [str(binary), "-train", text, "-output", str(folder / "w2v.bin"), *options]
        command += ["-threads", str(threads), "-iter", str(epochs)]
        script = "import resource, subprocess, sys, time; t = time.perf_counter(); subprocess.run(sys.argv[2:], check=True, " \
                 "stdout=subprocess.DEVNULL); u = resource.getrusage(resource.RUSAGE_CHILDREN); " \
                 "print(u.ru_utime + u.ru_stime if sys.argv[1] == '1' else time.perf_counter() - t)"  # fmt: skip
        done = subprocess.run(
            [THIS_PYTHON, "-c", script, str(threads), *command], capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    return run(2) - run(1)


def embedding(text: str, folder: Path, peer_python: str, binary: Path | None) -> None:
    """Raw words a second, one pass: processor time of one thread, time on the clock of two."""
    import json

    for threads in (1, 2):
        unit = "words/s" if threads == 1 else "words/s on the clock"
        peers = {"gensim": in_process(peer_python, _GENSIM, text, str(threads))["seconds"]}
        if binary is not None:
            peers["word2vec.c"] = word2vec_seconds(binary, text, threads, folder)
        seconds = {}
        for name, parameters in OURS.items():
            found = in_process(THIS_PYTHON, _OURS, text, str(threads), json.dumps({**_SETTING, **parameters}))
            seconds[name] = found["mean"] if name.startswith("dcme") else found["seconds"]
            for peer, time_ in peers.items() if name == "ns" else ():
                row(f"CBOW, {threads} threads: ns beside {peer}", found["tokens"] / found["seconds"],
                    found["tokens"] / time_, unit)  # fmt: skip
        for name in list(OURS)[1:]:
            row(f"CBOW, {threads} threads: an epoch of {name} beside ns (mean of four, refreshes in it)", seconds[name],
                seconds["ns"], "s", lower_is_better=True)  # fmt: skip
        for peer, time_ in peers.items():
            row(f"CBOW, {threads} threads: an epoch of dcme beside {peer}'s negative sampling", seconds["dcme"], time_, "s",
                lower_is_better=True)  # fmt: skip


def venue_documents(
    rows: int, features: int, classes: int, length: int = 70, seed: int = 0
) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Rows like abstracts and their venues: words of everyone, of a venue's topic and of a venue, in Zipf's shares."""
    draw = np.random.default_rng(seed)
    topics = np.stack([draw.permutation(features) for _ in range(60)])
    topic_of, own = draw.integers(0, 60, classes), draw.integers(0, features, (classes, 40))
    shares = np.arange(1, classes + 1) ** -0.7
    y = draw.choice(classes, rows, p=shares / shares.sum())
    ranks = np.searchsorted(
        np.cumsum(1 / np.arange(1, features + 1)), draw.random((rows, length)) * np.log(features)
    )
    ranks = np.minimum(ranks, features - 1)
    kind = draw.random((rows, length))
    words = np.where(
        kind < 0.9, topics[topic_of[y][:, None], ranks], own[y[:, None], draw.integers(0, 40, (rows, length))]
    )
    words = np.where(kind < 0.5, ranks, words)
    X = scipy.sparse.csr_array(
        (np.ones(words.size, np.float32), words.ravel(), np.arange(rows + 1) * length), (rows, features)
    )
    X.sum_duplicates()
    return X, y


def classification(rows: int, epochs: int = 3) -> None:
    """Microseconds a row of an epoch, and accuracy on 5,000 others, at the size of the paper's venues."""
    from wordkit.models import DualClusteringClassifier

    X, y = venue_documents(rows + 5_000, 30_000, 1_236)
    settings = {
        "ns": {"objective": "ns"}, "nce": {"objective": "nce"}, "dcme": {}, "dcme, beta = 2": {"beta": 2.0},
        "dcme, 16 exact classes": {"top": 16}, "dcme, none": {"top": 0}, "dcme printed": {"variant": "printed"},
    }  # fmt: skip

    def cost(parameters: dict) -> tuple[float, float]:
        model = DualClusteringClassifier(**parameters, epochs=epochs)
        seconds = least_seconds(lambda: model.fit(X[:rows], y[:rows]), 1)
        return seconds / epochs / rows * 1e6, float(np.mean(model.predict(X[rows:]) == y[rows:]))

    full, best = cost({"objective": "gd"})
    print(f"classification, 30,000 features, 1,236 classes, {epochs} epochs: accuracy of gd {best:.3f}")
    for name, parameters in settings.items():
        own, accuracy = cost(parameters)
        row(
            f"classification: {name} (accuracy {accuracy:.3f}) beside gd",
            own,
            full,
            "us/row",
            lower_is_better=True,
        )


def growth() -> None:
    """Cost of an instance at vocabularies of 10,000, 100,000 and a million, beside that at 10,000 and that of ns."""
    from wordkit._kernels import dual_clustering
    from wordkit.models import DualClusteringEmbedding
    from wordkit.models.dual_clusters import DualClusters
    from wordkit.models.window_training import Noise, Steps, WindowTrainer

    first: dict[str, float] = {}
    for n in (10_000, 100_000, 1_000_000):
        draw = np.random.default_rng(0)
        instances = max(400_000, 8 * n)  # as long as it takes for clusters to have their refreshes
        counts = np.maximum(1e7 / np.arange(1, n + 1), 5)
        words = np.minimum(np.exp(draw.random(instances) * np.log(n)).astype(np.int32), n - 1).astype(
            np.int32
        )
        bounds = np.append(np.arange(0, instances, 20), instances).astype(np.int64)
        bias = np.log(counts / counts.sum()).astype(np.float32)
        dual_clustering.check_words(words, bounds, n)
        costs: dict[str, float] = {}
        for name, k in {"ns": 0, "dcme": 20, "dcme, K = 5": 5}.items():
            inputs = ((draw.random((n, 104), dtype=np.float32) - 0.5) / 100).astype(np.float32)
            clusters = DualClusters(bias, clusters=k, d=104, beta=DualClusteringEmbedding.BETAS["exact"],
                                    head=DualClusteringEmbedding.TOP["exact"]) if k else None  # fmt: skip
            noise = None if k else Noise.of(counts, 0.75, 20)
            prior = bias if k else np.zeros_like(bias)
            trainer = WindowTrainer(inputs, np.zeros_like(inputs), prior, objective="dcme" if k else "ns", window=10,
                                    clusters=clusters, noise=noise)  # fmt: skip
            half = instances // 2  # the second half is measured, when no cluster is young any more
            trainer.train(words, bounds, 0, half, Steps(1, 0.1, 0.0))
            started = time.process_time()
            trainer.train(words, bounds, half, instances, Steps(2, 0.1, 0.0))
            costs[name] = (time.process_time() - started) / (instances - half) * 1e6
            first.setdefault(name, costs[name])
            at = f"{name}: an instance at {n:,} words beside"
            row(f"{at} one at 10,000", costs[name], first[name], "us", lower_is_better=True)
            if k:
                row(f"{at} one of ns", costs[name], costs["ns"], "us", lower_is_better=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--data", help="folder with text/brown.txt.gz; made-up text without it")
    parser.add_argument("--peers", help="folder with word2vec.c's binary, word2vec")
    parser.add_argument("--rows", type=int, default=150_000, help="documents of the classification")
    parser.add_argument("parts", nargs="*", help="embedding, classification, growth")
    arguments = parser.parse_args()
    parts = arguments.parts or ["embedding", "classification", "growth"]
    binary = Path(arguments.peers) / "word2vec" if arguments.peers else None
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        if "embedding" in parts:
            if arguments.data:
                packed = Path(arguments.data) / "text" / "brown.txt.gz"
                text.write_bytes(gzip.decompress(packed.read_bytes()))
            else:
                zipf_documents(text, documents=50_000, length=20, types=40_000, classes=50)
            embedding(
                str(text), Path(folder), arguments.peer_python, binary if binary and binary.exists() else None
            )
        if "classification" in parts:
            classification(arguments.rows)
        if "growth" in parts:
            growth()


if __name__ == "__main__":
    main()
