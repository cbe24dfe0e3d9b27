"""The job of ``nbest`` on treebanks: lists by jack-knifing, or by a parser that is there; features, counts, CoNLL."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.errors import DataError, WordkitError
from wordkit.evaluation.result import Result
from wordkit.formats.conll import ConllBlock, Sentence, read_conll_blocks
from wordkit.formats.model_file import read_model, write_model
from wordkit.formats.opening import Input
from wordkit.models.dependency_features import (
    MOST_TAGS,
    MOST_WORDS,
    classes_of,
    count_features,
)
from wordkit.models.dependency_parser import DependencyParser
from wordkit.models.feature_index import FeatureIndex, chosen, relative
from wordkit.models.jackknife import Jackknife, Parsed
from wordkit.models.list_output import ListOutput
from wordkit.models.list_spool import CandidateList, ListSpool
from wordkit.models.parser_model import ParserModel
from wordkit.models.tagged_sentences import TaggedSentences
from wordkit.models.vocabulary import Vocabulary, learned
from wordkit.monitor import Monitor
from wordkit.parallel import map_blocks
from wordkit.signature import signature
from wordkit.tally import Tally

CHECKPOINT = "nbest-checkpoint"
KINDS = {CHECKPOINT: "a checkpoint of nbest"}
PARSER = ("epochs", "C", "hash_bits", "seed")  # options that are the parser's arguments
_SIGNED = ("n", "folds", *PARSER, "min_count", "min_feature_count", "tag_column", "max_length")
_BATCH = 64  # sentences whose features are made side by side


def attachments(heads: np.ndarray, gold: np.ndarray) -> np.ndarray:
    """int64 (k, 3): words with the gold head, words that have one, and as many proposed; heads are (k, n)."""
    known = gold >= 0
    counts = np.full((len(heads), 3), int(np.count_nonzero(known)), np.int64)
    counts[:, 0] = np.count_nonzero((heads == gold) & known, axis=1)
    return counts


def candidate_lists(
    sentences: TaggedSentences, parsed: Parsed, qids: Sequence[int], threads: int
) -> Iterator[CandidateList]:
    """The lists of some parsed sentences, in their order."""

    def one(s: int) -> CandidateList:
        span, (heads, scores) = sentences.span(s), parsed[s]
        keys, counts = count_features(sentences.words[span], sentences.tags[span], heads)
        places, values = relative(counts)
        return CandidateList(qids[s], scores, attachments(heads, sentences.heads[span]), keys[places], values)

    for first in range(0, len(sentences), _BATCH):
        yield from map_blocks(one, range(first, min(first + _BATCH, len(sentences))), threads)


class Treebank:
    """Sentences of a treebank as they are learned from.

    Attributes:
        sentences: those that are not too long; qids: their numbers in the files, from 1.
        words, tags: vocabularies.
        conll: all sentences of the files, where they were to be kept.
        notes: lines for the user.
    """

    def __init__(
        self, paths: Sequence[str], tag_column: str, min_count: int, max_length: int, tally: Tally, keep: bool
    ) -> None:
        numbers: tuple[dict[str, int], dict[str, int]] = {}, {}
        parts: list[list[np.ndarray]] = [[], [], [], []]
        self.inputs: list[dict[str, Any]] = []
        self.conll: list[Sentence] = []
        self.notes: list[str] = []
        for path in paths:
            with Input(path, digest=True) as source:
                for block in read_conll_blocks(source, ("form", tag_column), tally=tally):
                    for part, column, known in zip(parts, ("form", tag_column), numbers, strict=False):
                        texts = block.texts(column)
                        part.append(
                            np.fromiter(
                                (known.setdefault(t, len(known)) for t in texts), np.int32, len(texts)
                            )
                        )
                    assert block.heads is not None
                    parts[2].append(block.heads)
                    parts[3].append(np.diff(block.offsets))
                    if keep:
                        self.conll += [Sentence(block, s) for s in range(len(block))]
                self.inputs.append(source.record())
        words, tags, heads, lengths = map(np.concatenate, parts)
        if len(words) > np.iinfo(np.int32).max:
            raise WordkitError(f"{len(words)} words are too many, expected fewer than 2^31")
        self.words = self._vocabulary(numbers[0], words, min_count, MOST_WORDS)
        self.tags = self._vocabulary(numbers[1], tags, 1, MOST_TAGS)
        self._look_at_tags(len(numbers[1]), len(tags), tag_column)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        everything = TaggedSentences(
            self.words.numbers(list(numbers[0]))[words],
            self.tags.numbers(list(numbers[1]))[tags],
            heads,
            offsets,
        )
        kept = np.flatnonzero(lengths <= max_length)
        self.n_long = len(lengths) - len(kept)
        if not len(kept):
            raise WordkitError(f"every sentence is longer than --max-length {max_length}")
        self.sentences, self.qids = everything.part(kept), (kept + 1).tolist()

    def _vocabulary(self, known: dict[str, int], ids: np.ndarray, min_count: int, most: int) -> Vocabulary:
        counts = np.bincount(ids, minlength=len(known)).astype(np.int64)
        limit = most if len(known) > most else None
        vocabulary, notes = learned(list(known), counts, min_count=min_count, max_vocab=limit)
        if min_count > 1:
            self.notes += notes
        return vocabulary

    def _look_at_tags(self, found: int, tokens: int, column: str) -> None:
        self.notes.append(f"{found} distinct tags in the column {column}")
        if found == 1:
            self.notes.append("warning: all tags are the same; --tag-column chooses another column")
        elif found > 50 and found > tokens / 10:
            self.notes.append(
                f"warning: {found} distinct tags of {tokens} words; is the column {column} one of tags?"
            )


class TreebankRun:
    """Lists of a treebank by jack-knifing. Call :meth:`read`, :meth:`parse`, :meth:`write`.

    Args:
        options: the command's options by their Python names.
        tally: counts odd records of the data.
    """

    def __init__(self, options: Mapping[str, Any], tally: Tally) -> None:
        self.options, self.tally = dict(options), tally
        self.output = ListOutput(options)  # reads the choices: not after hours of training

    def read(self, paths: Sequence[str]) -> list[str]:
        """Read the treebank, and the checkpoint if one is given; lines for the user."""
        options = self.options
        self.bank = bank = Treebank(
            paths, options["tag_column"], options["min_count"], options["max_length"], self.tally,
            keep=options["trees_out"] is not None,
        )  # fmt: skip
        self.parameters = {name: options[name] for name in _SIGNED}
        self.signature = signature("nbest", self.parameters, bank.inputs)
        n = len(bank.sentences)
        if n < options["folds"]:
            raise WordkitError(
                f"{n} sentences are too few for --folds {options['folds']}: each needs one at least"
            )
        self.jackknife = Jackknife(
            bank.sentences, len(bank.words), len(bank.tags), {name: options[name] for name in PARSER},
            folds=options["folds"], k=options["n"], min_count=options["min_count"],
            final=options["model_out"] is not None,
        )  # fmt: skip
        gaps, roots = bank.sentences.shapes()
        self.n_crossing, self.n_rooted = int(np.count_nonzero(gaps)), int(np.count_nonzero(roots > 1))
        notes = list(bank.notes)
        for count, what in ((self.n_crossing, "have crossing arcs"), (self.n_rooted, "have several roots")):
            if count:
                notes.append(
                    f"{count} of {n} trees {what}: the parser learns from the closest tree that it can make; counts are those of "
                    "the trees as they are"
                )
        if bank.n_long:
            notes.append(
                f"{bank.n_long} of {n + bank.n_long} sentences passed over, longer than --max-length {options['max_length']}"
            )
        if options["resume"]:
            self._resume(options["resume"])
        return notes

    def _resume(self, path: str) -> None:
        header, arrays = read_model(path, KINDS)
        if header.get("signature") != self.signature:
            raise WordkitError(
                f"{path}: the checkpoint is of other data or options ({header.get('signature')}), expected {self.signature}"
            )
        try:
            self.jackknife.restore(arrays)
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise DataError(path, None, f"the checkpoint is damaged: {error}") from None

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Write the folds that are done."""
        write_model(path, CHECKPOINT, self.jackknife.state(), {"signature": self.signature})

    def parse(self, monitor: Monitor) -> None:
        """Train and parse all folds."""
        options, checkpoint = self.options, self.options["checkpoint"]
        on_fold = (lambda: self.save_checkpoint(checkpoint)) if checkpoint else (lambda: None)
        self.parsed = self.jackknife.run(threads=options["threads"], monitor=monitor, on_fold=on_fold)

    def write(self) -> Result:
        """Make the features and write everything."""
        options, bank, output = self.options, self.bank, self.output
        spool = ListSpool()
        if options["output"] is not None or options["model_out"] is not None:
            for one in candidate_lists(bank.sentences, self.parsed, bank.qids, options["threads"]):
                spool.append(one)
        else:
            for s, (heads, scores) in enumerate(self.parsed):
                gold = bank.sentences.heads[bank.sentences.span(s)]
                empty = np.empty(0, np.uint64), np.empty((len(scores), 0), np.int32)
                spool.append(CandidateList(bank.qids[s], scores, attachments(heads, gold), *empty))
        keys, distinct = chosen(spool.keys(), classes_of(spool.keys()), options["min_feature_count"])
        index = FeatureIndex(keys)
        model = self._model(index)
        with output.opened(len(index)):
            for one in spool:
                output.add(one, index)
            self._write_trees(output)
            if model is not None:
                model.save(options["model_out"])
                if options["features_out"] is not None:
                    output.write_names(model.feature_names())
        metrics = output.metrics()
        metrics |= {"features": len(index), "distinct_features": distinct, "crossing": self.n_crossing}
        metrics |= {"several_roots": self.n_rooted, "too_long": bank.n_long}
        total = len(bank.sentences) + bank.n_long
        return Result("nbest", ", ".join(r["name"] for r in bank.inputs), metrics, len(bank.sentences), total)

    def _model(self, index: FeatureIndex) -> ParserModel | None:
        if self.options["model_out"] is None:
            return None
        parser = self.jackknife.final_
        assert isinstance(parser, DependencyParser)
        reading = {name: self.options[name] for name in ("tag_column", "n", "max_length")}
        header = {"signature": self.signature, "inputs": self.bank.inputs, "parameters": self.parameters}
        return ParserModel(parser, self.bank.words, self.bank.tags, index, reading, header)

    def _write_trees(self, output: ListOutput) -> None:
        if self.options["trees_out"] is None:
            return
        heads_of = {qid: heads for qid, (heads, _) in zip(self.bank.qids, self.parsed, strict=True)}
        for qid, sentence in enumerate(self.bank.conll, 1):
            output.add_conll(sentence, qid, heads_of.get(qid))


class ParserRun:
    """Lists of new sentences by a parser that is there. Call :meth:`run`."""

    def __init__(self, options: Mapping[str, Any], tally: Tally) -> None:
        self.options, self.tally = dict(options), tally
        with Input(options["model"], digest=True) as source:
            self.model = ParserModel.load(source)
            self.model_record = source.record()
        self.model.parser.threads = options["threads"]
        self.n = self.model.reading["n"] if options["n"] is None else options["n"]
        self.max_length = (
            self.model.reading["max_length"] if options["max_length"] is None else options["max_length"]
        )
        self.n_long = self.n_words = self.n_unknown = self.n_sentences = 0

    def run(self, paths: Sequence[str], monitor: Monitor) -> Result:
        """Read, parse and write block by block: memory does not grow with the input."""
        output, inputs = ListOutput(self.options), []
        monitor.begin(0, "sentences")
        with output.opened(len(self.model.index)):
            for path in paths:
                with Input(path, digest=True) as source, contextlib.closing(self._blocks(source)) as blocks:
                    for block in blocks:
                        self._write(block, output, monitor)
                    inputs.append(source.record())
        self.signature = signature(
            "nbest", {"n": self.n, "max_length": self.max_length}, [self.model_record, *inputs]
        )
        metrics = output.metrics()
        metrics |= {"too_long": self.n_long, "unknown_words": self.n_unknown, "words": self.n_words}
        name = ", ".join(record["name"] for record in inputs)
        return Result("nbest", name, metrics, self.n_sentences - self.n_long, self.n_sentences)

    def _blocks(self, source: Input) -> Any:
        columns = ("form", self.model.reading["tag_column"])
        return read_conll_blocks(source, columns, heads="any", tally=self.tally)

    def _write(self, block: ConllBlock, output: ListOutput, monitor: Monitor) -> None:
        sentences = self.model.sentences(block)
        first = self.n_sentences + 1
        self.n_sentences += len(sentences)
        self.n_words += len(sentences.words)
        self.n_unknown += int(np.count_nonzero(sentences.words == 0))
        kept = np.flatnonzero(sentences.lengths <= self.max_length)
        self.n_long += len(sentences) - len(kept)
        some = sentences.part(kept)
        parsed = self.model.parser.parse(some, self.n, monitor=monitor)
        qids = (kept + first).tolist()
        if self.options["output"] is None:
            for s, (heads, scores) in enumerate(parsed):
                counts = attachments(heads, some.heads[some.span(s)])
                empty = np.empty(0, np.uint64), np.empty((len(scores), 0), np.int32)
                output.add(CandidateList(qids[s], scores, counts, *empty), self.model.index)
        else:
            for one in candidate_lists(some, parsed, qids, self.options["threads"]):
                output.add(one, self.model.index)
        if self.options["trees_out"] is not None:
            heads_of = dict(zip(qids, (heads for heads, _ in parsed), strict=True))
            for s in range(len(block)):
                output.add_conll(Sentence(block, s), first + s, heads_of.get(first + s))
