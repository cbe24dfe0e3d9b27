"""Word clusters: CPU seconds from bigrams in memory to paths, and average mutual information, beside wcluster (percyliang).

The peer's seconds are the user CPU time of its whole run, reading the text included, with --min-occur as our min-count. Its
mutual information is that of its paths file, counted by us over the bigrams of our words; how many of them it has not clustered
is named in the row, and their bigrams are left out.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import least_seconds, row
from wordkit.formats.clusters import read_clusters
from wordkit.models.agglomeration import brown, exchange, joins
from wordkit.models.bigrams import Bigrams
from wordkit.models.brown import BrownClustering
from wordkit.models.tree_corpus import read_corpus

MIN_COUNT = 2
CLASSES = (100, 256, 500)
METHODS = {"brown": brown, "exchange": exchange}


def zipf_chain(
    path: Path, *, sentences: int = 50_000, length: int = 20, types: int = 20_000, seed: int = 1
) -> None:
    """Sentences from a Markov chain of 50 hidden classes with Zipf-distributed words, so that there is something to find."""
    random = np.random.default_rng(seed)
    hidden = 50
    after = random.dirichlet(np.full(hidden, 0.1), hidden).cumsum(axis=1)
    state = random.integers(0, hidden, sentences)
    ranks = np.exp(random.random((sentences, length)) * np.log(types / hidden)).astype(np.int64) - 1
    words = np.empty((sentences, length), dtype=np.int64)
    for t in range(length):
        words[:, t] = ranks[:, t] * hidden + state
        state = np.minimum((random.random(sentences)[:, None] > after[state]).sum(axis=1), hidden - 1)
    path.write_text(
        "".join(" ".join(f"w{i}" for i in line) + "\n" for line in words.tolist()), encoding="utf-8"
    )


def wcluster(binary: Path, text: Path, folder: Path, classes: int) -> tuple[float, Path]:
    """User CPU seconds of a run, and the file of paths it wrote. The token `$#$` keeps bigrams within lines, as ours are."""
    marked = folder / "wcluster.txt"
    marked.write_bytes(text.read_bytes().replace(b"\n", b" $#$\n"))
    out = folder / f"wcluster-{classes}"
    command = [str(binary), "--text", str(marked), "--c", str(classes), "--min-occur", str(MIN_COUNT)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([*command, "--output_dir", str(out)], check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, out / "paths"


def classes_of(paths: Path, words: list[str]) -> np.ndarray:
    """The peer's classes of our words; -1 for words it has not clustered."""
    return read_clusters(paths).numbers(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="not used: the peer is a program")
    parser.add_argument("--data", default="", help="folder of real texts (text/brown.txt.gz)")
    parser.add_argument("--peers", default="", help="folder that holds the binary wcluster")
    parser.add_argument("--classes", type=int, nargs="*", default=CLASSES)
    parser.add_argument("--peer-classes", type=int, nargs="*", help="those the peer is run at, if not all")
    arguments = parser.parse_args()
    binary = Path(arguments.peers, "wcluster").resolve() if arguments.peers else None
    with tempfile.TemporaryDirectory() as name:
        text = Path(name) / "text.txt"
        real = Path(arguments.data, "text", "brown.txt.gz")
        if arguments.data and real.exists():
            text.write_bytes(gzip.decompress(real.read_bytes()))
            title = "Brown corpus"
        else:
            zipf_chain(text)
            title = "Zipf chain"
        corpus = read_corpus([text], structure="chain", min_count=MIN_COUNT, max_length=None)
        counted = BrownClustering(clusters=1).fit(corpus)
        bigrams, words = counted.bigrams_, counted.words_
        for classes in arguments.classes:
            peer_seconds = peer_bits = None
            asked = arguments.peer_classes is None or classes in arguments.peer_classes
            note = "" if binary and asked else " (wcluster: not measured here)"
            if binary and asked:
                peer_seconds, paths = wcluster(binary, text, Path(name), classes)
                theirs = classes_of(paths, words)
                if (theirs < 0).any():
                    note = f" (wcluster: without {(theirs < 0).sum()} words)"
                peer_bits = bigrams.mutual_information(theirs)
            for method in METHODS:
                report(f"{title}, {len(words)} words, {classes} classes, {method}", note, bigrams, classes, method,
                       peer_seconds, peer_bits)  # fmt: skip


def report(
    title: str,
    note: str,
    bigrams: Bigrams,
    count: int,
    method: str,
    seconds: float | None,
    bits: float | None,
) -> None:
    """Two rows: CPU seconds and bits, ours and the peer's."""
    found: list[np.ndarray] = []

    def work() -> None:
        found[:] = [METHODS[method](bigrams, count)]
        joins(bigrams, found[0])

    row(f"{title}: CPU time{note}", least_seconds(work, 2), seconds, "s", lower_is_better=True)
    row(f"{title}: mutual information{note}", bigrams.mutual_information(found[0]), bits, "bits")


if __name__ == "__main__":
    main()
