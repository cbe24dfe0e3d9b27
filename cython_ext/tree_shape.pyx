"""Shape of dependency trees: soundness, an order for passes up and down, projectivity.

A corpus is ``heads`` (T) int32, counted from 1 in each sentence with 0 for the root, and ``offsets`` (S + 1), the first
word of each sentence in it, rising from 0 to T. Several words may hang on the root.

    check_trees     status (S): 0, or HEAD_RANGE, SELF_HEAD, CYCLE; word (S): the word at fault, from 0; roots (S): how many
    order_trees     order (T): positions in the sentence, from 0, parents before children, level by level
    gapped_yields   gaps (S): words whose descendants do not lie side by side; 0 if and only if the tree is projective

Each takes linear time and no recursion, so that a chain of any depth is as good as a flat tree. ``scratch`` arrays are
written over and hold nothing afterwards.
"""

from libc.stdint cimport int32_t

from head_check cimport HEAD_CYCLE, HEAD_OUT_OF_RANGE, HEAD_SELF, tree_status

HEAD_RANGE, SELF_HEAD, CYCLE = HEAD_OUT_OF_RANGE, HEAD_SELF, HEAD_CYCLE


cdef inline void level_order(const int32_t* heads, int32_t* order, int32_t* first, int32_t* sibling,
                             Py_ssize_t n) noexcept nogil:
    """Breadth first from the root; first (n + 1) and sibling (n) become linked lists of children in word order."""
    cdef Py_ssize_t i, taken = 0, found = 0
    cdef int32_t child
    for i in range(n + 1):
        first[i] = 0
    for i in range(n, 0, -1):
        sibling[i - 1] = first[heads[i - 1]]
        first[heads[i - 1]] = <int32_t>i
    child = first[0]
    while True:
        while child:
            order[found] = child - 1
            found += 1
            child = sibling[child - 1]
        if taken == found:
            return
        child = first[order[taken] + 1]
        taken += 1


cdef inline int32_t count_gaps(const int32_t* heads, const int32_t* order, int32_t* low, int32_t* high, int32_t* size,
                               Py_ssize_t n) noexcept nogil:
    """Words whose lowest and highest descendants are further apart than their number."""
    cdef Py_ssize_t k, i, h
    cdef int32_t gaps = 0
    for i in range(n):
        low[i] = high[i] = <int32_t>i
        size[i] = 1
    for k in range(n - 1, -1, -1):
        i = order[k]
        gaps += high[i] - low[i] + 1 != size[i]
        h = heads[i] - 1
        if h >= 0:
            low[h] = min(low[h], low[i])
            high[h] = max(high[h], high[i])
            size[h] += size[i]
    return gaps


cdef Py_ssize_t longest(const int32_t[::1] offsets, Py_ssize_t n_words) except -1:
    """The longest sentence; refuses offsets that do not rise from 0 to n_words."""
    cdef Py_ssize_t s, best = 0, n_sentences = offsets.shape[0] - 1
    if n_sentences < 0 or offsets[0] != 0 or offsets[n_sentences] != n_words:
        raise ValueError(f"offsets must rise from 0 to {n_words}")
    for s in range(n_sentences):
        if offsets[s + 1] < offsets[s]:
            raise ValueError(f"offsets must rise from 0 to {n_words}")
        best = max(best, offsets[s + 1] - offsets[s])
    return best


cdef int refuse_bad_heads(const int32_t[::1] heads, const int32_t[::1] offsets, int32_t[::1] scratch) except -1:
    cdef Py_ssize_t s, word
    for s in range(offsets.shape[0] - 1):
        if offsets[s + 1] > offsets[s] and tree_status(&heads[offsets[s]], &scratch[0], offsets[s + 1] - offsets[s], &word):
            raise ValueError(f"sentence {s} is not a tree (word {word + 1})")
    return 0


def check_trees(const int32_t[::1] heads, const int32_t[::1] offsets, int32_t[::1] status, int32_t[::1] word,
                int32_t[::1] roots, int32_t[::1] scratch):
    """Whether each sentence is a tree; scratch holds at least the longest sentence.

    Raises:
        ValueError: shapes that do not fit, offsets that do not rise from 0 to T.
    """
    cdef Py_ssize_t n_sentences = offsets.shape[0] - 1, s, i, at
    if scratch.shape[0] < longest(offsets, heads.shape[0]):
        raise ValueError("scratch is shorter than the longest sentence")
    if status.shape[0] != n_sentences or word.shape[0] != n_sentences or roots.shape[0] != n_sentences:
        raise ValueError("status, word and roots need one entry a sentence")
    with nogil:
        for s in range(n_sentences):
            status[s] = word[s] = roots[s] = 0
            if offsets[s + 1] == offsets[s]:
                continue
            status[s] = tree_status(&heads[offsets[s]], &scratch[0], offsets[s + 1] - offsets[s], &at)
            word[s] = <int32_t>at if status[s] else 0
            for i in range(offsets[s], offsets[s + 1]):
                roots[s] += heads[i] == 0


def order_trees(const int32_t[::1] heads, const int32_t[::1] offsets, int32_t[::1] order, int32_t[:, ::1] scratch):
    """An order of each sentence's words in which a parent comes before its children; read backwards, after them.

    Words of a level keep the order of their parents, then that of the sentence. scratch is (2, longest sentence + 1).

    Raises:
        ValueError: shapes that do not fit, offsets that do not rise from 0 to T, heads that are not trees.
    """
    cdef Py_ssize_t s, at
    cdef Py_ssize_t room = longest(offsets, heads.shape[0]) + 1
    if order.shape[0] != heads.shape[0] or scratch.shape[0] != 2 or scratch.shape[1] < room:
        raise ValueError("order needs an entry a word, scratch 2 rows of the longest sentence + 1")
    refuse_bad_heads(heads, offsets, scratch[0])
    with nogil:
        for s in range(offsets.shape[0] - 1):
            at = offsets[s]
            if offsets[s + 1] > at:
                level_order(&heads[at], &order[at], &scratch[0, 0], &scratch[1, 0], offsets[s + 1] - at)


def gapped_yields(const int32_t[::1] heads, const int32_t[::1] offsets, const int32_t[::1] order, int32_t[::1] gaps,
                  int32_t[:, ::1] scratch):
    """How many words of each sentence have descendants with a gap; order is that of order_trees.

    scratch is (3, longest sentence).

    Raises:
        ValueError: shapes that do not fit, offsets that do not rise from 0 to T, heads that are not trees, positions
            outside their sentence.
    """
    cdef Py_ssize_t s, i, at, n, room = longest(offsets, heads.shape[0])
    if order.shape[0] != heads.shape[0] or gaps.shape[0] != offsets.shape[0] - 1:
        raise ValueError("order needs an entry a word, gaps one a sentence")
    if scratch.shape[0] != 3 or scratch.shape[1] < room:
        raise ValueError("scratch needs 3 rows of the longest sentence")
    refuse_bad_heads(heads, offsets, scratch[0])
    for s in range(gaps.shape[0]):
        for i in range(offsets[s], offsets[s + 1]):
            if not 0 <= order[i] < offsets[s + 1] - offsets[s]:
                raise ValueError(f"order leaves sentence {s}")
    with nogil:
        for s in range(gaps.shape[0]):
            at, n = offsets[s], offsets[s + 1] - offsets[s]
            gaps[s] = 0
            if n > 0:
                gaps[s] = count_gaps(&heads[at], &order[at], &scratch[0, 0], &scratch[1, 0], &scratch[2, 0], n)
