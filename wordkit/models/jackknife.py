"""Parses of a treebank by parsers that have not seen the sentences: each part by a parser trained on all others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wordkit._kernels.tree_shape import check_trees
from wordkit.checks import array_of, require
from wordkit.models.dependency_parser import DependencyParser
from wordkit.models.tagged_sentences import TaggedSentences
from wordkit.monitor import Monitor
from wordkit.parallel import map_blocks

Parsed = list[tuple[np.ndarray, np.ndarray]]  # heads (K, n) and scores (K,) of each sentence


class Jackknife:
    """Folds of a treebank, which are runs of sentences: neighbours, often of one document, stay together.

    Args:
        sentences: of which the heads are trees.
        n_words, n_tags: sizes of the vocabularies; number 0 is the unknown word or tag.
        parameters: of :class:`DependencyParser`.
        folds: at least 2, at most the number of sentences.
        k: trees a sentence.
        min_count: words that are rarer outside a fold are unknown to its parser, as they would be to one that had never seen it.
        final: train a parser on everything as well.

    Attributes:
        parsed: the folds that are done.
        final_: the parser trained on everything, when it is.
    """

    def __init__(
        self, sentences: TaggedSentences, n_words: int, n_tags: int, parameters: Mapping[str, Any], *, folds: int, k: int,
        min_count: int, final: bool,
    ) -> None:  # fmt: skip
        if not 2 <= folds <= len(sentences):
            raise ValueError(
                f"{folds} folds of {len(sentences)} sentences; expected 2 to the number of sentences"
            )
        self.sentences, self.n_words, self.n_tags = sentences, n_words, n_tags
        self.parameters, self.k, self.min_count = dict(parameters), k, min_count
        self.bounds = [len(sentences) * fold // folds for fold in range(folds + 1)]
        self.parsed: dict[int, Parsed] = {}
        self.wants_final = final
        self.final_: DependencyParser | None = None

    @property
    def folds(self) -> int:
        return len(self.bounds) - 1

    @property
    def begun(self) -> bool:
        """Whether there is anything that a checkpoint would keep."""
        return bool(self.parsed) or self.final_ is not None

    def work(self) -> int:
        """Sentences that are still to be learned from, each epoch counted, and to be parsed."""
        n, epochs = len(self.sentences), self.parameters["epochs"]
        left = [self.bounds[f + 1] - self.bounds[f] for f in range(self.folds) if f not in self.parsed]
        final = n * epochs if self.wants_final and self.final_ is None else 0
        return sum((n - size) * epochs + size for size in left) + final

    def run(
        self, *, threads: int = 1, monitor: Monitor | None = None, on_fold: Callable[[], None] = lambda: None
    ) -> Parsed:
        """Do what is not done yet, folds side by side; the parses of all sentences in their order.

        Args:
            on_fold: called after each fold, by one thread at a time.

        Raises:
            Interrupted: the monitor was asked to stop; ``parsed`` has the folds that were done.
        """
        monitor, lock = Monitor() if monitor is None else monitor, threading.Lock()
        monitor.begin(self.work(), "sentences")

        def job(fold: int) -> None:
            mine = _FoldMonitor(monitor, fold, lock)
            if fold == self.folds:
                parser = self._parser(self.sentences, self.sentences, mine)[0]
                with lock:
                    self.final_ = parser
                    on_fold()
                return
            numbers = np.arange(len(self.sentences))
            inside = (numbers >= self.bounds[fold]) & (numbers < self.bounds[fold + 1])
            others, own = self.sentences.part(numbers[~inside]), self.sentences.part(numbers[inside])
            parser, own = self._parser(others, own, mine)
            parsed = parser.parse(own, self.k, monitor=mine)
            with lock:
                self.parsed[fold] = parsed
                on_fold()

        jobs = [fold for fold in range(self.folds) if fold not in self.parsed]
        if self.wants_final and self.final_ is None:
            jobs.insert(0, self.folds)  # the longest job first
        map_blocks(job, jobs, threads)
        return [one for fold in range(self.folds) for one in self.parsed[fold]]

    def _parser(
        self, train: TaggedSentences, own: TaggedSentences, monitor: Monitor
    ) -> tuple[DependencyParser, TaggedSentences]:
        """A parser of some sentences, and other sentences with the words and tags that it does not know as unknown ones."""
        words = _known(train.words, self.n_words, self.min_count)
        tags = _known(train.tags, self.n_tags, 1)
        renamed = [
            TaggedSentences(words[some.words], tags[some.tags], some.heads, some.offsets)
            for some in (train, own)
        ]
        parser = DependencyParser(**self.parameters)
        return parser.fit(renamed[0], self.n_words, self.n_tags, monitor=monitor), renamed[1]

    def state(self) -> dict[str, np.ndarray]:
        """Arrays of what is done, for :meth:`restore`."""
        arrays = {}
        for fold, parsed in sorted(self.parsed.items()):
            arrays[f"trees_{fold}"] = np.array([len(scores) for _, scores in parsed], np.int64)
            arrays[f"heads_{fold}"] = np.concatenate([heads.reshape(-1) for heads, _ in parsed])
            arrays[f"scores_{fold}"] = np.concatenate([scores for _, scores in parsed])
        if self.final_ is not None:
            arrays |= self.final_.state()[0]
        return arrays

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what an earlier run of the same arguments had done; ValueError for what cannot be of one."""
        lengths = self.sentences.lengths
        for fold in range(self.folds):
            if f"trees_{fold}" not in arrays:
                continue
            own = lengths[self.bounds[fold] : self.bounds[fold + 1]]
            trees = array_of(dict(arrays), f"trees_{fold}", np.int64, (len(own),))
            require(bool(((trees >= 1) & (trees <= self.k)).all()), "a sentence has no tree or too many")
            heads = array_of(dict(arrays), f"heads_{fold}", np.int32, (int((trees * own).sum()),))
            scores = array_of(dict(arrays), f"scores_{fold}", np.float64, (int(trees.sum()),))
            require(bool(np.isfinite(scores).all()), "a score is not finite")
            _require_trees(heads, np.repeat(own, trees))
            ends, tree_ends = np.cumsum(trees * own), np.cumsum(trees)
            shaped = [
                part.reshape(size, -1)
                for part, size in zip(np.split(heads, ends[:-1]), trees.tolist(), strict=True)
            ]
            self.parsed[fold] = list(zip(shaped, np.split(scores, tree_ends[:-1]), strict=True))
        if self.wants_final and "weights" in arrays:
            values = {**self.parameters, "C": float(self.parameters["C"])}
            self.final_ = DependencyParser.from_state(
                dict(arrays), {"parser": values}, self.n_words, self.n_tags
            )


def _require_trees(heads: np.ndarray, lengths: np.ndarray) -> None:
    """ValueError for heads that are not trees of these lengths, one after the other."""
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    status, word, roots = np.empty((3, len(lengths)), np.int32)
    check_trees(heads, offsets, status, word, roots, np.empty(int(lengths.max()), np.int32))
    require(not status.any(), "heads are not trees")


def _known(numbers: np.ndarray, size: int, min_count: int) -> np.ndarray:
    """int32 (size,): each number itself, 0 for those that occur fewer than ``min_count`` times."""
    counts = np.bincount(numbers, minlength=size)
    return np.where(counts >= min_count, np.arange(size), 0).astype(np.int32)


class _FoldMonitor(Monitor):
    """Passes on what a fold tells, with its number, and what the run is asked."""

    def __init__(self, monitor: Monitor, fold: int, lock: threading.Lock) -> None:
        self._monitor, self._fold, self._lock = monitor, fold, lock

    @property
    def stopping(self) -> bool:  # type: ignore[override]
        return self._monitor.stopping

    def advance(self, done: int) -> None:
        with self._lock:
            self._monitor.advance(done)

    def epoch(self, record: Any) -> None:
        with self._lock:
            self._monitor.epoch({"fold": self._fold, **record})
