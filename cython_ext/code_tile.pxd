# distutils: depends = cython_ext/code_tile.h cython_ext/tile.h
"""Inline-only: the tile loops of ``code_tile.h`` for both float types. A tile is R rows (nodes) of TILE columns without gaps.

    step_in, step_out   the pass of an iteration over a tile, before and after the tree operator
    add_residuals       what tells whether rho is too small or too large
    take_slopes, add_norms, raise_root_norms   what a duality gap needs
"""

from libc.stdint cimport int32_t

from prox cimport real

cdef extern from *:
    """
    #define REAL float
    #define ROOT sqrtf
    #define NAMED(x) x##_f
    #include "code_tile.h"
    #undef REAL
    #undef ROOT
    #undef NAMED
    #define REAL double
    #define ROOT sqrt
    #define NAMED(x) x##_d
    #include "code_tile.h"
    #undef REAL
    #undef ROOT
    #undef NAMED
    """
    void step_in_f "wk_step_in_f"(const float*, const float*, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t, float,
                                  float*) noexcept nogil
    void step_in_d "wk_step_in_d"(const double*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double,
                                  double*) noexcept nogil
    void step_out_f "wk_step_out_f"(const float*, const float*, const float*, float*, float*, float*, Py_ssize_t, Py_ssize_t,
                                    Py_ssize_t, float, float) noexcept nogil
    void step_out_d "wk_step_out_d"(const double*, const double*, const double*, double*, double*, double*, Py_ssize_t,
                                    Py_ssize_t, Py_ssize_t, double, double) noexcept nogil
    void residuals_f "wk_residuals_f"(const float*, const float*, const float*, const float*, Py_ssize_t, Py_ssize_t,
                                      Py_ssize_t, float, double*) noexcept nogil
    void residuals_d "wk_residuals_d"(const double*, const double*, const double*, const double*, Py_ssize_t, Py_ssize_t,
                                      Py_ssize_t, double, double*) noexcept nogil
    void slopes_f "wk_slopes_f"(const float*, const float*, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t, float*, float*,
                                double*, double*) noexcept nogil
    void slopes_d "wk_slopes_d"(const double*, const double*, const double*, Py_ssize_t, Py_ssize_t, Py_ssize_t, double*,
                                double*, double*, double*) noexcept nogil
    void norms_f "wk_norms_f"(const float*, float*, const int32_t*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void norms_d "wk_norms_d"(const double*, double*, const int32_t*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void root_norms_f "wk_root_norms_f"(const float*, float*, const int32_t*, Py_ssize_t, Py_ssize_t, float, int,
                                        float*) noexcept nogil
    void root_norms_d "wk_root_norms_d"(const double*, double*, const int32_t*, Py_ssize_t, Py_ssize_t, double, int,
                                        double*) noexcept nogil


cdef inline void step_in(const real* a, const real* z, const real* u, Py_ssize_t stride, Py_ssize_t R, Py_ssize_t columns,
                         real relax, real* value) noexcept nogil:
    if real is float:
        step_in_f(a, z, u, stride, R, columns, relax, value)
    else:
        step_in_d(a, z, u, stride, R, columns, relax, value)


cdef inline void step_out(const real* value, const real* a, const real* b, real* z, real* u, real* right, Py_ssize_t stride,
                          Py_ssize_t R, Py_ssize_t columns, real relax, real rho) noexcept nogil:
    if real is float:
        step_out_f(value, a, b, z, u, right, stride, R, columns, relax, rho)
    else:
        step_out_d(value, a, b, z, u, right, stride, R, columns, relax, rho)


cdef inline void add_residuals(const real* value, const real* a, const real* z, const real* u, Py_ssize_t stride, Py_ssize_t R,
                               Py_ssize_t columns, real relax, double* sums) noexcept nogil:
    if real is float:
        residuals_f(value, a, z, u, stride, R, columns, relax, sums)
    else:
        residuals_d(value, a, z, u, stride, R, columns, relax, sums)


cdef inline void take_slopes(const real* z, const real* p, const real* b, Py_ssize_t stride, Py_ssize_t R, Py_ssize_t columns,
                             real* value, real* slope, double* fit, double* match) noexcept nogil:
    if real is float:
        slopes_f(z, p, b, stride, R, columns, value, slope, fit, match)
    else:
        slopes_d(z, p, b, stride, R, columns, value, slope, fit, match)


cdef inline void add_norms(const real* value, real* square, const int32_t* parents, Py_ssize_t base, Py_ssize_t R,
                           double* total) noexcept nogil:
    if real is float:
        norms_f(value, square, parents, base, R, total)
    else:
        norms_d(value, square, parents, base, R, total)


cdef inline void raise_root_norms(const real* slope, real* square, const int32_t* parents, Py_ssize_t base, Py_ssize_t R,
                                  real threshold, bint nonnegative, real* largest) noexcept nogil:
    if real is float:
        root_norms_f(slope, square, parents, base, R, threshold, nonnegative, largest)
    else:
        root_norms_d(slope, square, parents, base, R, threshold, nonnegative, largest)
