"""The job of ``train-rpa`` from files to a fitted :class:`TextClassifier`: fresh, resumed, or continued on new data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation.result import Result
from wordkit.formats.vectors import read_vectors, write_vectors
from wordkit.models.cross_validation import stratified_folds
from wordkit.models.earlier_training import contradiction
from wordkit.models.features import Features, LabelledRows, TextFeatures
from wordkit.models.labelled_training import (
    check_features,
    check_same_data,
    data_notes,
    features_of,
)
from wordkit.models.rpa import RPAClassifier, random_vectors
from wordkit.models.rpa_search import PAPER_GRID, GridPoint, search
from wordkit.models.text_classifier import TextClassifier
from wordkit.monitor import Monitor
from wordkit.parallel import memory
from wordkit.signature import signature
from wordkit.tally import Tally

# Options that are the classifier's constructor arguments.
_CLASSIFIER = (
    "algorithm", "dim", "update", "C", "lam", "epochs", "inner_iterations", "class_weight", "embedding", "normalize",
    "concat_onehot", "average", "shuffle", "seed", "threads",
)  # fmt: skip
_KIND = {"rpa": "a model of train-rpa"}
# Those that a resumed or continued run may change.
_RESUME_MAY_CHANGE = {"epochs", "threads"}
_INIT_MAY_CHANGE = {
    "epochs",
    "threads",
    "C",
    "lam",
    "update",
    "inner_iterations",
    "class_weight",
    "shuffle",
    "seed",
}


class Run:
    """One training run. Call :meth:`read`, :meth:`choose`, :meth:`fit` in this order.

    Args:
        options: the command's options by their Python names (``C``, ``lam``, ..., ``vectors``, ``dev``, ``cv``, ``grid``,
            ``init``, ``resume``, ``format``, ``min_count``, ``ngrams``, ``lowercase``, ``label_prefix``, ``multi_label``).
        explicit: names of the options that the user gave.
        tally: counts odd records of the data.

    ``begun``: whether the model holds weights that are worth keeping.
    """

    def __init__(self, options: Mapping[str, Any], explicit: set[str], tally: Tally) -> None:
        self.options, self.explicit, self.tally = options, explicit, tally
        self.begun = False
        self.points: list[GridPoint] = []
        self.dev: LabelledRows | None = None

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, paths: Sequence[str]) -> list[str]:
        """Read training and held-out data, initial vectors and earlier models; returns notes for the user."""
        earlier = self.options["resume"] or self.options["init"]
        self.earlier = TextClassifier.load(earlier, _KIND) if earlier else None
        notes = self._read_earlier(paths) if self.earlier else self._read_fresh(paths)
        summary = data_notes(self.data, paths, fresh=not self.earlier)
        if self.options["vectors_out"]:
            self._check_vectors_out(self.options["vectors_out"])
        if self.options["dev"]:
            self.dev = self.model.features.read([self.options["dev"]], self.tally)
        self._check_memory(len(np.unique(self.data.labels)))
        return [*summary, *self.data.notes, *notes]

    def _check_memory(self, labels: int) -> None:
        """Tell before the training that the weights cannot fit: the system would kill the run."""
        classifier, features = self.model.classifier, self.model.features.n_features
        if self.earlier:
            return
        problems = labels if labels > 2 else 1
        own = classifier.algorithm == "rpa" and classifier.embedding == "per-class"
        embedded = 0 if classifier.algorithm == "pa-onehot" else classifier.dim * (problems if own else 1)
        one_hot = problems if classifier.concat_onehot or classifier.algorithm == "pa-onehot" else 0
        size = 4 * features * (embedded + one_hot) * (2 if classifier.average else 1)
        if size > memory():
            raise WordkitError(
                f"the weights of {labels} labels and {features} features take {size / 2**30:.0f} GiB, more than this machine "
                "has; use --embedding shared, a smaller --dim or a larger --min-count"
            )

    def _check_vectors_out(self, path: str) -> None:
        """Tell before the training that there will be no vectors to write."""
        if not self.model.words():
            raise WordkitError(f"{path}: svmlight features have no words to write vectors for")
        if self.model.classifier.algorithm == "pa-onehot":
            raise WordkitError(f"{path}: --algorithm pa-onehot has no word vectors")

    def _read_fresh(self, paths: Sequence[str]) -> list[str]:
        options = self.options
        features = features_of(options)
        self.data = features.read(paths, self.tally, fit=True)
        classifier = RPAClassifier(**{name: options[name] for name in _CLASSIFIER})
        classifier.C = classifier.C_  # the file names the value, not "default"
        self.model = TextClassifier(features, classifier)
        notes: list[str] = []
        if options["vectors"]:
            classifier.vectors, notes = self._initial_vectors(features)
            classifier.dim = classifier.vectors.shape[1]
        return notes

    def _initial_vectors(self, features: Features) -> tuple[np.ndarray, list[str]]:
        """The given vectors as rows of all features, and how many words have none (Table 2 of the paper)."""
        path = self.options["vectors"]
        if not isinstance(features, TextFeatures):
            raise WordkitError(f"{path}: word vectors need text, and svmlight features have no words")
        wanted = features.bag.words_
        words, found = read_vectors(path, only_words=wanted, tally=self.tally)
        if not len(words):
            raise WordkitError(f"{path}: none of the {len(wanted)} words of the training data is in it")
        k = found.shape[1]
        if "dim" in self.explicit and self.options["dim"] != k:
            raise WordkitError(
                f"{path}: vectors have {k} dimensions, and --dim asks for {self.options['dim']}"
            )
        vectors = np.zeros((features.n_features, k), dtype=np.float32)
        vectors[features.bag.vocabulary_numbers(words)] = found
        missing = len(wanted) - len(words)
        share = 100 * missing / len(wanted)
        return vectors, [f"{missing} of {len(wanted)} words ({share:.2f}%) have no vector and start at zero"]

    def _read_earlier(self, paths: Sequence[str]) -> list[str]:
        assert self.earlier is not None
        resume = bool(self.options["resume"])
        self.model, features, classifier = self.earlier, self.earlier.features, self.earlier.classifier
        self._adopt(classifier, _RESUME_MAY_CHANGE if resume else _INIT_MAY_CHANGE)
        self.begun = True
        if resume:
            if classifier.epochs < classifier.n_iter_ + (classifier.position_ > 0):
                raise WordkitError(
                    f"--epochs {classifier.epochs}: the checkpoint is beyond, in epoch {classifier.n_iter_ + 1}"
                )
            self.data = features.read(paths, self.tally)
            header = self.earlier.header
            check_same_data(header, self.data.inputs, self.options["resume"], paths)
            return [
                f"going on after epoch {classifier.n_iter_}, {classifier.position_} documents into the next"
            ]
        return self._widen(paths)

    def _widen(self, paths: Sequence[str]) -> list[str]:
        """Read new data for ``--init``; its new words are appended to the model."""
        features, classifier = self.model.features, self.model.classifier
        old = features.n_features
        self.data = features.read(paths, self.tally, extend=True)
        unknown = np.setdiff1d(self.data.labels, classifier.classes_)
        if len(unknown):
            raise WordkitError(
                f"label `{unknown[0]}` is not one of the model's: {', '.join(classifier.classes_)}"
            )
        fresh = random_vectors(features.n_features, classifier.embedding_.shape[2], classifier.seed)[old:]
        if self.earlier is not None and self.earlier.header.get("vectors"):
            fresh[:] = 0
        classifier.widen(fresh)
        if isinstance(features, TextFeatures) and features.bag.ngrams > 1:
            return ["a model with n-grams takes no new words: those of the data that it lacks are left out"]
        return [f"{len(fresh)} new words appended to the model's {old} features"]

    def _adopt(self, classifier: RPAClassifier, may_change: set[str]) -> None:
        """Take what the user gave and may change; what may not must agree with the earlier model."""
        classifier.threads = self.options["threads"]
        earlier = self.options["resume"] or self.options["init"]
        for name in self.explicit & set(_CLASSIFIER):
            if name in PAPER_GRID and self._chosen():
                continue
            value, before = self.options[name], getattr(classifier, name)
            if name in may_change:
                setattr(classifier, name, value)
            elif value != before:
                raise contradiction(name, value, before, earlier)
        check_features(self.model.features, self.options, self.explicit, earlier)
        for name in sorted(self.explicit & {"vectors", "cv", "grid"}):
            if not (
                self.options["resume"] and (self._chosen() if name != "vectors" else self._given_vectors())
            ):
                raise WordkitError(f"--{name} is the earlier model's to say; leave it out")

    def _chosen(self) -> bool:
        """Whether the resumed run had chosen from a grid, as the command says again."""
        return bool(self.earlier and self.options["resume"] and self.earlier.header["grid"])

    def _given_vectors(self) -> bool:
        return bool(self.earlier and self.earlier.header.get("vectors"))

    # --- choosing and fitting --------------------------------------------------------------------------------------

    def choose(self, monitor: Monitor) -> list[GridPoint]:
        """Choose C, lambda and epochs from the grid where one was asked for; returns its points, best first."""
        options = self.options
        if self.earlier or not (options["cv"] or options["grid"]):
            return []
        labels = self.data.labels
        classifier = self.model.classifier
        if options["cv"]:
            if options["cv"] > len(labels):
                raise WordkitError(f"--cv {options['cv']}: there are only {len(labels)} documents")
            folds = stratified_folds(labels, options["cv"], options["seed"])
            splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(options["cv"])]
            rows = self.data.rows
        else:
            assert self.dev is not None
            n, held_out = len(labels), len(self.dev.labels)
            rows = _stack(self.data.rows, self.dev.rows)
            labels = np.concatenate([labels, self.dev.labels])
            splits = [(np.arange(n), np.arange(n, n + held_out))]
        for train, _ in splits:
            if len(only := np.unique(labels[train])) < 2:
                raise WordkitError(f"--cv {options['cv']}: a fold leaves documents of label `{only[0]}` only")
        # What the user fixed beside the grid is fixed.
        given = {name: (options[name],) for name in PAPER_GRID if name in self.explicit}
        grid = {**given, **options["grid"]} if options["grid"] else {**PAPER_GRID, **given}
        self.points = search(
            classifier, rows, labels, splits, grid, threads=options["threads"], monitor=monitor
        )
        best = self.points[0]
        classifier.set_params(C=best.C, lam=best.lam, epochs=best.epochs)
        return self.points

    def fit(self, monitor: Monitor) -> None:
        """Train; raises Interrupted where the monitor asks to stop."""
        classifier, data = self.model.classifier, self.data
        self.model.header = self._header()
        self.begun = True
        if self.options["resume"]:
            classifier.resume(data.rows, data.labels, monitor=monitor)
        elif self.options["init"]:
            classifier.continue_on(data.rows, data.labels, monitor=monitor)
        else:
            classifier.fit(data.rows, data.labels, monitor=monitor)

    def _header(self) -> dict[str, Any]:
        """What the model file says of the run; nothing in it depends on threads, paths or time."""
        classifier = self.model.classifier
        parameters = {name: getattr(classifier, name) for name in _CLASSIFIER if name != "threads"}
        _, features = self.model.features.state()
        vectors = self.earlier.header.get("vectors") if self.earlier else None
        if classifier.vectors is not None:
            vectors = hashlib.sha256(np.ascontiguousarray(classifier.vectors).tobytes()).hexdigest()
        inputs = self.data.inputs
        chosen: list[dict[str, Any]] | None = [_as_dict(point) for point in self.points]
        before = self.earlier.header if self.earlier else {}
        # How many of the inputs are those of the models that went before.
        continued = len(before["inputs"]) if before else 0
        if self.options["resume"]:
            inputs, chosen, continued = before["inputs"], before.get("grid"), before.get("continued", 0)
        elif before:
            inputs = [*before["inputs"], *inputs]
        all_parameters = {**features, **parameters, "vectors": vectors[:12] if vectors else None}
        return {
            "command": "train-rpa",
            "signature": signature("train-rpa", all_parameters, inputs),
            "inputs": inputs,
            "vectors": vectors,
            **({"grid": chosen} if chosen else {}),
            **({"continued": continued} if continued else {}),
        }

    # --- results ---------------------------------------------------------------------------------------------------

    def held_out_metrics(self) -> dict[str, float]:
        """Accuracy on the held-out documents, where there are any."""
        if self.dev is None:
            return {}
        return {"dev_accuracy": self.model.classifier.score(self.dev.rows, self.dev.labels)}

    def write_vectors(self, path: str) -> list[str]:
        """Write the re-embedded word vectors; returns notes for the user."""
        words, vectors = self.model.words(), self.model.classifier.word_vectors()
        write_vectors(path, words, vectors[: len(words)])
        grams = len(vectors) - len(words)
        return [f"{grams} n-grams have vectors of their own that are not in {path}"] if grams else []

    def result(self) -> Result:
        """The numbers of the run."""
        classifier = self.model.classifier
        last = classifier.history_[-1] if classifier.history_ else {}
        chosen = {"cv_accuracy": self.points[0].mean, "cv_std": self.points[0].std} if self.points else {}
        if self.points and not self.options["cv"]:
            chosen = {}
        return Result(
            name="train-rpa",
            data=", ".join(record["name"] for record in self.data.inputs),
            metrics={
                **chosen,
                **{key: value for key, value in last.items() if key != "epoch"},
                "epochs": classifier.n_iter_,
                "C": classifier.C_,
                "lam": classifier.lam,
                "labels": len(classifier.classes_),
                "features": classifier.n_features_in_,
            },
            covered=int(np.count_nonzero(np.diff(self.data.rows.indptr))),
            total=len(self.data.labels),
            details={"grid": [_as_dict(point) for point in self.points]} if self.points else {},
        )


def _as_dict(point: GridPoint) -> dict[str, Any]:
    return {"C": point.C, "lam": point.lam, "epochs": point.epochs, "accuracy": point.mean, "std": point.std}


def _stack(first: Any, second: Any) -> Any:
    import scipy.sparse

    return scipy.sparse.csr_array(scipy.sparse.vstack([first, second], format="csr"))


def grid_note(points: Sequence[GridPoint]) -> str:
    """One line on what was chosen."""
    best = points[0]
    return (
        f"chosen from {len(points)} grid points: C = {best.C:g}, lambda = {best.lam:g}, {best.epochs} epochs, "
        f"held-out accuracy {best.mean:.4f} (standard deviation {best.std:.4f} over {len(best.accuracies)} splits)"
    )
