"""Purity and entropy on the thesis's tables, SciPy's clustering, ties and words that cannot be scored."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist

from wordkit.errors import WordkitError
from wordkit.evaluation.categorization import (
    LINKAGES,
    categorization_result,
    cluster_words,
    entropy,
    figure_data,
    purity,
)
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.measures import MEASURES

# Tables 3.6 and 3.10 of the thesis, a row a class, a column a cluster.
CONCRETE_NOUNS = [
    [2, 3, 1, 0, 0, 0], [1, 6, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0], [0, 0, 5, 0, 0, 0], [0, 0, 0, 1, 9, 0], [1, 0, 0, 0, 0, 6],
]  # fmt: skip
VERBS = [
    [1, 2, 0, 0, 0, 2, 0, 0, 0], [0, 3, 0, 0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 4, 0, 0, 0, 0], [0, 0, 1, 2, 2, 0, 0, 0, 0],
    [0, 0, 0, 0, 5, 0, 0, 0, 0], [0, 2, 0, 0, 0, 2, 1, 0, 0], [0, 0, 0, 0, 0, 2, 3, 0, 0], [2, 0, 0, 0, 0, 0, 0, 3, 0],
    [0, 0, 0, 0, 1, 0, 0, 2, 2],
]  # fmt: skip


def known_of(vectors: dict[str, list[float]]) -> KnownVectors:
    table = np.array(list(vectors.values()), dtype=np.float64)
    return KnownVectors("v.vec", {word: i for i, word in enumerate(vectors)}, table, table.mean(axis=0))


def scored(vectors: dict[str, list[float]], classes: dict[str, str], **options):
    words = list(classes)
    options = {"similarity": "euclidean", **options}
    return categorization_result(words, list(classes.values()), words, known_of(vectors), data="d", **options)


FOUR = {"a": [0.0, 0], "b": [0, 1], "c": [9, 0], "d": [9, 2]}
TWO_CLASSES = {"a": "x", "b": "x", "c": "y", "d": "y"}


@pytest.mark.parametrize(
    ("table", "share", "mean_entropy"), [(CONCRETE_NOUNS, 29 / 38, 0.269), (VERBS, 23 / 45, 0.446)]
)
def test_the_tables_of_the_thesis(table, share, mean_entropy):
    assert purity(np.array(table)) == pytest.approx(share, rel=1e-12)
    assert entropy(np.array(table)) == pytest.approx(mean_entropy, abs=5e-4)


def test_u087_numbers_of_clusters_and_order_of_classes_mean_nothing():
    rng = np.random.default_rng(3)
    for table in map(np.array, (CONCRETE_NOUNS, VERBS)):
        other = table[rng.permutation(len(table))][:, rng.permutation(table.shape[1])]
        assert purity(other) == pytest.approx(purity(table), rel=1e-12)
        assert entropy(other) == pytest.approx(entropy(table), rel=1e-12)


def test_bounds_of_purity_and_entropy():
    assert (purity(np.eye(3)), entropy(np.eye(3))) == (1.0, 0.0)
    assert (purity(np.ones((4, 2))), entropy(np.ones((4, 2)))) == (0.25, pytest.approx(1.0))
    assert purity(np.array([[3, 2]])) is None and entropy(np.array([[3, 2], [0, 0]])) is None


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("similarity", ["euclidean", "cosine", "hellinger", "jensen-shannon"])
def test_equals_scipy(linkage, similarity):
    rng = np.random.default_rng(5)
    vectors = rng.dirichlet(np.full(6, 0.4), 30)
    words = [f"w{i:02}" for i in range(30)]
    found = cluster_words(words, vectors, similarity=similarity, linkage=linkage)
    one = 1.0 if similarity == "cosine" else 0.0
    distances = pdist(vectors, lambda x, y: one - MEASURES[similarity](x, y))
    expected = scipy_linkage(distances, method=linkage)
    np.testing.assert_allclose(found.merges, expected, rtol=1e-9, atol=1e-12)
    for clusters in (1, 4, 30):
        cut = found.cut(clusters)
        theirs = fcluster(expected, clusters, criterion="maxclust")
        assert len(set(cut)) == clusters == len(set(zip(cut, theirs, strict=True)))
        assert list(np.bincount(cut)) == sorted(np.bincount(cut), reverse=True)


def test_by_hand():
    result = scored(FOUR, TWO_CLASSES)
    assert result.metrics == {"purity": 1.0, "entropy": 0.0} and (result.covered, result.total) == (4, 4)
    assert result.details["clusters"] == {"1": "a b", "2": "c d"} and not result.details["tied_cut"]
    assert result.details["confusion"] == {
        "labels": ["x", "y"],
        "columns": ["1", "2"],
        "counts": [[2, 0], [0, 2]],
    }
    assert [row[2:] for row in result.series["merges"]] == [[1, 2], [2, 2], [pytest.approx(85**0.5), 4]]
    mixed = scored(FOUR, {"a": "x", "b": "y", "c": "y", "d": "y"})
    assert mixed.metrics["purity"] == 0.75 and mixed.metrics["entropy"] == pytest.approx(0.5)
    for name, sample in mixed.samples.items():  # the metric is the mean of its items
        assert sample.values.mean() == pytest.approx(mixed.metrics[name])


def test_average_linkage_differs_from_complete():
    line = {"a": [0.0], "b": [1], "c": [2.1], "d": [3.3]}
    chains = {linkage: scored(line, TWO_CLASSES, linkage=linkage).details["clusters"] for linkage in LINKAGES}
    assert chains == {
        "complete": {"1": "a b", "2": "c d"},
        "single": {"1": "a b c", "2": "d"},
        "average": {"1": "a b", "2": "c d"},
    }


def test_constant_distances_are_no_clustering():
    same = scored({word: [1.0, 2.0] for word in "abcd"}, TWO_CLASSES)
    assert same.metrics == {"purity": None, "entropy": None} and same.samples == {} and same.covered == 4
    zero = scored({"q": [1.0, 0.0]}, TWO_CLASSES, similarity="cosine", unknown="zero")
    assert zero.metrics["purity"] is None and (zero.covered, zero.total, zero.details["used"]) == (0, 4, 4)


def test_ties_do_not_depend_on_the_order_of_the_file():
    square = {"a": [0.0, 0], "b": [0, 1], "c": [1, 1], "d": [1, 0], "e": [9, 9]}
    classes = {"a": "x", "b": "x", "c": "y", "d": "y", "e": "z"}
    results = [
        scored(square, {w: classes[w] for w in order}, clusters=4) for order in ("abcde", "edcba", "cadeb")
    ]
    assert len({str(result.details["clusters"]) for result in results}) == 1
    assert results[0].details["tied_cut"]


def test_one_class_or_no_word_is_undefined():
    assert scored(FOUR, dict.fromkeys("abcd", "x")).metrics == {"purity": None, "entropy": None}
    nothing = scored(FOUR, {"q": "x", "r": "y"})
    assert nothing.metrics == {"purity": None, "entropy": None} and (nothing.covered, nothing.total) == (0, 2)
    one = scored(FOUR, {"a": "x", "r": "y"})
    assert one.metrics["purity"] is None and one.details["unknown_words"] == ["r"]


@pytest.mark.parametrize(
    ("unknown", "used", "clusters"),
    [
        ("skip", 4, {"1": "a b", "2": "c d"}),
        ("lowercase", 5, {"1": "A a b", "2": "c d"}),
        ("zero", 6, {"1": "A Q a b", "2": "c d"}),
        ("mean", 6, {"1": "A Q a b", "2": "c d"}),
    ],
)
def test_u081_policies(unknown, used, clusters):
    result = scored(FOUR, {**TWO_CLASSES, "A": "x", "Q": "x"}, unknown=unknown)
    assert result.details["used"] == used and result.details["clusters"] == clusters
    assert (result.covered, result.total) == (5 if unknown == "lowercase" else 4, 6)


def test_words_without_a_class_are_listed_on_demand():
    vectors, classes = {**FOUR, "m": [0.0, 2.0]}, {**TWO_CLASSES, "m": ""}
    assert scored(vectors, classes).details["clusters"] == {"1": "a b", "2": "c d"}
    both = scored(vectors, classes, with_unclassed=True)
    assert both.details["clusters"] == {"1": "a b m", "2": "c d"} and (both.covered, both.total) == (4, 4)
    assert both.metrics["purity"] == 1.0 and both.details["used"] == 4


def test_refused():
    with pytest.raises(WordkitError, match="negative values: hellinger is for probabilities"):
        scored({"a": [-1.0, 2.0], "b": [0.5, 0.5]}, {"a": "x", "b": "y"}, similarity="hellinger")
    for options in ({"similarity": "dot"}, {"linkage": "ward"}, {"unknown": "guess"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            scored(FOUR, TWO_CLASSES, **options)


def test_figure_data():
    result = scored(FOUR, TWO_CLASSES).as_dict()
    words, classes, merges = figure_data(result, "r.json")
    assert words == list("abcd") and classes == ["x", "x", "y", "y"] and merges.shape == (3, 4)
    broken = [{}, {**result, "merges": [[0, 1]]}, {**result, "words": "ab"}, {**result, "merges": "x"}]
    broken.append({**result, "merges": [[0, 9, 1, 2], [1, 2, 2, 2], [3, 4, 5, 4]]})
    for bad in broken:
        with pytest.raises(WordkitError, match="holds no tree"):
            figure_data(bad, "r.json")
