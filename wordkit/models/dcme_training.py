"""The job of ``dcme --task embedding`` from files to fitted vectors: fresh, resumed, or continued on new data."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from wordkit.errors import WordkitError, told_of
from wordkit.evaluation.result import Result
from wordkit.formats.opening import names_of
from wordkit.formats.vectors import vector_writer
from wordkit.models.dcme import DualClusteringEmbedding
from wordkit.models.dcme_parameters import cluster_numbers, settle
from wordkit.models.earlier_training import contradiction
from wordkit.models.embedding_model import READING, EmbeddingModel
from wordkit.models.labelled_training import check_same_data
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.monitor import Monitor
from wordkit.parallel import memory
from wordkit.signature import signature
from wordkit.tally import Tally

# Options that are the model's constructor arguments.
_MODEL = (
    "objective", "variant", "clusters", "beta", "top", "prior", "negative", "noise_power", "dim", "window", "dynamic_window",
    "epochs", "learning_rate", "decay", "min_count", "max_vocab", "sample", "shuffle", "seed", "threads",
)  # fmt: skip
_RESUME_MAY_CHANGE = {"threads"}
_INIT_MAY_CHANGE = {
    "threads", "objective", "variant", "clusters", "beta", "top", "negative", "noise_power", "window", "dynamic_window",
    "epochs", "learning_rate", "decay", "min_count", "max_vocab", "sample", "shuffle", "seed",
}  # fmt: skip
_WORDS_AT_ONCE = 1024
_LABEL = "__label__"


class EmbeddingRun:
    """One training run. Call :meth:`read`, then :meth:`fit`.

    Args:
        options: the command's options by their Python names.
        explicit: names of the options that the user gave.
        tally: counts odd records of the data.
    """

    def __init__(self, options: Mapping[str, Any], explicit: set[str], tally: Tally) -> None:
        self.options, self.explicit, self.tally = options, explicit, tally
        self.heldout: TreeCorpus | None = None
        earlier = options["resume"] or options["init"]
        self.earlier = EmbeddingModel.load(earlier) if earlier else None

    @property
    def begun(self) -> bool:
        """Whether there are vectors that are worth keeping."""
        return hasattr(self.model, "trainer_")

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, paths: Sequence[str]) -> list[str]:
        """Read training and held-out data, and earlier models; returns notes for the user."""
        self._names = names_of(paths)
        notes = self._read_earlier(paths) if self.earlier else self._read_fresh(paths)
        if self.options["heldout"]:
            vocabulary = self.corpus.vocabulary
            reader = read_corpus(
                [self.options["heldout"]], structure="chain", **self.file.reading, max_length=None, tally=self.tally,
                cache_folder=self._folder(), vocabulary=vocabulary,
            )  # fmt: skip
            self.heldout = reader
            unknown = int(reader.word_counts[0])
            notes.append(f"held out: {reader.n_tokens} tokens, {unknown} of them unknown, which are left out")
        if self.options["threads"] > 1:
            notes.append(
                "threads share their memory without locks: --threads 1 gives the same bytes every time"
            )
        return [*self.corpus.notes, *notes]

    def _folder(self) -> str | None:
        """Where the ids of the corpus are kept while the run lasts."""
        checkpoint = self.options["checkpoint"]
        return os.path.dirname(os.path.abspath(checkpoint)) if checkpoint else None

    def _read_fresh(self, paths: Sequence[str]) -> list[str]:
        options = self.options
        reading = {name: options[name] for name in READING}
        self.corpus = read_corpus(
            paths, structure="chain", **reading, max_length=None, min_count=options["min_count"],
            max_vocab=options["max_vocab"], tally=self.tally, cache_folder=self._folder(),
        )  # fmt: skip
        words = self.corpus.vocabulary.words[1:]
        if len(words) < 2:
            raise WordkitError(
                f"{names_of(paths)}: `{words[0]}` is the only word that is kept: there is nothing to tell it from"
            )
        self.model = DualClusteringEmbedding(**{name: options[name] for name in _MODEL})
        settle(self.model)
        self.file = EmbeddingModel(self.model, reading)
        self._check_memory()
        labels = [word for word in words if word.startswith(_LABEL)]
        return (
            [
                f"warning: {len(labels)} words begin with `{_LABEL}`: labels are words here (--task classification learns them)"
            ]
            if labels
            else []
        )

    def _check_memory(self) -> None:
        """Tell before the training that the vectors cannot fit: the system would kill the run."""
        words, dim = len(self.corpus.vocabulary), self.model.dim
        clusters = self.model.clusters if self.model.objective == "dcme" else 0
        size = 4 * (
            words * (2 * 2 * dim + 3 * clusters) + cluster_numbers(clusters, dim)
        )  # with the last epoch's copy
        if size > memory():
            raise WordkitError(
                f"the vectors of {words} words, and clusters, take {size / 2**30:.0f} GiB, more than this machine has; use a "
                "smaller --dim, --max-vocab or --clusters, or a larger --min-count"
            )

    def _read_earlier(self, paths: Sequence[str]) -> list[str]:
        assert self.earlier is not None
        self.file, self.model = self.earlier, self.earlier.model
        resume = bool(self.options["resume"])
        self._adopt(_RESUME_MAY_CHANGE if resume else _INIT_MAY_CHANGE)
        if resume:
            self.corpus = self.file.read(paths, self.tally, cache_folder=self._folder())
            check_same_data(self.file.header, self.corpus.inputs, self.options["resume"], paths)
            return [f"going on after epoch {self.model.n_iter_}"]
        old = len(self.model.vocabulary_) - 1
        self.corpus = self.file.read(
            paths, self.tally, cache_folder=self._folder(), extend=True, min_count=self.model.min_count,
            max_vocab=self.model.max_vocab,
        )  # fmt: skip
        self._check_memory()
        return [f"{len(self.corpus.vocabulary) - 1 - old} new words appended to the model's {old}"]

    def _adopt(self, may_change: set[str]) -> None:
        """Take what the user gave and may change; what may not must agree with the earlier model."""
        self.model.threads = self.options["threads"]
        known = {**self.model.get_params(), **self.file.reading}
        for name in sorted(self.explicit & set(known) - {"threads"}):
            if name in may_change:
                self.model.set_params(**{name: self.options[name]})
            elif self.options[name] != known[name]:
                way = "go on from a finished model (--model-out) with --init" if name == "epochs" else ""
                raise contradiction(
                    name, self.options[name], known[name], self.options["resume"] or self.options["init"], way
                )
        if self.explicit & {"objective", "variant"}:  # what is good for one is not for the other
            for name in {"learning_rate", "beta", "top"} & may_change - self.explicit:
                self.model.set_params(**{name: None})
        settle(self.model)

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, monitor: Monitor) -> None:
        """Train; the model can be saved whenever the monitor is called, and after an interruption."""
        self.file.header = self._header()
        with told_of(self._names):
            if self.options["resume"]:
                self.model.resume(self.corpus, heldout=self.heldout, monitor=monitor)
            elif self.earlier:
                self.model.continue_on(self.corpus, heldout=self.heldout, monitor=monitor)
            else:
                self.model.fit(self.corpus, heldout=self.heldout, monitor=monitor)

    def save(self, path: str) -> None:
        """Write the model file."""
        self.file.save(path)

    def _header(self) -> dict[str, Any]:
        before = self.earlier.header if self.earlier else {}
        inputs, continued = self.corpus.inputs, 0
        if self.options["resume"]:
            inputs, continued = before["inputs"], before["continued"]
        elif before:
            inputs, continued = [*before["inputs"], *inputs], len(before["inputs"])
        parameters = {key: value for key, value in self.model.get_params().items() if key != "threads"}
        words = {"words": len(self.corpus.vocabulary)}
        return {
            "command": "dcme",
            "signature": signature(
                "dcme", {"task": "embedding", **self.file.reading, **parameters, **words}, inputs
            ),
            "inputs": inputs,
            **({"continued": continued} if continued else {}),
        }

    # --- results ---------------------------------------------------------------------------------------------------

    def write_outputs(self, output: str) -> None:
        """The input vectors to ``output``; output vectors and the model where the options say."""
        self._write_vectors(output, self.model.input_vectors_)
        if self.options["output_vectors"]:
            self._write_vectors(self.options["output_vectors"], self.model.output_vectors_)
        if self.options["model_out"]:
            self.save(self.options["model_out"])

    def _write_vectors(self, path: str, vectors: Any) -> None:
        words = self.model.vocabulary_.words[1:]
        with vector_writer(path, vectors.shape[1], rows=len(words)) as write:
            for lo in range(0, len(words), _WORDS_AT_ONCE):
                write(words[lo : lo + _WORDS_AT_ONCE], vectors[lo : lo + _WORDS_AT_ONCE])

    def warnings(self) -> list[str]:
        """What the user should know of the result."""
        last = self.model.history_[-1] if self.model.history_ else {}
        found = last.get("heldout_log_likelihood")
        if found is None and self.heldout is not None:
            return [
                f"warning: {self.options['heldout']}: no line has two known words near each other: there is nothing to score"
            ]
        if found is None or self.heldout is None or self.model.objective == "ns":
            return []
        unigram = self.model.unigram_score(self.heldout)
        if math.isnan(unigram) or found > unigram:
            return []
        return [
            f"warning: {found:.4f} nats a held-out word are no better than the {unigram:.4f} of the words' shares alone; try "
            "another --learning-rate or more --epochs"
        ]

    def result(self) -> Result:
        """The numbers of the run."""
        model, corpus = self.model, self.corpus
        last = model.history_[-1] if model.history_ else {}
        metrics = {key: _defined(value) for key, value in last.items() if key != "epoch"}
        if self.heldout is not None:
            metrics["heldout_unigram"] = _defined(model.unigram_score(self.heldout))
        return Result(
            name="dcme",
            data=", ".join(record["name"] for record in corpus.inputs),
            metrics={**metrics, "epochs": model.n_iter_, "words": len(corpus.vocabulary) - 1},
            covered=corpus.n_tokens - int(corpus.word_counts[0]),
            total=corpus.n_tokens,
            details={"history": model.history_},
        )


def _defined(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
