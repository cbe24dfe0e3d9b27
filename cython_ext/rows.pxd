"""Inline-only shared pieces over rows of a word-major matrix, float32 and float64 by overload.

    gather_rows    out = sum over j of x[j] rows[index[j]]
    scatter_rows   rows[index[j]] += x[j] u
    dots           (a.a, a.b, b.b) in float64
    combine        out = p a + q b

Sums run in fixed lanes, so that every vector width gives the same bits; on Linux with GCC each function exists in several
versions and the processor chooses at load time.
"""

from libc.stdint cimport int32_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>

    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
    #define WK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
    #else
    #define WK_CLONES
    #endif
    #if defined(__GNUC__)
    #define WK_PREFETCH(p) __builtin_prefetch(p)
    #define WK_UNUSED __attribute__((unused))
    #else
    #define WK_PREFETCH(p) ((void)0)
    #define WK_UNUSED
    #endif
    #define WK_LANES 16
    #define WK_AHEAD 4

    #define WK_DEFINE(T, SUFFIX)                                                                                          \\
    WK_UNUSED WK_CLONES static void wk_gather_##SUFFIX(const T *rows, const int32_t *index, const T *x, ptrdiff_t n,      \\
                                                       ptrdiff_t k, T *out) {                                             \\
        for (ptrdiff_t d = 0; d < k; d++) out[d] = 0;                                                                     \\
        for (ptrdiff_t j = 0; j < n; j++) {                                                                               \\
            const T *row = rows + (ptrdiff_t)index[j] * k;                                                                \\
            const T scale = x[j];                                                                                         \\
            if (j + WK_AHEAD < n) {                                                                                       \\
                const char *next = (const char *)(rows + (ptrdiff_t)index[j + WK_AHEAD] * k);                             \\
                for (ptrdiff_t b = 0; b < k * (ptrdiff_t)sizeof(T); b += 64) WK_PREFETCH(next + b);                       \\
            }                                                                                                             \\
            for (ptrdiff_t d = 0; d < k; d++) out[d] += scale * row[d];                                                   \\
        }                                                                                                                 \\
    }                                                                                                                     \\
    WK_UNUSED WK_CLONES static void wk_scatter_##SUFFIX(T *rows, const int32_t *index, const T *x, ptrdiff_t n,           \\
                                                        ptrdiff_t k, const T *u) {                                        \\
        for (ptrdiff_t j = 0; j < n; j++) {                                                                               \\
            T *row = rows + (ptrdiff_t)index[j] * k;                                                                      \\
            const T scale = x[j];                                                                                         \\
            for (ptrdiff_t d = 0; d < k; d++) row[d] += scale * u[d];                                                     \\
        }                                                                                                                 \\
    }                                                                                                                     \\
    WK_UNUSED WK_CLONES static void wk_dots_##SUFFIX(const T *a, const T *b, ptrdiff_t k, double *sums) {                 \\
        double aa[WK_LANES] = {0}, ab[WK_LANES] = {0}, bb[WK_LANES] = {0};                                                \\
        ptrdiff_t d = 0;                                                                                                  \\
        for (; d + WK_LANES <= k; d += WK_LANES)                                                                          \\
            for (int l = 0; l < WK_LANES; l++) {                                                                          \\
                const double p = a[d + l], q = b[d + l];                                                                  \\
                aa[l] += p * p; ab[l] += p * q; bb[l] += q * q;                                                           \\
            }                                                                                                             \\
        for (int l = 0; d < k; d++, l++) {                                                                                \\
            const double p = a[d], q = b[d];                                                                              \\
            aa[l] += p * p; ab[l] += p * q; bb[l] += q * q;                                                               \\
        }                                                                                                                 \\
        for (int half = WK_LANES / 2; half; half /= 2)                                                                    \\
            for (int l = 0; l < half; l++) { aa[l] += aa[l + half]; ab[l] += ab[l + half]; bb[l] += bb[l + half]; }       \\
        sums[0] = aa[0]; sums[1] = ab[0]; sums[2] = bb[0];                                                                \\
    }                                                                                                                     \\
    WK_UNUSED WK_CLONES static void wk_combine_##SUFFIX(double p, const T *a, double q, const T *b, ptrdiff_t k, T *out) {\\
        for (ptrdiff_t d = 0; d < k; d++) out[d] = (T)(p * a[d] + q * b[d]);                                              \\
    }
    WK_DEFINE(float, f)
    WK_DEFINE(double, d)
    """
    void gather_rows "wk_gather_f"(const float*, const int32_t*, const float*, Py_ssize_t, Py_ssize_t, float*) noexcept nogil
    void scatter_rows "wk_scatter_f"(float*, const int32_t*, const float*, Py_ssize_t, Py_ssize_t, const float*) noexcept nogil
    void dots "wk_dots_f"(const float*, const float*, Py_ssize_t, double*) noexcept nogil
    void combine "wk_combine_f"(double, const float*, double, const float*, Py_ssize_t, float*) noexcept nogil
    void gather_rows_d "wk_gather_d"(const double*, const int32_t*, const double*, Py_ssize_t, Py_ssize_t, double*) noexcept nogil
    void scatter_rows_d "wk_scatter_d"(double*, const int32_t*, const double*, Py_ssize_t, Py_ssize_t, const double*) noexcept nogil
    void dots_d "wk_dots_d"(const double*, const double*, Py_ssize_t, double*) noexcept nogil
    void combine_d "wk_combine_d"(double, const double*, double, const double*, Py_ssize_t, double*) noexcept nogil
