/* The tree proximal operator on a tile: R rows (nodes) of TILE columns without gaps, all in the first-level cache.

   Included once a float type, with REAL (the type), ROOT (its square root) and NAMED(x) (x with the type's suffix)
   defined. Node i's parent is
   parents[i] - base, a row of the tile above its own, or negative for a root; inner[i] says whether i has children. Rows of
   ``factor`` are used at inner nodes only. Every column is computed alone and in one order: any vector width gives the same
   bits. See forest_prox.pyx for the formulas. */

#ifndef WORDKIT_FOREST_TILE_H
#define WORDKIT_FOREST_TILE_H
#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE = 64 };

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WK_CLONES
#endif
#if defined(__GNUC__)
#define WK_UNUSED __attribute__((unused))
#else
#define WK_UNUSED
#endif
#define WK_ROW(matrix, i) ((matrix) + (i) * (ptrdiff_t)TILE)
#define WK_EACH(c) for (ptrdiff_t c = 0; c < TILE; c++)
#endif

/* From the leaves up: leaves are shrunk in ``value``, inner nodes leave their factor in ``factor``. */
WK_UNUSED WK_CLONES static void NAMED(wk_tile_up)(REAL *restrict value, REAL *restrict factor, const int32_t *restrict parents,
                                                  const uint8_t *restrict inner, ptrdiff_t base, ptrdiff_t R,
                                                  const REAL *restrict threshold, int nonnegative) {
    const REAL least = nonnegative ? (REAL)0 : -(REAL)INFINITY;
    REAL square[TILE];
    for (ptrdiff_t i = 0; i < R; i++) {
        if (inner[i]) WK_EACH(c) WK_ROW(factor, i)[c] = 0;
    }
    for (ptrdiff_t i = R - 1; i >= 0; i--) {
        REAL *restrict v = WK_ROW(value, i);
        const ptrdiff_t parent = parents[i] - base;
        if (nonnegative) WK_EACH(c) v[c] = v[c] < least ? least : v[c];
        if (inner[i]) {
            REAL *restrict f = WK_ROW(factor, i);
            WK_EACH(c) {
                const REAL t = threshold[c];
                const REAL norm = ROOT(f[c] + v[c] * v[c]);
                const REAL shrunk = norm > t ? norm - t : (REAL)0;
                const REAL divisor = norm > t ? norm : (REAL)1;
                f[c] = shrunk / divisor;
                square[c] = shrunk * shrunk;
            }
        } else {
            WK_EACH(c) {
                /* A single value's norm is its absolute value: no root, no division. */
                const REAL t = threshold[c];
                const REAL low = v[c] < -t ? -t : v[c];
                v[c] -= low > t ? t : low;
                square[c] = v[c] * v[c];
            }
        }
        if (parents[i] >= 0) {
            REAL *restrict above = WK_ROW(factor, parent);
            WK_EACH(c) above[c] += square[c];
        }
    }
}

/* From the roots down: ``value`` times the factors of its node and of the nodes above. */
WK_UNUSED WK_CLONES static void NAMED(wk_tile_down)(REAL *restrict value, REAL *restrict factor, const int32_t *restrict parents,
                                                    const uint8_t *restrict inner, ptrdiff_t base, ptrdiff_t R) {
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
