"""A small treebank, and what a corpus holds as words, for tests of corpora."""

from __future__ import annotations

from wordkit.models.tree_corpus import TreeCorpus


def conll(*sentences: str) -> str:
    """Sentences of ``form/tag/head/deprel`` words."""
    out = []
    for sentence in sentences:
        for number, word in enumerate(sentence.split(), start=1):
            form, tag, head, label = word.split("/")
            out.append(f"{number}\t{form}\t{form.lower()}\t{tag}\tx\t_\t{head}\t{label}\t_\t_\n")
        out.append("\n")
    return "".join(out)


TREES = conll(
    "The/D/2/det dog/N/3/nsubj barks/V/0/root", "dog/N/0/root the/D/1/det", "Up/A/0/root Up/A/0/root"
)


def whole(corpus: TreeCorpus):
    """The only batch of a corpus."""
    (trees,) = corpus.batches(10**6)
    return trees


def sentences(corpus: TreeCorpus, batches=None) -> list[tuple]:
    """(words, heads, labels) of each sentence, as strings and numbers."""
    out = []
    for trees in corpus.batches(10**6) if batches is None else batches:
        for lo, hi in zip(trees.offsets[:-1].tolist(), trees.offsets[1:].tolist(), strict=True):
            words = tuple(corpus.vocabulary.words[w] for w in trees.words[lo:hi].tolist())
            labels = tuple(corpus.label_names[n] for n in trees.labels[lo:hi].tolist())
            out.append((words, tuple(trees.heads[lo:hi].tolist()), labels))
    return out


def words_of(corpus: TreeCorpus) -> list[str]:
    return [" ".join(words) for words, _, _ in sentences(corpus)]
