"""The classifier of supersenses: its kernel, its folds, its scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from wordkit.errors import WordkitError
from wordkit.evaluation.supersense import (
    cross_validate,
    kernel_of,
    sense_items,
    supersense_result,
    train_and_predict,
)
from wordkit.evaluation.token_features import TokenFeatures
from wordkit.formats.supersenses import Supersenses

P, Q = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.4, 0.0])


def features(table, kind="decoded", rows=None):
    table = scipy.sparse.csr_array(np.array(table, dtype=float))
    rows = np.arange(table.shape[0]) if rows is None else np.array(rows)
    return TokenFeatures(kind, table, rows, rows >= 0)


def data(words, labels, sentence=2):
    cut = range(0, len(words), sentence)
    return Supersenses("s", [words[i : i + sentence] for i in cut], [labels[i : i + sentence] for i in cut])


TWO = data(["a", "b"], ["n.X", "v.Y"])


def test_the_product_of_features_is_the_hellinger_kernel():
    for kind, factor in (("decoded", 1), ("vectors", 7)):
        (block,) = sense_items(TWO, [features([factor * P, factor * Q], kind)]).blocks
        assert (block @ block.T)[0, 1] == pytest.approx(np.sqrt(P * Q).sum(), abs=1e-12)
        assert (block @ block.T)[0, 0] == pytest.approx(1, abs=1e-12)
    (block,) = sense_items(TWO, [features([P, Q])], "linear").blocks
    assert (block @ block.T)[0, 1] == pytest.approx(P @ Q)


def test_vectors_with_negative_values_are_taken_as_they_are():
    vectors = features([[3.0, -4.0], [0.0, 0.0]], "vectors")
    assert kernel_of([vectors], "auto") == "linear" and kernel_of([features([P])], "auto") == "hellinger"
    (block,) = sense_items(TWO, [vectors]).blocks
    np.testing.assert_allclose(block.toarray(), [[0.6, -0.8], [0, 0]], atol=1e-15)
    with pytest.raises(WordkitError, match="negative values: the hellinger kernel is for probabilities"):
        sense_items(TWO, [vectors], "hellinger")
    with pytest.raises(ValueError, match="kernel is 'rbf'"):
        sense_items(TWO, [], "rbf")


def test_items_are_the_words_with_supersenses():
    items = sense_items(
        data(["a", "b", "c", "d"], ["", "n.X", "v.Y", ""]), [features(np.eye(4), rows=[0, 1, -1, 3])]
    )
    assert items.words.tolist() == ["b", "c"] and items.labels.tolist() == ["n.X", "v.Y"]
    assert items.sentences.tolist() == [0, 1] and items.known.tolist() == [True, False]
    assert items.blocks[0].toarray().tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]


def test_words_and_representations_are_learned():
    pytest.importorskip("sklearn")
    train = sense_items(
        data(["a", "b", "c", "d"] * 5, ["n.X", "n.X", "v.Y", "v.Y"] * 5), [features([P, P, Q, Q] * 5)]
    )
    test = sense_items(data(["e", "c"], ["n.X", "v.Y"]), [features([P, P])])
    found = train_and_predict(train, test)
    assert found.labels[0] == "n.X"
    assert (
        found.baseline.tolist() == ["n.X", "v.Y"] and found.seen.tolist() == [False, True] and found.converged
    )
    assert train_and_predict(train, test, lexicalized=False).labels.tolist() == ["n.X", "n.X"]
    bare = sense_items(data(["e", "c"], ["n.X", "v.Y"]), [])
    words = train_and_predict(sense_items(data(["a", "c"] * 5, ["n.X", "v.Y"] * 5), []), bare)
    assert words.labels[1] == "v.Y"
    with pytest.raises(WordkitError, match="nothing to learn from"):
        train_and_predict(bare, bare, lexicalized=False)
    with pytest.raises(WordkitError, match="s: 1 supersense to learn"):
        train_and_predict(sense_items(data(["a", "b"], ["n.X", "n.X"]), []), bare)


def test_folds_keep_sentences_whole_and_every_item_is_predicted_once():
    pytest.importorskip("sklearn")
    words = [
        f"w{i // 2}" for i in range(40)
    ]  # the two of a sentence are the same word, which no other sentence has
    items = sense_items(data(words, ["n.X", "n.X", "v.Y", "v.Y"] * 10), [])
    found = cross_validate(items, 5, seed=1)
    assert not found.seen.any()
    assert len(found.folds) == 5 and np.mean(found.folds) == pytest.approx(
        np.mean(found.labels == items.labels)
    )
    assert set(found.labels) <= {"n.X", "v.Y"}
    again, other = cross_validate(items, 5, seed=1), cross_validate(items, 5, seed=2)
    assert again.labels.tolist() == found.labels.tolist() and other.folds != found.folds
    with pytest.raises(WordkitError, match="s: 20 sentences are not enough for 21 folds"):
        cross_validate(items, 21, seed=1)


def test_a_fold_without_any_item_is_no_fault():
    pytest.importorskip("sklearn")
    items = sense_items(data(["a", "b", "c", "d", *"xxxxxx"], ["n.X", "v.Y", "n.X", "v.Y", *[""] * 6]), [])
    assert len(items) == 4 and items.n_sentences == 5
    assert len(cross_validate(items, 5, seed=1).folds) == 2


def test_scores_by_hand():
    from wordkit.evaluation.supersense import Predicted

    items = sense_items(data(list("abcde"), ["n.X", "n.X", "n.Z", "v.Y", "p.Q"], 5), [])
    assert len(items) == 5
    labels = np.array(["n.X", "n.Z", "n.Z", "v.Y", "n.X"])
    baseline = np.array(["n.X"] * 5)
    result = supersense_result(
        items, Predicted(labels, baseline, np.array([True, False, True, True, True]), [0.5], True),
        known_labels=np.array(["n.X", "v.Y"]), parameters={"C": 1},
    )  # fmt: skip
    assert result.metrics["accuracy"] == 3 / 5 and result.metrics["baseline_accuracy"] == 2 / 5
    assert result.metrics["noun_accuracy"] == pytest.approx(2 / 3) and result.metrics["verb_accuracy"] == 1
    # n.X: precision 1/2, recall 1/2; n.Z: 1/2, 1; v.Y: 1, 1; p.Q: 0, 0
    assert result.metrics["precision"] == pytest.approx(2 / 4) and result.metrics["recall"] == pytest.approx(
        2.5 / 4
    )
    assert result.metrics["f1"] == pytest.approx((0.5 + 2 / 3 + 1 + 0) / 4)
    assert (result.covered, result.total) == (4, 5) and result.details["items"] == {"noun": 3, "verb": 1}
    assert result.details["unseen_labels"] == ["n.Z", "p.Q"] and result.details["folds"] == [0.5]
