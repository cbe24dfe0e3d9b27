/* Sum of value x weight over the entries of a candidate: entry i has the weight at places[i].

   In eight running sums, entry i in sum i mod 8, those past the last whole eight in sum 0; then ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
   Two at a time with SSE2, which every x86-64 has, else one by one: the same bits. */
#ifndef WORDKIT_ENTRY_SUM_H
#define WORDKIT_ENTRY_SUM_H

#include <stddef.h>
#include <stdint.h>

#if !defined(WORDKIT_PLAIN_C) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>

#define WK_PAIR(k) \
    _mm_mul_pd(_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(values + i + k)))), \
               _mm_loadh_pd(_mm_load_sd(weights + places[i + k]), weights + places[i + k + 1]))

#define WK_ENTRY_SUM(name, place) \
    static inline double name(const place *places, const float *values, ptrdiff_t n, const double *weights) { \
        __m128d a = _mm_setzero_pd(), b = a, c = a, d = a; \
        double s[8]; \
        ptrdiff_t i = 0; \
        for (; i + 8 <= n; i += 8) { \
            a = _mm_add_pd(a, WK_PAIR(0)); \
            b = _mm_add_pd(b, WK_PAIR(2)); \
            c = _mm_add_pd(c, WK_PAIR(4)); \
            d = _mm_add_pd(d, WK_PAIR(6)); \
        } \
        _mm_storeu_pd(s, a); \
        _mm_storeu_pd(s + 2, b); \
        _mm_storeu_pd(s + 4, c); \
        _mm_storeu_pd(s + 6, d); \
        for (; i < n; i++) s[0] += values[i] * weights[places[i]]; \
        return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); \
    }

#else

#define WK_ENTRY_SUM(name, place) \
    static inline double name(const place *places, const float *values, ptrdiff_t n, const double *weights) { \
        double s[8] = {0, 0, 0, 0, 0, 0, 0, 0}; \
        ptrdiff_t i = 0; \
        for (; i + 8 <= n; i += 8) \
            for (int k = 0; k < 8; k++) s[k] += values[i + k] * weights[places[i + k]]; \
        for (; i < n; i++) s[0] += values[i] * weights[places[i]]; \
        return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); \
    }

#endif

WK_ENTRY_SUM(entry_sum_16, uint16_t)
WK_ENTRY_SUM(entry_sum_32, int32_t)

#endif
