/* Tiles: rows of TILE columns without gaps, small enough for the first-level cache; what their C loops share. */
#ifndef WORDKIT_TILE_H
#define WORDKIT_TILE_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum { TILE = 64 };

#ifndef WK_CLONES
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define WK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WK_CLONES
#endif
#endif
#ifndef WK_UNUSED
#if defined(__GNUC__)
#define WK_UNUSED __attribute__((unused))
#else
#define WK_UNUSED
#endif
#endif
#if defined(_MSC_VER)
#define restrict __restrict
#endif

#define WK_LOOP WK_UNUSED WK_CLONES static void
#define WK_ROW(matrix, i) ((matrix) + (i) * (ptrdiff_t)TILE)
#define WK_EACH(c) for (ptrdiff_t c = 0; c < TILE; c++)

#endif
