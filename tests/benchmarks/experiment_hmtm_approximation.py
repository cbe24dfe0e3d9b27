"""Figures 2.2 and 2.3 of Grave's thesis: projected messages beside exact ones, epoch for epoch, and how many classes are kept.

    experiment_hmtm_approximation.py --data FOLDER --output results/hmtm-approximation

Trains on the UD trees of FOLDER/ud, held out: its dev part, exact log-likelihood. Writes OUTPUT.tsv (curves), OUTPUT.support.tsv
(mean number of classes that epsilon-best keeps, after each epoch), figures beside them, and prints how far k-best 16 is from
exact messages. One run on the command line:

    wordkit train-hmtm gum-train.conllu.gz -o M --k 16 --gamma 0.7 --heldout gum-dev.conllu.gz
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads of BLAS only get in each other's way on small matrices

import numpy as np

from wordkit.errors import WordkitError
from wordkit.formats.opening import open_output
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.hmtm_inference import Projected
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.monitor import Monitor
from wordkit.plotting.curves import curves_figure, read_curves

GAMMAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
TRAIN, HELDOUT = "ud/gum-train.conllu.gz", "ud/gum-dev.conllu.gz"


class _Recorder(Monitor):
    """Keeps the curves of a training, and how many classes its projection keeps."""

    def __init__(self, model: HiddenMarkovTree, heldout: TreeCorpus) -> None:
        self.model, self.heldout = model, heldout
        self.curve: list[tuple[int, float, float]] = []
        self.support: list[float] = []
        self.started = time.process_time()

    def epoch(self, record: MutableMapping[str, Any]) -> None:
        seconds = time.process_time() - self.started
        self.curve.append((record["epoch"], record["heldout_log_likelihood"], seconds))
        inference = self.model.inference()
        if isinstance(inference, Projected):
            sizes = [
                inference.supports(trees, self.model.statistics_) for trees in self.heldout.batches(1000)
            ]
            self.support.append(float(np.concatenate(sizes).mean()))


def run(corpus: TreeCorpus, heldout: TreeCorpus, **parameters: Any) -> _Recorder:
    model = HiddenMarkovTree(**parameters)
    recorder = _Recorder(model, heldout)
    model.fit(corpus, heldout=heldout, monitor=recorder)
    return recorder


def settings() -> list[dict[str, Any]]:
    """Exact and k = 16 for all gammas, the others for 0.7."""
    out: list[dict[str, Any]] = []
    for gamma in GAMMAS:
        out += [{"projection": "exact", "gamma": gamma}, {"projection": "kbest", "k": 16, "gamma": gamma}]
    out += [{"projection": "kbest", "k": k, "gamma": 0.7} for k in (4, 8, 32)]
    out += [{"projection": "ebest", "epsilon": epsilon, "gamma": 0.7} for epsilon in (0.1, 0.01, 0.001)]
    out += [{"projection": "kbest", "k": 16, "gamma": 0.7, "start_states": 16}]
    return out


def name_of(setting: dict[str, Any]) -> str:
    size = setting.get("k", setting.get("epsilon", ""))
    split = f" from {setting['start_states']} states" if "start_states" in setting else ""
    return f"{setting['projection']} {size} gamma {setting['gamma']}{split}".replace("  ", " ")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--states", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=5)
    given = parser.parse_args(arguments)
    corpus = read_corpus([Path(given.data, TRAIN)], min_count=2)
    heldout = read_corpus(
        [Path(given.data, HELDOUT)],
        vocabulary=corpus.vocabulary,
        label_names=corpus.label_names,
        max_length=None,
    )
    Path(given.output).parent.mkdir(parents=True, exist_ok=True)
    rows, supports, found = (
        ["setting\tepoch\tmetric\tvalue\tseconds"],
        ["setting\tepoch\tmetric\tvalue\tseconds"],
        {},
    )
    for setting in settings():
        recorder = run(corpus, heldout, states=given.states, epochs=given.epochs, **setting)
        name = name_of(setting)
        found[name] = np.array([value for _, value, _ in recorder.curve])
        print(f"{name}\t" + "\t".join(f"{value:.4f}" for value in found[name]), flush=True)
        rows += [f"{name}\t{e}\theldout_log_likelihood\t{v:.6f}\t{s:.3f}" for e, v, s in recorder.curve]
        if setting["projection"] == "ebest":
            supports += [
                f"{name}\t{e}\tclasses_kept\t{size:.3f}\t{s:.3f}"
                for (e, _, s), size in zip(recorder.curve, recorder.support, strict=True)
            ]
            print("  classes kept: " + " ".join(f"{size:.1f}" for size in recorder.support), flush=True)
    for gamma in GAMMAS:
        difference = found[f"exact gamma {gamma}"] - found[f"kbest 16 gamma {gamma}"]
        print(
            f"gamma {gamma}: exact is ahead of k = 16 by at most {difference.max():.4f} nats a token, "
            f"{difference[-1]:.4f} at the end"
        )
    for suffix, lines, metric in (
        ("", rows, "heldout_log_likelihood"),
        (".support", supports, "classes_kept"),
    ):
        with open_output(f"{given.output}{suffix}.tsv") as out:
            out.write(("\n".join(lines) + "\n").encode())
        try:
            curves_figure(read_curves(f"{given.output}{suffix}.tsv"), metric, f"{given.output}{suffix}.png")
        except WordkitError as error:
            print(f"no figure: {error}")


if __name__ == "__main__":
    main()
