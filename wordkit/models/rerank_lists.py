"""A stream of n-best lists through a reranker: what it chooses, and how good that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from wordkit.evaluation.reranking import aggregated_fscore
from wordkit.evaluation.result import Result
from wordkit.formats.nbest import ListReader
from wordkit.formats.nbest_counts import CandidateCounts
from wordkit.formats.opening import Input
from wordkit.models.nbest_corpus import Packer
from wordkit.models.rerank_weights import score_all
from wordkit.models.reranker import Reranker
from wordkit.tally import Tally


class Reranking:
    """Reranks lists as they are read; memory does not grow with them.

    Args:
        counts: what each candidate has right, in the order of the lists.

    Attributes:
        inputs: records of what was read. unknown: values of features that the model does not know.
    """

    def __init__(self, model: Reranker, counts: CandidateCounts | None, tally: Tally) -> None:
        self.model, self._counts, self.tally = model, counts, tally
        self.inputs: list[dict] = []
        self._packer = Packer(model.table_)
        self._lists = self._known = self._candidates = 0
        self._scores, self._totals = (
            np.zeros(3),
            np.zeros((3, 3), np.int64),
        )  # of the chosen, the first, the oracle

    @property
    def unknown(self) -> int:
        return self._packer.unknown

    def choices(self, paths: Sequence[str]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each piece of the lists: their qids, the chosen place in each (from 0), and its score by the model.

        Raises:
            DataError: as of :class:`wordkit.formats.nbest.ListReader`; counts that do not belong to the lists.
        """
        n_features = int(self.model.table_.indices.max(initial=-1)) + 1
        reader = ListReader(n_features=n_features, tally=self.tally)
        for path in paths:
            with Input(path, digest=True) as source:
                for piece in reader.pieces(source):
                    packed = self._packer.packed(piece)
                    scores, best = score_all(self.model.weights_, packed, int(self.model.threads))
                    begin = packed.starts[:-1]
                    rows = np.stack([begin + best, begin, begin + packed.oracles])
                    self._scores += packed.scores[rows].sum(axis=1)
                    if self._counts is not None:
                        counts = self._counts.take(piece.candidate_qids(), reader.passed_over)
                        self._totals += counts[rows].sum(axis=1)
                    self._lists += len(packed)
                    self._known += int(np.count_nonzero(np.diff(packed.firsts)))
                    yield packed.qids, best, scores[rows[0]]
                self.inputs.append(source.record())
        if self._counts is not None:
            self._counts.finish(reader.passed_over)

    def result(self) -> Result:
        """f-scores with counts, else mean scores: of what the model chose, of the first candidates, of the best ones."""
        if self._counts is not None:
            name, values = "fscore", [aggregated_fscore(total[None]) for total in self._totals]
        else:
            name, values = "mean_score", (self._scores / self._lists).tolist()
        return Result(
            name="rerank",
            data=", ".join(record["name"] for record in self.inputs),
            metrics=dict(zip((name, f"first_{name}", f"oracle_{name}"), values, strict=True)),
            covered=self._known,
            total=self._lists,
        )
