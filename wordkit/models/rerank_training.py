"""The job of ``tmira`` from files to a reranker: lists read once and packed, a model fresh or resumed, curves and results."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.errors import DataError, WordkitError, times
from wordkit.evaluation.reranking import chosen_quality
from wordkit.evaluation.result import Result
from wordkit.formats.nbest import ListReader, NbestLists
from wordkit.formats.nbest_counts import read_counts
from wordkit.formats.opening import Input
from wordkit.models.nbest_corpus import FeatureTable, ListCorpus, PackedLists, pack_lists
from wordkit.models.reranker import Reranker
from wordkit.models.reranker_model import load_checkpoint, save_checkpoint, save_reranker
from wordkit.models.rerankers import RERANKERS, reranker_from_state
from wordkit.monitor import Monitor
from wordkit.signature import signature
from wordkit.tally import Tally

_RESUME_MAY_CHANGE = {"epochs", "threads"}


class Run:
    """One training run. Call :meth:`read`, then :meth:`fit`.

    Args:
        options: the command's options by their Python names.
        explicit: names of the options that the user gave.
        tally: counts odd records of the data.

    ``seconds``: of training, until the end of each epoch. ``begun``: whether there is a state that is worth keeping.
    """

    def __init__(self, options: Mapping[str, Any], explicit: set[str], tally: Tally) -> None:
        self.options, self.explicit, self.tally = dict(options), explicit, tally
        self.inputs: list[dict[str, Any]] = []
        self.dev: PackedLists | None = None
        self.counts: np.ndarray | None = None
        self.dev_counts: np.ndarray | None = None
        self.seconds: list[float] = []
        self._earlier: tuple[Mapping[str, np.ndarray], Mapping[str, Any]] | None = None

    @property
    def begun(self) -> bool:
        return getattr(self.model, "n_iter_", 0) > 0

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, paths: Sequence[str]) -> list[str]:
        """Read lists, counts, held-out lists and the checkpoint; returns notes for the user."""
        options = self.options
        self.model, digests = self._begin()
        corpus = ListCorpus()
        reader = ListReader(tally=self.tally)
        for path in paths:
            for piece in self._pieces(reader, path):
                corpus.add(piece)
        table = self.model.table_ if self._earlier else self.model.choose_features(corpus)
        self.packed, self.table = corpus.pack(table), table
        notes = [self._summary(corpus, table)]
        if options["counts"]:
            self.counts = self._read_counts(options["counts"], self.packed, reader)
        if options["dev"]:
            reader = ListReader(n_features=int(table.indices.max()) + 1, tally=self.tally)
            self.dev, unknown = pack_lists(self._pieces(reader, options["dev"]), table)
            if unknown:
                notes.append(
                    f"{unknown} values of the held-out lists are of features left out or not seen in training"
                )
            if options["dev_counts"]:
                self.dev_counts = self._read_counts(options["dev_counts"], self.dev, reader)
        if digests is not None and digests != [record["sha256"] for record in self.inputs]:
            raise WordkitError(f"{options['resume']}: was trained on other data")
        return notes

    def _pieces(self, reader: ListReader, path: str) -> Iterator[NbestLists]:
        with Input(path, digest=True) as source:
            yield from reader.pieces(source)
            self.inputs.append(source.record())

    def _read_counts(self, path: str, lists: PackedLists, reader: ListReader) -> np.ndarray:
        with Input(path, digest=True) as source:
            _, counts = read_counts(
                source, lists.candidate_qids(), passed_over=reader.passed_over, tally=self.tally
            )
            self.inputs.append(source.record())
        return counts

    def _summary(self, corpus: ListCorpus, table: FeatureTable) -> str:
        packed, varying = self.packed, int(np.count_nonzero(corpus.lists_of))
        candidates = np.diff(packed.starts)
        highest = np.maximum.reduceat(packed.scores, packed.starts[:-1])
        equal = highest == np.minimum.reduceat(packed.scores, packed.starts[:-1])
        text = f"{times(len(packed), 'list')}, {times(len(packed.scores), 'candidate')}"
        if alone := int(np.count_nonzero(candidates == 1)):
            text += f", {times(alone, 'list')} of one"
        if same := int(np.count_nonzero(equal & (candidates > 1))):
            text += f", {same} of equal candidates"
        text += f"; {times(len(table), 'feature')} kept, {varying} vary within lists"
        if left_out := corpus.entries - len(packed.values):
            text += f"; {left_out} of {corpus.entries} values are of features left out"
        return text

    def _begin(self) -> tuple[Reranker, list[str] | None]:
        """The model, fresh or that of the checkpoint, and digests of the checkpoint's inputs."""
        options = self.options
        if not options["resume"]:
            kind = RERANKERS[options["algorithm"]]
            known = kind().get_params()
            return kind(**{name: options[name] for name in known if options[name] is not None}), None
        model, arrays, values, digests = load_checkpoint(options["resume"])
        self.seconds = list(values["seconds"])
        known = {"algorithm": model.algorithm, **model.get_params()}
        for name in sorted(self.explicit & set(known) - _RESUME_MAY_CHANGE):
            if _listed(options[name]) != _listed(known[name]):
                option, was, now = _typed(name, known[name], options[name])
                raise WordkitError(
                    f"{options['resume']}: --{option} was {was}, not {now}: leave it out to go on"
                )
        model.set_params(**{name: options[name] for name in self.explicit & _RESUME_MAY_CHANGE})
        model.threads = options["threads"]
        self._earlier = arrays, values
        return model, digests

    # --- fitting ---------------------------------------------------------------------------------------------------

    def epoch_done(self) -> None:
        """Note the time; to be called at the end of each epoch."""
        self.seconds.append(round(self._before + time.monotonic() - self._started, 3))

    def fit(self, monitor: Monitor) -> None:
        """Train the model, from where the checkpoint left it."""
        self._started, self._before = time.monotonic(), self.seconds[-1] if self.seconds else 0.0
        try:
            self.model.fit_packed(
                self.packed, self.table, self.counts, self.dev, self.dev_counts, monitor=monitor,
                curves=bool(self.options["curves"] or self.options["log"]), earlier=self._earlier,
            )  # fmt: skip
        except ValueError as error:
            if self._earlier is None:
                raise WordkitError(str(error)) from None
            raise DataError(self.options["resume"], None, f"the checkpoint is damaged: {error}") from None

    def signature(self) -> str:
        parameters = {key: value for key, value in self.model.get_params().items() if key != "threads"}
        if parameters.get("modes"):
            parameters["modes"] = "x".join(map(str, parameters["modes"]))
        return signature("tmira", {"algorithm": self.model.algorithm, **parameters}, self.inputs)

    # --- results ---------------------------------------------------------------------------------------------------

    def _header(self) -> dict[str, Any]:
        return {"command": "tmira", "signature": self.signature(), "inputs": self.inputs}

    def save(self, path: str) -> None:
        """Write a checkpoint."""
        save_checkpoint(path, self.model, {**self._header(), "seconds": self.seconds})

    def write(self, output: str, last: str | None) -> None:
        """The model of the best epoch, and by option that of the last one."""
        save_reranker(output, self.model, self._header())
        if last:
            model = reranker_from_state(*self.model.state())
            model.weights_, model.best_epoch_ = self.model.last_weights_, self.model.n_iter_
            save_reranker(last, model, self._header())

    def result(self) -> Result:
        """The numbers of the run: those of the epoch that was kept, beside the first candidates and the best, and the held-out
        ones of the last epoch."""
        model = self.model
        kept = {**model.history_[model.best_epoch_ - 1]}
        kept |= model.measured("train", model.weights_, self.packed, self.counts)
        metrics = {key: value for key, value in kept.items() if key not in ("epoch", "steps")}
        metrics |= _limits("train", self.packed, self.counts)
        if self.dev is not None:
            metrics |= _limits("dev", self.dev, self.dev_counts)
        last = {f"last_{key}": value for key, value in model.history_[-1].items() if key.startswith("dev_")}
        return Result(
            name="tmira",
            data=", ".join(record["name"] for record in self.inputs),
            metrics={
                **metrics,
                **last,
                "epochs": model.n_iter_,
                "best_epoch": model.best_epoch_,
                "parameters": model.n_parameters_,
                "features": len(self.table),
            },
            covered=int(np.count_nonzero(np.diff(self.packed.starts) > 1)),
            total=len(self.packed),
            details={"history": model.history_},
        )


def _limits(what: str, lists: PackedLists, counts: np.ndarray | None) -> dict[str, float | None]:
    """What the first candidates of all lists have, and the oracles."""
    metrics = {}
    for choice, places in (("first", np.zeros(len(lists), np.int32)), ("oracle", lists.oracles)):
        name, value = chosen_quality(lists.starts, lists.scores, counts, places)
        metrics[f"{choice}_{what}_{name}"] = value
    return metrics


def _typed(name: str, *values: Any) -> tuple[str, ...]:
    """An option and values of it as the command line has them."""
    if name == "shuffle":
        name, values = "no-shuffle", tuple(not value for value in values)
    said = {True: "on", False: "off", None: "the default"}
    written = ("x".join(map(str, v)) if isinstance(v, (list, tuple)) else v for v in values)
    return name.replace("_", "-"), *(said[v] if v is None or isinstance(v, bool) else str(v) for v in written)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
