"""Brown clustering: greedy merging of word classes by average mutual information (Brown et al. 1992), C + 1 of them at a time.

N[c, d] are counts of bigrams of classes in the window, l and r their row and column sums there (those of the whole corpus, which a
word has from the start, gave 2 to 7 per cent less mutual information on a million words). With f(x) = x log x the objective, T times the average mutual information, is

    sum over c, d of f(N[c, d])  -  sum over c of f(l[c]) + f(r[c])

and with g(x, y) = f(x + y) - f(x) - f(y), which is 0 where x or y is, merging a and b loses

    loss[a, b] = g(l[a], l[b]) + g(r[a], r[b]) + f(N[a, a]) + f(N[b, b]) + f(N[a, b]) + f(N[b, a])
                 - f(N[a, a] + N[b, b] + N[a, b] + N[b, a])  -  sum over d other than a, b of g(N[a, d], N[b, d]) + g(N[d, a], N[d, b]).

Only neighbours that a and b have in common count. So when s and t are merged, t having the fewer neighbours, the loss of a pair that
has no neighbour t, and is none of t's, stays as it is: a merge costs (neighbours of t) x C evaluations of g, not C^2, and most
classes that are merged are rare words with few neighbours. A new word costs (its neighbours) x C too. The best pair is found
by a scan of the C x C losses.

A window is ``counts`` (2, M, M) int64, N and its transpose; ``loss`` (M, M) float64, symmetric, infinite where a slot is free;
``sums`` (2, M) int64, l and r; ``active`` (M,) uint8. ``xlogx`` is f of 0, 1, 2, ...
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t

from xlogx cimport Table, f, g

cdef enum:
    LANES = 8

cdef struct Window:
    Py_ssize_t M
    int64_t* n  # n[a * M + d] = N[a, d]
    int64_t* nt  # the transpose
    double* loss
    int64_t* left
    int64_t* right
    uint8_t* active
    double* common  # (M) scratch
    Table table


cdef inline double own_part(const Window* w, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
    """The loss of a and b, but for their common neighbours."""
    cdef const Table* t = &w.table
    cdef int64_t aa = w.n[a * w.M + a], bb = w.n[b * w.M + b], ab = w.n[a * w.M + b], ba = w.n[b * w.M + a]
    return (g(t, w.left[a], w.left[b]) + g(t, w.right[a], w.right[b]) + f(t, aa) + f(t, bb) + f(t, ab) + f(t, ba)
            - f(t, aa + bb + ab + ba))


cdef inline void put_loss(Window* w, Py_ssize_t a, Py_ssize_t b, double value) noexcept nogil:
    w.loss[a * w.M + b] = w.loss[b * w.M + a] = value


cdef void add_common(Window* w, Py_ssize_t a, const int64_t* row, const int64_t* counts) noexcept nogil:
    """common[b] += sum over d of g(row[d], N[b, d]); ``counts`` is N by columns, or N itself with a column of it as row."""
    cdef Py_ssize_t d, b, M = w.M
    cdef int64_t x, y
    cdef const int64_t* column
    for d in range(M):
        x = row[d]
        if x == 0 or d == a:
            continue
        column = counts + d * M
        for b in range(M):
            y = column[b]
            if y and b != d:
                w.common[b] += f(&w.table, x + y) - f(&w.table, x) - f(&w.table, y)


cdef void fill_row(Window* w, Py_ssize_t a) noexcept nogil:
    """The losses of a with all others, from the counts."""
    cdef Py_ssize_t b
    for b in range(w.M):
        w.common[b] = 0
    add_common(w, a, w.n + a * w.M, w.nt)
    add_common(w, a, w.nt + a * w.M, w.n)
    for b in range(w.M):
        if w.active[b] and b != a:
            put_loss(w, a, b, own_part(w, a, b) - w.common[b])


cdef void raise_sum(Window* w, Py_ssize_t a, Py_ssize_t s, int64_t* sums, int64_t more) noexcept nogil:
    """A new word s has bigrams with a: its row or column sum grows, and with it what every merge of a loses."""
    cdef Py_ssize_t b
    cdef int64_t x = sums[a], y
    for b in range(w.M):
        if w.active[b] and b != a and b != s:
            y = sums[b]
            put_loss(w, a, b, w.loss[a * w.M + b] - g(&w.table, x, y) + g(&w.table, x + more, y))
    sums[a] = x + more


cdef void see_neighbour(Window* w, Py_ssize_t s, const int64_t* counts) noexcept nogil:
    """A class s that is new: pairs that have it as a neighbour in common. ``counts``: the column s of N, or its row."""
    cdef Py_ssize_t a, b
    for a in range(w.M):
        if counts[a] == 0 or a == s:
            continue
        for b in range(a):
            if counts[b] and b != s:
                put_loss(w, a, b, w.loss[a * w.M + b] - g(&w.table, counts[a], counts[b]))


cdef void join_neighbours(Window* w, Py_ssize_t s, Py_ssize_t t, const int64_t* of_s, const int64_t* of_t) noexcept nogil:
    """Pairs of other classes whose neighbours s and t become one. ``of_s``, ``of_t``: columns of N, or rows."""
    cdef Py_ssize_t a, b, M = w.M
    cdef int64_t xs, xt, ys, yt
    cdef double change
    for a in range(M):
        xt = of_t[a]
        if xt == 0 or a == s or a == t:
            continue
        xs = of_s[a]
        for b in range(M):
            ys = of_s[b]
            yt = of_t[b]
            # A pair of which both are neighbours of t comes up twice.
            if (ys == 0 and yt == 0) or b == s or b == t or b == a or (yt and b < a):
                continue
            change = g(&w.table, xs + xt, ys + yt) - g(&w.table, xs, ys) - g(&w.table, xt, yt)
            put_loss(w, a, b, w.loss[a * M + b] - change)


cdef void grow_common(Window* w, Py_ssize_t s, Py_ssize_t t, const int64_t* row_s, const int64_t* row_t,
                      const int64_t* counts) noexcept nogil:
    """common[b] of s with the counts of t added to its own; see add_common for the arguments."""
    cdef Py_ssize_t b, d, M = w.M
    cdef int64_t x, more, y
    cdef double before, after
    cdef const int64_t* column
    for d in range(M):
        more = row_t[d]
        if more == 0 or d == s or d == t:
            continue
        x = row_s[d]
        after = f(&w.table, x + more)
        before = f(&w.table, x)
        column = counts + d * M
        for b in range(M):
            y = column[b]
            if y and b != d:
                # g(x + more, y) - g(x, y)
                w.common[b] += f(&w.table, x + more + y) - after - f(&w.table, x + y) + before


cdef inline Py_ssize_t neighbours(const Window* w, Py_ssize_t a) noexcept nogil:
    cdef Py_ssize_t d, n = 0
    for d in range(w.M):
        n += (w.n[a * w.M + d] != 0) + (w.nt[a * w.M + d] != 0)
    return n


cdef void merge(Window* w, Py_ssize_t s, Py_ssize_t t) noexcept nogil:
    """t becomes part of s, and its slot free."""
    cdef Py_ssize_t b, M = w.M
    cdef int64_t* rs = w.n + s * M
    cdef int64_t* rt = w.n + t * M
    cdef int64_t* cs = w.nt + s * M
    cdef int64_t* ct = w.nt + t * M
    for b in range(M):
        w.common[b] = 0
        if w.active[b] and b != s and b != t:
            # What s and b had in common, t aside, which was a neighbour and is no other any more.
            w.common[b] = (own_part(w, s, b) - w.loss[s * M + b] - g(&w.table, rs[t], ct[b])
                           - g(&w.table, cs[t], rt[b]))
    join_neighbours(w, s, t, cs, ct)
    join_neighbours(w, s, t, rs, rt)
    grow_common(w, s, t, rs, rt, w.nt)
    grow_common(w, s, t, cs, ct, w.n)
    rs[s] += rs[t] + rt[s] + rt[t]
    cs[s] = rs[s]
    for b in range(M):
        if b != s and b != t:
            rs[b] += rt[b]
            cs[b] += ct[b]
            w.nt[b * M + s] = rs[b]
            w.n[b * M + s] = cs[b]
            w.n[b * M + t] = w.nt[b * M + t] = 0
        rt[b] = ct[b] = 0
        put_loss(w, t, b, INFINITY)
    rs[t] = cs[t] = 0
    w.left[s] += w.left[t]
    w.right[s] += w.right[t]
    w.left[t] = w.right[t] = 0
    w.active[t] = 0
    for b in range(M):
        if w.active[b] and b != s:
            put_loss(w, s, b, own_part(w, s, b) - w.common[b])


cdef inline void best_pair(const Window* w, Py_ssize_t* s, Py_ssize_t* t) noexcept nogil:
    """The pair with the least loss, the first of equal ones."""
    cdef Py_ssize_t a, b, at
    cdef double least = INFINITY
    cdef double lane[LANES]
    cdef double low
    cdef const double* row
    s[0] = t[0] = 0
    for a in range(1, w.M):
        if not w.active[a]:
            continue
        row = w.loss + a * w.M
        for at in range(LANES):
            lane[at] = INFINITY
        b = 0
        while b + LANES <= a:
            for at in range(LANES):
                lane[at] = row[b + at] if row[b + at] < lane[at] else lane[at]
            b += LANES
        while b < a:
            lane[0] = row[b] if row[b] < lane[0] else lane[0]
            b += 1
        low = lane[0]
        for at in range(1, LANES):
            low = lane[at] if lane[at] < low else low
        if low < least:
            least = low
            b = 0
            while row[b] != low:
                b += 1
            s[0], t[0] = b, a


cdef inline Py_ssize_t representative(int32_t* member, Py_ssize_t word) noexcept nogil:
    """The first word of a word's class; paths are halved on the way."""
    while member[word] != word:
        member[word] = member[member[word]]
        word = member[word]
    return word


cdef int make_window(Window* w, int64_t[:, :, ::1] counts, double[:, ::1] loss, int64_t[:, ::1] sums, uint8_t[::1] active,
                     double[::1] scratch, const double[::1] xlogx) except -1:
    cdef Py_ssize_t M = active.shape[0], a, b
    cdef bint good = True
    if M < 1 or counts.shape[0] != 2 or counts.shape[1] != M or counts.shape[2] != M or loss.shape[0] != M or loss.shape[1] != M:
        raise ValueError("counts are not (2, M, M), or losses not (M, M)")
    if sums.shape[0] != 2 or sums.shape[1] != M or scratch.shape[0] != M or xlogx.shape[0] < 1:
        raise ValueError("sums are not (2, M), or scratch not (M)")
    with nogil:
        for a in range(M):
            good = good and sums[0, a] >= 0 and sums[1, a] >= 0
            for b in range(M):
                good = good and counts[0, a, b] >= 0 and counts[1, a, b] >= 0
    if not good:
        raise ValueError("counts or sums are below 0")
    w.M = M
    w.n, w.nt = &counts[0, 0, 0], &counts[1, 0, 0]
    w.loss, w.left, w.right, w.active = &loss[0, 0], &sums[0, 0], &sums[1, 0], &active[0]
    w.common = &scratch[0]
    w.table.values, w.table.size = &xlogx[0], xlogx.shape[0]
    return 0


def fill(int64_t[:, :, ::1] counts, double[:, ::1] loss, int64_t[:, ::1] sums, uint8_t[::1] active, double[::1] scratch,
         const double[::1] xlogx):
    """Losses of all active classes from their counts; infinite where a slot is free, or a class meets itself.

    Raises:
        ValueError: shapes that do not fit.
    """
    cdef Window w
    cdef Py_ssize_t a, b
    make_window(&w, counts, loss, sums, active, scratch, xlogx)
    with nogil:
        for a in range(w.M):
            for b in range(w.M):
                w.loss[a * w.M + b] = INFINITY
        for a in range(w.M):
            if w.active[a]:
                fill_row(&w, a)


def add_words(
    const int64_t[::1] after_starts, const int32_t[::1] after, const int64_t[::1] after_counts, const int64_t[::1] before_starts,
    const int32_t[::1] before, const int64_t[::1] before_counts, Py_ssize_t first, Py_ssize_t last, int32_t[::1] member,
    int32_t[::1] slot, int32_t[::1] holder, int64_t[:, :, ::1] counts, double[:, ::1] loss,
    int64_t[:, ::1] sums, uint8_t[::1] active, double[::1] scratch, const double[::1] xlogx,
):
    """Words first to last - 1, one after the other, become classes of the window; where it is full, two are merged.

    Args:
        after_starts (V + 1), after, after_counts: the words that follow each word, and how often; before_...: those it follows.
        member: (V) a word of the same class, or the word itself; slot: (V) the class's place in the window, of the words that are
            their own members; -1 for words not yet added. holder: (M) that word of a place's class.

    Raises:
        ValueError: shapes that do not fit, or numbers out of range.
    """
    cdef Window w
    cdef Py_ssize_t V = member.shape[0], word, i, s, t, d, used = 0
    cdef bint good = True
    make_window(&w, counts, loss, sums, active, scratch, xlogx)
    if after_starts.shape[0] != V + 1 or before_starts.shape[0] != V + 1 or slot.shape[0] != V:
        raise ValueError("starts need an entry a word and one more, slot one a word")
    if not 0 <= first <= last <= V:
        raise ValueError("words are out of range")
    if holder.shape[0] != w.M:
        raise ValueError("holder needs an entry a place of the window")
    if after.shape[0] != after_counts.shape[0] or before.shape[0] != before_counts.shape[0]:
        raise ValueError("bigrams need a count each")
    with nogil:
        for word in range(V):
            good = good and 0 <= after_starts[word] <= after_starts[word + 1] <= after.shape[0]
            good = good and 0 <= before_starts[word] <= before_starts[word + 1] <= before.shape[0]
            good = good and 0 <= member[word] < V and -1 <= slot[word] < w.M
        for i in range(after.shape[0]):
            good = good and 0 <= after[i] < V and after_counts[i] >= 0
        for i in range(before.shape[0]):
            good = good and 0 <= before[i] < V and before_counts[i] >= 0
        for s in range(w.M):
            used += w.active[s] != 0
            good = good and (not w.active[s] or 0 <= holder[s] < V)
    if not good or (first < last and (used == w.M or w.M < 2)):
        raise ValueError("words, slots or bigrams are out of range, or the window has no place for a word and another")
    with nogil:
        for word in range(first, last):
            s = 0
            while w.active[s]:
                s += 1
            member[word] = <int32_t>word
            slot[word] = <int32_t>s
            holder[s] = <int32_t>word
            w.active[s] = 1
            w.left[s] = w.right[s] = 0
            for i in range(after_starts[word], after_starts[word + 1]):
                d = slot[representative(&member[0], after[i])]
                if d >= 0:
                    w.n[s * w.M + d] += after_counts[i]
            for i in range(before_starts[word], before_starts[word + 1]):
                d = slot[representative(&member[0], before[i])]
                if d >= 0:
                    w.nt[s * w.M + d] += before_counts[i]
            for d in range(w.M):
                if d != s:
                    w.nt[d * w.M + s] = w.n[s * w.M + d]
                    w.n[d * w.M + s] = w.nt[s * w.M + d]
            for d in range(w.M):
                if d != s and w.active[d]:
                    if w.nt[s * w.M + d]:
                        raise_sum(&w, d, s, w.left, w.nt[s * w.M + d])
                    if w.n[s * w.M + d]:
                        raise_sum(&w, d, s, w.right, w.n[s * w.M + d])
            for d in range(w.M):
                w.left[s] += w.n[s * w.M + d]
                w.right[s] += w.nt[s * w.M + d]
            see_neighbour(&w, s, w.nt + s * w.M)
            see_neighbour(&w, s, w.n + s * w.M)
            fill_row(&w, s)
            used += 1
            if used == w.M:
                best_pair(&w, &s, &t)
                if neighbours(&w, s) < neighbours(&w, t):
                    s, t = t, s
                merge(&w, s, t)
                member[holder[t]] = holder[s]
                used -= 1


def join(int64_t[:, :, ::1] counts, double[:, ::1] loss, int64_t[:, ::1] sums, uint8_t[::1] active, double[::1] scratch,
         const double[::1] xlogx, int32_t[:, ::1] pairs):
    """Merge the classes of a window to one; pairs (classes - 1, 2) are the slots that were merged, the first one kept.

    Raises:
        ValueError: shapes that do not fit.
    """
    cdef Window w
    cdef Py_ssize_t used = 0, s, t, k
    make_window(&w, counts, loss, sums, active, scratch, xlogx)
    for s in range(w.M):
        used += w.active[s] != 0
    if pairs.shape[0] != max(used - 1, 0) or pairs.shape[1] != 2:
        raise ValueError("pairs are not (classes - 1, 2)")
    with nogil:
        for k in range(used - 1):
            best_pair(&w, &s, &t)
            if neighbours(&w, s) < neighbours(&w, t):
                s, t = t, s
            merge(&w, s, t)
            pairs[k, 0] = <int32_t>s
            pairs[k, 1] = <int32_t>t
