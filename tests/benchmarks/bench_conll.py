"""Tokens a processor second of the CoNLL readers, beside a bare split and the conllu package.

    python -m tests.benchmarks.bench_conll [--data FILE] [--peer-python PATH] [--repeat 5]

Prints ``task<TAB>ours<TAB>peer<TAB>unit<TAB>ratio``. The peer runs in its own interpreter, in the same run as
ours; without --peer-python only the split is compared. FILE must not be compressed; without it a treebank is
made up.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from wordkit.formats.conll import read_conll, read_conll_blocks
from wordkit.formats.text import TypeTable

PEER = """
import sys, time, conllu
start, n = time.process_time(), 0
with open(sys.argv[1], encoding="utf-8") as stream:
    for sentence in conllu.parse_incr(stream):
        words = [word for word in sentence if isinstance(word["id"], int)]
        forms = [word["form"] for word in words]
        heads = [word["head"] for word in words]
        deprels = [word["deprel"] for word in words]
        n += len(forms)
print(n, time.process_time() - start)
"""


def make_treebank(path: str, sentences: int = 10_000) -> None:
    """Random trees with the lengths, comments and features of an ordinary treebank."""
    rng = random.Random(1)
    words = ["".join(rng.choices("aeinorstlé", k=rng.randint(1, 9))) for _ in range(20_000)]
    with open(path, "w", encoding="utf-8") as out:
        for s in range(sentences):
            n = rng.randint(3, 35)
            out.write(f"# sent_id = {s}\n# text = {' '.join(rng.choices(words, k=n))}\n")
            for i in range(1, n + 1):
                form, head = rng.choice(words), rng.randint(0, i - 1)
                feats = rng.choice(["_", "Number=Sing", "Mood=Ind|Tense=Past|VerbForm=Fin"])
                out.write(f"{i}\t{form}\t{form}\tNOUN\tNN\t{feats}\t{head}\tnsubj\t{head}:nsubj\t_\n")
            out.write("\n")


def sentence_objects(path: str) -> int:
    n = 0
    for sentence in read_conll(path):
        forms, _, _ = sentence.forms, sentence.heads, sentence.deprels
        n += len(forms)
    return n


def blocks(path: str) -> int:
    return sum(block.n_words for block in read_conll_blocks(path, ("form", "deprel")))


def type_ids(path: str) -> int:
    """Blocks whose forms and relations are numbered: what a training on a treebank does."""
    words, relations, n = TypeTable(), TypeTable(), 0
    for block in read_conll_blocks(path, ("form", "deprel")):
        n += len(words.encode_spans(block.data, *block.spans("form")))
        relations.encode_spans(block.data, *block.spans("deprel"))
    return n


def bare_split(path: str) -> int:
    n, forms, heads, deprels = 0, [], [], []
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            fields = line.rstrip("\n").split("\t")
            if fields[0].isdigit():
                forms.append(fields[1])
                heads.append(int(fields[6]))
                deprels.append(fields[7])
            elif len(fields) == 1 and not line.strip():
                n += len(forms)
                forms, heads, deprels = [], [], []
    return n + len(forms)


def rate(function: Callable[[str], int], path: str, repeat: int) -> float:
    """The best of ``repeat`` runs, in tokens a second."""
    best = 0.0
    for _ in range(repeat):
        start = time.process_time()
        best = max(best, function(path) / (time.process_time() - start))
    return best


def peer_rate(python: str, path: str) -> float:
    done = subprocess.run([python, "-c", PEER, path], capture_output=True, text=True, check=True)
    n, seconds = done.stdout.split()
    return int(n) / float(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="CoNLL-U file, or the folder of data sets with ud/gum-train.conllu.gz")
    parser.add_argument("--peer-python", help="interpreter that has the conllu package")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.data or os.path.join(folder, "made-up.conllu")
        if not options.data:
            make_treebank(path)
        elif os.path.isdir(path):  # reading is measured, not inflating
            packed, path = os.path.join(path, "ud", "gum-train.conllu.gz"), os.path.join(folder, "gum.conllu")
            with gzip.open(packed) as source, open(path, "wb") as target:
                shutil.copyfileobj(source, target)
        peers = {"str.split": rate(bare_split, path, options.repeat)}
        if options.peer_python:
            peers["conllu"] = peer_rate(options.peer_python, path)
        for ours in (sentence_objects, blocks, type_ids):
            speed = rate(ours, path, options.repeat)
            for peer, other in peers.items():
                task = f"{ours.__name__} / {peer}"
                sys.stdout.write(f"{task}\t{speed:.0f}\t{other:.0f}\ttokens/s\t{speed / other:.2f}\n")


if __name__ == "__main__":
    main()
