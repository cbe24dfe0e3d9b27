"""Standard streams and signals of the process, set up once before anything else runs."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class _Forgiving(io.RawIOBase):
    """A descriptor whose writes never fail: what is said on a closed or full standard error goes nowhere.

    A message that cannot be shown must not end a training.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        try:
            return os.write(self._descriptor, data)
        except OSError:
            return len(data)


def set_up() -> None:
    """UTF-8 with plain line feeds under every locale, a standard error that never fails, signals that end a run cleanly."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller: what would be said there goes nowhere
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Forgiving(sys.stderr.fileno())),
        encoding="utf-8",
        errors="surrogateescape",
        newline="\n",
        line_buffering=True,
    )
    for number in heeded(STOP_SIGNALS):
        signal.signal(number, _interrupt)


def heeded(signals: tuple[int, ...]) -> list[int]:
    """Those that the caller has not told this process to ignore (``trap '' INT``, nohup)."""
    return [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]


_interrupted: list[int] = []  # signals that have raised KeyboardInterrupt


def _interrupt(number: int, frame: object) -> None:
    _interrupted.append(number)
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Whether a signal has raised KeyboardInterrupt: some libraries turn it into an ImportError while they are loaded."""
    return bool(_interrupted)


def drop_output() -> None:
    """After a closed pipe or a full disk: let the interpreter's own flush at exit go nowhere instead of complaining."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


def say(text: str) -> None:
    """A line on standard error."""
    sys.stderr.write(f"wordkit: {text}\n")
    sys.stderr.flush()
