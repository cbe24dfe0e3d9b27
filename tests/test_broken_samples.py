"""What ``data_samples/broken/README.md`` says of each broken file is what its reader and its commands say, to the letter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from wordkit.cli import COMMANDS
from wordkit.cli.evaluate import EVALUATIONS
from wordkit.errors import DataError
from wordkit.formats.brackets import iter_candidates
from wordkit.formats.completion_questions import read_completion_questions
from wordkit.formats.conll import read_conll
from wordkit.formats.counts import read_counts
from wordkit.formats.forest import read_forest
from wordkit.formats.labelled import LabelledReader
from wordkit.formats.nbest import read_lists
from wordkit.formats.nbest_counts import read_counts as read_nbest_counts
from wordkit.formats.number_table import read_number_table
from wordkit.formats.opening import Input
from wordkit.formats.phrases import read_phrases
from wordkit.formats.questions import read_questions
from wordkit.formats.relations import read_relations
from wordkit.formats.supersenses import read_supersenses
from wordkit.formats.svmlight import read_svmlight
from wordkit.formats.tagged import read_tagged
from wordkit.formats.vectors import read_vectors
from wordkit.formats.word_classes import read_word_classes
from wordkit.formats.word_pairs import read_word_pairs
from wordkit.tally import Tally

BROKEN = Path(__file__).parent.parent / "data_samples" / "broken"


class Sample(NamedTuple):
    """A row of the table; ``manner`` is ``error``, ``warning``, ``note`` or ``good``."""

    path: Path
    kind: str
    manner: str
    line: int | None
    says: str

    def message(self) -> str:
        """The line that is expected of a reader."""
        return f"{self.path}:{self.line}: {self.says}" if self.line else f"{self.path}: {self.says}"


def _samples() -> list[Sample]:
    rows = re.findall(
        r"^\| `(\S+)` \| ([^|]+) \| (?:(warning|note|good): )?(?:line (\d+): )?(.+) \|$",
        (BROKEN / "README.md").read_text(),
        re.M,
    )
    return [
        Sample(BROKEN / name, kind, manner or "error", int(line) if line else None, says)
        for name, kind, manner, line, says in rows
    ]


def _labelled(path: Path, tally: Tally) -> None:
    with Input(path) as source:
        list(LabelledReader().labelled(source, tally))


def _conll(path: Path, tally: Tally) -> None:
    list(read_conll(path, heads="tree", tally=tally))


def _vectors(path: Path, tally: Tally) -> None:
    read_vectors(path, tally=tally)


def _svmlight(path: Path, tally: Tally) -> None:
    read_svmlight(path, tally=tally)


def _similarity(path: Path, tally: Tally) -> None:
    read_word_pairs(path, tally)


def _analogies(path: Path, tally: Tally) -> None:
    read_questions(path, tally)


def _entities(path: Path, tally: Tally) -> None:
    read_tagged(path, tally=tally)


def _supersenses(path: Path, tally: Tally) -> None:
    read_supersenses(path, tally=tally)


def _categories(path: Path, tally: Tally) -> None:
    read_word_classes(path, tally)


def _relations(path: Path, tally: Tally) -> None:
    read_relations(path, tally)


def _phrases(path: Path, tally: Tally) -> None:
    read_phrases(path, tally)


def _completion(path: Path, tally: Tally) -> None:
    read_completion_questions(path, tally)


def _counts(path: Path, tally: Tally) -> None:
    read_counts(path)


def _forest(path: Path, tally: Tally) -> None:
    read_forest(path)


def _parses(path: Path, tally: Tally) -> None:
    list(iter_candidates(path, tally))


def _csv(path: Path, tally: Tally) -> None:
    read_number_table(path, tally)


def _nbest(path: Path, tally: Tally) -> None:
    read_lists(path, tally=tally)


def _nbest_counts(path: Path, tally: Tally) -> None:
    read_nbest_counts(path, read_lists(BROKEN / "short.nbest").candidate_qids())


READERS = {
    "csv": _csv,
    "vectors": _vectors,
    "binary vectors": _vectors,
    "CoNLL": _conll,
    "svmlight": _svmlight,
    "similarity": _similarity,
    "analogies": _analogies,
    "categories": _categories,
    "relations": _relations,
    "phrases": _phrases,
    "completion": _completion,
    "entities": _entities,
    "supersenses": _supersenses,
    "labelled documents": _labelled,
    "text": _labelled,
    "counts": _counts,
    "forest": _forest,
    "n-best": _nbest,
    "n-best counts": _nbest_counts,
    "parses": _parses,
}
TRAIN_SVMLIGHT = ("train-rpa", "-o", "out.model", "--epochs", "1", "--dim", "5", "--format", "svmlight")
TRAIN = (*TRAIN_SVMLIGHT[:-2], "--min-count", "1")
CLASSIFY = ("dcme", "-o", "out.model", "--epochs", "1", "--task", "classification")
EVALUATE = ("evaluate", "classification", "small.model")
VECTORS = BROKEN.parent / "vectors.txt"
ENTITIES = BROKEN.parent / "entities.train.conll"
TARGET = BROKEN.parent / "regression.y.txt"
COMMANDS_OF = {
    "csv": [("trace-lasso", "-o", "out.tsv")],
    "CoNLL": [
        ("train-hmtm", "-o", "out.model", "--min-count", "1"),
        ("nbest", "-o", "out.lists", "--min-count", "1"),
    ],
    "parses": [("nbest", "-o", "out.lists", "--trees")],
    "vectors": [("info",), ("convert", "--to", "glove")],
    "binary vectors": [("info",), ("convert", "--to", "glove")],
    "svmlight": [TRAIN_SVMLIGHT, (*CLASSIFY, "--format", "svmlight")],
    "similarity": [("evaluate", "similarity", VECTORS)],
    "analogies": [("evaluate", "analogy", VECTORS)],
    "categories": [("evaluate", "categorization", VECTORS)],
    "relations": [("evaluate", "bless", VECTORS)],
    "phrases": [("evaluate", "composition", VECTORS)],
    "completion": [("evaluate", "completion", VECTORS)],
    "entities": [("evaluate", "ner", "--method", "baseline", ENTITIES)],
    "supersenses": [("evaluate", "supersense")],
    "labelled documents": [TRAIN, EVALUATE, (*CLASSIFY, "--min-count", "1")],
    "text": [TRAIN, EVALUATE, ("cooccur", "-o", "out.counts"), ("vocab",), ("dcme", "-o", "out.vec")],
    "counts": [("info",), ("sparse-code", "-o", "out.vec")],
    "n-best": [("tmira", "-o", "out.model")],
    "n-best counts": [("-q", "tmira", BROKEN / "short.nbest", "-o", "out.model", "--counts")],
    "forest": [("sparse-code", BROKEN.parent / "corpus.txt", "-o", "out.vec", "--forest")],
}
# Kinds that nothing reads yet, and the command that will.
NOT_YET: dict[str, str] = {}
# What a command lets pass: info describes a file whose words are no UTF-8, and one label is enough to be scored.
FINE = {("latin1.vec", "info"), ("one_class.txt", "evaluate")}
SAMPLES = _samples()


def _of(manner: str, table: dict) -> list:
    """(sample, entry of the table for its kind) of the samples of a manner."""
    return [
        pytest.param(sample, table[kind], id=f"{sample.path.name}-{kind}")
        for sample in SAMPLES
        if sample.manner == manner
        for kind in (table if sample.kind == "anything" else {sample.kind} & set(table))
    ]


def test_each_file_has_a_row_and_each_kind_a_reader_or_a_command_to_come():
    assert {sample.path for sample in SAMPLES} == {p for p in BROKEN.iterdir() if p.name != "README.md"}
    assert {sample.kind for sample in SAMPLES} == set(READERS) | set(NOT_YET) | {"anything"}
    there = {name for group in COMMANDS.values() for name in group}
    there |= {f"evaluate {name}" for group in EVALUATIONS.values() for name in group}
    assert there.isdisjoint(NOT_YET.values()), "its kind of file belongs to READERS and COMMANDS_OF now"


@pytest.mark.parametrize(("sample", "read"), _of("error", READERS))
def test_readers_raise_one_line_that_names_file_and_line(sample, read):
    if sample.path.name == "one_class.txt":  # a fault of what is to be learned, not of the file
        return read(sample.path, Tally())
    with pytest.raises(DataError) as caught:
        read(sample.path, Tally())
    assert str(caught.value) == sample.message() and caught.value.line == sample.line


@pytest.mark.parametrize(("sample", "commands"), _of("error", COMMANDS_OF))
def test_commands_stop_with_that_line(inside, tmp_path, sample, commands):
    (tmp_path / "small.txt").write_text("__label__a one\n__label__b two\n")
    assert inside(*TRAIN[:2], "small.model", *TRAIN[3:], "small.txt").returncode == 0
    before = sorted(tmp_path.iterdir())
    for command in commands:
        output = {"convert": ["out"], "trace-lasso": [TARGET]}.get(command[0], [])
        run = inside(*command, sample.path, *output)
        if (sample.path.name, command[0]) in FINE:
            assert run.returncode == 0
        else:
            assert run.stderr.decode() == f"wordkit: error: {sample.message()}\n"
            assert (run.returncode, run.stdout) == (1, b"")
            assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("sample", "read"), _of("warning", READERS))
def test_warnings_are_counted_and_errors_when_strict(inside, sample, read):
    tally = Tally()
    read(sample.path, tally)
    ((kind, count),) = tally.counts.items()
    assert count == 1 and str(tally.first[kind]) == sample.message()
    run = inside("convert", sample.path, "out.vec")
    assert run.returncode == 0
    assert run.stderr.decode().splitlines()[0] == f"wordkit: warning: {sample.message()} ({kind})"
    run = inside("convert", sample.path, "strict.vec", "--strict")
    assert (run.returncode, run.stderr.decode()) == (1, f"wordkit: error: {sample.message()}\n")


@pytest.mark.parametrize(("sample", "read"), _of("good", READERS))
def test_good_files_are_read(sample, read):
    read(sample.path, Tally(strict=True))


@pytest.mark.parametrize(("sample", "read"), _of("note", READERS))
def test_notes_count_what_is_odd(inside, sample, read):
    read(sample.path, Tally(strict=True))
    run = inside(*TRAIN, sample.path)
    assert run.returncode == 0 and run.stderr.decode().startswith(f"wordkit: {sample.says}")
