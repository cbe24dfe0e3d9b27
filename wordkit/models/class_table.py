"""The classes of a hidden Markov tree model as people read them: words, neighbours, homonyms (thesis, Tables 2.1 to 2.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordkit.models.hmtm import HiddenMarkovTree

FOLLOWERS = 5
_ROWS = 4096


class ClassTable:
    """Most probable words of each class, and of the classes after it.

    Args:
        top: words a class.
    """

    def __init__(self, model: HiddenMarkovTree, top: int) -> None:
        self.model, self.top = model, top
        statistics = model.statistics_
        self.shares = statistics.class_shares()
        self._best = self._most_probable(statistics.emissions, min(top, len(statistics.emissions)))
        self._transitions = statistics.transition_matrix()

    @staticmethod
    def _most_probable(emissions: np.ndarray, top: int) -> np.ndarray:
        """(top, C) words with the largest emissions, best first, ties by number; a block of rows at a time."""
        best, values = np.empty((0, emissions.shape[1]), np.int64), np.empty((0, emissions.shape[1]))
        for lo in range(0, len(emissions), _ROWS):
            rows = emissions[lo : lo + _ROWS]
            numbers = np.broadcast_to(np.arange(lo, lo + len(rows))[:, None], rows.shape)
            values, best = np.concatenate([values, rows]), np.concatenate([best, numbers])
            order = np.argsort(-values, axis=0, kind="stable")[:top]
            values, best = np.take_along_axis(values, order, 0), np.take_along_axis(best, order, 0)
        return best

    def by_share(self) -> list[tuple[int, float]]:
        """All classes with their share of the tokens, largest first."""
        order = np.argsort(-self.shares, kind="stable")
        return [(int(c), float(self.shares[c])) for c in order]

    def of_word(self, word: str, least: float) -> list[tuple[int, float]]:
        """Classes that hold at least a share ``least`` of a word's tokens, largest first (Table 2.2)."""
        number = self.model.vocabulary_.index[word]
        shares = self.model.word_vectors(number, number + 1)[0]
        order = np.argsort(-shares, kind="stable")
        return [(int(c), float(shares[c])) for c in order if shares[c] >= least]

    def words(self, number: int) -> list[str]:
        """The most probable words of a class."""
        return [self.model.vocabulary_.words[w] for w in self._best[:, number].tolist()]

    def followers(self, number: int) -> list[dict[str, Any]]:
        """The most probable child classes of a class, with their words (Table 2.4); with its label if there are any."""
        columns = self._transitions[:, :, number]
        if len(columns) > 1:  # joint with the label: how often a child hangs on this class by it
            mass = self.model.statistics_.parent_mass[:, number]
            columns = columns * (mass / mass.sum())[:, None]
        flat = np.argsort(-columns, axis=None, kind="stable")[:FOLLOWERS]
        out = []
        for label, child in zip(*np.unravel_index(flat, columns.shape), strict=True):
            record: dict[str, Any] = {"class": int(child), "probability": float(columns[label, child])}
            if len(columns) > 1:
                record["label"] = self.model.label_names_[label]
            out.append({**record, "words": self.words(int(child))})
        return out
