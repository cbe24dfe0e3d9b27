#!/usr/bin/env bash
# The main job of wordkit on the sample data: train, predict, evaluate, vectors. Run by `make demo`; needs `wordkit` on PATH.
set -euo pipefail
samples=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
say() { printf '\n== %s\n' "$*"; }

say "train-rpa: learn word vectors and a classifier together"
wordkit train-rpa "$samples/questions.train.txt" -o questions.model --dim 50 --ngrams 2 --vectors-out questions.vec

say "predict: one label a line"
head -n 3 "$samples/questions.test.txt" | cut -d' ' -f2- | wordkit --quiet predict questions.model - --scores

say "evaluate classification: on documents it has not seen"
wordkit --quiet evaluate classification questions.model "$samples/questions.test.txt"

say "the same with vectors that stay fixed (pa) and without vectors (pa-onehot)"
for algorithm in pa pa-onehot; do
  wordkit --quiet train-rpa "$samples/questions.train.txt" -o "$algorithm.model" --dim 50 --algorithm "$algorithm" >/dev/null
  printf '%s\t' "$algorithm"
  wordkit --quiet evaluate classification "$algorithm.model" "$samples/questions.test.txt" | head -n 1
done

say "neighbors: what the re-embedded vectors hold together"
wordkit --quiet neighbors questions.vec "$(head -n 12 questions.vec | tail -n 1 | cut -d' ' -f1)" --top 5

say "de-noising (Denis and Ralaivola 2017, Figure 1): accuracy of PA and RPA on noisy vectors"
python -m wordkit.evaluation.denoising
