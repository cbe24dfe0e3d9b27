/* Tiles of an accelerated proximal gradient: the step into a tile and out of it, and what a duality gap needs.

   Included once a float type, as forest_tile.h is. Matrices of the block have rows ``stride`` apart and ``columns`` (at most
   TILE) columns from their pointer on; tiles are R rows of TILE. See forest_codes.pyx for the formulas. */

#include "tile.h"

/* value = y - rate (gram y - b), where y = a + speed (a - a_old) and gram y likewise of p; missing columns are zeros. */
WK_LOOP NAMED(wk_step_in)(const REAL *restrict a, const REAL *restrict a_old, const REAL *restrict p,
                          const REAL *restrict p_old, const REAL *restrict b, ptrdiff_t stride, ptrdiff_t R, ptrdiff_t columns,
                          REAL rate, const REAL *restrict speed, REAL *restrict value) {
    for (ptrdiff_t i = 0; i < R; i++) {
        REAL *restrict v = WK_ROW(value, i);
        const ptrdiff_t at = i * stride;
        for (ptrdiff_t c = 0; c < columns; c++) {
            const REAL y = a[at + c] + speed[c] * (a[at + c] - a_old[at + c]);
            const REAL q = p[at + c] + speed[c] * (p[at + c] - p_old[at + c]);
            v[c] = y - rate * (q - b[at + c]);
        }
        for (ptrdiff_t c = columns; c < TILE; c++) v[c] = 0;
    }
}

/* a_old = value, the next iterate; turn += (y - value) (value - a): above 0 where the momentum leads astray. */
WK_LOOP NAMED(wk_step_out)(const REAL *restrict value, const REAL *restrict a, REAL *restrict a_old, ptrdiff_t stride,
                           ptrdiff_t R, ptrdiff_t columns, const REAL *restrict speed, REAL *restrict turn) {
    for (ptrdiff_t i = 0; i < R; i++) {
        const REAL *v = WK_ROW(value, i);
        const ptrdiff_t at = i * stride;
        for (ptrdiff_t c = 0; c < columns; c++) {
            const REAL y = a[at + c] + speed[c] * (a[at + c] - a_old[at + c]);
            turn[c] += (y - v[c]) * (v[c] - a[at + c]);
            a_old[at + c] = v[c];
        }
    }
}

/* value = a, slope = 2 (b - p); fit += a slope, match += a b (sums in float64). */
WK_LOOP NAMED(wk_slopes)(const REAL *restrict a, const REAL *restrict p, const REAL *restrict b, ptrdiff_t stride, ptrdiff_t R,
                         ptrdiff_t columns, REAL *restrict value, REAL *restrict slope, double *restrict fit,
                         double *restrict match) {
    for (ptrdiff_t i = 0; i < R; i++) {
        REAL *restrict v = WK_ROW(value, i);
        REAL *restrict g = WK_ROW(slope, i);
        const ptrdiff_t at = i * stride;
        for (ptrdiff_t c = 0; c < columns; c++) {
            v[c] = a[at + c];
            g[c] = 2 * (b[at + c] - p[at + c]);
            fit[c] += (double)v[c] * g[c];
            match[c] += (double)v[c] * b[at + c];
        }
        for (ptrdiff_t c = columns; c < TILE; c++) v[c] = g[c] = 0;
    }
}

/* total += the norms of all subtrees; ``square`` (R, TILE) is scratch. */
WK_LOOP NAMED(wk_norms)(const REAL *restrict value, REAL *restrict square, const int32_t *parents, ptrdiff_t base, ptrdiff_t R,
                        double *restrict total) {
    for (ptrdiff_t i = 0; i < R; i++) WK_EACH(c) WK_ROW(square, i)[c] = WK_ROW(value, i)[c] * WK_ROW(value, i)[c];
    for (ptrdiff_t i = R - 1; i >= 0; i--) {
        const REAL *own = WK_ROW(square, i);
        WK_EACH(c) total[c] += ROOT(own[c]);
        if (parents[i] >= 0) {
            REAL *restrict sum = WK_ROW(square, parents[i] - base);
            WK_EACH(c) sum[c] += own[c];
        }
    }
}

/* largest = the greatest norm of a tree of ``slope`` after the shrinkage, by the threshold, of all nodes below its root. */
WK_LOOP NAMED(wk_root_norms)(const REAL *restrict slope, REAL *restrict square, const int32_t *parents, ptrdiff_t base,
                             ptrdiff_t R, REAL threshold, int nonnegative, REAL *restrict largest) {
    const REAL least = nonnegative ? 0 : -(REAL)INFINITY;
    for (ptrdiff_t i = 0; i < R; i++) {
        const REAL *g = WK_ROW(slope, i);
        REAL *restrict own = WK_ROW(square, i);
        WK_EACH(c) {
            const REAL kept = g[c] < least ? least : g[c];
            own[c] = kept * kept;
        }
    }
    for (ptrdiff_t i = R - 1; i >= 0; i--) {
        const REAL *own = WK_ROW(square, i);
        if (parents[i] >= 0) {
            REAL *restrict sum = WK_ROW(square, parents[i] - base);
            WK_EACH(c) {
                const REAL norm = ROOT(own[c]), shrunk = (norm > threshold ? norm : threshold) - threshold;
                sum[c] += shrunk * shrunk;
            }
        } else {
            WK_EACH(c) {
                const REAL norm = ROOT(own[c]);
                largest[c] = norm > largest[c] ? norm : largest[c];
            }
        }
    }
}
