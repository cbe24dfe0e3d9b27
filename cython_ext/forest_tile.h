/* The tree proximal operator on a tile: R rows (nodes) of TILE columns without gaps, all in the first-level cache.

   Included once a float type, with REAL (the type), ROOT (its square root), LEAST (its least normal number) and NAMED(x)
   (x with the type's suffix) defined. Node i's parent is parents[i] - base, a row of the tile above its own, or negative for
   a root; inner[i] says whether i has children. Rows of ``factor`` are used at inner nodes only. Every column is computed
   alone and in one order: any vector width gives the same bits. See forest_prox.pyx for the formulas. */

#include "tile.h"

/* From the leaves up: leaves are shrunk in ``value``, inner nodes leave their factor in ``factor``. */
WK_LOOP NAMED(wk_tile_up)(REAL *restrict value, REAL *restrict factor, const int32_t *parents, const uint8_t *inner,
                          ptrdiff_t base, ptrdiff_t R, const REAL *restrict threshold, int nonnegative) {
    REAL square[TILE];
    for (ptrdiff_t i = 0; i < R; i++)
        if (inner[i]) WK_EACH(c) WK_ROW(factor, i)[c] = 0;
    for (ptrdiff_t i = R - 1; i >= 0; i--) {
        REAL *restrict v = WK_ROW(value, i);
        if (nonnegative) WK_EACH(c) v[c] = v[c] < 0 ? 0 : v[c];
        if (inner[i]) {
            REAL *restrict f = WK_ROW(factor, i);
            WK_EACH(c) {
                /* Choices between values, never between computations: a branch would keep the loop from being vectorized. */
                const REAL t = threshold[c], norm = ROOT(f[c] + v[c] * v[c]);
                const REAL shrunk = norm - (norm < t ? norm : t), divisor = norm > LEAST ? norm : LEAST;
                f[c] = shrunk / divisor;
                square[c] = shrunk * shrunk;
            }
        } else {
            WK_EACH(c) { /* A single value's norm is its absolute value: no root, no division. */
                const REAL t = threshold[c], above = v[c] < -t ? -t : v[c];
                v[c] -= above > t ? t : above;
                square[c] = v[c] * v[c];
            }
        }
        if (parents[i] >= 0) {
            REAL *restrict sum = WK_ROW(factor, parents[i] - base);
            WK_EACH(c) sum[c] += square[c];
        }
    }
}

/* From the roots down: ``value`` times the factors of its node and of the nodes above. */
WK_LOOP NAMED(wk_tile_down)(REAL *restrict value, REAL *restrict factor, const int32_t *parents, const uint8_t *inner,
                            ptrdiff_t base, ptrdiff_t R) {
    for (ptrdiff_t i = 0; i < R; i++) {
        REAL *restrict v = WK_ROW(value, i);
        const REAL *f = parents[i] >= 0 ? WK_ROW(factor, parents[i] - base) : NULL;
        if (inner[i]) {
            REAL *restrict own = WK_ROW(factor, i);
            if (f) WK_EACH(c) own[c] *= f[c];
            f = own;
        }
        if (f) WK_EACH(c) v[c] *= f[c];
    }
}
