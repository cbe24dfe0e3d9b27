"""Named entities by a linear-chain conditional random field over word representations (Grave 2014, section 4.3).

A token's features are whether it is capitalized, its part of speech where the data have one, its representation, and
in the lexicalized setting the word, each also of the tokens around it. The CRF is CRFsuite's (python-crfsuite, of the
extra ``eval``): L-BFGS on the log-likelihood with a squared l2 penalty; it is trained on IOB2 tags, whatever scheme
the data follow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordkit.errors import MissingLibrary, WordkitError
from wordkit.evaluation.entities import Lexicon, entity_samples, entity_scores
from wordkit.evaluation.result import Result
from wordkit.evaluation.token_features import TokenFeatures, covered
from wordkit.formats.entity_tags import entities, iob2, scheme_of
from wordkit.formats.tagged import Tagged
from wordkit.monitor import Monitor

MOST_ITERATIONS = 300


def crfsuite() -> Any:
    """The module pycrfsuite. Raises WordkitError where it is not installed."""
    try:
        import pycrfsuite
    except ImportError:
        raise MissingLibrary("evaluate ner needs", "python-crfsuite", "eval") from None
    return pycrfsuite


@dataclass(frozen=True)
class TaggedData:
    """Sentences of a data set with all that their features come from.

    ``features``: one :class:`TokenFeatures` a representation, over all tokens of the sentences.
    """

    tagged: Tagged
    features: Sequence[TokenFeatures] = ()

    def iob2(self, scheme: str) -> list[list[str]]:
        """The tags as IOB2 tags of the entities that they mark."""
        return [iob2(len(tags), entities(tags, scheme)) for tags in self.tagged.tags]


def items(
    data: TaggedData, *, lexicalized: bool = True, pos: bool = True, window: int = 1
) -> Iterator[list[dict[str, Any]]]:
    """The features of each token, sentence by sentence, as CRFsuite takes them.

    Args:
        lexicalized: words are features. pos: so are parts of speech, where there are any.
        window: how many tokens on either side lend a token their features.
    """
    tagged = data.tagged
    cells = [part.cells() for part in data.features]
    first = 0
    for number, words in enumerate(tagged.words):
        own: list[list[tuple[str, Any]]] = []
        tags = tagged.pos[number] if pos and tagged.pos is not None else None
        for i, word in enumerate(words):
            found: list[tuple[str, Any]] = [("upper" if word[:1].isupper() else "lower", 1.0)]
            if tags is not None:
                found.append(("pos", tags[i]))
            if lexicalized:
                found.append(("word", word))
            for k, part in enumerate(data.features):
                if (row := int(part.rows[first + i])) >= 0:
                    found.append((f"r{k}", cells[k][row]))
            own.append(found)
        first += len(words)
        yield [_around(own, i, window) for i in range(len(words))]


def _around(own: Sequence[Sequence[tuple[str, Any]]], at: int, window: int) -> dict[str, Any]:
    """The features of the tokens from ``window`` before to ``window`` behind, the names saying which; and one that is
    always there."""
    found: dict[str, Any] = {"bias": 1.0}
    for offset in range(-window, window + 1):
        if 0 <= at + offset < len(own):
            found |= {f"{name}[{offset}]": value for name, value in own[at + offset]}
        else:
            found[f"edge[{offset}]"] = 1.0
    return found


@dataclass
class EntityTagger:
    """A conditional random field over the features of :func:`items`.

    Args:
        lam: weight of the sum of squares of all weights.
        lexicalized, pos, window: as for :func:`items`.

    Attributes:
        scale: of each representation: word vectors are divided by the root of the mean squared length of the training words'.
        iterations, converged: of the training; n_features: weights that it learned.
    """

    lexicalized: bool = True
    pos: bool = True
    window: int = 1
    lam: float = 0.1
    scheme: str = "conlleval"
    scale: list[float] = field(default_factory=list)
    iterations: int = 0
    n_features: int = 0
    converged: bool = False
    _tagger: Any = None

    def fit(self, data: TaggedData, monitor: Monitor | None = None) -> EntityTagger:
        """Learn from sentences and their tags.

        Raises:
            WordkitError: no entity in them; python-crfsuite is not installed.
        """
        module = crfsuite()
        tags = data.iob2(self.scheme)
        if not any(tag != "O" for own in tags for tag in own):
            raise WordkitError(
                f"{data.tagged.name}: holds no entity (--scheme {self.scheme}); nothing to learn"
            )
        self.scale = [_scale(part) for part in data.features]
        trainer = _trainer(module, monitor)
        for row, own in zip(self._items(data), tags, strict=True):
            trainer.append(module.ItemSequence(row), own)
        trainer.set_params({"c2": self.lam, "max_iterations": MOST_ITERATIONS})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "crf")
            trainer.train(path)
            self._tagger = module.Tagger()
            self._tagger.open(path)  # reads it all
        log = trainer.logparser
        self.iterations = log.last_iteration["num"] if log.last_iteration else 0
        self.n_features = int(log.featgen_num_features or 0)
        self.converged = self.iterations < MOST_ITERATIONS
        return self

    def predict(self, data: TaggedData) -> list[list[str]]:
        """Tags of each sentence, among those of the training data."""
        module = crfsuite()
        return [self._tagger.tag(module.ItemSequence(row)) for row in self._items(data)]

    def _items(self, data: TaggedData) -> Iterator[list[dict[str, Any]]]:
        scaled = [
            TokenFeatures(part.kind, part.table / scale, part.rows, part.known, part.names)
            for part, scale in zip(data.features, self.scale, strict=True)
        ]
        return items(
            TaggedData(data.tagged, scaled), lexicalized=self.lexicalized, pos=self.pos, window=self.window
        )


def _scale(part: TokenFeatures) -> float:
    """What vectors are divided by; 1 for clusters, classes and probabilities, which are as they are."""
    rows = np.unique(part.rows[part.known])
    if part.kind != "vectors" or not len(rows):
        return 1.0
    return float(np.sqrt((part.table[rows] ** 2).sum() / len(rows))) or 1.0


def _trainer(module: Any, monitor: Monitor | None) -> Any:
    """A trainer that tells the monitor of its iterations."""

    class Told(module.Trainer):  # type: ignore[name-defined]
        def message(self, text: str) -> None:
            super().message(text)
            if monitor is not None and text.startswith("***** Iteration"):
                monitor.advance(1)

    if monitor is not None:
        monitor.begin(MOST_ITERATIONS, "iterations")
    return Told("lbfgs", verbose=False)


def ner_result(
    data: TaggedData, predicted: Sequence[Sequence[str]], *, parameters: Mapping[str, Any], train: TaggedData | None = None,
    lexicon: Lexicon | None = None, tagger: EntityTagger | None = None, as_given: bool = False,
) -> Result:  # fmt: skip
    """Scores of predicted tags.

    Args:
        parameters: what they depend on; ``scheme`` among them says how tags are read, see :mod:`wordkit.formats.entity_tags`.
        train: the training data, if there were any; their words count as covered where there is no representation.
        lexicon: their baseline, scored beside.
        tagger: what predicted, if it was one, for the details.
        as_given: compare with the tags of the data as they are, not as IOB2.

    Returns:
        A :class:`Result` with ``precision``, ``recall``, ``f1`` over entities and ``accuracy`` over tokens, with a lexicon also
        ``baseline_f1``; ``covered`` and ``total`` are tokens. Details as of :func:`entity_scores`, ``scheme_of_data``,
        ``pos_column``: whether there are parts of speech, ``document_marks`` left out, ``baseline`` with its scores, and
        of a tagger ``weights``, ``iterations``, ``converged``.
    """
    tagged, scheme = data.tagged, parameters["scheme"]
    gold = tagged.tags if as_given else data.iob2(scheme)
    metrics, details = entity_scores(gold, predicted, scheme)
    if lexicon is not None:
        baseline, _ = entity_scores(gold, [lexicon.tag(words) for words in tagged.words], scheme)
        metrics["baseline_f1"] = baseline["f1"]
        details["baseline"] = {**baseline, "entries": len(lexicon.types), "ambiguous": lexicon.ambiguous}
    if tagger is not None:
        details |= {
            "weights": tagger.n_features,
            "iterations": tagger.iterations,
            "converged": tagger.converged,
        }
    return Result(
        name="ner",
        data=tagged.name,
        metrics=metrics,
        covered=_covered(data, train),
        total=tagged.n_tokens,
        details={
            **details,
            "sentences": len(tagged.words),
            "scheme_of_data": scheme_of(tagged.tags),
            "pos_column": tagged.pos is not None,
            "document_marks": tagged.marks,
        },
        parameters=parameters,
        samples=entity_samples(gold, predicted, scheme),
    )


def _covered(data: TaggedData, train: TaggedData | None) -> int:
    """How many tokens a representation knows; without one, those whose word is in the training data."""
    if data.features:
        return int(np.count_nonzero(covered(data.features)))
    if train is None:
        return data.tagged.n_tokens
    seen = {word for words in train.tagged.words for word in words}
    return sum(word in seen for words in data.tagged.words for word in words)
