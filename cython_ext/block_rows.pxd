"""Inline-only pieces of a block of eight contexts (8, d) against rows of length d, a multiple of 8; each row is loaded once for all.

    turn            across (d, 8) = the transpose of x (8, d)
    block_products  out[i][r] = rows[r].x[i], of ``across``
    block_mix       out[i] += sum over r of steps[i][r] rows[r]
    block_update    rows[r] += sum over i of steps[i][r] x[i]

The last two also of four contexts, at half the cost (``lanes`` up to 4; zeros behind those that there are).

``out`` of products and ``steps`` have rows of ``width`` cells. Sums run in one order, so that every vector width gives the same
bits. Beside them the passes of a running window:

    enter_row       copy = row, sum += copy
    mean_without    out = (sum - row) s
    due_row         kept = a e, due += kept
    settle_row      row = row (1 - s) + (due - own); own may be NULL
    add_moments     y += a x, z += a x * x

and passes over a stripe of rows:

    divide_rows     y = y / (1 - x)
    implicit_rows   y = (y - a) / (1 + x), x may be NULL
    square_rows     out = x * x
"""

from dense_rows cimport dot  # the macros of its C come first

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define WK_AT(p) (*(wk_eight *)(p))
    #define WK_OF(p) (*(const wk_eight *)(p))
    WK_INLINE void wk_eight_products(const float *rows, ptrdiff_t left, const float *across, ptrdiff_t d, float *out,
                                     ptrdiff_t width) {
        wk_eight a = {0}, b = {0}, e = {0}, f = {0}, g = {0}, h = {0}, k = {0}, l = {0};
        const float *p = rows, *q = p + (left > 1) * d, *r = q + (left > 2) * d, *s = r + (left > 3) * d;
        const float *t = s + (left > 4) * d, *u = t + (left > 5) * d, *v = u + (left > 6) * d, *w = v + (left > 7) * d;
        for (ptrdiff_t c = 0; c < d; c++) {
            const wk_eight x = WK_OF(across + 8 * c);
            a += p[c] * x; b += q[c] * x; e += r[c] * x; f += s[c] * x;
            g += t[c] * x; h += u[c] * x; k += v[c] * x; l += w[c] * x;
        }
        const wk_eight sums[8] = {a, b, e, f, g, h, k, l};
        for (ptrdiff_t j = 0; j < 8 && j < left; j++)
            for (ptrdiff_t i = 0; i < 8; i++) out[i * width + j] = sums[j][i];
    }
    WK_INLINE void wk_four_products(const float *rows, ptrdiff_t left, const float *across, ptrdiff_t d, float *out,
                                    ptrdiff_t width) {
        wk_eight a = {0}, b = {0}, e = {0}, f = {0};
        const float *p = rows, *q = p + (left > 1) * d, *r = q + (left > 2) * d, *s = r + (left > 3) * d;
        for (ptrdiff_t c = 0; c < d; c++) {
            const wk_eight x = WK_OF(across + 8 * c);
            a += p[c] * x; b += q[c] * x; e += r[c] * x; f += s[c] * x;
        }
        const wk_eight sums[4] = {a, b, e, f};
        for (ptrdiff_t j = 0; j < 4 && j < left; j++)
            for (ptrdiff_t i = 0; i < 8; i++) out[i * width + j] = sums[j][i];
    }
    WK_ROW void wk_block_products(const float *rows, ptrdiff_t n, const float *across, ptrdiff_t d, float *out,
                                  ptrdiff_t width) {
        ptrdiff_t r = 0;
        for (; r + 4 < n; r += 8) wk_eight_products(rows + r * d, n - r, across, d, out + r, width);
        for (; r < n; r += 4) wk_four_products(rows + r * d, n - r, across, d, out + r, width);
    }
    WK_INLINE void wk_mix_lanes(float *out, const float *steps, ptrdiff_t width, const float *rows, ptrdiff_t n, ptrdiff_t d,
                                const int lanes) {
        for (ptrdiff_t c = 0; c < d; c += 8) {
            wk_eight sums[8];
            for (int i = 0; i < lanes; i++) sums[i] = WK_OF(out + i * d + c);
            for (ptrdiff_t r = 0; r < n; r++) {
                const wk_eight x = WK_OF(rows + r * d + c);
                for (int i = 0; i < lanes; i++) sums[i] += steps[i * width + r] * x;
            }
            for (int i = 0; i < lanes; i++) WK_AT(out + i * d + c) = sums[i];
        }
    }
    WK_INLINE void wk_update_lanes(float *rows, ptrdiff_t n, const float *steps, ptrdiff_t width, const float *x, ptrdiff_t d,
                                   const int lanes) {
        for (ptrdiff_t c = 0; c < d; c += 8) {
            wk_eight a[8];
            for (int i = 0; i < lanes; i++) a[i] = WK_OF(x + i * d + c);
            for (ptrdiff_t r = 0; r < n; r++) {
                float *row = rows + r * d + c;
                const float *p = steps + r, *q = p + 4 * width;
                wk_eight sum = (p[0] * a[0] + p[width] * a[1]) + (p[2 * width] * a[2] + p[3 * width] * a[3]);
                if (lanes > 4) sum += (q[0] * a[4] + q[width] * a[5]) + (q[2 * width] * a[6] + q[3 * width] * a[7]);
                WK_AT(row) = WK_OF(row) + sum;
            }
        }
    }
    WK_ROW void wk_block_mix(float *out, const float *steps, ptrdiff_t width, const float *rows, ptrdiff_t n, ptrdiff_t d,
                             ptrdiff_t lanes) {
        if (lanes > 4) wk_mix_lanes(out, steps, width, rows, n, d, 8);
        else wk_mix_lanes(out, steps, width, rows, n, d, 4);
    }
    WK_ROW void wk_block_update(float *rows, ptrdiff_t n, const float *steps, ptrdiff_t width, const float *x, ptrdiff_t d,
                                ptrdiff_t lanes) {
        if (lanes > 4) wk_update_lanes(rows, n, steps, width, x, d, 8);
        else wk_update_lanes(rows, n, steps, width, x, d, 4);
    }
    #else
    WK_ROW void wk_block_products(const float *rows, ptrdiff_t n, const float *across, ptrdiff_t d, float *out,
                                  ptrdiff_t width) {
        for (ptrdiff_t r = 0; r < n; r++) {
            float sums[8] = {0};
            for (ptrdiff_t c = 0; c < d; c++)
                for (ptrdiff_t i = 0; i < 8; i++) sums[i] += rows[r * d + c] * across[8 * c + i];
            for (ptrdiff_t i = 0; i < 8; i++) out[i * width + r] = sums[i];
        }
    }
    WK_ROW void wk_block_mix(float *out, const float *steps, ptrdiff_t width, const float *rows, ptrdiff_t n, ptrdiff_t d,
                             ptrdiff_t lanes) {
        for (ptrdiff_t i = 0; i < lanes; i++)
            for (ptrdiff_t r = 0; r < n; r++)
                for (ptrdiff_t c = 0; c < d; c++) out[i * d + c] += steps[i * width + r] * rows[r * d + c];
    }
    WK_ROW void wk_block_update(float *rows, ptrdiff_t n, const float *steps, ptrdiff_t width, const float *x, ptrdiff_t d,
                                ptrdiff_t lanes) {
        for (ptrdiff_t r = 0; r < n; r++) {
            float p[8];
            for (ptrdiff_t i = 0; i < 8; i++) p[i] = i < lanes ? steps[i * width + r] : 0;
            for (ptrdiff_t c = 0; c < d; c++)
                rows[r * d + c] += ((p[0] * x[c] + p[1] * x[d + c]) + (p[2] * x[2 * d + c] + p[3] * x[3 * d + c]))
                                   + ((p[4] * x[4 * d + c] + p[5] * x[5 * d + c]) + (p[6] * x[6 * d + c] + p[7] * x[7 * d + c]));
        }
    }
    #endif

    WK_ROW void wk_turn(float *restrict across, const float *restrict x, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++)
            for (ptrdiff_t i = 0; i < 8; i++) across[8 * c + i] = x[i * d + c];
    }

    WK_ROW void wk_enter_row(float *restrict copy, float *restrict sum, const float *restrict row, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) {
            copy[c] = row[c];
            sum[c] += row[c];
        }
    }
    WK_ROW void wk_mean_without(float *restrict out, const float *restrict sum, const float *restrict row, float s,
                                ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) out[c] = (sum[c] - row[c]) * s;
    }
    WK_ROW void wk_due_row(float *restrict kept, float *restrict due, float a, const float *restrict e, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) {
            kept[c] = a * e[c];
            due[c] += kept[c];
        }
    }
    WK_ROW void wk_settle_row(float *restrict row, float s, const float *restrict due, const float *restrict own,
                              ptrdiff_t d) {
        if (own)
            for (ptrdiff_t c = 0; c < d; c++) row[c] = row[c] * (1 - s) + (due[c] - own[c]);
        else
            for (ptrdiff_t c = 0; c < d; c++) row[c] = row[c] * (1 - s) + due[c];
    }
    WK_ROW void wk_add_moments(float *restrict y, float *restrict z, float a, const float *restrict x, ptrdiff_t d) {
        for (ptrdiff_t c = 0; c < d; c++) {
            y[c] += a * x[c];
            z[c] += a * x[c] * x[c];
        }
    }
    WK_ROW void wk_divide_rows(float *restrict y, const float *restrict x, ptrdiff_t n) {
        for (ptrdiff_t c = 0; c < n; c++) y[c] /= 1 - x[c];
    }
    WK_ROW void wk_implicit_rows(float *restrict y, const float *restrict a, const float *restrict x, ptrdiff_t n) {
        if (x)
            for (ptrdiff_t c = 0; c < n; c++) y[c] = (y[c] - a[c]) / (1 + x[c]);
        else
            for (ptrdiff_t c = 0; c < n; c++) y[c] -= a[c];
    }
    WK_ROW void wk_square_rows(float *restrict out, const float *restrict x, ptrdiff_t n) {
        for (ptrdiff_t c = 0; c < n; c++) out[c] = x[c] * x[c];
    }
    """
    void turn "wk_turn"(float*, const float*, Py_ssize_t) noexcept nogil
    void block_products "wk_block_products"(const float*, Py_ssize_t, const float*, Py_ssize_t, float*, Py_ssize_t) noexcept nogil
    void block_mix "wk_block_mix"(float*, const float*, Py_ssize_t, const float*, Py_ssize_t, Py_ssize_t, Py_ssize_t) noexcept nogil
    void block_update "wk_block_update"(float*, Py_ssize_t, const float*, Py_ssize_t, const float*, Py_ssize_t, Py_ssize_t) noexcept nogil
    void enter_row "wk_enter_row"(float*, float*, const float*, Py_ssize_t) noexcept nogil
    void mean_without "wk_mean_without"(float*, const float*, const float*, float, Py_ssize_t) noexcept nogil
    void due_row "wk_due_row"(float*, float*, float, const float*, Py_ssize_t) noexcept nogil
    void settle_row "wk_settle_row"(float*, float, const float*, const float*, Py_ssize_t) noexcept nogil
    void add_moments "wk_add_moments"(float*, float*, float, const float*, Py_ssize_t) noexcept nogil
    void divide_rows "wk_divide_rows"(float*, const float*, Py_ssize_t) noexcept nogil
    void implicit_rows "wk_implicit_rows"(float*, const float*, const float*, Py_ssize_t) noexcept nogil
    void square_rows "wk_square_rows"(float*, const float*, Py_ssize_t) noexcept nogil
