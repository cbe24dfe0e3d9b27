"""Inline-only pieces over rows of float32 matrices whose length d is a multiple of 8 (shorter vectors are padded with zeros).

    products         out[i] = rows[i].x
    picked_products  out[i] = rows[index[i]].x
    add_mix          out += sum over i of coefficients[i] rows[i]
    without_mix      out = row - sum over i of coefficients[i] rows[i]
    add_scaled       y += a x;   dot: x.y;   short_dot: x.y of any number of cells
    second_order     out = centre + s variance (x - mean), with q = sum of variance (x - mean)^2 and s = min(1, reach / sqrt(q)):
                     the gradient of Huber's function of sqrt(q), which is q/2 up to reach and goes on in a line; returns it
    scaled_difference  out = a x - b y
    learn_row        e += a row, then row += a x; learn_rows: the same for n rows with factors a[i]
    shrunk_row       row = row (1 - s) + x
    mixed_rows       out += sum over i of x[i] rows[index[i]]; spread_row: rows[index[i]] += x[i] g: of the first d cells, which need
                     be no multiple of 8, of rows of ``width``; the same for single cells with
    group_products   the same for the cells of some groups of 16; spread_groups: rows[index[i]] += x[i] g, in the groups alone
    picked_cells     out[s] = sum over i of x[i] rows[index[i]][item[s]]; spread_cells: each of these cells += x[i] g[s]
    exponential      e^x to 1e-7 of itself for x from -50 to 88, by the same steps on every machine
    exponentials     out[i] = e^(x[i] - level), returns their sum; sigmoids: out[i] = sigmoid(x[i])
    largest          of n numbers; place_of_largest: of n sums x[i] + y[i], of equals the first; NaN is passed over

Sums run in eight fixed lanes, so that every vector width gives the same bits.
"""

from libc.stdint cimport int32_t

cdef enum:
    GROUP = 16  # cells of a group: floats of a line of the cache

cdef extern from *:
    """
    #include <math.h>
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    #ifndef WK_CLONES
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
    #define WK_CLONES __attribute__((target_clones("avx2", "default")))
    #else
    #define WK_CLONES
    #endif
    #endif
    #if defined(__GNUC__)
    #define WK_ROW static __attribute__((unused)) WK_CLONES
    #define WK_FETCH(p) __builtin_prefetch(p)
    #define WK_EFFECT(p) __asm__ volatile("" : : "r"(p))
    #define WK_INLINE static inline __attribute__((always_inline, unused))
    #define WK_PLAIN static inline __attribute__((unused))
    typedef float wk_eight __attribute__((vector_size(32), aligned(4), may_alias));
    #define WK_SUM(a) ((((a)[0] + (a)[4]) + ((a)[2] + (a)[6])) + (((a)[1] + (a)[5]) + ((a)[3] + (a)[7])))
    WK_INLINE float wk_dot_of(const float *x, const float *y, ptrdiff_t d) {
        wk_eight sum = {0};
        for (ptrdiff_t c = 0; c < d; c += 8) sum += *(const wk_eight *)(x + c) * *(const wk_eight *)(y + c);
        return WK_SUM(sum);
    }
    /* Four rows at once: four chains of additions, and x is loaded once. */
    WK_INLINE void wk_four_dots(const float *p, const float *q, const float *r, const float *s, const float *x, ptrdiff_t d,
                                float *out) {
        wk_eight a = {0}, b = {0}, c = {0}, e = {0};
        for (ptrdiff_t i = 0; i < d; i += 8) {
            const wk_eight at = *(const wk_eight *)(x + i);
            a += *(const wk_eight *)(p + i) * at;
            b += *(const wk_eight *)(q + i) * at;
            c += *(const wk_eight *)(r + i) * at;
            e += *(const wk_eight *)(s + i) * at;
        }
        out[0] = WK_SUM(a); out[1] = WK_SUM(b); out[2] = WK_SUM(c); out[3] = WK_SUM(e);
    }
    #else
    #define WK_ROW static
    #define WK_FETCH(p) ((void)0)
    #define WK_EFFECT(p) ((void)0)
    #define WK_INLINE static
    #define WK_PLAIN static
    WK_INLINE float wk_dot_of(const float *x, const float *y, ptrdiff_t d) {
        float a[8] = {0};
        for (ptrdiff_t c = 0; c < d; c += 8)
            for (int l = 0; l < 8; l++) a[l] += x[c + l] * y[c + l];
        return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
    }
    WK_INLINE void wk_four_dots(const float *p, const float *q, const float *r, const float *s, const float *x, ptrdiff_t d,
                                float *out) {
        out[0] = wk_dot_of(p, x, d); out[1] = wk_dot_of(q, x, d); out[2] = wk_dot_of(r, x, d); out[3] = wk_dot_of(s, x, d);
    }
    #endif

    /* The empty volatile statement keeps GCC from taking a function that only prefetches for one without effect. */
    WK_INLINE void wk_fetch_row(const float *row, ptrdiff_t d) {
        WK_EFFECT(row);
        for (ptrdiff_t c = 0; c < d; c += 16) WK_FETCH(row + c);
    }
    WK_ROW float wk_row_dot(const float *x, const float *y, ptrdiff_t d) { return wk_dot_of(x, y, d); }

    WK_ROW void wk_products(const float *rows, const float *x, ptrdiff_t n, ptrdiff_t d, float *out) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4, rows += 4 * d) wk_four_dots(rows, rows + d, rows + 2 * d, rows + 3 * d, x, d, out + i);
        for (; i < n; i++, rows += d) out[i] = wk_dot_of(rows, x, d);
    }

    /* out += sum over i of a[i] rows[i], four rows at once */
    WK_ROW void wk_mix(float *restrict out, const float *a, const float *restrict rows, ptrdiff_t n, ptrdiff_t d) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4, rows += 4 * d) {
            const float p = a[i], q = a[i + 1], r = a[i + 2], s = a[i + 3];
            for (ptrdiff_t c = 0; c < d; c++)
                out[c] += (p * rows[c] + q * rows[d + c]) + (r * rows[2 * d + c] + s * rows[3 * d + c]);
        }
        for (; i < n; i++, rows += d)
            for (ptrdiff_t c = 0; c < d; c++) out[c] += a[i] * rows[c];
    }

    WK_ROW void wk_picked_products(const float *rows, const int32_t *index, const float *x, ptrdiff_t n, ptrdiff_t d,
                                   float *out) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4)
            wk_four_dots(rows + index[i] * d, rows + index[i + 1] * d, rows + index[i + 2] * d, rows + index[i + 3] * d, x, d,
                         out + i);
        for (; i < n; i++) out[i] = wk_dot_of(rows + index[i] * d, x, d);
    }

    WK_ROW void wk_without_mix(const float *row, const float *coefficients, const float *restrict rows, ptrdiff_t n,
                               ptrdiff_t d, float *restrict out) {
        ptrdiff_t i = 0;
        for (ptrdiff_t c = 0; c < d; c++) out[c] = row[c];
        for (; i + 4 <= n; i += 4, rows += 4 * d) {
            const float a = coefficients[i], b = coefficients[i + 1], p = coefficients[i + 2], q = coefficients[i + 3];
            for (ptrdiff_t c = 0; c < d; c++)
                out[c] -= (a * rows[c] + b * rows[d + c]) + (p * rows[2 * d + c] + q * rows[3 * d + c]);
        }
        for (; i < n; i++, rows += d) {
            const float a = coefficients[i];
            for (ptrdiff_t c = 0; c < d; c++) out[c] -= a * rows[c];
        }
    }

    WK_ROW void wk_add_scaled(float *restrict y, float a, const float *restrict x, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) y[c] += a * x[c];
    }

    WK_ROW float wk_second_order(float *restrict out, const float *restrict centre, const float *restrict variance,
                                 const float *restrict x, const float *restrict mean, float reach, ptrdiff_t d) {
        float sums[8] = {0}, q, share = 1;
        for (ptrdiff_t c = 0; c < d; c += 8)
            for (ptrdiff_t l = 0; l < 8; l++) {
                const float away = x[c + l] - mean[c + l];
                sums[l] += variance[c + l] * away * away;
            }
        q = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
        if (q > reach * reach) share = reach / sqrtf(q);
        for (ptrdiff_t c = 0; c < d; c++) out[c] = centre[c] + share * variance[c] * (x[c] - mean[c]);
        return share < 1 ? reach * (sqrtf(q) - 0.5f * reach) : 0.5f * q;
    }

    WK_ROW void wk_scaled_difference(float *out, float a, const float *x, float b, const float *y, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) out[c] = a * x[c] - b * y[c];
    }

    WK_ROW void wk_learn_row(float *restrict row, float a, const float *restrict x, float *restrict e, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) {
            const float r = row[c];
            e[c] += a * r;
            row[c] = r + a * x[c];
        }
    }

    WK_ROW void wk_learn_rows(float *restrict rows, const float *a, const float *restrict x, float *restrict e, ptrdiff_t n,
                              ptrdiff_t d) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4, rows += 4 * d) {
            const float p = a[i], q = a[i + 1], u = a[i + 2], v = a[i + 3];
            for (ptrdiff_t c = 0; c < d; c++) {
                const float r = rows[c], s = rows[d + c], t = rows[2 * d + c], w = rows[3 * d + c], g = x[c];
                e[c] += (p * r + q * s) + (u * t + v * w);
                rows[c] = r + p * g;
                rows[d + c] = s + q * g;
                rows[2 * d + c] = t + u * g;
                rows[3 * d + c] = w + v * g;
            }
        }
        for (; i < n; i++, rows += d)
            for (ptrdiff_t c = 0; c < d; c++) {
                const float r = rows[c];
                e[c] += a[i] * r;
                rows[c] = r + a[i] * x[c];
            }
    }

    WK_ROW void wk_shrunk_row(float *restrict row, float s, const float *restrict x, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) row[c] = row[c] * (1 - s) + x[c];
    }

    WK_ROW void wk_mixed_rows(float *restrict out, const float *rows, ptrdiff_t width, const int32_t *index, const float *x,
                              ptrdiff_t n, ptrdiff_t d) {
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4) {
            const float *restrict p = rows + index[i] * width, *restrict q = rows + index[i + 1] * width;
            const float *restrict r = rows + index[i + 2] * width, *restrict s = rows + index[i + 3] * width;
            const float a = x[i], b = x[i + 1], e = x[i + 2], f = x[i + 3];
            for (ptrdiff_t c = 0; c < d; c++) out[c] += (a * p[c] + b * q[c]) + (e * r[c] + f * s[c]);
        }
        for (; i < n; i++) {
            const float *restrict p = rows + index[i] * width;
            for (ptrdiff_t c = 0; c < d; c++) out[c] += x[i] * p[c];
        }
    }

    WK_ROW void wk_spread_row(float *rows, ptrdiff_t width, const int32_t *index, const float *x, const float *restrict g,
                              ptrdiff_t n, ptrdiff_t d) {
        for (ptrdiff_t i = 0; i < n; i++) {
            float *restrict row = rows + index[i] * width;
            for (ptrdiff_t c = 0; c < d; c++) row[c] += x[i] * g[c];
        }
    }

    WK_ROW void wk_group_products(float *restrict out, const float *rows, ptrdiff_t width, const int32_t *index, const float *x,
                                  ptrdiff_t n, const int32_t *groups, ptrdiff_t number) {
        for (ptrdiff_t c = 0; c < 16 * number; c++) out[c] = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            const float *row = rows + index[i] * width, *next = rows + index[i + 8 < n ? i + 8 : i] * width;
            for (ptrdiff_t s = 0; s < number; s++) {
                const float *restrict p = row + 16 * groups[s];
                WK_FETCH(next + 16 * groups[s]);
                for (ptrdiff_t c = 0; c < 16; c++) out[16 * s + c] += x[i] * p[c];
            }
        }
    }

    WK_ROW void wk_spread_groups(float *rows, ptrdiff_t width, const int32_t *index, const float *x, const float *restrict g,
                                 ptrdiff_t n, const int32_t *groups, ptrdiff_t number) {
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t s = 0; s < number; s++) {
                float *restrict p = rows + index[i] * width + 16 * groups[s];
                for (ptrdiff_t c = 0; c < 16; c++) p[c] += x[i] * g[16 * s + c];
            }
    }

    WK_PLAIN void wk_picked_cells(
        float *restrict out, const float *rows, const int32_t *index, const float *x, ptrdiff_t n, ptrdiff_t d,
        const int32_t *item, ptrdiff_t items) {
        for (ptrdiff_t s = 0; s < items; s++) out[s] = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            const float *row = rows + index[i] * d, *next = rows + index[i + 4 < n ? i + 4 : i] * d;
            for (ptrdiff_t s = 0; s < items; s++) WK_FETCH(next + item[s]);
            for (ptrdiff_t s = 0; s < items; s++) out[s] += x[i] * row[item[s]];
        }
    }

    WK_PLAIN void wk_spread_cells(
        float *rows, const int32_t *index, const float *x, const float *g, ptrdiff_t n, ptrdiff_t d, const int32_t *item,
        ptrdiff_t items) {
        for (ptrdiff_t i = 0; i < n; i++) {
            float *row = rows + index[i] * d;
            for (ptrdiff_t s = 0; s < items; s++) row[item[s]] += x[i] * g[s];
        }
    }

    /* Of few numbers without padding. */
    WK_INLINE float wk_short_dot(const float *x, const float *y, ptrdiff_t n) {
        float a[4] = {0};
        ptrdiff_t i = 0;
        for (; i + 4 <= n; i += 4)
            for (int l = 0; l < 4; l++) a[l] += x[i + l] * y[i + l];
        for (int l = 0; i < n; i++, l++) a[l] += x[i] * y[i];
        return (a[0] + a[2]) + (a[1] + a[3]);
    }

    /* 2^k e^r, k x / log 2 rounded: added to 1.5 x 2^23, a number loses its fraction, and its last bits are k. Without a
       conversion to integers, which with the choices kept GCC from doing several at once. NaN stays. */
    WK_INLINE float wk_exponential(float x) {
        const float above = x < -50.0f ? -50.0f : x, bounded = above > 88.0f ? 88.0f : above;
        const float shifted = bounded * 1.44269504f + 12582912.0f, k = shifted - 12582912.0f;
        const float r = (bounded - k * 0.693359375f) + k * 2.12194440e-4f;
        uint32_t bits;
        float scale;
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 127) << 23;
        memcpy(&scale, &bits, sizeof scale);
        return scale * (1 + r * (1 + r * (0.5f + r * (1.6666667e-1f + r * (4.1665795e-2f + r * (8.3334519e-3f
               + r * (1.3981999e-3f + r * 1.9875691e-4f)))))));
    }

    WK_INLINE float wk_sigmoid(float x) { return 1 / (1 + wk_exponential(-x)); }

    WK_ROW float wk_exponentials(float *restrict out, const float *restrict x, float level, ptrdiff_t n) {
        float sums[8] = {0};
        ptrdiff_t i = 0;
        for (ptrdiff_t j = 0; j < n; j++) out[j] = wk_exponential(x[j] - level);
        for (; i + 8 <= n; i += 8)
            for (int l = 0; l < 8; l++) sums[l] += out[i + l];
        for (int l = 0; i < n; i++, l++) sums[l] += out[i];
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    }

    WK_ROW void wk_sigmoids(float *restrict out, const float *restrict x, ptrdiff_t n) {
        for (ptrdiff_t j = 0; j < n; j++) out[j] = wk_sigmoid(x[j]);
    }

    WK_ROW float wk_largest(const float *x, ptrdiff_t n) {
        float most[8], highest;
        ptrdiff_t i = 0;
        for (int l = 0; l < 8; l++) most[l] = -INFINITY;
        for (; i + 8 <= n; i += 8)
            for (int l = 0; l < 8; l++) most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
        for (int l = 0; i < n; i++, l++) most[l] = x[i] > most[l] ? x[i] : most[l];
        highest = most[0];
        for (int l = 1; l < 8; l++) highest = most[l] > highest ? most[l] : highest;
        return highest;
    }

    WK_ROW ptrdiff_t wk_place_of_largest(const float *x, const double *y, ptrdiff_t n) {
        float most[8];
        int32_t at[8];
        ptrdiff_t i = 0;
        int best = 0;
        for (int l = 0; l < 8; l++) most[l] = -INFINITY, at[l] = 0;
        for (; i + 8 <= n; i += 8)
            for (int l = 0; l < 8; l++) {
                const float sum = x[i + l] + (float)y[i + l];
                at[l] = sum > most[l] ? (int32_t)(i + l) : at[l];
                most[l] = sum > most[l] ? sum : most[l];
            }
        for (int l = 0; i < n; i++, l++) {
            const float sum = x[i] + (float)y[i];
            at[l] = sum > most[l] ? (int32_t)i : at[l];
            most[l] = sum > most[l] ? sum : most[l];
        }
        for (int l = 1; l < 8; l++)
            if (most[l] > most[best] || (most[l] == most[best] && at[l] < at[best])) best = l;
        return at[best];
    }

    """
    float dot "wk_row_dot"(const float*, const float*, Py_ssize_t) noexcept nogil
    void products "wk_products"(const float*, const float*, Py_ssize_t, Py_ssize_t, float*) noexcept nogil
    void add_mix "wk_mix"(float*, const float*, const float*, Py_ssize_t, Py_ssize_t) noexcept nogil
    float short_dot "wk_short_dot"(const float*, const float*, Py_ssize_t) noexcept nogil
    void picked_products "wk_picked_products"(const float*, const int32_t*, const float*, Py_ssize_t, Py_ssize_t, float*) noexcept nogil
    void without_mix "wk_without_mix"(const float*, const float*, const float*, Py_ssize_t, Py_ssize_t, float*) noexcept nogil
    void add_scaled "wk_add_scaled"(float*, float, const float*, Py_ssize_t) noexcept nogil
    float second_order "wk_second_order"(float*, const float*, const float*, const float*, const float*, float, Py_ssize_t) noexcept nogil
    void scaled_difference "wk_scaled_difference"(float*, float, const float*, float, const float*, Py_ssize_t) noexcept nogil
    void learn_row "wk_learn_row"(float*, float, const float*, float*, Py_ssize_t) noexcept nogil
    void learn_rows "wk_learn_rows"(float*, const float*, const float*, float*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void mixed_rows "wk_mixed_rows"(float*, const float*, Py_ssize_t, const int32_t*, const float*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void spread_row "wk_spread_row"(float*, Py_ssize_t, const int32_t*, const float*, const float*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void group_products "wk_group_products"(float*, const float*, Py_ssize_t, const int32_t*, const float*, Py_ssize_t, const int32_t*,
                                            Py_ssize_t) noexcept nogil
    void spread_groups "wk_spread_groups"(float*, Py_ssize_t, const int32_t*, const float*, const float*, Py_ssize_t, const int32_t*,
                                          Py_ssize_t) noexcept nogil
    void picked_cells "wk_picked_cells"(float*, const float*, const int32_t*, const float*, Py_ssize_t, Py_ssize_t, const int32_t*,
                                        Py_ssize_t) noexcept nogil
    void spread_cells "wk_spread_cells"(float*, const int32_t*, const float*, const float*, Py_ssize_t, Py_ssize_t, const int32_t*,
                                        Py_ssize_t) noexcept nogil
    void shrunk_row "wk_shrunk_row"(float*, float, const float*, Py_ssize_t) noexcept nogil
    float exponential "wk_exponential"(float) noexcept nogil
    float exponentials "wk_exponentials"(float*, const float*, float, Py_ssize_t) noexcept nogil
    void sigmoids "wk_sigmoids"(float*, const float*, Py_ssize_t) noexcept nogil
    float largest "wk_largest"(const float*, Py_ssize_t) noexcept nogil
    Py_ssize_t place_of_largest "wk_place_of_largest"(const float*, const double*, Py_ssize_t) noexcept nogil
    void fetch_row "wk_fetch_row"(const float*, Py_ssize_t) noexcept nogil
