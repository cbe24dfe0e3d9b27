"""Lists that a reranker meets but cannot learn from as from others, with every kind of model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.kernels.rerank_cases import lists_of, random_lists
from tests.models.test_rerankers import MODELS
from wordkit.errors import WordkitError
from wordkit.evaluation.reranking import chosen_quality
from wordkit.formats.nbest import NbestLists
from wordkit.models import Mira, Perceptron, TensorMira
from wordkit.models.nbest_corpus import first_best

WIDTH = 12
EPOCHS = 3
PLAIN = {  # neither averaged over all lists nor scaled by them, in the order of the lists
    "tmira": lambda: TensorMira(epochs=EPOCHS, rank=2, mapping="sequential", shuffle=False),
    "tmira, approximate": lambda: TensorMira(epochs=EPOCHS, order=3, shuffle=False),
    "mira": lambda: Mira(epochs=EPOCHS, shuffle=False),
    "perceptron": lambda: Perceptron(epochs=EPOCHS, average=False, shuffle=False),
}


def quarters(seed: int):
    """Lists of scores in quarters, up to 1."""
    return [
        [(round(4 * score) / 4, row) for score, row in candidates]
        for candidates in random_lists(seed, lists=60, width=WIDTH, density=0.6)
    ]


def weights(model) -> bytes:
    assert model.history_[0]["steps"] > 0
    return model.weights_.feature_weights().tobytes()


@pytest.mark.parametrize("name", MODELS)
def test_where_gold_is_absent_the_best_candidate_is_the_oracle(name):
    """A step hangs on differences to the best candidate: with gold out of reach of every list, nothing changes."""
    made = quarters(11)
    absent = [[(score - 0.5, row) for score, row in candidates] for candidates in made]
    near, far = (MODELS[name]().fit(lists_of(some)) for some in (made, absent))
    assert weights(near) == weights(far)
    lists = lists_of(absent)
    assert lists.scores.max() < 1
    oracles = first_best(lists.scores, lists.starts)
    _, best = chosen_quality(lists.starts, lists.scores, None, oracles)
    highest = [max(score for score, _ in candidates) for candidates in absent]
    assert best == pytest.approx(np.mean(highest), rel=1e-12) and far.score(lists) <= best
    assert [absent[s][place][0] for s, place in enumerate(oracles)] == highest


ONE_ROW = np.arange(WIDTH, dtype=np.float32)
ZEROS = np.zeros(WIDTH, np.float32)
TEACH_NOTHING = {
    "one candidate": [(0.25, ONE_ROW)],
    "one candidate, no features": [(1.0, ZEROS)],
    "the same candidate twice": [(0.5, ONE_ROW), (0.5, ONE_ROW)],
    "equal features": [(0.25, ONE_ROW), (1.0, ONE_ROW), (0.5, ONE_ROW)],
    "equal scores": [(0.5, ONE_ROW), (0.5, ONE_ROW[::-1].copy()), (0.5, ZEROS)],
    "no features": [(0.25, ZEROS), (0.75, ZEROS)],
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("odd", TEACH_NOTHING)
def test_lists_that_teach_nothing_change_no_weight(name, odd):
    made = quarters(12)
    model = PLAIN[name]().fit(lists_of(made))
    mixed = [TEACH_NOTHING[odd], *made[:30], TEACH_NOTHING[odd], *made[30:], TEACH_NOTHING[odd]]
    other = PLAIN[name]().fit(lists_of(mixed))
    assert weights(other) == weights(model)
    assert other.predict(lists_of(made)).tolist() == model.predict(lists_of(made)).tolist()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("odd", TEACH_NOTHING)
def test_the_first_of_equal_candidates_is_chosen(name, odd):
    """With lists of this kind among those learned from, too: all stays finite."""
    made = [*quarters(13), TEACH_NOTHING[odd]]
    model = MODELS[name]().fit(lists_of(made))
    own = lists_of([TEACH_NOTHING[odd]])
    values = model.decision_function(own)
    assert np.isfinite(values).all() and np.isfinite([record["loss"] for record in model.history_]).all()
    if odd != "equal scores":
        assert model.predict(own).tolist() == [0] and len(set(values.tolist())) == 1


@pytest.mark.parametrize("name", MODELS)
def test_ids_past_the_training_range_count_nothing(name):
    model = MODELS[name]().fit(lists_of(quarters(14)))
    new = lists_of(quarters(15))
    ends = new.indptr + np.arange(len(new.indptr))
    kept = np.ones(ends[-1], bool)
    kept[ends[1:] - 1] = False
    indices = np.full(len(kept), 2**31 - 2, np.int32)
    values = np.full(len(kept), 1e6, np.float32)
    indices[kept], values[kept] = new.indices, new.values
    wider = replace(new, indptr=ends, indices=indices, values=values)
    assert model.decision_function(wider).tobytes() == model.decision_function(new).tobytes()
    assert model.predict(wider).tolist() == model.predict(new).tolist()
    only = NbestLists.of_candidates([1, 1], [0.0, 1.0], [[0.0] * WIDTH + [1.0], [0.0] * WIDTH + [2.0]])
    assert model.predict(only).tolist() == [0] and model.decision_function(only).tolist() == [0, 0]


@pytest.mark.parametrize("name", MODELS)
def test_nothing_but_such_lists_is_an_error_that_says_so(name):
    for odd, candidates in TEACH_NOTHING.items():
        if odd != "equal scores":
            with pytest.raises(WordkitError, match=r"none of 0 features varies in 1 list or more"):
                MODELS[name]().fit(lists_of([candidates] * 3))
    model = MODELS[name]().fit(lists_of([TEACH_NOTHING["equal scores"]] * 3))
    assert np.isfinite(model.decision_function(lists_of([TEACH_NOTHING["equal scores"]]))).all()
