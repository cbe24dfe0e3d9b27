"""CoNLL-U text of generated sentences, with the oddities that real treebanks have."""

from __future__ import annotations

from grammar import Token

# Written by hand: an empty node (the second "sold" is understood), and two arcs that cross (novel - praises
# over sold - today).
SPECIAL = {
    "special-gap": """\
1\tthe\tthe\tDET\tDT\t_\t2\tdet\t2:det\t_
2\tqueen\tqueen\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t3:nsubj\t_
3\tsold\tsell\tVERB\tVBD\t_\t0\troot\t0:root\t_
4\ttulips\ttulip\tNOUN\tNNS\tNumber=Plur\t3\tobj\t3:obj\t_
5\tand\tand\tCCONJ\tCC\t_\t7\tcc\t7.1:cc\t_
6\tthe\tthe\tDET\tDT\t_\t7\tdet\t7:det\t_
7\tbaker\tbaker\tNOUN\tNN\tNumber=Sing\t3\tconj\t7.1:nsubj\t_
7.1\tsold\tsell\tVERB\tVBD\t_\t_\t_\t3:conj\t_
8\tcakes\tcake\tNOUN\tNNS\tNumber=Plur\t7\torphan\t7.1:obj\t_
9\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_
""",
    "special-crossing": """\
1\twe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\tsold\tsell\tVERB\tVBD\t_\t0\troot\t_\t_
3\ta\ta\tDET\tDT\t_\t4\tdet\t_\t_
4\tnovel\tnovel\tNOUN\tNN\tNumber=Sing\t2\tobj\t_\t_
5\ttoday\ttoday\tADV\tRB\t_\t2\tadvmod\t_\t_
6\tthat\tthat\tPRON\tWDT\t_\t7\tnsubj\t_\t_
7\tpraises\tpraise\tVERB\tVBZ\t_\t4\tacl:relcl\t_\t_
8\tturnips\tturnip\tNOUN\tNNS\tNumber=Plur\t7\tobj\t_\t_
9\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_
""",
}


def rows(tokens: list[Token]) -> list[str]:
    """The lines of a sentence."""
    lines = []
    for i, token in enumerate(tokens, 1):
        following = tokens[i].form if i < len(tokens) else ""
        if following == "n't":  # "did" + "n't" are the two words of one written "didn't"
            lines.append(f"{i}-{i + 1}\t{token.form}{following}" + "\t_" * 8)
        number = {"NN": "Number=Sing", "NNS": "Number=Plur"}.get(token.xpos, "_")
        lines.append(
            f"{i}\t{token.form}\t{token.lemma}\t{token.upos}\t{token.xpos}\t{number}"
            f"\t{token.head}\t{token.deprel}\t_\t_"
        )
    return lines


def conllu(sentences: list[tuple[str, list[Token]]]) -> str:
    """A treebank of named sentences, the two special ones after the first hundred."""
    blocks = []
    for name, tokens in sentences:
        text = " ".join(token.form for token in tokens).replace(" n't", "n't")
        blocks.append(f"# sent_id = {name}\n# text = {text}\n" + "\n".join(rows(tokens)) + "\n")
    for name, written in SPECIAL.items():
        forms = [row.split("\t")[1] for row in written.splitlines() if row.split("\t")[0].isdigit()]
        blocks.insert(100, f"# sent_id = {name}\n# text = {' '.join(forms)}\n{written}")
    return (
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n" + "\n".join(blocks) + "\n"
    )
