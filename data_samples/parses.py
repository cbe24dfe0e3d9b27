"""Bracketed candidate trees of made-up sentences, and their gold trees: where do prepositional phrases hang?"""

from __future__ import annotations

from random import Random

SENTENCES, MOST_CANDIDATES = 60, 8
NOUNS, VERBS = ("cat", "baker", "letter", "garden", "window", "song"), ("saw", "painted", "praised", "sold")
PREPOSITIONS = ("of", "in", "with")
Phrase = tuple[str, str]  # preposition and noun


def _pick(rng: Random, words: tuple[str, ...]) -> str:
    return words[int(rng.random() * len(words))]


def _noun(noun: str, *below: str) -> str:
    core = f"(NP (DT the) (NN {noun}))"
    return f"(NP {core} {' '.join(below)})" if below else core


def _tree(subject: str, verb: str, noun: str, phrases: list[Phrase], places: tuple[str, ...]) -> str:
    """Each phrase hangs on the verb (v), on the object (n) or on the phrase before it (p)."""
    parts = [f"(PP (IN {preposition}) {_noun(thing)})" for preposition, thing in phrases]
    for i in range(len(parts) - 1, 0, -1):
        if places[i] == "p":
            parts[i - 1] = f"(PP (IN {phrases[i - 1][0]}) {_noun(phrases[i - 1][1], parts[i])})"
    below = {place: [part for part, at in zip(parts, places, strict=True) if at == place] for place in "vn"}
    verbal = " ".join([f"(VBD {verb})", _noun(noun, *below["n"]), *below["v"]])
    return f"(S1 (S {_noun(subject)} (VP {verbal}) (. .)))"


def _places(phrases: int) -> list[tuple[str, ...]]:
    """Ways to hang phrases without crossing: nothing on the object behind what is on the verb, two of them at most chained."""
    ways: list[tuple[str, ...]] = [("v",), ("n",)]
    for _ in range(phrases - 1):
        ways = [
            (*way, at)
            for way in ways
            for at in "vnp"
            if not (at == "n" and "v" in way) and "p" not in way[-1:]
        ]
    return ways


def parses(rng: Random) -> tuple[str, str]:
    """Candidates, best first by a score that knows little; gold trees: `of` hangs on what is before it, `with` on the verb."""
    candidates, gold = [], []
    for qid in range(1, SENTENCES + 1):
        words = _pick(rng, NOUNS), _pick(rng, VERBS), _pick(rng, NOUNS)
        phrases = [(_pick(rng, PREPOSITIONS), _pick(rng, NOUNS)) for _ in range(2 + int(rng.random() * 2))]
        ways = _places(len(phrases))
        liked = [
            sum(
                {"of": "np", "with": "v", "in": "v"}[phrase[0]].count(at)
                for phrase, at in zip(phrases, way, strict=True)
            )
            for way in ways
        ]
        best = ways[liked.index(max(liked))]
        gold.append(f"{qid}\t{_tree(*words, phrases, best)}\n")
        scored = sorted((round(-30 + liked[i] + 3 * rng.random(), 3), way) for i, way in enumerate(ways))[
            ::-1
        ]
        candidates += [
            f"{qid}\t{score}\t{_tree(*words, phrases, way)}\n" for score, way in scored[:MOST_CANDIDATES]
        ]
    return "".join(candidates), "".join(gold)
