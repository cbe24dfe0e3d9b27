"""Online EM of hidden Markov tree models: tokens a second, threads, growth in classes and words, memory.

The thesis's figure is its own: 310 million tokens with hundreds of states in less than two days on one core.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks.measure import THIS_PYTHON, in_process, least_seconds, row
from tests.benchmarks.tree_samples import write_treebank
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import TreeCorpus, read_corpus
from wordkit.parallel import map_blocks

THESIS = 1800.0  # tokens a second
STATES, WORDS, SENTENCES, LENGTH = 512, 50_000, 30_000, 20

_MEMORY = """
import json, sys
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import read_corpus
def peak():  # of this process image alone: getrusage would count the parent's at the time of the fork
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])
corpus = read_corpus([sys.argv[1]])
before = peak()
model = HiddenMarkovTree(states=int(sys.argv[2]), epochs=1).fit(corpus)
print(json.dumps({"fit": peak() - before, "floats": model.statistics_.emissions.size, "tokens": corpus.n_tokens}))
"""

_EPOCHS = """
import json, sys, time
from wordkit.models.hmtm import HiddenMarkovTree
from wordkit.models.tree_corpus import read_corpus
from wordkit.monitor import Monitor
class Ends(Monitor):
    def __init__(self):
        self.times = [time.perf_counter()]
    def epoch(self, record):
        self.times.append(time.perf_counter())
ends, corpus = Ends(), read_corpus([sys.argv[1]], max_vocab=int(sys.argv[4]))
HiddenMarkovTree(states=int(sys.argv[2]), epochs=5, threads=int(sys.argv[3])).fit(corpus, monitor=ends)
times = sorted(b - a for a, b in zip(ends.times[1:], ends.times[2:]))
print(json.dumps({"least": times[0], "median": (times[1] + times[2]) / 2}))
"""


def threads(path: str, tokens: int) -> None:
    """Two threads beside one, and what the machine gives: two processes that share nothing beside one. Epochs but the first."""
    arguments = [(path, str(STATES), str(number), str(WORDS)) for number in (1, 2)]
    # Turn about, since other work on the machine takes a core now and then: the least of each is what counts.
    runs = [[in_process(THIS_PYTHON, _EPOCHS, *each)["least"] for each in arguments] for _ in range(3)]
    one, two = map(min, zip(*runs, strict=True))
    row("hmtm online EM, two threads beside one", tokens / two, tokens / one, "tokens/s")
    pair = map_blocks(lambda _: in_process(THIS_PYTHON, _EPOCHS, *arguments[0])["median"], range(2), 2)
    row("hmtm online EM, two processes beside one", 2 * tokens / max(pair), tokens / one, "tokens/s")


def _fit(corpus: TreeCorpus, *, states: int = STATES) -> HiddenMarkovTree:
    return HiddenMarkovTree(states=states, epochs=1).fit(corpus)


def _microseconds_a_token(large: TreeCorpus, small: TreeCorpus, states: int) -> float:
    """From two corpora of one vocabulary: what a run pays once (start and end, words x states) falls out."""
    times = [least_seconds(lambda corpus=corpus: _fit(corpus, states=states), 2) for corpus in (large, small)]
    return 1e6 * (times[0] - times[1]) / (large.n_tokens - small.n_tokens)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="not used: there is no peer to run")
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_treebank(folder / "large.conll", sentences=SENTENCES, length=LENGTH, words=2 * WORDS)
        corpus = read_corpus([folder / "large.conll"], max_vocab=WORDS)
        tokens, words = corpus.n_tokens, len(corpus.vocabulary)
        seconds = least_seconds(lambda: _fit(corpus), 2)
        row(
            f"hmtm online EM, tree, {STATES} states, k 16, {words} words; the thesis's own figure",
            tokens / seconds,
            THESIS,
            "tokens/s",
        )
        threads(str(folder / "large.conll"), tokens)
        write_treebank(folder / "small.conll", sentences=SENTENCES // 4, length=LENGTH, words=2 * WORDS)
        for states in (128, 256, 512, 1024):
            small = read_corpus([folder / "small.conll"], vocabulary=corpus.vocabulary)
            row(
                f"hmtm growth in states: {states}",
                _microseconds_a_token(corpus, small, states),
                None,
                "us/token",
            )
        for limit in (5_000, 20_000, 80_000):
            few = read_corpus([folder / "large.conll"], max_vocab=limit)
            small = read_corpus([folder / "small.conll"], vocabulary=few.vocabulary)
            task = f"hmtm growth in words: {len(few.vocabulary)}"
            row(task, _microseconds_a_token(few, small, STATES), None, "us/token")
        for size in ("small", "large"):
            used = in_process(THIS_PYTHON, _MEMORY, str(folder / f"{size}.conll"), str(STATES))
            floats = 4.0 * used["floats"]
            row(
                f"hmtm memory of training, {used['tokens']} tokens, in words x states floats",
                used["fit"] / floats,
                None,
                "x",
            )


if __name__ == "__main__":
    main()
