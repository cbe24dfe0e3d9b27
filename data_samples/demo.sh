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
echo "On this easy data words alone do as well; what re-embedding gains is over fixed vectors, and over noisy ones (below)."
for algorithm in pa pa-onehot; do
  wordkit -q train-rpa "$samples/questions.train.txt" -o "$algorithm.model" --ngrams 2 --algorithm "$algorithm" >/dev/null
  printf '%s\t' "$algorithm"
  wordkit -q evaluate classification "$algorithm.model" "$samples/questions.test.txt" | head -n 1
done

say "vectors that start from given ones, shared by all classes, and their neighbours"
wordkit -q train-rpa "$samples/questions.train.txt" -o shared.model --vectors "$samples/vectors.txt" --embedding shared \
  --vectors-out shared.vec >/dev/null
wordkit -q neighbors shared.vec who where --top 3

say "train-hmtm: classes of words from dependency trees"
wordkit -q train-hmtm "$samples/trees.conllu" -o trees.model --states 16 --vectors-out trees.vec
wordkit -q classes trees.model --top 6 | head -n 5
head -n 9 "$samples/trees.conllu" | wordkit -q decode trees.model -
wordkit -q evaluate likelihood trees.model "$samples/trees.conllu"

say "brown: clusters of words from text"
wordkit -q brown "$samples/corpus.txt" -o corpus.paths --clusters 20
head -n 3 corpus.paths

say "cooccur: counts of words near each other, and the most frequent words"
wordkit -q cooccur "$samples/corpus.txt" -o corpus.counts.npz --min-count 5
wordkit -q vocab "$samples/corpus.txt" --max-vocab 3

say "sparse-code: word vectors with exact zeros, organized by trees"
wordkit -q sparse-code corpus.counts.npz -o codes.vec --dim 26 --epochs 2 --lam 1

say "dcme: word vectors, and a classifier, with a soft-max over all words or classes"
wordkit -q dcme "$samples/corpus.txt" -o dcme.vec --dim 30 --epochs 2 --heldout "$samples/corpus.txt" --curves curves.tsv
wordkit -q dcme "$samples/questions.train.txt" -o dcme.model --task classification --epochs 10 --heldout "$samples/questions.test.txt"
wordkit -q predict dcme.model "$samples/questions.test.txt" | sort | uniq -c

say "plot words: vectors on a plane (needs matplotlib and scikit-learn, the extras plot and eval)"
if python -c 'import matplotlib, sklearn' 2>/dev/null; then
  printf 'who\nwhere\nwhen\ndog\ncat\ngood\nbad\n' | wordkit -q plot words "$samples/vectors.txt" -o words.png
else
  echo "they are not installed here"
fi

say "nbest: the best parses of each sentence, by parsers that have not seen it, with features for rerankers"
wordkit -q nbest "$samples/trees.conllu" -o lists.gz --n 10 --folds 3 --epochs 2 --hash-bits 18 --model-out parser
head -n 9 "$samples/trees.conllu" | wordkit -q nbest - --model parser --n 1 --trees-out -

say "evaluate similarity: word vectors beside people's scores"
wordkit -q evaluate similarity trees.vec "$samples/similarity.txt" --similarity hellinger

say "evaluate analogy: dog is to dogs as cat is to what?"
wordkit -q evaluate analogy "$samples/vectors.txt" "$samples/analogies.txt"

say "evaluate categorization, bless, composition, completion: clusters, relations, phrases, gaps"
wordkit -q evaluate categorization "$samples/vectors.txt" "$samples/categories.txt" --summary
wordkit -q evaluate bless "$samples/vectors.txt" "$samples/relations.txt"
wordkit -q evaluate composition trees.vec "$samples/phrases.txt" --transition trees.model --similarity hellinger
wordkit -q evaluate completion "$samples/vectors.txt" "$samples/completion.csv" --intervals --against trees.vec

say "evaluate ner: entities that the training part holds, wherever they come again (the CRF needs the extra eval)"
wordkit -q evaluate ner "$samples/entities.train.conll" "$samples/entities.test.conll" --method baseline

say "trace-lasso: variables of a correlated design, with a certified gap"
wordkit -q trace-lasso "$samples/regression.csv" "$samples/regression.y.txt" -o coefficients.tsv --lam 0.05
awk -F'\t' '$3 == 1' coefficients.tsv | cut -f1,2 | paste -sd' '

say "tmira, rerank: parses reranked by weights in a small tensor"
wordkit -q tmira "$samples/nbest.txt" -o small.model --counts "$samples/nbest.counts" --rival cost
wordkit -q rerank small.model "$samples/nbest.txt" | head -n 3

say "de-noising (Denis and Ralaivola 2017, Figure 1): accuracy of PA and RPA on noisy vectors"
python -m wordkit.evaluation.denoising
