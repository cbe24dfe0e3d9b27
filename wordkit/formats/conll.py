"""Reads dependency treebanks in CoNLL-X and CoNLL-U; comments, ranges, empty nodes and odd lines are dealt
with here.

Words are lines whose ID is a number, counted from 1. Range lines (``2-3``), empty nodes (``8.1``) and lines
that begin with ``#`` are kept in the sentence but are no words. A line of nothing but spaces and tabs ends a
sentence, and so does the end of the file. CoNLL-U has 10 columns, CoNLL-X 8, 9 or 10, HEAD being the seventh
in both; the first lines decide. Columns 4 and 5 are ``upos`` and ``xpos``, also called ``cpos`` and
``pos``. Where an option chooses the tag column its default is :data:`TAG_COLUMN`.

A sentence that cannot be used is a DataError that names the line, or is counted and passed over if the tally
says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wordkit.errors import DataError
from wordkit.formats.conll_block import COLUMNS, BlockScanner, ConllBlock
from wordkit.formats.conll_sentence import Sentence, write_conll
from wordkit.formats.opening import Input, opened, text_blocks
from wordkit.tally import Fault, Tally, made

__all__ = [
    "COLUMNS",
    "FORMATS",
    "TAG_COLUMN",
    "ByteFaults",
    "ConllBlock",
    "Sentence",
    "read_conll",
    "read_conll_blocks",
    "write_conll",
]

TAG_COLUMN = "upos"
TEXT_COLUMNS = ("form", "lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")
# conllulex is CoNLL-U with nine more columns for multiword expressions; its first ten are read.
FORMATS = {"auto": (10, 9, 8), "conllu": (10,), "conllx": (10, 9, 8), "conllulex": (19,)}
BLOCK_BYTES = 1 << 18  # a block and its arrays stay in the processor's cache: a fifth faster than 1 MiB
_POISON = b"\x01"  # a line that no format has: its sentence is bad


class ByteFaults(Tally):
    """Takes lines that are not UTF-8 from text_blocks for sentences that are bad because of them."""

    def __init__(self, tally: Tally, faults: dict[int, DataError]) -> None:
        super().__init__(skip_invalid=tally.skip_invalid, strict=tally.strict)
        self.faults, self.new = faults, 0

    def invalid(self, fault: Fault, kind: str = "invalid record") -> None:
        error = made(fault)
        if not self.skip_invalid or error.line is None:
            raise error
        self.faults[error.line] = error
        self.new += 1

    def poisoned(self, line: int, block: bytes) -> bytes:
        """The block with a bad line where text_blocks left an empty one: that would cut a sentence in two."""
        lines = block.split(b"\n")
        for bad in list(self.faults)[-self.new :]:
            lines[bad - line] = _POISON
        self.new = 0
        return b"\n".join(lines)


def read_conll_blocks(
    path: str | os.PathLike[str] | Input,
    columns: Sequence[str] = ("form",),
    *,
    heads: str = "tree",
    format: str = "auto",
    tally: Tally | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[ConllBlock]:
    """Whole sentences as bytes and arrays: for corpora, with no Python object per word.

    Args:
        path: a path, ``-``, or an open Input, which stays open.
        columns: names of the columns whose fields are looked for; no other is looked at. ``form`` and
            ``lemma`` must not be empty.
        heads: ``tree``: a sentence whose heads are not a tree (a missing head, one beyond the sentence, a
            word that is its own head, a circle) is bad; several roots and crossing arcs are fine. ``any``:
            numbers or `_` (-1), not checked. ``none``: not looked at.
        format: ``auto`` (waits for a hundred lines), ``conllu``, ``conllx`` or ``conllulex``.
        tally: what is done with bad sentences; raised by default.
        block_bytes: bytes read at once.

    Raises:
        DataError: a bad sentence, with its line; an input that is empty or holds no sentence.
        ValueError: unknown column, heads or format.
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    tally = Tally() if tally is None else tally
    with opened(path) as source:
        scanner = BlockScanner(source.name, tally, columns, heads, FORMATS[format])
        byte_faults = ByteFaults(tally, scanner.faults)
        pending: list[bytes] = []
        for line, block in text_blocks(source, byte_faults, block_bytes):
            pending.append(byte_faults.poisoned(line, block) if byte_faults.new else block)
            # A sentence longer than a block is looked at again only when it has doubled: linear time in all.
            if sum(map(len, pending)) >= scanner.waiting():
                yield from scanner.scan(b"".join(pending), False)
                pending.clear()
        yield from scanner.scan(b"".join(pending), True)
        if scanner.sentences == scanner.skipped == 0:
            raise DataError(source.name, None, "holds no sentence", "lines of 8 to 10 columns between tabs")


def read_conll(
    path: str | os.PathLike[str] | Input,
    *,
    columns: Sequence[str] = TEXT_COLUMNS,
    heads: str = "tree",
    format: str = "auto",
    tally: Tally | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> Iterator[Sentence]:
    """Sentences one after the other; arguments and errors are those of :func:`read_conll_blocks`."""
    for block in read_conll_blocks(
        path, columns, heads=heads, format=format, tally=tally, block_bytes=block_bytes
    ):
        for index in range(len(block)):
            yield Sentence(block, index)
