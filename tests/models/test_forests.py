"""Forests by shape and by parents, and the operator that users call."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import forest_prox as twin
from wordkit.models.forests import Forest, forest_of_shape, singletons, tree_parents
from wordkit.models.sparse_coding import tree_prox

TREE = [-1, 0, 1, 1, 1, 0, 5, 5, 5, 0, 9, 9, 9]


def test_thirteen_nodes_depth_first():
    forest = forest_of_shape("3x3", trees=4)
    assert forest.parents.dtype == np.int32 and len(forest) == 52
    for k in range(4):
        tree = forest.parents[13 * k : 13 * k + 13]
        np.testing.assert_array_equal(np.where(tree < 0, -1, tree - 13 * k), TREE)
    np.testing.assert_array_equal(forest.levels, ([0] + [1, 2, 2, 2] * 3) * 4)
    assert repr(forest) == "Forest(52 nodes, 4 trees, 3 levels)"
    np.testing.assert_array_equal(forest_of_shape("3x3", dim=52).parents, forest.parents)


@pytest.mark.parametrize(
    ("shape", "parents"),
    [
        ("1", [-1, 0]),
        ("2", [-1, 0, 0]),
        ("2x1", [-1, 0, 1, 0, 3]),
        ("1x2", [-1, 0, 1, 1]),
        ("1x1x1", [-1, 0, 1, 2]),
        ("3x3", TREE),
    ],
)
def test_shapes(shape, parents):
    assert tree_parents(shape).tolist() == parents
    assert forest_of_shape(shape, trees=1).depth == shape.count("x") + 2


def test_what_is_no_forest():
    for parents in ([0], [-2], [-1, 1], [-1, 2, 0], [], [[-1]], [-1.0], ["-1"]):
        with pytest.raises(ValueError, match="parents"):
            Forest(parents)
    with pytest.raises(ValueError, match="node 1 has parent 3, expected -1 or an earlier node"):
        Forest([-1, 3])
    for shape in ("", "0", "3x", "x3", "3x0", "-1", "3X3", "a", "3 x 3", "³"):
        with pytest.raises(ValueError, match="tree shape"):
            forest_of_shape(shape, trees=1)
    with pytest.raises(ValueError, match="more than"):
        forest_of_shape("99999x99999", trees=1)
    with pytest.raises(
        ValueError, match="dim is 50, expected a multiple of 13, the nodes of a 3x3 tree, such as 52"
    ):
        forest_of_shape("3x3", dim=50)
    for wrong in ({"dim": 0}, {"dim": -13}, {"trees": 0}, {}, {"trees": 1, "dim": 13}, {"trees": 1 << 30}):
        with pytest.raises(ValueError):
            forest_of_shape("3x3", **wrong)


def test_forests_cannot_be_changed():
    given = np.array([-1, 0, 0, -1])
    forest = Forest(given)
    given[0] = 7
    assert forest.parents.tolist() == [-1, 0, 0, -1] and forest.trees == 2
    with pytest.raises(ValueError):
        forest.parents[0] = 0
    assert singletons(3).parents.tolist() == [-1, -1, -1] and singletons(3).depth == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tree_prox(dtype):
    random = np.random.default_rng(0)
    A = random.normal(size=(13, 9)).astype(dtype)
    before = A.copy()
    for given in (A, np.asfortranarray(A), A[:, ::-1][:, ::-1]):
        Z = tree_prox(given, TREE, 0.4)
        assert Z.dtype == dtype and Z.shape == A.shape
        np.testing.assert_allclose(Z, twin.prox(A, TREE, 0.4), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(A, before)
    each = np.linspace(0, 1, 9)
    np.testing.assert_allclose(
        tree_prox(A, np.array(TREE), each), twin.prox(A, TREE, each.astype(dtype)), rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(
        tree_prox(A, Forest(TREE), 0.1, nonnegative=True), twin.prox(A, TREE, 0.1, True), rtol=0, atol=1e-6
    )
    assert tree_prox(A[:, :0], TREE, 0.1).shape == (13, 0)
    assert tree_prox(np.ones((13, 2), int), TREE, 0.1).dtype == np.float64


def test_tree_prox_of_what_does_not_fit():
    A = np.ones((3, 4))
    for wrong in ((A[:2], [-1, 0, 0], 1), (A[0], [-1, 0, 0], 1), (A, [-1, 0, 0], -1), (A, [-1, 0, 0], np.nan),
                  (A, [-1, 0, 0], np.ones(3)), (A, [0, 0, 0], 1), (A * np.nan, [-1, 0, 0], 1)):  # fmt: skip
        with pytest.raises(ValueError):
            tree_prox(*wrong)


def test_forests_as_deep_as_they_are_large():
    size = 100_000
    chain = Forest(np.arange(size) - 1)
    assert chain.depth == size and chain.trees == 1
    np.testing.assert_array_equal(chain.levels, np.arange(size))
    random = np.random.default_rng(0)
    parents = [int(random.integers(-1, max(i, 1)) if i else -1) for i in range(300)]
    levels: list[int] = []
    for parent in parents:
        levels.append(levels[parent] + 1 if parent >= 0 else 0)
    np.testing.assert_array_equal(Forest(parents).levels, levels)


def test_a_dimension_too_large_for_a_forest_is_told_as_such():
    with pytest.raises(ValueError, match="dim is 1300000000, expected 16777215 at most"):
        forest_of_shape("3x3", dim=1_300_000_000)


@pytest.mark.parametrize("shape", ["3x3", "1", "2", "1x1x1", "2x1x3"])
def test_a_forest_knows_its_shape(shape):
    for trees in (1, 3):
        assert forest_of_shape(shape, trees=trees).shape == shape
    for parents in ([-1], [-1, -1], [-1, 0, -1], [-1, 0, 0, 1], [-1, 0, -1, 2, 2]):
        assert Forest(parents).shape is None
