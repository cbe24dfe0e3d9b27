"""Named entities and supersenses of generated sentences, in the columns of the published sets."""

from __future__ import annotations

from collections.abc import Sequence

from grammar import Token
from treebank import rows

NAMES = {"first": "PER", "last": "PER", "city": "LOC", "country": "LOC"}
SUPERSENSES = {
    "animal": "n.ANIMAL", "food": "n.FOOD", "dish": "n.FOOD", "plant": "n.PLANT", "tool": "n.ARTIFACT", "vehicle": "n.ARTIFACT",
    "artifact": "n.ARTIFACT", "landmark": "n.LOCATION", "placeword": "n.LOCATION", "venue": "n.LOCATION", "body": "n.BODY",
    "occupation": "n.PERSON", "staff": "n.PERSON", "concept": "n.COGNITION", "event": "n.EVENT", "disease": "n.STATE",
    "quantity": "n.ATTRIBUTE", "sport": "n.ACT", "make": "v.creation", "act": "v.contact", "happen": "v.body",
    "handle": "v.change", "goodverb": "v.emotion", "badverb": "v.emotion",
}  # fmt: skip


def entity_columns(
    sentences: Sequence[Sequence[Token]], categories: dict[str, str], per_document: int
) -> str:
    """``word POS tag`` a line, names and first words with a capital; a document's mark before so many sentences."""
    lines = []
    for number, sentence in enumerate(sentences):
        if number % per_document == 0:
            lines += ["-DOCSTART- -X- O", ""]
        before = "O"
        for i, token in enumerate(sentence):
            name = token.upos == "PROPN"
            type_ = NAMES.get(categories.get(token.lemma, ""), "") if name else ""
            tag = f"{'I' if before == type_ else 'B'}-{type_}" if type_ else "O"
            before = type_ or "O"
            form = token.form.capitalize() if name or i == 0 else token.form
            lines.append(f"{form} {token.xpos} {tag}")
        lines.append("")
    return "\n".join(lines) + "\n"


def conllulex(sentences: Sequence[tuple[str, Sequence[Token]]], categories: dict[str, dict[str, str]]) -> str:
    """STREUSLE's 19 columns: those of CoNLL-U and nine more, in which nouns and verbs have their supersense.

    ``categories``: of words by part of speech.
    """
    lines = []
    for name, sentence in sentences:
        lines += [f"# sent_id = {name}", f"# text = {' '.join(token.form for token in sentence)}"]
        for row in rows(list(sentence)):
            number = row.split("\t")[0]
            more = ["_"] * 9
            if number.isdigit():
                token = sentence[int(number) - 1]
                category = categories.get(token.upos, {}).get(token.lemma, "")
                sense = SUPERSENSES.get(category, "_")
                kind = {"n": "N", "v": "V"}.get(sense[0], token.upos)
                more[1:4] = [kind, token.lemma, sense]
                more[8] = f"O-{kind}" + (f"-{sense}" if sense != "_" else "")
            lines.append("\t".join([row, *more]))
        lines.append("")
    return "\n".join(lines) + "\n"
