"""One-row pieces of message passing over all classes (inline-only).

    emission_row   out[c] = max(row[c], floor) scale[c] in float64; returns the sum
    narrow         out[c] = (float) (factor in[c])
    row_sums       message[j] = (sum_i weights[i] T[rows[i], j] + base) scale[j];  product[j] *= message[j]; returns its sum
    choice         out[c] = u[c] preference[c]; returns the sum
    add_product    target[c] += weight sums[c] (T[c] + back_off) scale[c];  sums[c] = 0

row_sums keeps 32 sums in registers over all rows. Sums over classes run in fixed lanes and those over rows in their order,
so that every vector width gives the same bits. Products below WK_TINY become zero: they are lost in float32 beside a sum near
one, and numbers below the smallest normal float are slow.
"""

from libc.stdint cimport int32_t

from rows cimport dots  # its macros for processor versions are used below

cdef extern from *:
    """
    #include <string.h>

    #define WK_STRIP 32
    #define WK_TINY 1e-30f

    /* The sum of LANES cells, by halves. */
    #define WK_FOLD(x, LANES)                                             \\
        for (ptrdiff_t half = (LANES) / 2; half > 0; half /= 2)           \\
            for (ptrdiff_t d = 0; d < half; d++) (x)[d] += (x)[d + half];

    WK_UNUSED WK_CLONES static double wk_emission_row(const double *row, double floor, const double *scale, ptrdiff_t n,
                                                      double *out) {
        double sums[WK_LANES] = {0};
        ptrdiff_t c = 0;
        for (; c + WK_LANES <= n; c += WK_LANES)
            for (ptrdiff_t d = 0; d < WK_LANES; d++) {
                const double v = (row[c + d] > floor ? row[c + d] : floor) * scale[c + d];
                out[c + d] = v;
                sums[d] += v;
            }
        for (ptrdiff_t d = 0; c + d < n; d++) {
            const double v = (row[c + d] > floor ? row[c + d] : floor) * scale[c + d];
            out[c + d] = v;
            sums[d] += v;
        }
        WK_FOLD(sums, WK_LANES)
        return sums[0];
    }

    WK_UNUSED WK_CLONES static void wk_narrow(const double *in, double factor, ptrdiff_t n, float *out) {
        for (ptrdiff_t c = 0; c < n; c++) {
            const float v = (float)(in[c] * factor);
            out[c] = v >= WK_TINY ? v : 0;
        }
    }

    WK_UNUSED WK_CLONES static double wk_choice(const float *u, const float *preference, ptrdiff_t n, float *out) {
        float sums[WK_STRIP] = {0};
        ptrdiff_t c = 0;
        for (; c + WK_STRIP <= n; c += WK_STRIP)
            for (ptrdiff_t d = 0; d < WK_STRIP; d++) {
                out[c + d] = u[c + d] * preference[c + d];
                sums[d] += out[c + d];
            }
        for (ptrdiff_t d = 0; c + d < n; d++) {
            out[c + d] = u[c + d] * preference[c + d];
            sums[d] += out[c + d];
        }
        WK_FOLD(sums, WK_STRIP)
        return sums[0];
    }

    /* m = sum over i of weights[i] times 32 cells of row rows[i]. Compilers do not keep a small array in registers by themselves. */
    #if defined(__GNUC__)
    typedef float wk_octet __attribute__((vector_size(32), aligned(4), may_alias));
    __attribute__((always_inline)) static inline void wk_strip(const float *T, ptrdiff_t n, const int32_t *rows,
                                                               const float *weights, ptrdiff_t k, float *m) {
        wk_octet a = {0}, b = {0}, c = {0}, d = {0};
        for (ptrdiff_t i = 0; i < k; i++) {
            const wk_octet *row = (const wk_octet *)(T + (ptrdiff_t)rows[i] * n);
            const float w = weights[i];
            a += w * row[0];
            b += w * row[1];
            c += w * row[2];
            d += w * row[3];
        }
        ((wk_octet *)m)[0] = a;
        ((wk_octet *)m)[1] = b;
        ((wk_octet *)m)[2] = c;
        ((wk_octet *)m)[3] = d;
    }
    #else
    static inline void wk_strip(const float *T, ptrdiff_t n, const int32_t *rows, const float *weights, ptrdiff_t k, float *m) {
        memset(m, 0, WK_STRIP * sizeof(float));
        for (ptrdiff_t i = 0; i < k; i++)
            for (ptrdiff_t d = 0; d < WK_STRIP; d++) m[d] += weights[i] * T[(ptrdiff_t)rows[i] * n + d];
    }
    #endif

    WK_UNUSED WK_CLONES static double wk_row_sums(const float *T, ptrdiff_t n, const int32_t *rows, const float *weights,
                                                  ptrdiff_t k, float base, const float *scale, float *message,
                                                  float *product) {
        float sums[WK_STRIP] = {0};
        ptrdiff_t j = 0;
        for (; j + WK_STRIP <= n; j += WK_STRIP) {
            float m[WK_STRIP];
            wk_strip(T + j, n, rows, weights, k, m);
            for (ptrdiff_t d = 0; d < WK_STRIP; d++) {
                const float v = (m[d] + base) * scale[j + d];
                const float p = product[j + d] * v;
                message[j + d] = v;
                product[j + d] = p >= WK_TINY ? p : 0;
                sums[d] += product[j + d];
            }
        }
        for (ptrdiff_t d = 0; j + d < n; d++) {
            float m = 0, v, p;
            for (ptrdiff_t i = 0; i < k; i++) m += weights[i] * T[(ptrdiff_t)rows[i] * n + j + d];
            v = (m + base) * scale[j + d];
            p = product[j + d] * v;
            message[j + d] = v;
            product[j + d] = p >= WK_TINY ? p : 0;
            sums[d] += product[j + d];
        }
        WK_FOLD(sums, WK_STRIP)
        return sums[0];
    }

    WK_UNUSED WK_CLONES static void wk_add_product(double *target, const float *T, double back_off, const float *scale,
                                                   double weight, double *sums, ptrdiff_t n) {
        for (ptrdiff_t c = 0; c < n; c++) {
            target[c] += weight * sums[c] * ((T[c] + back_off) * scale[c]);
            sums[c] = 0;
        }
    }

    static inline void wk_prefetch(const void *from, ptrdiff_t bytes) {
        for (ptrdiff_t b = 0; b < bytes; b += 64) WK_PREFETCH((const char *)from + b);
    }
    """
    double emission_row "wk_emission_row"(const double*, double, const double*, Py_ssize_t, double*) noexcept nogil
    void narrow "wk_narrow"(const double*, double, Py_ssize_t, float*) noexcept nogil
    double choice "wk_choice"(const float*, const float*, Py_ssize_t, float*) noexcept nogil
    double row_sums "wk_row_sums"(const float*, Py_ssize_t, const int32_t*, const float*, Py_ssize_t, float, const float*,
                                  float*, float*) noexcept nogil
    void add_product "wk_add_product"(double*, const float*, double, const float*, double, double*, Py_ssize_t) noexcept nogil
    void prefetch "wk_prefetch"(const void*, Py_ssize_t) noexcept nogil
