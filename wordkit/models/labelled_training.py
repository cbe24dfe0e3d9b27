"""What trainings of classifiers from files share: features by the options, what is said of the data, what must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wordkit.errors import WordkitError
from wordkit.formats.opening import names_of
from wordkit.models.earlier_training import contradiction
from wordkit.models.features import Features, LabelledRows, SvmlightFeatures, TextFeatures

# Options of the features, and what their state calls them.
_FEATURES = {
    "format": "format", "min_count": "min_count", "ngrams": "ngrams", "lowercase": "lowercase",
    "label_prefix": "prefix", "multi_label": "multi_label",
}  # fmt: skip
_LABELS_LISTED = 20


def features_of(options: Mapping[str, Any]) -> Features:
    """Features before they have seen data, by the command's options."""
    if options["format"] == "svmlight":
        return SvmlightFeatures()
    return TextFeatures(
        min_count=options["min_count"], ngrams=options["ngrams"], lowercase=options["lowercase"],
        prefix=options["label_prefix"], multi_label=options["multi_label"],
    )  # fmt: skip


def data_notes(data: LabelledRows, paths: Sequence[str], *, fresh: bool) -> list[str]:
    """Lines for the user on training data; WordkitError where a fresh model could learn nothing from them."""
    labels, counts = np.unique(data.labels, return_counts=True)
    if len(labels) < 2 and fresh:
        raise WordkitError(
            f"{names_of(paths)}: all documents have the label `{labels[0]}`; a classifier needs two labels at least"
        )
    empty = int(np.count_nonzero(np.diff(data.rows.indptr) == 0))
    summary = f"{len(data.labels)} documents, {len(labels)} labels"
    if empty:
        summary += f"; {empty} of them without any known feature"
    if len(labels) * 2 > len(data.labels):
        summary += "; most documents have a label of their own: are these labels?"
    # The labels by frequency: a mistyped one shows at once.
    order = np.lexsort((labels, -counts))
    listed = [f"{labels[i]} {counts[i]}" for i in order[:_LABELS_LISTED]]
    if len(labels) > _LABELS_LISTED:
        listed.append(f"... {labels[order[-1]]} {counts[order[-1]]}")
    return [summary, "labels: " + ", ".join(listed)]


def check_features(features: Features, options: Mapping[str, Any], explicit: set[str], model: str) -> None:
    """WordkitError where the user gave options of features that are not those of an earlier model, the file ``model``."""
    _, state = features.state()
    for name in sorted(explicit & set(_FEATURES)):
        before = state.get(_FEATURES[name], options[name])
        if options[name] != before:
            raise contradiction(name, options[name], before, model)


def check_same_data(
    header: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]], model: str, paths: Sequence[str]
) -> None:
    """WordkitError unless the last inputs that a model's header names are these."""
    before = [record["sha256"] for record in header["inputs"][header.get("continued", 0) :]]
    if before != [record["sha256"] for record in inputs]:
        raise WordkitError(f"{model}: was trained on other data than {', '.join(paths)}")
