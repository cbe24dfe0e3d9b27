"""Products of sparse rows with a matrix: out[i] = sum over the cells (i, j) of x_ij rows[j], float32.

A row of the matrix is one read of memory in order, and the next ones are fetched meanwhile; for rows of some hundred numbers that
is several times faster than a product that goes through them number by number.
"""

from libc.stdint cimport int32_t, int64_t

from rows cimport gather_rows


def multiply(
    const int64_t[::1] indptr, const int32_t[::1] indices, const float[::1] values, const float[:, ::1] rows, float[:, ::1] out,
    Py_ssize_t first, Py_ssize_t last,
):
    """Rows ``first`` to ``last`` - 1 of a CSR matrix (n, C) times ``rows`` (C, k), into the first last - first rows of ``out``."""
    cdef Py_ssize_t n = indptr.shape[0] - 1, k = rows.shape[1], i, j
    cdef bint good = 0 <= first <= last <= n and out.shape[0] >= last - first and out.shape[1] == k
    good = good and indices.shape[0] == values.shape[0]
    if good and first < last and k:
        with nogil:
            good = 0 <= indptr[first] and indptr[last] <= indices.shape[0]
            for i in range(first, last if good else first):
                good = good and indptr[i] <= indptr[i + 1]
            for j in range(indptr[first] if good else 0, indptr[last] if good else 0):
                good = good and 0 <= indices[j] < rows.shape[0]
            for i in range(first, last if good else first):
                j = indptr[i]
                if j < indptr[i + 1]:
                    gather_rows(&rows[0, 0], &indices[j], &values[j], indptr[i + 1] - j, k, &out[i - first, 0])
                else:
                    out[i - first, :] = 0
    if not good:
        raise ValueError("shapes do not fit, or a number of the matrix lies outside them")
