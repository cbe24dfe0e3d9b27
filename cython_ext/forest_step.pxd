"""Steps of Algorithm 1 (Yogatama et al. 2015) on rows of A and D, with the tree operator vectorized within one row (inline-only).

Rows are padded with zeros to a multiple of WK_LANES floats. A row's cells stand level by level (``forest_layout.py``): cells
level[l] .. level[l + 1] - 1 are the nodes at depth l, and the runs run_bound[l] .. run_bound[l + 1] - 1 cut the level such that
the k-th node of run r = (start, parent, length), cell start + k, has its parent in cell parent + k. Whole trees of one shape
make few and long runs (20 trees of 1 + 3 + 9 nodes: three of 20 and three of 60), any other forest shorter ones, down to one node.

A step moves both rows along each other, then shrinks a; ``forest_sgd.pyx`` has the formulas.

Operator, with threshold t: upward s_i = sum over children of shrunk^2, n = sqrt(a_i^2 + s_i), shrunk = max(n - t, 0),
f_i = shrunk / n; downward f_i *= f of the parent, a_i *= f_i. This is the composition of the groups' block thresholdings from
the leaves to the roots (Jenatton et al. 2011), in O(M).

Sums run in fixed lanes, so that every vector width gives the same bits.
"""

from libc.stdint cimport int32_t

from rows cimport dots  # its macros are used below

cdef extern from *:
    """
    #include <math.h>
    #include <string.h>

    #if defined(__GNUC__)
    #define WK_INLINE static inline __attribute__((always_inline, unused))
    #define WK_INDEPENDENT _Pragma("GCC ivdep")
    #else
    #define WK_INLINE static inline
    #define WK_INDEPENDENT
    #endif
    #define WK_ROWS_AHEAD 4

    typedef struct {
        ptrdiff_t width, levels;
        const int32_t *level, *run_bound, *runs;    /* runs: start, parent, length of each */
        float *codes, *dictionary;
        const float *shrinkage, *decay;             /* per row of codes: lambda, per row of the dictionary: tau */
        int nonnegative, printed;
        double rate, fall, limit;
        float *factor, *below;                      /* width cells each */
    } wk_forest;

    /* max(x, 0) without a comparison, which keeps GCC from vectorizing a longer loop. */
    WK_INLINE float wk_positive(float x) { return 0.5f * (x + fabsf(x)); }

    WK_INLINE void wk_forest_prox(const wk_forest *m, float *a, float t) {
        float *f = m->factor, *s = m->below;
        const ptrdiff_t last = m->levels - 1, leaves = m->level[last], size = m->level[m->levels];
        /* The deepest level has no children: its operator is soft thresholding, without a square root or a division. */
        WK_INDEPENDENT
        for (ptrdiff_t i = leaves; i < size; i++) a[i] = copysignf(wk_positive(fabsf(a[i]) - t), a[i]);
        if (last == 0) return;
        memset(s, 0, leaves * sizeof(float));
        for (ptrdiff_t r = m->run_bound[last]; r < m->run_bound[m->levels]; r++) {
            float *up = s + m->runs[3 * r + 1];
            const float *own = a + m->runs[3 * r];
            const ptrdiff_t n = m->runs[3 * r + 2];
            WK_INDEPENDENT
            for (ptrdiff_t k = 0; k < n; k++) up[k] += own[k] * own[k];
        }
        for (ptrdiff_t l = last - 1; l >= 0; l--) {
            WK_INDEPENDENT
            for (ptrdiff_t i = m->level[l]; i < m->level[l + 1]; i++) {
                const float n = sqrtf(a[i] * a[i] + s[i]);
                const float shrunk = wk_positive(n - t);
                f[i] = shrunk / (n + 1e-30f);
                s[i] = shrunk * shrunk;
            }
            for (ptrdiff_t r = m->run_bound[l]; r < m->run_bound[l + 1]; r++) {
                float *up = s + m->runs[3 * r + 1];
                const float *own = s + m->runs[3 * r];
                const ptrdiff_t n = m->runs[3 * r + 2];
                WK_INDEPENDENT
                for (ptrdiff_t k = 0; k < n; k++) up[k] += own[k];
            }
        }
        for (ptrdiff_t l = 1; l <= last; l++)
            for (ptrdiff_t r = m->run_bound[l]; r < m->run_bound[l + 1]; r++) {
                const float *up = f + m->runs[3 * r + 1];
                float *own = (l < last ? f : a) + m->runs[3 * r];
                const ptrdiff_t n = m->runs[3 * r + 2];
                WK_INDEPENDENT
                for (ptrdiff_t k = 0; k < n; k++) own[k] *= up[k];
            }
        WK_INDEPENDENT
        for (ptrdiff_t i = 0; i < leaves; i++) a[i] *= f[i];
    }

    WK_INLINE float wk_forest_dot(const float *a, const float *b, ptrdiff_t width) {
        float sum[WK_LANES] = {0};
        for (ptrdiff_t i = 0; i < width; i += WK_LANES)
            for (int l = 0; l < WK_LANES; l++) sum[l] += a[i + l] * b[i + l];
        for (int half = WK_LANES / 2; half; half /= 2)
            for (int l = 0; l < half; l++) sum[l] += sum[l + half];
        return sum[0];
    }

    WK_INLINE void wk_forest_move(float *restrict a, float *restrict d, ptrdiff_t width, float p, float keep, int positive) {
        if (positive)
            for (ptrdiff_t i = 0; i < width; i++) {
                const float old = d[i], moved = a[i] + p * old;
                d[i] = keep * old + p * a[i];
                a[i] = wk_positive(moved);
            }
        else
            for (ptrdiff_t i = 0; i < width; i++) {
                const float old = d[i];
                d[i] = keep * old + p * a[i];
                a[i] += p * old;
            }
    }

    WK_INLINE void wk_forest_fetch(const wk_forest *m, int32_t row, int32_t column) {
        const char *d = (const char *)(m->dictionary + row * m->width), *a = (const char *)(m->codes + column * m->width);
        for (ptrdiff_t b = 0; b < m->width * (ptrdiff_t)sizeof(float); b += 64) { WK_PREFETCH(a + b); WK_PREFETCH(d + b); }
    }

    /* Steps of n draws, the first of which is draw number t. Returns how many were done: the one after has |error| > limit. */
    WK_UNUSED WK_CLONES static ptrdiff_t wk_forest_steps(const wk_forest *m, const int32_t *row, const int32_t *column,
                                                         const float *value, const float *weight, ptrdiff_t n, double t,
                                                         double *loss) {
        double lost = 0;
        ptrdiff_t i = 0;
        for (ptrdiff_t j = 0; j < n && j < WK_ROWS_AHEAD; j++) wk_forest_fetch(m, row[j], column[j]);
        for (; i < n; i++) {
            const ptrdiff_t c = row[i], v = column[i];
            float *d = m->dictionary + c * m->width, *a = m->codes + v * m->width;
            const double rate = m->rate * (1 - m->fall * (t + i));
            if (i + WK_ROWS_AHEAD < n) wk_forest_fetch(m, row[i + WK_ROWS_AHEAD], column[i + WK_ROWS_AHEAD]);
            const double error = value[i] - (double)wk_forest_dot(a, d, m->width);
            double move = 2 * rate * weight[i];
            if (!(fabs(error) <= m->limit)) break;
            lost += weight[i] * error * error;
            if (!m->printed) move /= 1 + move * ((double)wk_forest_dot(a, a, m->width) + wk_forest_dot(d, d, m->width));
            wk_forest_move(a, d, m->width, (float)(move * error), (float)(1 - 2 * rate * m->decay[c]), m->nonnegative);
            if (m->shrinkage[v] > 0) wk_forest_prox(m, a, m->printed ? m->shrinkage[v] : (float)(rate * m->shrinkage[v]));
        }
        *loss += lost;
        return i;
    }
    """
    ctypedef struct Forest "wk_forest":
        Py_ssize_t width, levels
        const int32_t *level
        const int32_t *run_bound
        const int32_t *runs
        float *codes
        float *dictionary
        const float *shrinkage
        const float *decay
        int nonnegative, printed
        double rate, fall, limit
        float *factor
        float *below

    Py_ssize_t steps "wk_forest_steps"(
        const Forest*, const int32_t*, const int32_t*, const float*, const float*, Py_ssize_t, double, double*
    ) noexcept nogil
