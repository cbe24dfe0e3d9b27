"""The job of ``train-hmtm`` from files to a fitted :class:`TreeModel`: fresh, resumed, or continued on new data."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.errors import DataWarning, WordkitError
from wordkit.evaluation.result import Result
from wordkit.formats.clusters import read_clusters
from wordkit.formats.vectors import vector_writer
from wordkit.models.earlier_training import contradiction, spelled
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.hmtm_parameters import INITS
from wordkit.models.hmtm_statistics import Statistics
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.models.tree_model import READING, TreeModel
from wordkit.monitor import Monitor
from wordkit.parallel import memory
from wordkit.signature import signature
from wordkit.tally import Tally

# Options that are the model's constructor arguments.
_MODEL = (
    "structure", "states", "start_states", "projection", "k", "epsilon", "split_every", "method", "batch_size", "offset",
    "gamma", "epochs", "tol", "smoothing", "back_off", "resplit", "restarts", "shuffle", "seed", "threads",
)  # fmt: skip
_RESUME_MAY_CHANGE = {"epochs", "threads"}
_INIT_MAY_CHANGE = {
    "epochs", "threads", "projection", "k", "epsilon", "batch_size", "gamma", "offset", "shuffle", "seed", "tol", "resplit",
}  # fmt: skip
# Options of the reading that the vocabulary and the labels hang on; a resumed training has to say the same.
_CHOICES = ("format", "min_count", "max_vocab", "label_min_count")
_WORDS_AT_ONCE = 1024


class Run:
    """One training run. Call :meth:`read`, then :meth:`fit`.

    Args:
        options: the command's options by their Python names.
        explicit: names of the options that the user gave.
        tally: counts odd records of the data.
    """

    def __init__(self, options: Mapping[str, Any], explicit: set[str], tally: Tally) -> None:
        self.options, self.explicit, self.tally = options, explicit, tally
        self.heldout: TreeCorpus | None = None
        self.clusters: np.ndarray | None = None
        init = options["init"]
        earlier = options["resume"] or (init if init not in INITS else None)
        self.earlier = TreeModel.load(earlier) if earlier else None

    @property
    def begun(self) -> bool:
        """Whether the model holds statistics that are worth keeping."""
        return hasattr(self.model, "statistics_")

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, paths: Sequence[str]) -> list[str]:
        """Read training and held-out data, clusters and earlier models; returns notes for the user."""
        notes = self._read_earlier(paths) if self.earlier else self._read_fresh(paths)
        if self.options["heldout"]:
            reader = TreeModel(self.model, self.tree_model.reading)
            heldout = self.heldout = reader.read(
                [self.options["heldout"]], self.tally, cache_folder=self._folder()
            )
            notes.append(
                f"held out: {heldout.n_sentences} sentences, {heldout.n_tokens} tokens, {heldout.word_counts[0]} of them unknown"
            )
        return [*self.corpus.notes, *notes]

    def _folder(self) -> str | None:
        """Where the ids of the corpus are kept while the run lasts."""
        checkpoint = self.options["checkpoint"]
        return os.path.dirname(os.path.abspath(checkpoint)) if checkpoint else None

    def _reading(self) -> dict[str, Any]:
        return {name: self.options[name] for name in READING}

    def _read_corpus(self, paths: Sequence[str], **more: Any) -> TreeCorpus:
        return read_corpus(
            paths, format=self.options["format"], tally=self.tally, cache_folder=self._folder(), **more
        )

    def _read_fresh(self, paths: Sequence[str]) -> list[str]:
        options = self.options
        self.corpus = self._read_corpus(
            paths, structure=options["structure"], **self._reading(),
            label_min_count=options["label_min_count"], min_count=options["min_count"], max_vocab=options["max_vocab"],
        )  # fmt: skip
        self.model = HiddenMarkovTree(**{name: options[name] for name in _MODEL}, init=options["init"])
        notes: list[str] = []
        begin, found = options["start_states"] or options["states"], len(self.corpus.vocabulary) - 1
        if options["clusters"]:
            notes = self._read_clusters(options["clusters"])
        elif options["init"] == "brown" and begin > found:
            notes = [f"warning: {found} words make no {begin} clusters: each has its own"]
        # What reads held-out data has to know the numbers before the training.
        self.model.vocabulary_, self.model.label_names_ = (
            self.corpus.vocabulary,
            list(self.corpus.label_names),
        )
        self.tree_model = TreeModel(self.model, self._reading())
        self._check_memory()
        return notes

    def _read_clusters(self, path: str) -> list[str]:
        """Classes of the words from a paths file; as many states as it has clusters, unless the user says otherwise."""
        clusters = read_clusters(path, tally=self.tally)
        count = len(clusters.paths)
        begin = "start_states" if "start_states" in self.explicit else "states"
        if begin in self.explicit and self.options[begin] != count:
            raise WordkitError(
                f"{path}: has {count} clusters, and {spelled(begin, self.options[begin])} asks for others: leave it out"
            )
        self.model.set_params(**{begin: count})
        found = self.clusters = clusters.numbers(self.corpus.vocabulary.words)
        missing = int(np.count_nonzero(found[1:] < 0))
        if missing == len(found) - 1:
            raise WordkitError(f"{path}: holds none of the words of the data")
        return (
            [f"{missing} of {len(found) - 1} words are in no cluster and begin in all classes"]
            if missing
            else []
        )

    def _check_memory(self) -> None:
        """Tell before the training that the statistics cannot fit: the system would kill the run."""
        words, states = len(self.corpus.vocabulary), int(self.model.states)
        size = Statistics.size(words, states, len(self.corpus.label_names))
        if size > memory():
            raise WordkitError(
                f"the statistics of {words} words and {states} states take {size / 2**30:.0f} GiB, more than this machine has; "
                "use fewer --states, a larger --min-count or --max-vocab"
            )

    def _read_earlier(self, paths: Sequence[str]) -> list[str]:
        assert self.earlier is not None
        self.tree_model, self.model = self.earlier, self.earlier.model
        resume = bool(self.options["resume"])
        self._adopt(_RESUME_MAY_CHANGE if resume else _INIT_MAY_CHANGE)
        header = self.earlier.header
        if resume:
            if self.model.epochs < self.model.n_iter_ + (self.model.position_ > 0):
                raise WordkitError(
                    f"--epochs {self.model.epochs}: the checkpoint has {self.model.n_iter_} epochs already"
                )
            self.corpus = self.earlier.read(
                paths, self.tally, format=self.options["format"], cache_folder=self._folder(), limited=True
            )
            before = [record["sha256"] for record in header["inputs"][header["continued"] :]]
            if before != [record["sha256"] for record in self.corpus.inputs]:
                raise WordkitError(
                    f"{self.options['resume']}: was trained on other data than {', '.join(paths)}"
                )
            return []
        self.corpus = self._read_corpus(
            paths, structure=self.model.structure, **self.earlier.reading, label_names=self.model.label_names_,
            min_count=self.options["min_count"], max_vocab=self.options["max_vocab"],
            vocabulary=self.model.vocabulary_, extend=True,
        )  # fmt: skip
        old = len(self.model.vocabulary_)
        return [f"{len(self.corpus.vocabulary) - old} new words appended to the model's {old}"]

    def _adopt(self, may_change: set[str]) -> None:
        """Take what the user gave and may change; what may not must agree with the earlier model."""
        self.model.threads = self.options["threads"]
        known = {**self.model.get_params(), **self.tree_model.reading}
        for name in sorted(self.explicit & set(known) - {"init", "threads"}):
            value = self.options[name]
            if name in may_change:
                self.model.set_params(**{name: value})
            elif value != known[name]:
                raise contradiction(name, value, known[name])
        if not self.options["resume"]:
            if "clusters" in self.explicit:
                raise WordkitError("--clusters is the earlier model's to say; leave it out")
            return
        if (
            "init" in self.explicit
            and self.options["init"] in INITS
            and self.options["init"] != known["init"]
        ):
            raise contradiction("init", self.options["init"], known["init"])
        choices = self.tree_model.header.get("choices", {})
        for name in sorted(self.explicit & set(choices) & set(_CHOICES)):
            if self.options[name] != choices[name]:
                raise contradiction(name, self.options[name], choices[name])

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, monitor: Monitor) -> None:
        """Train; the model can be saved whenever the monitor is called, and after an interruption."""
        self.tree_model.header = self._header()
        if self.options["resume"]:
            self.model.resume(self.corpus, heldout=self.heldout, monitor=monitor)
        elif self.earlier:
            self.model.continue_on(self.corpus, heldout=self.heldout, monitor=monitor)
        else:
            with warnings.catch_warnings():  # told when the data were read
                warnings.simplefilter("ignore", DataWarning)
                self.model.fit(self.corpus, heldout=self.heldout, clusters=self.clusters, monitor=monitor)

    def _header(self) -> dict[str, Any]:
        before = self.earlier.header if self.earlier else {}
        inputs, continued = self.corpus.inputs, 0
        if self.options["resume"]:
            inputs, continued = before["inputs"], before["continued"]
        elif before:
            inputs, continued = [*before["inputs"], *inputs], len(before["inputs"])
        parameters = {key: value for key, value in self.model.get_params().items() if key != "threads"}
        choices = before["choices"] if self.options["resume"] else self._choices()
        vocabulary = {"words": len(self.corpus.vocabulary)}
        return {
            "command": "train-hmtm",
            "signature": signature(
                "train-hmtm", {**self.tree_model.reading, **parameters, **choices, **vocabulary}, inputs
            ),
            "inputs": inputs,
            "choices": choices,
            **({"continued": continued} if continued else {}),
        }

    def _choices(self) -> dict[str, Any]:
        """What the result depends on beside the model's parameters and the data."""
        chosen = {name: self.options[name] for name in _CHOICES}
        if self.clusters is not None:
            chosen["clusters"] = hashlib.sha256(self.clusters.tobytes()).hexdigest()[:12]
        if self.earlier is not None:
            chosen["from"] = hashlib.sha256(self.earlier.header["signature"].encode()).hexdigest()[:12]
        return chosen

    # --- results ---------------------------------------------------------------------------------------------------

    def write_vectors(self, path: str) -> None:
        """Write Posterior-Type vectors: of each word the distribution over classes of its tokens."""
        words = self.model.vocabulary_.words
        with vector_writer(path, self.model.statistics_.classes, rows=len(words)) as write:
            for lo in range(0, len(words), _WORDS_AT_ONCE):
                hi = min(lo + _WORDS_AT_ONCE, len(words))
                write(words[lo:hi], self.model.word_vectors(lo, hi))

    def result(self) -> Result:
        """The numbers of the run."""
        model, corpus = self.model, self.corpus
        last = model.history_[-1] if model.history_ else {}
        metrics: dict[str, Any] = {key: value for key, value in last.items() if key != "epoch"}
        if "heldout_log_likelihood" in last:
            metrics["heldout_perplexity"] = math.exp(-last["heldout_log_likelihood"])
        return Result(
            name="train-hmtm",
            data=", ".join(record["name"] for record in corpus.inputs),
            metrics={
                **metrics,
                "epochs": model.n_iter_,
                "words": len(corpus.vocabulary),
                "sentences": corpus.n_sentences,
            },
            covered=corpus.n_tokens - int(corpus.word_counts[0]),
            total=corpus.n_tokens,
            details={
                "stopped": model.stopped_,
                "history": model.history_,
                **(
                    {"restarts": {str(seed): score for seed, score in model.restarts_.items()}}
                    if len(model.restarts_) > 1
                    else {}
                ),
            },
        )
