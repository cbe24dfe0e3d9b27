/* Finds tabs and line feeds eight bytes at a time, without processor-specific instructions. */
#ifndef WORDKIT_BYTESCAN_H
#define WORDKIT_BYTESCAN_H

#include <stdint.h>
#include <string.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* Eight bytes from any address, the first one in the lowest bits. */
static inline uint64_t load_eight(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The top bit of every byte that is 9 (tab) or 10 (line feed). Without its top bit a byte b plus 119 reaches 128
   if b >= 9, plus 117 if b >= 11; no sum passes 246, so that bytes do not disturb one another. */
static inline uint64_t tabs_and_feeds(uint64_t word) {
    const uint64_t ones = 0x0101010101010101ULL;
    uint64_t low = word & (ones * 0x7f);
    return (low + ones * 119) & ~(low + ones * 117) & ~word & (ones * 0x80);
}

/* Which byte the lowest set bit lies in; mask is not zero. */
static inline int first_byte(uint64_t mask) {
#if defined(_MSC_VER)
    unsigned long bit;
    _BitScanForward64(&bit, mask);
    return (int)(bit >> 3);
#else
    return __builtin_ctzll(mask) >> 3;
#endif
}

#endif
