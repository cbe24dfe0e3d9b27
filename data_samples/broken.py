"""Small files with one fault each, and what readers say of them: ``tests/test_broken_samples.py`` holds them to it."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile

_ROW = "{}\t{}\t_\tNOUN\tNN\t_\t{}\t{}\t_\t_\n"


def _tree(*heads: object) -> str:
    rows = [_ROW.format(i, f"w{i}", head, "root" if head == 0 else "dep") for i, head in enumerate(heads, 1)]
    return "".join(rows) + "\n"


def _truncated_gzip() -> bytes:
    text = "".join(f"w{i} {i / 8} {i / 4}\n" for i in range(200))
    return gzip.compress(f"200 2\n{text}".encode(), mtime=0)[:200]


def _cut_counts() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("data.npy"), bytes(100))
    return out.getvalue()[:80]


_GOOD_TREE = _tree(2, 0)

# name -> (content, read as, what a reader says behind the name of the file)
FILES: dict[str, tuple[bytes | str, str, str]] = {
    "empty.txt": ("", "anything", "is empty"),
    "nul.txt": ("a good line\na \0 b\n", "text", "line 2: NUL byte at offset 14, expected UTF-8 text"),
    "latin1.txt": (b"a good line\ncaf\xe9 au lait\n", "text", "line 2: byte 0xe9 at offset 15, expected UTF-8 text"),
    "utf16.txt": ("the cat\n".encode("utf-16"), "text",
        "line 1: byte 0xff at offset 0, expected UTF-8 text (this looks like UTF-16)"),
    "truncated.vec.gz": (_truncated_gzip(), "vectors", "compressed file is incomplete"),
    "not_gzip.vec.gz": ("2 2\na 1 0\nb 0 1\n", "vectors", "compressed file is damaged (Not a gzipped file (b'2 '))"),
    "page.html.vec": ("<!DOCTYPE html>\n<html>\n<body>Not Found</body>\n</html>\n", "vectors",
        "line 1: '<!DOCTYPE html>' is neither a header nor a row, expected vectors: a word and its numbers a line"),
    "width.vec": ("3 3\na 1 2 3\nb 4 5\nc 7 8 9\n", "vectors", "line 3: 2 numbers after the word, expected 3"),
    "header_rows.vec": ("3 2\na 1 0\nb 0 1\n", "vectors", "warning: line 1: the header announces 3 rows, 2 read"),
    "header_dim.vec": ("2 5\na 1 0\nb 0 1\n", "vectors", "line 2: 2 numbers after the word, expected 5"),
    "duplicate.vec": ("3 2\na 1 0\na 9 9\nb 0 1\n", "vectors", "warning: line 3: row 2: the word 'a' was there before"),
    "nan.vec": ("2 2\na nan 1\nb 1 0\n", "vectors", "warning: line 2: row 1: the vector of 'a' holds nan or inf"),
    "words.vec": ("2 2\na 1 x\nb 1 0\n", "vectors", "line 2: 'x' is not a number, expected a word and 2 numbers"),
    "cut.bin": (b"2 2\na " + struct.pack("<2f", 1, 0) + b"b " + struct.pack("<f", 1), "binary vectors",
                "word 2 of 2 (`b`): 4 of 8 bytes"),
    "latin1.vec": (b"2 2\n\xd0 0.1 0.2\nok 0.3 0.4\n", "vectors",
        "line 2: row 1 of 2: byte 0xd0 is not UTF-8 (offset 4), expected a word in UTF-8"),
    "columns.parses": ("1\t-3.5\t(S1 (NP (NN a)))\n1\t(S1 (NP (NN a)))\n", "parses",
        "line 2: 2 columns, expected qid<TAB>score<TAB>tree"),
    "score.parses": ("1\tgood\t(S1 (NP (NN a)))\n", "parses",
        "line 1: score `good` is not a number, expected qid<TAB>score<TAB>tree"),
    "bracket.parses": ("1\t-3.5\t(S1 (NP (NN a)))\n1\t-4\t(S1 (NP (NN a))\n", "parses",
        "line 2: 1 bracket not closed, expected a bracketed tree"),
    "words.parses": ("1\t-3.5\t(S1 (NP (NN a)))\n1\t-4\t(S1 (NP (NN a) (NN b)))\n", "parses",
        "line 2: a tree of 2 words; the first of its qid has 1, expected a bracketed tree"),
    "qid_returns.parses": ("1\t-3.5\t(S1 (NP (NN a)))\n2\t-4\t(S1 (NP (NN a)))\n1\t-5\t(S1 (NP (NN a)))\n", "parses",
        "line 3: qid 1 again, expected its lines one after the other"),
    "cycle.conllu": (_GOOD_TREE + _tree(2, 3, 1), "CoNLL",
        "line 4: the heads from word 1 on go round in a circle, expected a tree"),
    "own_head.conllu": (_GOOD_TREE + _tree(0, 2), "CoNLL", "line 5: word 2 is its own head, expected a tree"),
    "head_range.conllu": (_GOOD_TREE + _tree(2, 9), "CoNLL",
        "line 5: head 9 of word 2 is beyond the sentence, expected 0 to 2"),
    "head_word.conllu": (_GOOD_TREE + _tree(0, "one"), "CoNLL",
        "line 5: head `one` of word 2, expected a number or `_`"),
    "spaces.conllu": (_GOOD_TREE + _tree(0, 1).replace("\t", " "), "CoNLL",
        "line 4: 1 column, expected 10 (space instead of tab?)"),
    "columns.conllu": (_GOOD_TREE + "1\tw1\t_\tNOUN\n\n", "CoNLL", "line 4: 4 columns, expected 10"),
    "numbering.conllu": (_GOOD_TREE + _ROW.format(1, "w1", 0, "root") + _ROW.format(3, "w3", 1, "dep") + "\n",
                         "CoNLL", "line 5: ID 3, expected 2"),
    "unlabelled.txt": ("sports ball game\nmore words here\n", "labelled documents",
        "line 1: no label, expected a token that begins with `__label__`"),
    "some_unlabelled.txt": ("__label__a one two\nthree four\n__label__b five\n", "labelled documents",
        "line 2: no label, expected a token that begins with `__label__`"),
    "two_labels.txt": ("__label__a one\n__label__a __label__b two three\n", "labelled documents",
        "line 2: 2 labels, expected one (--multi-label takes the first, or each)"),
    "one_class.txt": ("__label__a one two\n__label__a three\n", "labelled documents",
        "all documents have the label `a`; a classifier needs two labels at least"),
    "no_words.txt": ("__label__a one\n__label__b\n", "labelled documents",
        "note: 2 documents, 2 labels; 1 of them without any known feature"),
    "value.svmlight": ("1 1:1\n-1 2:abc\n", "svmlight",
        "line 2: field `2:abc`: `abc` is not a number, expected index:value"),
    "inf.svmlight": ("1 1:1\n-1 2:inf\n", "svmlight", "line 2: field `2:inf`: not a finite float32 number"),
    "no_colon.svmlight": ("1 1:1\n-1 2 3:1\n", "svmlight",
        "line 2: field `2`, expected index:value with an index of digits"),
    "duplicate.svmlight": ("1 1:1\n-1 2:1 2:3\n", "svmlight",
        "line 2: index 2 twice, expected each index once a record"),
    "negative.svmlight": ("1 1:1\n-1 -2:1\n", "svmlight",
        "line 2: field `-2:1`, expected index:value with an index of digits"),
    "huge_index.svmlight": ("1 1:1\n-1 99999999999:1\n", "svmlight",
        "line 2: index 99999999999 is too large, expected at most 2147483647"),
    "zero_index.nbest": ("0.5 qid:1 1:1\n0.4 qid:1 0:1\n", "n-best",
        "line 2: index 0, expected indices from 1, as in the training data"),
    "no_qid.nbest": ("0.5 qid:1 1:1\n0.4 2:1\n", "n-best",
        "line 2: no qid, expected score qid:N index:value ..."),
    "qid_returns.nbest": ("0.5 qid:1 1:1\n0.4 qid:2 1:2\n0.3 qid:1 2:1\n", "n-best",
                          "line 3: qid 1 again, expected its lines one after the other"),
    "score.nbest": ("0.5 qid:1 1:1\nbest qid:1 2:1\n", "n-best", "line 2: score `best` is not a number"),
    "short.nbest": ("0.5 qid:1 1:1\n0.4 qid:1 2:1\n", "n-best", "good: goes with short.nbest.counts"),
    "short.nbest.counts": ("1 3 5 5\n", "n-best counts",
        "1 line of counts for 2 candidates, expected a line for each candidate of the lists, and no others"),
    "width.nbest.counts": ("1 3 5 5\n1 3 5\n", "n-best counts", "line 2: 3 columns, 4 expected"),
    "matched.nbest.counts": ("1 3 5 5\n1 6 5 5\n", "n-best counts", "line 2: 6 matched of 5"),
    "width.csv": ("a,b,c\n1,2,3\n4,5\n", "csv", "line 3: 2 columns, 3 expected"),
    "word.csv": ("a,b\n1,2\n3,x\n", "csv", "line 3: `x` is not a number"),
    "score.similarity.txt": ("cat\tdog\t7.5\ncat\tcar\tlow\n", "similarity", "line 2: `low` is not a number"),
    "columns.similarity.txt": ("cat\tdog\t7.5\ncat\tcar\n", "similarity", "line 2: 2 columns, expected 3: word, word, score"),
    "columns.analogies.txt": (": gram1-plural\ncat cats dog dogs\ncat cats dog\n", "analogies",
        "line 3: 3 words, expected 4: a is to b as c is to d"),
    "section.analogies.txt": ("cat cats dog dogs\n", "analogies",
        "line 1: a question before the first section, expected a line `: NAME` (names of syntactic sections begin with gram)"),
    "columns.entities.conll": ("the DT O\ncat NN\n", "entities", "line 2: 2 columns, expected 3, as in the lines before"),
    "tag.entities.conll": ("the O\n\nrome LOC\n", "entities", "line 3: tag `LOC`, expected O, B-TYPE or I-TYPE"),
    "columns.conllulex": (_tree(0), "supersenses", "line 1: 10 columns, expected 19"),
    "columns.categories.txt": ("word\tkind\ncat\tanimal\npen\n", "categories", "line 3: 1 column, expected 2 as before"),
    "columns.relations.txt": ("cat-n\tmammal\tcoord\tdog-n\ncat-n\tmammal\tcoord\n", "relations",
        "line 2: 3 columns, expected 4: concept, class, relation, relatum"),
    "score.phrases.txt": ("adjectivenouns\told\tman\tyoung\tboy\t4\nadjectivenouns\told\tman\tred\tcar\tlow\n", "phrases",
        "line 2: `low` is not a number"),
    "class.phrases.txt": ("old\tman\tacceptable\nold\tsquare\tfine\n", "phrases",
        "line 2: class `fine`, expected acceptable or deviant"),
    "gap.completion.csv": ("id,question,a),b),answer\n1,the cat _____ .,sleeps,rains,a\n2,no gap,is,was,a\n", "completion",
        "line 3: a sentence without a gap, expected one gap, `_____`"),
    "cut.counts.npz": (_cut_counts(), "counts",
        "is not a counts file, or is damaged, expected the -o of wordkit cooccur"),
    "forest_order.txt": ("-1\n2\n0\n", "forest", "line 2: parent 2 of node 1, expected -1 to 0 (0 is line 1)"),
}  # fmt: skip


def readme() -> str:
    """The table of the folder's files."""
    rows = [f"| `{name}` | {kind} | {says} |" for name, (_, kind, says) in sorted(FILES.items())]
    head = """# Broken inputs

One fault a file, made by `../generate.py`. Read as the second column says, a reader stops with the error
of the third, one line that begins with the file's name. `warning`: the file is read, the fault counted, and
an error only with `--strict`. `note`: the file is read, and a message counts what is odd. `good`: only
another file, which goes with it, is at fault.

| file | read as | expected |
|---|---|---|
"""
    return head + "\n".join(rows) + "\n"
