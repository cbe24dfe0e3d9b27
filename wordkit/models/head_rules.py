"""Which child of a phrase is its head: rules for the labels of the Penn treebank, and a guess for all others.

A rule is a list of steps; each step looks at the children from one side for the first whose label is in a set, and the next step
is tried where there is none. The manner is Magerman's (1995) and Collins's (1999).
"""

from __future__ import annotations

from collections.abc import Sequence

from wordkit.formats.brackets import Tree
from wordkit.models.bracket_counts import PUNCTUATION, plain_label

LEFT, RIGHT = "from the left", "from the right"
Step = tuple[str, frozenset[str]]


def _step(side: str, labels: str) -> Step:
    return side, frozenset(labels.split())


_VERBS = "VBD VBZ VBP VB VBN VBG MD AUX AUXG"
_NOUNS = "NN NNS NNP NNPS NX POS"
_CLAUSES = "S SINV SQ SBAR SBARQ"
_RULES: dict[str, tuple[Step, ...]] = {
    "NP": (
        _step(RIGHT, _NOUNS + " JJR"), _step(LEFT, "NP"), _step(RIGHT, "$ ADJP PRN QP"), _step(RIGHT, "CD"),
        _step(RIGHT, "JJ JJS RB PRP DT VBG"),
    ),
    "VP": (_step(LEFT, _VERBS + " TO"), _step(LEFT, "VP"), _step(LEFT, "ADJP NP NN NNS S")),
    "S": (_step(LEFT, "VP"), _step(LEFT, "S SINV SQ"), _step(LEFT, "ADJP SBAR UCP"), _step(RIGHT, "NP")),
    "SINV": (_step(LEFT, _VERBS), _step(LEFT, "VP"), _step(LEFT, "S SINV"), _step(RIGHT, "NP")),
    "SQ": (_step(LEFT, _VERBS), _step(LEFT, "VP SQ")),
    "SBAR": (_step(LEFT, "WHNP WHPP WHADVP WHADJP IN DT"), _step(LEFT, _CLAUSES)),
    "SBARQ": (_step(LEFT, "SQ S SINV SBARQ"),),
    "PP": (_step(LEFT, "IN TO VBG VBN RP FW"), _step(LEFT, "PP"), _step(RIGHT, "NP")),
    "ADJP": (_step(RIGHT, "JJ JJR JJS VBN VBG"), _step(LEFT, "ADJP"), _step(LEFT, "NNS QP NN $ ADVP NP")),
    "ADVP": (_step(RIGHT, "RB RBR RBS FW"), _step(RIGHT, "ADVP"), _step(LEFT, "TO CD JJR JJ IN NP JJS NN")),
    "QP": (_step(RIGHT, "$ CD NNS NN"), _step(RIGHT, "JJ RB DT QP JJR JJS IN")),
    "WHNP": (_step(LEFT, "WDT WP WP$ WHADJP WHPP WHNP"), _step(RIGHT, _NOUNS)),
    "WHPP": (_step(LEFT, "IN TO FW"),),
    "WHADVP": (_step(RIGHT, "WRB"), _step(RIGHT, "WHADVP")),
    "WHADJP": (_step(RIGHT, "JJ RB ADJP WRB CC"),),
    "PRT": (_step(RIGHT, "RP"),),
    "CONJP": (_step(RIGHT, "CC RB IN"),),
    "NX": (_step(RIGHT, _NOUNS), _step(LEFT, "NX NP")),
    "NAC": (_step(LEFT, _NOUNS), _step(LEFT, "NAC NP")),
    "PRN": (_step(LEFT, "S SINV VP NP PP SBAR ADVP ADJP"),),
    "FRAG": (_step(LEFT, "S NP VP PP SBAR ADJP ADVP"),),
    "LST": (_step(RIGHT, "LS CD"),),
    "INTJ": (_step(LEFT, "UH"),),
    "X": (_step(RIGHT, "X NP"),),
}  # fmt: skip


def head_child(label: str, children: Sequence[Tree]) -> int:
    """Place of the head among the children of a phrase.

    A phrase whose label has no rule, or none that fits: the last child whose label begins with the same letter, else the last one
    that is no punctuation, else the last.
    """
    labels = [plain_label(child.label) for child in children]
    order = {LEFT: range(len(labels)), RIGHT: range(len(labels) - 1, -1, -1)}
    for side, wanted in _RULES.get(plain_label(label), ()):
        for place in order[side]:
            if labels[place] in wanted:
                return place
    alike = [place for place in order[RIGHT] if labels[place][:1] == label[:1]]
    sound = [place for place in order[RIGHT] if labels[place] not in PUNCTUATION]
    return (alike or sound or [len(labels) - 1])[0]
