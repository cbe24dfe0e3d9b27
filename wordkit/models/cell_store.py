"""Cells of a sparse matrix, row after row, as they are made: in memory up to a limit, beyond it in temporary files."""

from __future__ import annotations

import os

import numpy as np

from wordkit.models.array_spool import ArraySpool


class CellStore:
    """Columns (int32) and values of cells, and the lengths of their rows.

    Args:
        dtype: type of the values.
        limit: bytes in memory; once there are more, all go to files that no one sees, and that are gone with the store.
        folder: where these lie; the system's folder for temporary files by default.

    ``len()`` is the number of cells.
    """

    def __init__(self, dtype: type, limit: int, folder: str | os.PathLike[str] | None = None) -> None:
        self.dtype, self._limit, self._folder = np.dtype(dtype), limit, folder
        self._columns: list[np.ndarray] = []
        self._values: list[np.ndarray] = []
        self._lengths: list[np.ndarray] = []
        self._spools: tuple[ArraySpool, ArraySpool] | None = None
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def spilled(self) -> bool:
        """Whether the cells are in files."""
        return self._spools is not None

    def append(self, columns: np.ndarray, values: np.ndarray, lengths: np.ndarray) -> None:
        """Add rows; the arrays are kept as they are.

        Raises:
            WordkitError: the disk is full.
        """
        self._size += len(columns)
        self._lengths.append(lengths)
        self._columns.append(columns)
        self._values.append(values)
        if self._spools is None and self._size * (4 + self.dtype.itemsize) > self._limit:
            self._spools = ArraySpool(np.int32, self._folder), ArraySpool(self.dtype.type, self._folder)
        if self._spools is not None:
            for spool, waiting in zip(self._spools, (self._columns, self._values), strict=True):
                for array in waiting:
                    spool.append(array)
                waiting.clear()

    def starts(self) -> np.ndarray:
        """(rows + 1) int64: where each row begins."""
        return np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *self._lengths]))])

    def read(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Columns and values of the cells from ``start`` to ``stop``, of a store that is in files; any thread may ask."""
        if self._spools is None:
            raise ValueError("the cells are in memory")
        columns, values = self._spools
        return columns.read(start, stop), values.read(start, stop)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """All columns and values, which the store then gives up; those in files are mapped, not read."""
        if self._spools is not None:
            columns, values = self._spools
            return columns.mapped(), values.mapped()
        joined = []
        for dtype, waiting in ((np.dtype(np.int32), self._columns), (self.dtype, self._values)):
            joined.append(np.concatenate([np.empty(0, dtype), *waiting]))
            waiting.clear()  # before the next are joined: only one kind is there twice
        return joined[0], joined[1]
