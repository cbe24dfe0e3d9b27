"""A real use of the trace Lasso: opinions of film reviews from counts of frequent words, beside the Lasso.

    experiment_trace_lasso_real.py --data DATA --output results/trace-lasso-real.tsv [--features letters]

With ``letters`` counts are of four letters in a row: those that overlap in a word are strongly correlated, words hardly are.

DATA holds ``imdb-small/train.txt.gz`` and ``dev.txt.gz``. Lambda by five-fold cross-validation, the sparsest within a standard
error. Stability is
the mean Jaccard index of the supports of two bootstrap samples.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from wordkit import rng
from wordkit.formats.opening import Input
from wordkit.models import TraceLasso, TraceLassoCV
from wordkit.parallel import available_threads, map_blocks


def documents(path: Path, most: int) -> tuple[list[list[str]], np.ndarray]:
    """Tokens of every so-many-th line, and -1 or 1 for its label."""
    with Input(str(path)) as source:
        lines = source.read().decode("utf-8").splitlines()
    lines = lines[:: max(1, len(lines) // most)][:most]
    parts = [line.split() for line in lines]
    names = sorted({part[0] for part in parts})
    return [part[1:] for part in parts], np.array([1.0 if part[0] == names[-1] else -1.0 for part in parts])


def pieces(words: list[str], features: str) -> list[str]:
    """Words of letters, or all that is four letters in them."""
    long = [word for word in words if word.isalpha() and len(word) > 3]
    return long if features == "words" else [word[i : i + 4] for word in long for i in range(len(word) - 3)]


def counts(texts: list[list[str]], words: list[str]) -> np.ndarray:
    """log(1 + count) of each word (documents, words)."""
    place = {word: i for i, word in enumerate(words)}
    X = np.zeros((len(texts), len(words)))
    for row, text in enumerate(texts):
        for word, count in Counter(text).items():
            if word in place:
                X[row, place[word]] = np.log1p(count)
    return X


def supports(
    estimator: TraceLasso, X: np.ndarray, y: np.ndarray, samples: int, threads: int
) -> list[set[int]]:
    """Columns selected on each bootstrap sample."""

    def one(sample: int) -> set[int]:
        rows = rng.stream(1, rng.BOOTSTRAP, sample).integers(0, len(y), len(y))
        return set(TraceLasso(**estimator.get_params()).fit(X[rows], y[rows]).support_.tolist())

    return map_blocks(one, range(samples), threads)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", default="results/trace-lasso-real.tsv")
    parser.add_argument("--features", choices=["words", "letters"], default="words")
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--words", type=int, default=150)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--threads", type=int, default=available_threads())
    given = parser.parse_args(arguments)
    folder = Path(given.data) / "imdb-small"
    texts, y = documents(folder / "train.txt.gz", given.documents)
    held_out, truth = documents(folder / "dev.txt.gz", 2 * given.documents)
    texts, held_out = ([pieces(text, given.features) for text in part] for part in (texts, held_out))
    frequent = Counter(piece for text in texts for piece in set(text))
    words = [word for word, _ in frequent.most_common(given.words)]
    X, X_test = counts(texts, words), counts(held_out, words)
    rows = ["penalty\tselected\trank\theld_out_accuracy\tjaccard"]
    for penalty in ("trace", "lasso"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = TraceLassoCV(
                penalty=penalty, rule="1se", n_lams=25, ratio=0.05, threads=given.threads
            ).fit(X, y)
            found = supports(
                TraceLasso(penalty=penalty, lam=chosen.lam_, tol=1e-5), X, y, given.samples, given.threads
            )
        overlap = [len(a & b) / max(len(a | b), 1) for a, b in itertools.combinations(found, 2)]
        accuracy = float(np.mean(np.sign(chosen.predict(X_test)) == truth))
        rows.append(
            f"{penalty}\t{len(chosen.support_)}\t{chosen.rank_}\t{accuracy:.3f}\t{np.mean(overlap):.3f}"
        )
        print(rows[-1], [words[i] for i in np.argsort(-np.abs(chosen.coef_))[:8]])
    Path(given.output).parent.mkdir(parents=True, exist_ok=True)
    Path(given.output).write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
