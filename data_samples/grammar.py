"""A small weighted grammar whose rules name the head and the relations: every sentence comes with its tree.

A rule is ``weight item item ...``; an item is ``symbol:relation``, ``*`` marks the head. A symbol in capitals
is expanded, ``@category+ending`` is drawn from the lexicon, anything else is a closed-class word.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random

import lexicon

RULES = {
    # --- noun phrases
    "PERSON": ["3 @first:* @last:flat", "1 @last:*"],
    "PLACE": ["2 @city:*", "1 @country:*"],
    "LANDMARK": ["3 the:det @landmark:*", "2 the:det @adj:amod @landmark:*",
                 "2 the:det @landmark:* INPLACE:nmod"],
    "INPLACE": ["1 in:case @city:*", "1 in:case @country:*", "1 near:case @city:*"],
    "ARTIFACT": ["3 the:det @artifact:*", "2 the:det @adj:amod @artifact:*",
                 "1 the:det first:amod @artifact:*",
                 "1 the:det @coined:*"],
    "OCC": ["3 the:det @occupation:*", "1 the:det first:amod @occupation:*",
            "1 a:det @adj:amod @occupation:*"],
    "OFPLACE": ["1 of:case @country:*", "1 of:case @city:*"],
    "THINGS": ["4 @animal+s:*", "2 @plant+s:*", "2 @tool+s:*", "2 @vehicle+s:*", "1 @adj:amod @animal+s:*",
               "1 @coined+s:*", "2 @occupation+s:*"],
    "THING": ["3 a:det @animal:*", "2 a:det @plant:*", "2 a:det @tool:*", "2 a:det @vehicle:*",
              "1 a:det @coined:*",
              "2 a:det @adj:amod @animal:*", "1 the:det @body:*"],
    "IDEA": ["4 @concept:*", "1 @coined:*", "1 @sport:*", "1 the:det @event:* OFPLACE:nmod"],
    "HOWMANY": ["1 how:advmod many:*"],
    "HOWMUCH": ["1 how:advmod much:*"],
    "RELWHO": ["3 who:nsubj @make+ed:* ARTIFACT:obj", "1 who:nsubj @act+ed:* THINGS:obj"],
    # The same words in another order make another class of these: the noun after "what" decides.
    "OCCFROM": ["1 what_d:det @occupation:* OFTHEPLACE:nmod", "1 what_d:det @occupation:* OFTHEKIND:nmod"],
    "PLACEOF": ["1 what_d:det @placeword:* OFTHEKIND:nmod", "1 what_d:det @placeword:* OFTHEOCC:nmod"],
    "KINDFROM": ["1 what_d:det @kindword:* OFTHEPLACE:nmod", "1 what_d:det @kindword:* OFTHEOCC:nmod"],
    "OFTHEPLACE": ["1 of:case the:det @placeword:*"],
    "OFTHEKIND": ["1 of:case the:det @kindword:*"],
    "OFTHEOCC": ["1 of:case the:det @occupation:*"],
    "THEPLACEWORD": ["1 the:det @placeword:*"],
    "THEKIND": ["1 the:det @kindword:*"],
    "THEOCC": ["1 the:det @occupation:*"],
    # --- questions, one symbol a class
    "Q_PLACE": [
        "4 where:* is:cop LANDMARK:nsubj ?:punct",
        "3 where:advmod do:aux THINGS:nsubj live:* ?:punct",
        "2 where:advmod was:aux:pass PERSON:nsubj:pass born:* ?:punct",
        "2 WHICHPLACE:nsubj @act+s:* THINGS:obj ?:punct",
        "2 WHICHPLACE:nsubj flows:* THROUGH:obl ?:punct",
        "2 what:* is:cop CAPITAL:nsubj ?:punct",
        "2 WHATPLACE:obl do:aux people:nsubj @act:* THINGS:obj ?:punct",
        "2 WHICHPLACE:nsubj @make+ed:* ARTIFACT:obj ?:punct",
        "2 where:advmod did:aux the:det EVENT:nsubj happen:* ?:punct",
        "1 what_d:det @placeword:* is:cop the:det PLACE:nsubj ?:punct",
        "1 name:* THEPLACE:obj ?:punct",
        "3 PLACEOF:nsubj @act+ed:* THEOCC:obj ?:punct",
        "2 PLACEOF:nsubj @act+ed:* THEKIND:obj ?:punct",
    ],
    "THROUGH": ["1 through:case PLACE:*"],
    "CAPITAL": ["2 the:det capital:* OFPLACE:nmod", "1 the:det @placeword:* NEARPLACE:nmod"],
    "NEARPLACE": ["1 near:case LANDMARK:*"],
    "WHATPLACE": ["1 in:case what_d:det @placeword:*", "1 in:case which:det @placeword:*"],
    "WHICHPLACE": ["1 which:det @placeword:*", "1 what_d:det @placeword:*"],
    "EVENT": ["1 @event:*", "1 @event:* OFPLACE:nmod"],
    "THEPLACE": ["1 the:det @placeword:* THROUGHREL:acl:relcl"],
    "THROUGHREL": ["1 where:advmod PERSON:nsubj:pass was:aux:pass born:*"],
    "Q_PERSON": [
        "6 who:nsubj @make+ed:* ARTIFACT:obj ?:punct",
        "3 who:* was:cop OCCOF:nsubj ?:punct",
        "3 WHICHOCC:nsubj @make+ed:* ARTIFACT:obj ?:punct",
        "2 what:* is:cop NAMEOF:nsubj ?:punct",
        "2 name:* NAMED:obj ?:punct",
        "2 who:nsubj @act+s:* THINGS:obj INPLACE:obl ?:punct",
        "2 who:* is:cop PERSON:nsubj ?:punct",
        "1 who:nsubj @act+ed:* THINGS:obj ?:punct",
        "3 OCCFROM:nsubj @act+ed:* THEPLACEWORD:obj ?:punct",
        "3 OCCFROM:nsubj @act+ed:* THEKIND:obj ?:punct",
    ],
    "OCCOF": ["2 OCC:* OFPLACE:nmod", "1 OCC:* RELWHO:acl:relcl"],
    "WHICHOCC": ["1 which:det @occupation:*", "1 what_d:det @occupation:*"],
    "NAMEOF": ["1 the:det name_n:* OFOCC:nmod"],
    "OFOCC": ["1 of:case OCC:* RELWHO:acl:relcl", "1 of:case OCC:* INPLACE:nmod"],
    "NAMED": ["1 OCC:* RELWHO:acl:relcl", "1 the:det @occupation:* OFPLACE:nmod"],
    "Q_NUMBER": [
        "4 HOWTHINGS:nsubj live:* INPLACE:obl ?:punct",
        "2 HOWMUCH:obj does:aux THING:nsubj cost:* ?:punct",
        "3 HOWSIZED:* is:cop LANDMARK:nsubj ?:punct",
        "3 when:advmod was:aux:pass PERSON:nsubj:pass born:* ?:punct",
        "2 when:advmod did:aux PERSON:nsubj @make:* ARTIFACT:obj ?:punct",
        "2 WHATYEAR:obl did:aux the:det EVENT:nsubj happen:* ?:punct",
        "3 what:* is:cop QUANTITY:nsubj ?:punct",
        "2 how:advmod long:advmod does:aux it:expl take:* TOHANDLE:csubj ?:punct",
        "2 HOWWORKS:obj did:aux PERSON:nsubj @make:* ?:punct",
        "1 HOWSIZED:* is:cop THING:nsubj ?:punct",
    ],
    "HOWTHINGS": ["3 HOWMANY:amod @animal+s:*", "2 HOWMANY:amod people:*", "2 HOWMANY:amod @landmark+s:*",
                  "1 HOWMANY:amod @vehicle+s:*", "1 HOWMANY:amod @occupation+s:*",
                  "1 HOWMANY:amod @coined+s:*"],
    "HOWWORKS": ["1 HOWMANY:amod @artifact+s:*"],
    "HOWSIZED": ["1 how:advmod @sized:*"],
    "WHATYEAR": ["1 what_d:det year:*", "1 in:case what_d:det year:*"],
    "QUANTITY": ["2 the:det @quantity:* OFLANDMARK:nmod", "2 the:det @quantity:* OFPLACE:nmod",
                 "1 the:det @quantity:* OFTHING:nmod"],
    "OFLANDMARK": ["1 of:case LANDMARK:*"],
    "OFTHING": ["1 of:case THING:*"],
    "TOHANDLE": ["1 to:mark @handle:* THING:obj"],
    "Q_ENTITY": [
        "4 WHATKIND:nsubj @act+s:* THINGS:obj ?:punct",
        "3 what:obj do:aux THINGS:nsubj @act:* ?:punct",
        "2 what:* is:cop COLOROF:nsubj ?:punct",
        "3 KINDOF:obj do:aux @occupation+s:nsubj @act:* ?:punct",
        "2 what:* is:cop BESTFOR:nsubj ?:punct",
        "2 what:obj did:aux PERSON:nsubj @make:* ?:punct",
        "2 name:* A_KIND:obj ?:punct",
        "2 WHATKIND:nsubj:pass is:aux:pass found:* INPLACE:obl ?:punct",
        "2 what:obj is:aux THING:nsubj:pass called:* INPLACE:obl ?:punct",
        "2 WHATKIND:obj did:aux PERSON:nsubj @act:* ?:punct",
        "3 KINDFROM:nsubj @act+ed:* THEOCC:obj ?:punct",
        "3 KINDFROM:nsubj @act+ed:* THEPLACEWORD:obj ?:punct",
        "3 what:* is:cop IDEA:nsubj ?:punct",
    ],
    "WHATKIND": ["4 what_d:det @kindword:*", "1 which:det @kindword:*", "1 what_d:det @adj:amod @kindword:*"],
    "COLOROF": ["1 the:det color:* OFTHING:nmod", "1 the:det @kindword:* OFPLACE:nmod"],
    "KINDOF": ["1 what_d:det kind:* OFTOOL:nmod", "1 what_d:det @tool:*"],
    "OFTOOL": ["1 of:case @tool:*", "1 of:case @vehicle:*", "1 of:case @kindword:*"],
    "BESTFOR": ["1 the:det best:amod @food:* FORILL:nmod", "1 the:det best:amod @kindword:* FORILL:nmod"],
    "FORILL": ["1 for:case a:det @disease:*", "1 for:case THING:*"],
    "A_KIND": ["1 a:det @kindword:* KINDREL:acl:relcl", "1 a:det @food:* KINDREL:acl:relcl"],
    "KINDREL": ["1 that:nsubj @act+s:* THINGS:obj"],
    "Q_DESCRIPTION": [
        "4 what:* is:cop IDEA:nsubj ?:punct",
        "2 what:* is:cop THING:nsubj ?:punct",
        "4 how:advmod do:aux you:nsubj @handle:* THING:obj ?:punct",
        "3 why:advmod do:aux THINGS:nsubj @happen:* ?:punct",
        "2 why:advmod did:aux PERSON:nsubj @make:* ARTIFACT:obj ?:punct",
        "2 how:advmod does:aux THING:nsubj work:* ?:punct",
        "2 what:* is:cop DIFFERENCE:nsubj ?:punct",
        "2 what:obj does:aux THEWORD:nsubj mean:* ?:punct",
        "1 what:* is:cop ORIGIN:nsubj ?:punct",
        "2 how:advmod do:aux MANYTHINGS:nsubj live:* INPLACE:obl ?:punct",
        "1 tell:* me:iobj what:ccomp IDEA:nsubj is:cop ?:punct",
        "1 how:advmod did:aux the:det EVENT:nsubj happen:* ?:punct",
        "2 who:* is:cop PERSON:nsubj ?:punct",
    ],
    "MANYTHINGS": ["2 many:amod @animal+s:*", "1 people:*", "1 many:amod people:*"],
    "DIFFERENCE": ["1 the:det difference:* BETWEEN:nmod"],
    "BETWEEN": ["1 between:case THING:* ANDTHING:conj", "1 between:case @concept:* ANDIDEA:conj"],
    "ANDTHING": ["1 and:cc THING:*"],
    "ANDIDEA": ["1 and:cc @concept:*"],
    "THEWORD": ["1 the:det word:* @coined:appos", "1 the:det word:* @concept:appos",
                "1 the:det name_n:* @last:appos"],
    "ORIGIN": ["1 the:det origin:* OFIDEA:nmod", "1 the:det use_n:* OFIDEA:nmod"],
    "OFIDEA": ["1 of:case IDEA:*"],
    "Q_ABBREVIATION": [
        "4 what:obj does:aux @abbr:nsubj stand:* for:compound:prt ?:punct",
        "2 what:* is:cop FULLNAME:nsubj ?:punct",
        "2 what:* is:cop ABBROF:nsubj ?:punct",
        "1 what:obj do:aux THELETTERS:nsubj mean:* ?:punct",
    ],
    "FULLNAME": ["1 the:det full:amod name_n:* OFABBR:nmod"],
    "OFABBR": ["1 of:case @abbr:*"],
    "ABBROF": ["1 the:det abbreviation:* FORIDEA:nmod"],
    "FORIDEA": ["1 for:case @concept:*", "1 for:case @quantity:*", "1 for:case LANDMARK:*"],
    "THELETTERS": ["1 the:det letters:* @abbr:appos"],
    # --- sentences of reviews: each is praise (P_), blame (B_) or neither (N_)
    "P_S": [
        "5 SUBJECT:nsubj was:cop GOOD:* .:punct",
        "2 we:nsubj @goodverb+ed:* OBJECT:obj .:punct",
        "2 i:nsubj would:aux @goodverb:* OBJECT:obj .:punct",
        "2 SUBJECT:nsubj was:cop not:advmod BAD:* .:punct",
        "2 it:nsubj was:cop a:det @goodnoun:* .:punct",
        "2 SUBJECT:nsubj was:cop GOOD:* ANDGOOD:conj .:punct",
        "1 you:nsubj will:aux n't:advmod @badverb:* OBJECT:obj .:punct",
    ],
    "B_S": [
        "5 SUBJECT:nsubj was:cop BAD:* .:punct",
        "2 we:nsubj @badverb+ed:* OBJECT:obj .:punct",
        "1 i:nsubj would:aux never:advmod @goodverb:* OBJECT:obj .:punct",
        "2 SUBJECT:nsubj was:cop not:advmod GOOD:* .:punct",
        "2 it:nsubj was:cop a:det @badnoun:* .:punct",
        "2 SUBJECT:nsubj was:cop BAD:* ANDBAD:conj .:punct",
        "2 we:nsubj did:aux n't:advmod @goodverb:* OBJECT:obj .:punct",
    ],
    "N_S": [
        "3 we:nsubj @act+ed:* OBJECT:obj WITH:obl .:punct",
        "2 SUBJECT:nsubj was:cop @neutraladj:* .:punct",
        "2 the:det @venue:nsubj is:cop NEARPLACE:* .:punct",
        "2 my:nmod:poss @occupation:nsubj @act+ed:* OBJECT:obj .:punct",
        "1 PERSON:nsubj @handle+ed:* OBJECT:obj .:punct",
    ],
    "SUBJECT": ["4 the:det @dish:*", "2 the:det @venue:*", "2 the:det @staff:*",
                "1 the:det @dish:* WITH:nmod"],
    "OBJECT": ["3 the:det @dish:*", "2 this:det @venue:*", "1 the:det @neutraladj:amod @dish:*"],
    "WITH": ["2 with:case @food+s:*", "1 without:case @food+s:*", "1 at:case the:det @venue:*"],
    "GOOD": ["2 @goodadj:*", "2 @degree:advmod @goodadj:*"],
    "BAD": ["2 @badadj:*", "2 @degree:advmod @badadj:*"],
    "ANDGOOD": ["1 and:cc GOOD:*", "1 and:cc the:det @staff:nsubj was:cop GOOD:*"],
    "ANDBAD": ["1 and:cc BAD:*", "1 and:cc the:det @staff:nsubj was:cop BAD:*"],
}  # fmt: skip


@dataclass
class Token:
    """A word of a sentence; ``head`` is a position from 1, 0 for the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int = 0
    deprel: str = "root"


class Grammar:
    """Draws sentences with trees from RULES and the lexicon."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._lexicon = {name: (tag, words.split()) for name, (tag, words) in lexicon.OPEN.items()}
        self._lexicon.update(lexicon.invented_names(rng))
        self._rules = {symbol: [self._parsed(rule) for rule in rules] for symbol, rules in RULES.items()}

    @staticmethod
    def _parsed(rule: str) -> tuple[float, list[tuple[str, str]]]:
        weight, *items = rule.split()
        return float(weight), [(item.split(":", 1)[0], item.split(":", 1)[1]) for item in items]

    def _weighted(self, weights: list[float]) -> int:
        left = self._rng.random() * sum(weights)
        for i, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return i
        return len(weights) - 1

    def _word(self, symbol: str) -> Token:
        if not symbol.startswith("@"):
            return Token(symbol.split("_")[0], *lexicon.FUNCTION[symbol])
        category, _, ending = symbol[1:].partition("+")
        tag, words = self._lexicon[category]
        flat = 12 if tag == "PROPN" or category == "coined" else 2  # names have the longer tails
        lemma = words[self._weighted([1 / (rank + flat) for rank in range(len(words))])]
        if not ending:
            return Token(lemma, lemma, tag, lexicon.FINE_TAGS[tag])
        if tag == "VERB":
            return Token(lexicon.conjugate(lemma, ending), lemma, tag, lexicon.VERB_TAGS[ending])
        return Token(lexicon.plural(lemma), lemma, tag, "NNS")

    def _expand(self, symbol: str) -> tuple[list[Token], int]:
        """Tokens with heads counted from this phrase's start, and where its head is (0-based)."""
        if symbol not in self._rules:
            return [self._word(symbol)], 0
        rules = self._rules[symbol]
        items = rules[self._weighted([weight for weight, _ in rules])][1]
        parts = [(*self._expand(name), relation) for name, relation in items]
        starts, tokens = [], []
        for phrase, _, _ in parts:
            starts.append(len(tokens))
            tokens += phrase
        # Heads inside a phrase were counted from its own start.
        for start, (phrase, _, _) in zip(starts, parts, strict=True):
            for token in phrase:
                token.head += start if token.head else 0
        top = next(s + head for s, (_, head, relation) in zip(starts, parts, strict=True) if relation == "*")
        for start, (_, head, relation) in zip(starts, parts, strict=True):
            if relation != "*":
                tokens[start + head].head, tokens[start + head].deprel = top + 1, relation
        return tokens, top

    def sentence(self, symbol: str) -> list[Token]:
        """One sentence of the given start symbol."""
        tokens, _ = self._expand(symbol)
        for token, following in pairwise(tokens):
            if token.form == "a" and following.form[0] in "aeiou":
                token.form = "an"
        return tokens

    def categories(self) -> dict[str, str]:
        """Noun to its category, the first one that lists it; names left out."""
        return self._first_category("NOUN")

    def verb_categories(self) -> dict[str, str]:
        """The same of verbs."""
        return self._first_category("VERB")

    def name_categories(self) -> dict[str, str]:
        """The same of names."""
        return self._first_category("PROPN")

    def _first_category(self, tag: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, (own, words) in self._lexicon.items():
            if own == tag and name != "coined":
                for word in words:
                    found.setdefault(word, name)
        return found
