/* Finds tabs and line feeds many bytes at a time: 64 with SSE2, which every x86-64 has, else 8 in plain C.

   tabs_and_feeds(at)  a mask of the SCAN_STEP bytes from ``at``, one bit a byte, lowest first
   first_byte(mask)    which byte the lowest bit of a mask stands for; mask & (mask - 1) is the mask without it */
#ifndef WORDKIT_BYTESCAN_H
#define WORDKIT_BYTESCAN_H

#include <stdint.h>
#include <string.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#if !defined(WORDKIT_PLAIN_C) && (defined(__SSE2__) || defined(_M_X64))
#include <emmintrin.h>

enum { SCAN_STEP = 64, SCAN_BITS_SHIFT = 0 };

static inline uint64_t sixteen_bytes(const unsigned char *at) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    __m128i tabs = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')), feeds = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(tabs, feeds));
}

static inline uint64_t tabs_and_feeds(const unsigned char *at) {
    return sixteen_bytes(at) | sixteen_bytes(at + 16) << 16 | sixteen_bytes(at + 32) << 32
        | sixteen_bytes(at + 48) << 48;
}

#else

enum { SCAN_STEP = 8, SCAN_BITS_SHIFT = 3 };

/* The bit of a byte is its top one here. Without it a byte b plus 119 reaches 128 if b >= 9 (tab), plus 117 if
   b >= 11; no sum passes 246, so that bytes do not disturb one another. */
static inline uint64_t tabs_and_feeds(const unsigned char *at) {
    const uint64_t ones = 0x0101010101010101ULL;
    uint64_t word, low;
    memcpy(&word, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    low = word & (ones * 0x7f);
    return (low + ones * 119) & ~(low + ones * 117) & ~word & (ones * 0x80);
}

#endif

static inline int first_byte(uint64_t mask) {
#if defined(_MSC_VER)
    unsigned long bit;
    _BitScanForward64(&bit, mask);
    return (int)(bit >> SCAN_BITS_SHIFT);
#else
    return __builtin_ctzll(mask) >> SCAN_BITS_SHIFT;
#endif
}

#endif
