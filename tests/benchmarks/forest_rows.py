"""Rows of the sparse coding experiment: vectors by commands or by gensim, and their scores; later runs go on with the table."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.formats.vectors import read_vectors, write_vectors

SETS = ("EN-MEN-TR-3k.txt", "EN-SIMLEX-999.txt", "EN-WS-353-ALL.txt")
COLUMNS = (
    "method", "dim", "men", "simlex", "ws353", "semantic", "syntactic", "sentences", "density", "heldout_error", "seconds",
)  # fmt: skip
GENSIM = """
import sys
from gensim.models import Word2Vec
from gensim.models.word2vec import LineSentence
text, dim, skip_gram, min_count, vectors = sys.argv[1:]
model = Word2Vec(
    LineSentence(text), vector_size=int(dim), sg=int(skip_gram), window=5, min_count=int(min_count), workers=1, seed=1
)
model.wv.save_word2vec_format(vectors)
"""


def wordkit(*arguments: str | Path, stdin: str | None = None) -> str:
    """What a command prints."""
    command = [sys.executable, "-m", "wordkit", "-q", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def results(*arguments: str | Path, stdin: str | None = None) -> dict[str, Any]:
    """What a command prints with ``--json``."""
    return json.loads(wordkit(*arguments, "--json", stdin=stdin))


def children_seconds() -> float:
    """Processor seconds of the processes that were started and have ended."""
    times = os.times()
    return times.children_user + times.children_system


class Rows:
    """The table of an experiment in a folder.

    Args:
        data: folder of the text and the data sets; texts: names in its folder ``text``.
        output: folder of the table ``rows.tsv``, the counts and the vectors.
        peer_python: an interpreter with gensim, or empty.
    """

    def __init__(
        self, data: Path, texts: Sequence[str], output: Path, *, min_count: int = 10, peer_python: str = ""
    ) -> None:
        self.data, self.output, self.peer_python, self.min_count = data, output, peer_python, min_count
        self.texts = [data / "text" / f"{name}.txt.gz" for name in texts]
        self.counts, self.table = output / "counts.npz", output / "rows.tsv"
        output.mkdir(parents=True, exist_ok=True)
        self.lines = self._written()

    def _written(self) -> dict[tuple[str, str], dict[str, str]]:
        if not self.table.exists():
            return {}
        header, *lines = self.table.read_text(encoding="utf-8").splitlines()
        if header != "\t".join(COLUMNS):
            raise WordkitError(
                f"{self.table}: its columns are not those of this program; name another --output"
            )
        rows = [dict(zip(COLUMNS, line.split("\t"), strict=True)) for line in lines]
        return {(row["method"], row["dim"]): row for row in rows}

    def vectors(self, method: str, dim: int) -> Path:
        """Where the vectors of a row are."""
        name = "".join(c if c.isalnum() else "-" for c in method)
        return self.output / f"{name}.{dim}.vec"

    def count(self) -> None:
        """Count the texts, once."""
        if not self.counts.exists():
            wordkit(
                "cooccur", *self.texts, "-o", self.counts, "--lowercase", "--min-count", str(self.min_count)
            )

    def coded(self, method: str, dim: int, options: Sequence[str]) -> None:
        """A row of sparse-code."""

        def make(vectors: Path) -> dict[str, Any]:
            self.count()
            return results(
                "sparse-code", self.counts, "-o", vectors, "--dim", str(dim), "--threads", "1", *options
            )  # fmt: skip

        self._row(method, dim, make)

    def peer(self, method: str, dim: int, *, skip_gram: bool) -> None:
        """A row of gensim, where it is installed."""

        def make(vectors: Path) -> dict[str, Any] | None:
            text = self.output / "text.txt"
            if not text.exists():
                lines = [gzip.decompress(path.read_bytes()).decode().lower() for path in self.texts]
                text.write_text("".join(lines), encoding="utf-8")
            command = [
                self.peer_python, "-c", GENSIM, str(text), str(dim), str(int(skip_gram)), str(self.min_count), str(vectors),
            ]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{method} is left out: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                return None
            return {}

        if self.peer_python:
            self._row(method, dim, make)

    def rescaled(self, method: str, dim: int, source: str, power: float) -> None:
        """A row of another's codes A = U S W', as U S^power: equal axes for 0, as they are (but turned) for 1."""

        def make(vectors: Path) -> dict[str, Any]:
            words, codes = read_vectors(self.vectors(source, dim))
            squares, axes = np.linalg.eigh(codes.T.astype(np.float64) @ codes)
            used = squares > 1e-9 * squares.max()
            turned = codes @ axes[:, used] * squares[used] ** ((power - 1) / 2)
            write_vectors(vectors, words, turned.astype(np.float32))
            return {}

        self._row(method, dim, make)

    def _row(self, method: str, dim: int, make: Callable[[Path], dict[str, Any] | None]) -> None:
        """Make, score and write a row, unless it is there."""
        vectors = self.vectors(method, dim)
        if (method, str(dim)) in self.lines and vectors.exists():
            return
        before = children_seconds()
        found = make(vectors)
        if found is None:
            return
        seconds = children_seconds() - before
        row = {
            "method": method,
            "dim": dim,
            "density": found.get("density"),
            "heldout_error": found.get("heldout_error"),
        }
        self._write({**row, "seconds": round(seconds) if seconds else None, **self._scores(vectors)})

    def _write(self, row: dict[str, Any]) -> None:
        cells = [
            ""
            if (value := row.get(name)) is None
            else f"{value:.3f}"
            if isinstance(value, float)
            else str(value)
            for name in COLUMNS
        ]
        if not self.lines:
            self.table.write_text("\t".join(COLUMNS) + "\n", encoding="utf-8")
            print("\t".join(COLUMNS), flush=True)
        with open(self.table, "a", encoding="utf-8") as out:
            print("\t".join(cells), file=out)
        print("\t".join(cells), flush=True)
        self.lines[cells[0], cells[1]] = dict(zip(COLUMNS, cells, strict=True))

    def _scores(self, vectors: Path) -> dict[str, Any]:
        """All evaluations of a vector file."""
        sets = [self.data / "wordsim" / name for name in SETS]
        found = results("evaluate", "similarity", vectors, *sets, "--ignore-case")
        men, simlex, ws353 = (result["spearman"] for result in found["results"])
        questions = self.data / "analogy" / "questions-words.txt"
        analogy = results("evaluate", "analogy", vectors, questions, "--ignore-case")
        parts = [self.data / "sentence_polarity" / f"{name}.txt" for name in ("train", "dev", "test")]
        sentences = results("evaluate", "sentences", vectors, *parts, "--ignore-case")
        return {
            "men": men, "simlex": simlex, "ws353": ws353, "semantic": analogy["semantic"], "syntactic": analogy["syntactic"],
            "sentences": sentences["accuracy"],
        }  # fmt: skip
