"""Composed phrases by hand, SciPy's correlations and t-test, constant scores and unknown words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr, ttest_ind

from wordkit.errors import WordkitError
from wordkit.evaluation.composition import METHODS, composition_results, figure_data, welch
from wordkit.evaluation.known_vectors import KnownVectors
from wordkit.evaluation.transitions import Transitions
from wordkit.formats.phrases import Phrases

WORDS = ["old", "new", "red", "man", "boy", "car", "run", "go", "see"]
RNG = np.random.default_rng(4)
TABLE = RNG.dirichlet(np.ones(5), len(WORDS))
T = RNG.dirichlet(np.ones(5), 5).T  # columns sum to 1


def known_of(table: np.ndarray, words=WORDS) -> KnownVectors:
    return KnownVectors("v.vec", {word: i for i, word in enumerate(words)}, table, table.mean(axis=0))


def pairs(kind: str = "adjectivenouns", count: int = 12) -> Phrases:
    rng = np.random.default_rng(1)
    draw = lambda: (str(rng.choice(["man", "boy", "car"])), str(rng.choice(["old", "new", "red"])))  # noqa: E731
    left, right = ([draw() for _ in range(count)] for _ in range(2))
    return Phrases("pairs", [kind] * count, left, right, rng.integers(1, 8, count).astype(float))


def vector(word: str) -> np.ndarray:
    return TABLE[WORDS.index(word)]


def cosine(p: np.ndarray, q: np.ndarray) -> float:
    return float(p @ q / np.linalg.norm(p) / np.linalg.norm(q))


def hellinger(p: np.ndarray, q: np.ndarray) -> float:
    return -float(((np.sqrt(p / p.sum()) - np.sqrt(q / q.sum())) ** 2).sum())


def phrase(method: str, words, M: np.ndarray) -> np.ndarray:
    head, *dependents = map(vector, words)
    for v in dependents:
        moved = M @ v if method.startswith("t_") else v
        if method.endswith("add"):
            head = head + moved
        elif method.endswith("mult"):
            head = head * moved
    return head


@pytest.mark.parametrize("structure", ["tree", "chain"])
@pytest.mark.parametrize(("similarity", "measure"), [("cosine", cosine), ("hellinger", hellinger)])
def test_pairs_by_hand(structure, similarity, measure):
    data = pairs()
    (result,) = composition_results(
        data, known_of(TABLE), data="d", similarity=similarity, transitions=Transitions(T, structure, "m")
    )
    M = T.T if structure == "tree" else T
    for method in METHODS:
        scores = [
            measure(phrase(method, a, M), phrase(method, b, M))
            for a, b in zip(data.left, data.right, strict=True)
        ]
        assert result.metrics[method] == pytest.approx(pearsonr(scores, data.scores)[0], rel=1e-6)
        ours = result.samples[
            method
        ].values  # ties of phrases with themselves are broken by rounding, ours and theirs
        assert ours == pytest.approx(scores)
        assert result.details["spearman"][method] == pytest.approx(spearmanr(ours, data.scores)[0], rel=1e-9)
    assert (result.covered, result.total) == (12, 12) and set(result.samples) == set(METHODS)


def test_verbs_are_compared_with_the_bare_landmark():
    left = [("run", "man", "car"), ("go", "boy", "car"), ("see", "man", "boy"), ("run", "boy", "man")]
    right = [("go",), ("see",), ("run",), ("see",)]
    gold = np.array([5.0, 2, 1, 6])
    (result,) = composition_results(
        Phrases("verbs", ["verbs"] * 4, left, right, gold),
        known_of(TABLE),
        data="d",
        transitions=Transitions(T, "tree", "m"),
    )
    for method in METHODS:
        scores = [cosine(phrase(method, a, T.T), vector(b[0])) for a, b in zip(left, right, strict=True)]
        assert result.metrics[method] == pytest.approx(pearsonr(scores, gold)[0], rel=1e-9)


def test_without_transitions_their_methods_are_undefined():
    (result,) = composition_results(pairs(), known_of(TABLE), data="d")
    assert result.metrics["t_add"] is None and result.metrics["add"] is not None
    with pytest.raises(WordkitError, match="m: 5 classes, but the vectors have 2 dimensions"):
        composition_results(
            pairs(), known_of(TABLE[:, :2]), data="d", transitions=Transitions(T, "tree", "m")
        )


def test_each_type_is_a_result():
    one, two = pairs(), pairs("verbobjects")
    both = Phrases(
        "pairs",
        one.types + two.types,
        one.left + two.left,
        one.right + two.right,
        np.concatenate([one.scores, two.scores]),
    )
    results = composition_results(both, known_of(TABLE), data="d")
    assert [result.data for result in results] == ["d:adjectivenouns", "d:verbobjects"]
    assert results[0].metrics == composition_results(one, known_of(TABLE), data="d")[0].metrics


def test_mean_ratings():
    one = pairs(count=6)
    twice = Phrases(
        "pairs", one.types * 2, one.left * 2, one.right * 2, np.concatenate([one.scores, one.scores + 2])
    )
    (each,) = composition_results(twice, known_of(TABLE), data="d")
    (mean,) = composition_results(twice, known_of(TABLE), data="d", ratings="mean")
    (plain,) = composition_results(one, known_of(TABLE), data="d")
    assert (
        mean.metrics == pytest.approx(plain.metrics, nan_ok=True)
        and each.metrics["add"] != plain.metrics["add"]
    )
    assert (mean.details["used"], mean.details["points"], each.details["points"]) == (12, 6, 12)


def test_u085_constant_scores_are_undefined():
    data = pairs()
    (result,) = composition_results(data, known_of(np.ones((len(WORDS), 5))), data="d")
    assert set(result.metrics.values()) == {None}
    data.scores[:] = 3
    (result,) = composition_results(data, known_of(TABLE), data="d")
    assert set(result.metrics.values()) == {None}
    disjoint = known_of(np.eye(len(WORDS)))  # every product is the zero vector
    (result,) = composition_results(pairs(), disjoint, data="d", similarity="hellinger")
    assert result.metrics["mult"] is None and result.metrics["add"] is not None


@pytest.mark.parametrize(
    ("unknown", "used", "covered"), [("skip", 2, 2), ("lowercase", 3, 3), ("zero", 4, 2), ("mean", 4, 2)]
)
def test_u081_policies(unknown, used, covered):
    left = [("man", "old"), ("boy", "new"), ("Car", "red"), ("zzz", "red")]
    data = Phrases("pairs", ["adjectivenouns"] * 4, left, [("boy", "old")] * 4, np.arange(4.0))
    (result,) = composition_results(data, known_of(TABLE), data="d", unknown=unknown)
    assert (result.details["used"], result.covered, result.total) == (used, covered, 4)
    assert result.details["unknown_words"] == (["zzz"] if unknown == "lowercase" else ["Car", "zzz"])


def acceptability() -> Phrases:
    left = [(noun, adjective) for noun in ("man", "boy", "car") for adjective in ("old", "new", "red")]
    return Phrases(
        "acceptability", ["adjectivenouns"] * 9, left, [()] * 9, np.array([1.0, 1, 0, 1, 0, 0, 1, 0, 1])
    )


@pytest.mark.parametrize("structure", ["tree", "chain"])
def test_acceptability_is_scipys_welch_test(structure):
    data = acceptability()
    (result,) = composition_results(
        data, known_of(TABLE), data="d", transitions=Transitions(T, structure, "m")
    )
    M = T if structure == "tree" else T.T
    scores = np.array([vector(adjective) @ M @ vector(noun) for noun, adjective in data.left])
    good = data.scores == 1
    t, p = ttest_ind(scores[~good], scores[good], equal_var=False)
    assert result.metrics["t_statistic"] == pytest.approx(t) and result.metrics["p_value"] == pytest.approx(p)
    assert result.metrics["mean_acceptable"] == pytest.approx(scores[good].mean())
    drawn = figure_data(result.as_dict(), "r.json")
    assert sorted(drawn["deviant"]) == pytest.approx(sorted(scores[~good]))
    assert (result.details["acceptable"], result.details["deviant"]) == (5, 4)


def test_acceptability_of_nothing():
    with pytest.raises(WordkitError, match="needs the transitions"):
        composition_results(acceptability(), known_of(TABLE), data="d")
    transitions = Transitions(T, "tree", "m")
    (result,) = composition_results(
        acceptability(), known_of(TABLE[:1], ["x"]), data="d", transitions=transitions
    )
    assert set(result.metrics.values()) == {None}
    with pytest.raises(WordkitError, match="holds no scores"):
        figure_data(result.as_dict(), "r.json")
    with pytest.raises(WordkitError, match="holds no scores"):
        figure_data({"scores": {"acceptable": ["x"], "deviant": [1]}}, "r.json")
    assert welch(np.ones(3), np.ones(4)) == (None, None) and welch(np.arange(3.0), np.ones(1)) == (None, None)


def test_words_have_the_part_of_speech_of_their_place():
    tagged = known_of(
        TABLE, [f"{word}/{'ADJ' if i < 3 else 'NOUN' if i < 6 else 'VERB'}" for i, word in enumerate(WORDS)]
    )
    (plain,) = composition_results(pairs(), known_of(TABLE), data="d")
    (upos,) = composition_results(pairs(), tagged, data="d", form="upos")
    assert upos.metrics == plain.metrics and upos.covered == 12
    (verbs,) = composition_results(pairs("verbobjects"), tagged, data="d", form="upos")
    assert verbs.covered == 0


def test_refused():
    with pytest.raises(WordkitError, match="the vector of 'man' holds negative values: kl"):
        composition_results(
            pairs(), known_of(np.where(np.arange(9)[:, None] == 3, -TABLE, TABLE)), data="d", similarity="kl"
        )
    for options in ({"similarity": "x"}, {"ratings": "x"}, {"unknown": "x"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            composition_results(pairs(), known_of(TABLE), data="d", **options)
