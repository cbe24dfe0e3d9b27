"""The exchange algorithm for word classes (Kneser and Ney 1993): each word moves to the class that makes the objective largest.

The objective is that of ``brown_merge``: the sum of f(N[c, d]) over pairs of classes less f(l[c]) + f(r[c]), f(x) = x log x. A word
taken out of its class, with s[d] of its bigrams on its right in class d, p[d] on its left and e with itself, raises it in class b by

    sum over d other than b of g(N[b, d], s[d]) + g(N[d, b], p[d])  +  g(N[b, b], s[b] + p[b] + e)
    - g(l[b], left) - g(r[b], right)  +  what is the same for all b but for f(s[b] + p[b] + e) - f(s[b]) - f(p[b]) - f(e)

where g(x, y) = f(x + y) - f(x) - f(y), 0 where x or y is. A word costs (classes beside it) x C. Uszkoreit and Brants (2008) take the
word itself for the class on the left (a one-sided model), so that no count but that of the class changes with d; theirs is faster for
millions of words, but what it raises is not the average mutual information of classes, which these classes are judged by.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from xlogx cimport Table, f, g


cdef void add_gain(const Table* table, const int64_t* counts, Py_ssize_t C, Py_ssize_t d, int64_t more, double* gain) noexcept nogil:
    """gain[b] += g(N[b, d], more) for all b other than d; ``counts`` is row d of the transpose (or of N, for N[d, b])."""
    cdef Py_ssize_t b
    cdef int64_t x
    cdef double alone = f(table, more)
    for b in range(C):
        x = counts[b]
        if x and b != d:
            gain[b] += f(table, x + more) - f(table, x) - alone


cdef void change(int64_t* n, int64_t* nt, Py_ssize_t C, Py_ssize_t c, const int64_t* after, const int64_t* before, int64_t own,
                 int64_t sign) noexcept nogil:
    """Put a word's bigrams into the counts of class c, or with sign -1 take them out."""
    cdef Py_ssize_t d
    for d in range(C):
        if after[d]:
            n[c * C + d] += sign * after[d]
            nt[d * C + c] += sign * after[d]
        if before[d]:
            nt[c * C + d] += sign * before[d]
            n[d * C + c] += sign * before[d]
    n[c * C + c] += sign * own
    nt[c * C + c] += sign * own


def sweep(
    const int64_t[::1] after_starts, const int32_t[::1] after, const int64_t[::1] after_counts, const int64_t[::1] before_starts,
    const int32_t[::1] before, const int64_t[::1] before_counts, const int64_t[::1] left, const int64_t[::1] right,
    Py_ssize_t first, Py_ssize_t last, int32_t[::1] classes, int64_t[::1] sizes, int64_t[:, :, ::1] counts, int64_t[:, ::1] sums,
    double[::1] gain, int64_t[:, ::1] lists, const double[::1] xlogx,
):
    """Moves each of the words first to last - 1 to its best class; returns how many have moved. A class is never left empty.

    A word of class -1 is in none: bigrams with it count for nothing but the sums of the word beside it, until it is put somewhere.

    Args:
        after_starts (V + 1), after, after_counts: the words that follow each word, and how often; before_...: those it follows.
        left, right: (V) how often a word is the first, and the second, of a bigram.
        classes: (V) class of each word or -1; sizes: (C) words of each class. Both are kept up to date, and so are
        counts: (2, C, C) bigrams of classes and their transpose, sums: (2, C) their row and column sums.
        gain: (C) and lists: (2, C) scratch, the latter zeros. xlogx: f of 0, 1, 2, ...

    Raises:
        ValueError: shapes that do not fit, or numbers out of range.
    """
    cdef Py_ssize_t V = classes.shape[0], C = sizes.shape[0], w, i, d, b, old, best, moved = 0
    cdef int64_t own, x
    cdef bint good = True
    cdef double value, most
    cdef Table table
    cdef int64_t* n
    cdef int64_t* nt
    cdef int64_t* s
    cdef int64_t* p
    if after_starts.shape[0] != V + 1 or before_starts.shape[0] != V + 1 or not 0 <= first <= last <= V:
        raise ValueError("starts need an entry a word and one more; words are out of range")
    if left.shape[0] != V or right.shape[0] != V:
        raise ValueError("left and right need an entry a word")
    if after.shape[0] != after_counts.shape[0] or before.shape[0] != before_counts.shape[0]:
        raise ValueError("bigrams need a count each")
    if C < 1 or counts.shape[0] != 2 or counts.shape[1] != C or counts.shape[2] != C or xlogx.shape[0] < 1:
        raise ValueError("counts are not (2, C, C)")
    if sums.shape[0] != 2 or sums.shape[1] != C or gain.shape[0] != C or lists.shape[0] != 2 or lists.shape[1] != C:
        raise ValueError("sums and lists are not (2, C), or gain not (C)")
    with nogil:
        for w in range(V):
            good = good and 0 <= after_starts[w] <= after_starts[w + 1] <= after.shape[0]
            good = good and 0 <= before_starts[w] <= before_starts[w + 1] <= before.shape[0] and -1 <= classes[w] < C
            good = good and left[w] >= 0 and right[w] >= 0
        for i in range(after.shape[0]):
            good = good and 0 <= after[i] < V and after_counts[i] >= 0
        for i in range(before.shape[0]):
            good = good and 0 <= before[i] < V and before_counts[i] >= 0
    if not good:
        raise ValueError("words, classes or bigrams are out of range")
    table.values, table.size = &xlogx[0], xlogx.shape[0]
    n, nt, s, p = &counts[0, 0, 0], &counts[1, 0, 0], &lists[0, 0], &lists[1, 0]
    with nogil:
        for w in range(first, last):
            old = classes[w]
            if old >= 0 and sizes[old] == 1:
                continue
            own = 0
            for i in range(after_starts[w], after_starts[w + 1]):
                if after[i] == w:
                    own += after_counts[i]
                elif classes[after[i]] >= 0:
                    s[classes[after[i]]] += after_counts[i]
            for i in range(before_starts[w], before_starts[w + 1]):
                if before[i] != w and classes[before[i]] >= 0:
                    p[classes[before[i]]] += before_counts[i]
            if old >= 0:
                change(n, nt, C, old, s, p, own, -1)
                sums[0, old] -= left[w]
                sums[1, old] -= right[w]
                sizes[old] -= 1
            for b in range(C):
                gain[b] = -g(&table, sums[0, b], left[w]) - g(&table, sums[1, b], right[w])
            for d in range(C):
                if s[d]:
                    add_gain(&table, nt + d * C, C, d, s[d], &gain[0])
                if p[d]:
                    add_gain(&table, n + d * C, C, d, p[d], &gain[0])
                x = s[d] + p[d] + own
                if x:
                    gain[d] += g(&table, n[d * C + d], x) + f(&table, x) - f(&table, s[d]) - f(&table, p[d]) - f(&table, own)
            best = max(old, 0)
            most = gain[best]
            for b in range(C):
                value = gain[b]
                if value > most:
                    most = value
                    best = b
            change(n, nt, C, best, s, p, own, 1)
            sums[0, best] += left[w]
            sums[1, best] += right[w]
            moved += best != old
            classes[w] = <int32_t>best
            sizes[best] += 1
            for d in range(C):
                s[d] = 0
                p[d] = 0
    return moved
