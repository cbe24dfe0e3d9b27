# distutils: depends = cython_ext/forest_tile.h cython_ext/tile.h
"""Inline-only: the tree operator on tiles of columns (``forest_tile.h``), and the order of work on a forest.

    plan_forest   checks parents, marks inner nodes, cuts the nodes into runs of whole trees that fit the cache
    tile_up, tile_down   the two sweeps of the operator over one tile of TILE columns of one run
"""

from libc.stdint cimport int32_t, uint8_t

from prox cimport real

cdef extern from *:
    """
    #define REAL float
    #define ROOT sqrtf
    #define LEAST FLT_MIN
    #define NAMED(x) x##_f
    #include "forest_tile.h"
    #undef REAL
    #undef ROOT
    #undef LEAST
    #undef NAMED
    #define REAL double
    #define ROOT sqrt
    #define LEAST DBL_MIN
    #define NAMED(x) x##_d
    #include "forest_tile.h"
    #undef REAL
    #undef ROOT
    #undef LEAST
    #undef NAMED
    """
    enum: TILE
    void tile_up_f "wk_tile_up_f"(float*, float*, const int32_t*, const uint8_t*, Py_ssize_t, Py_ssize_t, const float*, int) noexcept nogil
    void tile_up_d "wk_tile_up_d"(double*, double*, const int32_t*, const uint8_t*, Py_ssize_t, Py_ssize_t, const double*, int) noexcept nogil
    void tile_down_f "wk_tile_down_f"(float*, float*, const int32_t*, const uint8_t*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void tile_down_d "wk_tile_down_d"(double*, double*, const int32_t*, const uint8_t*, Py_ssize_t, Py_ssize_t) noexcept nogil

cdef enum:
    RUN_ROWS = 32  # trees are worked on together up to this many nodes


cdef inline Py_ssize_t plan_forest(const int32_t* parents, Py_ssize_t M, uint8_t* inner, int32_t* runs,
                                   Py_ssize_t* longest) noexcept nogil:
    """Number of runs, -1 unless -1 <= parents[i] < i for all i.

    inner (M): 1 where a node has children. runs (M + 1): run k is nodes runs[k] to runs[k + 1] - 1; a node and its parent are
    in one run. longest: nodes of the longest run.
    """
    cdef Py_ssize_t i, k, n = 0, earliest = M
    for i in range(M):
        if parents[i] < -1 or parents[i] >= i:
            return -1
        inner[i] = 0
    # Backwards: a root before which no later node's parent lies begins a run. Kept from the end of ``runs`` on.
    for i in range(M - 1, -1, -1):
        if parents[i] >= 0:
            inner[parents[i]] = 1
            earliest = min(earliest, <Py_ssize_t>parents[i])
        elif earliest >= i:
            runs[M - 1 - n] = <int32_t>i
            n += 1
    # Forwards: neighbours are joined while they fit. Cut k is read before it is written over, since joining only shortens.
    longest[0] = 0
    if n == 0:
        runs[0] = 0
        return 0
    cdef Py_ssize_t kept = 0, following
    cdef int32_t begin = runs[M - n], cut
    for k in range(M - n, M):
        cut = runs[k]
        following = runs[k + 1] if k + 1 < M else M
        if kept == 0 or following - begin > RUN_ROWS:
            runs[kept] = begin = cut
            kept += 1
        longest[0] = max(longest[0], following - begin)
    runs[kept] = <int32_t>M
    return kept


cdef inline void tile_up(real* value, real* factor, const int32_t* parents, const uint8_t* inner, Py_ssize_t base, Py_ssize_t R,
                         const real* threshold, bint nonnegative) noexcept nogil:
    """value (R, TILE): leaves shrunk in place; factor (R, TILE): 1 - t / n of inner nodes. parents, inner: of the run's nodes."""
    if real is float:
        tile_up_f(value, factor, parents, inner, base, R, threshold, nonnegative)
    else:
        tile_up_d(value, factor, parents, inner, base, R, threshold, nonnegative)


cdef inline void tile_down(real* value, real* factor, const int32_t* parents, const uint8_t* inner, Py_ssize_t base,
                           Py_ssize_t R) noexcept nogil:
    """value times the factors of each node and of those above it; ``factor`` becomes these products."""
    if real is float:
        tile_down_f(value, factor, parents, inner, base, R)
    else:
        tile_down_d(value, factor, parents, inner, base, R)
