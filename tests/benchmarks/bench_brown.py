"""Brown and exchange clustering: seconds and average mutual information, beside wcluster where its binary is at hand."""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.measure import row, zipf_documents
from wordkit.formats.clusters import read_clusters
from wordkit.models.bigrams import Bigrams
from wordkit.models.brown import BrownClustering
from wordkit.models.tree_corpus import TreeCorpus, read_corpus

MIN_COUNT = 2


def _fit(corpus: TreeCorpus, clusters: int, algorithm: str) -> tuple[BrownClustering, float]:
    """A clustering, and its processor time from ids to bit strings."""
    started = time.process_time()
    model = BrownClustering(clusters=clusters, algorithm=algorithm).fit(corpus)
    return model, time.process_time() - started


def _wcluster(binary: Path, text: Path, clusters: int, folder: Path) -> tuple[Path, float]:
    """The paths file of the peer, and its user time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [
        binary,
        "--text",
        text,
        "--c",
        str(clusters),
        "--min-occur",
        str(MIN_COUNT),
        "--output_dir",
        folder / "out",
    ]
    subprocess.run(list(map(str, command)), check=True, capture_output=True)
    return folder / "out" / "paths", resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="not used: the peer is a binary")
    parser.add_argument("--peers", default="", help="folder that holds the binary wcluster")
    parser.add_argument("--data", default="", help="folder with text/brown.txt.gz; else a made-up text")
    parser.add_argument("--clusters", type=int, nargs="+", default=[256, 500])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = folder / "text.txt"
        if given.data:
            import gzip

            text.write_bytes(gzip.decompress(Path(given.data, "text/brown.txt.gz").read_bytes()))
        else:
            zipf_documents(text, documents=30_000, length=20, types=30_000, classes=50)
        started = time.process_time()
        corpus = read_corpus([text], structure="chain", min_count=MIN_COUNT, max_length=None)
        reading = time.process_time() - started
        index = corpus.vocabulary.words
        everything = Bigrams.from_corpus(corpus, np.arange(len(index), dtype=np.int32) - 1, len(index) - 1)
        binary = Path(given.peers, "wcluster") if given.peers else None
        for clusters in given.clusters:
            bits, seconds, where = None, None, "wcluster not measured here"
            if binary and binary.exists():
                paths, seconds = _wcluster(binary, text, clusters, folder)
                bits, where = (
                    everything.mutual_information(read_clusters(paths).numbers(index[1:])),
                    "wcluster",
                )
            for algorithm in ("brown", "exchange"):
                model, ours = _fit(corpus, clusters, algorithm)
                task = f"brown, {len(index) - 1} words, {clusters} clusters, {algorithm}"
                row(f"{task}; {where}", reading + ours, seconds, "s", lower_is_better=True)
                row(f"{task}: mutual information; {where}", model.mutual_information_, bits, "bits")


if __name__ == "__main__":
    main()
