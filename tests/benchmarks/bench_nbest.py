"""k-best dependency parsing: sentences a second, what its parts cost, accuracy on a treebank where one is given."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from wordkit._kernels.eisner_kbest import best_trees

from tests.benchmarks.measure import least_seconds, row
from wordkit.models.dependency_features import count_features
from wordkit.models.dependency_parser import DependencyParser
from wordkit.models.feature_index import relative
from wordkit.models.tagged_sentences import TaggedSentences
from wordkit.models.treebank_lists import Treebank
from wordkit.tally import Tally

SAMPLE = Path(__file__).parent.parent.parent / "data_samples" / "trees.conllu"
N_TEST, K = 400, 50


def eisner(length: int) -> None:
    """The kernel alone, on arcs at random."""
    arcs = np.random.default_rng(1).normal(size=(length + 1, length + 1))
    for k in (1, K):
        heads, scores = np.empty((k, length), np.int32), np.empty(k)
        times = max(1, 20_000 // (length * length))
        seconds = least_seconds(lambda: [best_trees(arcs, heads, scores) for _ in range(times)]) / times  # noqa: B023
        row(f"Eisner's algorithm, {length} words, k = {k}", 1 / seconds, None, "sentences/s")


def treebank(name: str, train: Path, test: Path | None) -> None:
    """Training and parsing of a treebank; the last sentences are the test where it has no other."""
    bank = Treebank([str(train)], "upos", 2, 250, Tally(), keep=False)
    sentences, held = bank.sentences, None
    if test is None:
        numbers = np.arange(len(sentences))
        sentences, held = sentences.part(numbers[:-N_TEST]), sentences.part(numbers[-N_TEST:])
    else:
        other = Treebank([str(test)], "upos", 1, 250, Tally(), keep=False)
        some = other.sentences
        held = TaggedSentences(
            bank.words.numbers(other.words.words)[some.words],
            bank.tags.numbers(other.tags.words)[some.tags],
            some.heads,
            some.offsets,
        )
    parser = DependencyParser()
    began = time.process_time()
    parser.fit(sentences, len(bank.words), len(bank.tags))
    seconds = (time.process_time() - began) / parser.epochs
    row(f"nbest, parser training, {name}", len(sentences) / seconds, None, "sentences/s an epoch")
    for k in (1, K):
        seconds = least_seconds(lambda: parser.parse(held, k))  # noqa: B023
        row(f"nbest, parsing, {name}, k = {k}", len(held) / seconds, None, "sentences/s")
    parsed = parser.parse(held, K)
    spans = [held.span(s) for s in range(len(held))]
    right = [
        np.count_nonzero(heads == held.heads[span], axis=1)
        for span, (heads, _) in zip(spans, parsed, strict=True)
    ]
    for what, choose in (("first", lambda found: found[0]), ("best of the list", max)):
        row(f"nbest, {name}: heads right, {what}", 100 * sum(map(choose, right)) / len(held.words), None, "%")

    def features() -> None:
        for span, (heads, _) in zip(spans, parsed, strict=True):
            relative(count_features(held.words[span], held.tags[span], heads)[1])

    row(
        f"nbest, reranking features, {name}, k = {K}", len(held) / least_seconds(features, 2), None, "lists/s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="not used: there is no peer to run")
    parser.add_argument(
        "--data", default="", help="folder of treebanks: ptb-dep/wsj-train.conll, ud/gum-train.conllu.gz"
    )
    folder = parser.parse_args().data
    for length in (12, 24, 48):
        eisner(length)
    found = False
    for name, train, test in (
        ("Penn sample", "ptb-dep/wsj-train.conll", "ptb-dep/wsj-test.conll"),
        ("UD GUM", "ud/gum-train.conllu.gz", "ud/gum-test.conllu.gz"),
    ):
        if folder and (Path(folder) / train).exists():
            found = True
            treebank(name, Path(folder) / train, Path(folder) / test)
    if not found:
        treebank("sample trees", SAMPLE, None)


if __name__ == "__main__":
    main()
