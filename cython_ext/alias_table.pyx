"""Alias tables (Walker 1977; built as Vose 1991 does): draw one of n items by weight from two numbers, in O(1).

A table over weights w_0 .. w_n-1 cuts n slots of equal size in two: slot i is item i with probability threshold[i], else item
alias[i]. With y uniform in [0, n), the item is i = floor(y) if y - i < threshold[i], and alias[i] otherwise, so that

    p(j) = (threshold[j] + sum over i with alias[i] = j of (1 - threshold[i])) / n = w_j / sum of w

up to rounding; an item of weight zero is never drawn. Built in O(n). ``fill_rows`` makes a table for each row of a CSR matrix
with weights |x|; aliases are then places within the row, so that they stay int32 however many entries there are.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

ctypedef fused real:
    float
    double


cdef double fill(const real* weights, Py_ssize_t n, real* threshold, int32_t* alias, int32_t* waiting, double* share) noexcept nogil:
    """One table; ``waiting`` and ``share`` have n cells. Returns the sum of |weights|; nothing is written if it is zero."""
    cdef double total = 0
    cdef Py_ssize_t i, small = 0, large = n, best = 0
    for i in range(n):
        total += fabs(weights[i])
        if fabs(weights[i]) > fabs(weights[best]):
            best = i
    if not total > 0:
        return 0
    # Items below the mean wait at the front, the others at the back; share is an item's weight in slots.
    for i in range(n):
        share[i] = fabs(weights[i]) / total * n
        if share[i] < 1:
            waiting[small] = <int32_t>i
            small += 1
        else:
            large -= 1
            waiting[large] = <int32_t>i
    cdef int32_t poor, rich
    while small > 0 and large < n:
        small -= 1
        poor = waiting[small]
        rich = waiting[large]
        threshold[poor] = <real>share[poor]
        alias[poor] = rich
        share[rich] -= 1 - share[poor]
        if share[rich] < 1:
            large += 1
            waiting[small] = rich
            small += 1
    # What rounding leaves over fills its slot, unless its weight is zero.
    for i in range(small):
        poor = waiting[i]
        threshold[poor] = 1 if weights[poor] != 0 else 0
        alias[poor] = <int32_t>best
    for i in range(large, n):
        threshold[waiting[i]] = 1
        alias[waiting[i]] = waiting[i]
    return total


def fill_table(const double[::1] weights, double[::1] threshold, int32_t[::1] alias, int32_t[::1] waiting, double[::1] share):
    """A table of all ``weights`` (n), into ``threshold`` and ``alias`` (n); ``waiting`` and ``share`` (n) are scratch.

    Returns:
        The sum of the weights.

    Raises:
        ValueError: shapes do not agree, or the sum is not above zero.
    """
    cdef Py_ssize_t n = weights.shape[0]
    cdef double total = 0
    if threshold.shape[0] != n or alias.shape[0] != n or waiting.shape[0] < n or share.shape[0] < n:
        raise ValueError("threshold, alias, waiting and share need a cell a weight")
    if n > 0:
        with nogil:
            total = fill(&weights[0], n, &threshold[0], &alias[0], &waiting[0], &share[0])
    if not total > 0:
        raise ValueError("no weight is above zero")
    return total


def fill_rows(
    const float[::1] values, const int64_t[::1] indptr, Py_ssize_t lo, Py_ssize_t hi, float[::1] threshold, int32_t[::1] alias,
    double[::1] totals, int32_t[::1] waiting, double[::1] share,
):
    """Tables of the rows lo to hi - 1 of a CSR matrix, by |values|; a row without a weight above zero is left as it is.

    Args:
        values, threshold, alias: a cell an entry.
        indptr: rows + 1, bounds of the rows.
        totals: a cell a row, set to the row's sum of |values|.
        waiting, share: scratch, as many cells as the longest of these rows.
    """
    cdef Py_ssize_t nnz = values.shape[0], rows = indptr.shape[0] - 1, i, n
    if threshold.shape[0] != nnz or alias.shape[0] != nnz or totals.shape[0] != rows:
        raise ValueError("threshold and alias need a cell an entry, totals one a row")
    if not 0 <= lo <= hi <= rows or waiting.shape[0] != share.shape[0]:
        raise ValueError("rows or scratch are out of range")
    for i in range(lo, hi):
        if not 0 <= indptr[i] <= indptr[i + 1] <= nnz or indptr[i + 1] - indptr[i] > waiting.shape[0]:
            raise ValueError("bounds of the rows are not consistent, or scratch is too small")
    with nogil:
        for i in range(lo, hi):
            n = indptr[i + 1] - indptr[i]
            totals[i] = 0
            if n > 0:
                totals[i] = fill(&values[indptr[i]], n, &threshold[indptr[i]], &alias[indptr[i]], &waiting[0], &share[0])
