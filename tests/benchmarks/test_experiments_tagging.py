"""Smoke test of the experiment on entities and supersenses, on the samples under the names of the real sets."""

import pytest

from tests.benchmarks import experiment_tagging

PARTS = 200  # sentences of each file: enough for every row to be there
for module in ("matplotlib", "pycrfsuite", "sklearn"):
    pytest.importorskip(module)


def test_a_row_for_each_setting(tmp_path, samples, monkeypatch, capsys):
    names = {
        "corpus.txt": "text/mixed.txt", "trees.conllu": "ud/gum-train.conllu", "entities.train.conll": "ner/wikigold.train.conll",
        "entities.test.conll": "ner/wikigold.dev.conll", "supersenses.conllulex": experiment_tagging.SENSES,
    }  # fmt: skip
    data, output = tmp_path / "data", tmp_path / "out"
    for sample, name in names.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        separator = "\n\n" if "conll" in sample else "\n"
        (data / name).write_text(
            separator.join((samples / sample).read_text().split(separator)[:PARTS]) + separator
        )
    monkeypatch.setattr(experiment_tagging, "TEXT", "text/mixed.txt")
    monkeypatch.setattr(experiment_tagging, "TREEBANK", "ud/gum-train.conllu")
    monkeypatch.setattr(experiment_tagging, "ENTITIES", {"wikigold": experiment_tagging.ENTITIES["wikigold"]})
    monkeypatch.setattr(experiment_tagging, "REPRESENTATIONS", ("both",))
    given = [
        "--data",
        str(data),
        "--output",
        str(output),
        "--states",
        "8",
        "--treebank-states",
        "4",
        "--epochs",
        "1",
    ]
    experiment_tagging.main(given)
    lines = [line.split("\t") for line in (output / "tagging.tsv").read_text().splitlines()]
    rows = [dict(zip(experiment_tagging.COLUMNS, line, strict=True)) for line in lines[1:]]
    assert lines[0] == list(experiment_tagging.COLUMNS)
    assert len(rows) == (2 + 2 * (1 + 2)) + (1 + 2 * (1 + 2 + 2 * 2))
    assert all(float(row["f1"]) > 20 for row in rows if row["data"] == "wikigold")
    assert {row["structure"] for row in rows if row["text"] == "gum-train"} == {"chain", "tree"}
    assert (output / "tagging.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("\n") == len(lines)
