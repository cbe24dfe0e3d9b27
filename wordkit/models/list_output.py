"""What ``nbest`` writes of its lists, and what it says of them: one place for dependency trees and bracketed ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.formats.choices import read_choices
from wordkit.formats.conll import Sentence
from wordkit.formats.nbest import ListWriter, list_writer
from wordkit.formats.nbest_counts import write_counts
from wordkit.formats.opening import open_output
from wordkit.models.feature_index import FeatureIndex
from wordkit.models.list_spool import CandidateList


class ListOutput:
    """Lists, counts, one tree a sentence, names of features: those of them that are asked for.

    Args:
        options: ``output``, ``counts_out``, ``trees_out``, ``features_out`` and ``choices`` (paths or None).
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = options
        self.choices = None if options["choices"] is None else read_choices(options["choices"])
        self._lists: ListWriter | None = None
        self._trees: BinaryIO | None = None
        self._qids: list[np.ndarray] = []
        self._counts: list[np.ndarray] = []
        self._left = set(self.choices or ())  # qids of choices that no list was found for yet
        self._sums = np.zeros(
            (4, 3), np.int64
        )  # first candidates, best and worst ones, and those that are chosen
        self.n_lists = self.n_scored = self.n_candidates = self.n_dropped = 0

    @contextlib.contextmanager
    def opened(self, n_features: int | None) -> Iterator[None]:
        """While the block runs lists and trees can be added; the files appear when it ends well."""
        known = "" if n_features is None else f"{n_features + 1} features; "
        header = f"{known}1: the parser's score less that of the first candidate"
        with contextlib.ExitStack() as stack:
            if self.options["trees_out"] is not None:
                self._trees = stack.enter_context(open_output(self.options["trees_out"]))
            if self.options["output"] is not None:
                self._lists = stack.enter_context(list_writer(self.options["output"], header))
            yield
            if self._left:
                found = f"a choice for qid {min(self._left)}, which has no list"
                raise DataError(
                    self.options["choices"], None, found, "a choice for each list: choices of other lists?"
                )
            if self.options["counts_out"] is not None:
                self._write_counts()

    def add(self, one: CandidateList, index: FeatureIndex) -> None:
        """A list, after those before it."""
        shares = one.shares()
        chosen = self.pick(one.qid, len(shares))
        self._left.discard(one.qid)
        picked = one.counts[[0, int(np.argmax(shares)), int(np.argmin(shares)), chosen]]
        if one.counts[0, 1]:
            self._sums += picked
            self.n_scored += 1
        self.n_lists += 1
        self.n_candidates += len(shares)
        if self._lists is not None:
            rows, dropped = one.rows(index)
            self._lists.add(one.qid, shares, rows)
            self.n_dropped += dropped
        if self.options["counts_out"] is not None:
            self._qids.append(np.full(len(shares), one.qid, np.int64))
            self._counts.append(one.counts)

    def _write_counts(self) -> None:
        if not self._sums.any():
            raise DataError(self.options["counts_out"], None, "no counts: no sentence has a gold tree")
        write_counts(self.options["counts_out"], np.concatenate(self._qids), np.concatenate(self._counts))

    def pick(self, qid: int, k: int) -> int:
        """The candidate to be written of a list of k, from 0: the chosen one, or the first where no choices are given."""
        if self.choices is None:
            return 0
        chosen = self.choices.get(qid)
        if chosen is None or chosen > k:
            found = "no candidate" if chosen is None else f"candidate {chosen}"
            raise DataError(
                self.options["choices"],
                None,
                f"{found} of qid {qid}",
                f"one of its {k}: choices of other lists?",
            )
        return chosen - 1

    def add_conll(self, sentence: Sentence, qid: int, heads: np.ndarray | None) -> None:
        """A sentence with the heads of one of its candidates (k, n); `_` for a sentence that was not parsed."""
        chosen = [-1] * len(sentence) if heads is None else heads[self.pick(qid, len(heads))].tolist()
        sentence.set_heads(chosen)
        self.add_text("\n".join(sentence.lines) + "\n")

    def add_text(self, text: str) -> None:
        """A line, or lines, of the file of trees."""
        if self._trees is not None:
            self._trees.write(text.encode() + b"\n")

    def write_names(self, names: Sequence[str]) -> None:
        """``index<TAB>feature`` a line."""
        with open_output(self.options["features_out"]) as out:
            for number, name in enumerate(["score", *names], 1):
                if "\n" in name or "\t" in name:
                    raise WordkitError(f"{self.options['features_out']}: a feature holds a tab or a line end")
                out.write(f"{number}\t{name}\n".encode())

    def metrics(self) -> dict[str, float | None]:
        """Of the first candidates, the best, the worst and the chosen ones: 2 matched / (gold + proposed) over all sentences."""
        metrics: dict[str, float | None] = {}
        for name, (matched, gold, proposed) in zip(
            ("first", "best", "worst", "chosen"), self._sums.tolist(), strict=True
        ):
            if name == "chosen" and self.choices is None:
                continue
            metrics[f"{name}_fscore"] = 2 * matched / (gold + proposed) if gold else None
        metrics["candidates"] = self.n_candidates
        if self.options["output"] is not None:
            metrics["dropped_features"] = self.n_dropped  # occurrences without an index
        return metrics
