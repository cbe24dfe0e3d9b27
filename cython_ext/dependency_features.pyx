"""Features of dependency trees for reranking, as 64-bit keys, and how often each occurs in each candidate of a list.

A key says what a feature is, exactly, no hash: its template in the lowest 6 bits and above them its fields, the first in the lowest
bits, of 18 bits for a word, 9 for a tag, 5 for a small number. ``TEMPLATES`` names them: for a word m of the sentence, its head h, the
head's head g, and that one's e; s the dependent of h between h and m that is nearest to m, r the one before s; first and last, the
ends of what hangs below m, and beside them the words before and after; i and j, two neighbours in the sentence, with their heads.
Words and tags are counted from 3; 0 is none, 1 the root, 2 a word or tag of a number that does not fit.

    tree_keys       keys (k, n KEYS_PER_WORD) of k trees
    number_keys     the distinct keys of all, in order of first occurrence, and the number of each
    count_numbers   counts (k, distinct) of them in each tree
"""

from libc.stdint cimport int32_t, uint64_t

from head_check cimport tree_status

# Name, and fields: t tag, w word, n number.
TEMPLATES = (
    ("arc", "h.t m.t way+distance.n"), ("arc", "h.w m.t way.n"), ("arc", "h.t m.w way.n"), ("arc", "h.w m.w way.n"),
    ("grandparent", "g.t h.t m.t ways.n"), ("grandparent", "g.t h.t m.w ways.n"), ("grandparent", "g.t h.w m.t ways.n"),
    ("grandparent", "g.w h.t m.t ways.n"),
    ("sibling", "h.t s.t m.t way.n"), ("sibling", "h.t s.w m.t way.n"), ("sibling", "h.t s.t m.w way.n"),
    ("sibling", "h.w s.t m.t way.n"), ("sibling", "s.w m.w way.n"),
    ("siblings", "h.t r.t s.t m.t way.n"), ("grandsibling", "g.t h.t s.t m.t ways.n"),
    ("chain", "e.t g.t h.t m.t"), ("chain", "g.t h.t m.w"), ("chain", "g.t h.w m.w"),
    ("valency", "m.t left.n right.n"), ("valency", "m.w left.n right.n"),
    ("edges", "m.t first.t last.t"), ("around", "m.t before.t after.t"),
    ("size", "h.t m.t way.n size.n"), ("heavy", "m.t after.t size.n"),
    ("bigram", "i.t j.t relation.n"), ("bigram", "i.w j.w relation.n"), ("bigram", "i.t j.t i.h.t j.h.t relation.n"),
    ("depth", "m.t depth.n"), ("right", "on.n"), ("length", "way+distance.n"),
)

cdef enum:
    N_TEMPLATES = 30

KEYS_PER_WORD = N_TEMPLATES
TEMPLATE_BITS = 6
FIELD_BITS = {"t": 9, "w": 18, "n": 5}
MOST = {"t": 508, "w": 262140, "n": 31}  # greatest tag and word before they are counted from 3, and greatest number


# --- one tree -----------------------------------------------------------------------------------------------------------------


cdef struct Tree:
    Py_ssize_t n
    const int32_t* words
    const int32_t* tags
    const int32_t* heads   # from 1
    int32_t* shape         # (8, n + 2): see the rows below; word numbers from 1, 0 is the root


cdef enum:
    LEFT_COUNT = 0
    RIGHT_COUNT = 1
    SIBLING = 2    # towards the head; -1: none
    LOW = 3
    HIGH = 4
    DEPTH = 5
    ON_RIGHT = 6
    LAST = 7       # scratch
    ROWS = 8

SHAPE_ROWS = ROWS


cdef inline int32_t* row(const Tree* g, Py_ssize_t r) noexcept nogil:
    return g.shape + r * (g.n + 2)


cdef inline uint64_t tag(const Tree* g, Py_ssize_t i) noexcept nogil:
    """i from 1, 0 the root; anything else is none."""
    if i < 1 or i > g.n:
        return i == 0
    return <uint64_t>g.tags[i - 1] + 3 if g.tags[i - 1] <= 508 else 2


cdef inline uint64_t word(const Tree* g, Py_ssize_t i) noexcept nogil:
    if i < 1 or i > g.n:
        return i == 0
    return <uint64_t>g.words[i - 1] + 3 if g.words[i - 1] <= 262140 else 2


cdef inline Py_ssize_t head(const Tree* g, Py_ssize_t i) noexcept nogil:
    """-1 above the root, and for none."""
    return g.heads[i - 1] if 1 <= i <= g.n else -1


cdef inline uint64_t distance_step(Py_ssize_t d) noexcept nogil:
    """1, 2, 3, 4, 5 to 6, 7 to 9, 10 to 15, 16 to 25, more."""
    if d <= 4:
        return <uint64_t>d
    return 5 if d <= 6 else 6 if d <= 9 else 7 if d <= 15 else 8 if d <= 25 else 9


cdef inline uint64_t at_most(Py_ssize_t x, Py_ssize_t most) noexcept nogil:
    return <uint64_t>(x if x < most else most)


cdef void measure(const Tree* g) noexcept nogil:
    """Fill the shape of a tree; dependents are met in the order of the sentence."""
    cdef Py_ssize_t i, h, at, end, n = g.n
    cdef int32_t* last = row(g, LAST)
    cdef int32_t* low = row(g, LOW)
    cdef int32_t* high = row(g, HIGH)
    for i in range(n + 1):
        row(g, LEFT_COUNT)[i] = row(g, RIGHT_COUNT)[i] = row(g, ON_RIGHT)[i] = row(g, DEPTH)[i] = 0
        row(g, SIBLING)[i] = -1
        low[i] = high[i] = <int32_t>i
        last[i] = -1
    for i in range(1, n + 1):  # dependents on the right: the one before is nearer to the head
        h = g.heads[i - 1]
        if i < h:
            row(g, LEFT_COUNT)[h] += 1
        else:
            row(g, RIGHT_COUNT)[h] += 1
            row(g, SIBLING)[i] = last[h]
            last[h] = <int32_t>i
        at, end = h, i  # what is above gets wider, and this word deeper
        while True:
            row(g, DEPTH)[i] += 1
            if end < low[at]:
                low[at] = <int32_t>end
            if end > high[at]:
                high[at] = <int32_t>end
            if at == 0:
                break
            at = g.heads[at - 1]
    for i in range(n + 1):
        last[i] = -1
    for i in range(n, 0, -1):
        h = g.heads[i - 1]
        if i < h:
            row(g, SIBLING)[i] = last[h]
            last[h] = <int32_t>i
    at = n
    while at:
        row(g, ON_RIGHT)[at] = 1
        at = g.heads[at - 1]


cdef inline uint64_t pack(uint64_t template, uint64_t a, int a_bits, uint64_t b, int b_bits, uint64_t c, int c_bits, uint64_t d,
                          int d_bits, uint64_t e) noexcept nogil:
    cdef int at = 6
    cdef uint64_t key = template
    key |= a << at
    at += a_bits
    key |= b << at
    at += b_bits
    key |= c << at
    at += c_bits
    key |= d << at
    at += d_bits
    return key | e << at if at < 64 else key


cdef void word_keys(const Tree* g, Py_ssize_t m, uint64_t* out) noexcept nogil:
    cdef Py_ssize_t h = head(g, m), p = head(g, h), s = row(g, SIBLING)[m], j = m + 1 if m < g.n else -1
    cdef Py_ssize_t low = row(g, LOW)[m], high = row(g, HIGH)[m], r = row(g, SIBLING)[s] if s > 0 else -1
    cdef Py_ssize_t q = head(g, p)
    cdef uint64_t mt = tag(g, m), mw = word(g, m), ht = tag(g, h), hw = word(g, h), gt = tag(g, p), st = tag(g, s)
    cdef uint64_t way = h < m, ways = way + 2 * (p < h) + 4 * (p < 0), far = way + 2 * distance_step(m - h if h < m else h - m)
    cdef uint64_t left = at_most(row(g, LEFT_COUNT)[m], 6), right = at_most(row(g, RIGHT_COUNT)[m], 6)
    cdef uint64_t size = distance_step(high - low + 1), relation
    cdef uint64_t before = tag(g, low - 1 if low > 1 else -1), after = tag(g, high + 1)
    out[0] = pack(0, ht, 9, mt, 9, far, 5, 0, 0, 0)
    out[1] = pack(1, hw, 18, mt, 9, way, 5, 0, 0, 0)
    out[2] = pack(2, ht, 9, mw, 18, way, 5, 0, 0, 0)
    out[3] = pack(3, hw, 18, mw, 18, way, 5, 0, 0, 0)
    out[4] = pack(4, gt, 9, ht, 9, mt, 9, ways, 5, 0)
    out[5] = pack(5, gt, 9, ht, 9, mw, 18, ways, 5, 0)
    out[6] = pack(6, gt, 9, hw, 18, mt, 9, ways, 5, 0)
    out[7] = pack(7, word(g, p), 18, ht, 9, mt, 9, ways, 5, 0)
    out[8] = pack(8, ht, 9, st, 9, mt, 9, way, 5, 0)
    out[9] = pack(9, ht, 9, word(g, s), 18, mt, 9, way, 5, 0)
    out[10] = pack(10, ht, 9, st, 9, mw, 18, way, 5, 0)
    out[11] = pack(11, hw, 18, st, 9, mt, 9, way, 5, 0)
    out[12] = pack(12, word(g, s), 18, mw, 18, way, 5, 0, 0, 0)
    out[13] = pack(13, ht, 9, tag(g, r), 9, st, 9, mt, 9, way)
    out[14] = pack(14, gt, 9, ht, 9, st, 9, mt, 9, ways)
    out[15] = pack(15, tag(g, q), 9, gt, 9, ht, 9, mt, 9, 0)
    out[16] = pack(16, gt, 9, ht, 9, mw, 18, 0, 0, 0)
    out[17] = pack(17, gt, 9, hw, 18, mw, 18, 0, 0, 0)
    out[18] = pack(18, mt, 9, left, 5, right, 5, 0, 0, 0)
    out[19] = pack(19, mw, 18, left, 5, right, 5, 0, 0, 0)
    out[20] = pack(20, mt, 9, tag(g, low), 9, tag(g, high), 9, 0, 0, 0)
    out[21] = pack(21, mt, 9, before, 9, after, 9, 0, 0, 0)
    out[22] = pack(22, ht, 9, mt, 9, way, 5, size, 5, 0)
    out[23] = pack(23, mt, 9, after, 9, size, 5, 0, 0, 0)
    relation = 0 if j < 0 else 1 if head(g, j) == m else 2 if h == j else 3 if h == head(g, j) else 4 if head(g, j) < m else 5
    out[24] = pack(24, mt, 9, tag(g, j), 9, relation, 5, 0, 0, 0)
    out[25] = pack(25, mw, 18, word(g, j), 18, relation, 5, 0, 0, 0)
    out[26] = pack(26, mt, 9, tag(g, j), 9, ht, 9, tag(g, head(g, j)), 9, relation)
    out[27] = pack(27, mt, 9, at_most(row(g, DEPTH)[m], 20), 5, 0, 0, 0, 0, 0)
    out[28] = pack(28, row(g, ON_RIGHT)[m], 5, 0, 0, 0, 0, 0, 0, 0)
    out[29] = pack(29, far, 5, 0, 0, 0, 0, 0, 0, 0)


def tree_keys(const int32_t[::1] words, const int32_t[::1] tags, const int32_t[:, ::1] heads, int32_t[:, ::1] shape,
              uint64_t[:, ::1] out):
    """Keys of every word of some trees of one sentence.

    Args:
        words, tags: (n) numbers from 0. heads: (k, n), from 1, 0 the root.
        shape: scratch, (SHAPE_ROWS, n + 2). out: (k, n KEYS_PER_WORD).

    Raises:
        ValueError: shapes that do not fit, numbers out of range, heads that are not trees.
    """
    cdef Py_ssize_t n = words.shape[0], k = heads.shape[0], i, c, at
    cdef bint good = True
    cdef Tree g
    if n < 1 or tags.shape[0] != n or heads.shape[1] != n or shape.shape[0] != ROWS or shape.shape[1] != n + 2:
        raise ValueError("tags and heads need an entry a word, shape is (SHAPE_ROWS, n + 2)")
    if out.shape[0] != k or out.shape[1] != n * N_TEMPLATES:
        raise ValueError("out is (k, n KEYS_PER_WORD)")
    for i in range(n):
        good = good and words[i] >= 0 and tags[i] >= 0
    for c in range(k):
        good = good and tree_status(&heads[c, 0], &shape[0, 0], n, &at) == 0
    if not good:
        raise ValueError("words or tags are below 0, or heads are not trees")
    g.n, g.words, g.tags, g.shape = n, &words[0], &tags[0], &shape[0, 0]
    with nogil:
        for c in range(k):
            g.heads = &heads[c, 0]
            measure(&g)
            for i in range(n):
                word_keys(&g, i + 1, &out[c, i * N_TEMPLATES])


# --- a list -------------------------------------------------------------------------------------------------------------------


def number_keys(const uint64_t[::1] keys, uint64_t[::1] table, int32_t[::1] owner, uint64_t[::1] distinct, int32_t[::1] numbers):
    """Numbers the distinct keys in order of first occurrence; returns how many there are.

    Args:
        table, owner: scratch, as long as each other, a power of two, at least twice as long as keys.
        distinct: as long as keys; its beginning gets the distinct keys. numbers: as long as keys; the number of each.

    Raises:
        ValueError: shapes that do not fit.
    """
    cdef Py_ssize_t size = table.shape[0], n = keys.shape[0], i, at
    cdef int32_t found = 0
    if owner.shape[0] != size or size < 2 * n or size < 1 or size & (size - 1):
        raise ValueError("table and owner need a power of two, and twice as many places as there are keys")
    if distinct.shape[0] != n or numbers.shape[0] != n or n >= 1 << 30:
        raise ValueError("distinct and numbers need a place a key")
    with nogil:
        for i in range(size):
            owner[i] = -1
        for i in range(n):
            at = <Py_ssize_t>((keys[i] * <uint64_t>0x9E3779B97F4A7C15) >> 20) & (size - 1)
            while owner[at] >= 0 and table[at] != keys[i]:
                at = (at + 1) & (size - 1)
            if owner[at] < 0:
                owner[at] = found
                table[at] = keys[i]
                distinct[found] = keys[i]
                found += 1
            numbers[i] = owner[at]
    return found


def count_numbers(const int32_t[:, ::1] numbers, int32_t[:, ::1] counts):
    """counts[c, u] += how often u stands in row c.

    Args:
        numbers: (k, m), below U. counts: (k, U).

    Raises:
        ValueError: shapes that do not fit, numbers out of range.
    """
    cdef Py_ssize_t c, i, U = counts.shape[1]
    cdef bint good = True
    if counts.shape[0] != numbers.shape[0]:
        raise ValueError("counts need a row a row of numbers")
    with nogil:
        for c in range(numbers.shape[0]):
            for i in range(numbers.shape[1]):
                if 0 <= numbers[c, i] < U:
                    counts[c, numbers[c, i]] += 1
                else:
                    good = False
    if not good:
        raise ValueError(f"numbers are outside 0 to {U - 1}")
