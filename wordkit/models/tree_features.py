"""Features of bracketed trees for reranking, after Charniak and Johnson (ACL 2005).

Rules with parent and head, bigrams and trigrams of children, heads and their dependents by word and tag, chains of phrases that a
word heads, words with their tags and parents, edges of phrases and the words around them, size and place of phrases (heaviness),
right branching. A feature is a text; its first word is its class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordkit.formats.brackets import Tree
from wordkit.models.bracket_counts import PUNCTUATION, plain_label
from wordkit.models.head_rules import head_child

_SIZES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)  # a size is told as the greatest of these that it reaches


class TreeFeatures:
    """Counts of the features in the candidates of one sentence; what several of them share is looked at once.

    Args:
        words: of the sentence.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = [*words, "<end>"]
        self._numbers: dict[str, int] = {}
        self._heads: dict[
            Tree, tuple[int, Tree]
        ] = {}  # place of the head child, and the word that heads the phrase
        self._edges: dict[Tree, tuple[Tree, Tree]] = {}  # the first and the last word of a phrase
        self._of_phrase: dict[Tree, list[int]] = {}

    def counts(self, trees: Sequence[Tree]) -> tuple[list[str], np.ndarray]:
        """Names of the features (U), and how often each tree has each, int32 (k, U).

        Equal parts of the trees are one object, as :func:`wordkit.formats.brackets.iter_candidates` makes them.
        """
        found = [self._of_tree(tree) for tree in trees]
        names = list(self._numbers)
        counts = np.stack([np.bincount(numbers, minlength=len(names)) for numbers in found])
        return names, counts.astype(np.int32)

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def _of_tree(self, tree: Tree) -> list[int]:
        phrases = list(tree.phrases())
        for phrase in reversed(phrases):  # what is in a phrase comes before it
            if phrase not in self._heads:
                place = head_child(phrase.label, phrase.children)
                child = phrase.children[place]
                self._heads[phrase] = place, child if child.word is not None else self._heads[child][1]
                first, last = phrase.children[0], phrase.children[-1]
                self._edges[phrase] = (
                    first if first.word is not None else self._edges[first][0],
                    last if last.word is not None else self._edges[last][1],
                )
        numbers: list[int] = []
        for phrase in phrases:
            if phrase not in self._of_phrase:
                self._of_phrase[phrase] = list(map(self._number, self._names(phrase)))
            numbers += self._of_phrase[phrase]
        numbers += map(self._number, self._chains(tree, "^"))
        return numbers + self._right_branch(tree, len(phrases))

    def _head(self, tree: Tree) -> Tree:
        return tree if tree.word is not None else self._heads[tree][1]

    def _names(self, phrase: Tree) -> list[str]:
        label, children = plain_label(phrase.label), phrase.children
        place, head = self._heads[phrase]
        labels = [plain_label(child.label) for child in children]
        names = self._rules(label, phrase, labels)
        padded = ["<", *labels, ">"]
        for i in range(len(padded) - 1):
            side = "head" if i == place + 1 or i == place else "left" if i < place else "right"
            names.append(f"bigram {label} {padded[i]} {padded[i + 1]}")
            names.append(f"bigram-head {label} {padded[i]} {padded[i + 1]} {side} {head.label}")
            if i + 2 < len(padded):
                names.append(f"trigram {label} {padded[i]} {padded[i + 1]} {padded[i + 2]}")
        for i, child in enumerate(children):
            if i != place:
                names += self._dependent(label, labels[place], labels[i], head, self._head(child), i < place)
                names += self._chains(child, label)
            if child.word is None:
                names += self._extent(labels[i], child)
            else:
                names += [
                    f"word {child.word} {child.label}", f"word-parent {child.label} {label}",
                    f"word-parent {child.word} {child.label} {label}",
                ]  # fmt: skip
        return names

    def _rules(self, label: str, phrase: Tree, labels: list[str]) -> list[str]:
        head = self._heads[phrase][1]
        rule = f"{label} > {' '.join(labels)}"
        names = [f"rule {rule}", f"rule-head {rule} {head.label}", f"rule-word {rule} {head.word}"]
        for child, child_label in zip(phrase.children, labels, strict=True):
            if child.word is None:
                below = " ".join(plain_label(x.label) for x in child.children)
                names.append(f"rule-parent {label} {child_label} > {below}")
                names.append(f"labels {label} {child_label}")
        return names

    def _dependent(
        self, label: str, head_label: str, own: str, head: Tree, dependent: Tree, before: bool
    ) -> list[str]:
        way = "left" if before else "right"
        place = f"{label} {head_label} {own} {way}"
        return [
            f"heads {place}",
            f"heads {place} {head.label} {dependent.label}",
            f"heads-word {place} {head.word} {dependent.label}",
            f"heads-word {place} {head.label} {dependent.word}",
            f"heads-tags {head.label} {dependent.label} {way}",
            f"heads-words {head.word} {dependent.word} {way}",
        ]

    def _chains(self, tree: Tree, above: str) -> list[str]:
        """The phrases that one word heads, up to the one below ``above``."""
        labels, at = [], tree
        while at.word is None:
            labels.append(plain_label(at.label))
            at = at.children[self._heads[at][0]]
        chain = " ".join([above, *labels])
        return [f"chain {chain} {at.label}", f"chain-word {chain} {at.word}"]

    def _extent(self, label: str, phrase: Tree) -> list[str]:
        """Edges of a phrase, what is around it, how large it is and where."""
        first, last = self._edges[phrase]
        before = self._words[phrase.start - 1] if phrase.start else "<start>"
        after = self._words[phrase.end]
        size = max(step for step in _SIZES if step <= phrase.end - phrase.start)
        final = "end" if phrase.end == len(self._words) - 1 else "middle"
        mark = "word" if any(map(str.isalnum, after)) and after != "<end>" else after
        return [
            f"edges {label} {first.label} {last.label}",
            f"edges-word {label} {first.word}",
            f"edges-word {label} {last.word} {after}",
            f"around {label} {before} {after}",
            f"heavy {label} {size} {final} {mark}",
            f"heavy {label} {size}",
        ]

    def _right_branch(self, tree: Tree, n_phrases: int) -> list[int]:
        """One for each phrase on the way to the last word that is no punctuation, and one for each other phrase."""
        length, at = 0, tree
        while at.word is None:
            length += 1
            sound = [child for child in at.children if child.label not in PUNCTUATION]
            at = (sound or at.children)[-1]
        return [self._number("right on")] * length + [self._number("right off")] * (n_phrases - length)
