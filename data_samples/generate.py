"""Makes every file of this folder from a seed: ``python generate.py [FOLDER]``, the same bytes each time.

Only ``random()`` of Python's generator is drawn from, and computed numbers are rounded, so that neither the
Python version nor the linear algebra library shows in the files.
"""

from __future__ import annotations

import math
import struct
import sys
from collections import Counter
from pathlib import Path
from random import Random

import lexicon
import numpy as np
import word_sets
from broken import FILES, readme
from grammar import Grammar, Token
from parses import parses
from tagging import conllulex, entity_columns
from treebank import conllu

SEED = 20240607
CLASSES = {"entity": 22, "person": 22, "description": 22, "place": 17, "number": 14, "abbreviation": 3}
N_QUESTIONS, N_QUESTIONS_TEST = 3000, 500
N_REVIEWS, N_REVIEWS_TEST = 1000, 200
N_TAGGED, N_TAGGED_TEST = 500, 200
LABEL_NOISE = 0.04
N_VECTORS, DIM, WINDOW = 600, 20, 4
Document = tuple[str, list[list[Token]]]


def normal(rng: Random) -> float:
    """A draw from the standard normal, near enough: twelve uniform ones."""
    return sum(rng.random() for _ in range(12)) - 6


def choose(rng: Random, weights: dict[str, float]) -> str:
    """A key, in proportion to its weight."""
    left = rng.random() * sum(weights.values())
    *others, last = weights
    for key in others:
        left -= weights[key]
        if left < 0:
            return key
    return last


def questions(grammar: Grammar, rng: Random, count: int) -> list[Document]:
    """One question a document; some carry another class's label, as annotators' mistakes do."""
    made = []
    for _ in range(count):
        name = choose(rng, CLASSES)
        sentence = grammar.sentence(f"Q_{name.upper()}")
        label = choose(rng, CLASSES) if rng.random() < LABEL_NOISE else name
        made.append((label, [sentence]))
    return made


def reviews(grammar: Grammar, rng: Random, count: int) -> list[Document]:
    """Three to six sentences a document: mostly of its own opinion, some neutral, a few of the other one."""
    made = []
    for _ in range(count):
        good = rng.random() < 0.55
        mix = {"P_S": 5.0, "B_S": 0.5, "N_S": 3.0} if good else {"P_S": 0.5, "B_S": 5.0, "N_S": 3.0}
        made.append(
            (
                "good" if good else "bad",
                [grammar.sentence(choose(rng, mix)) for _ in range(3 + int(rng.random() * 4))],
            )
        )
    return made


def text(sentence: list[Token]) -> str:
    """The words of a sentence."""
    return " ".join(token.form for token in sentence)


def labelled(documents: list[Document]) -> str:
    """Documents as ``__label__NAME token ...`` lines."""
    return "".join(f"__label__{label} {' '.join(map(text, sentences))}\n" for label, sentences in documents)


def word_vectors(corpus: list[str]) -> tuple[list[str], np.ndarray]:
    """Vectors of the most frequent words: truncated SVD of positive pointwise mutual information."""
    lines = [line.split() for line in corpus]
    frequency = Counter(word for line in lines for word in line)
    words = sorted(frequency, key=lambda word: (-frequency[word], word))[:N_VECTORS]
    index = {word: i for i, word in enumerate(words)}
    counts = np.zeros((len(words), len(words)))
    for line in lines:
        ids = [index.get(word, -1) for word in line]
        for at, left in enumerate(ids):
            for right in ids[at + 1 : at + 1 + WINDOW]:
                if left >= 0 and right >= 0:
                    counts[left, right] += 1
                    counts[right, left] += 1
    margin = np.maximum(counts.sum(axis=1), 1)
    with np.errstate(divide="ignore"):
        pmi = np.log(counts * margin.sum() / np.outer(margin, margin))
    left, values, _ = np.linalg.svd(np.maximum(pmi, 0))
    vectors = left[:, :DIM] * np.sqrt(values[:DIM])
    vectors *= np.sign(
        vectors[np.abs(vectors).argmax(axis=0), np.arange(DIM)]
    )  # a column's sign is arbitrary
    return words, (np.round(vectors, 3) + 0.0).astype(np.float32)  # + 0.0 turns -0 into 0


def vector_files(words: list[str], vectors: np.ndarray) -> dict[str, str | bytes]:
    """The same vectors in word2vec's text and binary forms."""
    head = f"{len(words)} {vectors.shape[1]}\n"
    rows = [
        f"{word} " + " ".join(f"{value:.3f}" for value in row)
        for word, row in zip(words, vectors, strict=True)
    ]
    packed = [
        word.encode() + b" " + struct.pack(f"<{len(row)}f", *row) + b"\n"
        for word, row in zip(words, vectors, strict=True)
    ]
    return {"vectors.txt": head + "\n".join(rows) + "\n", "vectors.bin": head.encode() + b"".join(packed)}


RELATED = [
    {"animal", "plant", "food", "body"},
    {"tool", "vehicle", "artifact"},
    {"occupation", "staff"},
    {"landmark", "placeword", "venue"},
    {"dish", "food"},
    {"concept", "event", "quantity"},
]


def similarity(rng: Random, categories: dict[str, str], words: list[str]) -> str:
    """Pairs graded by category: the same, related ones, others; with noise, between 0 and 10."""
    nouns = [word for word in words if word in categories]
    rows, seen = [], set()
    wanted = {8.0: 80, 4.5: 70, 1.5: 90}
    while any(wanted.values()):
        one, two = (nouns[int(rng.random() * len(nouns))] for _ in range(2))
        if one == two or frozenset((one, two)) in seen:
            continue
        kinds = {categories[one], categories[two]}
        level = 8.0 if len(kinds) == 1 else 4.5 if any(kinds <= group for group in RELATED) else 1.5
        if wanted[level]:
            wanted[level] -= 1
            seen.add(frozenset((one, two)))
            rows.append(f"{one}\t{two}\t{min(10.0, max(0.0, level + 0.8 * normal(rng))):.2f}\n")
    return "".join(rows)


KINDS = {
    "animal": "animal",
    "food": "food",
    "tool": "tool",
    "plant": "plant",
}  # categories that are words themselves
N_PAIRS = 9  # a section of analogies, so that it has 72 questions at most


def analogies(categories: dict[str, str], words: list[str]) -> str:
    """Sections of pairs, each pair with each other one; every word has a vector."""
    known = set(words)
    nouns = [word for word in words if categories.get(word) in {*KINDS, "occupation", "dish", "vehicle"}]
    verbs = [verb for name in ("make", "act", "happen", "handle") for verb in lexicon.OPEN[name][1].split()]
    kinds = [(word, KINDS[categories[word]]) for word in nouns if categories[word] in KINDS]
    per_kind: Counter[str] = Counter()
    member = []
    for word, kind in kinds:
        per_kind[kind] += 1
        if word != kind and kind in known and per_kind[kind] <= 3:
            member.append((word, kind))
    sections = {
        "member-kind": member,
        "gram1-plural": [(word, lexicon.plural(word)) for word in nouns],
        "gram2-past-tense": [(verb, lexicon.conjugate(verb, "ed")) for verb in dict.fromkeys(verbs)],
        "gram3-third-person": [(verb, lexicon.conjugate(verb, "s")) for verb in dict.fromkeys(verbs)],
    }
    lines = []
    for name, pairs in sections.items():
        there = [pair for pair in pairs if known.issuperset(pair) and pair[0] != pair[1]][:N_PAIRS]
        lines.append(f": {name}\n")
        lines += [
            f"{a} {b} {c} {d}\n" for a, b in there for c, d in there if a != c and b != d
        ]  # two of one kind ask nothing
    return "".join(lines)


def nbest(rng: Random) -> tuple[str, str]:
    """Lists of ten candidates over 120 features, their quality a planted linear model's with noise.

    Feature 1 is the first parser's own score; candidates come in its order.
    """
    weights = [0.0] + [normal(rng) for _ in range(120)]
    lists = ["# score qid:N feature:value ...; 60 sentences, 10 candidates each\n"]
    counts = []
    for qid in range(1, 61):
        gold = 8 + int(rng.random() * 15)
        candidates = []
        for _ in range(10):
            features = {2 + int(rng.random() ** 2 * 119): 1 + int(rng.random() * 2) for _ in range(12)}
            quality = sum(weights[i] * value for i, value in features.items()) / math.sqrt(20)
            matched = round(gold * min(1.0, max(0.2, 0.72 + 0.13 * quality + 0.03 * normal(rng))))
            features[1] = round(-3 + 0.6 * quality + 0.8 * normal(rng), 3)
            candidates.append(
                (-features[1], len(candidates), matched, gold + int(rng.random() * 3) - 1, features)
            )
        for _, _, matched, proposed, features in sorted(candidates, key=lambda candidate: candidate[:2]):
            matched = min(matched, proposed)
            row = " ".join(f"{i}:{features[i]:g}" for i in sorted(features))
            lists.append(f"{2 * matched / (gold + proposed):.4f} qid:{qid} {row}\n")
            counts.append(f"{qid} {matched} {gold} {proposed}\n")
    return "".join(lists), "".join(counts)


def regression(rng: Random, rows: int = 80) -> tuple[str, str]:
    """Three blocks of correlated columns, two free ones; the first block and a free one make the target."""
    blocks = {"a": 7, "b": 6, "c": 5, "free": 2}
    header = [f"{name}{i}" for name, width in blocks.items() for i in range(1, width + 1)]
    table, target = [",".join(header) + "\n"], []
    for _ in range(rows):
        row = []
        for name, width in blocks.items():
            common = 0.0 if name == "free" else normal(rng)
            row += [0.95 * common + (1.0 if name == "free" else 0.31) * normal(rng) for _ in range(width)]
        table.append(",".join(f"{value:.4f}" for value in row) + "\n")
        target.append(f"{2 + 0.5 * sum(row[:7]) - 1.5 * row[18] + 0.5 * normal(rng):.4f}\n")
    return "".join(table), "".join(target)


def svmlight(documents: list[Document]) -> str:
    """Word counts, indices from 1 by first occurrence; labels are numbers, named in a comment."""
    numbers = {name: i for i, name in enumerate(CLASSES, 1)}
    index: dict[str, int] = {}
    lines = ["# " + " ".join(f"{number}={name}" for name, number in numbers.items()) + "\n"]
    for label, sentences in documents:
        counts: Counter[int] = Counter()
        for token in (token for sentence in sentences for token in sentence):
            counts[index.setdefault(token.form, len(index) + 1)] += 1
        lines.append(f"{numbers[label]} " + " ".join(f"{i}:{counts[i]}" for i in sorted(counts)) + "\n")
    return "".join(lines)


def contents() -> dict[str, str | bytes]:
    """Name to content of every file but README.md and the programs."""
    rng = Random(SEED)
    grammar = Grammar(rng)
    sets = {
        "questions.train.txt": questions(grammar, rng, N_QUESTIONS),
        "questions.test.txt": questions(grammar, rng, N_QUESTIONS_TEST),
        "reviews.train.txt": reviews(grammar, rng, N_REVIEWS),
        "reviews.test.txt": reviews(grammar, rng, N_REVIEWS_TEST),
    }
    files: dict[str, str | bytes] = {name: labelled(documents) for name, documents in sets.items()}
    sentences = [sentence for documents in sets.values() for _, parts in documents for sentence in parts]
    corpus = list(map(text, sentences))
    files["corpus.txt"] = "\n".join(corpus) + "\n"
    named = [(f"question-{i}", sentences[i]) for i in range(1000)]
    of_reviews = [sentence for _, parts in sets["reviews.train.txt"] for sentence in parts]
    files["trees.conllu"] = conllu(named + [(f"review-{i}", of_reviews[i]) for i in range(500)])
    words, vectors = word_vectors(corpus)
    files |= vector_files(words, vectors)
    files["similarity.txt"] = similarity(rng, grammar.categories(), words)
    files["nbest.txt"], files["nbest.counts"] = nbest(rng)
    files["regression.csv"], files["regression.y.txt"] = regression(rng)
    files["analogies.txt"] = analogies(grammar.categories(), words)
    files["reviews.dev.txt"] = labelled(
        reviews(grammar, rng, N_REVIEWS_TEST)
    )  # drawn last: the other files stay as they were
    files["questions.svmlight"] = svmlight(sets["questions.train.txt"][:400])
    about_names = [
        sentence for _, parts in questions(grammar, rng, N_TAGGED + N_TAGGED_TEST) for sentence in parts
    ]
    names = grammar.name_categories()
    files["entities.train.conll"] = entity_columns(about_names[:N_TAGGED], names, 100)
    files["entities.test.conll"] = entity_columns(about_names[N_TAGGED:], names, 100)
    lexical = sentences[1000:1200] + of_reviews[500:600]
    files["supersenses.conllulex"] = conllulex(
        [(f"sense-{i}", sentence) for i, sentence in enumerate(lexical)],
        {"NOUN": grammar.categories(), "VERB": grammar.verb_categories()},
    )
    files["parses.txt"], files["parses.gold.txt"] = parses(Random(SEED + 1))
    known, own = set(words), Random(SEED + 2)
    files["categories.txt"] = word_sets.categories(known)
    files["relations.txt"] = word_sets.relations(own, known)
    files["phrases.txt"] = word_sets.phrases(own, known)
    files["pairs.txt"] = word_sets.acceptability(own, known)
    files["completion.csv"] = word_sets.completion(own, grammar.categories(), corpus, known)
    files |= {f"broken/{name}": content for name, (content, _, _) in FILES.items()}
    files["broken/README.md"] = readme()
    return files


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for name, content in contents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


if __name__ == "__main__":
    main()
