"""From counts to association: pointwise mutual information (PMI) of words and what stands near them.

    pmi[i, j] = log(n[i, j] N / (n[i, .] n[., j])) - log K        (natural logarithm)

over the cells that are not zero; cells that are stay zero, so the result is as sparse as the counts (Church and Hanks 1990).
Positive PMI leaves out the cells that are not above 0; K > 1 gives the shifted PMI of Levy and Goldberg (2014).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy.sparse

from wordkit.formats.counts import Counts

_CELLS = 1 << 20  # looked at together: what is needed beside the result stays small


def pmi(
    counts: Counts | scipy.sparse.csr_array, *, positive: bool = False, shift: float = 0.0
) -> scipy.sparse.csr_array:
    """Pointwise mutual information of counts.

    Args:
        counts: counts, or their matrix (V, C).
        positive: leave out cells that are 0 or below.
        shift: K; log K is subtracted from each cell. 0 (and 1) subtract nothing.

    Returns:
        csr_array (V, C) of float32. Without ``positive`` its cells are those of the counts, cells of independent words holding 0.

    Raises:
        ValueError: a negative shift or count.
    """
    if not (shift >= 0 and math.isfinite(shift)):
        raise ValueError(f"shift is {shift}, expected a number from 0 on")
    matrix = counts.matrix if isinstance(counts, Counts) else scipy.sparse.csr_array(counts)
    if matrix.nnz and not matrix.data.min() > 0:
        matrix = _without_zeros(matrix)
    starts = matrix.indptr.astype(np.int64)
    row_sums, column_sums = _sums(matrix, starts)
    total = float(row_sums.sum())
    with np.errstate(divide="ignore"):  # words that stand alone have no cell
        of_row = np.log(row_sums) - (math.log(total) if total else 0.0) + (math.log(shift) if shift else 0.0)
        of_column = np.log(column_sums)
    data = np.empty(matrix.nnz, dtype=np.float32)
    for rows, cells in _pieces(starts):
        values = np.log(matrix.data[cells], dtype=np.float64)
        values -= np.repeat(of_row[rows], np.diff(starts[rows.start : rows.stop + 1]))
        values -= of_column[matrix.indices[cells]]
        data[cells] = values
    if positive:
        kept = data > 0
        starts = np.concatenate([[0], np.cumsum(kept)])[starts]
        return scipy.sparse.csr_array((data[kept], matrix.indices[kept], starts), shape=matrix.shape)
    return scipy.sparse.csr_array((data, matrix.indices.copy(), matrix.indptr.copy()), shape=matrix.shape)


def _without_zeros(matrix: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    if not matrix.data.min() >= 0:
        raise ValueError("counts are negative")
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return matrix


def _pieces(starts: np.ndarray) -> list[tuple[slice, slice]]:
    """(rows, cells) of pieces of some hundred thousand cells."""
    bounds = [0]
    while bounds[-1] < len(starts) - 1:
        far = int(np.searchsorted(starts, starts[bounds[-1]] + _CELLS, side="right")) - 1
        bounds.append(max(far, bounds[-1] + 1))
    return [(slice(lo, hi), slice(int(starts[lo]), int(starts[hi]))) for lo, hi in itertools.pairwise(bounds)]


def _sums(matrix: scipy.sparse.csr_array, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of rows and of columns (float64), exact for whole numbers below 2^53."""
    rows, columns = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
    for part, cells in _pieces(starts):
        values = matrix.data[cells].astype(np.float64)
        numbers = np.repeat(np.arange(part.stop - part.start), np.diff(starts[part.start : part.stop + 1]))
        rows[part] = np.bincount(numbers, weights=values, minlength=part.stop - part.start)
        columns += np.bincount(matrix.indices[cells], weights=values, minlength=len(columns))
    return rows, columns
