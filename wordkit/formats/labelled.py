"""Labelled text: one document a line, ``__label__NAME token token ...``.

A token that begins with the prefix is a label wherever it stands; the label's name ends at the first space or tab. Everything
else is text, passed through as it is (``a:b``, ``|``, ``http://x``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wordkit.errors import DataError
from wordkit.formats.opening import Input
from wordkit.formats.text import TypeMap, TypeTable, read_token_ids
from wordkit.tally import Tally

PREFIX = "__label__"
MOST_CHARACTERS = (
    1000  # of a label: what is longer is a mistake, and arrays of labels are as wide as the longest
)
MULTI_LABEL = ("refuse", "first", "each")


@dataclass
class Documents:
    """Documents as ragged rows of token ids.

    ``ids``: int32, type ids of all tokens; ``ends``: int64, number of ids up to the end of each document; ``labels``:
    int32, number of each document's label in the reader's ``names``, -1 where there is none.
    """

    ids: np.ndarray
    ends: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.ends)

    @staticmethod
    def join(parts: Sequence[Documents]) -> Documents:
        """The parts one after the other."""
        shifts = np.cumsum([0, *(len(part.ids) for part in parts)])
        return Documents(
            np.concatenate([np.empty(0, np.int32), *(part.ids for part in parts)]),
            np.concatenate(
                [np.empty(0, np.int64), *(p.ends + s for p, s in zip(parts, shifts, strict=False))]
            ),
            np.concatenate([np.empty(0, np.int32), *(part.labels for part in parts)]),
        )


_HINT = " (--multi-label takes the first, or each)"


class LabelledReader:
    """Reads labelled text; several inputs share its type table and label names.

    Args:
        prefix: what a label begins with.
        multi_label: a document with several labels is an error (``refuse``), keeps its first one (``first``) or is
            repeated for each of them (``each``).
        hint: what the error adds: the option that says otherwise, where there is one.

    ``names``: labels in order of first occurrence. ``blank_lines``: lines without any token, passed over by :meth:`labelled`.
    """

    def __init__(self, *, prefix: str = PREFIX, multi_label: str = "refuse", hint: str = _HINT) -> None:
        if multi_label not in MULTI_LABEL:
            raise ValueError(f"multi_label is {multi_label!r}, expected one of {MULTI_LABEL}")
        self.prefix, self.multi_label, self._hint = prefix, multi_label, hint
        self.types = TypeTable()
        self.names: list[str] = []
        self.blank_lines = 0
        self._numbers: dict[str, int] = {}
        self._unfit: dict[int, str] = {}  # labels that are no names, and what to say of them
        self._label_of = TypeMap(self.types, self._label_numbers)

    def _label_numbers(self, types: TypeTable, start: int) -> np.ndarray:
        """For the types from ``start`` on: number of the label that each is, -1 for words."""
        prefixed = np.flatnonzero(types.starting_with(self.prefix.encode("utf-8"), start))
        numbers = np.full(len(types) - start, -1, dtype=np.int32)
        for i in prefixed.tolist():
            name = types.words(start + i, start + i + 1)[0][len(self.prefix) :]
            numbers[i] = self._numbers.setdefault(name, len(self.names))
            if numbers[i] == len(self.names):
                self.names.append(name)
                if not name:
                    self._unfit[int(numbers[i])] = f"a label without a name (`{self.prefix}`)"
                elif len(name) > MOST_CHARACTERS:
                    self._unfit[int(numbers[i])] = (
                        f"a label of {len(name)} characters, more than {MOST_CHARACTERS}"
                    )
        return numbers

    def lines(self, source: Input, tally: Tally) -> Iterator[Documents]:
        """One document a line, blank ones too, labels left out of the text and not asked for."""
        prefix = self.prefix.encode("utf-8")
        is_label = TypeMap(self.types, lambda types, start: types.starting_with(prefix, start))
        for block in read_token_ids(source, self.types, tally):
            text = ~is_label(block.ids).astype(bool)
            ends = np.concatenate([[0], np.cumsum(text)])[block.line_ends]
            yield Documents(block.ids[text], ends, np.full(len(ends), -1, dtype=np.int32))

    def labelled(self, source: Input, tally: Tally) -> Iterator[Documents]:
        """Documents with exactly one label.

        Raises:
            DataError: a line with text and no label, with several labels (unless ``multi_label`` says otherwise), or an
                empty label; counted and passed over where the tally says so.
        """
        for block in read_token_ids(source, self.types, tally):
            label_of = self._label_of(block.ids)
            is_label = label_of >= 0
            n_labels = np.diff(
                np.concatenate([[0], np.cumsum(is_label)])[np.concatenate([[0], block.line_ends])]
            )
            n_tokens = np.diff(block.line_ends, prepend=0)
            self.blank_lines += int(np.count_nonzero(n_tokens == 0))
            unfit: dict[int, str] = {}  # rows with a label that is no name, and what it is
            if self._unfit:
                places = np.flatnonzero(np.isin(label_of, list(self._unfit)))
                rows = np.searchsorted(block.line_ends, places, side="right")
                for row, number in zip(rows.tolist(), label_of[places].tolist(), strict=True):
                    unfit.setdefault(row, self._unfit[number])
            bad = (n_labels == 0) & (n_tokens > 0)
            bad[list(unfit)] = True
            if self.multi_label == "refuse":
                bad |= n_labels > 1
            for row in np.flatnonzero(bad).tolist():
                tally.invalid(*self._fault(source.name, block.line + row, int(n_labels[row]), unfit.get(row)))
            copies = n_labels if self.multi_label == "each" else np.minimum(n_labels, 1)
            yield _select(block.ids, block.line_ends, label_of, np.where(bad, 0, copies))

    def _fault(self, name: str, line: int, n_labels: int, unfit: str | None) -> tuple[DataError, str]:
        """What to say of a line that is not one labelled document, and the kind of fault."""
        if unfit:
            return DataError(name, line, unfit), "label without a name"
        if n_labels:
            return DataError(name, line, f"{n_labels} labels", f"one{self._hint}"), "line with several labels"
        return DataError(
            name, line, "no label", f"a token that begins with `{self.prefix}`"
        ), "line without a label"


def _select(ids: np.ndarray, line_ends: np.ndarray, label_of: np.ndarray, copies: np.ndarray) -> Documents:
    """Rows repeated ``copies`` times (0: left out), a copy for each of a row's first labels, label tokens taken out."""
    is_label = label_of >= 0
    starts = np.concatenate([[0], line_ends[:-1]])
    labels_before = np.concatenate([[0], np.cumsum(is_label)])
    labels = label_of[is_label]
    rows = np.repeat(np.arange(len(copies)), copies)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
    row_labels = labels[labels_before[starts[rows]] + nth].astype(np.int32)
    text = ids[~is_label]
    text_before = np.concatenate([[0], np.cumsum(~is_label)])
    if np.array_equal(copies, np.ones_like(copies)):  # the usual case: nothing to rearrange
        return Documents(text, text_before[line_ends], row_labels)
    begin, end = text_before[starts[rows]], text_before[line_ends[rows]]
    pieces = [text[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True)]
    return Documents(np.concatenate([np.empty(0, np.int32), *pieces]), np.cumsum(end - begin), row_labels)
