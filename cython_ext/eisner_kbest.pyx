"""The k best projective dependency trees of a sentence by arc scores: Eisner (1996), lists of derivations by Huang and Chiang (2005).

A[h, m] is the score of the arc from head h to word m, words from 1, the root 0; a tree scores the sum of its arcs. Exactly one word
hangs on the root. With words from 0 to n - 1 and parts of the tree over words s to t,

    link(s, t)   =  max over s <= r < t   of  right(s, r) + left(r + 1, t)                no arc between s and t yet
    right(s, t)  =  max over s < r <= t   of  (link(s, r) + A[s, r]) + right(r, t)        s heads all; r is its last child
    left(s, t)   =  max over s <= r < t   of  left(s, r) + (link(r, t) + A[t, r])         t heads all; r is its first child
    tree         =  max over r            of  (left(0, r) + A[root, r]) + right(r, n - 1)

A tree has one derivation, so the k best derivations are the k best distinct trees. The first pass finds the best of every part, n^3 / 2
steps; only the parts that a further tree asks for get lists of their own, each derivation when it is needed (their algorithm 3).
Equal scores: the smaller r first, then the lower derivation of the left part, then of the right one.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, realloc


cdef struct Entry:
    double score
    int32_t cut, left, right  # r, and which derivation of the left and of the right part


cdef struct Chart:
    Py_ssize_t n, k, cells
    const double* arcs
    double* best       # (cells) score of the best derivation: link, right, left (n, n) each, then the tree
    double* flipped    # (4, n, n) columns as rows: right, left, and left and right with their arc
    int32_t* cut       # (cells) r of the best derivation
    int64_t* start     # (cells) where a part's list begins in the pool, -1: it has none yet
    int32_t* found     # (cells) derivations in the list
    int32_t* expanded  # (cells) of these, how many have told what comes after them
    int32_t* waiting   # (cells) candidates in the heap, which lies behind the k places of the list
    Entry* pool
    int64_t used, room
    bint full          # memory has run out


cdef enum:
    LINK = 0
    RIGHT = 1
    LEFT = 2
    TREE = 3


# --- the best derivation of every part ----------------------------------------------------------------------------------------


cdef inline double arc(const Chart* c, Py_ssize_t head, Py_ssize_t word) noexcept nogil:
    """Both from 0; the root is -1."""
    return c.arcs[(head + 1) * (c.n + 1) + word + 1]


cdef inline Py_ssize_t first_best(const double* a, const double* b, Py_ssize_t n, double* value) noexcept nogil:
    """First place of the greatest a[i] + b[i]."""
    cdef Py_ssize_t i, place = 0
    cdef double x, most = a[0] + b[0]
    for i in range(1, n):
        x = a[i] + b[i]
        if x > most:
            most = x
            place = i
    value[0] = most
    return place


cdef void best_parts(Chart* c) noexcept nogil:
    cdef Py_ssize_t n = c.n, s, t, r, size, area = n * n
    cdef double* link = c.best
    cdef double* right = c.best + area
    cdef double* left = c.best + 2 * area
    cdef double* right_by_end = c.flipped
    cdef double* left_by_end = c.flipped + area
    cdef double* arc_left_by_end = c.flipped + 2 * area
    cdef double* arc_right = c.flipped + 3 * area
    cdef double value
    for s in range(n):
        right[s * n + s] = right_by_end[s * n + s] = left[s * n + s] = left_by_end[s * n + s] = 0
    for size in range(1, n):
        for s in range(n - size):
            t = s + size
            r = s + first_best(right + s * n + s, left_by_end + t * n + s + 1, size, &value)
            link[s * n + t] = value
            c.cut[s * n + t] = <int32_t>r
            arc_right[s * n + t] = value + arc(c, s, t)
            arc_left_by_end[t * n + s] = value + arc(c, t, s)
            r = s + 1 + first_best(arc_right + s * n + s + 1, right_by_end + t * n + s + 1, size, &value)
            right[s * n + t] = right_by_end[t * n + s] = value
            c.cut[area + s * n + t] = <int32_t>r
            r = s + first_best(left + s * n + s, arc_left_by_end + t * n + s, size, &value)
            left[s * n + t] = left_by_end[t * n + s] = value
            c.cut[2 * area + s * n + t] = <int32_t>r
    c.best[3 * area] = -INFINITY
    for r in range(n):
        value = (left[r] + arc(c, -1, r)) + right[r * n + n - 1]
        if value > c.best[3 * area]:
            c.best[3 * area] = value
            c.cut[3 * area] = <int32_t>r


# --- parts, their cuts and their lists ----------------------------------------------------------------------------------------


cdef struct Part:
    int kind
    Py_ssize_t s, t, low, high  # words, and the range of its cuts


cdef inline Part part_of(const Chart* c, Py_ssize_t cell) noexcept nogil:
    cdef Part p
    cdef Py_ssize_t area = c.n * c.n
    p.kind = <int>(cell // area)
    p.s, p.t = (cell % area) // c.n, cell % c.n
    p.low, p.high = p.s, p.t
    if p.kind == TREE:
        p.low, p.high = 0, c.n
    elif p.kind == RIGHT:
        p.low, p.high = p.s + 1, p.t + 1
    return p


cdef inline Py_ssize_t left_cell(const Chart* c, const Part* p, Py_ssize_t r) noexcept nogil:
    cdef Py_ssize_t area = c.n * c.n
    if p.kind == LINK:
        return area + p.s * c.n + r
    if p.kind == RIGHT:
        return p.s * c.n + r
    return 2 * area + (0 if p.kind == TREE else p.s * c.n) + r


cdef inline Py_ssize_t right_cell(const Chart* c, const Part* p, Py_ssize_t r) noexcept nogil:
    cdef Py_ssize_t area = c.n * c.n
    if p.kind == LINK:
        return 2 * area + (r + 1) * c.n + p.t
    if p.kind == LEFT:
        return r * c.n + p.t
    return area + r * c.n + (c.n - 1 if p.kind == TREE else p.t)


cdef inline double joined(const Chart* c, const Part* p, Py_ssize_t r, double left, double right) noexcept nogil:
    """Score of a derivation from those of its parts, summed in the order of the first pass."""
    if p.kind == LINK:
        return left + right
    if p.kind == RIGHT:
        return (left + arc(c, p.s, r)) + right
    if p.kind == LEFT:
        return left + (right + arc(c, p.t, r))
    return (left + arc(c, -1, r)) + right


cdef inline Entry entry_of(const Chart* c, Py_ssize_t cell, Py_ssize_t index) noexcept nogil:
    cdef Entry e
    if index:
        return c.pool[c.start[cell] + index]
    e.score, e.cut, e.left, e.right = c.best[cell], c.cut[cell], 0, 0
    return e


cdef inline bint before(const Entry* a, const Entry* b) noexcept nogil:
    if a.score != b.score:
        return a.score > b.score
    if a.cut != b.cut:
        return a.cut < b.cut
    return a.left < b.left if a.left != b.left else a.right < b.right


cdef inline void sink(Entry* heap, Py_ssize_t n, Py_ssize_t at) noexcept nogil:
    cdef Entry moved = heap[at]
    cdef Py_ssize_t child
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and before(&heap[child + 1], &heap[child]):
            child += 1
        if not before(&heap[child], &moved):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = moved


cdef inline void rise(Entry* heap, Py_ssize_t at) noexcept nogil:
    cdef Entry moved = heap[at]
    while at and before(&moved, &heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = moved


cdef bint open_list(Chart* c, Py_ssize_t cell, const Part* p) noexcept nogil:
    """Give a part its list, with the best derivation in it, and the best of every other cut in the heap; False: no memory."""
    cdef int64_t size = 2 * c.k + (p.high - p.low)  # a derivation taken from the heap adds two at most, so one a place of the list
    cdef Py_ssize_t r, n = 0
    cdef Entry* grown
    cdef Entry* heap
    if c.used + size > c.room:
        c.room = 2 * (c.used + size)
        grown = <Entry*>realloc(c.pool, <size_t>c.room * sizeof(Entry))
        if grown == NULL:
            c.full = True
            return False
        c.pool = grown
    c.start[cell] = c.used
    c.used += size
    c.pool[c.start[cell]] = entry_of(c, cell, 0)
    heap = c.pool + c.start[cell] + c.k
    for r in range(p.low, p.high):
        if r != c.cut[cell]:
            heap[n].score = joined(c, p, r, c.best[left_cell(c, p, r)], c.best[right_cell(c, p, r)])
            heap[n].cut, heap[n].left, heap[n].right = <int32_t>r, 0, 0
            n += 1
    for r in range(n // 2 - 1, -1, -1):
        sink(heap, n, r)
    c.found[cell], c.expanded[cell], c.waiting[cell] = 1, 0, <int32_t>n
    return True


cdef void offer(Chart* c, Py_ssize_t cell, const Part* p, Py_ssize_t r, Py_ssize_t left, Py_ssize_t right) noexcept nogil:
    """Put a derivation into the heap if its parts have the derivations that it wants."""
    cdef Py_ssize_t a = left_cell(c, p, r), b = right_cell(c, p, r)
    cdef Entry* heap
    if not reach(c, a, left) or not reach(c, b, right):
        return
    heap = c.pool + c.start[cell] + c.k
    heap[c.waiting[cell]].score = joined(c, p, r, entry_of(c, a, left).score, entry_of(c, b, right).score)
    heap[c.waiting[cell]].cut = <int32_t>r
    heap[c.waiting[cell]].left, heap[c.waiting[cell]].right = <int32_t>left, <int32_t>right
    rise(heap, c.waiting[cell])
    c.waiting[cell] += 1


cdef bint reach(Chart* c, Py_ssize_t cell, Py_ssize_t index) noexcept nogil:
    """Whether a part has a derivation of that number; those up to it are in its list afterwards."""
    cdef Part p
    cdef Entry e
    cdef Entry* heap
    if index == 0:
        return True
    p = part_of(c, cell)
    if p.low >= p.high or (c.start[cell] < 0 and not open_list(c, cell, &p)):
        return False  # a word alone
    while c.found[cell] <= index:
        while c.expanded[cell] < c.found[cell]:
            e = entry_of(c, cell, c.expanded[cell])
            c.expanded[cell] += 1
            # Every pair of derivations comes after one other: first the right part moves on, then the left one.
            offer(c, cell, &p, e.cut, e.left + 1, e.right)
            if e.left == 0:
                offer(c, cell, &p, e.cut, 0, e.right + 1)
        if c.waiting[cell] == 0 or c.full:
            return False
        heap = c.pool + c.start[cell] + c.k
        c.pool[c.start[cell] + c.found[cell]] = heap[0]
        c.found[cell] += 1
        c.waiting[cell] -= 1
        if c.waiting[cell]:
            heap[0] = heap[c.waiting[cell]]
            sink(heap, c.waiting[cell], 0)
    return True


cdef void write_heads(const Chart* c, Py_ssize_t cell, Py_ssize_t index, int32_t* heads) noexcept nogil:
    cdef Part p
    cdef Entry e
    while True:
        p = part_of(c, cell)
        if p.low >= p.high:
            return
        e = entry_of(c, cell, index)
        if p.kind == RIGHT:
            heads[e.cut] = <int32_t>(p.s + 1)
        elif p.kind == LEFT:
            heads[e.cut] = <int32_t>(p.t + 1)
        elif p.kind == TREE:
            heads[e.cut] = 0
        write_heads(c, left_cell(c, &p, e.cut), e.left, heads)
        cell, index = right_cell(c, &p, e.cut), e.right


def best_trees(const double[:, ::1] arcs, int32_t[:, ::1] heads, double[::1] scores):
    """Writes the best trees of one sentence, best first; returns how many there are, fewer than asked for only where no more exist.

    Args:
        arcs: (n + 1, n + 1) finite scores [head, word]; column 0 and the diagonal are not looked at.
        heads: (k, n) heads of each tree, from 1, 0 the root. scores: (k).

    Raises:
        ValueError: shapes that do not fit.
        MemoryError: the lists do not fit into memory.
    """
    cdef Py_ssize_t n = heads.shape[1], k = heads.shape[0], trees = 0
    cdef Chart c
    if k < 1 or n < 1 or n > 1 << 20 or k > 1 << 30 or arcs.shape[0] != n + 1 or arcs.shape[1] != n + 1 or scores.shape[0] != k:
        raise ValueError("arcs are (n + 1, n + 1), heads (k, n), scores (k), for at least one word and one tree")
    c.n, c.k, c.cells, c.arcs = n, k, 3 * n * n + 1, &arcs[0, 0]
    c.used = c.room = 0
    c.pool, c.full = NULL, False
    c.best = <double*>malloc(<size_t>c.cells * sizeof(double))
    c.flipped = <double*>malloc(<size_t>(4 * n * n) * sizeof(double))
    c.cut = <int32_t*>malloc(<size_t>c.cells * sizeof(int32_t))
    c.start = <int64_t*>malloc(<size_t>c.cells * sizeof(int64_t)) if k > 1 else NULL
    c.found = <int32_t*>calloc(<size_t>(3 * c.cells), sizeof(int32_t)) if k > 1 else NULL
    c.expanded = c.found + c.cells if k > 1 else NULL
    c.waiting = c.found + 2 * c.cells if k > 1 else NULL
    try:
        if c.best == NULL or c.flipped == NULL or c.cut == NULL or (k > 1 and (c.start == NULL or c.found == NULL)):
            raise MemoryError(f"a sentence of {n} words")
        with nogil:
            best_parts(&c)
            if k > 1:
                for trees in range(c.cells):
                    c.start[trees] = -1
            trees = 0
            while trees < k and reach(&c, c.cells - 1, trees) and not c.full:
                scores[trees] = entry_of(&c, c.cells - 1, trees).score
                write_heads(&c, c.cells - 1, trees, &heads[trees, 0])
                trees += 1
        if c.full:
            raise MemoryError(f"{k} trees of a sentence of {n} words")
    finally:
        free(c.best)
        free(c.flipped)
        free(c.cut)
        free(c.start)
        free(c.found)
        free(c.pool)
    return trees
