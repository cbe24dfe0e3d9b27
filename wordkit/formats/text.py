"""Tokenized text: one sentence or document a line, tokens separated by spaces and tabs, to arrays of ids."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from wordkit._kernels import tokenizing
from wordkit.formats.opening import Input, open_output, text_blocks
from wordkit.tally import Tally


def text_lines(source: Input, tally: Tally) -> Iterator[tuple[int, str]]:
    """Numbers (from 1) and texts of all lines, which end at LF or CRLF and nowhere else; errors as :func:`text_blocks`."""
    for first, block in text_blocks(source, tally):
        lines = block.decode("utf-8").removesuffix("\n").split("\n")
        for number, line in enumerate(lines, start=first):
            yield number, line.rstrip("\r")


class TypeTable:
    """Distinct tokens (types) with numbers in order of first occurrence.

    The table grows as text is encoded. ``len()`` is the number of types.
    """

    def __init__(self) -> None:
        self.generation = 0
        self.clear()

    def clear(self) -> None:
        """Forget all types; numbers begin anew, and a :class:`TypeMap` of this table notices."""
        self.generation += 1
        self._slots = np.full(1 << 12, -1, dtype=np.int32)
        self._hashes = np.empty(1 << 11, dtype=np.uint32)
        self._offsets = np.zeros((1 << 11) + 1, dtype=np.int64)
        self._arena = np.empty(1 << 14, dtype=np.uint8)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def words(self, start: int = 0, stop: int | None = None) -> list[str]:
        """The types from number ``start`` up to ``stop`` (all that follow), as strings."""
        stop = self._size if stop is None else stop
        begin = self._offsets[start]
        cuts = (self._offsets[start : stop + 1] - begin).tolist()
        arena = self._arena[begin : self._offsets[stop]].tobytes()
        if arena.isascii():  # then bytes and characters are the same, and one decoding serves all
            text = arena.decode("ascii")
            return [text[a:b] for a, b in itertools.pairwise(cuts)]
        return [arena[a:b].decode("utf-8") for a, b in itertools.pairwise(cuts)]

    def starting_with(self, prefix: bytes, start: int = 0) -> np.ndarray:
        """Which of the types from number ``start`` on begin with some bytes (bool); none is made a string for it."""
        begin, end = self._offsets[start : self._size], self._offsets[start + 1 : self._size + 1]
        long_enough = np.flatnonzero(end - begin >= len(prefix))
        places = begin[long_enough, None] + np.arange(len(prefix))
        out = np.zeros(self._size - start, dtype=bool)
        out[long_enough] = (self._arena[places] == np.frombuffer(prefix, dtype=np.uint8)).all(axis=1)
        return out

    def _grow(self, longest: int) -> None:
        """Room for twice the types, and for a type of ``longest`` bytes."""
        if 2 * (self._size + 1) > len(self._slots):
            self._slots = np.empty(2 * len(self._slots), dtype=np.int32)
            tokenizing.rebuild_slots(self._slots, self._offsets, self._arena, self._size)
            self._hashes = np.resize(self._hashes, len(self._slots) // 2)
            self._offsets = np.resize(self._offsets, len(self._slots) // 2 + 1)
        if self._offsets[self._size] + longest > len(self._arena):
            self._arena = np.resize(self._arena, 2 * len(self._arena) + longest)

    def encode(self, block: bytes) -> tuple[np.ndarray, np.ndarray]:
        """Ids (int32) of all tokens of a block of whole lines, and the number of ids up to each line's end (int64)."""
        text = np.frombuffer(block, dtype=np.uint8)
        ids = np.empty((len(block) + 1) // 2, dtype=np.int32)
        line_ends = np.empty(block.count(b"\n") + 1, dtype=np.int64)
        at = n_ids = n_lines = 0
        while True:
            status, at, self._size, n_ids, n_lines = tokenizing.tokenize(
                text,
                at,
                self._slots,
                self._hashes,
                self._offsets,
                self._arena,
                self._size,
                ids,
                n_ids,
                line_ends,
                n_lines,
            )
            if status == tokenizing.DONE:
                return ids[:n_ids], line_ends[:n_lines]
            self._grow(_token_length(block, at))

    def encode_spans(self, block: bytes, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Ids (int32) of the byte strings ``block[starts[i]:ends[i]]``, given as int32 arrays."""
        text = np.frombuffer(block, dtype=np.uint8)
        ids = np.empty(len(starts), dtype=np.int32)
        at = 0
        while True:
            status, at, self._size = tokenizing.encode_spans(
                text, starts, ends, at, self._slots, self._hashes, self._offsets, self._arena, self._size, ids
            )
            if status == tokenizing.DONE:
                return ids
            self._grow(int(ends[at] - starts[at]))


def _token_length(block: bytes, at: int) -> int:
    """Upper bound of the bytes of the token that begins at ``at``."""
    ends = [end for end in (block.find(c, at) for c in (b" ", b"\t", b"\n")) if end >= 0]
    return min(ends, default=len(block)) - at


class TypeMap:
    """A number for every type of a table, computed once a type: ``map(ids)`` gives them for ids.

    Args:
        types: the table; it may grow later.
        numbers: ``numbers(types, start)`` gives the numbers (int32) of the types from ``start`` on.
    """

    def __init__(self, types: TypeTable, numbers: Callable[[TypeTable, int], np.ndarray]) -> None:
        self._types, self._numbers = types, numbers
        self._map = np.empty(0, dtype=np.int32)
        self._generation = types.generation

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        if self._generation != self._types.generation:
            self._generation, self._map = self._types.generation, np.empty(0, dtype=np.int32)
        if len(self._types) > len(self._map):
            self._map = np.concatenate([self._map, self._numbers(self._types, len(self._map))])
        return self._map[ids]


@dataclass
class TokenBlock:
    """Some lines of a text as ids.

    ``line``: number of the first line, from 1. ``ids``: int32, type ids of all tokens. ``line_ends``: int64, number of ids up to
    the end of each line.
    """

    line: int
    ids: np.ndarray
    line_ends: np.ndarray


def read_token_ids(source: Input, types: TypeTable, tally: Tally) -> Iterator[TokenBlock]:
    """Stream a text as blocks of ids; ``types`` grows with it.

    Raises:
        DataError: not UTF-8, a NUL byte, or an empty input (see :func:`wordkit.formats.opening.text_blocks`).
    """
    for line, block in text_blocks(source, tally):
        yield TokenBlock(line, *types.encode(block))


def write_text(path: str | os.PathLike[str], lines: Iterable[Iterable[str]]) -> None:
    """Write token sequences, one a line, separated by a space.

    Raises:
        ValueError: a token is empty or holds a separator, and so would not be read back.
    """
    with open_output(path) as out:
        for tokens in lines:
            out.write((" ".join(map(checked_token, tokens)) + "\n").encode("utf-8"))


def checked_token(token: str) -> str:
    """The token itself, if text can hold it."""
    if not token or any(c in token for c in " \t\n\0") or token.endswith("\r"):
        raise ValueError(f"text cannot hold the token {token!r}")
    return token
