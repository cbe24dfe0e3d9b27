"""The dependency parser: what it learns, its best trees, trees it cannot make, its state; folds of a treebank."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import arc_features as twin
from tests.reference.eisner_kbest import best_trees, crossing, projective_trees
from wordkit import rng
from wordkit.errors import Interrupted
from wordkit.models.dependency_parser import DependencyParser, closest_projective, projective_heads
from wordkit.models.jackknife import Jackknife
from wordkit.models.tagged_sentences import TaggedSentences, joined
from wordkit.monitor import Monitor

N_WORDS, N_TAGS = 30, 4
SMALL = {"epochs": 3, "C": 0.1, "hash_bits": 14, "seed": 1}


def sentences(many: int, seed: int = 1) -> TaggedSentences:
    """Tag 0 heads a sentence, 1 hangs on the next 2 or 0 behind it, 2 on the 0, 3 on what is before it."""
    random = np.random.default_rng(seed)
    parts = []
    for _ in range(many):
        n = int(random.integers(2, 9))
        tags = random.integers(1, 4, n)
        root = int(random.integers(n))
        tags[root] = 0
        heads = np.zeros(n, np.int32)
        for i in range(n):
            behind = [j for j in range(i + 1, n) if tags[j] in (0, 2)]
            if i == root:
                heads[i] = 0
            elif tags[i] == 1 and behind and (i > root or behind[0] <= root):
                heads[i] = behind[0] + 1
            elif tags[i] == 3 and i > 0 and i - 1 != root and i > root:
                heads[i] = i
            else:
                heads[i] = root + 1
        words = random.integers(0, N_WORDS, n)
        offsets = np.array([0, n], np.int32)
        parts.append(TaggedSentences(words.astype(np.int32), tags.astype(np.int32), heads, offsets))
    return joined(parts)


def fitted(**parameters):
    return DependencyParser(**{**SMALL, **parameters}).fit(sentences(300), N_WORDS, N_TAGS)


@pytest.fixture(scope="module")
def parser():
    return fitted()


def accuracy(parser, test):
    heads = np.concatenate([trees[0] for trees, _ in parser.parse(test)])
    return float((heads == test.heads).mean())


def test_it_learns_what_tags_and_distance_tell(parser):
    assert accuracy(parser, sentences(200, seed=2)) > 0.9
    assert [record["epoch"] for record in parser.history_] == [1, 2, 3]
    assert parser.history_[-1]["agreement"] > parser.history_[0]["agreement"]


def test_a_fit_is_the_mean_of_the_weights_after_every_step():
    """The same steps with features written out, weights in a dictionary, all trees gone through."""
    some, bits, C = sentences(6, seed=5), 12, 0.01
    some = some.part(np.flatnonzero(some.lengths < 6))
    model = DependencyParser(epochs=2, C=C, hash_bits=bits).fit(some, N_WORDS, N_TAGS)
    weights, mean, steps = np.zeros(1 << bits), np.zeros(1 << bits), 0
    for epoch in (1, 2):
        for s in rng.stream(1, rng.SHUFFLE, epoch).permutation(len(some)).tolist():
            words, tags, gold = (
                array[some.span(s)].tolist() for array in (some.words, some.tags, some.heads)
            )
            n = len(words)
            arcs = np.zeros((n + 1, n + 1))
            for h in range(n + 1):
                for m in range(1, n + 1):
                    if h != m:
                        arcs[h, m] = weights[twin.places(words, tags, h, m, bits)].sum() + (gold[m - 1] != h)
            predicted = best_trees(arcs, 1)[0][1]
            amounts = twin.difference(words, tags, gold, predicted, bits)
            loss = sum(a != b for a, b in zip(gold, predicted, strict=True))
            margin = sum(weights[place] * amount for place, amount in amounts.items())
            norm = sum(amount**2 for amount in amounts.values())
            for place, amount in amounts.items():
                weights[place] += min(C, max(0.0, loss - margin) / norm) * amount
            mean += weights
            steps += 1
    assert weights.any()
    np.testing.assert_allclose(model.weights_, mean / steps, rtol=1e-4, atol=1e-6)


def test_best_trees_are_ordered_and_their_scores_are_sums_of_arcs(parser):
    test = sentences(20, seed=3)
    for s in range(len(test)):
        words, tags = test.words[test.span(s)], test.tags[test.span(s)]
        arcs = parser.arc_scores(words, tags)
        heads, scores = parser.kbest(words, tags, 10)
        assert np.all(np.diff(scores) <= 1e-9) and len({tuple(tree) for tree in heads.tolist()}) == len(heads)
        for tree, score in zip(heads, scores, strict=True):
            assert score == pytest.approx(arcs[tree, np.arange(1, len(tree) + 1)].sum())
        assert np.array_equal(parser.kbest(words, tags)[0], heads[:1])


def test_threads_do_not_change_anything(parser):
    test = sentences(200, seed=4)
    parser.threads = 4
    many = parser.parse(test, 5)
    parser.threads = 1
    for (heads, scores), (others, their_scores) in zip(parser.parse(test, 5), many, strict=True):
        assert np.array_equal(heads, others) and np.array_equal(scores, their_scores)


def test_state_gives_the_same_parser(parser):
    arrays, values = parser.state()
    again = DependencyParser.from_state(arrays, values, N_WORDS, N_TAGS)
    assert again.get_params() == parser.get_params()
    test = sentences(5, seed=6)
    for (heads, scores), (others, their_scores) in zip(
        parser.parse(test, 3), again.parse(test, 3), strict=True
    ):
        assert np.array_equal(heads, others) and np.array_equal(scores, their_scores)
    with pytest.raises(ValueError, match="weights is"):
        DependencyParser.from_state({"weights": arrays["weights"][1:]}, values, N_WORDS, N_TAGS)


def test_the_same_seed_gives_the_same_weights_and_another_does_not(parser):
    assert np.array_equal(fitted().weights_, parser.weights_)
    assert not np.array_equal(fitted(seed=2).weights_, parser.weights_)


def test_parameters_out_of_range_are_refused():
    for parameters in ({"epochs": 0}, {"C": 0.0}, {"hash_bits": 31}, {"C": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            fitted(**parameters)
    with pytest.raises(ValueError, match="no sentence"):
        DependencyParser().fit(sentences(1).part(np.arange(0)), N_WORDS, N_TAGS)
    with pytest.raises(AttributeError, match="not fitted"):
        DependencyParser().kbest(np.zeros(1, np.int32), np.zeros(1, np.int32))


class Stops(Monitor):
    def __init__(self, after: int) -> None:
        self.left = after

    def advance(self, done: int) -> None:
        self.left -= done
        self.stopping = self.left <= 0


def test_a_fit_stops_when_it_is_asked_to():
    with pytest.raises(Interrupted, match="epoch 2"):
        DependencyParser(**SMALL).fit(sentences(100), N_WORDS, N_TAGS, monitor=Stops(150))


# --- trees that the parser cannot make ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heads", [[3, 4, 0, 3], [0, 0, 1], [0, 4, 1, 0, 2], [2, 0, 5, 1, 2], [4, 5, 4, 0, 4]]
)
def test_the_closest_tree_keeps_as_many_heads_as_any(heads):
    best = max(sum(a == b for a, b in zip(heads, tree, strict=True)) for tree in projective_trees(len(heads)))
    found = closest_projective(np.array(heads, np.int32)).tolist()
    assert not crossing(found) and found.count(0) == 1
    assert sum(a == b for a, b in zip(heads, found, strict=True)) == best


def test_a_lifted_word_hangs_on_an_ancestor():
    """3 hangs on 1 across 2, which is on the root by way of 4: one of the two crossing arcs is lifted."""
    heads = np.array([2, 4, 1, 0], np.int32)
    assert closest_projective(np.array([2, 4, 2, 0])).tolist() == [2, 4, 2, 0]
    found = closest_projective(heads).tolist()
    assert found == [2, 4, 2, 0]


def test_projective_trees_stay_what_they_are():
    some = sentences(50, seed=9)
    made, gaps = projective_heads(some), some.shapes()[0]
    for s, gap in enumerate(gaps.tolist()):
        span = some.span(s)
        assert bool(gap) == crossing(some.heads[span].tolist())
        assert not crossing(made[span].tolist())
        assert gap or np.array_equal(made[span], some.heads[span])
    assert 0 < np.count_nonzero(gaps) < 50
    several = TaggedSentences(
        np.zeros(3, np.int32),
        np.zeros(3, np.int32),
        np.array([0, 0, 2], np.int32),
        np.array([0, 3], np.int32),
    )
    assert projective_heads(several).tolist() == [0, 1, 2]
    assert [a.tolist() for a in several.shapes()] == [[0], [2]]


# --- folds ----------------------------------------------------------------------------------------------------------------------


def jackknife(some, folds=4, **more):
    return Jackknife(
        some, N_WORDS, N_TAGS, SMALL, **{"folds": folds, "k": 4, "min_count": 1, "final": False, **more}
    )


def same(a, b):
    return len(a) == len(b) and all(
        np.array_equal(x, y) and np.array_equal(s, t) for (x, s), (y, t) in zip(a, b, strict=True)
    )


def test_each_fold_is_parsed_by_a_parser_of_the_others():
    some = sentences(62)
    made = jackknife(some)
    parsed = made.run()
    assert made.bounds == [0, 15, 31, 46, 62]
    outside = np.r_[0:15, 31:62]
    by_hand = DependencyParser(**SMALL).fit(some.part(outside), N_WORDS, N_TAGS)
    expected = by_hand.parse(some.part(np.arange(15, 31)), 4)
    seen_words = set(some.part(outside).words.tolist())
    for (heads, _), (others, _), s in zip(parsed[15:31], expected, range(15, 31), strict=True):
        if (
            set(some.words[some.span(s)].tolist()) <= seen_words
        ):  # others have words that are unknown to the fold
            assert np.array_equal(heads, others)
    assert same(parsed, jackknife(some).run(threads=3))


def test_words_that_only_a_fold_has_are_unknown_there():
    some = sentences(40)
    some.words[some.span(0)] = 7
    others = sentences(40)
    others.words[others.span(0)] = 7
    for one in (some, others):
        rest = slice(int(one.offsets[1]), None)
        one.words[rest] = np.where(one.words[rest] == 7, 0, one.words[rest])
    others.words[others.span(0)] = 0
    assert same(jackknife(some).run()[:1], jackknife(others).run()[:1])


def test_an_interrupted_run_goes_on_to_the_same_result():
    some = sentences(60)
    whole = jackknife(some, final=True)
    expected = whole.run()
    first = jackknife(some, final=True)
    kept = []
    with pytest.raises(Interrupted):
        first.run(monitor=Stops(after=340), on_fold=lambda: kept.append(len(first.parsed)))
    assert 0 < len(first.parsed) < 4 and first.begun and kept
    second = jackknife(some, final=True)
    second.restore(first.state())
    assert second.work() < whole.work() or whole.work() == 0
    assert same(second.run(), expected)
    assert np.array_equal(second.final_.weights_, whole.final_.weights_)
    broken = dict(first.state())
    name = next(name for name in broken if name.startswith("heads_"))
    broken[name] = broken[name][1:]
    with pytest.raises(ValueError, match="heads_"):
        jackknife(some).restore(broken)


def test_folds_need_sentences():
    with pytest.raises(ValueError, match="folds of 3 sentences"):
        jackknife(sentences(3))
