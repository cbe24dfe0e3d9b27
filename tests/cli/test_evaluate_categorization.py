"""``wordkit evaluate categorization``: columns, tagged words, comparison, and how odd input is told of."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import fails, succeeds

VECTORS = "5 2\ncat 1 0\ndog 1 0.1\npen 0 1\ncup 0.1 1\nair 0.5 0.5\n"
CLASSES = "word\tkind\tlife\ncat\tanimal\tyes\ndog\tanimal\tyes\npen\ttool\tno\ncup\ttool\t-\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "v.vec").write_text(VECTORS)
    (tmp_path / "other.vec").write_text("4 2\ncat 1 0\npen 1 0.1\ndog 0 1\ncup 0.1 1\n")
    (tmp_path / "c.txt").write_text(CLASSES)
    return tmp_path


def found(run) -> dict:
    return json.loads(succeeds(run))


def test_the_sample(inside, samples):
    run = inside("evaluate", "categorization", samples / "vectors.txt", samples / "categories.txt", "--json")
    one, two = found(run)["results"]
    assert one["data"].endswith("categories.txt:kind") and two["data"].endswith("categories.txt:living")
    assert one["covered"] == one["total"] == 40 and one["classes"] == 7 and two["classes"] == 2
    assert sum(map(sum, one["confusion"]["counts"])) == 40
    assert one["parameters"]["linkage"] == "complete" and 1 / 7 < one["purity"] < 1


def test_columns_are_data_sets(inside, files):
    run = inside("evaluate", "categorization", "v.vec", "c.txt", "--summary")
    assert succeeds(run).splitlines() == [
        "data\tpurity\tentropy\tcovered\ttotal",
        "c.txt:kind\t1\t0\t4\t4",
        "c.txt:life\t1\t0\t3\t3",
        "mean\t1\t0\t7\t7",
    ]
    run = inside("evaluate", "categorization", "v.vec", "c.txt", "--column", "life")
    assert succeeds(run) == "purity\t1\nentropy\t0\ncovered\t3\ntotal\t3\n"
    fails(
        inside("evaluate", "categorization", "v.vec", "c.txt", "--column", "x"),
        "c.txt: has no column `x`, expected one of kind, life",
    )


def test_details(inside, files):
    run = inside("evaluate", "categorization", "v.vec", "c.txt", "--column", "kind", "--details")
    lines = succeeds(run).splitlines()
    assert "confusion/animal/1\t2" in lines and "clusters/1\tcat dog" in lines and "tied_cut\tno" in lines


@pytest.mark.parametrize(("form", "written"), [("plain", "{}"), ("short", "{}-n"), ("upos", "{}/NOUN")])
def test_words_with_a_part_of_speech(inside, files, form, written):
    words = ["cat", "dog", "pen", "cup", "air"]
    text = VECTORS
    for word in words:
        text = text.replace(f"\n{word} ", f"\n{written.format(word)} ")
    (files / "tagged.vec").write_text(text)
    (files / "t.txt").write_text("cat-n x\ndog-n x\npen-n y\ncup-n y\n")
    assert found(inside("evaluate", "categorization", "tagged.vec", "t.txt", "--json"))["covered"] == 4
    run = inside(
        "evaluate", "categorization", "tagged.vec", "c.txt", "--tag", "n", "--column", "kind", "--json"
    )
    assert found(run)["covered"] == 4
    run = inside("evaluate", "categorization", "tagged.vec", "t.txt", "--word-form", form, "--json")
    assert found(run)["covered"] == 4
    other = "upos" if form == "plain" else "plain"
    run = inside("evaluate", "categorization", "tagged.vec", "t.txt", "--word-form", other, "--json")
    assert found(run)["covered"] == 0 and found(run)["purity"] is None


def test_against_and_intervals(inside, files):
    arguments = ("evaluate", "categorization", "v.vec", "c.txt", "--column", "kind", "--against", "other.vec")
    result = found(inside(*arguments, "--intervals", "--json"))
    assert result["against"]["vectors"] == "other.vec" and result["against"]["purity"] == 0.5
    difference = result["against"]["differences"]["purity"]
    assert difference["difference"] == 0.5 and difference["compared"] == 4 and 0 < difference["p_value"] <= 1
    assert result["intervals"]["purity"] == {"low": 1.0, "high": 1.0}
    header, row = succeeds(inside(*arguments, "--summary")).splitlines()
    assert header.split("\t")[1:4] == ["purity", "purity_difference", "purity_p_value"]
    assert row.split("\t")[1:3] == ["1", "0.5"]


def test_u082_nothing_to_score(inside, files):
    (files / "none.txt").write_text("x\ta\ny\tb\n")
    run = inside("evaluate", "categorization", "v.vec", "none.txt")
    assert succeeds(run) == "purity\tn/a\nentropy\tn/a\ncovered\t0\ntotal\t2\n"
    assert b"none.txt: n/a (0 of 2 words to score)" in run.stderr
    fails(
        inside("evaluate", "categorization", "v.vec", "none.txt", "--strict"),
        "2 of 2 words have words that are unknown",
    )


def test_bad_input(inside, files):
    (files / "bad.txt").write_text("cat\tx\ndog\n")
    fails(
        inside("evaluate", "categorization", "v.vec", "bad.txt"), "bad.txt:2: 1 column, expected 2 as before"
    )
    fails(inside("evaluate", "categorization", "-", "-"), "standard input", code=2)
    (files / "negative.vec").write_text(VECTORS.replace("pen 0 1", "pen 0 -1"))
    fails(
        inside("evaluate", "categorization", "negative.vec", "c.txt", "--similarity", "hellinger"),
        "the vector of 'pen' holds negative values",
    )


@pytest.mark.realdata
def test_real_sets_in_one_call(inside, real_data, files):
    """Vectors of the classes themselves: everything is found, and clustered without a fault."""
    rows, folder = {}, real_data / "categorization"
    for line in (folder / "esslli2008-concrete-nouns.tsv").read_text().splitlines()[1:]:
        word, fine, _, _ = line.split("\t")
        rows[word] = [
            float(fine == name) for name in ("bird", "groundAnimal", "fruitTree", "green", "tool", "vehicle")
        ]
    noise = [
        f"{word} " + " ".join(f"{x + i / 1e4:.5f}" for x in row) for i, (word, row) in enumerate(rows.items())
    ]
    (files / "made.vec").write_text(f"{len(rows)} 6\n" + "\n".join(noise) + "\n")
    sets = sorted(folder.iterdir())
    results = found(inside("evaluate", "categorization", "made.vec", *sets, "--json"))["results"]
    totals = {result["data"].split("/")[-1]: (result["covered"], result["total"]) for result in results}
    assert totals["ap.tsv"][1] == 402 and totals["esslli2008-concrete-nouns.tsv:class6"] == (44, 44)
    assert totals["esslli2008-verbs.tsv:class9"] == (0, 45)
    assert [r["purity"] for r in results if ":class6" in r["data"]] == [1.0]
