"""What the command line prints: results on standard output; progress, messages and warnings on standard error."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import click

from wordkit.cli.streams import STOP_SIGNALS, heeded, say
from wordkit.errors import DataError, Interrupted, WordkitError
from wordkit.evaluation.result import Result, mean_metrics
from wordkit.monitor import Monitor
from wordkit.tally import Tally

LINE_SECONDS = 10.0  # between progress lines where there is no terminal


def _flag(name: str) -> bool:
    context = click.get_current_context(silent=True)
    return bool(context and (context.find_root().obj or {}).get(name))


def is_quiet() -> bool:
    """Whether ``--quiet`` was given."""
    return _flag("quiet")


def message(text: str) -> None:
    """A line for the user, not a result."""
    if not is_quiet():
        say(text)


def report_tally(tally: Tally) -> None:
    """Say what was mended or passed over."""
    for line in tally.lines():
        message(f"warning: {line}")


def some_words(words: Sequence[str]) -> str:
    """The first ten of a list, and whether there are more."""
    return ", ".join(words[:10]) + (", ..." if len(words) > 10 else "")


def refuse_unknown(path: str, unknown: int, total: int, what: str) -> None:
    """What ``--strict`` makes of words outside the vocabulary: DataError if there are any."""
    if unknown:
        raise DataError(path, None, f"{unknown} of {total} {what} unknown", "none, with --strict")


def print_lines(lines: Iterable[str]) -> None:
    """Result lines to standard output."""
    for line in lines:
        sys.stdout.write(line + "\n")


def _number(value: Any) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    """``a/b/c<TAB>value`` for what is nested; a table of counts gives its cells that are not 0, row/column.

    A list of words or numbers is one line, spaces between them: hundreds of unknown words must not hide the rest.
    """
    if isinstance(value, Mapping) and {"labels", "counts"} <= set(value) <= {"labels", "columns", "counts"}:
        columns = value.get("columns", value["labels"])
        for name, row in zip(value["labels"], value["counts"], strict=True):
            for column, count in zip(columns, row, strict=True):
                if count:
                    yield f"{prefix}/{name}/{column}", str(count)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{prefix}/{key}", inner)
    elif isinstance(value, (list, tuple)) and any(isinstance(item, (Mapping, list, tuple)) for item in value):
        for item in value:
            yield from _flat(prefix, item)
    elif isinstance(value, (list, tuple)):
        if value:
            yield prefix, " ".join(map(_number, value))
    else:
        yield prefix, _number(value)


def _rows(result: Result, details: bool) -> Iterator[tuple[str, str]]:
    for name, value in result.metrics.items():
        yield name, _number(value)
    yield "covered", str(result.covered)
    yield "total", str(result.total)
    for name, value in result.extras.items():
        yield from _flat(name, value)
    if details:
        for name, value in result.details.items():
            yield from _flat(name, value)


def print_results(
    command: str,
    signature: str,
    seconds: float,
    results: Sequence[Result],
    *,
    as_json: bool,
    details: bool = False,
    summary: bool = False,
) -> None:
    """Print evaluations as CLI scripts expect them.

    TSV: ``name<TAB>value``; with several inputs a third column names the input; means of the metrics and sums of the items
    come first. JSON: one object
    with the metrics at the top (means over the inputs) and the single results under ``results``. With ``summary``, TSV is one
    table: a line of names, a line an input, and their mean if there are several.
    """
    several = len(results) > 1
    covered, total = sum(r.covered for r in results), sum(r.total for r in results)
    means = mean_metrics(results)
    if as_json:
        top = {"command": command, "signature": signature, "seconds": round(seconds, 3), **means}
        top |= {"covered": covered, "total": total}
        if not several and results:
            top |= results[0].beside()
        print_json({**top, "results": [result.as_dict() for result in results]})
    elif summary:
        print_lines(_table(results, means, covered, total))
    elif several:
        print_lines(f"{name}\t{_number(value)}\tmean" for name, value in means.items())
        print_lines([f"covered\t{covered}\tsum", f"total\t{total}\tsum"])
        for result in results:
            print_lines(f"{name}\t{value}\t{result.data}" for name, value in _rows(result, details))
    else:
        print_lines(f"{name}\t{value}" for result in results for name, value in _rows(result, details))
    message(f"signature: {signature}")


def tell_results(signature: str, result: Result) -> None:
    """Say one evaluation's metrics on standard error: for commands whose standard output has something else."""
    for name, value in result.metrics.items():
        message(f"{name} {_number(value)}")
    message(f"signature: {signature}")


def _table(
    results: Sequence[Result], means: Mapping[str, float | None], covered: int, total: int
) -> Iterator[str]:
    """One line a result; beside a metric its interval, and its difference from other vectors with the p-value."""
    intervals = {name for result in results for name in result.extras.get("intervals", ())}
    against = {name for result in results for name in result.extras.get("against", {}).get("differences", ())}
    names = ["data"]
    for name in means:
        names += [name, *([f"{name}_low", f"{name}_high"] if name in intervals else [])]
        names += [f"{name}_difference", f"{name}_p_value"] if name in against else []
    yield "\t".join([*names, "covered", "total"])
    for result in results:
        fields: list[Any] = [result.data]
        for name in means:
            fields.append(result.metrics.get(name))
            if name in intervals:
                bounds = result.extras["intervals"].get(name, {})
                fields += [bounds.get("low"), bounds.get("high")]
            if name in against:
                found = result.extras["against"]["differences"].get(name, {})
                fields += [found.get("difference"), found.get("p_value")]
        yield "\t".join(map(_number, [*fields, result.covered, result.total]))
    if len(results) > 1:
        fields = ["mean"]
        for name, value in means.items():
            fields += [value, *[""] * (2 * (name in intervals) + 2 * (name in against))]
        yield "\t".join(map(_number, [*fields, covered, total]))


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on one line of standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


class ProgressMonitor(Monitor):
    """Progress bar on a terminal, a plain line every ten seconds elsewhere, nothing with ``--quiet``; a JSON log by option."""

    def __init__(
        self,
        description: str,
        *,
        log: str | None = None,
        append: bool = False,
        decorate: Callable[[], Mapping[str, Any]] = dict,
        tell: bool = False,
    ) -> None:
        """``tell``: print each epoch's record, which otherwise --verbose does.

        ``decorate`` gives more numbers for the record of an epoch; ``on_epoch`` may be set to run after each, ``epochs`` to how
        many there will be.

        The file ``log`` is begun at the first epoch, not before: a run that fails earlier leaves the old one alone.
        """
        self.description, self.decorate, self.tell = description, decorate, tell
        self._log_path, self._log_mode = log, "a" if append else "w"
        self.epochs: int | None = None
        self.on_epoch: Callable[[], None] = lambda: None
        # Asked here once: other threads, which may call advance and epoch, have no click context.
        self._quiet, self._verbose = is_quiet(), _flag("verbose")
        self._born = time.monotonic()
        self._bar: Any = None
        self._unit, self._total, self._done = "", 0, 0
        self._started = self._last = time.monotonic()

    def begin(self, total: int, unit: str) -> None:
        self.close()
        self._total, self._unit, self._done = total, unit, 0
        self._started = self._last = time.monotonic()
        if not self._quiet and sys.stderr.isatty():
            from tqdm import tqdm

            # smoothing=0: time left from the rate over the whole run
            self._bar = tqdm(
                total=total or None,
                unit=unit,
                desc=self.description,
                smoothing=0,
                unit_scale=True,
                leave=False,
            )

    def advance(self, done: int) -> None:
        self._done += done
        if self._bar is not None:
            self._bar.update(done)
            return
        if self._quiet:
            return
        now = time.monotonic()
        if now - self._last >= LINE_SECONDS:
            self._last = now
            rate = self._done / (now - self._started)
            if not self._total:  # not known beforehand
                say(f"{self.description}: {self._done} {self._unit}, {rate:.0f}/s")
                return
            left = (self._total - self._done) / rate if rate else 0.0
            say(
                f"{self.description}: {self._done} of {self._total} {self._unit}, {rate:.0f}/s, about {left:.0f} s left"
            )

    def epoch(self, record: MutableMapping[str, Any]) -> None:
        record.update(self.decorate())
        if self._log_path is not None:
            seconds = round(time.monotonic() - self._born, 3)
            line = json.dumps({**record, "seconds": seconds}, allow_nan=False) + "\n"
            try:
                with open(self._log_path, self._log_mode, encoding="utf-8") as log:
                    log.write(line)
            except OSError as error:
                raise WordkitError(f"{self._log_path}: {error.strerror or error}") from None
            self._log_mode = "a"
        if (self.tell or self._verbose) and not self._quiet:
            shown = {key: _number(value) for key, value in record.items()}
            if self.epochs and "epoch" in shown:
                shown["epoch"] += f" of {self.epochs}"
            say(f"{self.description}: " + ", ".join(f"{key} {value}" for key, value in shown.items()))
        self.on_epoch()

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def graceful_stop(monitor: Monitor) -> Iterator[None]:
    """While the block runs, the first Ctrl-C or SIGTERM asks the fit to stop at a consistent point; a second ends at once."""

    def ask(number: int, frame: object) -> None:
        if monitor.stopping:
            raise KeyboardInterrupt
        monitor.stopping = True

    previous = {number: signal.signal(number, ask) for number in heeded(STOP_SIGNALS)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def resumable(
    monitor: ProgressMonitor, checkpoint: str | None, save: Callable[[], Callable[[str], None] | None]
) -> Iterator[None]:
    """A training that a signal asks to stop, and whose state is then kept; the monitor is closed in any case.

    Args:
        save: called when interrupted: what writes the state, or None where there is none worth keeping yet.

    Raises:
        Interrupted: with what became of the state.
    """
    try:
        with graceful_stop(monitor):
            yield
    except Interrupted as error:
        raise _interruption(error, checkpoint, save()) from None
    finally:
        monitor.close()


def _interruption(
    error: Interrupted, checkpoint: str | None, save: Callable[[str], None] | None
) -> Interrupted:
    """Save what an interrupted training has, and say how to go on.

    Args:
        checkpoint: where to; None where the user named no place.
        save: writes the state; None where there is none worth keeping yet.
    """
    if save is None:
        return Interrupted(f"{error}{', which is not kept' if checkpoint else ''}; nothing was written")
    if checkpoint is None:
        return Interrupted(f"{error}; nothing was written (--checkpoint keeps the work)")
    save(checkpoint)
    return Interrupted(
        f"{error}; state written to {checkpoint}: go on with the same command and --resume {checkpoint}"
    )
