"""Which candidate of each list was chosen: ``qid<TAB>candidate`` a line, candidates counted from 1, as ``rerank`` writes it."""

from __future__ import annotations

import os

from wordkit.errors import DataError
from wordkit.formats.opening import Input, opened, text_blocks
from wordkit.tally import Tally

_EXPECTED = "qid<TAB>candidate, the candidate counted from 1"


def read_choices(path: str | os.PathLike[str] | Input) -> dict[int, int]:
    """The chosen candidate, from 1, of each qid; further columns, lines that begin with ``#`` and blank ones say nothing.

    Raises:
        DataError: a line that is no choice, a qid that comes twice, an input without a choice.
    """
    choices: dict[int, int] = {}
    with opened(path) as source:
        for first, block in text_blocks(source, Tally()):
            for number, line in enumerate(block.decode("utf-8").split("\n"), first):
                fields = line.split()
                if not fields or fields[0].startswith("#"):
                    continue
                if len(fields) < 2 or not all(
                    f.isascii() and f.isdigit() and len(f) < 19 for f in fields[:2]
                ):
                    raise DataError(source.name, number, f"`{line.strip()[:40]}`", _EXPECTED)
                qid, candidate = int(fields[0]), int(fields[1])
                if not candidate:
                    raise DataError(source.name, number, "candidate 0", _EXPECTED)
                if qid in choices:
                    raise DataError(source.name, number, f"qid {qid} again", "one choice a qid")
                choices[qid] = candidate
        if not choices:
            raise DataError(source.name, None, "holds no choice", _EXPECTED)
    return choices
