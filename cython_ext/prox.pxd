"""Inline-only proximal operator of a forest of groups, for one contiguous vector (float32 or float64).

    shrink_forest    a <- argmin over z of  1/2 |z - a|^2 + t  sum over nodes i of |z restricted to the subtree of i|_2

Groups are shrunk from the leaves to the roots (Jenatton et al. 2011, Algorithm 2; weights 1), in two sweeps of O(M). Upward,
with q_i the squared norm of i's subtree after the shrinkage of what is below i,

    q_i = a_i^2 + sum over children c of (n_c f_c)^2,    n_i = sqrt(q_i),    f_i = 1 - t / n_i  if n_i > t, else 0

and downward each value is multiplied by its own factor and those of its ancestors. Sums run in float64. ``forest_prox.pyx`` does
the same for blocks of columns; ``tests/reference/forest_prox.py`` composes the thresholdings one by one.
"""

from libc.math cimport sqrt
from libc.stdint cimport int32_t

ctypedef fused real:
    float
    double


cdef inline void shrink_forest(real* a, const int32_t* parents, Py_ssize_t M, double t, bint nonnegative,
                               double* scratch) noexcept nogil:
    """Shrink ``a`` (M) in place.

    parents: (M), the parent of each node, -1 of a root; 0 <= parents[i] < i otherwise, which the caller has checked.
    t: threshold, >= 0; at 0 values stay as they are (or are clipped). nonnegative: negative values become 0 first.
    scratch: M cells, overwritten. Squares must be representable: |a| below 1e150, and above 1e-150 where it is not to count as 0.
    """
    cdef Py_ssize_t i
    cdef double square, shrunk
    if nonnegative:
        for i in range(M):
            if a[i] < 0:
                a[i] = 0
    if not t > 0:
        return
    for i in range(M):
        scratch[i] = <double>a[i] * a[i]
    for i in range(M - 1, -1, -1):
        square = scratch[i]
        scratch[i] = 0
        if square > t * t:
            shrunk = sqrt(square) - t
            scratch[i] = shrunk / (shrunk + t)
            if parents[i] >= 0:
                scratch[parents[i]] += shrunk * shrunk
    for i in range(M):
        if parents[i] >= 0:
            scratch[i] *= scratch[parents[i]]
        a[i] = <real>(a[i] * scratch[i])
