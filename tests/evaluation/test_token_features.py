"""Clusters, vectors and decoded classes as features of tokens."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.token_features import cluster_features, covered, decoded_features, vector_features
from wordkit.formats.clusters import Clusters
from wordkit.formats.decoded import Decoded

CLUSTERS = Clusters(
    ["0", "10110", "10111"], ["the", "cat", "Dog"], np.array([9, 3, 2]), np.array([0, 1, 2], np.int32)
)
VECTORS = KnownVectors("v", {"the": 0, "cat": 1}, np.array([[1.0, 0.0], [3.0, -2.0]]), np.array([2.0, -1.0]))


def values(part):
    cells = part.cells()
    return [cells[row] if row >= 0 else None for row in part.rows.tolist()]


def test_prefixes_of_paths_each_once():
    (part,) = cluster_features(CLUSTERS, [["cat", "the", "dog", "Dog"]], prefixes=(2, 4, 20))
    assert values(part) == [
        {"10": 1, "1011": 1, "10110": 1},
        {"0": 1},
        None,
        {"10": 1, "1011": 1, "10111": 1},
    ]
    assert part.known.tolist() == [True, True, False, True]
    assert part.matrix().sum(axis=1).tolist() == [3, 1, 0, 3]


def test_u081_clusters_of_unknown_words():
    for options, known in (
        ({}, [True, False, False]),
        ({"unknown": "lowercase"}, [True, False, True]),
        ({"ignore_case": True}, [True, True, True]),
    ):
        (part,) = cluster_features(CLUSTERS, [["cat", "dog", "THE"]], **options)
        assert part.known.tolist() == known
    with pytest.raises(ValueError, match="no mean"):
        cluster_features(CLUSTERS, [[]], unknown="mean")
    with pytest.raises(ValueError, match="expected numbers of bits"):
        cluster_features(CLUSTERS, [[]], prefixes=())


def test_u081_vectors_of_unknown_words():
    tokens = ["the", "Cat", "x"]
    for unknown, expected in (
        ("skip", [{"0": 1}, None, None]),
        ("zero", [{"0": 1}, {}, {}]),
        ("mean", [{"0": 1}, {"0": 2, "1": -1}, {"0": 2, "1": -1}]),
        ("lowercase", [{"0": 1}, {"0": 3, "1": -2}, None]),
    ):
        first, second = vector_features(VECTORS, [tokens, tokens[:1]], unknown=unknown)
        assert values(first) == expected and values(second) == expected[:1]
        assert first.known.tolist() == [True, unknown == "lowercase", False]


def test_decoded_classes_keep_their_numbers():
    one = Decoded("a", vectors=scipy.sparse.csr_array(np.array([[0.0, 1.0]])))
    two = Decoded("b", vectors=scipy.sparse.csr_array(np.array([[0.5, 0.0, 0.5], [0.0, 0.25, 0.75]])))
    first, second = decoded_features([one, two])
    assert values(first) == [{"1": 1}] and values(second) == [{"0": 0.5, "2": 0.5}, {"1": 0.25, "2": 0.75}]
    assert first.table.shape[1] == second.table.shape[1] == 3


def test_a_token_is_covered_if_any_representation_knows_it():
    tokens = ["the", "dog", "Dog"]
    parts = [*cluster_features(CLUSTERS, [tokens]), *vector_features(VECTORS, [tokens])]
    assert covered(parts).tolist() == [True, False, True]
