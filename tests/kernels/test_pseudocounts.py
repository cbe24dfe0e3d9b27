"""Statistics of a batch: against dense sums, and the same bits however the rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.tree_cases import add_transitions, arguments, infer
from tests.reference import hmtm as twin
from wordkit._kernels import pseudocounts

seeds = st.integers(0, 2**32 - 1)


def parents_of(trees):
    _, heads, _, _, offsets = trees
    sentence = np.searchsorted(offsets, np.arange(len(heads)), side="right") - 1
    return np.where(heads > 0, offsets[sentence] + heads - 1, -1)


def group(words, V):
    order, runs = np.zeros(len(words), np.int32), np.zeros(len(words) + 1, np.int32)
    n = pseudocounts.group_words(words, np.zeros(V + 1, np.int32), order, runs)
    return order, runs, n


def emission_case(seed, V=12, C=20, k=5):
    random = np.random.default_rng(seed)
    trees, model = (
        twin.random_trees(random, 5, 12, V, 2, "mixed", 0),
        twin.random_model(random, V, C, 2, scale=7e3),
    )
    return trees, model, infer(trees, model, k)


@settings(max_examples=30)
@given(seeds, st.sampled_from([1, 5, 33]), st.integers(1, 40), st.sampled_from([0.0, 0.2]))
def test_transitions_equal_dense_sums(seed, C, k, epsilon):
    random = np.random.default_rng(seed)
    trees, model = (
        twin.random_trees(random, 4, 12, 9, 3, "mixed", 0),
        twin.random_model(random, 9, C, 3, scale=7e3),
    )
    outputs = infer(trees, model, k, epsilon)
    start = random.random((3, C, C))
    target = start.copy()
    add_transitions(trees, model, outputs, target, 2.5)
    T, parents = model.T(), parents_of(trees)
    expected = start.copy()
    below = outputs.dense(outputs.below, C)
    for t in np.flatnonzero(trees[1]):
        above = np.zeros(C)
        size = outputs.sizes[parents[t]]
        above[outputs.support[parents[t], :size]] = outputs.above[t, :size]
        expected[trees[2][t]] += 2.5 * below[t][:, None] * T[trees[2][t]] * above
    np.testing.assert_allclose(target, expected, rtol=1e-6)

    starts, children, columns = np.zeros(C), np.zeros((3, C)), np.zeros((3, C))
    arrays = (trees[1], trees[2], trees[4], outputs.support, outputs.sizes)
    pseudocounts.add_marginals(*arrays, outputs.above, outputs.posterior, 2.5, starts, children, columns)
    np.testing.assert_allclose(columns, (target - start).sum(axis=1), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(children, (target - start).sum(axis=2), rtol=1e-4, atol=1e-5)
    posterior = outputs.dense(outputs.posterior, C)
    np.testing.assert_allclose(starts, 2.5 * posterior[trees[1] == 0].sum(axis=0), rtol=1e-6, atol=1e-12)
    dense = np.zeros(C), np.zeros((3, C)), np.zeros((3, C))
    pseudocounts.add_marginals_dense(trees[1], trees[2], trees[4], posterior, 2.5, *dense)
    for a, b in zip(dense, (starts, children, columns), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("many", [False, True])
def test_rows_of_transitions_may_be_cut_anywhere(many):
    random = np.random.default_rng(1)
    C = 33
    trees = twin.random_trees(random, 200 if many else 4, 20, 9, 2, "mixed", 0)
    model = twin.random_model(random, 9, C, 2, scale=7e3)
    outputs = infer(trees, model, 6)
    whole, parts = np.zeros((2, 2, C, C))
    add_transitions(trees, model, outputs, whole, 0.7)
    for lo, hi in ((20, 33), (0, 1), (1, 20), (5, 5)):
        add_transitions(trees, model, outputs, parts, 0.7, lo, hi)
    np.testing.assert_array_equal(whole, parts)
    assert whole.any(axis=(1, 2)).all()


@pytest.mark.parametrize("many", [False, True])
def test_the_image_takes_what_has_changed(many):
    random = np.random.default_rng(2)
    C = 33
    trees = twin.random_trees(random, 200 if many else 4, 20, 9, 2, "mixed", 0)
    model = twin.random_model(random, 9, C, 2, scale=7e3)
    outputs = infer(trees, model, 6)
    start = random.random((2, C, C))
    target, image = start.copy(), start.astype(np.float32)
    add_transitions(trees, model, outputs, target, 0.7, 3, 20, image)
    np.testing.assert_array_equal(image, target.astype(np.float32))
    assert (image[:, 3:20] != start[:, 3:20].astype(np.float32)).any()


def test_transitions_may_be_their_own_image():
    random = np.random.default_rng(3)
    trees = twin.random_trees(random, 20, 20, 9, 2, "mixed", 0)
    model = twin.random_model(random, 9, 33, 2, scale=7e3)
    outputs = infer(trees, model, 6)
    apart, within = np.zeros((2, 2, 33, 33))
    add_transitions(trees, model, outputs, apart, 0.7)
    given = list(arguments(model))
    pseudocounts.add_transitions(
        trees[1], trees[2], trees[4], outputs.support, outputs.sizes, outputs.below, outputs.above, *given[3:6], within,
        given[3], 0.7, 0, 33,
    )  # fmt: skip
    np.testing.assert_array_equal(apart, within)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 6), max_size=30))
def test_words_are_grouped_in_order(words):
    words = np.array(words, np.int32)
    order, runs, n = group(words, 7)
    assert order.tolist() == np.argsort(words, kind="stable").tolist()
    assert runs[: n + 1].tolist() == [0, *np.cumsum(np.unique(words, return_counts=True)[1])]


@settings(max_examples=30)
@given(seeds, st.sampled_from([0.0, 1e-2, 0.5]), st.booleans())
def test_emissions_equal_dense_sums(seed, smoothing, dense):
    trees, model, outputs = emission_case(seed)
    posterior = outputs.dense(outputs.posterior, 20)
    target = model[0].copy() / 1e3
    floors = smoothing * target.max(axis=1)
    expected = target.copy()
    np.add.at(expected, trees[0], 3.0 * posterior)
    before = np.maximum(target, floors[:, None]).sum(axis=0)
    totals = np.zeros(20)
    order, runs, n = group(trees[0], 12)
    if dense:
        door, arrays = pseudocounts.add_emissions_dense, (posterior,)
    else:
        door, arrays = pseudocounts.add_emissions, (outputs.support, outputs.sizes, outputs.posterior)
    door(trees[0], order, runs, *arrays, target, floors, smoothing, 3.0, totals, 0, n)
    np.testing.assert_allclose(target, expected, rtol=1e-6)
    np.testing.assert_allclose(floors, smoothing * target.max(axis=1), rtol=1e-14)
    after = np.maximum(target, floors[:, None]).sum(axis=0)
    np.testing.assert_allclose(before + totals, after, rtol=1e-12)


def test_words_may_be_cut_anywhere():
    trees, model, outputs = emission_case(3)
    order, runs, n = group(trees[0], 12)
    cuts = []
    for ranges in ([(0, n)], [(2, n), (0, 1), (1, 2)]):
        target, floors, totals = model[0] / 1e3, 0.1 * model[0].max(axis=1) / 1e3, np.zeros(20)
        arrays = (outputs.support, outputs.sizes, outputs.posterior)
        for lo, hi in ranges:
            pseudocounts.add_emissions(
                trees[0], order, runs, *arrays, target, floors, 0.1, 1.0, totals, lo, hi
            )
        cuts.append((target, floors, totals))
    np.testing.assert_array_equal(cuts[0][0], cuts[1][0])
    np.testing.assert_array_equal(cuts[0][1], cuts[1][1])
    np.testing.assert_allclose(cuts[0][2], cuts[1][2], rtol=1e-12)


def test_hand_computed():
    """One word twice, classes 0 and 2: its floor rises from 1 to 2, and class 1 with it."""
    support, sizes = np.array([[0, 2], [2, -1]], np.int32), np.array([2, 1], np.int32)
    posterior = np.array([[0.25, 0.75], [1, np.nan]], np.float32)
    target, floors, totals = np.array([[0.0, 0, 0], [2, 0, 0.5]]), np.array([0.0, 1]), np.zeros(3)
    words = np.array([1, 1], np.int32)
    order, runs, n = group(words, 2)
    pseudocounts.add_emissions(
        words, order, runs, support, sizes, posterior, target, floors, 0.5, 2.0, totals, 0, n
    )
    np.testing.assert_allclose(target, [[0, 0, 0], [2.5, 0, 4]])
    np.testing.assert_allclose(floors, [0, 2])
    np.testing.assert_allclose(totals, [2.5 - 2, 2 - 1, 4 - 1])


def test_empty_and_read_only_inputs():
    trees, model, outputs = emission_case(4)
    model = arguments(model)
    for array in (*trees, *model, *outputs.arrays()):
        array.setflags(write=False)
    order, runs, n = group(trees[0], 12)
    for array in (order, runs):
        array.setflags(write=False)
    arrays = (outputs.support, outputs.sizes, outputs.posterior)
    target = model[0].copy()
    pseudocounts.add_emissions(
        trees[0], order, runs, *arrays, target, model[1].copy(), 0.01, 1.0, np.zeros(20), 0, n
    )
    counts = np.zeros((2, 20, 20))
    add_transitions(trees, model, outputs, counts, 1.0)

    empty = twin.make_batch([])
    nothing = infer(empty, model, 5)
    counts = np.zeros((2, 20, 20))
    add_transitions(empty, model, nothing, counts, 1.0)
    order, runs, n = group(empty[0], 12)
    assert n == 0 and not counts.any()
    arrays = (nothing.support, nothing.sizes, nothing.posterior)
    pseudocounts.add_emissions(
        empty[0], order, runs, *arrays, target, model[1].copy(), 0.01, 1.0, np.zeros(20), 0, 0
    )


def test_refuses_what_is_out_of_range():
    trees, model, outputs = emission_case(5)
    _, heads, labels, _, offsets = trees
    counts = np.zeros((2, 20, 20))

    def attempt(at, value, which, lo=0, hi=20):
        arrays = [
            a.copy()
            for a in (heads, labels, offsets, outputs.support, outputs.sizes, outputs.below, outputs.above)
        ]
        if which is not None:
            arrays[which][at] = value
        with pytest.raises(ValueError, match=r"range|rise|need"):
            pseudocounts.add_transitions(*arrays, *arguments(model)[3:6], counts, None, 1.0, lo, hi)
        if which is not None:
            marginals = (*arrays[:5], arrays[6], outputs.posterior)
            with pytest.raises(ValueError, match=r"range|rise|need"):
                pseudocounts.add_marginals(*marginals, 1.0, np.zeros(20), *np.zeros((2, 2, 20)))

    for which, values in ((0, (-1, 99)), (1, (-1, 2)), (2, (-1, 999)), (3, (-1, 20)), (4, (-1, 6))):
        for value in values:
            attempt(1, value, which)
    for lo, hi in ((-1, 3), (3, 2), (0, 21)):
        attempt(0, 0, None, lo, hi)
    with pytest.raises(ValueError, match="image"):
        add_transitions(trees, model, outputs, counts, 1.0, image=np.zeros((2, 20, 19), np.float32))
    order, runs, n = group(trees[0], 12)
    arrays = (outputs.support, outputs.sizes, outputs.posterior)
    for bad in (0, 1):
        for value in (-1, 999):
            places = [order.copy(), runs.copy()]
            places[bad][1] = value
            with pytest.raises(ValueError, match="runs"):
                pseudocounts.add_emissions(
                    trees[0], *places, *arrays, model[0], model[1], 0.01, 1.0, np.zeros(20), 0, n
                )
    for lo, hi in ((-1, 2), (0, len(runs)), (2, 1)):
        with pytest.raises(ValueError, match="runs"):
            pseudocounts.add_emissions(
                trees[0], order, runs, *arrays, model[0], model[1], 0.01, 1.0, np.zeros(20), lo, hi
            )
    with pytest.raises(ValueError, match="out of range"):
        group(trees[0], int(trees[0].max()))
    with pytest.raises(ValueError, match="smoothing"):
        pseudocounts.add_emissions(
            trees[0], order, runs, *arrays, model[0], model[1], -1.0, 1.0, np.zeros(20), 0, n
        )
