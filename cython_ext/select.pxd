"""The k largest of a row of non-negative numbers, by partial selection (inline-only); never a full sort.

    k_best        classes of the k largest entries above zero, rising; of equal ones the lower class goes first
    epsilon_cut   of those, the smallest set of the largest whose sum reaches a mass; equal ones again by class

k_best: the maxima of 32 (64) interleaved blocks give a lower bound of the k-th largest entry, their own k-th; one pass keeps
what reaches it, and the k-th of the few that are left is found by counting, for each of them, how many are larger. Where that
does not fit (k above 32, or many equal entries) a bisection over the bits of a float, which are ordered as the floats are,
finds the k-th in at most 31 counts. Only comparisons decide, so every vector width gives the same answer.
"""

from libc.stdint cimport int32_t

from rows cimport dots  # its macros for processor versions are used below

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #define WK_FEW 64
    #define WK_BLOCK 512

    static inline float wk_float_of(int32_t bits) {
        float v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }

    /* The k-th largest of n <= WIDTH numbers in x, whose cells n .. WIDTH - 1 are written over; 1 <= k <= n. */
    #define WK_DEFINE_KTH(WIDTH)                                                             \\
    WK_UNUSED WK_CLONES static float wk_kth_of_##WIDTH(float *x, ptrdiff_t n, ptrdiff_t k) { \\
        int32_t larger[WIDTH] = {0}, bits[WIDTH], kth = 0x7f800000;                          \\
        for (ptrdiff_t i = n; i < WIDTH; i++) x[i] = -1;                                     \\
        for (ptrdiff_t j = 0; j < n; j++) {                                                  \\
            const float v = x[j];                                                            \\
            for (ptrdiff_t i = 0; i < WIDTH; i++) larger[i] += v > x[i];                     \\
        }                                                                                    \\
        memcpy(bits, x, sizeof bits);                                                        \\
        for (ptrdiff_t i = 0; i < WIDTH; i++) {                                              \\
            const int32_t b = larger[i] < k ? bits[i] : 0x7f800000;                          \\
            kth = b < kth ? b : kth;                                                         \\
        }                                                                                    \\
        return wk_float_of(kth);                                                             \\
    }
    WK_DEFINE_KTH(32)
    WK_DEFINE_KTH(64)

    /* Maxima of WIDTH interleaved blocks. */
    #define WK_DEFINE_MAXIMA(WIDTH)                                                                       \\
    WK_UNUSED WK_CLONES static void wk_maxima_##WIDTH(const float *x, ptrdiff_t n, float *maxima) {       \\
        float m[WIDTH];                                                                                   \\
        ptrdiff_t c = WIDTH;                                                                              \\
        memcpy(m, x, sizeof m);                                                                           \\
        for (; c + WIDTH <= n; c += WIDTH)                                                                \\
            for (ptrdiff_t d = 0; d < WIDTH; d++) m[d] = x[c + d] > m[d] ? x[c + d] : m[d];               \\
        for (ptrdiff_t d = 0; c + d < n; d++) m[d] = x[c + d] > m[d] ? x[c + d] : m[d];                   \\
        memcpy(maxima, m, sizeof m);                                                                      \\
    }
    WK_DEFINE_MAXIMA(32)
    WK_DEFINE_MAXIMA(64)

    WK_UNUSED WK_CLONES static int32_t wk_count_from(const float *x, ptrdiff_t n, int32_t bits) {
        int32_t found = 0;
        for (ptrdiff_t c = 0; c < n; c++) {
            int32_t b;
            memcpy(&b, x + c, sizeof b);
            found += b >= bits;
        }
        return found;
    }

    /* The k-th largest of n numbers not below zero; 1 <= k <= n. */
    WK_UNUSED static float wk_kth_bisected(const float *x, ptrdiff_t n, ptrdiff_t k) {
        int32_t low = 0, high = 0x7f800000;
        while (high - low > 1) {
            const int32_t middle = low + (high - low) / 2;
            if (wk_count_from(x, n, middle) >= k) low = middle; else high = middle;
        }
        return wk_float_of(low);
    }

    /* Lists the groups of 8 with an entry that reaches the bound; n <= WK_BLOCK, a multiple of 8. */
    WK_UNUSED WK_CLONES static ptrdiff_t wk_groups_from(const float *x, ptrdiff_t n, float bound, int32_t *groups) {
        unsigned char reached[WK_BLOCK];
        ptrdiff_t m = 0;
        for (ptrdiff_t c = 0; c < n; c++) reached[c] = x[c] >= bound;
        for (ptrdiff_t g = 0; g < n / 8; g++) {
            uint64_t any;
            memcpy(&any, reached + 8 * g, sizeof any);
            groups[m] = (int32_t)g;
            m += any != 0;
        }
        return m;
    }

    /* Keeps x[c] >= bound as (at, kept), c rising; returns how many. */
    WK_UNUSED static ptrdiff_t wk_keep_from(const float *x, ptrdiff_t n, float bound, int32_t *at, float *kept) {
        int32_t groups[WK_BLOCK / 8];
        ptrdiff_t m = 0, c = 0;
        for (; c + 8 <= n; c += WK_BLOCK) {
            const ptrdiff_t size = n - c < WK_BLOCK ? (n - c) / 8 * 8 : WK_BLOCK;
            const ptrdiff_t found = wk_groups_from(x + c, size, bound, groups);
            for (ptrdiff_t g = 0; g < found; g++)
                for (ptrdiff_t d = c + 8 * groups[g], end = d + 8; d < end; d++) {
                    at[m] = (int32_t)d;
                    kept[m] = x[d];
                    m += x[d] >= bound;
                }
        }
        for (c = n / 8 * 8; c < n; c++) {
            at[m] = (int32_t)c;
            kept[m] = x[c];
            m += x[c] >= bound;
        }
        return m;
    }

    /* Keeps the k largest of (at, kept), which rise in at, and of them what is above zero; returns how many. */
    WK_UNUSED static ptrdiff_t wk_keep_k(int32_t *at, float *kept, ptrdiff_t n, ptrdiff_t k, float kth) {
        ptrdiff_t m = 0, equal = k;
        for (ptrdiff_t c = 0; c < n; c++) equal -= kept[c] > kth;
        for (ptrdiff_t c = 0; c < n; c++) {
            const int is_equal = kept[c] == kth;
            const int keep = kept[c] > 0 && (kept[c] > kth || (is_equal && equal > 0));
            equal -= is_equal;
            at[m] = at[c];
            kept[m] = kept[c];
            m += keep;
        }
        return m;
    }

    /* at and kept have n + WK_FEW cells. Returns how many were kept, at most k. */
    WK_UNUSED static ptrdiff_t wk_k_best(const float *x, ptrdiff_t n, ptrdiff_t k, int32_t *at, float *kept) {
        float few[WK_FEW];
        float bound = 0, kth = 0;
        ptrdiff_t m;
        if (k < n && n > WK_FEW) {
            if (k <= 16) {
                wk_maxima_32(x, n, few);
                bound = wk_kth_of_32(few, 32, k);
            } else if (k <= 32) {
                wk_maxima_64(x, n, few);
                bound = wk_kth_of_64(few, 64, k);
            } else {
                bound = wk_kth_bisected(x, n, k);
            }
        }
        m = wk_keep_from(x, n, bound, at, kept);
        if (m > k) {
            if (m <= WK_FEW) {
                memcpy(few, kept, m * sizeof(float));
                kth = m <= 32 ? wk_kth_of_32(few, m, k) : wk_kth_of_64(few, m, k);
            } else {
                kth = wk_kth_bisected(kept, m, k);
            }
        }
        return wk_keep_k(at, kept, m, k, kth);
    }

    static inline double wk_sum_from(const float *x, ptrdiff_t n, float bound) {
        double sum = 0;
        for (ptrdiff_t c = 0; c < n; c++) sum += x[c] >= bound ? x[c] : 0;
        return sum;
    }

    WK_UNUSED static ptrdiff_t wk_epsilon_cut(int32_t *at, float *kept, ptrdiff_t n, double mass) {
        int32_t low = 0, high = 0x7f800000;
        ptrdiff_t m = 0;
        double sum = 0;
        float last;
        if (wk_sum_from(kept, n, 0) < mass) return n;
        while (high - low > 1) {
            const int32_t middle = low + (high - low) / 2;
            if (wk_sum_from(kept, n, wk_float_of(middle)) >= mass) low = middle; else high = middle;
        }
        last = wk_float_of(low);
        for (ptrdiff_t c = 0; c < n; c++) sum += kept[c] > last ? kept[c] : 0;
        for (ptrdiff_t c = 0; c < n; c++) {
            const int keep = kept[c] > last || (kept[c] == last && sum < mass);
            if (keep && kept[c] == last) sum += last;
            at[m] = at[c];
            kept[m] = kept[c];
            m += keep;
        }
        return m;
    }
    """
    enum:
        FEW "WK_FEW"
    Py_ssize_t k_best "wk_k_best"(const float*, Py_ssize_t, Py_ssize_t, int32_t*, float*) noexcept nogil
    Py_ssize_t epsilon_cut "wk_epsilon_cut"(int32_t*, float*, Py_ssize_t, double) noexcept nogil
