"""Files that cannot be read: whichever command and option names one, one line says which it is and why.

Tests may run as root, whom no permission stops; so the files are folders, names that lead nowhere, and names that cannot be.
"""

from __future__ import annotations

import click
import pytest

from tests.cli.conftest import fails, made
from tests.cli.test_command_line import ALL
from wordkit.cli.evaluate.running import with_comparisons
from wordkit.errors import WordkitError

# What reads what: a file behind @ is one of the samples or of those that are made below, and each in turn is the bad one.
RUNS = """
train-rpa @questions.train.txt -o out --vectors @vectors.txt --dev @questions.test.txt
train-rpa @questions.train.txt -o out --init @rpa
train-rpa @questions.train.txt -o out --resume @rpa
brown @corpus.txt -o out --clusters 2
train-hmtm @trees.conllu -o out --heldout @trees.conllu --clusters @paths --states 2
train-hmtm @trees.conllu -o out --init @hmtm
train-hmtm @trees.conllu -o out --resume @hmtm
sparse-code @corpus.txt -o out --forest @forest
sparse-code corpus.txt -o out --resume @vectors.txt
nbest @trees.conllu -o out
nbest trees.conllu -o out --model @vectors.txt
nbest trees.conllu -o out --resume @vectors.txt
nbest -o out --trees @parses.txt --gold @parses.gold.txt
trace-lasso @regression.csv @regression.y.txt -o out --penalty group --groups @groups
trace-lasso @regression.csv @regression.y.txt -o out --penalty-matrix @regression.csv
dcme @corpus.txt -o out --heldout @corpus.txt
dcme corpus.txt -o out --init @rpa
dcme corpus.txt -o out --resume @rpa
tmira @nbest.txt -o out --counts @nbest.counts --dev @nbest.txt --dev-counts @nbest.counts
tmira nbest.txt -o out --resume @rpa
predict @rpa @questions.test.txt
decode @hmtm @trees.conllu
rerank @tmira @nbest.txt --counts @nbest.counts
classes @hmtm
neighbors @vectors.txt dog
evaluate analogy @vectors.txt @analogies.txt --against @vectors.txt
evaluate analogy @vectors.txt @analogies.txt --output-vectors @vectors.txt --against @vectors.txt --against-outputs @vectors.txt
evaluate bless @vectors.txt @relations.txt --against @vectors.txt
evaluate bless @vectors.txt @relations.txt --transition @hmtm
evaluate categorization @vectors.txt @categories.txt --against @vectors.txt
evaluate classification @rpa @questions.test.txt
evaluate completion @vectors.txt @completion.csv --against @vectors.txt
evaluate completion vectors.txt completion.csv --answers @completion.csv
evaluate composition @vectors.txt @phrases.txt --against @vectors.txt
evaluate composition @vectors.txt @phrases.txt --transition @hmtm
evaluate likelihood @hmtm @trees.conllu --against @hmtm
evaluate ner @entities.train.conll @entities.test.conll --vectors @vectors.txt --clusters @paths
evaluate ner entities.train.conll entities.test.conll --decoded @decoded --decoded decoded
evaluate ner @entities.train.conll @few.conll --pos-column 0 --window 0 --against @vectors.txt
evaluate sentences @vectors.txt @reviews.train.txt @reviews.dev.txt @reviews.test.txt --against @vectors.txt
evaluate similarity @vectors.txt @similarity.txt --against @vectors.txt
evaluate supersense @supersenses.conllulex @supersenses.conllulex --vectors @vectors.txt --clusters @paths
evaluate supersense supersenses.conllulex --decoded @decoded
evaluate supersense @supersenses.conllulex --cv 2 --against @vectors.txt
plot acceptability @rpa -o out.png
plot bless @rpa -o out.png
plot context @hmtm @trees.conllu dog -o out.png
plot dendrogram @rpa -o out.png
plot forest @vectors.txt dog -o out.png --forest @forest
plot curves @rpa -o out.png
plot path @rpa -o out.png
plot transitions @hmtm -o out.png
plot words @vectors.txt --words @few.conll -o out.png
cooccur @corpus.txt -o out
vocab @corpus.txt
convert @vectors.txt out.vec --only-words @few.conll
info @vectors.txt
"""
CASES = [
    (words, at)
    for words in map(str.split, RUNS.strip().split("\n"))
    for at, word in enumerate(words)
    if word[0] == "@"
]
READ_NOTHING = {"completion"}
NEEDS = {"plot": "matplotlib", "ner": "pycrfsuite", "supersense": "sklearn", "sentences": "sklearn"}


@pytest.fixture(scope="module")
def files(tmp_path_factory, samples):
    folder = tmp_path_factory.mktemp("unreadable")
    for path in samples.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "forest").write_text("-1\n0\n0\n")
    (folder / "groups").write_text("1 2\n")
    (folder / "few.conll").write_text("Ann B-PER\nsaw O\n")
    (folder / "paths").write_text("0\tdog\t5\n1\tcat\t5\n")
    made(folder, "-q", "train-rpa", "questions.train.txt", "-o", "rpa", "--dim", "4", "--epochs", "1")
    made(folder, "-q", "train-hmtm", "trees.conllu", "-o", "hmtm", "--states", "2", "--epochs", "1")
    made(folder, "-q", "tmira", "nbest.txt", "-o", "tmira", "--counts", "nbest.counts", "--epochs", "1")
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "round").symlink_to("round")
    return folder


KINDS = {
    "folder": "is a folder, expected a file",
    "dangling": "No such file or directory",
    "round": "Too many levels of symbolic links",
    "few.conll/beyond": "Not a directory",
    "long" * 100: "File name too long",
}


def test_every_command_is_here():
    there = {path for path, command in ALL if path and not isinstance(command, click.Group)}
    tried = {
        tuple(words[: len(path)]) for words, _ in CASES for path in there if tuple(words[: len(path)]) == path
    }
    assert {" ".join(path) for path in there - tried} == READ_NOTHING


@pytest.mark.parametrize(("words", "at"), CASES, ids=[f"{' '.join(words[:2])}-{at}" for words, at in CASES])
def test_one_line_names_the_file(inside, files, words, at):
    for word in set(words[:2]) & set(NEEDS):
        pytest.importorskip(NEEDS[word])
    for name, says in KINDS.items():
        arguments = [name if i == at else word.removeprefix("@") for i, word in enumerate(words)]
        message = fails(inside("-q", *arguments, cwd=files), f"{name}: {says}")
        assert message.count("\n") == 1
    assert not any(path.name.startswith("out") for path in files.iterdir())


def test_a_wrong_vec2_is_told_before_the_work_on_vec(tmp_path):
    with pytest.raises(WordkitError, match="nowhere: No such file"):
        with_comparisons(
            "vec",
            str(tmp_path / "nowhere"),
            lambda _: pytest.fail("vec comes first"),
            intervals=False,
            seed=1,
        )
