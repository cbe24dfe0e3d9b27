"""Supersenses of nouns and verbs by a linear classifier over word representations (Grave 2014, section 4.4).

The classifier is scikit-learn's linear support vector machine (of the extra ``eval``), one against the rest, over
features such that its kernel is the Hellinger kernel of the representations: sum_i sqrt(p_i q_i), the product of the
square roots. One classifier tells all supersenses, those of nouns and verbs, apart; accuracy is over both, and of
each.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from wordkit import rng
from wordkit.errors import MissingLibrary, WordkitError
from wordkit.evaluation.classification import classification_result
from wordkit.evaluation.result import Result, Sample
from wordkit.evaluation.token_features import TokenFeatures, covered
from wordkit.formats.supersenses import Supersenses, kind_of

KERNELS = ("auto", "hellinger", "linear")
_MOST_ITERATIONS = 5000


def linear_svm() -> Any:
    """scikit-learn's class. Raises WordkitError where it is not installed."""
    try:
        from sklearn.svm import LinearSVC
    except ImportError:
        raise MissingLibrary("evaluate supersense needs", "scikit-learn", "eval") from None
    return LinearSVC


@dataclass(frozen=True)
class SenseItems:
    """The words with a supersense of one data set.

    Attributes:
        name: the data set.
        words, labels: str (items,).
        sentences: int64 (items,), number of each one's sentence, of ``n_sentences``.
        known: bool (items,), whether a representation knows it; None where there is none.
        blocks: a matrix (items, features) a representation.
        others: words with other supersenses, which are no items.
    """

    name: str
    words: np.ndarray
    labels: np.ndarray
    sentences: np.ndarray
    n_sentences: int
    known: np.ndarray | None
    blocks: Sequence[scipy.sparse.csr_array]
    others: int = 0

    def __len__(self) -> int:
        return len(self.labels)


def sense_items(data: Supersenses, features: Sequence[TokenFeatures], kernel: str = "auto") -> SenseItems:
    """The items of a data set with their features.

    Args:
        features: one a representation, over all tokens.
        kernel: ``hellinger``: square roots; of vectors, after division by their sum. ``linear``: as they are; vectors
            divided by their
            length. ``auto``: hellinger, but linear for vectors with negative values.

    Raises:
        WordkitError: negative values, and hellinger was asked for.
        ValueError: no such kernel.
    """
    if kernel not in KERNELS:
        raise ValueError(f"kernel is {kernel!r}, expected one of {', '.join(KERNELS)}")
    labels = [label for own in data.labels for label in own]
    words = [word for own in data.words for word in own]
    at = np.flatnonzero([bool(label) for label in labels])
    sentences = np.repeat(np.arange(len(data.words)), [len(own) for own in data.words])
    return SenseItems(
        name=data.name,
        words=np.array([words[i] for i in at], dtype=object),
        labels=np.array([labels[i] for i in at], dtype=np.str_),
        sentences=sentences[at],
        n_sentences=len(data.words),
        known=covered(features)[at] if features else None,
        blocks=[_mapped(part, kernel).matrix()[at] for part in features],
        others=data.others,
    )


def kernel_of(features: Sequence[TokenFeatures], kernel: str) -> str:
    """Which kernel ``auto`` stands for."""
    if kernel != "auto":
        return kernel
    negative = any(part.kind == "vectors" and part.table.size and part.table.min() < 0 for part in features)
    return "linear" if negative else "hellinger"


def _mapped(part: TokenFeatures, kernel: str) -> TokenFeatures:
    """Features whose inner product is the kernel."""
    table, vectors = part.table, part.kind == "vectors"
    kernel = kernel_of([part], kernel)
    if kernel == "hellinger" and table.size and table.min() < 0:
        raise WordkitError(
            "the vectors hold negative values: the hellinger kernel is for probabilities (--kernel linear)"
        )
    if vectors:
        norm = table.sum(axis=1) if kernel == "hellinger" else np.sqrt((table**2).sum(axis=1))
        table = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / np.where(norm > 0, norm, 1)) @ table)
    return TokenFeatures(
        part.kind, table.sqrt() if kernel == "hellinger" else table, part.rows, part.known, part.names
    )


@dataclass(frozen=True)
class Predicted:
    """``labels``: str (items,); ``baseline``: those of the most frequent supersense of each word in the training
    data; ``seen``: bool (items,), whether the word is there; ``folds``: accuracy of each; ``converged``: whether all
    fits met their tolerance."""

    labels: np.ndarray
    baseline: np.ndarray
    seen: np.ndarray
    folds: Sequence[float]
    converged: bool


def train_and_predict(
    train: SenseItems, test: SenseItems, *, C: float = 1.0, lexicalized: bool = True
) -> Predicted:
    """Learn from one data set, and label another.

    Raises:
        WordkitError: fewer than two supersenses to learn; neither words nor a representation; scikit-learn is not installed.
    """
    if not lexicalized and not train.blocks:
        raise WordkitError("words are no features, and there is no representation: nothing to learn from")
    classes = np.unique(train.labels)
    if len(classes) < 2:
        raise WordkitError(
            f"{train.name}: {len(classes)} supersense to learn; a classifier needs two at least"
        )
    x, y = _matrices(train, test, lexicalized)
    # The primal problem: no random order of coordinates, and a solution that does not depend on one.
    model = linear_svm()(C=C, dual=False, max_iter=_MOST_ITERATIONS)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(x, train.labels)
    labels = model.predict(y) if len(test) else np.array([], dtype=np.str_)
    table = _most_frequent(train)
    return Predicted(
        labels,
        np.array([table.get(word, table[None]) for word in test.words], dtype=np.str_),
        np.array([word in table for word in test.words], dtype=bool),
        [float(np.mean(labels == test.labels))] if len(test) else [],
        not any("converge" in str(warning.message) for warning in said),
    )


def cross_validate(
    data: SenseItems, k: int, seed: int, *, C: float = 1.0, lexicalized: bool = True
) -> Predicted:
    """Each item's label from what was learned on the other folds; all items of a sentence are in one fold.

    Raises:
        WordkitError: fewer sentences than folds, and as :func:`train_and_predict`.
    """
    if k < 2 or data.n_sentences < k:
        raise WordkitError(f"{data.name}: {data.n_sentences} sentences are not enough for {k} folds")
    fold = (rng.stream(seed, rng.FOLDS).permutation(data.n_sentences) % k)[data.sentences]
    labels = np.empty(len(data), dtype=data.labels.dtype)
    baseline, seen = np.empty_like(labels), np.zeros(len(data), dtype=bool)
    folds: list[float] = []
    converged = True
    for number in range(k):
        test = np.flatnonzero(fold == number)
        found = train_and_predict(
            _some(data, np.flatnonzero(fold != number)), _some(data, test), C=C, lexicalized=lexicalized
        )
        labels[test], baseline[test], seen[test] = found.labels, found.baseline, found.seen
        folds += found.folds
        converged &= found.converged
    return Predicted(labels, baseline, seen, folds, converged)


def _some(data: SenseItems, at: np.ndarray) -> SenseItems:
    known = None if data.known is None else data.known[at]
    blocks = [block[at] for block in data.blocks]
    return SenseItems(
        data.name, data.words[at], data.labels[at], data.sentences[at], data.n_sentences, known, blocks
    )


def _matrices(train: SenseItems, test: SenseItems, lexicalized: bool) -> Iterator[scipy.sparse.csr_array]:
    """Features of both: the representations side by side, and with ``lexicalized`` the words of the training data."""
    number = {word: i for i, word in enumerate(dict.fromkeys(train.words))} if lexicalized else {}
    for part in (train, test):
        blocks = list(part.blocks)
        if lexicalized:
            columns = np.array([number.get(word, -1) for word in part.words], dtype=np.int64)
            rows = np.flatnonzero(columns >= 0)
            shape = len(part), len(number)
            blocks.append(scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns[rows])), shape=shape))
        found = scipy.sparse.hstack(blocks, format="csr")
        yield scipy.sparse.csr_array(  # scikit-learn takes no wider indices
            (found.data, found.indices.astype(np.int32), found.indptr.astype(np.int32)), shape=found.shape
        )


def _most_frequent(train: SenseItems) -> Mapping[str | None, str]:
    """The most frequent label of each word, of equal ones the first by name; of all items under None."""
    counts: dict[str | None, Counter[str]] = {None: Counter(train.labels.tolist())}
    for word, label in zip(train.words, train.labels.tolist(), strict=True):
        counts.setdefault(word, Counter())[label] += 1
    return {word: min(own, key=lambda label: (-own[label], label)) for word, own in counts.items()}


def supersense_result(
    data: SenseItems, predicted: Predicted, *, known_labels: np.ndarray, parameters: Mapping[str, Any]
) -> Result:
    """Accuracy of predicted supersenses.

    Args:
        known_labels: those of the training data.

    Returns:
        A :class:`Result` with ``accuracy`` over nouns and verbs, ``noun_accuracy`` and ``verb_accuracy``;
        ``precision``, ``recall`` and ``f1``, unweighted means over the supersenses that occur; ``baseline_accuracy``.
        Undefined ones are None. ``covered`` and ``total`` are items. Details: ``folds``, ``items`` of each kind,
        ``other_labels`` (words with supersenses of neither kind), and ``per_class``, ``confusion``, ``unseen_labels``
        of :func:`classification_result`.
    """
    is_known = predicted.seen if data.known is None else data.known
    of_classes = classification_result(
        data.labels,
        predicted.labels,
        data=data.name,
        covered=int(np.count_nonzero(is_known)),
        known=known_labels,
    )
    per_class = of_classes.details["per_class"].values()
    means = {
        name: float(np.mean([scores[name] for scores in per_class])) if per_class else None
        for name in ("precision", "recall", "f1")
    }
    kinds = np.array([kind_of(label) for label in data.labels.tolist()], dtype=np.str_)
    right = predicted.labels == data.labels
    return Result(
        name="supersense",
        data=data.name,
        metrics={
            "accuracy": _mean(right),
            "noun_accuracy": _mean(right[kinds == "noun"]),
            "verb_accuracy": _mean(right[kinds == "verb"]),
            **means,
            "baseline_accuracy": _mean(predicted.baseline == data.labels),
        },
        covered=of_classes.covered,
        total=of_classes.total,
        details={
            "folds": list(predicted.folds),
            "items": {kind: int(np.count_nonzero(kinds == kind)) for kind in ("noun", "verb")},
            "other_labels": data.others,
            "converged": predicted.converged,
            **of_classes.details,
        },
        parameters=parameters,
        samples={
            f"{kind}accuracy": _by_sentence(data, right, among)
            for kind, among in (
                ("", np.ones(len(data), bool)), ("noun_", kinds == "noun"), ("verb_", kinds == "verb"),
            )
        },
    )  # fmt: skip


def _by_sentence(data: SenseItems, right: np.ndarray, among: np.ndarray) -> Sample:
    """The sentences behind the share of right items among some: words of one sentence are no independent items."""
    right_ones, all_ones = (
        np.bincount(data.sentences[rows], minlength=data.n_sentences) for rows in (right & among, among)
    )
    return Sample.of_ratio(right_ones, all_ones)


def _mean(right: np.ndarray) -> float | None:
    return float(np.mean(right)) if len(right) else None
