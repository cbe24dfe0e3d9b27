"""The order of a forest's nodes in which the sgd kernel's tree operator is vector code.

Nodes stand level by level, within a level by their number among their siblings, then by their parent's place. A level then
falls into runs: stretches of nodes whose parents are a stretch of the level above, in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LANES = 16  # rows are padded to a multiple of it, the kernel's


@dataclass(frozen=True)
class ForestLayout:
    """Where each node stands.

    Attributes:
        position: int64 (M), cell of each node.
        level: int32 (levels + 1), first cell of each level, and M.
        run_bound: int32 (levels + 1), first run of each level, and the number of runs; the first level has none.
        runs: int32 (runs, 3), of each run its first cell, the first cell of its parents, and its length.
        width: cells of a padded row.
    """

    position: np.ndarray
    level: np.ndarray
    run_bound: np.ndarray
    runs: np.ndarray
    width: int

    @classmethod
    def of(cls, parents: np.ndarray) -> ForestLayout:
        """The layout of a forest given by each node's parent, -1 for roots, parents before children.

        Raises:
            ValueError: ``parents`` is not such an array, or is empty.
        """
        parents = np.asarray(parents)
        if parents.ndim != 1 or not len(parents) or parents.dtype.kind not in "iu":
            raise ValueError("a forest is given by one or more whole numbers, the parent of each node")
        if np.any(parents < -1) or np.any(parents >= np.arange(len(parents))):
            raise ValueError("parents must be -1 or a node with a lower number")
        position = np.full(len(parents), -1, dtype=np.int64)
        depth, sibling = _depths_and_siblings(parents)
        level, run_bound, runs = [0], [0], []
        by_depth = np.argsort(depth, kind="stable")
        for at_depth, nodes in enumerate(np.split(by_depth, np.cumsum(np.bincount(depth))[:-1])):
            above = position[parents[nodes]] if at_depth else np.zeros(len(nodes), dtype=np.int64)
            order = np.lexsort((above, sibling[nodes]))
            position[nodes[order]] = level[-1] + np.arange(len(nodes))
            if at_depth:
                above = above[order]
                starts = np.flatnonzero(np.diff(above, prepend=-2) != 1)
                lengths = np.diff(starts, append=len(nodes))
                runs.append(np.column_stack([level[-1] + starts, above[starts], lengths]))
            level.append(level[-1] + len(nodes))
            run_bound.append(run_bound[-1] + (len(runs[-1]) if at_depth else 0))
        return cls(
            position,
            np.array(level, dtype=np.int32),
            np.array(run_bound, dtype=np.int32),
            np.concatenate([np.zeros((0, 3)), *runs]).astype(np.int32),
            -(-len(parents) // LANES) * LANES,
        )

    def pack(self, rows: np.ndarray) -> np.ndarray:
        """Rows (n, M) in the nodes' own order as padded float32 rows (n, width) in this one, on lines of their own."""
        memory = np.zeros(len(rows) * self.width + LANES, dtype=np.float32)
        skip = -(memory.ctypes.data // 4) % LANES
        packed = memory[skip : skip + len(rows) * self.width].reshape(len(rows), self.width)
        packed[:, self.position] = rows
        return packed

    def unpack(self, packed: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`pack`; float32 (n, M)."""
        return packed[:, self.position]


def _depths_and_siblings(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each node its depth, and how many nodes before it have the same parent (zero for roots)."""
    depth = np.zeros(len(parents), dtype=np.int64)
    sibling = np.zeros(len(parents), dtype=np.int64)
    children = np.zeros(len(parents), dtype=np.int64)
    for node, parent in enumerate(parents.tolist()):
        if parent >= 0:
            depth[node] = depth[parent] + 1
            sibling[node] = children[parent]
            children[parent] += 1
    return depth, sibling
