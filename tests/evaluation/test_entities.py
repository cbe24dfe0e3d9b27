"""Scores of entities: hand-computed cases, both readings, the baseline."""

from __future__ import annotations

import pytest

from wordkit.evaluation.entities import Lexicon, entity_scores


def test_scores_computed_by_hand():
    gold = [["B-PER", "I-PER", "O", "B-LOC", "O", "O"], ["B-ORG", "O"], ["O", "B-LOC"]]
    found = [["B-PER", "I-PER", "O", "B-ORG", "O", "B-LOC"], ["B-ORG", "I-ORG"], ["O", "I-LOC"]]
    metrics, details = entity_scores(gold, found)
    # gold PER(0,2) LOC(3) ORG(0) LOC(1); found PER(0,2) ORG(3) LOC(5) ORG(0,2) LOC(1); right PER, the last LOC
    assert metrics == {"precision": 2 / 5, "recall": 2 / 4, "f1": 4 / 9, "accuracy": 6 / 10}
    assert details["entities"] == {"gold": 4, "predicted": 5, "correct": 2}
    assert details["per_type"]["LOC"] == {
        "precision": 0.5, "recall": 0.5, "f1": 0.5, "gold": 2, "predicted": 2, "correct": 1,
    }  # fmt: skip
    assert details["per_type"]["ORG"]["f1"] == 0.0 and list(details["per_type"]) == ["LOC", "ORG", "PER"]
    metrics, _ = entity_scores(gold, found, "iob2")
    assert metrics["precision"] == 1 / 4 and metrics["recall"] == 1 / 4


def test_u040_i_behind_o_in_both_schemes():
    gold, found = [["B-P", "I-P"]], [["I-P", "I-P"]]
    assert entity_scores(gold, found, "conlleval")[0]["f1"] == 1
    assert entity_scores(gold, found, "iob2")[0]["f1"] == 0


def test_nothing_to_find_or_nothing_found():
    assert entity_scores([["B-P"]], [["O"]])[0] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "accuracy": 0.0,
    }
    assert entity_scores([["O"]], [["B-P"]])[0] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "accuracy": 0.0,
    }
    assert entity_scores([["O"]], [["O"]])[0] == {
        "precision": None,
        "recall": None,
        "f1": None,
        "accuracy": 1.0,
    }
    assert entity_scores([], [])[0]["accuracy"] is None
    with pytest.raises(ValueError, match="zip"):
        entity_scores([["O"]], [["O", "O"]])


def test_the_baseline_takes_the_longest_and_leaves_out_what_had_two_types():
    words = [
        ["New", "York", "Times", "wrote", "in", "New", "York", "about", "Paris"],
        ["Paris", "Hilton", "saw", "Paris"],
    ]
    tags = [
        ["B-ORG", "I-ORG", "I-ORG", "O", "O", "B-LOC", "I-LOC", "O", "B-PER"],
        ["B-PER", "I-PER", "O", "B-LOC"],
    ]
    lexicon = Lexicon(words, tags, "conlleval")
    assert lexicon.ambiguous == 1 and len(lexicon.types) == 3
    found = lexicon.tag(["New", "York", "Times", "New", "York", "New", "Paris", "Hilton", "Paris"])
    assert found == ["B-ORG", "I-ORG", "I-ORG", "B-LOC", "I-LOC", "O", "B-PER", "I-PER", "O"]
    assert lexicon.tag([]) == [] and lexicon.tag(["New", "York"]) == ["B-LOC", "I-LOC"]


def test_equals_seqeval(samples):
    """Of the sample's tags and worse ones: seqeval 1.2.2, whose default reading is conlleval's, and its strict one."""
    lines = (samples / "entities.test.conll").read_text(encoding="utf-8").split("\n")
    gold: list[list[str]] = [[]]
    for line in lines:
        if line:
            gold[-1].append(line.split()[-1])
        elif gold[-1]:
            gold.append([])
    gold, found, n = [tags for tags in gold if tags], [], 0
    for tags in gold:
        found.append([])
        for i, tag in enumerate(tags):
            if n % 7 == 3:
                tag = "O"
            elif n % 11 == 5:
                tag = tag.replace("B-", "I-")
            elif n % 5 == 2:
                tag = tags[i - 1] if i else "I-ORG"
            found[-1].append(tag)
            n += 1
    expected = {
        "conlleval": (0.44047619047619047, 0.5606060606060606, 0.4933333333333333),
        "iob2": (0.7380952380952381, 0.4696969696969697, 0.5740740740740741),
    }
    for scheme, (precision, recall, f1) in expected.items():
        numbers = {"precision": precision, "recall": recall, "f1": f1, "accuracy": 0.9513590844062947}
        assert entity_scores(gold, found, scheme)[0] == pytest.approx(numbers, rel=1e-12, abs=0)
