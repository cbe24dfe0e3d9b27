"""Hidden Markov models on real treebanks: chains beside trees, 64 and 128 states, random and Brown start, labelled trees.

    experiment_hmtm.py --data FOLDER --output results/hmtm

UD trees (FOLDER/ud: train, test; dev chooses among the epochs) and the Penn Treebank sample (FOLDER/ptb-dep; the last epoch),
lower-cased forms that occur twice, three seeds. Prints and writes as TSV the exact held-out log-likelihood a token and its
perplexity, and the correlation of the words' distributions over classes (Hellinger distance) with WordSim-353. With a text in
FOLDER/text, a chain model of 4M tokens for the similarity measures of Table 3.2, classes, homonyms, and a French thesaurus from
Genesis. On the command line:

    wordkit train-hmtm TRAIN -o M --structure tree --states 128 --init brown --lowercase --heldout TEST --vectors-out V
    wordkit evaluate similarity V EN-WS-353-ALL.txt --similarity hellinger
    wordkit classes M --word head
    wordkit neighbors V dieu --similarity bhattacharyya
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads of BLAS only get in each other's way on small matrices

import numpy as np

from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.neighbors import nearest_neighbors
from wordkit.evaluation.similarity import similarity_result
from wordkit.formats.opening import open_output
from wordkit.formats.word_pairs import read_word_pairs
from wordkit.models.class_table import ClassTable
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.tally import Tally

TREEBANKS = {
    "ud": ("ud/gum-train.conllu.gz", "ud/gum-dev.conllu.gz", "ud/gum-test.conllu.gz"),
    "ptb": ("ptb-dep/wsj-train.conll", None, "ptb-dep/wsj-test.conll"),
}
STRUCTURES = (("chain", "none"), ("tree", "none"), ("tree", "deprel"))
SIMILARITY = "wordsim/EN-WS-353-ALL.txt"
MEASURES = ("cosine", "kl", "chi-squared", "jensen-shannon", "hellinger")
COLUMNS = (
    "data",
    "structure",
    "states",
    "init",
    "epochs",
    "log_likelihood",
    "std",
    "perplexity",
    "pearson",
    "covered",
)
HOMONYMS = ("head", "light", "second")
FRENCH = ("dieu", "terre", "fils", "dit", "bon")


def _read(data: Path, name: str, labels: str, structure: str, like: TreeCorpus | None = None) -> TreeCorpus:
    known: dict[str, Any] = (
        {"vocabulary": like.vocabulary, "label_names": like.label_names, "max_length": None} if like else {}
    )
    return read_corpus(
        [data / name],
        structure=structure,
        labels=labels,
        label_min_count=100,
        min_count=2,
        lowercase=True,
        **known,
    )


def similarity(model: HiddenMarkovTree, data: Path, measure: str) -> tuple[float, int]:
    """Pearson correlation of a model's word vectors with people's scores, and how many pairs it could score."""
    vectors = model.word_vectors().astype(np.float64)
    known = KnownVectors("model", model.vocabulary_.index, vectors, vectors.mean(axis=0), True)
    pairs = read_word_pairs(data / SIMILARITY, tally=Tally())
    result = similarity_result(pairs, known, data=SIMILARITY, similarity=measure)
    return float(result.metrics["pearson"] or 0.0), result.covered


def treebank_rows(data: Path, seeds: int, epochs: int, states: Sequence[int]) -> Iterator[dict[str, Any]]:
    for name, (train, dev, test) in TREEBANKS.items():
        for structure, labels in STRUCTURES:
            if labels != "none" and name == "ptb":
                continue  # its relations are ROOT and DEP only
            corpus = _read(data, train, labels, structure)
            heldout, chooser = (
                _read(data, test, labels, structure, corpus),
                dev and _read(data, dev, labels, structure, corpus),
            )
            for count in states:
                for init in ("random", "brown"):
                    rows = []
                    for seed in range(1, seeds + 1):
                        best = (-math.inf, 0, -math.inf, 0.0, 0)
                        model = HiddenMarkovTree(
                            structure=structure, states=count, init=init, epochs=1, seed=seed
                        )
                        for epoch in range(1, epochs + 1):
                            model.set_params(epochs=epoch)
                            model = model.fit(corpus) if epoch == 1 else model.resume(corpus)
                            chosen_by = model.log_likelihood(chooser) if chooser else float(epoch)
                            if chosen_by > best[0]:
                                best = (
                                    chosen_by,
                                    epoch,
                                    model.log_likelihood(heldout),
                                    *similarity(model, data, "hellinger"),
                                )
                        rows.append(best[1:])
                    found = np.array(rows)
                    mean = found.mean(axis=0)
                    yield dict(
                        zip(
                            COLUMNS,
                            (
                                name, structure if labels == "none" else "labelled tree", count, init, f"{mean[0]:.1f}",
                                f"{mean[1]:.3f}", f"{found[:, 1].std():.3f}", f"{math.exp(-mean[1]):.1f}", f"{mean[2]:.3f}",
                                f"{mean[3]:.0f}",
                            ),
                            strict=True,
                        )
                    )  # fmt: skip


def text_report(data: Path) -> Iterator[str]:
    """Table 3.2's shape, classes, homonyms and a thesaurus, as Markdown."""
    corpus = read_corpus([data / "text/mixed.txt.gz"], structure="chain", min_count=10, lowercase=True)
    model = HiddenMarkovTree(structure="chain", states=128, epochs=2).fit(corpus)
    yield "| measure | Pearson |\n|---|---|"
    for measure in MEASURES:
        value, covered = similarity(model, data, measure)
        yield f"| {measure} | {value:.3f} ({covered} pairs) |"
    table = ClassTable(model, 8)
    yield "\nClasses: " + "; ".join(" ".join(table.words(c)) for c, _ in table.by_share()[20:30])
    for word in HOMONYMS:
        classes = table.of_word(word, 0.1)
        yield f"\n{word}: " + "; ".join(f"{share:.2f} {' '.join(table.words(c))}" for c, share in classes)
    french = read_corpus(
        [data / "text/genesis.french.txt"], structure="chain", min_count=3, lowercase=True, max_length=200
    )
    small = HiddenMarkovTree(structure="chain", states=64, epochs=20, batch_size=20).fit(french)
    words, vectors = small.vocabulary_.words, small.word_vectors()
    queries = [word for word in FRENCH if word in small.vocabulary_.index]
    rows = [small.vocabulary_.index[word] for word in queries]
    found = nearest_neighbors(np.array(rows), vectors, top=5, similarity="bhattacharyya")
    for word, near, scores in zip(queries, found.rows.tolist(), found.scores.tolist(), strict=True):
        yield f"\n{word}: " + ", ".join(
            f"{words[i]} ({score:.2f})" for i, score in zip(near, scores, strict=True)
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--states", type=int, nargs="+", default=[64, 128])
    given = parser.parse_args(arguments)
    data = Path(given.data)
    Path(given.output).parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(COLUMNS)]
    print(lines[0], flush=True)
    for row in treebank_rows(data, given.seeds, given.epochs, given.states):
        lines.append("\t".join(str(value) for value in row.values()))
        print(lines[-1], flush=True)
        with open_output(f"{given.output}.tsv") as out:
            out.write(("\n".join(lines) + "\n").encode())
    if (data / "text").is_dir():
        report = []
        for line in text_report(data):
            report.append(line)
            print(line, flush=True)
        with open_output(f"{given.output}.text.md") as out:
            out.write(("\n".join(report) + "\n").encode())


if __name__ == "__main__":
    main()
