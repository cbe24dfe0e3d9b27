"""Exact sum-product inference in hidden Markov trees, a level of a whole group of sentences at a time, in float64.

Node n has a class c_n in 0 .. C - 1 and a word w_n; O[w, c] = max(emissions[w, c], floors[w]) emission_scale[c] is p(w | c), and
T_l[i, j] is p(child class i | parent class j) over an edge with label l, ``start`` the distribution of a root's class. With the
messages mu_m = T_l' u_m of n's children (Grave 2014, section 2.2.2; for a chain these are the forward-backward recursions),

    u_n[c]  =  O[w_n, c]  prod over children m of mu_m[c],                        normalized to sum 1
    v_m[j]  =  d_n[j] O[w_n, j]  prod over n's other children of their mu[j],     d_m = T_l v_m;  d of a root is ``start``

The log-likelihood is the sum of the logarithms of the normalizers of all u plus log(start . u) for each root. The posterior of m is
u_m d_m scaled to sum 1, that of its edge u_m[i] T_l[i, j] v_m[j] with v_m scaled alike, so that the sums over all edges of a label

    sum of pair posteriors  =  T_l * (U' V)          (rows of U and V: the edges with label l; * cell by cell)

need one matrix product. ``infer`` adds U' V to ``pairs``; the caller multiplies with T once, after its last group.

Tokens are sorted by label, then by depth, roots first: a level's edges with one label are neighbouring rows, and so are all edges
with one label. A level's messages are one GEMM a label; of a chain, level d is position d of all sentences. A token costs 3 C^2
multiply-adds. Products of the other children are prefixes times suffixes, rescaled as they shrink: linear in the number of children,
at any fan-out. A class more than 300 orders of magnitude below the best of its node counts as impossible.

One file of some 440 lines: all passes share the one ``Group`` of arrays, which nothing else has a use for.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t
from libc.string cimport memset

from blas cimport gemm

cdef extern from *:
    """
    #include <stddef.h>

    #ifndef WK_CLONES
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
    #define WK_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
    #else
    #define WK_CLONES
    #endif
    #endif

    #define WK_SUM_LANES 8
    #define WK_REDUCE(EXPRESSION)                                                                \\
        double lane[WK_SUM_LANES] = {0};                                                         \\
        ptrdiff_t at = 0;                                                                        \\
        for (; at + WK_SUM_LANES <= n; at += WK_SUM_LANES)                                       \\
            for (int l = 0; l < WK_SUM_LANES; l++) { const ptrdiff_t c = at + l; lane[l] += EXPRESSION; }   \\
        for (int l = 0; at < n; at++, l++) { const ptrdiff_t c = at; lane[l] += EXPRESSION; }    \\
        for (int half = WK_SUM_LANES / 2; half; half /= 2)                                       \\
            for (int l = 0; l < half; l++) lane[l] += lane[l + half];                            \\
        return lane[0];

    /* Sums run in fixed lanes: every vector width gives the same bits. Each function returns the sum of what it wrote. */
    WK_CLONES static double wk_emission(const double *row, double floor, const double *scale, ptrdiff_t n, double *__restrict out) {
        WK_REDUCE((out[c] = (row[c] > floor ? row[c] : floor) * scale[c]))
    }
    WK_CLONES static double wk_times(const double *a, ptrdiff_t n, double *__restrict out) { WK_REDUCE((out[c] *= a[c])) }
    WK_CLONES static double wk_product(const double *a, const double *b, ptrdiff_t n, double *__restrict out) {
        WK_REDUCE((out[c] = a[c] * b[c]))
    }
    WK_CLONES static double wk_dot(const double *a, const double *b, ptrdiff_t n) { WK_REDUCE(a[c] * b[c]) }
    WK_CLONES static double wk_total(const double *a, ptrdiff_t n) { WK_REDUCE(a[c]) }
    WK_CLONES static void wk_scale(double by, ptrdiff_t n, double *__restrict out) { for (ptrdiff_t c = 0; c < n; c++) out[c] *= by; }
    WK_CLONES static void wk_set(const double *a, double by, ptrdiff_t n, double *__restrict out) {
        for (ptrdiff_t c = 0; c < n; c++) out[c] = by * a[c];
    }
    WK_CLONES static void wk_add(const double *a, const double *b, double by, ptrdiff_t n, double *__restrict out) {
        for (ptrdiff_t c = 0; c < n; c++) out[c] += by * a[c] * b[c];
    }
    WK_CLONES static void wk_marginal(const double *a, const double *b, double by, ptrdiff_t n, double *__restrict out) {
        for (ptrdiff_t c = 0; c < n; c++) out[c] = by * a[c] * b[c];
    }
    """
    double emission "wk_emission"(const double*, double, const double*, Py_ssize_t, double*) noexcept nogil
    double times "wk_times"(const double*, Py_ssize_t, double*) noexcept nogil
    double product "wk_product"(const double*, const double*, Py_ssize_t, double*) noexcept nogil
    double dot "wk_dot"(const double*, const double*, Py_ssize_t) noexcept nogil
    double total "wk_total"(const double*, Py_ssize_t) noexcept nogil
    void rescale "wk_scale"(double, Py_ssize_t, double*) noexcept nogil
    void put "wk_set"(const double*, double, Py_ssize_t, double*) noexcept nogil
    void add_product "wk_add"(const double*, const double*, double, Py_ssize_t, double*) noexcept nogil
    void marginal "wk_marginal"(const double*, const double*, double, Py_ssize_t, double*) noexcept nogil

cdef double SHRUNK = 1e-100  # a running product whose sum is smaller is rescaled
cdef double VANISHED = 1e-280  # an edge whose pair posterior sums to less has lost it to underflow

cdef enum:
    PLAN_ROWS = 10

cdef struct Group:
    Py_ssize_t C, n, segments, depth  # classes, tokens, neighbouring rows with one label and one depth, deepest level
    const int32_t* words  # these two by absolute token
    const int32_t* labels
    const double* emissions
    const double* floors
    const double* emission_scale
    int32_t* token  # of a row
    int32_t* parent  # row of a row's parent, -1 of a root
    int32_t* sentence  # of a row
    int32_t* first_child  # n + 1: where the children of a row are in ``child``
    int32_t* child
    int32_t* segment  # segments + 1: first rows, by label and depth
    int32_t* level  # depth + 2: first of each level in ``by_depth``
    int32_t* by_depth  # segments, level by level
    int32_t* depths  # by token of the group
    int32_t* row  # by token of the group; scratch before
    double* below  # (n, C) u
    double* message  # (n, C) mu, on the way down d
    double* above  # (n, C) v
    double* running  # (C)


# --- the order of the work ------------------------------------------------------------------------------------------------


cdef inline bint find_depths(const int32_t* heads, const int32_t* order, Py_ssize_t n, int32_t* depths) noexcept nogil:
    """False unless ``order`` has each word of the sentence once, after its head."""
    cdef Py_ssize_t t, p
    for t in range(n):
        depths[t] = -1
    for t in range(n):
        p = order[t]
        if p < 0 or p >= n or depths[p] >= 0 or heads[p] < 0 or heads[p] > n:
            return False
        if heads[p] > 0 and depths[heads[p] - 1] < 0:
            return False
        depths[p] = 0 if heads[p] == 0 else depths[heads[p] - 1] + 1
    return True


cdef inline void counting_sort(const int32_t* key, Py_ssize_t n, Py_ssize_t keys, const int32_t* items, int32_t* count,
                               int32_t* out) noexcept nogil:
    """Items (numbers into key) by rising key, equal ones in their order; count has keys + 1 cells."""
    cdef Py_ssize_t i
    for i in range(keys + 1):
        count[i] = 0
    for i in range(n):
        count[key[items[i]] + 1] += 1
    for i in range(keys):
        count[i + 1] += count[i]
    for i in range(n):
        out[count[key[items[i]]]] = items[i]
        count[key[items[i]]] += 1


cdef void plan_rows(Group* g, Py_ssize_t base, Py_ssize_t n_labels, const int32_t* heads, const int32_t* offsets, Py_ssize_t lo,
                    Py_ssize_t hi) noexcept nogil:
    """Rows by label and depth (roots before all), their parents and children, segments and levels. Depths are there."""
    cdef Py_ssize_t i, s, r, n = g.n
    cdef int32_t* key = g.child  # two arrays that are filled later
    cdef int32_t* count = g.by_depth
    g.depth = 0
    for i in range(n):
        g.row[i] = <int32_t>i
        g.depth = max(g.depth, g.depths[i])
    counting_sort(g.depths, n, g.depth + 1, g.row, count, g.parent)
    for i in range(n):
        key[i] = g.labels[base + i] + 1 if g.depths[i] else 0
    counting_sort(key, n, n_labels + 1, g.parent, count, g.token)
    for r in range(n):
        g.row[g.token[r]] = <int32_t>r
    g.segments = 0
    for r in range(n):
        if r == 0 or key[g.token[r]] != key[g.token[r - 1]] or g.depths[g.token[r]] != g.depths[g.token[r - 1]]:
            g.segment[g.segments] = <int32_t>r
            g.segments += 1
    g.segment[g.segments] = <int32_t>n
    # Levels: segments by the depth of their first row.
    for i in range(g.depth + 2):
        g.level[i] = 0
    for i in range(g.segments):
        g.level[g.depths[g.token[g.segment[i]]] + 1] += 1
    for i in range(g.depth + 1):
        g.level[i + 1] += g.level[i]
    for i in range(g.segments):
        r = g.depths[g.token[g.segment[i]]]
        g.by_depth[g.level[r]] = <int32_t>i
        g.level[r] += 1
    for i in range(g.depth + 1, 0, -1):
        g.level[i] = g.level[i - 1]
    g.level[0] = 0
    for r in range(n + 1):
        g.first_child[r] = 0
    for s in range(lo, hi):
        for i in range(offsets[s], offsets[s + 1]):
            r = g.row[i - base]
            g.sentence[r] = <int32_t>s
            g.parent[r] = g.row[offsets[s] - base + heads[i] - 1] if heads[i] else <int32_t>-1
            if heads[i]:
                g.first_child[g.parent[r] + 1] += 1
    for r in range(n):
        g.first_child[r + 1] += g.first_child[r]
    for r in range(n):
        if g.parent[r] >= 0:
            g.child[g.first_child[g.parent[r]]] = <int32_t>r
            g.first_child[g.parent[r]] += 1
    for r in range(n, 0, -1):
        g.first_child[r] = g.first_child[r - 1]
    g.first_child[0] = 0
    for r in range(n):
        g.token[r] += <int32_t>base


# --- messages -------------------------------------------------------------------------------------------------------------


cdef inline double word_row(const Group* g, Py_ssize_t r, double* out) noexcept nogil:
    cdef Py_ssize_t w = g.words[g.token[r]]
    return emission(g.emissions + w * g.C, g.floors[w], g.emission_scale, g.C, out)


cdef inline bint settle(double* row, double size, Py_ssize_t C, double* logarithm) noexcept nogil:
    """Scale a row whose sum is ``size`` to sum 1; False, and a row of zeros, if that cannot be."""
    cdef Py_ssize_t c
    if size > 1e-290 and size < INFINITY:
        rescale(1 / size, C, row)
    else:
        # Below that 1 / size is no number: in two steps.
        rescale(1e200, C, row)
        size = total(row, C)
        if not (size > 0 and size < INFINITY):
            for c in range(C):
                row[c] = 0
            return False
        rescale(1 / size, C, row)
        logarithm[0] -= log(1e200)
    logarithm[0] += log(size)
    return True


cdef void pass_up(Group* g, const double* transitions, const double* start, double* log_likelihood) noexcept nogil:
    """u and mu of all rows; sentences of probability zero get -inf."""
    cdef Py_ssize_t C = g.C, d, k, r, first, last, s
    cdef double size
    for r in range(g.n):
        word_row(g, r, g.below + r * C)
    for d in range(g.depth, -1, -1):
        for k in range(g.level[d], g.level[d + 1]):
            first = g.segment[g.by_depth[k]]
            last = g.segment[g.by_depth[k] + 1]
            for r in range(first, last):
                s = g.sentence[r]
                if not settle(g.below + r * C, total(g.below + r * C, C), C, &log_likelihood[s]):
                    log_likelihood[s] = -INFINITY  # its rows stay zeros up to the root, and stop nothing
            if d == 0:
                for r in range(first, last):
                    size = dot(start, g.below + r * C, C)
                    log_likelihood[g.sentence[r]] += log(size) if size > 0 else -INFINITY
                continue
            gemm(False, False, last - first, C, C, g.below + first * C,
                 transitions + <Py_ssize_t>g.labels[g.token[first]] * C * C, 0, g.message + first * C)
            for r in range(first, last):
                size = times(g.message + r * C, C, g.below + g.parent[r] * C)
                if size < SHRUNK:
                    s = g.sentence[r]
                    if not settle(g.below + g.parent[r] * C, size, C, &log_likelihood[s]):
                        log_likelihood[s] = -INFINITY


cdef inline void split_products(Group* g, Py_ssize_t n) noexcept nogil:
    """v of n's children: d_n, the emission row, and the messages of the others, suffix by suffix and then prefix by prefix."""
    cdef Py_ssize_t C = g.C, first = g.first_child[n], last = g.first_child[n + 1], i, m
    cdef double unused = 0
    cdef double size
    if first == last:
        return
    size = word_row(g, n, g.running)
    m = g.child[last - 1]
    if last - first == 1:
        settle(g.above + m * C, product(g.running, g.message + n * C, C, g.above + m * C), C, &unused)
        return
    # above[child i] = product of the messages after i; of the last child, nothing yet.
    put(g.message + m * C, 1, C, g.above + <Py_ssize_t>g.child[last - 2] * C)
    for i in range(last - 3, first - 1, -1):
        size = product(g.above + <Py_ssize_t>g.child[i + 1] * C, g.message + <Py_ssize_t>g.child[i + 1] * C, C,
                       g.above + <Py_ssize_t>g.child[i] * C)
        if size < SHRUNK:
            settle(g.above + <Py_ssize_t>g.child[i] * C, size, C, &unused)
    size = times(g.message + n * C, C, g.running)
    for i in range(first, last):
        if size < SHRUNK:
            settle(g.running, size, C, &unused)
        m = g.child[i]
        if i == last - 1:
            put(g.running, 1, C, g.above + m * C)
            size = total(g.running, C)
            settle(g.above + m * C, size, C, &unused)
        else:
            settle(g.above + m * C, times(g.running, C, g.above + m * C), C, &unused)
            size = times(g.message + m * C, C, g.running)


cdef Py_ssize_t pass_down(Group* g, const double* transitions, const double* start, const double* log_likelihood,
                          double* posterior, double* starts) noexcept nogil:
    """v of all rows, scaled so that pair posteriors sum to 1, and posteriors if asked. Returns edges lost to underflow.

    Rows of impossible sentences, and v of lost edges, are zeros; the posterior of a lost edge's child is its u.
    """
    cdef Py_ssize_t C = g.C, d, k, r, first, last, lost = 0
    cdef double size
    cdef double* row
    for d in range(g.depth + 1):
        for k in range(g.level[d], g.level[d + 1]):
            first = g.segment[g.by_depth[k]]
            last = g.segment[g.by_depth[k] + 1]
            if d > 0:
                gemm(False, True, last - first, C, C, g.above + first * C,
                     transitions + <Py_ssize_t>g.labels[g.token[first]] * C * C, 0, g.message + first * C)
            for r in range(first, last):
                row = g.message + r * C
                if d == 0:
                    put(start, 1, C, row)
                size = dot(g.below + r * C, row, C)
                if log_likelihood[g.sentence[r]] == -INFINITY:
                    memset(g.above + r * C, 0, C * sizeof(double))
                    memset(g.below + r * C, 0, C * sizeof(double))
                    if posterior != NULL:
                        memset(posterior + g.token[r] * C, 0, C * sizeof(double))
                    continue
                if not size > VANISHED:
                    lost += 1
                    memset(g.above + r * C, 0, C * sizeof(double))
                    if posterior != NULL:
                        put(g.below + r * C, 1, C, posterior + g.token[r] * C)
                    continue
                if d > 0:
                    rescale(1 / size, C, g.above + r * C)
                elif starts != NULL:
                    add_product(g.below + r * C, row, 1 / size, C, starts)
                if posterior != NULL:
                    marginal(g.below + r * C, row, 1 / size, C, posterior + g.token[r] * C)
            for r in range(first, last):
                split_products(g, r)
    return lost


cdef void count_pairs(Group* g, double* pairs) noexcept nogil:
    """pairs[l] += U' V over all edges with label l: neighbouring rows."""
    cdef Py_ssize_t C = g.C, k = 0, first, label
    while k < g.segments:
        first = g.segment[k]
        label = g.labels[g.token[first]]
        if g.parent[first] < 0:
            k += 1
            continue
        while k < g.segments and g.labels[g.token[g.segment[k]]] == label:
            k += 1
        gemm(True, False, C, C, g.segment[k] - first, g.below + first * C, g.above + first * C, 1, pairs + label * C * C)


# --- doors ----------------------------------------------------------------------------------------------------------------


def scratch_shapes(Py_ssize_t n_tokens, Py_ssize_t n_labels, Py_ssize_t n_classes):
    """Shapes of ``work`` (float64) and ``plan`` (int32) that :func:`infer` needs for a group of so many tokens."""
    return (3 * n_tokens + 1, n_classes), (PLAN_ROWS, max(n_tokens, n_labels) + 2)


def infer(
    const int32_t[::1] words, const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] order,
    const int32_t[::1] offsets, Py_ssize_t lo, Py_ssize_t hi, const double[:, ::1] emissions, const double[::1] floors,
    const double[::1] emission_scale, const double[:, :, ::1] transitions, const double[::1] start, bint upward_only,
    double[:, ::1] posterior, double[:, :, ::1] pairs, double[::1] starts, double[::1] log_likelihood, double[:, ::1] work,
    int32_t[:, ::1] plan,
):
    """Exact inference in sentences lo..hi, as one group. Equal groups give equal bits, if BLAS runs on one thread.

    Args:
        words, heads, labels, order, offsets: trees of all sentences; ``order`` is that of ``tree_shape.order_trees``.
        emissions: (V, C) statistics; floors: (V); emission_scale: (C).
        transitions: (L, C child, C parent), columns sum to 1; start: (C).
        upward_only: log-likelihoods only; the three outputs that follow are left alone.
        posterior: (T, C), rows of the group's tokens are written; or no rows: not wanted.
        pairs: (L, C, C), U' V of the edges is added, to be multiplied by ``transitions`` cell by cell; or (0, C, C): not wanted.
        starts: (C), posteriors of roots are added; or (0): not wanted.
        log_likelihood: (S), written for the group's sentences; -inf where the probability is zero. Such a sentence has
            posteriors of zero and adds nothing.
        work, plan: scratch as large as :func:`scratch_shapes` says.

    Returns:
        (sentences of probability zero, edges whose pair posterior was lost to underflow).

    Raises:
        ValueError: shapes that do not fit, indices out of range, an order that does not suit the heads.
    """
    cdef Py_ssize_t C = start.shape[0], V = emissions.shape[0], L = transitions.shape[0], T = words.shape[0], s, i, base, n
    cdef Py_ssize_t n_sentences = offsets.shape[0] - 1, impossible = 0, lost = 0, bad = -1
    cdef Group g
    if heads.shape[0] != T or labels.shape[0] != T or order.shape[0] != T or log_likelihood.shape[0] != n_sentences:
        raise ValueError("words, heads, labels and order need an entry a token, log_likelihood one a sentence")
    if C < 1 or emissions.shape[1] != C or floors.shape[0] != V or emission_scale.shape[0] != C:
        raise ValueError("emissions, floors, emission_scale and start do not agree")
    if transitions.shape[1] != C or transitions.shape[2] != C:
        raise ValueError("transitions are not (labels, classes, classes)")
    if posterior.shape[0] and (posterior.shape[0] != T or posterior.shape[1] != C):
        raise ValueError("posterior needs a row a token, a column a class")
    if pairs.shape[0] and (pairs.shape[0] != L or pairs.shape[1] != C or pairs.shape[2] != C):
        raise ValueError("pairs have not the shape of the transitions")
    if starts.shape[0] and starts.shape[0] != C:
        raise ValueError("starts need an entry a class")
    if not 0 <= lo <= hi <= n_sentences:
        raise ValueError("sentences are out of range")
    for s in range(lo, hi + 1):
        if offsets[s] < 0 or offsets[s] > T or (s > lo and offsets[s] < offsets[s - 1]):
            raise ValueError("offsets do not rise within the tokens")
    base = offsets[lo]
    n = offsets[hi] - base
    for s in range(lo, hi):
        log_likelihood[s] = 0
    if n == 0:
        return 0, 0
    if work.shape[0] < 3 * n + 1 or work.shape[1] != C or plan.shape[0] < PLAN_ROWS or plan.shape[1] < max(n, L) + 2:
        raise ValueError("work or plan is too small for the group; see scratch_shapes")
    g.C, g.n = C, n
    g.words, g.labels = &words[0], &labels[0]
    g.token, g.parent, g.sentence, g.first_child, g.child = &plan[0, 0], &plan[1, 0], &plan[2, 0], &plan[3, 0], &plan[4, 0]
    g.segment, g.level, g.by_depth, g.depths, g.row = &plan[5, 0], &plan[6, 0], &plan[7, 0], &plan[8, 0], &plan[9, 0]
    g.below = &work[0, 0]
    g.message, g.above, g.running = g.below + n * C, g.below + 2 * n * C, g.below + 3 * n * C
    with nogil:
        for i in range(base, base + n):
            if words[i] < 0 or words[i] >= V or labels[i] < 0 or labels[i] >= L:
                bad = i
                break
        for s in range(lo, hi):
            i = offsets[s]
            if bad < 0 and offsets[s + 1] > i and not find_depths(&heads[i], &order[i], offsets[s + 1] - i, g.depths + i - base):
                bad = i
    if bad >= 0:
        raise ValueError(f"a word or label is out of range, or heads and order are not those of a tree, at token {bad}")
    g.emissions, g.floors, g.emission_scale = &emissions[0, 0], &floors[0], &emission_scale[0]
    with nogil:
        plan_rows(&g, base, L, &heads[0], &offsets[0], lo, hi)
        pass_up(&g, &transitions[0, 0, 0], &start[0], &log_likelihood[0])
        if not upward_only:
            lost = pass_down(&g, &transitions[0, 0, 0], &start[0], &log_likelihood[0], &posterior[0, 0] if posterior.shape[0] else NULL,
                             &starts[0] if starts.shape[0] else NULL)
            if pairs.shape[0]:
                count_pairs(&g, &pairs[0, 0, 0])
        for s in range(lo, hi):
            impossible += log_likelihood[s] == -INFINITY
    return impossible, lost
