"""The proximal operator of a forest of groups, over blocks of columns, in O(M) a column (Jenatton et al. 2011, Algorithm 2).

For each column a (M values, one a node) and its threshold t, in place,

    a <- argmin over z of  1/2 |z - a|^2 + t  sum over nodes i of |z restricted to the subtree of i|_2          (weights 1)

which shrinks groups from the leaves to the roots (Yogatama et al. 2015, section 2.3). Two sweeps, with f_i = 0 for n_i <= t:

    upward     n_i = sqrt(a_i^2 + sum over children c of (n_c f_c)^2),    f_i = 1 - t / n_i
    downward   a_i <- a_i f_i prod over ancestors of their f

A leaf's n_i is |a_i|: it needs neither root nor division. With singletons this is soft thresholding. Non-negative: max(a, 0)
first. The block is (M, n), a node's row contiguous; it is worked on in tiles of 64 columns by runs of whole trees, so that both
sweeps stay in the first-level cache. Arithmetic is that of the block's type: values whose squares vanish in it (1e-22 in
float32, 1e-160 in float64) count as zero, and their squares must be finite. One vector: ``prox.pxd``.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from forest_tile cimport TILE, plan_forest, tile_down, tile_up
from prox cimport real, shrink_forest


cdef inline void load(const real* block, Py_ssize_t stride, Py_ssize_t rows, Py_ssize_t columns, real* tile) noexcept nogil:
    """A tile from the block; columns that are not there are zeros."""
    cdef Py_ssize_t i
    for i in range(rows):
        memcpy(tile + i * TILE, block + i * stride, columns * sizeof(real))
        if columns < TILE:
            memset(tile + i * TILE + columns, 0, (TILE - columns) * sizeof(real))


cdef inline void store(const real* tile, Py_ssize_t stride, Py_ssize_t rows, Py_ssize_t columns, real* block) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(rows):
        memcpy(block + i * stride, tile + i * TILE, columns * sizeof(real))


cdef void shrink_columns(real* block, Py_ssize_t stride, const int32_t* parents, const uint8_t* inner, const int32_t* runs,
                         Py_ssize_t n_runs, Py_ssize_t longest, const real* thresholds, bint nonnegative, Py_ssize_t lo,
                         Py_ssize_t hi, real* value) noexcept nogil:
    """Columns lo to hi - 1; value: 2 longest TILE cells of scratch."""
    cdef real* factor = value + longest * TILE
    cdef real threshold[TILE]
    cdef Py_ssize_t at = lo, columns, k, base, rows
    while at < hi:
        columns = min(<Py_ssize_t>TILE, hi - at)
        load(thresholds + at, 0, 1, columns, &threshold[0])
        for k in range(n_runs):
            base = runs[k]
            rows = runs[k + 1] - base
            load(block + base * stride + at, stride, rows, columns, value)
            tile_up(value, factor, parents + base, inner + base, base, rows, &threshold[0], nonnegative)
            tile_down(value, factor, parents + base, inner + base, base, rows)
            store(value, stride, rows, columns, block + base * stride + at)
        at += columns


def shrink(real[:, ::1] block, const int32_t[::1] parents, const real[::1] thresholds, bint nonnegative, Py_ssize_t lo,
           Py_ssize_t hi):
    """Apply the operator to columns lo to hi - 1 of the block, in place.

    Args:
        block: (M, n), a column a vector of node values.
        parents: (M), each node's parent, -1 of a root; parents come before children.
        thresholds: (n), not negative, one a column.
        nonnegative: negative values become 0 first.

    Raises:
        ValueError: shapes that do not agree, columns that are not there, parents that are no forest, a threshold below 0.
    """
    cdef Py_ssize_t M = block.shape[0], n = block.shape[1], n_runs, longest = 0, i
    cdef bint good = True
    cdef int32_t* runs
    cdef uint8_t* inner
    cdef real* scratch = NULL
    if parents.shape[0] != M or thresholds.shape[0] != n:
        raise ValueError("parents or thresholds do not fit the block")
    if not 0 <= lo <= hi <= n:
        raise ValueError("columns are out of range")
    for i in range(lo, hi):
        if not thresholds[i] >= 0:
            good = False
    if not good:
        raise ValueError("a threshold is negative")
    runs = <int32_t*>malloc((M + 1) * sizeof(int32_t))
    inner = <uint8_t*>malloc(M + 1)
    try:
        if runs == NULL or inner == NULL:
            raise MemoryError
        n_runs = plan_forest(&parents[0] if M else NULL, M, inner, runs, &longest)
        if n_runs < 0:
            raise ValueError("parents are no forest: each must be -1 or an earlier node")
        if n_runs == 0 or lo == hi:
            return
        scratch = <real*>malloc(2 * longest * TILE * sizeof(real))
        if scratch == NULL:
            raise MemoryError
        with nogil:
            shrink_columns(&block[0, 0], n, &parents[0], inner, runs, n_runs, longest, &thresholds[0], nonnegative, lo, hi,
                           scratch)
    finally:
        free(runs)
        free(inner)
        free(scratch)


def shrink_vector(real[::1] a, const int32_t[::1] parents, double t, bint nonnegative, double[::1] scratch):
    """The operator on one vector (M) in place, as kernels over rows call it (``prox.pxd``); scratch: M cells.

    Raises:
        ValueError: shapes that do not agree, parents that are no forest, a threshold below 0.
    """
    cdef Py_ssize_t i, M = a.shape[0]
    if parents.shape[0] != M or scratch.shape[0] < M or not t >= 0:
        raise ValueError("parents, scratch or t do not fit the vector")
    for i in range(M):
        if parents[i] < -1 or parents[i] >= i:
            raise ValueError("parents are no forest: each must be -1 or an earlier node")
    if M:
        with nogil:
            shrink_forest(&a[0], &parents[0], M, t, nonnegative, &scratch[0])
