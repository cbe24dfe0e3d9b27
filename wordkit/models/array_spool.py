"""Arrays that grow on disk and are read again in pieces: for corpora that memory may not hold."""

from __future__ import annotations

import os
import tempfile
import threading
import weakref

import numpy as np

from wordkit.errors import WordkitError

_PENDING_BYTES = 1 << 20  # written at once


class ArraySpool:
    """One array of numbers in a temporary file without a name: whatever ends the process, nothing is left behind.

    Args:
        dtype: type of the numbers.
        folder: where the file lies; the default is the system's folder for temporary files (``TMPDIR``).

    ``len()`` is the number of elements.
    """

    def __init__(self, dtype: type, folder: str | os.PathLike[str] | None = None) -> None:
        self.dtype = np.dtype(dtype)
        self._folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._size = self._waiting = 0
        self._pending: list[np.ndarray] = []
        self._lock = threading.Lock()
        try:
            self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise self._told(error) from None
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._size

    def append(self, array: np.ndarray) -> None:
        """Add a copy of the elements at the end.

        Raises:
            WordkitError: the disk is full.
        """
        self._pending.append(array.astype(self.dtype))
        self._size += len(array)
        self._waiting += array.size * self.dtype.itemsize
        if self._waiting >= _PENDING_BYTES:
            self._write()

    def read(self, start: int, stop: int) -> np.ndarray:
        """A new array of the elements from ``start`` to ``stop``; other threads may read as well."""
        out = np.empty(max(stop - start, 0), dtype=self.dtype)
        with self._lock:
            self._write()
            self._file.seek(start * self.dtype.itemsize)
            view, done = out.view(np.uint8).data, 0
            while done < len(view):
                got = self._file.readinto(view[done:])
                if not got:
                    raise IndexError(f"elements {start} to {stop} of {self._size}")
                done += got
        return out

    def mapped(self) -> np.ndarray:
        """All elements as an array that lies in the file: the system reads them when they are looked at, and may drop them.

        It may be written to, which the file does not see, and outlives the spool.
        """
        with self._lock:
            self._write()
            if not self._size:
                return np.empty(0, dtype=self.dtype)
            return np.asarray(np.memmap(self._file, dtype=self.dtype, mode="c", shape=(self._size,)))

    def _write(self) -> None:
        if not self._pending:
            return
        data = np.concatenate(self._pending).view(np.uint8).data
        self._pending, self._waiting = [], 0
        try:
            self._file.seek(0, os.SEEK_END)
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            raise self._told(error) from None

    def _told(self, error: OSError) -> WordkitError:
        hint = "; the corpus is kept there while it is in use, TMPDIR names another folder"
        return WordkitError(f"{self._folder}: {error.strerror or error}{hint}")
