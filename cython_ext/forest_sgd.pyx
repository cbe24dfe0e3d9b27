"""Stochastic factorization with the forest regularizer (Yogatama et al. 2015, Algorithm 1): X[c, v] ~ d_c . a_v.

X is a sparse matrix of C contexts (rows) and V words; D (C, M) and A (V, M) are stored by rows. Draw t brings a cell (c, v) with
its value x and a weight w (``entry_draws.pxd``); with e = x - d_c . a_v, and both right-hand sides made of the old rows,

    d_c = d_c + 2 r w e' a_v - 2 r tau_c d_c,        a_v = prox(a_v + 2 r w e' d_c, r lambda_v),        r = rate (1 - fall t)

where prox is the operator of the forest (``forest_step.pxd``), after max(a, 0) if asked. ``printed``: e' = e, and the operator's
threshold is lambda_v. Otherwise e' = e / (1 + 2 r w (|d_c|^2 + |a_v|^2)), to first order the error that is left after the step:
an implicit step (Toulis and Airoldi 2017), which does not overshoot at any rate, and is the plain one as the rate goes to zero.

Rows of A and D are padded with zeros to a multiple of 16 cells, in the order that ``wordkit.models.forest_layout`` gives.
Threads may call ``run_draws`` on the same arrays at the same time, over draws of their own: there are no locks (Hogwild, Niu et
al. 2011), and what comes out then depends on their timing.
"""

from libc.stdint cimport int32_t, int64_t, uint64_t

from entry_draws cimport BATCH, Draws, Entries, draw, filter_bit
from forest_step cimport Forest, steps


# --- checks ---------------------------------------------------------------------------------------------------------------------


def check_entries(
    const int64_t[::1] indptr, const int32_t[::1] indices, Py_ssize_t columns, const int32_t[::1] row_alias, const int32_t[::1] alias
):
    """ValueError unless column numbers rise within each row and all numbers lie in range. Call once before the doors below."""
    cdef Py_ssize_t rows = indptr.shape[0] - 1, i, j
    cdef bint good = rows >= 0 and indptr[0] == 0 and indptr[rows] == indices.shape[0] and row_alias.shape[0] == rows
    good = good and alias.shape[0] in (0, indices.shape[0])
    cdef bint tables = alias.shape[0] > 0
    if good:
        with nogil:
            for i in range(rows):
                good = good and indptr[i] <= indptr[i + 1] and 0 <= row_alias[i] < rows
            for i in range(rows if good else 0):
                for j in range(indptr[i], indptr[i + 1]):
                    good = good and 0 <= indices[j] < columns and (j == indptr[i] or indices[j] > indices[j - 1])
                    good = good and (not tables or 0 <= alias[j] < indptr[i + 1] - indptr[i])
    if not good:
        raise ValueError("rows of the matrix or their tables are not consistent, or a number lies outside them")


def check_forest(const int32_t[::1] level, const int32_t[::1] run_bound, const int32_t[:, ::1] runs, Py_ssize_t width):
    """ValueError unless levels and runs describe a forest of at most ``width`` nodes, as ``forest_step.pxd`` says."""
    cdef Py_ssize_t levels = level.shape[0] - 1, l, r, at
    cdef bint good = levels >= 1 and run_bound.shape[0] == level.shape[0] and runs.shape[1] == 3 and width % 16 == 0
    good = good and level[0] == 0 and level[levels] <= width
    good = good and run_bound[0] == 0 and run_bound[1] == 0 and run_bound[levels] == runs.shape[0]
    for l in range(levels if good else 0):
        good = good and level[l] < level[l + 1] and run_bound[l] <= run_bound[l + 1]
    for l in range(1, levels if good else 0):
        at = level[l]
        for r in range(run_bound[l], run_bound[l + 1]):
            good = good and runs[r, 0] == at and 1 <= runs[r, 2] <= level[l + 1] - at
            good = good and level[l - 1] <= runs[r, 1] <= level[l] - runs[r, 2]
            at += runs[r, 2]
        good = good and at == level[l + 1]
    if not good:
        raise ValueError("levels and runs do not describe a forest of so many nodes")


cdef int set_entries(
    Entries* x, const int64_t[::1] indptr, const int32_t[::1] indices, const float[::1] values, Py_ssize_t columns,
    const double[::1] row_threshold, const int32_t[::1] row_alias, const float[::1] threshold, const int32_t[::1] alias,
    const uint64_t[::1] filter, double zeros, double mean, uint64_t key,
) except -1:
    """Pointers to arrays whose shapes are checked; the matrix has an entry at least."""
    cdef Py_ssize_t rows = indptr.shape[0] - 1, nnz = values.shape[0]
    if rows < 1 or nnz < 1 or columns < 1 or indices.shape[0] != nnz or not 0 <= zeros <= 1 or not mean > 0:
        raise ValueError("the matrix is empty, or zeros or mean are out of range")
    if row_threshold.shape[0] != rows or row_alias.shape[0] != rows or threshold.shape[0] not in (0, nnz):
        raise ValueError("tables need a cell a row, and none or one an entry")
    if alias.shape[0] != threshold.shape[0]:
        raise ValueError("threshold and alias differ in length")
    x.rows, x.columns, x.indptr, x.indices, x.values = rows, columns, &indptr[0], &indices[0], &values[0]
    x.row_threshold, x.row_alias, x.threshold, x.alias = &row_threshold[0], &row_alias[0], NULL, NULL
    if threshold.shape[0] > 0:
        x.threshold, x.alias = &threshold[0], &alias[0]
    x.filter, x.filter_bits = NULL, 0
    if zeros > 0:
        x.filter_bits = filter_size(filter)
        x.filter = &filter[0]
    x.zeros, x.mean, x.key = zeros, mean, key
    return 0


cdef int filter_size(const uint64_t[::1] filter) except -1:
    """The binary logarithm of the number of bits."""
    cdef int bits = 6
    while bits < 62 and (<Py_ssize_t>1 << (bits - 6)) < filter.shape[0]:
        bits += 1
    if filter.shape[0] != <Py_ssize_t>1 << (bits - 6):
        raise ValueError("the filter's length must be a power of two")
    return bits


# --- doors ----------------------------------------------------------------------------------------------------------------------


def fill_filter(const int64_t[::1] indptr, const int32_t[::1] indices, Py_ssize_t columns, uint64_t[::1] filter):
    """Sets in ``filter``, of a power of two cells, the bits of all entries of rows that passed :func:`check_entries`."""
    cdef Py_ssize_t i, j, rows = indptr.shape[0] - 1
    cdef int bits = filter_size(filter)
    cdef uint64_t bit
    if indptr[rows] != indices.shape[0]:
        raise ValueError("rows of the matrix are not consistent")
    with nogil:
        for i in range(rows):
            for j in range(indptr[i], indptr[i + 1]):
                bit = filter_bit(i, indices[j], columns, bits)
                filter[bit >> 6] |= <uint64_t>1 << (bit & 63)


def draw_entries(
    const int64_t[::1] indptr, const int32_t[::1] indices, const float[::1] values, Py_ssize_t columns,
    const double[::1] row_threshold, const int32_t[::1] row_alias, const float[::1] threshold, const int32_t[::1] alias,
    const uint64_t[::1] filter, double zeros, double mean, uint64_t key, uint64_t first, int32_t[::1] row, int32_t[::1] column, float[::1] value,
    float[::1] weight,
):
    """The draws ``first``, ``first + 1``, ... that ``run_draws`` works on, into the last four arrays; for tests and documentation."""
    cdef Entries x
    cdef Draws to
    cdef Py_ssize_t n = row.shape[0], lo, i, size
    set_entries(&x, indptr, indices, values, columns, row_threshold, row_alias, threshold, alias, filter, zeros, mean, key)
    if column.shape[0] != n or value.shape[0] != n or weight.shape[0] != n:
        raise ValueError("row, column, value and weight differ in length")
    for lo in range(0, n, BATCH):
        size = min(BATCH, n - lo)
        draw(&x, first + lo, size, &to)
        for i in range(size):
            row[lo + i], column[lo + i], value[lo + i], weight[lo + i] = to.row[i], to.column[i], to.value[i], to.weight[i]


def run_draws(
    const int64_t[::1] indptr, const int32_t[::1] indices, const float[::1] values,
    const double[::1] row_threshold, const int32_t[::1] row_alias, const float[::1] threshold, const int32_t[::1] alias,
    const uint64_t[::1] filter, double zeros, double mean, uint64_t key, uint64_t first, Py_ssize_t n,
    const int32_t[::1] level, const int32_t[::1] run_bound, const int32_t[:, ::1] runs,
    float[:, ::1] codes, float[:, ::1] dictionary, const float[::1] shrinkage, const float[::1] decay,
    double rate, double fall, double limit, bint printed, bint nonnegative, float[::1] scratch, double[::1] loss,
):
    """Steps for the draws ``first`` to ``first + n - 1``.

    Args:
        indptr, indices, values: CSR rows of X that passed :func:`check_entries`.
        row_threshold, row_alias: (C), table of the rows; threshold, alias: a cell an entry, tables within the rows, or empty: then
            entries of a row are equally likely and weigh |x| / ``mean``.
        filter: the matrix's, by :func:`fill_filter`; may be empty if ``zeros`` is 0.
        zeros: share of draws that are cells at random; key: where the random numbers begin.
        level, run_bound, runs: the forest, which passed :func:`check_forest`.
        codes: (V, width); dictionary: (C, width); both updated in place.
        shrinkage: (V), lambda_v; decay: (C), tau_c.
        limit: the largest |e| that is no divergence.
        scratch: 2 width cells.
        loss: 1 cell, to which w e^2 of each draw, before its step, is added.

    Returns:
        Number of draws done; fewer than n if |x - d.a| of the next one is above ``limit`` or not a number.
    """
    cdef Entries x
    cdef Forest forest
    cdef Draws to
    cdef Py_ssize_t V = codes.shape[0], C = indptr.shape[0] - 1, width = codes.shape[1], lo = 0, size, done
    set_entries(&x, indptr, indices, values, V, row_threshold, row_alias, threshold, alias, filter, zeros, mean, key)
    if dictionary.shape[0] != C or dictionary.shape[1] != width or width % 16 != 0 or level[level.shape[0] - 1] > width:
        raise ValueError("codes and dictionary need a row a column and a row of X, as wide as the forest")
    if shrinkage.shape[0] != V or decay.shape[0] != C or scratch.shape[0] < 2 * width or loss.shape[0] < 1 or n < 0:
        raise ValueError("shrinkage, decay, scratch or loss have too few cells")
    forest.width, forest.levels = width, level.shape[0] - 1
    forest.level, forest.run_bound, forest.runs = &level[0], &run_bound[0], &runs[0, 0] if runs.shape[0] else NULL
    forest.codes, forest.dictionary = &codes[0, 0], &dictionary[0, 0]
    forest.shrinkage, forest.decay, forest.nonnegative, forest.printed = &shrinkage[0], &decay[0], nonnegative, printed
    forest.rate, forest.fall, forest.limit = rate, fall, limit
    forest.factor, forest.below = &scratch[0], &scratch[width]
    with nogil:
        while lo < n:
            size = min(BATCH, n - lo)
            draw(&x, first + lo, size, &to)
            done = steps(&forest, to.row, to.column, to.value, to.weight, size, <double>(first + lo), &loss[0])
            lo += done
            if done < size:
                break
    return lo
