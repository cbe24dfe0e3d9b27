/* Single bits of 64-bit words, and hints to the cache.

   lowest_bit(word)   place of the lowest bit that is set, from 0; the word is not 0
   soon(address)      the cache line of an address will be read */
#ifndef WORDKIT_BITS_H
#define WORDKIT_BITS_H

#include <stdint.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif

static inline int lowest_bit(uint64_t word) {
#if defined(_MSC_VER)
    unsigned long bit;
    _BitScanForward64(&bit, word);
    return (int)bit;
#else
    return __builtin_ctzll(word);
#endif
}

#if defined(__GNUC__)
#define soon(address) __builtin_prefetch(address)
#else
#define soon(address) ((void)(address))
#endif

#endif
