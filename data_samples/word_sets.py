"""Data sets that word vectors are scored on: categories, relations, phrases, sentences with a gap. Every word has a vector."""

from __future__ import annotations

from random import Random

import lexicon

PER_CATEGORY = 8
LIVING = {"animal": "living", "plant": "living", "occupation": "living"}
SORTED = ("animal", "plant", "food", "tool", "vehicle", "occupation", "disease")
CONCEPTS = {"animal": "animal", "food": "food", "tool": "tool", "plant": "plant"}  # category -> hypernym
N_QUESTIONS, N_PHRASES = 120, 60


def _known(category: str, known: set[str]) -> list[str]:
    return [word for word in lexicon.OPEN[category][1].split() if word in known]


def _verbs(category: str, known: set[str]) -> list[str]:
    """Forms that have vectors, the first of each verb."""
    found = []
    for verb in lexicon.OPEN[category][1].split():
        forms = [verb, *(lexicon.conjugate(verb, ending) for ending in ("s", "ed"))]
        found += [form for form in forms if form in known][:1]
    return found


def _some(rng: Random, words: list[str], count: int) -> list[str]:
    """Distinct ones, in the order of the list."""
    left = list(words)
    while len(left) > count:
        left.pop(int(rng.random() * len(left)))
    return left


def categories(words: set[str]) -> str:
    """Nouns with a fine and a coarse class."""
    rows = ["word\tkind\tliving\n"]
    for name in SORTED:
        for word in _known(name, words)[:PER_CATEGORY]:
            rows.append(f"{word}\t{name}\t{LIVING.get(name, 'thing')}\n")
    return "".join(rows)


def relations(rng: Random, words: set[str]) -> str:
    """Concepts with related and random words, as BLESS has them."""
    adjectives, verbs = _known("adj", words), _verbs("act", words)
    others = {
        "random-n": _known("concept", words) + _known("quantity", words),
        "random-j": _known("badadj", words) + _known("goodadj", words),
        "random-v": _verbs("goodverb", words) + _verbs("badverb", words),
    }
    rows = []
    for category, hypernym in CONCEPTS.items():
        members = [word for word in _known(category, words) if word != hypernym]
        for concept in members[:6]:
            related = {
                "attri": _some(rng, adjectives, 5),
                "coord": _some(rng, [word for word in members if word != concept], 5),
                "event": _some(rng, verbs, 5),
                "hyper": [hypernym] if hypernym in words else [],
                "mero": _some(rng, _known("body", words), 3) if category == "animal" else [],
            }
            related |= {name: _some(rng, some, 6) for name, some in others.items()}
            for name, some in related.items():
                tag = {"attri": "j", "event": "v"}.get(name, name[-1] if name.startswith("random") else "n")
                rows += [f"{concept}-n\t{category}\t{name}\t{word}-{tag}\n" for word in some]
    return "".join(rows)


def phrases(rng: Random, words: set[str]) -> str:
    """Pairs of adjectives and nouns with scores from 1 to 7: how many of their two words are of one kind."""
    kinds = {
        word: category
        for category in ("goodadj", "badadj", "sized", "dish", "venue", "animal")
        for word in _known(category, words)
    }
    adjectives = [word for word, kind in kinds.items() if kind in ("goodadj", "badadj", "sized")]
    nouns = [word for word, kind in kinds.items() if kind in ("dish", "venue", "animal")]
    rows = ["type\tword1\tword2\tword3\tword4\tscore\n"]
    while len(rows) <= N_PHRASES:
        (a, c), (b, d) = _some(rng, adjectives, 2), _some(rng, nouns, 2)
        if rng.random() < 0.5:
            b, d = d, b
        same = (kinds[a] == kinds[c]) + (kinds[b] == kinds[d])
        rows.append(f"adjectivenouns\t{a}\t{b}\t{c}\t{d}\t{min(7, 1 + 2 * same + int(rng.random() * 3))}\n")
    return "".join(rows)


def acceptability(rng: Random, words: set[str]) -> str:
    """Adjectives with nouns they go with (of food and places, in reviews) and nouns they do not."""
    adjectives = _known("goodadj", words) + _known("badadj", words)
    nouns = {
        "acceptable": _known("dish", words) + _known("venue", words) + _known("staff", words),
        "deviant": _known("concept", words) + _known("quantity", words) + _known("body", words),
    }
    rows = ["adjective\tnoun\tclass\n"]
    for name, some in nouns.items():
        for i in range(N_PHRASES // 2):
            (noun,) = _some(rng, some, 1)
            rows.append(f"{adjectives[i % len(adjectives)]}\t{noun}\t{name}\n")
    return "".join(rows)


def completion(rng: Random, kinds: dict[str, str], corpus: list[str], words: set[str]) -> str:
    """Sentences with a gap and five words to choose from, the wrong ones of other kinds."""
    nouns = [word for word in kinds if word in words]
    rows = ["id,question,a),b),c),d),e),answer\n"]
    while len(rows) <= N_QUESTIONS:
        tokens = corpus[int(rng.random() * len(corpus))].split()
        places = [i for i, token in enumerate(tokens) if token in kinds and token in words]
        if not places or len(tokens) < 5:
            continue
        place = places[int(rng.random() * len(places))]
        answer = tokens[place]
        choices = _some(rng, [word for word in nouns if kinds[word] != kinds[answer]], 4)
        right = int(rng.random() * 5)
        choices.insert(right, answer)
        sentence = " ".join([*tokens[:place], "_____", *tokens[place + 1 :]]).replace('"', '""')
        quoted = f'"{sentence}"' if "," in sentence or '"' in sentence else sentence
        rows.append(f"{len(rows)},{quoted},{','.join(choices)},{'abcde'[right]}\n")
    return "".join(rows)
