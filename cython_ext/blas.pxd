"""Inline-only door to BLAS for row-major matrices: SciPy's own, so that nothing is linked and the GIL may be released.

    gemm    out (m, n) = op(A) (m, k) op(B) (k, n) + beta out; op is the transpose where asked; gemm_f in float32
    gemv    out (m,) = A (m, n) x, or (n,) = A^T x
    gram    upper triangle of out (m, m) = A (m, k) A^T
"""

from scipy.linalg.cython_blas cimport dgemm, dgemv, dsyrk, sgemm


cdef inline void gemm(bint transpose_a, bint transpose_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const double* a,
                      const double* b, double beta, double* out) noexcept nogil:
    """A is stored (m, k), or (k, m) when transposed; B (k, n), or (n, k); no gaps between rows. beta = 0 overwrites NaN too."""
    cdef int rows = <int>m, columns = <int>n, inner = <int>k
    cdef int lda = <int>(m if transpose_a else k), ldb = <int>(k if transpose_b else n)
    cdef char ta = b"T" if transpose_a else b"N"
    cdef char tb = b"T" if transpose_b else b"N"
    cdef double alpha = 1
    if m > 0 and n > 0 and k > 0:
        # A row-major matrix is its transpose to BLAS: out' = op(B)' op(A)'.
        dgemm(&tb, &ta, &columns, &rows, &inner, &alpha, <double*>b, &ldb, <double*>a, &lda, &beta, out, &columns)


cdef inline void gemm_f(bint transpose_a, bint transpose_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const float* a,
                        const float* b, float beta, float* out) noexcept nogil:
    cdef int rows = <int>m, columns = <int>n, inner = <int>k
    cdef int lda = <int>(m if transpose_a else k), ldb = <int>(k if transpose_b else n)
    cdef char ta = b"T" if transpose_a else b"N"
    cdef char tb = b"T" if transpose_b else b"N"
    cdef float alpha = 1
    if m > 0 and n > 0 and k > 0:
        sgemm(&tb, &ta, &columns, &rows, &inner, &alpha, <float*>b, &ldb, <float*>a, &lda, &beta, out, &columns)


cdef inline void gemv(bint transpose, Py_ssize_t m, Py_ssize_t n, const double* a, const double* x, double* out) noexcept nogil:
    """A is stored (m, n), without gaps between rows."""
    cdef int columns = <int>m, rows = <int>n, one = 1
    cdef char t = b"N" if transpose else b"T"
    cdef double alpha = 1, beta = 0
    if m > 0 and n > 0:
        dgemv(&t, &rows, &columns, &alpha, <double*>a, &rows, <double*>x, &one, &beta, out, &one)


cdef inline void gram(Py_ssize_t m, Py_ssize_t k, const double* a, double* out) noexcept nogil:
    """A is stored (m, k), without gaps between rows; what is below the diagonal of ``out`` stays as it is. k = 0 gives zeros."""
    cdef int rows = <int>k, columns = <int>m, lda = <int>max(k, 1)
    cdef char lower = b"L", t = b"T"  # the upper triangle of a row-major matrix is the lower one to BLAS
    cdef double alpha = 1, beta = 0
    if m > 0:
        dsyrk(&lower, &t, &columns, &rows, &alpha, <double*>a, &lda, &beta, out, &columns)
