"""Most probable classes of sentences under a hidden Markov tree: max-product from the leaves to the roots, then down again.

Node n has a class c_n in 0 .. C - 1 and a word w_n; O[w, c] = max(emissions[w, c], floors[w]) emission_scale[c] is p(w | c), and
T_l[i, j] is p(child class i | parent class j) over an edge with label l, ``start`` the distribution of a root's class.

    s_n[c]  =  log O[w_n, c]  +  sum over children m of  max_i ( s_m[i] + log T_l[i, c] )
    c_root  =  argmax s[c] + log start[c],      c_m  =  argmax_i s_m[i] + log T_l[i, c_parent]

``decode`` takes all C classes of a node into account (C^2 a token), ``decode_supports`` those of its support (k^2). Scores are
logarithms in float64, so that any depth and fan-out is finite; over an edge the maximum is taken of exp(s_m - max s_m) T_l, one
multiplication a cell, and of the logarithms where all of those vanish. Only maxima are kept on the way up; the argmax is found
again for the one class that the parent takes. Equal scores go to the lower class.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdint cimport int32_t

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
    #define WK_STRIP 64

    /* best[j] = max over i of s[i] T[i, j]: strips of j, so that the maxima stay in the nearest cache; four rows a pass. */
    WK_CLONES static void wk_max_product(const double *s, const double *T, ptrdiff_t C, double *__restrict best) {
        for (ptrdiff_t j = 0; j < C; j++) best[j] = 0;
        for (ptrdiff_t from = 0; from < C; from += WK_STRIP) {
            const ptrdiff_t n = C - from < WK_STRIP ? C - from : WK_STRIP;
            double *__restrict out = best + from;
            ptrdiff_t i = 0;
            for (; i + 4 <= C; i += 4) {
                const double a = s[i], b = s[i + 1], c = s[i + 2], d = s[i + 3];
                const double *p = T + i * C + from, *q = p + C, *r = q + C, *t = r + C;
                for (ptrdiff_t j = 0; j < n; j++) {
                    const double x = a * p[j], y = b * q[j], z = c * r[j], w = d * t[j];
                    const double u = x > y ? x : y, v = z > w ? z : w, top = u > v ? u : v;
                    out[j] = top > out[j] ? top : out[j];
                }
            }
            for (; i < C; i++)
                for (ptrdiff_t j = 0; j < n; j++) {
                    const double x = s[i] * T[i * C + from + j];
                    out[j] = x > out[j] ? x : out[j];
                }
        }
    }
    """
    void max_product "wk_max_product"(const double*, const double*, Py_ssize_t, double*) noexcept nogil


cdef struct Model:
    Py_ssize_t C
    const double* emissions
    const double* floors
    const double* emission_scale


# --- one node or edge -------------------------------------------------------------------------------------------------------


cdef inline double log_emission(const Model* g, Py_ssize_t word, Py_ssize_t c) noexcept nogil:
    cdef double x = g.emissions[word * g.C + c]
    return log((x if x > g.floors[word] else g.floors[word]) * g.emission_scale[c])


cdef inline double relative(const double* score, Py_ssize_t n, double* out) noexcept nogil:
    """out = exp(score - top), zeros where all are impossible; returns top."""
    cdef Py_ssize_t i
    cdef double top = -INFINITY
    for i in range(n):
        top = score[i] if score[i] > top else top
    for i in range(n):
        out[i] = exp(score[i] - top) if score[i] > -INFINITY and top < INFINITY else 0
    return top


cdef inline Py_ssize_t first_best(const double* score, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, best = 0
    for i in range(1, n):
        if score[i] > score[best]:
            best = i
    return best


cdef inline bint find_order(const int32_t* heads, const int32_t* order, Py_ssize_t n, int32_t* seen) noexcept nogil:
    """False unless ``order`` has each word of the sentence once, after its head."""
    cdef Py_ssize_t t, p
    for t in range(n):
        seen[t] = 0
    for t in range(n):
        p = order[t]
        if p < 0 or p >= n or seen[p] or heads[p] < 0 or heads[p] > n or (heads[p] > 0 and not seen[heads[p] - 1]):
            return False
        seen[p] = 1
    return True


cdef inline Py_ssize_t child_class(const double* score, const double* linear, const double* column, Py_ssize_t C, double* value) noexcept nogil:
    """First class of the child with the greatest score given the parent's, whose column of T is C apart; value: logarithm, less top."""
    cdef Py_ssize_t i, best = 0
    cdef double x, greatest = 0
    for i in range(C):
        x = linear[i] * column[i * C]
        if x > greatest:
            greatest = x
            best = i
    if greatest > 0:
        value[0] = log(greatest)
        return best
    value[0] = -INFINITY
    for i in range(C):
        x = score[i] + log(column[i * C])
        if x > value[0]:
            value[0] = x
            best = i
    return best


cdef double decode_sentence(const Model* g, const double* transitions, const double* start, const int32_t* words,
                            const int32_t* heads, const int32_t* labels, const int32_t* order, Py_ssize_t n, int32_t* classes,
                            double* score, double* linear, double* best) noexcept nogil:
    """score, linear: (n, C); best: (C). Returns the logarithm of the greatest probability."""
    cdef Py_ssize_t C = g.C, t, p, j
    cdef double top, found, value = 0
    cdef const double* T
    cdef double* above
    for p in range(n):
        for j in range(C):
            score[p * C + j] = log_emission(g, words[p], j)
    for t in range(n - 1, -1, -1):
        p = order[t]
        if heads[p] == 0:
            continue
        T = transitions + <Py_ssize_t>labels[p] * C * C
        top = relative(score + p * C, C, linear + p * C)
        max_product(linear + p * C, T, C, best)
        above = score + <Py_ssize_t>(heads[p] - 1) * C
        for j in range(C):
            if best[j] > 0:
                above[j] += top + log(best[j])
            else:
                child_class(score + p * C, linear + p * C, T + j, C, &found)
                above[j] += found
    for t in range(n):
        p = order[t]
        if heads[p] == 0:
            for j in range(C):
                best[j] = score[p * C + j] + log(start[j])
            classes[p] = <int32_t>first_best(best, C)
            value += best[classes[p]]
        else:
            T = transitions + <Py_ssize_t>labels[p] * C * C
            classes[p] = <int32_t>child_class(score + p * C, linear + p * C, T + classes[heads[p] - 1], C, &found)
    return value


cdef struct Sparse:
    Py_ssize_t K
    const int32_t* support
    const int32_t* sizes
    const float* transitions
    const float* back_off
    const float* transition_scale


cdef inline Py_ssize_t kept_class(const Sparse* e, Py_ssize_t C, Py_ssize_t label, const int32_t* kept, Py_ssize_t k, const double* score,
                                  const double* linear, double top, Py_ssize_t j, double* value) noexcept nogil:
    """Place in the child's support of its best class when the parent's is j; of equal ones the lower class."""
    cdef Py_ssize_t a, best = 0
    cdef double x, greatest = 0
    cdef const float* T = e.transitions + label * C * C + j
    cdef const float* rest = e.back_off + label * C
    cdef double scale = e.transition_scale[label * C + j]
    for a in range(k):
        x = linear[a] * (<double>T[kept[a] * C] + rest[kept[a]])
        if x > greatest or (x == greatest and kept[a] < kept[best]):
            greatest = x
            best = a
    if greatest > 0:
        value[0] = top + log(greatest * scale)
        return best
    value[0] = -INFINITY
    for a in range(k):
        x = score[a] + log((<double>T[kept[a] * C] + rest[kept[a]]) * scale)
        if x > value[0] or (x == value[0] and kept[a] < kept[best]):
            value[0] = x
            best = a
    return best


cdef double decode_kept(const Model* g, const Sparse* e, const float* start, const int32_t* words, const int32_t* heads,
                        const int32_t* labels, const int32_t* order, Py_ssize_t n, int32_t* classes, double* score, double* linear,
                        double* tops) noexcept nogil:
    """score, linear: (n, K); tops: (n). Support and sizes start at the sentence."""
    cdef Py_ssize_t C = g.C, K = e.K, t, p, h, a, best
    cdef double found, highest, value = 0
    cdef const int32_t* kept
    for p in range(n):
        for a in range(e.sizes[p]):
            score[p * K + a] = log_emission(g, words[p], e.support[p * K + a])
    for t in range(n - 1, -1, -1):
        p = order[t]
        if heads[p] == 0:
            continue
        h = heads[p] - 1
        tops[p] = relative(score + p * K, e.sizes[p], linear + p * K)
        for a in range(e.sizes[h]):
            kept_class(e, C, labels[p], e.support + p * K, e.sizes[p], score + p * K, linear + p * K, tops[p], e.support[h * K + a], &found)
            score[h * K + a] += found
    for t in range(n):
        p = order[t]
        kept = e.support + p * K
        best = 0
        if heads[p] == 0:
            highest = -INFINITY
            for a in range(e.sizes[p]):
                found = score[p * K + a] + log(start[kept[a]])
                if found > highest or (found == highest and kept[a] < kept[best]):
                    highest = found
                    best = a
            value += highest
        else:
            best = kept_class(e, C, labels[p], kept, e.sizes[p], score + p * K, linear + p * K, tops[p], classes[heads[p] - 1], &found)
        classes[p] = kept[best]
    return value


# --- doors ------------------------------------------------------------------------------------------------------------------


cdef Py_ssize_t check(const int32_t[::1] words, const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] order,
                      const int32_t[::1] offsets, Py_ssize_t lo, Py_ssize_t hi, const double[:, ::1] emissions,
                      const double[::1] floors, const double[::1] emission_scale, Py_ssize_t L, Py_ssize_t C,
                      int32_t[::1] classes, double[::1] log_probability, int32_t[::1] seen) except -1:
    """Shapes and ranges of what both doors take; returns the longest sentence."""
    cdef Py_ssize_t T = words.shape[0], V = emissions.shape[0], S = offsets.shape[0] - 1, s, i, longest = 0
    if heads.shape[0] != T or labels.shape[0] != T or order.shape[0] != T or classes.shape[0] != T or log_probability.shape[0] != S:
        raise ValueError("words, heads, labels, order and classes need an entry a token, log_probability one a sentence")
    if C < 1 or emissions.shape[1] != C or floors.shape[0] != V or emission_scale.shape[0] != C:
        raise ValueError("emissions, floors, emission_scale and start do not agree")
    if not 0 <= lo <= hi <= S:
        raise ValueError("sentences are out of range")
    for s in range(lo, hi + 1):
        if offsets[s] < 0 or offsets[s] > T or (s > lo and offsets[s] < offsets[s - 1]):
            raise ValueError("offsets do not rise within the tokens")
        if s > lo:
            longest = max(longest, offsets[s] - offsets[s - 1])
    if seen.shape[0] < longest:
        raise ValueError("seen is shorter than the longest sentence")
    for i in range(offsets[lo], offsets[hi]):
        if words[i] < 0 or words[i] >= V or labels[i] < 0 or labels[i] >= L:
            raise ValueError(f"a word or label is out of range at token {i}")
    for s in range(lo, hi):
        i = offsets[s]
        if offsets[s + 1] > i and not find_order(&heads[i], &order[i], offsets[s + 1] - i, &seen[0]):
            raise ValueError(f"heads and order of sentence {s} are not those of a tree")
    return longest


def decode(
    const int32_t[::1] words, const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] order,
    const int32_t[::1] offsets, Py_ssize_t lo, Py_ssize_t hi, const double[:, ::1] emissions, const double[::1] floors,
    const double[::1] emission_scale, const double[:, :, ::1] transitions, const double[::1] start, int32_t[::1] classes,
    double[::1] log_probability, double[:, ::1] work, int32_t[::1] seen,
):
    """Most probable classes of sentences lo..hi, of all C.

    Args:
        words, heads, labels, order, offsets, emissions, floors, emission_scale: as in ``exact_messages.infer``.
        transitions: (L, C child, C parent), columns sum to 1; start: (C).
        classes: (T), log_probability: (S), of words and classes together: written for these sentences.
        work: (2 n + 1, C) scratch, n the longest sentence; seen: (n).

    Returns:
        Sentences of probability zero: their log_probability is -inf, and their classes mean nothing.

    Raises:
        ValueError: shapes that do not fit, indices out of range, an order that does not suit the heads.
    """
    cdef Py_ssize_t C = start.shape[0], s, i, longest, impossible = 0
    cdef Model g
    longest = check(words, heads, labels, order, offsets, lo, hi, emissions, floors, emission_scale, transitions.shape[0], C, classes,
                    log_probability, seen)
    if transitions.shape[1] != C or transitions.shape[2] != C:
        raise ValueError("transitions are not (labels, classes, classes)")
    if work.shape[0] < 2 * longest + 1 or work.shape[1] != C:
        raise ValueError("work needs two rows a token of the longest sentence, and one")
    for s in range(lo, hi):
        log_probability[s] = 0
    if longest == 0:
        return 0
    g.C, g.emissions, g.floors, g.emission_scale = C, &emissions[0, 0], &floors[0], &emission_scale[0]
    with nogil:
        for s in range(lo, hi):
            i = offsets[s]
            if offsets[s + 1] > i:
                log_probability[s] = decode_sentence(
                    &g, &transitions[0, 0, 0], &start[0], &words[i], &heads[i], &labels[i], &order[i], offsets[s + 1] - i, &classes[i],
                    &work[1, 0], &work[1 + longest, 0], &work[0, 0])
                impossible += not log_probability[s] > -INFINITY
    return impossible


def decode_supports(
    const int32_t[::1] words, const int32_t[::1] heads, const int32_t[::1] labels, const int32_t[::1] order,
    const int32_t[::1] offsets, Py_ssize_t lo, Py_ssize_t hi, const double[:, ::1] emissions, const double[::1] floors,
    const double[::1] emission_scale, const float[:, :, ::1] transitions, const float[:, ::1] back_off,
    const float[:, ::1] transition_scale, const float[::1] start, const int32_t[:, ::1] support, const int32_t[::1] sizes,
    int32_t[::1] classes, double[::1] log_probability, double[:, ::1] work, int32_t[::1] seen,
):
    """Most probable classes of sentences lo..hi among those of each token's support (as ``tree_messages.infer`` leaves it).

    Args:
        transitions, back_off, transition_scale: T_l[i, j] = (transitions[l, i, j] + back_off[l, i]) transition_scale[l, j].
        support: (T, K) classes, sizes: (T) how many of them, at least 1; other arguments as in :func:`decode`.
        work: (3, n K) scratch, n the longest sentence; seen: (n).

    Returns:
        Sentences of probability zero.

    Raises:
        ValueError: as :func:`decode`; classes of a support out of range.
    """
    cdef Py_ssize_t C = start.shape[0], T = words.shape[0], L = transitions.shape[0], K = support.shape[1]
    cdef Py_ssize_t s, i, a, longest, impossible = 0
    cdef Model g
    cdef Sparse e
    longest = check(words, heads, labels, order, offsets, lo, hi, emissions, floors, emission_scale, L, C, classes, log_probability, seen)
    if transitions.shape[1] != C or transitions.shape[2] != C or back_off.shape[0] != L or back_off.shape[1] != C:
        raise ValueError("transitions and back_off do not agree")
    if transition_scale.shape[0] != L or transition_scale.shape[1] != C:
        raise ValueError("transition_scale needs an entry a label and class")
    if support.shape[0] != T or sizes.shape[0] != T:
        raise ValueError("support and sizes need a row a token")
    if work.shape[0] < 3 or work.shape[1] < longest * K:
        raise ValueError("work needs 3 rows of the longest sentence times K")
    for i in range(offsets[lo], offsets[hi]):
        if not 1 <= sizes[i] <= K:
            raise ValueError(f"the support of token {i} has no class, or more than it has room for")
        for a in range(sizes[i]):
            if support[i, a] < 0 or support[i, a] >= C:
                raise ValueError(f"the support of token {i} has a class out of range")
    for s in range(lo, hi):
        log_probability[s] = 0
    if longest == 0:
        return 0
    g.C, g.emissions, g.floors, g.emission_scale = C, &emissions[0, 0], &floors[0], &emission_scale[0]
    e.K, e.transitions, e.back_off, e.transition_scale = K, &transitions[0, 0, 0], &back_off[0, 0], &transition_scale[0, 0]
    with nogil:
        for s in range(lo, hi):
            i = offsets[s]
            if offsets[s + 1] > i:
                e.support, e.sizes = &support[i, 0], &sizes[i]
                log_probability[s] = decode_kept(
                    &g, &e, &start[0], &words[i], &heads[i], &labels[i], &order[i], offsets[s + 1] - i, &classes[i], &work[0, 0],
                    &work[1, 0], &work[2, 0])
                impossible += not log_probability[s] > -INFINITY
    return impossible
