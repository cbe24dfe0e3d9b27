"""The RPA classifier goes on: after an interruption, after loading, on more data, with more features."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.test_rpa import FEATURES, KINDS, N, data, fitted, kinds, model, state_bytes
from wordkit.errors import Interrupted
from wordkit.models import TextClassifier
from wordkit.models import rpa as rpa_module
from wordkit.models.features import SvmlightFeatures
from wordkit.monitor import Monitor

# --- interruption ----------------------------------------------------------------------------------------------


class StopAfter(Monitor):
    """Asks to stop when so many chunks are done."""

    def __init__(self, chunks: int) -> None:
        self.left = chunks

    def advance(self, done: int) -> None:
        self.left -= 1
        self.stopping = self.left <= 0


@pytest.mark.parametrize("options", [KINDS[0], KINDS[6]], ids=["default", "average,onehot"])
def test_u063_resumed_at_every_chunk_is_as_uninterrupted(options, monkeypatch, tmp_path):
    monkeypatch.setattr(rpa_module, "_WORK", 1)
    X, y = data()
    whole = state_bytes(fitted(**options))
    chunks = 3 * -(-N // 16)
    for stop in range(1, chunks):
        classifier = model(**options)
        with pytest.raises(Interrupted, match="interrupted in epoch"):
            classifier.fit(X, y, monitor=StopAfter(stop))
        TextClassifier(SvmlightFeatures(n_features=FEATURES), classifier).save(tmp_path / "m")
        again = TextClassifier.load(tmp_path / "m").classifier
        assert state_bytes(again) == state_bytes(classifier)
        assert state_bytes(again.resume(X, y)) == whole
    finished = fitted(**options)
    assert state_bytes(finished.resume(X, y)) == whole


def test_u063_more_epochs_are_as_if_asked_for_at_once():
    X, y = data()
    classifier = fitted().set_params(epochs=5)
    assert state_bytes(classifier.resume(X, y)) == state_bytes(fitted(epochs=5))


@kinds
def test_saved_and_loaded(options, tmp_path):
    X, y = data()
    classifier = fitted(**options)
    TextClassifier(SvmlightFeatures(n_features=FEATURES), classifier).save(tmp_path / "m")
    again = TextClassifier.load(tmp_path / "m").classifier
    np.testing.assert_array_equal(again.decision_function(X), classifier.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), classifier.predict(X))
    same = {name: value for name, value in classifier.get_params().items() if name != "vectors"}
    assert {name: again.get_params()[name] for name in same} == same
    classifier.set_params(epochs=5).resume(X, y)
    again.set_params(epochs=5).resume(X, y)
    assert state_bytes(again) == state_bytes(classifier)


# --- more data -------------------------------------------------------------------------------------------------


def test_partial_fit_over_all_the_data_is_one_epoch():
    X, y = data()
    parts = model().partial_fit(X, y, classes=np.unique(y))
    for _ in range(2):
        parts.set_params(class_weight="none").partial_fit(X, y)
    assert parts.n_iter_ == 3 and parts.class_counts_.sum() == 3 * N
    first = model(epochs=1).fit(X, y)
    again = model().partial_fit(X, y, classes=np.unique(y))
    np.testing.assert_array_equal(again.coef_, first.coef_)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model().partial_fit(X, y)
    with pytest.raises(ValueError, match="not the same as on last call"):
        again.partial_fit(X, y, classes=["x", "y"])
    with pytest.raises(ValueError, match="not among the classes"):
        again.partial_fit(X, np.full(N, "zz"))


@kinds
def test_widened_by_features_that_do_not_occur_it_answers_as_before(options):
    X, _ = data()
    classifier = fitted(**options)
    before = classifier.decision_function(X)
    k = classifier.embedding_.shape[2]
    classifier.widen(np.ones((3, k), dtype=np.float32))
    wider = X.copy()
    wider.resize(N, FEATURES + 3)
    np.testing.assert_array_equal(classifier.decision_function(wider), before)
    if k and not options.get("average"):
        assert (classifier.embedding_[:, FEATURES:] == 1).all()
    assert classifier.n_features_in_ == FEATURES + 3


def test_continue_on_learns_new_data_and_refuses_new_labels():
    X, _ = data()
    X2, y2 = data(seed=5)
    classifier = fitted()
    weights = classifier.coef_.copy()
    classifier.continue_on(X2, y2)
    assert not np.array_equal(classifier.coef_, weights)
    assert (
        classifier.n_iter_ == 3 and len(classifier.history_) == 3 and classifier.class_counts_.sum() == 2 * N
    )
    with pytest.raises(ValueError, match=r"labels \['new'\] are not among the classes"):
        classifier.continue_on(X, np.full(N, "new"))
