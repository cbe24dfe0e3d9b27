"""Statistics of hidden Markov tree models: scaled sums equal the recursion as it is printed; smoothing, splitting, files."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.models import hmtm_statistics
from wordkit.models.hmtm_statistics import Statistics


def some(words=7, classes=4, labels=2, *, smoothing=1e-5, back_off=1e-3, unseen=0.0, seed=1):
    statistics = Statistics(words, classes, labels, smoothing=smoothing, back_off=back_off, unseen=unseen)
    statistics.randomize(seed, np.full(labels, 1 / labels), 0.1)
    return statistics


def add(statistics, emissions, transitions, starts, weight):
    """What the kernels do, in a few plain lines."""
    statistics.emissions += weight * emissions
    statistics.transitions += weight * transitions
    statistics.starts += weight * starts
    scale = statistics.scale
    statistics.scale = 1.0  # so that settle() only recomputes what is kept beside
    statistics.settle()
    statistics.scale = scale


def test_scaled_sums_equal_the_printed_recursion(monkeypatch):
    monkeypatch.setattr(hmtm_statistics, "RESCALE_BELOW", 1e-2)  # so that rescaling takes part
    random = np.random.default_rng(3)
    statistics = some()
    plain = {name: getattr(statistics, name).copy() for name in ("emissions", "transitions", "starts")}
    for step in range(1, 30):
        batch = {name: random.random(array.shape) for name, array in plain.items()}
        alpha = (4 + step) ** -0.6
        add(statistics, *batch.values(), statistics.decay(alpha))
        for name in plain:
            plain[name] = (1 - alpha) * plain[name] + alpha * batch[name]
        np.testing.assert_allclose(statistics.scale * statistics.emissions, plain["emissions"], rtol=1e-12)
        np.testing.assert_allclose(
            statistics.scale * statistics.transitions, plain["transitions"], rtol=1e-12
        )
        np.testing.assert_allclose(statistics.scale * statistics.starts, plain["starts"], rtol=1e-12)
    assert statistics.scale > 1e-2


def test_probabilities_do_not_depend_on_the_scale():
    statistics = some()
    before = statistics.emission_matrix(), statistics.transition_matrix(), statistics.start()
    statistics.scale = 0.25
    statistics.settle()
    for one, other in zip(
        before,
        (statistics.emission_matrix(), statistics.transition_matrix(), statistics.start()),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_columns_sum_to_one_and_kernels_read_the_same_matrices():
    statistics = some()
    statistics.transitions[1, :, 2] = 0  # a parent class that was never seen under this label
    statistics.settle()
    p = statistics.parameters()
    matrix = statistics.transition_matrix()
    read = (p.transitions + p.back_off[:, :, None]) * p.transition_scale[:, None, :]
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(read, matrix, rtol=1e-5)
    children = statistics.child_mass[1] / statistics.child_mass[1].sum()
    np.testing.assert_allclose(
        matrix[1, :, 2], children, rtol=1e-12
    )  # has the children that the label has anyway
    np.testing.assert_allclose(statistics.emission_matrix().sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(statistics.start().sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("back_off", [1e-3, 1e-30])
def test_a_label_that_was_not_seen_has_the_classes_of_all_words(back_off):
    statistics = some(back_off=back_off)
    statistics.transitions[1] = 0
    statistics.settle()
    p = statistics.parameters()
    shares = statistics.class_shares()
    np.testing.assert_allclose(
        statistics.transition_matrix()[1], np.repeat(shares[:, None], 4, axis=1), rtol=1e-12
    )
    read = (p.transitions + p.back_off[:, :, None]) * p.transition_scale[:, None, :]
    np.testing.assert_allclose(read, statistics.transition_matrix(), rtol=1e-5)


def test_a_row_is_never_below_its_floor():
    statistics = some(smoothing=0.01)
    statistics.emissions[3] = [1.0, 0.0, 0.0, 0.5]
    statistics.settle()
    np.testing.assert_allclose(
        statistics.emission_matrix()[3] * statistics.totals, [1.0, 0.01, 0.01, 0.5], rtol=1e-12
    )


def test_a_word_without_tokens_has_its_share():
    statistics = some(unseen=0.01)
    statistics.settle()
    others = np.maximum(statistics.emissions, statistics.floors[:, None])[1:].sum(axis=0)
    np.testing.assert_allclose(statistics.emissions[0], 0.01 * others, rtol=1e-12)


def test_clusters_begin_as_hard_classes_with_small_zeros():
    statistics = Statistics(4, 3, 1, smoothing=1e-5, back_off=1e-3)
    edges = np.array([[[5.0, 0, 0], [0, 2, 1], [0, 0, 0]]])
    statistics.from_clusters(np.array([-1, 0, 1, 1]), np.array([3, 10, 4, 6]), edges, np.array([2.0, 1, 0]))
    rows = (
        statistics.emissions * 23
    )  # they are a share of all tokens, of which the zeros have next to nothing
    np.testing.assert_allclose(rows[0], 1.0, rtol=1e-3)
    np.testing.assert_allclose(rows[1], [10, 1e-4, 1e-4], rtol=1e-3)
    np.testing.assert_allclose(rows[3], [6e-5, 6, 6e-5], rtol=1e-3)
    transitions = statistics.transitions[0] * 23
    np.testing.assert_allclose(transitions[1], [2e-5, 2, 1], rtol=1e-3)
    assert (transitions[2] > 0).all()
    assert (statistics.starts > 0).all()


def test_splitting_keeps_the_model():
    """Parts of a class say together what the class said: with the noise taken away, every probability is the same."""
    statistics = some(classes=3, back_off=1e-12)  # it goes by the mean column, which splitting changes
    emissions, transitions, start = (
        statistics.emission_matrix(),
        statistics.transition_matrix(),
        statistics.start(),
    )
    shares = statistics.class_shares()
    origin = np.array([0, 0, 1, 2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hmtm_statistics, "NOISE", 0.0)
        statistics.divide(origin, 1, 1)
    np.testing.assert_allclose(statistics.emission_matrix(), emissions[:, origin], rtol=1e-9)
    np.testing.assert_allclose(
        statistics.class_shares(), [shares[0] / 2, shares[0] / 2, shares[1], shares[2]], rtol=1e-9
    )
    halves = np.array([0.5, 0.5, 1, 1])
    np.testing.assert_allclose(
        statistics.transition_matrix(), transitions[:, origin][:, :, origin] * halves[:, None], rtol=1e-9
    )
    np.testing.assert_allclose(statistics.start(), start[origin] * halves, rtol=1e-9)


def test_growing_splits_the_heaviest_first():
    statistics = some(classes=3)
    statistics.emissions *= [1.0, 5.0, 2.0]
    statistics.settle()
    shares = statistics.class_shares()
    statistics.grow(5, 1, 1)
    assert statistics.classes == 5
    grown = statistics.class_shares()
    np.testing.assert_allclose(grown[0], shares[0], rtol=0.01)  # the others' noise
    np.testing.assert_allclose(grown[1] + grown[2], shares[1], rtol=0.2)  # noise
    assert np.abs(statistics.emission_matrix()[:, 1] - statistics.emission_matrix()[:, 2]).max() > 1e-3
    statistics.grow(100, 1, 2)
    assert statistics.classes == 10  # at most twice as many


def test_dead_classes_are_found_and_revived():
    statistics = some(classes=4)
    statistics.emissions[:, 2] *= 1e-8
    statistics.transitions[:, 2] *= 1e-8
    statistics.settle()
    assert statistics.dead().tolist() == [2]
    assert statistics.revive(1, 1) == 1
    assert statistics.dead().size == 0 and statistics.classes == 4
    np.testing.assert_allclose(statistics.transition_matrix().sum(axis=1), 1.0, rtol=1e-12)


def test_new_words_begin_as_rare_ones():
    statistics = some()
    words = len(statistics.emissions)
    like = statistics.emissions[0] / statistics.emissions[0].sum()
    statistics.extend(np.array([5, 10]), 100)
    assert len(statistics.emissions) == words + 2
    np.testing.assert_allclose(
        statistics.emissions[words] / statistics.emissions[words].sum(), like, rtol=1e-12
    )
    np.testing.assert_allclose(statistics.emissions[words + 1], 2 * statistics.emissions[words], rtol=1e-12)


def test_arrays_and_state_bring_it_back():
    statistics = some()
    statistics.decay(0.3)
    again = Statistics.from_arrays(statistics.arrays(), statistics.state(), 7)
    for name in Statistics.ARRAYS:
        np.testing.assert_array_equal(getattr(again, name), getattr(statistics, name))
    np.testing.assert_array_equal(again.image, statistics.image)
    assert again.state() == statistics.state()


@pytest.mark.parametrize("name", Statistics.ARRAYS)
@pytest.mark.parametrize(
    "spoil", [lambda a: a * np.nan, lambda a: -a, lambda a: a[1:], lambda a: a.astype(np.float32)]
)
def test_damaged_arrays_are_refused(name, spoil):
    statistics = some()
    arrays = {key: value.copy() for key, value in statistics.arrays().items()}
    arrays[name] = spoil(arrays[name])
    with pytest.raises(ValueError):
        Statistics.from_arrays(arrays, statistics.state(), 7)
