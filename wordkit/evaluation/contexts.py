"""A word in its sentences, as distributions over the classes of a hidden Markov tree model (Grave, thesis, 2014, Figure 2.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordkit.errors import WordkitError
from wordkit.models.tree_model import TreeModel
from wordkit.tally import Tally


@dataclass(frozen=True)
class Contexts:
    """``vectors``: (words + occurrences, C), the words out of context first; ``words``; ``sentences``: the words around each;
    ``total``: how many occurrences there are."""

    vectors: np.ndarray
    words: list[str]
    sentences: list[str]
    total: int


def contexts_of(
    model: TreeModel,
    word: str,
    others: Sequence[str],
    path: str,
    tally: Tally,
    *,
    format: str = "auto",
    most: int = 12,
    name: str = "model",
) -> Contexts:
    """The distributions over classes of a word and of others in the training data, and of the word in its first sentences.

    Args:
        path: sentences, in a format that the model reads.
        most: occurrences that are kept.
        name: of the model, for errors.

    Raises:
        WordkitError: a word that the model does not know, or that is in no sentence.
    """
    vocabulary = model.model.vocabulary_
    lowercase = bool(model.reading["lowercase"])  # of lemma/pos the tag keeps its case
    words = [each.lower() if lowercase and each not in vocabulary.index else each for each in (word, *others)]
    words = list(dict.fromkeys(words))
    for each in words:
        if each not in vocabulary.index:
            raise WordkitError(f"{name}: does not know the word `{each}` (--token {model.reading['token']})")
    number = vocabulary.index[words[0]]
    rows: list[np.ndarray] = []
    sentences: list[str] = []
    total = 0
    corpus = model.read([path], tally, format=format)
    inference = model.model.inference("exact")
    for trees in corpus.batches(256):
        places = np.flatnonzero(trees.words == number)
        total += len(places)
        if not len(places) or len(rows) >= most:
            continue
        posteriors = inference.posteriors(trees, model.model.statistics_)
        for place in places[: most - len(rows)].tolist():
            sentence = int(np.searchsorted(trees.offsets, place, side="right")) - 1
            lo, hi = int(trees.offsets[sentence]), int(trees.offsets[sentence + 1])
            tokens = [vocabulary.words[i] for i in trees.words[lo:hi].tolist()]
            if model.reading["token"] == "lemma/pos":
                tokens = [token.rpartition("/")[0] or token for token in tokens]
            tokens[place - lo] = f"[{tokens[place - lo]}]"
            rows.append(posteriors[place])
            sentences.append(" ".join(tokens))
    if not rows:
        raise WordkitError(f"{path}: the word `{words[0]}` is in none of its sentences")
    out = model.model.statistics_.classes_of(np.array([vocabulary.index[each] for each in words]))
    return Contexts(np.concatenate([out, np.array(rows)]), words, sentences, total)
