"""Dual clustering against its baselines on real text: Figure 2, Tables 1, 2c, 2d of Wang et al. 2017, and the number of clusters.

    experiment_dcme.py --data FOLDER --output results/dcme [--parts text classes variance clusters] [--texts brown mixed]

Word vectors (Figure 2b, Tables 1 and 2d): dim 100, window 10, words from 5 occurrences on, one thread. After each epoch the exact
log-likelihood of the held-out text, after the last that of the analogies of FOLDER/analogy, the prior in it as in training. NCE
has the same unigram prior as dcme; it and NS run at several rates, and the best of them once more for as many epochs as dcme's
time is worth. Classification (Figure 2a, Table 2c): the 50 fine classes of FOLDER/trec, and the words of Brown from those around
them. Variance: the printed algorithm with Q of 0 and 10, and the exact one, over seeds. Clusters: K from 1 on.

A data set has a file OUTPUT/NAME.tsv of curves for ``wordkit plot curves``, and a figure where matplotlib is there; seconds are
processor time of the training alone. What is in a file is not run again. The tables are printed and written to tables.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from tests.benchmarks.dcme_rows import (
    CurvePoint,
    Rows,
    Scores,
    Watch,
    an_epoch,
    best,
    curve_table,
    last,
    of_metric,
)
from wordkit.errors import WordkitError
from wordkit.evaluation.analogy import analogy_result
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.formats.questions import Questions, read_questions
from wordkit.models import DualClusteringClassifier, DualClusteringEmbedding, read_corpus
from wordkit.models.features import TextFeatures
from wordkit.models.tree_corpus import TreeCorpus
from wordkit.plotting.curves import curves_figure
from wordkit.tally import Tally

PARTS = ("text", "classes", "variance", "clusters")
EXACT, PRINTED, PRINTED_0 = "dcme", "dcme printed, Q = 10", "dcme printed, Q = 0"
HELDOUT, ANALOGIES = "heldout_log_likelihood", "analogy_log_likelihood"
DUAL: dict[str, dict[str, Any]] = {
    EXACT: {}, PRINTED: {"variant": "printed"}, PRINTED_0: {"variant": "printed", "top": 0},
}  # fmt: skip
RATES = {
    EXACT: (0.4,),
    PRINTED: (0.005,),
    PRINTED_0: (0.005,),
    "nce": (0.1, 0.25, 0.4),
    "ns": (0.025, 0.05, 0.1),
}
# Of the classifiers, for rows of unit length; Q is nothing to their printed variant.
CLASSES = ("gd", "nce", "ns", EXACT, "dcme printed")
CLASS_RATES = {"trec": (0.5, 2.0, 5.0), "words": (0.1, 0.25, 0.5)}


class Text:
    """A text of FOLDER/text with its held-out part and the analogies."""

    def __init__(self, data: Path, name: str, min_count: int) -> None:
        reading: dict[str, Any] = {"structure": "chain", "format": "text", "max_length": None}
        self.corpus = read_corpus([data / "text" / f"{name}.txt.gz"], **reading, min_count=min_count)
        held_out = data / "text" / f"{name}.heldout.txt.gz"
        self.heldout = read_corpus([held_out], **reading, vocabulary=self.corpus.vocabulary)
        self.questions = read_questions(data / "analogy" / "questions-words.txt")

    def train(self, parameters: Mapping[str, Any]) -> list[CurvePoint]:
        model = DualClusteringEmbedding(**parameters)

        def score(at_end: bool) -> Scores:
            found = {HELDOUT: model.score(self.heldout)}
            return {**found, **analogies(model, self.questions)} if at_end else found

        watch = Watch(score, model.epochs)
        try:
            model.fit(self.corpus, monitor=watch)
        except WordkitError as error:
            print(f"{parameters}: {error}")
        return watch.points

    def unigram(self) -> float:
        model = DualClusteringEmbedding()
        model.begin(self.corpus.vocabulary)
        return model.unigram_score(self.heldout)


def analogies(model: DualClusteringEmbedding, questions: Questions) -> Scores:
    """Mean log-likelihood of the fourth words: h_b - h_a + h_c with a one behind it, against output vectors with their bias."""
    words = model.vocabulary_.words[1:]
    rows = {word: row for row, word in enumerate(words)}
    known, outputs = (
        KnownVectors(name, rows, np.column_stack([vectors, last]), np.zeros(1))
        for name, vectors, last in (
            ("inputs", model.input_vectors_, np.ones(len(words), np.float32)),
            ("outputs", model.output_vectors_, model.bias_),
        )
    )
    found = analogy_result(questions, known, data="", outputs=outputs)
    kinds = {ANALOGIES: found.metrics["log_likelihood"]}
    kinds |= {
        f"{kind}_{ANALOGIES}": found.details[f"log_likelihood_{kind}"] for kind in ("semantic", "syntactic")
    }
    return {name: float("nan") if value is None else value for name, value in kinds.items()}


# --- word vectors ---------------------------------------------------------------------------------------------------


def word_vectors(rows: Rows, name: str, text: Text, epochs: int) -> None:
    """Figure 2b, Tables 1 and 2d for a text."""

    def run(method: str, **parameters: Any) -> list[CurvePoint]:
        return rows.run(name, method, lambda: text.train({"epochs": epochs, **parameters}))

    unigram = text.unigram()
    rows.run(name, "unigram", lambda: [CurvePoint(e, HELDOUT, unigram, 0) for e in range(1, epochs + 1)])
    for method, parameters in DUAL.items():
        run(method, **parameters)
    for family, rates in RATES.items():
        parameters = DUAL.get(family, {"objective": family})
        for rate in rates:
            run(f"{family}, rate {rate:g}", **parameters, learning_rate=rate)
    for family in ("nce", "ns"):
        curves = rows.curves(name)
        chosen = best(curves, family, HELDOUT)
        more = round(curves[EXACT][-1].seconds / max(an_epoch(curves[chosen]), 1e-3))
        if epochs < more:
            rate = float(chosen.split()[-1])
            run(f"{chosen}, dcme's time", objective=family, learning_rate=rate, epochs=min(more, 3 * epochs))


def text_tables(curves: Mapping[str, list[CurvePoint]], name: str) -> Iterator[str]:
    chosen = {
        key: points for key, points in curves.items() if key.endswith("dcme's time") or ", rate" not in key
    }
    chosen |= {
        key: curves[key]
        for key in (best(dict(curves), family, HELDOUT) for family in RATES if family not in DUAL)
    }
    yield f"\n{name}: held-out log-likelihood a word (Figure 2b), and seconds an epoch (Table 2d)\n"
    yield from curve_table(chosen, HELDOUT)
    yield f"\n{name}: log-likelihood of the analogies (Table 1)\n\n| | semantic | syntactic | all |\n|---|---|---|---|"
    for key, points in chosen.items():
        if of_metric(points, ANALOGIES):
            values = (last(points, f"{kind}{ANALOGIES}") for kind in ("semantic_", "syntactic_", ""))
            yield f"| {key} | {' | '.join(f'{value:.3f}' for value in values)} |"
    others = {
        key: points
        for key, points in curves.items()
        if key.startswith(tuple(f"{family}, rate" for family in RATES)) and key not in chosen
    }
    yield f"\n{name}: other rates\n"
    yield from curve_table(others, HELDOUT)


# --- classification -------------------------------------------------------------------------------------------------


class Classes:
    """Training and test rows of a classification."""

    def __init__(self, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
        self.X, self.y, self.X_test, self.y_test = X, y, X_test, y_test

    def train(self, parameters: Mapping[str, Any]) -> list[CurvePoint]:
        model = DualClusteringClassifier(**parameters)
        watch = Watch(
            lambda at_end: {"accuracy": float(np.mean(model.predict(self.X_test) == self.y_test))},
            model.epochs,
        )
        try:
            model.fit(self.X, self.y, monitor=watch)
        except WordkitError as error:
            print(f"{parameters}: {error}")
        return watch.points


def trec(data: Path) -> Classes:
    features, tally = TextFeatures(min_count=2), Tally()
    train = features.read([str(data / "trec" / "train.fine.txt")], tally, fit=True)
    test = features.read([str(data / "trec" / "test.fine.txt")], tally)
    return Classes(train.rows, train.labels, test.rows, test.labels)


def words_of(corpus: TreeCorpus, n: int, least: int, window: int = 5) -> Classes:
    """Predict a word of at least ``least`` occurrences from the bag of the words around: n rows, and a tenth of that to test."""
    draw = np.random.default_rng(1)
    contexts: list[tuple[np.ndarray, int]] = []
    for batch in corpus.batches(1 << 16, draw):
        starts = np.repeat(batch.offsets[:-1], np.diff(batch.offsets))
        ends = np.repeat(batch.offsets[1:], np.diff(batch.offsets))
        places = np.flatnonzero(corpus.word_counts[batch.words] >= least)
        places = places[batch.words[places] > 0]
        for t in draw.permutation(places)[: n * 11 // 10 - len(contexts)].tolist():
            around = batch.words[max(starts[t], t - window) : min(ends[t], t + window + 1)]
            there = np.delete(around, t - max(starts[t], t - window))
            contexts.append((np.unique(there[there > 0]), int(batch.words[t])))
    sizes = np.cumsum([0, *(len(words) for words, _ in contexts)])
    indices = np.concatenate([words for words, _ in contexts]).astype(np.int32)
    X = scipy.sparse.csr_array(
        (np.ones(len(indices), np.float32), indices, sizes), (len(contexts), len(corpus.vocabulary))
    )
    y = np.array([word for _, word in contexts])
    cut = len(contexts) * 10 // 11
    return Classes(X[:cut], y[:cut], X[cut:], y[cut:])


def classification(rows: Rows, name: str, data: Classes, epochs: int) -> None:
    """Figure 2a and Table 2c: each method at its rates."""
    for method in CLASSES:
        parameters = DUAL[PRINTED] if method == "dcme printed" else DUAL.get(method, {"objective": method})
        for rate in CLASS_RATES[name]:
            rate = rate / 5 if method == "dcme printed" else rate
            given = {"epochs": epochs, "learning_rate": rate, **parameters}
            rows.run(name, f"{method}, rate {rate:g}", lambda given=given: data.train(given))  # type: ignore[misc]


def class_tables(curves: Mapping[str, list[CurvePoint]], name: str) -> Iterator[str]:
    yield f"\n{name}: accuracy (Figure 2a), each at its best rate, and seconds an epoch (Table 2c)\n"
    kept = [best(dict(curves), method, "accuracy") for method in CLASSES]
    yield from curve_table({key: curves[key] for key in kept}, "accuracy")


# --- variance and clusters ------------------------------------------------------------------------------------------


def variance(rows: Rows, text: Text, seeds: int, epochs: int) -> None:
    for method, parameters in DUAL.items():
        for seed in range(1, seeds + 1):
            given = {"epochs": epochs, "seed": seed, **parameters}
            rows.run("variance", f"{method}, seed {seed}", lambda given=given: text.train(given))  # type: ignore[misc]


def variance_table(curves: Mapping[str, list[CurvePoint]]) -> Iterator[str]:
    yield "\nHeld-out log-likelihood over seeds: mean and standard deviation\n\n| | seeds | mean | deviation |\n|---|---|---|---|"
    for method in DUAL:
        values = [
            last(points, HELDOUT) for key, points in curves.items() if key.startswith(f"{method}, seed")
        ]
        if values:
            yield f"| {method} | {len(values)} | {np.mean(values):.3f} | {np.std(values, ddof=1) if len(values) > 1 else 0:.4f} |"


def clusters(rows: Rows, text: Text, numbers: Sequence[int], seeds: int, epochs: int) -> None:
    for k in numbers:
        for seed in range(1, seeds + 1):
            given = {"epochs": epochs, "clusters": k, "seed": seed}
            rows.run("clusters", f"K = {k}, seed {seed}", lambda given=given: text.train(given))  # type: ignore[misc]


def clusters_table(curves: Mapping[str, list[CurvePoint]]) -> Iterator[str]:
    yield "\nNumber of clusters (exact variant)\n\n| K | held-out, by seed | mean | s an epoch |\n|---|---|---|---|"
    for k in sorted({int(key.split()[2].rstrip(",")) for key in curves}):
        own = [points for key, points in curves.items() if key.startswith(f"K = {k},")]
        values = [last(points, HELDOUT) for points in own]
        each = ", ".join(f"{value:.3f}" for value in values)
        yield f"| {k} | {each} | {np.mean(values):.3f} | {np.mean([an_epoch(points) for points in own]):.2f} |"


# --- the command ----------------------------------------------------------------------------------------------------


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, type=Path, help="folder of text, analogy, trec")
    parser.add_argument(
        "--output", default="results/dcme", type=Path, help="folder of curves, tables, figures"
    )
    parser.add_argument(
        "--texts", nargs="*", default=["brown", "mixed"], help="of FOLDER/text, without .txt.gz"
    )
    parser.add_argument(
        "--epochs", type=int, nargs="+", default=[5, 2], help="of each text; the last counts for the rest"
    )
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument("--class-epochs", type=int, default=8)
    parser.add_argument("--rows", type=int, default=50_000, help="of the word prediction")
    parser.add_argument("--least", type=int, default=50, help="occurrences of the words that are predicted")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--clusters", type=int, nargs="+", default=[1, 5, 20, 50])
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    given = parser.parse_args(arguments)
    for name in given.texts:
        if not (given.data / "text" / f"{name}.txt.gz").is_file():
            parser.error(f"--data: there is no {given.data / 'text' / name}.txt.gz")
    return given


def figure(rows: Rows, name: str, metric: str) -> None:
    for against in ("epoch", "seconds"):
        try:
            curves_figure(rows.curves(name), metric, rows.output / f"{name}.{against}.png", against=against)
        except WordkitError as error:
            print(f"no figure: {error}")


def main(arguments: list[str] | None = None) -> None:
    given = parse(arguments)
    rows = Rows(given.output)
    texts: dict[str, Text] = {}

    def text(name: str) -> Text:
        if name not in texts:
            texts.clear()
            texts[name] = Text(given.data, name, given.min_count)
        return texts[name]

    lines: list[str] = []
    if "classes" in given.parts:
        classification(rows, "trec", trec(given.data), given.class_epochs)
        classification(
            rows, "words", words_of(text("brown").corpus, given.rows, given.least), given.class_epochs
        )
        for name in ("trec", "words"):
            lines += class_tables(rows.curves(name), name)
            figure(rows, name, "accuracy")
    if "variance" in given.parts:
        variance(rows, text("brown"), given.seeds, given.epochs[-1])
        lines += variance_table(rows.curves("variance"))
    if "clusters" in given.parts:
        clusters(rows, text("brown"), given.clusters, given.seeds, given.epochs[-1])
        lines += clusters_table(rows.curves("clusters"))
    for i, name in enumerate(given.texts if "text" in given.parts else ()):
        word_vectors(rows, name, text(name), given.epochs[min(i, len(given.epochs) - 1)])
        lines += text_tables(rows.curves(name), name)
        figure(rows, name, HELDOUT)
    page = "\n".join(lines).lstrip() + "\n"
    (given.output / "tables.md").write_text(page, encoding="utf-8")
    print(page, end="")


if __name__ == "__main__":
    main()
