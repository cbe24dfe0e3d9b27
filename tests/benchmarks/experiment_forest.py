"""Hierarchical sparse coding on a real text: PCA, l1, forests, non-negative codes (Yogatama et al. 2015, Table 1).

    experiment_forest.py --data FOLDER --output results/forest --dims 52 130

FOLDER/text/mixed.txt.gz (or --text) is counted once in a window of 5, lower-cased; then each row is what these commands do:

    wordkit cooccur TEXT -o counts.npz --lowercase
    wordkit sparse-code counts.npz -o vectors --dim M --algorithm ... --regularizer ...
    wordkit evaluate similarity vectors MEN SIMLEX WS353
    wordkit evaluate analogy vectors QUESTIONS
    wordkit evaluate sentences vectors TRAIN DEV TEST

Prints and writes as TSV: Spearman's correlation with three sets of word pairs, accuracy on analogies and on sentence polarity,
share of the codes that are not zero, error on held-out words, processor seconds. Rows that are written already are not made
again. With --peer-python, gensim's CBOW and skip-gram on the same text stand beside them, where it is installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SETS = ("EN-MEN-TR-3k.txt", "EN-SIMLEX-999.txt", "EN-WS-353-ALL.txt")
COLUMNS = (
    "method", "dim", "men", "simlex", "ws353", "analogy_semantic", "analogy_syntactic", "sentences", "density", "heldout_error",
    "seconds",
)  # fmt: skip
METHODS = {
    "pca^1": ("--algorithm", "svd", "--power", "1"),
    "pca^1/2": ("--algorithm", "svd", "--power", "0.5"),
    "pca^0": ("--algorithm", "svd", "--power", "0"),
    "l1": ("--regularizer", "l1"),
    "forest": (),
    "forest, lam 1": ("--lam", "1"),
    "forest, ppmi": ("--weighting", "ppmi"),
    "non-negative l1, ppmi": ("--regularizer", "l1", "--nonnegative", "--weighting", "ppmi"),
    "binary forest": ("--tree-shape", "2x2"),
    "forest, sgd": ("--algorithm", "sgd", "--threads", "1"),
}
_GENSIM = """
import sys
from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence
model = Word2Vec(LineSentence(sys.argv[1]), vector_size=int(sys.argv[2]), sg=int(sys.argv[3]), window=5, min_count=10, epochs=5,
                 negative=10, workers=1, seed=1)
model.wv.save_word2vec_format(sys.argv[4])
"""


def wordkit(*arguments: str | Path) -> dict[str, Any]:
    """A command with ``--json``; what it prints."""
    command = [sys.executable, "-m", "wordkit", "-q", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def scores(vectors: Path, data: Path) -> dict[str, Any]:
    """All evaluations of a vector file."""
    found = wordkit(
        "evaluate", "similarity", vectors, *(data / "wordsim" / name for name in SETS), "--ignore-case"
    )
    similarity = [result["spearman"] for result in found["results"]]
    analogy = wordkit("evaluate", "analogy", vectors, data / "analogy/questions-words.txt", "--ignore-case")
    parts = [data / "sentence_polarity" / f"{name}.txt" for name in ("train", "dev", "test")]
    sentences = wordkit("evaluate", "sentences", vectors, *parts, "--ignore-case")
    return {
        "men": similarity[0], "simlex": similarity[1], "ws353": similarity[2], "analogy_semantic": analogy["semantic"],
        "analogy_syntactic": analogy["syntactic"], "sentences": sentences["accuracy"],
    }  # fmt: skip


def coded(counts: Path, vectors: Path, dim: int, options: tuple[str, ...]) -> dict[str, Any]:
    """Vectors of sparse-code, and what it says of them; a dimension is rounded to whole trees."""
    size = 7 if "2x2" in options else 13
    dim = max(1, round(dim / size)) * size
    before = os.times()
    found = wordkit("sparse-code", counts, "-o", vectors, "--dim", str(dim), *options)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return {
        "dim": dim, "density": found["density"], "heldout_error": found.get("heldout_error"), "seconds": seconds,
    }  # fmt: skip


def peer(python: str, text: Path, vectors: Path, dim: int, skip_gram: bool) -> dict[str, Any] | None:
    """Vectors of gensim; None where it is not installed."""
    started = time.time()
    command = [python, "-c", _GENSIM, str(text), str(dim), str(int(skip_gram)), str(vectors)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    return {"dim": dim, "seconds": time.time() - started}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument(
        "--output", default="results/forest", type=Path, help="folder of the table and the vectors"
    )
    parser.add_argument("--text", default="mixed", help="of FOLDER/text")
    parser.add_argument("--dims", type=int, nargs="+", default=[52, 130])
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--peer-python", default="", help="an interpreter with gensim")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    table = given.output / f"{given.text}.tsv"
    done = (
        {tuple(line.split("\t")[:2]) for line in table.read_text().splitlines()} if table.exists() else set()
    )
    source, counts = given.data / "text" / f"{given.text}.txt.gz", given.output / f"{given.text}.counts.npz"
    if not counts.exists():
        wordkit("cooccur", source, "-o", counts, "--lowercase")

    def write(row: dict[str, Any]) -> None:
        cells = [
            "" if (v := row.get(name)) is None else f"{v:.3f}" if isinstance(v, float) else str(v)
            for name in COLUMNS
        ]
        with open(table, "a", encoding="utf-8") as out:
            print("\t".join(cells), file=out)
        print("\t".join(cells), flush=True)

    if not done:
        write({name: name for name in COLUMNS})
    for dim in given.dims:
        for method in given.methods:
            size = 7 if method == "binary forest" else 13
            if (method, str(max(1, round(dim / size)) * size)) in done:
                continue
            vectors = given.output / "vectors.vec"
            row = coded(counts, vectors, dim, METHODS[method])
            write({"method": method, **row, **scores(vectors, given.data)})
        for method in ("cbow", "skip-gram") if given.peer_python else ():
            text = given.output / f"{given.text}.txt"
            if not text.exists():
                text.write_text(gzip.decompress(source.read_bytes()).decode().lower(), encoding="utf-8")
            if (method, str(dim)) not in done:
                vectors = given.output / "peer.vec"
                row = peer(given.peer_python, text, vectors, dim, method == "skip-gram")
                if row:
                    write({"method": method, **row, **scores(vectors, given.data)})


if __name__ == "__main__":
    main()
