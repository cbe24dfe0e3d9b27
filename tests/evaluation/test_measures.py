"""Measures against their formulas, pair by pair in plain Python."""

from __future__ import annotations

import math

import click
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordkit.cli.evaluate.similarity import command as evaluate
from wordkit.evaluation import neighbors
from wordkit.evaluation.measures import KL_FLOOR, MEASURES, OF_PROBABILITIES


def xlog(x: float, y: float) -> float:
    return x * math.log(x / y) if x > 0 else 0.0


def plain(name: str, p: list[float], q: list[float]) -> float:
    pairs = list(zip(p, q, strict=True))
    if name == "euclidean":
        return -math.dist(p, q)
    if name == "hellinger":
        return -sum((math.sqrt(x) - math.sqrt(y)) ** 2 for x, y in pairs)
    if name == "bhattacharyya":
        return sum(math.sqrt(x * y) for x, y in pairs)
    if name == "chi-squared":
        return -sum((x - y) ** 2 / (x + y) for x, y in pairs if x + y > 0)
    if name == "jensen-shannon":
        return -sum(xlog(x, (x + y) / 2) + xlog(y, (x + y) / 2) for x, y in pairs) / 2
    if name == "kl":
        pairs = [(max(x, KL_FLOOR), max(y, KL_FLOOR)) for x, y in pairs]
        return -sum(xlog(x, y) + xlog(y, x) for x, y in pairs) / 2
    product = sum(x * y for x, y in pairs)
    norms = math.hypot(*p) * math.hypot(*q)
    return product if name == "dot" else product / norms if norms > 0 else 0.0


value = st.one_of(st.just(0.0), st.floats(1e-6, 1))


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.lists(value, min_size=3, max_size=3), st.lists(value, min_size=3, max_size=3)),
        max_size=5,
    )
)
@pytest.mark.parametrize("name", MEASURES)
def test_equals_its_formula(name, pairs):
    P = np.array([p for p, _ in pairs]).reshape(-1, 3)
    Q = np.array([q for _, q in pairs]).reshape(-1, 3)
    scores = MEASURES[name](P, Q)
    np.testing.assert_allclose(scores, [plain(name, p, q) for p, q in pairs], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(scores, MEASURES[name](Q, P), rtol=1e-12, atol=1e-300)


def test_by_hand():
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.5])
    assert MEASURES["chi-squared"](p, q) == -1.0
    assert MEASURES["hellinger"](p, q) == pytest.approx(-1.0)
    assert MEASURES["bhattacharyya"](p, q) == pytest.approx(0.5)
    assert MEASURES["jensen-shannon"](p, q) == pytest.approx(-0.5 * math.log(2))
    assert MEASURES["kl"](p, q) == pytest.approx(-0.5 * math.log(0.5 / KL_FLOOR), rel=1e-9)
    assert MEASURES["kl"](np.array([0.8, 0.2]), np.array([0.4, 0.6])) == pytest.approx(-0.2 * math.log(6))


@pytest.mark.parametrize("name", MEASURES)
def test_nothing_is_nearer_than_the_vector_itself(name):
    rows = np.random.default_rng(0).dirichlet(np.ones(6), 30)
    if name == "dot":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    scores = MEASURES[name](rows[:, None], rows[None])
    assert scores.shape == (30, 30) and (scores.argmax(axis=1) == np.arange(30)).all()


@pytest.mark.parametrize("name", MEASURES)
def test_u015_zero_vectors_have_a_number_with_everything(name):
    zero, one = np.zeros(3), np.array([0.2, 0.8, 0.0])
    scores = MEASURES[name](np.stack([zero, zero, one]), np.stack([zero, one, zero]))
    assert np.isfinite(scores).all() and scores[1] == scores[2] <= 0
    assert name != "cosine" or not scores.any()


def test_one_table_serves_all():
    assert set(neighbors.SIMILARITIES) <= set(MEASURES) and set(MEASURES) > OF_PROBABILITIES
    (option,) = (o for o in evaluate.params if o.name == "similarity")
    assert isinstance(option.type, click.Choice) and list(option.type.choices) == list(MEASURES)
