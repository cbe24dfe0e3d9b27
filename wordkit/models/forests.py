"""Forests over the dimensions of a code: which dimension stands above which, and so the groups of the hierarchical penalty."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_SHAPE = re.compile("[1-9][0-9]{0,5}(x[1-9][0-9]{0,5})*")
_LARGEST = 1 << 24  # nodes


class Forest:
    """Trees over M dimensions; the group of a node is its subtree.

    Args:
        parents: (M), each node's parent, -1 of a root; parents come before children.

    Attributes:
        parents: int32 (M), read-only.
        levels: int32 (M), 0 at roots, read-only.

    Raises:
        ValueError: no node, entries that are no whole numbers, a parent that is not -1 or an earlier node.
    """

    def __init__(self, parents: Sequence[int] | np.ndarray) -> None:
        given = np.asarray(parents)
        if given.ndim != 1 or not len(given) or given.dtype.kind not in "iu":
            raise ValueError("parents must be a list of whole numbers, one a node")
        wrong = np.flatnonzero((given < -1) | (given >= np.arange(len(given))))
        if len(wrong):
            raise ValueError(
                f"parents: node {wrong[0]} has parent {given[wrong[0]]}, expected -1 or an earlier node"
            )
        self.parents = given.astype(np.int32)
        # Ever farther ancestors, and how far they are: twice as far each time, also in a forest as deep as it is large.
        self.levels, ancestor = (self.parents >= 0).astype(np.int32), self.parents.copy()
        while len(below := np.flatnonzero(ancestor >= 0)):
            above = ancestor[below]
            self.levels[below] += self.levels[above]
            ancestor[below] = ancestor[above]
        self.parents.setflags(write=False)
        self.levels.setflags(write=False)

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return f"Forest({len(self)} nodes, {self.trees} trees, {self.depth} levels)"

    @property
    def trees(self) -> int:
        """Number of roots."""
        return int(np.count_nonzero(self.parents < 0))

    @property
    def depth(self) -> int:
        """Number of levels."""
        return int(self.levels.max()) + 1

    @property
    def shape(self) -> str | None:
        """The shape that :func:`forest_of_shape` makes this forest from; None if there is none."""
        children, node = [], 0
        while number := int(np.count_nonzero(self.parents == node)):
            children.append(str(number))
            node += 1  # the first child of a node comes after it
        shape = "x".join(children)
        try:
            equal = forest_of_shape(shape, dim=len(self))
        except ValueError:
            return None
        return shape if np.array_equal(equal.parents, self.parents) else None

    def penalty(self, codes: np.ndarray) -> float:
        """Sum over the columns of codes (M, n), and over nodes, of the length of a column on the node's subtree."""
        squares = np.square(codes, dtype=np.float64)
        for node in range(len(self) - 1, -1, -1):
            if self.parents[node] >= 0:
                squares[self.parents[node]] += squares[node]
        return float(np.sqrt(squares, out=squares).sum())


def tree_parents(shape: str) -> np.ndarray:
    """Parents (int32) of one tree in depth-first order; ``3x3`` has a root with 3 children of 3 children each: 13 nodes.

    Raises:
        ValueError: a shape that is not numbers of children joined by ``x``, or a tree of more than 2^24 nodes.
    """
    if not _SHAPE.fullmatch(shape):
        raise ValueError(f"tree shape is {shape!r}, expected numbers of children a level, such as 3x3")
    parents = np.array([-1], dtype=np.int32)
    for children in map(int, reversed(shape.split("x"))):
        if 1 + children * len(parents) > _LARGEST:
            raise ValueError(f"tree shape {shape!r} has more than {_LARGEST} nodes")
        # A new root above copies of the tree so far.
        begins = 1 + len(parents) * np.arange(children)[:, None]
        parents = np.concatenate([[-1], np.where(parents < 0, 0, parents + begins).ravel()]).astype(np.int32)
    return parents


def forest_of_shape(shape: str, *, trees: int | None = None, dim: int | None = None) -> Forest:
    """A forest of equal trees in depth-first order, by the number of trees or of dimensions.

    Args:
        shape: children a level, as in :func:`tree_parents`.
        trees: number of trees; or
        dim: number of dimensions, a multiple of the size of a tree.

    Raises:
        ValueError: not exactly one of ``trees`` and ``dim``, or a value that does not fit the shape.
    """
    tree = tree_parents(shape)
    if (trees is None) == (dim is None):
        raise ValueError("a forest needs either a number of trees or a dimension")
    if dim is not None:
        trees, rest = divmod(dim, len(tree))
        if rest or dim < 1:
            near = max(1, round(dim / len(tree))) * len(tree)
            raise ValueError(
                f"dim is {dim}, expected a multiple of {len(tree)}, the nodes of a {shape} tree, such as {near}"
            )
    if trees is None or not 1 <= trees <= _LARGEST // len(tree):
        most = _LARGEST // len(tree)
        what = (
            f"trees is {trees}, expected 1 to {most}"
            if dim is None
            else f"dim is {dim}, expected {most * len(tree)} at most"
        )
        raise ValueError(what)
    begins = len(tree) * np.arange(trees)[:, None]
    return Forest(np.where(tree < 0, -1, tree + begins).ravel())


def singletons(M: int) -> Forest:
    """M nodes without edges: the penalty is the l1 norm."""
    return Forest(np.full(M, -1))
