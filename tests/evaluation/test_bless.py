"""BLESS by hand: normalized scores, ranking beside scikit-learn's, transformed words, ties and unknown words."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.evaluation.bless import (
    average_precision,
    bless_result,
    figure_data,
    interpolated_precision,
    normalize,
)
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.transitions import Transitions
from wordkit.formats.relations import Relations


def known_of(vectors: dict[str, list[float]]) -> KnownVectors:
    table = np.array(list(vectors.values()), dtype=np.float64)
    return KnownVectors("v.vec", {word: i for i, word in enumerate(vectors)}, table, table.mean(axis=0))


def relations_of(*rows: tuple[str, str, str]) -> Relations:
    tags = {"attri": "j", "event": "v", "random-j": "j", "random-v": "v"}
    concepts, names, relata = (list(column) for column in zip(*rows, strict=True))
    return Relations(concepts, names, relata, [tags.get(name, "n") for name in names])


SMALL = relations_of(
    ("cat", "coord", "dog"), ("cat", "coord", "cow"), ("cat", "hyper", "pet"), ("cat", "random-n", "pen"),
)  # fmt: skip
LINE = {"cat": [0.0], "dog": [1.0], "cow": [2.0], "pet": [3.0], "pen": [2.5]}


def test_by_hand():
    result = bless_result(SMALL, known_of(LINE), data="d", similarity="euclidean")
    scores = np.array([-1.0, -3.0, -2.5])  # the nearest of coord, hyper, random-n
    z = (scores - scores.mean()) / scores.std()
    for name, value in zip(("coord", "hyper", "random_n"), z, strict=True):
        assert result.metrics[f"median_{name}"] == pytest.approx(value)
    # ranking: dog, cow, pen, pet
    assert result.metrics["average_precision"] == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert (result.covered, result.total, result.details["used"], result.details["concepts"]) == (4, 4, 4, 1)
    assert result.details["relations"]["coord"]["concepts"] == 1
    assert result.series["precision"][0] == 1.0 and result.series["precision"][-1] == 0.75


def test_scores_of_a_concept_have_mean_0_and_deviation_1():
    best = np.random.default_rng(1).normal(3, 2, (20, 8))
    best[3, 2] = best[4, :6] = np.nan
    found = normalize(best)
    assert np.nanmean(found, axis=1) == pytest.approx(np.zeros(20), abs=1e-12)
    assert np.nanstd(found, axis=1) == pytest.approx(np.ones(20))
    assert (np.isnan(found) == np.isnan(best)).all()


def test_equal_scores_become_0_and_a_single_one_is_left_out():
    found = normalize(
        np.array([[2.0, 2.0, 2.0], [1.0, np.nan, np.nan], [np.nan] * 3, [0.1 + 0.2, 0.3, np.nan]])
    )
    assert found[0].tolist() == [0, 0, 0] and np.isnan(found[1:3]).all()
    assert found[3, :2].tolist() == [0, 0]  # equal but for rounding


def test_average_precision_equals_scikit_learns_with_ties():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    for _ in range(40):
        scores, related = rng.integers(0, 6, 25).astype(float), rng.random(25) < 0.4
        related[:2] = True, False
        assert average_precision(scores, related) == pytest.approx(
            metrics.average_precision_score(related, scores)
        )
        precision, recall, _ = metrics.precision_recall_curve(related, scores)
        expected = [precision[recall >= level - 1e-12].max() for level in np.linspace(0, 1, 101)]
        # scikit-learn adds a last point of precision 1 at recall 0
        assert interpolated_precision(scores, related)[1:] == pytest.approx(expected[1:])


def test_constant_scores_give_the_share_of_related_words():
    assert average_precision(np.zeros(8), np.arange(8) < 3) == pytest.approx(3 / 8)
    assert np.isnan(average_precision(np.arange(3.0), np.ones(3, dtype=bool)))
    same = bless_result(SMALL, known_of(dict.fromkeys(LINE, (1.0, 1.0))), data="d")
    assert same.metrics["average_precision"] == pytest.approx(3 / 4) and same.metrics["median_coord"] == 0.0


@pytest.mark.parametrize("structure", ["tree", "chain"])
def test_adjectives_and_concepts_are_transformed(structure):
    T = np.array([[0.1, 0.7], [0.9, 0.3]])
    rows = relations_of(
        ("cat", "attri", "big"), ("cat", "event", "run"), ("cat", "coord", "dog"), ("cat", "random-n", "pen")
    )
    vectors = {"cat": [0.2, 0.8], "big": [0.6, 0.4], "run": [0.5, 0.5], "dog": [0.3, 0.7], "pen": [0.9, 0.1]}
    result = bless_result(
        rows, known_of(vectors), data="d", similarity="hellinger", transitions=Transitions(T, structure, "m")
    )
    M = T.T if structure == "tree" else T
    cat, big, run, dog, pen = (np.array(v) for v in vectors.values())
    pairs = [(cat, dog), (cat, M @ big), (M @ cat, run), (cat, pen)]
    scores = np.array([-sum((np.sqrt(p / p.sum()) - np.sqrt(q / q.sum())) ** 2) for p, q in pairs])
    z = (scores - scores.mean()) / scores.std()
    names = ("coord", "attri", "event", "random_n")
    assert [result.metrics[f"median_{name}"] for name in names] == pytest.approx(z.tolist())
    with pytest.raises(WordkitError, match="m: 2 classes, but the vectors have 1 dimensions"):
        bless_result(SMALL, known_of(LINE), data="d", transitions=Transitions(T, structure, "m"))


@pytest.mark.parametrize(
    ("unknown", "used", "covered"), [("skip", 4, 4), ("lowercase", 5, 5), ("zero", 6, 4), ("mean", 6, 4)]
)
def test_u081_policies(unknown, used, covered):
    rows = relations_of(
        *zip(SMALL.concepts, SMALL.relations, SMALL.relata, strict=True),
        ("cat", "mero", "Dog"),
        ("ant", "coord", "dog"),
    )
    result = bless_result(rows, known_of(LINE), data="d", similarity="euclidean", unknown=unknown)
    assert (result.details["used"], result.covered, result.total) == (used, covered, 6)
    assert result.details["unknown_words"] == (["ant"] if unknown == "lowercase" else ["ant", "Dog"])


def test_forms_and_words_in_two_relations():
    rows = relations_of(
        ("cat", "coord", "dog"),
        ("cat", "hyper", "dog"),
        ("cat", "random-v", "run"),
        ("cat", "random-n", "pen"),
    )
    tagged = known_of({"cat/NOUN": [0.0], "dog/NOUN": [1.0], "run/VERB": [2.0], "pen/NOUN": [3.0]})
    result = bless_result(rows, tagged, data="d", form="upos", similarity="euclidean")
    assert result.covered == 4 and result.metrics["average_precision"] == 1.0
    assert bless_result(rows, tagged, data="d", form="short").covered == 0


def test_nothing_left_is_undefined():
    result = bless_result(SMALL, known_of({"q": [1.0]}), data="d")
    assert set(result.metrics.values()) == {None} and result.series["precision"] is None
    with pytest.raises(WordkitError, match="holds no scores"):
        figure_data(result.as_dict(), "r.json")
    with pytest.raises(WordkitError, match="negative values"):
        bless_result(SMALL, known_of({**LINE, "dog": [-1.0]}), data="d", similarity="kl")
    with pytest.raises(ValueError, match="similarity"):
        bless_result(SMALL, known_of(LINE), data="d", similarity="x")


def test_figure_data():
    result = bless_result(SMALL, known_of(LINE), data="d", similarity="euclidean").as_dict()
    scores, recall, precision = figure_data(result, "r.json")
    assert list(scores) == ["coord", "hyper", "random-n"] and len(recall) == len(precision) == 101
    for broken in (
        {},
        {**result, "scores": [1]},
        {**result, "recall": [1, 2]},
        {**result, "precision": ["x"]},
    ):
        with pytest.raises(WordkitError, match="holds no scores"):
            figure_data(broken, "r.json")
