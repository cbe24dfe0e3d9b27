"""The job of ``dcme --task classification`` from files to a fitted classifier: fresh or resumed."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.evaluation.result import Result
from wordkit.models.dcme_classifier import DualClusteringClassifier
from wordkit.models.dcme_parameters import cluster_numbers, settle
from wordkit.models.earlier_training import contradiction
from wordkit.models.features import LabelledRows
from wordkit.models.labelled_training import (
    check_features,
    check_same_data,
    data_notes,
    features_of,
)
from wordkit.models.text_classifier import TextClassifier
from wordkit.monitor import Monitor
from wordkit.parallel import memory
from wordkit.signature import signature
from wordkit.tally import Tally

# Options that are the classifier's constructor arguments.
_CLASSIFIER = (
    "objective", "variant", "clusters", "beta", "top", "prior", "negative", "noise_power", "epochs", "learning_rate",
    "normalize", "shuffle", "seed", "threads",
)  # fmt: skip
_LISTED = 10  # labels in a message
_KIND = {"dcme-classifier": "a classifier of dcme"}


class ClassifierRun:
    """One training run. Call :meth:`read`, then :meth:`fit`.

    Args:
        options: the command's options by their Python names.
        explicit: names of the options that the user gave.
        tally: counts odd records of the data.
    """

    def __init__(self, options: Mapping[str, Any], explicit: set[str], tally: Tally) -> None:
        self.options, self.explicit, self.tally = options, explicit, tally
        self.heldout: LabelledRows | None = None

    @property
    def model(self) -> DualClusteringClassifier:
        return self.file.classifier

    @property
    def begun(self) -> bool:
        """Whether there are weights that are worth keeping."""
        return hasattr(self.model, "cells_")

    # --- reading ---------------------------------------------------------------------------------------------------

    def read(self, paths: Sequence[str]) -> list[str]:
        """Read training and held-out data, and an earlier model; returns notes for the user."""
        resume, options = self.options["resume"], self.options
        if resume:
            self.file = TextClassifier.load(resume, _KIND)
            self._adopt()
            self.data = self.file.features.read(paths, self.tally)
            check_same_data(self.file.header, self.data.inputs, resume, paths)
            notes = [
                f"going on after epoch {self.model.n_iter_}, {self.model.position_} documents into the next"
            ]
        else:
            features = features_of(options)
            self.data = features.read(paths, self.tally, fit=True)
            classifier = DualClusteringClassifier(**{name: options[name] for name in _CLASSIFIER})
            settle(classifier)
            self.file = TextClassifier(features, classifier)
            notes = []
        summary = data_notes(self.data, paths, fresh=not resume)
        if options["heldout"]:
            self.heldout = self.file.features.read([options["heldout"]], self.tally)
            notes += [*self.heldout.notes, *self._heldout_notes()]
        if options["threads"] > 1:
            notes.append(
                "threads share their memory without locks: --threads 1 gives the same bytes every time"
            )
        self._check_memory()
        return [*summary, *self.data.notes, *notes]

    def _heldout_notes(self) -> list[str]:
        """What of the held-out documents counts as wrong, or tells nothing."""
        assert self.heldout is not None
        path, names = self.options["heldout"], set(self.data.labels.tolist())
        notes, labels = [], self.heldout.labels.tolist()
        if unseen := sorted(set(labels) - names):
            count = sum(label not in names for label in labels)
            listed = ", ".join(unseen[:_LISTED]) + (", ..." if len(unseen) > _LISTED else "")
            notes.append(
                f"warning: {path}: {count} of {len(labels)} documents have labels that the training data lack: {listed}"
            )
        if empty := int(np.count_nonzero(np.diff(self.heldout.rows.indptr) == 0)):
            notes.append(f"{path}: {empty} of {len(labels)} documents have no known feature")
        return notes

    def _adopt(self) -> None:
        self.model.threads = self.options["threads"]
        for name in sorted(self.explicit & set(_CLASSIFIER) - {"threads"}):
            value, before = self.options[name], getattr(self.model, name)
            if value != before:
                way = "begin anew: the step sizes fall over the epochs" if name == "epochs" else ""
                raise contradiction(name, value, before, self.options["resume"], way)
        check_features(self.file.features, self.options, self.explicit, self.options["resume"])

    def _check_memory(self) -> None:
        """Tell before the training that the weights cannot fit: the system would kill the run."""
        labels, features = len(np.unique(self.data.labels)), self.file.features.n_features
        clusters = self.model.clusters if self.model.objective == "dcme" else 0
        size = 4 * (
            2 * features * (labels + 4 * clusters) + cluster_numbers(clusters, labels)
        )  # with the last epoch's copy
        if size > memory():
            svmlight = self.options["format"] == "svmlight"
            fewer = "lower feature numbers (the largest counts)" if svmlight else "a larger --min-count"
            raise WordkitError(
                f"the weights of {labels} labels and {features} features, and clusters, take {size / 2**30:.0f} GiB, more than "
                f"this machine has; use {fewer}{' or fewer --clusters' if clusters else ''}"
            )

    # --- fitting ---------------------------------------------------------------------------------------------------

    def fit(self, monitor: Monitor) -> None:
        """Train; the model can be saved whenever the monitor is called, and after an interruption."""
        self.file.header = self._header()
        if self.options["resume"]:
            self.model.resume(self.data.rows, self.data.labels, monitor=monitor)
        else:
            self.model.fit(self.data.rows, self.data.labels, monitor=monitor)

    def save(self, path: str) -> None:
        """Write the model file."""
        self.file.save(path)

    def held_out_metrics(self) -> MutableMapping[str, Any]:
        """Accuracy on the held-out documents, and the exact log-likelihood a document of those whose label is known."""
        if self.heldout is None:
            return {}
        scores = self.model.predict_log_proba(self.heldout.rows)
        empty = np.diff(self.heldout.rows.indptr) == 0
        labels, classes = self.heldout.labels, self.model.classes_
        found = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        known = np.flatnonzero(classes[found] == labels)
        hits = self.model.best_classes(scores, empty)[known] == found[known]
        return {
            "heldout_accuracy": float(hits.sum() / len(labels)),
            "heldout_log_likelihood": float(scores[known, found[known]].mean()) if len(known) else None,
        }

    def _header(self) -> dict[str, Any]:
        """What the model file says of the run; nothing in it depends on threads, paths or time."""
        inputs = self.file.header["inputs"] if self.options["resume"] else self.data.inputs
        parameters = {key: value for key, value in self.model.get_params().items() if key != "threads"}
        _, features = self.file.features.state()
        all_parameters = {"task": "classification", **features, **parameters}
        return {"command": "dcme", "signature": signature("dcme", all_parameters, inputs), "inputs": inputs}

    # --- results ---------------------------------------------------------------------------------------------------

    def write_outputs(self, output: str) -> None:
        """The model to ``output``."""
        self.save(output)

    def warnings(self) -> list[str]:
        """What the user should know of the result."""
        return []

    def result(self) -> Result:
        """The numbers of the run."""
        model = self.model
        last = model.history_[-1] if model.history_ else {}
        return Result(
            name="dcme",
            data=", ".join(record["name"] for record in self.data.inputs),
            metrics={
                **{key: value for key, value in last.items() if key != "epoch"},
                "epochs": model.n_iter_,
                "labels": len(model.classes_),
                "features": model.n_features_in_,
            },
            covered=int(np.count_nonzero(np.diff(self.data.rows.indptr))),
            total=len(self.data.labels),
            details={"history": model.history_},
        )
