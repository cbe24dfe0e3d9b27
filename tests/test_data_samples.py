"""The sample data: what the generator makes is what is stored, and what the README says it is."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

SAMPLES = Path(__file__).parent.parent / "data_samples"
PROGRAMS = {
    "generate.py", "grammar.py", "lexicon.py", "tagging.py", "treebank.py", "parses.py", "broken.py",
    "word_sets.py", "demo.sh",
}  # fmt: skip


def files(folder):
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts and path.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([sys.executable, "-B", SAMPLES / "generate.py", folder], check=True, timeout=60)
    return folder


def test_generator_gives_the_stored_bytes(made):
    assert files(made) == files(SAMPLES) - PROGRAMS - {"README.md"}
    assert [
        name for name in sorted(files(made)) if (made / name).read_bytes() != (SAMPLES / name).read_bytes()
    ] == []


def test_small_in_all():
    assert sum((SAMPLES / name).stat().st_size for name in files(SAMPLES)) < 3e6


def test_readme_names_every_file_with_its_lines():
    table = dict(re.findall(r"^\| `([\w./]+)` \| (\d+|-) \|", (SAMPLES / "README.md").read_text(), re.M))
    stored = {name for name in files(SAMPLES) if "/" not in name} - PROGRAMS - {"README.md"}
    assert set(table) == stored | {"broken/"}
    for name in stored - {"vectors.bin"}:
        assert int(table[name]) == (SAMPLES / name).read_bytes().count(b"\n"), name


def test_every_tree_is_a_tree_and_one_has_crossing_arcs():
    crossing = sentences = ranges = empty = 0
    for block in (SAMPLES / "trees.conllu").read_text().split("\n\n")[:-1]:
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        assert all(len(row) == 10 for row in rows)
        ranges += sum("-" in row[0] for row in rows)
        empty += sum("." in row[0] for row in rows)
        words = [row for row in rows if row[0].isdigit()]
        assert [int(row[0]) for row in words] == list(range(1, len(words) + 1))
        heads = {int(row[0]): int(row[6]) for row in words}
        assert [row[7] for row in words if row[6] == "0"] == ["root"]
        for node in heads:
            for _ in range(len(words)):
                node = heads.get(node, 0)
            assert node == 0
        arcs = [tuple(sorted(arc)) for arc in heads.items()]
        crossing += any(a < c < b < d for a, b in arcs for c, d in arcs)
        sentences += 1
    assert (sentences, crossing, empty) == (1502, 1, 1)
    assert ranges > 10


def test_text_and_binary_vectors_are_equal():
    head, *rows = (SAMPLES / "vectors.txt").read_text().splitlines()
    data = (SAMPLES / "vectors.bin").read_bytes()
    count, dim = map(int, head.split())
    at = data.index(b"\n") + 1
    for row in rows:
        word, *numbers = row.split()
        assert data[at : at + len(word) + 1] == word.encode() + b" "
        at += len(word) + 1
        assert np.array_equal(struct.unpack_from(f"<{dim}f", data, at), np.float32(numbers))
        at += 4 * dim + 1
    assert len(rows) == count
    assert at == len(data)


def test_classes_are_unequal_and_words_have_a_long_tail():
    lines = (SAMPLES / "questions.train.txt").read_text().splitlines()
    labels = Counter(line.split()[0] for line in lines)
    assert len(labels) == 6
    assert max(labels.values()) > 5 * min(labels.values())
    words = Counter(word for line in lines for word in line.split()[1:])
    assert sum(count == 1 for count in words.values()) > 200


def test_words_then_bigrams_classify_as_the_readme_says():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    svm = pytest.importorskip("sklearn.svm")
    sets = [(SAMPLES / f"questions.{name}.txt").read_text().splitlines() for name in ("train", "test")]
    (y, train), (gold, test) = (
        [list(part) for part in zip(*(s.split(" ", 1) for s in lines), strict=True)] for lines in sets
    )
    accuracy = []
    for n in (1, 2):
        vectorizer = text.CountVectorizer(token_pattern=r"\S+", ngram_range=(1, n), min_df=2)
        model = svm.LinearSVC(C=0.1).fit(vectorizer.fit_transform(train), y)
        accuracy.append(model.score(vectorizer.transform(test), gold))
    assert 0.82 < accuracy[0] < 0.90
    assert 0.90 < accuracy[1] < 0.97


def test_nbest_has_ten_candidates_each_with_counts():
    lines = [
        line.split() for line in (SAMPLES / "nbest.txt").read_text().splitlines() if not line.startswith("#")
    ]
    counts = [list(map(int, line.split())) for line in (SAMPLES / "nbest.counts").read_text().splitlines()]
    assert Counter(line[1] for line in lines) == {f"qid:{i}": 10 for i in range(1, 61)}
    assert [line[1] for line in lines] == [f"qid:{row[0]}" for row in counts]
    for (score, *_), (_, matched, gold, proposed) in zip(lines, counts, strict=True):
        assert 0 <= matched <= min(gold, proposed)
        assert float(score) == pytest.approx(2 * matched / (gold + proposed), abs=5e-5)
