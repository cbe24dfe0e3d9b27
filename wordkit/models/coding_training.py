"""The job of ``sparse-code`` from files to vectors: counts read or made, their association, a coder fresh or resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from wordkit.checks import require, value_of
from wordkit.errors import DataError, WordkitError, told_of
from wordkit.evaluation.result import Result
from wordkit.formats.counts import Counts, is_counts, read_counts
from wordkit.formats.forest import read_forest, write_forest
from wordkit.formats.model_file import read_model, write_model
from wordkit.formats.opening import Input, names_of
from wordkit.formats.vectors import write_vectors
from wordkit.models.association import pmi
from wordkit.models.cooccurrence import count_cooccurrences
from wordkit.models.earlier_training import contradiction
from wordkit.models.sparse_coding import ForestCoder
from wordkit.monitor import Monitor
from wordkit.parallel import memory
from wordkit.signature import signature
from wordkit.tally import Tally

KIND = "sparse-coding"
KINDS = {KIND: "a checkpoint of sparse-code"}
WEIGHTINGS = ("pmi", "ppmi", "count")
COUNTING = ("window", "min_count", "max_vocab", "lowercase")  # options that a counts file has answered
# Options that are the coder's constructor arguments.
CODER = (
    "dim", "regularizer", "lam", "tree_shape", "nonnegative", "algorithm", "power", "epochs", "batch_size", "shuffle", "tol",
    "max_iter", "heldout", "learning_rate", "tau", "sgd_step", "sampling", "zeros", "seed", "threads",
)  # fmt: skip
_RESUME_MAY_CHANGE = {"epochs", "threads", "max_iter"}

_ONLINE = ("batch_size", "shuffle")
_CODES = ("tol", "max_iter")
_SGD = ("learning_rate", "tau", "sgd_step", "sampling", "zeros")
# What an option means nothing to: (option, value) and the options that it switches off.
MEANINGLESS = {
    ("algorithm", "online"): ("power", *_SGD),
    ("algorithm", "sgd"): ("power", *_ONLINE, *_CODES),
    ("algorithm", "svd"): (
        *_ONLINE, *_CODES, *_SGD, "regularizer", "lam", "tree_shape", "forest", "nonnegative", "epochs", "heldout", "checkpoint",
        "log", "forest_out",
    ),
    ("regularizer", "l1"): ("tree_shape", "forest"),
    ("regularizer", "none"): ("lam", "tree_shape", "forest"),
    ("weighting", "count"): ("shift",),
}  # fmt: skip


class Run:
    """One training run. Call :meth:`read`, then :meth:`fit`.

    Args:
        options: the command's options by their Python names.
        explicit: names of the options that the user gave.
        tally: counts odd records of the data.
    """

    def __init__(self, options: Mapping[str, Any], explicit: set[str], tally: Tally) -> None:
        self.options, self.explicit, self.tally = dict(options), explicit, tally
        self.inputs: list[dict[str, Any]] = []
        self.parents = read_forest(options["forest"]) if options["forest"] else None
        self.earlier = self._read_checkpoint(options["resume"]) if options["resume"] else None

    @property
    def settings(self) -> dict[str, Any]:
        """The options in force: of a checkpoint's, those that the user may not change."""
        return self.options if self.earlier is None else {**self.options, **self.earlier[0].get_params()}

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, paths: Sequence[str], monitor: Monitor, tell: Callable[[str], None]) -> None:
        """Read counts, or text and count it; and the forest or the checkpoint, if one is given."""
        self.counts = self._read_counts(paths, monitor, tell)
        self.rows = self._association()
        if not self.rows.data.any():
            why = "no word stands near another" if not self.counts.matrix.nnz else "every association is 0"
            raise WordkitError(f"{names_of(paths)}: {why}: there is nothing to code")
        self.coder = self._fresh() if self.earlier is None else self._resumed(*self.earlier)
        if self.earlier is not None:
            self._tell_of_resuming(tell)
        dim, words = int(self.coder.dim), len(self.counts.words)
        if self.coder.algorithm == "svd" and dim >= words:
            raise WordkitError(
                f"{names_of(paths)}: svd finds fewer dimensions than there are words: --dim {dim}, {words} words"
            )
        self._check_memory(words, dim)

    def _check_memory(self, words: int, dim: int) -> None:
        """Tell before the training that the codes cannot fit: the system would kill the run."""
        squares = 40 * dim * dim if self.coder.algorithm == "online" else 0
        size = 4 * words * dim * {"online": 7, "sgd": 8, "svd": 12}[self.coder.algorithm] + squares
        if size > memory():
            raise WordkitError(
                f"codes of {words} words and {dim} dimensions take {size / 2**30:.0f} GiB, more than this machine has; "
                "use a smaller --dim or forest, a larger --min-count or --max-vocab"
            )

    def _read_counts(self, paths: Sequence[str], monitor: Monitor, tell: Callable[[str], None]) -> Counts:
        options = self.options
        with Input(paths[0], digest=True) as source:
            if is_counts(source):
                if len(paths) > 1:
                    raise WordkitError(f"{source.name}: counts are taken from one file alone")
                counts = read_counts(source)
                for word in counts.words:
                    if not word or "\0" in word:
                        raise DataError(
                            source.name, None, f"holds the word {word!r}, which no vector file can hold"
                        )
                self.inputs = [source.record()]
                for name in sorted(self.explicit & set(COUNTING)):
                    said = (
                        f"warning: --{name.replace('_', '-')} means nothing to counts that are made already"
                    )
                    tell(said + (f", with {counts.meta[name]}" if name in counts.meta else ""))
                return counts
            counts = count_cooccurrences(
                [source, *paths[1:]], window=options["window"], min_count=options["min_count"],
                max_vocab=options["max_vocab"], lowercase=options["lowercase"], threads=options["threads"], tally=self.tally,
                monitor=monitor, tell=tell,
            )  # fmt: skip
        self.inputs = counts.meta["inputs"]
        return counts

    def _association(self) -> scipy.sparse.csr_array:
        if self.options["weighting"] == "count":
            return scipy.sparse.csr_array(self.counts.matrix, dtype=np.float32)
        return pmi(self.counts, positive=self.options["weighting"] == "ppmi", shift=self.options["shift"])

    def _fresh(self) -> ForestCoder:
        coder = ForestCoder(**{name: self.options[name] for name in CODER})
        if self.parents is not None and coder.regularizer == "forest" and coder.algorithm != "svd":
            coder.parents, nodes = self.parents, len(self.parents)
            if "dim" in self.explicit and nodes != coder.dim:
                raise WordkitError(
                    f"{self.options['forest']}: has {nodes} nodes, and --dim asks for {coder.dim}: leave it out"
                )
            coder.dim = nodes
        return coder

    def _read_checkpoint(self, path: str) -> tuple[ForestCoder, list[str]]:
        """The coder, and digests of its inputs; options of the reading that the user left out become what they were."""
        header, arrays = read_model(path, KINDS)
        try:
            coder = ForestCoder.from_state(arrays, header)
            inputs = [value_of(record, "sha256", str) for record in value_of(header, "inputs", list)]
            reading = value_of(header, "reading", dict)
            require(set(reading) == {"weighting", "shift", *COUNTING}, "reading is not that of a checkpoint")
        except (ValueError, TypeError, KeyError, OverflowError, UnicodeError) as error:
            raise DataError(os.fspath(path), None, f"the checkpoint is damaged: {error}") from None
        known = {**coder.get_params(), **reading}
        for name in sorted(self.explicit & set(known) - _RESUME_MAY_CHANGE):
            if self.options[name] != known[name]:
                with told_of(os.fspath(path)):
                    raise contradiction(name, self.options[name], known[name])
        self._epochs_before = coder.n_epochs
        # A counts file may not say how it was counted.
        self.options.update({name: value for name, value in reading.items() if value is not None})
        coder.set_params(**{name: self.options[name] for name in self.explicit & _RESUME_MAY_CHANGE})
        coder.threads = self.options["threads"]
        return coder, inputs

    def _tell_of_resuming(self, tell: Callable[[str], None]) -> None:
        epochs = self.coder.n_epochs
        if (done := len(self.coder.history_)) <= epochs:  # else it is refused
            tell(f"going on after epoch {done} of {epochs}")
        if self.coder.algorithm == "sgd" and epochs != self._epochs_before:
            tell(
                f"warning: the learning rate of sgd was to fall over {self._epochs_before} epochs: "
                f"this is not what {epochs} epochs at once give"
            )

    def _resumed(self, coder: ForestCoder, inputs: list[str]) -> ForestCoder:
        if inputs != [record["sha256"] for record in self.inputs]:
            raise WordkitError(f"{self.options['resume']}: was trained on other data")
        if self.parents is not None and not np.array_equal(self.parents, coder.forest_.parents):
            raise WordkitError(f"{self.options['forest']}: is not the forest of {self.options['resume']}")
        return coder

    def _reading(self) -> dict[str, Any]:
        """What the matrix depends on beside the inputs; of the counting, what the counts say of themselves."""
        told = {name: self.counts.meta.get(name) for name in COUNTING}
        counting = {name: value if isinstance(value, int) else None for name, value in told.items()}
        return {**{name: self.options[name] for name in ("weighting", "shift")}, **counting}

    # --- fitting ---------------------------------------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        """Whether there is a state worth keeping."""
        return hasattr(getattr(self, "coder", None), "_training")

    def fit(self, monitor: Monitor) -> None:
        """Train; the state can be saved whenever the monitor is called, and after an interruption."""
        if self.options["resume"]:
            try:
                self.coder.resume(self.rows, monitor=monitor)
            except ValueError as error:
                raise WordkitError(f"{self.options['resume']}: {error}") from None
        else:
            self.coder.fit(self.rows, monitor=monitor)

    def signature(self) -> str:
        """Names all that the result depends on, and nothing else: equal work has equal signatures."""
        coder = self.coder
        parameters = {**self._reading(), **coder.get_params(), "epochs": coder.n_epochs}
        unused = {"threads", "parents"}
        for (option, value), others in MEANINGLESS.items():
            if parameters[option] == value:
                unused.update(others)
        if coder.regularizer == "forest" and coder.algorithm != "svd":
            forest = coder.forest_
            parameters["tree_shape"] = forest.shape or " ".join(map(str, forest.parents.tolist()))
        if coder.algorithm == "sgd" and int(coder.threads) > 1:  # they do not wait for each other
            unused.remove("threads")
        kept = {key: value for key, value in parameters.items() if key not in unused}
        return signature("sparse-code", kept, self.inputs)

    # --- results ---------------------------------------------------------------------------------------------------

    def save(self, path: str) -> None:
        """Write a checkpoint, whole or not at all."""
        arrays, values = self.coder.state()
        header = {
            "command": "sparse-code",
            "signature": self.signature(),
            "inputs": self.inputs,
            "reading": self._reading(),
        }
        write_model(path, KIND, arrays, {**header, **values})

    def write(self, output: str, dictionary: str | None, forest: str | None) -> None:
        """Codes, and by option the atoms, a row a context word, and the forest."""
        write_vectors(output, self.counts.words, self.coder.codes_)
        if dictionary:
            write_vectors(dictionary, self.counts.words, np.ascontiguousarray(self.coder.components_.T))
        if forest:
            write_forest(forest, self.coder.forest_.parents)

    def result(self) -> Result:
        """The numbers of the run."""
        coder = self.coder
        last = {
            key: value
            for key, value in (coder.history_[-1] if coder.history_ else {}).items()
            if key != "epoch"
        }
        codes = coder.codes_
        used = int(np.count_nonzero(codes.any(axis=1)))
        return Result(
            name="sparse-code",
            data=", ".join(record["name"] for record in self.inputs),
            metrics={
                **last,
                **({} if coder.algorithm == "svd" else {"epochs": coder.n_iter_}),
                "density": float(np.count_nonzero(codes)) / codes.size,
                "unused_atoms": int(np.count_nonzero(~codes.any(axis=0))),
            },
            covered=used,
            total=len(codes),
            details={
                "density_of_level": {str(level): share for level, share in enumerate(coder.level_density())},
                "history": coder.history_,
            },
        )
