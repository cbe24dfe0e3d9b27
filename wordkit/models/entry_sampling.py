"""Which cells of a sparse matrix stochastic factorization visits: non-zeros by |x| or at random, and a share of any cells.

Both samplings of non-zeros have the same expectation: ``alias`` draws x with probability |x| / sum and weight 1, ``uniform``
draws every non-zero alike with weight |x| / mean |x| (Yogatama et al. 2015, footnote 4). Random cells weigh 1 and bring the
value that stands there, which is nearly always zero.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse

from wordkit._kernels import alias_table, forest_sgd
from wordkit.rng import ENTRIES, stream

SAMPLINGS = ("alias", "uniform")


class EntrySampling:
    """Draws of a matrix's cells, each a pure function of the seed and the draw's number.

    Args:
        matrix: sparse (C, V), finite.
        sampling: "alias" or "uniform".
        zeros: share of the draws that are cells at random, from 0 to 1.
        seed: of all draws.

    Raises:
        ValueError: an argument out of range, a matrix without a non-zero or with a value that is not finite.
    """

    def __init__(
        self, matrix: scipy.sparse.sparray, *, sampling: str = "alias", zeros: float = 0.9, seed: int = 1
    ) -> None:
        if sampling not in SAMPLINGS:
            raise ValueError(f"sampling must be one of {', '.join(SAMPLINGS)}, not {sampling!r}")
        if not 0 <= zeros <= 1:
            raise ValueError(f"zeros must lie from 0 to 1, not {zeros!r}")
        rows = _canonical(matrix)
        self.shape: tuple[int, int] = rows.shape
        self.nnz, self.zeros, self.sampling = rows.nnz, float(zeros), sampling
        self.indptr, self.indices, self.values = (
            rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data,
        )  # fmt: skip
        self.key = int(stream(seed, ENTRIES).integers(2**64, dtype=np.uint64))
        total = float(np.sum(np.abs(self.values), dtype=np.float64))
        self.mean = total / self.nnz
        self._fill_tables()
        forest_sgd.check_entries(self.indptr, self.indices, self.shape[1], self.row_alias, self.alias)
        self.filter = np.zeros(0, dtype=np.uint64)
        if zeros > 0:  # 8 to 16 bits an entry: a search for some 6 to 12% of the absent cells
            self.filter = np.zeros(2 ** math.ceil(math.log2(8 * self.nnz / 64 + 1)), dtype=np.uint64)
            forest_sgd.fill_filter(self.indptr, self.indices, self.shape[1], self.filter)

    def _fill_tables(self) -> None:
        C, nnz, lengths = self.shape[0], self.nnz, np.diff(self.indptr)
        room = max(int(lengths.max()), C)
        waiting, share = np.empty(room, dtype=np.int32), np.empty(room)
        self.threshold, self.alias = np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32)
        totals = lengths.astype(np.float64)
        if self.sampling == "alias":
            self.threshold, self.alias = np.zeros(nnz, dtype=np.float32), np.zeros(nnz, dtype=np.int32)
            alias_table.fill_rows(
                self.values, self.indptr, 0, C, self.threshold, self.alias, totals, waiting, share
            )
        self.row_threshold, self.row_alias = np.zeros(C), np.zeros(C, dtype=np.int32)
        alias_table.fill_table(totals, self.row_threshold, self.row_alias, waiting, share)

    def arguments(self) -> tuple:
        """What the kernel takes first: matrix, tables, filter, share of random cells, mean of |x|, key."""
        return (
            self.indptr, self.indices, self.values, self.row_threshold, self.row_alias, self.threshold, self.alias,
            self.filter, self.zeros, self.mean, self.key,
        )  # fmt: skip

    def weights(self) -> np.ndarray:
        """|x| / mean |x| of each non-zero, in row order: what it weighs in the expected loss; float64 (nnz)."""
        return np.abs(self.values.astype(np.float64)) / self.mean

    def visits(self, axis: int) -> np.ndarray:
        """How often each row (``axis`` 0) or column (1) is expected among nnz draws; float64."""
        length = self.shape[axis]
        of = np.repeat(np.arange(length), np.diff(self.indptr)) if axis == 0 else self.indices
        weights = self.weights() if self.sampling == "alias" else None
        counts = np.bincount(of, weights=weights, minlength=length)
        return (1 - self.zeros) * counts + self.zeros * self.nnz / length

    def draw(self, first: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Draws ``first`` to ``first + n - 1``: rows, columns, values, weights."""
        row, column = np.zeros(n, dtype=np.int32), np.zeros(n, dtype=np.int32)
        value, weight = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.float32)
        indptr, indices, values, *rest = self.arguments()
        forest_sgd.draw_entries(
            indptr, indices, values, self.shape[1], *rest, first, row, column, value, weight
        )
        return row, column, value, weight


def _canonical(matrix: scipy.sparse.sparray) -> scipy.sparse.csr_array:
    """The matrix as float32 CSR rows: columns rise, none twice, no stored zero; the caller's arrays stay as they are."""
    rows = scipy.sparse.csr_array(matrix)
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        raise ValueError("the matrix must have two dimensions and hold real numbers")
    if max(rows.shape) >= 2**31:
        raise ValueError("the matrix has more rows or columns than int32 can count")
    if not rows.has_canonical_format or np.any(rows.data == 0):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    with np.errstate(over="ignore"):
        rows = rows.astype(np.float32, copy=False)
    if not np.all(np.isfinite(rows.data)):
        raise ValueError("the matrix holds a value that is not a finite float32 number")
    if np.any(rows.data == 0):  # below the smallest float32
        rows = rows.copy()
        rows.eliminate_zeros()
    if rows.nnz == 0:
        raise ValueError("the matrix has no entry that is not zero")
    return rows
