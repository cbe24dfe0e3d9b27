/* Tiles of the alternating solver of codes: its step into a tile and out of it, and what a duality gap needs.

   Included once a float type, as forest_tile.h is. Matrices of the block have rows ``stride`` apart and ``columns`` (at most
   TILE) columns from their pointer on; tiles are R rows of TILE. See forest_codes.pyx for the formulas. */

#include "tile.h"

#define WK_RELAXED(i) (relax * a[i] + (1 - relax) * z[i] + u[i])

/* value = relax a + (1 - relax) z + u; missing columns are zeros. */
WK_LOOP NAMED(wk_step_in)(const REAL *restrict a, const REAL *restrict z, const REAL *restrict u, ptrdiff_t stride, ptrdiff_t R,
                          ptrdiff_t columns, REAL relax, REAL *restrict value) {
    for (ptrdiff_t i = 0; i < R; i++) {
        REAL *restrict v = WK_ROW(value, i);
        for (ptrdiff_t c = 0; c < columns; c++) v[c] = WK_RELAXED(i * stride + c);
        for (ptrdiff_t c = columns; c < TILE; c++) v[c] = 0;
    }
}

/* From the shrunk tile: u = what was shrunk away, z = value, right = 2 b + rho (z - u). */
WK_LOOP NAMED(wk_step_out)(const REAL *restrict value, const REAL *restrict a, const REAL *restrict b, REAL *restrict z,
                           REAL *restrict u, REAL *restrict right, ptrdiff_t stride, ptrdiff_t R, ptrdiff_t columns, REAL relax,
                           REAL rho) {
    for (ptrdiff_t i = 0; i < R; i++) {
        const REAL *v = WK_ROW(value, i);
        const ptrdiff_t at = i * stride;
        for (ptrdiff_t c = 0; c < columns; c++) {
            const REAL away = WK_RELAXED(at + c) - v[c];
            u[at + c] = away;
            z[at + c] = v[c];
            right[at + c] = 2 * b[at + c] + rho * (v[c] - away);
        }
    }
}

/* Before the step out: sums (5, TILE) += squares of a - value, value - z, a, value, and of u after the step. */
WK_LOOP NAMED(wk_residuals)(const REAL *restrict value, const REAL *restrict a, const REAL *restrict z, const REAL *restrict u,
                            ptrdiff_t stride, ptrdiff_t R, ptrdiff_t columns, REAL relax, double *restrict sums) {
    for (ptrdiff_t i = 0; i < R; i++) {
        const REAL *v = WK_ROW(value, i);
        const ptrdiff_t at = i * stride;
        for (ptrdiff_t c = 0; c < columns; c++) {
            const REAL apart = a[at + c] - v[c], moved = v[c] - z[at + c], away = WK_RELAXED(at + c) - v[c];
            sums[c] += (double)(apart * apart);
            sums[TILE + c] += (double)(moved * moved);
            sums[2 * TILE + c] += (double)(a[at + c] * a[at + c]);
            sums[3 * TILE + c] += (double)(v[c] * v[c]);
            sums[4 * TILE + c] += (double)(away * away);
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
                const REAL norm = ROOT(own[c]), shrunk = norm - (norm < threshold ? norm : threshold);
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

#undef WK_RELAXED
