"""Reranking features of a dependency tree written out by name, from the definitions of its words' surroundings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def size_step(d: int) -> int:
    return d if d <= 4 else 5 if d <= 6 else 6 if d <= 9 else 7 if d <= 15 else 8 if d <= 25 else 9


def features(words: Sequence[str], tags: Sequence[str], heads: Sequence[int]) -> Counter[str]:
    """How often a tree has each feature, by the names that people read."""
    n = len(words)
    found: Counter[str] = Counter()

    def text(of: Sequence[str], i: int | None) -> str:
        return "<none>" if i is None or i > n else "<root>" if i == 0 else of[i - 1]

    def t(i):
        return text(tags, i)

    def w(i):
        return text(words, i)

    def head(i):
        return heads[i - 1] if i else None

    def below(i):
        inside = {i}
        while more := {m for m in range(1, n + 1) if heads[m - 1] in inside} - inside:
            inside |= more
        return inside

    def sibling(m):
        if m is None:
            return None
        h = heads[m - 1]
        same = [s for s in range(1, n + 1) if heads[s - 1] == h and (h < s < m or m < s < h)]
        return (max(same) if h < m else min(same)) if same else None

    rightmost, at = set(), n
    while at:
        rightmost.add(at)
        at = head(at)
    for m in range(1, n + 1):
        h = head(m)
        g = head(h)
        e = None if g is None else head(g)
        s, r = sibling(m), sibling(sibling(m))
        way = int(h < m)
        ways = way + 2 * int(g is None or g < h) + 4 * int(g is None)
        far = way + 2 * size_step(abs(m - h))
        left = min(6, sum(heads[i - 1] == m for i in range(1, m)))
        right = min(6, sum(heads[i - 1] == m for i in range(m + 1, n + 1)))
        span = below(m)
        low, high, size = min(span), max(span), size_step(max(span) - min(span) + 1)
        before, after = t(low - 1) if low > 1 else "<none>", t(high + 1)
        depth, up = 0, m
        while up:
            depth, up = depth + 1, head(up)
        j = m + 1 if m < n else None
        if j is None:
            relation = 0
        else:
            other = head(j)
            relation = 1 if other == m else 2 if h == j else 3 if h == other else 4 if other < m else 5
        jh = None if j is None else head(j)
        found.update(
            [
                f"arc h.t={t(h)} m.t={t(m)} way+distance={far}",
                f"arc h.w={w(h)} m.t={t(m)} way={way}",
                f"arc h.t={t(h)} m.w={w(m)} way={way}",
                f"arc h.w={w(h)} m.w={w(m)} way={way}",
                f"grandparent g.t={t(g)} h.t={t(h)} m.t={t(m)} ways={ways}",
                f"grandparent g.t={t(g)} h.t={t(h)} m.w={w(m)} ways={ways}",
                f"grandparent g.t={t(g)} h.w={w(h)} m.t={t(m)} ways={ways}",
                f"grandparent g.w={w(g)} h.t={t(h)} m.t={t(m)} ways={ways}",
                f"sibling h.t={t(h)} s.t={t(s)} m.t={t(m)} way={way}",
                f"sibling h.t={t(h)} s.w={w(s)} m.t={t(m)} way={way}",
                f"sibling h.t={t(h)} s.t={t(s)} m.w={w(m)} way={way}",
                f"sibling h.w={w(h)} s.t={t(s)} m.t={t(m)} way={way}",
                f"sibling s.w={w(s)} m.w={w(m)} way={way}",
                f"siblings h.t={t(h)} r.t={t(r)} s.t={t(s)} m.t={t(m)} way={way}",
                f"grandsibling g.t={t(g)} h.t={t(h)} s.t={t(s)} m.t={t(m)} ways={ways}",
                f"chain e.t={t(e)} g.t={t(g)} h.t={t(h)} m.t={t(m)}",
                f"chain g.t={t(g)} h.t={t(h)} m.w={w(m)}",
                f"chain g.t={t(g)} h.w={w(h)} m.w={w(m)}",
                f"valency m.t={t(m)} left={left} right={right}",
                f"valency m.w={w(m)} left={left} right={right}",
                f"edges m.t={t(m)} first.t={t(low)} last.t={t(high)}",
                f"around m.t={t(m)} before.t={before} after.t={after}",
                f"size h.t={t(h)} m.t={t(m)} way={way} size={size}",
                f"heavy m.t={t(m)} after.t={after} size={size}",
                f"bigram i.t={t(m)} j.t={t(j)} relation={relation}",
                f"bigram i.w={w(m)} j.w={w(j)} relation={relation}",
                f"bigram i.t={t(m)} j.t={t(j)} i.h.t={t(h)} j.h.t={t(jh)} relation={relation}",
                f"depth m.t={t(m)} depth={min(depth, 20)}",
                f"right on={int(m in rightmost)}",
                f"length way+distance={far}",
            ]
        )
    return found
