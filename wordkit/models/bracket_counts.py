"""Labelled brackets that a candidate tree shares with the gold tree, counted as EVALB counts them with COLLINS.prm.

- Roots (S1, TOP, ROOT, no label) and the brackets of words with their tags do not count.
- Tokens that the gold tree tags as punctuation (``, : `` '' .``) or as a trace (-NONE-) are taken out of both trees, and with
  them the brackets in which nothing is left. EVALB goes by each tree's own tags, and refuses a pair whose words differ then.
- Function tags and co-indexing are cut from labels (NP-SBJ-1 is NP), and PRT is ADVP.
- A bracket that stands twice counts twice.
"""

from __future__ import annotations

from collections import Counter

from wordkit.formats.brackets import Tree

ROOTS = frozenset(["S1", "TOP", "ROOT", ""])
PUNCTUATION = frozenset([",", ":", "``", "''", ".", "-NONE-"])
_SAME = {"PRT": "ADVP"}
Bracket = tuple[str, int, int]


def plain_label(label: str) -> str:
    """A label without function tags: NP of NP-SBJ-1 and NP=2; -LRB- stays."""
    if label.startswith("-"):
        return label
    return label.split("-", 1)[0].split("=", 1)[0] or label


class GoldBrackets:
    """Brackets of a gold tree, for the counts of its candidates.

    ``words``: of the sentence as the candidates have it, without the gold tree's traces.
    """

    def __init__(self, gold: Tree) -> None:
        kept, self._place = 0, [0]  # place of each of the candidates' words among those that count
        own = [0]
        self.words: list[str] = []
        for leaf in gold.leaves():
            counts = leaf.label not in PUNCTUATION
            kept += counts
            own.append(kept)
            if leaf.label != "-NONE-":
                self._place.append(kept)
                self.words.append(str(leaf.word))
        self._brackets = Counter(_brackets(gold, own))
        self._total = sum(self._brackets.values())

    def counts(self, candidate: Tree) -> tuple[int, int, int]:
        """Matched, gold and proposed brackets; ValueError for a tree with another number of words."""
        if candidate.end != len(self.words):
            raise ValueError(f"a tree of {candidate.end} words; the gold tree has {len(self.words)}")
        proposed = Counter(_brackets(candidate, self._place))
        matched = sum(min(count, self._brackets[bracket]) for bracket, count in proposed.items())
        return matched, self._total, sum(proposed.values())


def _brackets(tree: Tree, place: list[int]) -> list[Bracket]:
    found = []
    for phrase in tree.phrases():
        start, end = place[phrase.start], place[phrase.end]
        label = plain_label(phrase.label)
        if start < end and label not in ROOTS:
            found.append((_SAME.get(label, label), start, end))
    return found
