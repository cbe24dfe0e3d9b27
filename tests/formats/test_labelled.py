"""Labelled text, against a reader in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.tokenizing import lines_of, tokens_of
from wordkit.errors import DataError
from wordkit.formats import opening
from wordkit.formats.labelled import PREFIX, Documents, LabelledReader
from wordkit.formats.opening import Input
from wordkit.tally import Tally


@pytest.fixture
def stored(tmp_path):
    def store(content: bytes | str):
        path = tmp_path / "x.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return store


def words_of(reader: LabelledReader, documents: Documents) -> list[tuple[str | None, list[str]]]:
    """(label, tokens) a document."""
    words = reader.types.words()
    starts = [0, *documents.ends.tolist()][: len(documents)]
    return [
        (reader.names[label] if label >= 0 else None, [words[i] for i in documents.ids[a:b]])
        for label, a, b in zip(documents.labels.tolist(), starts, documents.ends.tolist(), strict=True)
    ]


def read(
    path, *, lines: bool = False, tally: Tally | None = None, **options
) -> list[tuple[str | None, list[str]]]:
    reader = LabelledReader(**options)
    with Input(path) as source:
        method = reader.lines if lines else reader.labelled
        return words_of(reader, Documents.join(list(method(source, tally or Tally()))))


def plain(text: str, prefix: str, multi_label: str) -> list[tuple[str, list[str]]]:
    """What the reader must give, bad lines passed over."""
    out = []
    for tokens in map(tokens_of, lines_of(text)):
        labels = [token.removeprefix(prefix) for token in tokens if token.startswith(prefix)]
        rest = [token for token in tokens if not token.startswith(prefix)]
        if not labels or "" in labels or (len(labels) > 1 and multi_label == "refuse"):
            continue
        out += [(label, rest) for label in (labels if multi_label == "each" else labels[:1])]
    return out


pieces = st.sampled_from(
    ["__label__a", "__label__", "__label__b\xa0c", "x", "y:z", "|", " ", " ", "\t", "\n", "\r\n"]
)
texts = st.lists(pieces, min_size=1, max_size=40).map("".join)


@given(
    texts,
    st.sampled_from(["refuse", "first", "each"]),
    st.sampled_from([PREFIX, "x"]),
    st.sampled_from([1, 9, 1 << 20]),
)
def test_equals_a_plain_reader(tmp_path_factory, monkeypatch_module, text, multi_label, prefix, block):
    path = tmp_path_factory.mktemp("labelled") / "x.txt"
    path.write_bytes(text.encode())
    monkeypatch_module.setattr(opening.text_blocks, "__defaults__", (block,))
    tally = Tally(skip_invalid=True)
    assert read(path, prefix=prefix, multi_label=multi_label, tally=tally) == plain(text, prefix, multi_label)
    everything = [[t for t in tokens_of(line) if not t.startswith(prefix)] for line in lines_of(text)]
    assert read(path, prefix=prefix, lines=True) == [(None, tokens) for tokens in everything]


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_u044_no_label(stored):
    with pytest.raises(DataError, match=r"x\.txt:1: no label, expected a token that begins with `__label__`"):
        read(stored("sports ball game\n"))


def test_u045_label_ends_at_the_first_space_or_tab(stored):
    assert read(stored("__label__new york is big\n__label__x\ty\n__label__a\xa0b c\n")) == [
        ("new", ["york", "is", "big"]),
        ("x", ["y"]),
        ("a\xa0b", ["c"]),
    ]


def test_u058_tokens_pass_unchanged(stored):
    tokens = [
        "a:b",
        "|",
        "http://x",
        "1:2",
        "#",
        "%",
        "\\n",
        "label__",
        "a__label__b",
        "__LABEL__x",
        '"',
        "<s>",
    ]
    assert read(stored("__label__a " + " ".join(tokens) + "\n")) == [("a", tokens)]


def test_u060_labels_are_strings(stored):
    text = "__label__0 a\n__label__-1 b\n__label__+1 c\n__label__1 d\n__label__01 e\n__label__1.0 f\n"
    assert [label for label, _ in read(stored(text))] == ["0", "-1", "+1", "1", "01", "1.0"]


def test_u058_label_of_one_sign(stored):
    assert [label for label, _ in read(stored("__label__: x\n__label__| y\n"))] == [":", "|"]


def test_label_anywhere_in_the_line(stored):
    assert read(stored("x __label__a y\nz __label__b\n")) == [("a", ["x", "y"]), ("b", ["z"])]


def test_document_without_words(stored):
    assert read(stored("__label__a\n__label__b \t \n")) == [("a", []), ("b", [])]


def test_several_labels(stored):
    path = stored("__label__a x\n__label__b y __label__a z\n")
    with pytest.raises(DataError, match=r"x\.txt:2: 2 labels, expected one"):
        read(path)
    assert read(path, multi_label="first") == [("a", ["x"]), ("b", ["y", "z"])]
    assert read(path, multi_label="each") == [("a", ["x"]), ("b", ["y", "z"]), ("a", ["y", "z"])]
    with pytest.raises(ValueError, match="multi_label"):
        LabelledReader(multi_label="both")


@pytest.mark.parametrize("multi_label", ["refuse", "first", "each"])
def test_label_without_a_name(stored, multi_label):
    path = stored("__label__a x\n__label__ y\n__label__b z\n")
    with pytest.raises(DataError, match=r"x\.txt:2: a label without a name \(`__label__`\)"):
        read(path, multi_label=multi_label)
    tally = Tally(skip_invalid=True)
    assert read(path, multi_label=multi_label, tally=tally) == [("a", ["x"]), ("b", ["z"])]
    assert list(tally.lines()) == [
        f"{path}:2: a label without a name (`__label__`) (label without a name skipped)"
    ]


def test_bad_lines_are_counted_and_the_first_is_named(stored):
    tally = Tally(skip_invalid=True)
    path = stored("x\n__label__a y\n\nz\n__label__a __label__b\n")
    assert read(path, tally=tally) == [("a", ["y"])]
    assert tally.counts == {"line without a label skipped": 2, "line with several labels skipped": 1}
    assert next(tally.lines()).startswith(f"{path}:1: no label")


def test_first_fault_of_a_file_is_the_one_that_is_told(stored):
    with pytest.raises(DataError, match=r"x\.txt:2: "):
        read(stored("__label__a x\n__label__a __label__b\nno label\n__label__ y\n"))


def test_blank_lines(stored):
    reader = LabelledReader()
    with Input(stored("\n__label__a x\n \t \n\r\n__label__b y\n")) as source:
        documents = Documents.join(list(reader.labelled(source, Tally())))
    assert words_of(reader, documents) == [("a", ["x"]), ("b", ["y"])]
    assert reader.blank_lines == 3


def test_inputs_share_types_and_names(tmp_path):
    reader = LabelledReader()
    parts = []
    for name, text in (("1", "__label__b x y\n"), ("2", "__label__a y\n__label__b z\n")):
        (tmp_path / name).write_text(text)
        with Input(tmp_path / name) as source:
            parts += list(reader.labelled(source, Tally()))
    assert reader.names == ["b", "a"]
    assert words_of(reader, Documents.join(parts)) == [("b", ["x", "y"]), ("a", ["y"]), ("b", ["z"])]


def test_no_documents():
    empty = Documents.join([])
    assert len(empty) == 0
    assert (empty.ids.dtype, empty.ends.dtype, empty.labels.dtype) == (np.int32, np.int64, np.int32)


def test_a_label_as_long_as_a_document_is_a_mistake(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(f"__label__a b\n__label__{'x' * 50_000} c\n")
    with (
        pytest.raises(DataError, match=r"x\.txt:2: a label of 50000 characters, more than 1000"),
        Input(path) as source,
    ):
        list(LabelledReader().labelled(source, Tally()))
