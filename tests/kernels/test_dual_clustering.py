"""The kernels of dual clustering against their twins, and what their doors refuse."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import dcme as twin
from wordkit._kernels import cluster_refresh, dual_clustering
from wordkit.models.dual_clusters import DualClusters
from wordkit.models.window_training import Noise, Steps, WindowTrainer
from wordkit.parallel import Workers

D = 8


def setting(seed, objective, *, n=23, k=3, curvature=False, head=0, beta=0.5, scale=0.5):
    """A trainer, its twin, the inputs of both, and sentences."""
    draw = np.random.default_rng(seed)
    inputs = (draw.normal(size=(n, D)) * scale).astype(np.float32)
    outputs = (draw.normal(size=(n, D)) * scale).astype(np.float32)
    counts = draw.integers(1, 30, n)
    bias = np.log(counts / counts.sum()).astype(np.float32) if seed % 2 else np.zeros(n, dtype=np.float32)
    clusters = noise = None
    if objective in ("dcme", "printed"):
        clusters = DualClusters(bias, clusters=k, d=D, beta=beta, growth=0, drift=1e30, curvature=curvature,
                                printed=objective == "printed", top=4, head=head)  # fmt: skip
        clusters.measure(outputs)
        clusters.rows[4] *= curvature
    elif objective != "gd":
        noise = Noise.of(counts, 0.75, 5)
    trainer = WindowTrainer(
        inputs, outputs, bias, objective=objective, window=3, clusters=clusters, noise=noise
    )
    vectors = twin.Vectors(outputs, bias, objective=objective, clusters=clusters, noise=noise, key=99)
    lengths = draw.integers(1, 12, 30)
    words = draw.integers(0, n, lengths.sum()).astype(np.int32)
    bounds = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return trainer, vectors, inputs.astype(float), words, bounds


def run_twin(vectors, H, words, bounds, rate, slope, decay, curvature):
    """The twin over all sentences, with refreshes where they are due."""
    gained, t = 0.0, 0
    while t < len(words):
        at = rate + slope * t
        t, gain = twin.train(vectors, H, words.tolist(), bounds.tolist(), 3, t, len(words), at, slope, decay)
        gained += gain
        if vectors.objective in ("dcme", "printed"):
            vectors.refresh(vectors.due(), curvature)
    return gained


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(["dcme", "printed", "nce", "ns", "gd"]), st.sampled_from([0.0, 0.05]),
       st.sampled_from([0, 3]), st.sampled_from([1, 3, 11]))  # fmt: skip
def test_windows_and_steps_equal_their_twin(seed, objective, decay, head, k):
    trainer, vectors, H, words, bounds = setting(seed, objective, head=head, k=k)
    rate, slope = 0.2, -0.1 / len(words)
    trainer.train(words, bounds, 0, len(words), Steps(99, rate, slope, decay))
    gained = run_twin(vectors, H, words, bounds, rate, slope, decay, False)
    near = {"rtol": 1e-3, "atol": 5e-5}
    np.testing.assert_allclose(trainer.inputs, H, **near)
    np.testing.assert_allclose(trainer.outputs, vectors.V, **near)
    np.testing.assert_allclose(trainer.sums, [gained, len(words)], rtol=1e-3)
    if clusters := trainer.clusters:
        assert k > 3 or clusters.totals[3].sum() >= 1
        np.testing.assert_allclose(clusters.alpha, vectors.alpha, **near)
        np.testing.assert_allclose(clusters.rows[0], vectors.S, **near)
        np.testing.assert_allclose(
            clusters.totals[:3], [vectors.constant, vectors.weight, vectors.pending], **near
        )
    if objective == "dcme":
        np.testing.assert_allclose(trainer.true_outputs(), vectors.true(), **near)
        np.testing.assert_allclose(clusters.rows[1], vectors.alpha.T @ vectors.true(), **near)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [3, 11])
def test_second_order_equals_its_twin(seed, k):
    trainer, vectors, H, words, bounds = setting(seed, "dcme", curvature=True, head=2, k=k)
    trainer.train(words, bounds, 0, len(words), Steps(99, 0.2, 0.0, 0.0))
    run_twin(vectors, H, words, bounds, 0.2, 0.0, 0.0, True)
    near = {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(trainer.true_outputs(), vectors.true(), **near)
    np.testing.assert_allclose(trainer.inputs, H, **near)
    np.testing.assert_allclose(trainer.clusters.rows[1], vectors.alpha.T @ vectors.true(), **near)
    np.testing.assert_allclose(trainer.clusters.rows[4], vectors.variance, **near)
    assert vectors.variance.max() > 0.01


@pytest.mark.parametrize("left_out", ["target", "products", "refresh"])
def test_the_pending_part_must_be_whole(left_out):
    """Each part of the implicit form counts: without it the twin and the kernel part."""
    trainer, vectors, H, words, bounds = setting(1, "dcme")
    original = twin.Vectors.true
    if left_out == "target":
        vectors.true = lambda: vectors.V
    elif left_out == "products":
        vectors.true = lambda: original(vectors) + 0.5 * vectors.alpha @ vectors.S
    else:
        vectors.refresh = lambda clusters, curvature: vectors.pending.__setitem__(clusters, 0)
    trainer.train(words, bounds, 0, len(words), Steps(99, 0.2, 0.0, 0.0))
    run_twin(vectors, H, words, bounds, 0.2, 0.0, 0.0, False)
    assert np.abs(trainer.true_outputs() - original(vectors)).max() > 4e-4


def test_gradient_by_finite_differences():
    """One small step of the printed variant goes along dQ/dV and dQ/dH of equation (8), alpha and the cluster held."""
    from wordkit.models.dual_objective import dual_objective

    trainer, _, H, _, _ = setting(5, "printed", n=6, k=2)
    clusters, V = trainer.clusters, trainer.outputs.astype(float)
    clusters.totals[3] = 1  # every cluster is chosen by (9)
    alpha = clusters.alpha.T.astype(float)
    sentence, rate = np.array([0, 1, 2], dtype=np.int32), 1e-3
    context = lambda h: (h[0] + h[2]) / 2  # noqa: E731  # of the target at position 1

    def q(V, H):
        scores = (V @ context(H) + trainer.bias)[None]
        return dual_objective(scores, np.array([1]), alpha, np.array([c]))

    c = int(np.argmax(clusters.rows[1].astype(float) @ context(H) + clusters.totals[0]))
    trainer.train(sentence, np.array([0, 3]), 1, 2, Steps(0, rate, 0.0))
    assert clusters.totals[2, c] == 1
    moved = {"V": (trainer.true_outputs() - V) / rate, "H": (trainer.inputs - H) / rate}
    for name in moved:
        for place in np.ndindex(V.shape):
            step = np.zeros(V.shape)
            step[place] = 1e-5
            arguments = [(V + s * step, H) if name == "V" else (V, H + s * step) for s in (1, -1)]
            slope = (q(*arguments[0]) - q(*arguments[1])) / 2e-5
            # Where H moves (18) takes V alpha as it was cached, which is what it is now.
            assert moved[name][place] == pytest.approx(slope, rel=0.01, abs=2e-3)


@pytest.mark.parametrize("objective", ["dcme", "printed", "nce", "ns", "gd"])
def test_pieces_make_no_difference(objective):
    """Training in pieces that end with sentences and with the kernel's blocks of eight targets is training at once."""
    whole, _, _, words, _ = setting(3, objective)
    parts, _, _, _, _ = setting(3, objective)
    bounds = np.cumsum([0, 3, 5, 8, 16, 11, 1, 13, 7, 1, 1]).astype(np.int64)  # words alone are in no block
    words = words[: bounds[-1]]
    for trainer in (whole, parts):
        if trainer.clusters:
            trainer.clusters.limits[:] = np.inf
    whole.train(words, bounds, 0, len(words), Steps(7, 0.1, 0.0))
    cuts = [0, 8, 16, 32, 57, 66]
    for lo, hi in pairwise(cuts):
        parts.train(words, bounds, lo, hi, Steps(7, 0.1, 0.0))
    assert np.array_equal(whole.outputs, parts.outputs) and np.array_equal(whole.inputs, parts.inputs)


@pytest.mark.parametrize("objective", ["dcme", "ns"])
def test_pieces_across_blocks_come_near(objective):
    """Otherwise a row of H is read up to seven targets earlier: a difference of the second order of the rate."""
    away = []
    for rate in (0.02, 0.01):
        whole, _, _, words, bounds = setting(3, objective)
        parts, _, _, _, _ = setting(3, objective)
        for trainer in (whole, parts):
            if trainer.clusters:
                trainer.clusters.limits[:] = np.inf
        whole.train(words, bounds, 0, len(words), Steps(7, rate, 0.0))
        for lo, hi in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            parts.train(words, bounds, lo, hi, Steps(7, rate, 0.0))
        away.append(np.abs(whole.inputs - parts.inputs).max())
    assert 0 < away[0] < 5e-3 and away[1] < 0.4 * away[0]


@pytest.mark.parametrize("objective", ["dcme", "ns"])
def test_drawn_windows(objective):
    """With a window of 1 a drawn width is always 1; with more, targets see fewer words."""
    fixed, _, _, words, bounds = setting(4, objective)
    drawn, _, _, _, _ = setting(4, objective)
    for trainer, dynamic in ((fixed, False), (drawn, True)):
        trainer.window, trainer.dynamic = 1, dynamic
        trainer.train(words, bounds, 0, len(words), Steps(7, 0.001, 0.0))
    # Gradients reach a word at once, not when it leaves the window: the difference is of the second order of the rate, as long
    # as it changes no target's nearest cluster.
    np.testing.assert_allclose(fixed.inputs, drawn.inputs, atol=1e-5)
    assert np.isfinite(drawn.true_outputs()).all()


def test_refresh_is_the_same_on_any_number_of_threads():
    results = []
    for threads in (1, 3):
        draw = np.random.default_rng(0)
        n = 9000
        bias = np.log(np.full(n, 1 / n)).astype(np.float32)
        clusters = DualClusters(bias, clusters=4, d=16, beta=1, head=3)
        outputs = draw.normal(size=(n, 16)).astype(np.float32)
        clusters.rows[:3] = np.abs(draw.normal(size=(3, 4, 16)))
        clusters.totals[1:3] = 5
        assert clusters.refresh(outputs, bias, [0, 1, 2, 3], Workers(threads))
        results.append((outputs, clusters.alpha, clusters.rows))
    for a, b in zip(*results, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("scale", [1, 30])
def test_a_refresh_of_all_is_the_soft_max_at_their_means(scale):
    """With scores far above the level that the bound gives too; and nothing is pending behind it."""
    trainer, vectors, _, _, _ = setting(3, "dcme", n=70, k=9, curvature=True, head=2, scale=scale)
    clusters, draw = trainer.clusters, np.random.default_rng(1)
    clusters.rows[0], clusters.totals[1] = scale * draw.normal(size=(9, D)), 2
    clusters.rows[2] = clusters.rows[0] ** 2 + draw.random((9, D))
    clusters.totals[2] = 5
    clusters.measure(trainer.outputs)
    vectors.S, vectors.squares = clusters.rows[[0, 2]].astype(float)
    vectors.weight, vectors.pending = clusters.totals[[1, 2]]
    vectors.refresh(range(9), True)
    assert clusters.refresh(trainer.outputs, trainer.bias, list(range(9)), Workers(1))
    np.testing.assert_allclose(trainer.outputs, vectors.V, rtol=1e-4, atol=1e-5 * scale)
    np.testing.assert_allclose(clusters.alpha, vectors.alpha, atol=1e-3)
    np.testing.assert_allclose(clusters.totals[0], vectors.constant, rtol=1e-4, atol=1e-3)
    assert not clusters.rows[[0, 2]].any() and not clusters.totals[1:3].any() and not clusters.due()


def test_not_finite_is_told():
    from wordkit.models.window_training import Diverged

    for objective in ("dcme", "printed", "nce", "ns", "gd"):
        trainer, _, _, words, bounds = setting(1, objective)
        trainer.outputs[:] = np.nan
        with pytest.raises(Diverged):
            trainer.train(words, bounds, 0, len(words), Steps(1, 0.1, 0.0))


def test_doors():
    trainer, _, _, words, bounds = setting(2, "ns")
    for bad_words, bad_bounds in (
        (words + np.int32(1000), bounds),
        (-words - np.int32(1), bounds),
        (words, bounds[:-1]),
        (words, bounds[::-1].copy()),
        (words, bounds[:0]),
    ):
        with pytest.raises(ValueError):
            dual_clustering.check_words(bad_words, bad_bounds, 23)
    arrays = (*trainer.noise, 1)
    scratch, items = trainer._scratch[0]

    def call(**changed):
        given = {"lo": 0, "hi": len(words), "objective": 3, "arrays": arrays, "inputs": trainer.inputs, "bias": trainer.bias,
                 "window": 3, "scratch": scratch, "items": items} | changed  # fmt: skip
        return dual_clustering.train_words(
            words, bounds, given["lo"], given["hi"], given["objective"], given["arrays"], given["inputs"], trainer.outputs,
            given["bias"], given["window"], False, 1, 0.1, 0.0, 0.0, given["scratch"], given["items"], np.zeros(2),
        )  # fmt: skip

    for changed in (
        {"lo": -1}, {"hi": len(words) + 1}, {"objective": 9}, {"window": 0}, {"scratch": scratch[:-1]}, {"items": items[:-1]},
        {"inputs": trainer.inputs[:-1]}, {"bias": trainer.bias[:-1]}, {"arrays": (*trainer.noise[:3], 0, 1)},
        {"arrays": (trainer.noise.keep, trainer.noise.alias + np.int32(99), trainer.noise.shift, 5, 1)},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            call(**changed)
    dual, _, _, _, _ = setting(2, "dcme", head=3)
    dual_scratch, numbers = dual._scratch[0]
    given = {"objective": 0, "arrays": dual._arrays(dual.clusters.own(), 0)}
    for changed in (
        {"scratch": dual_scratch[:-1], "items": numbers},
        {"scratch": dual_scratch, "items": numbers[:-1]},
    ):
        with pytest.raises(ValueError):
            call(**given, **changed)
    assert call(hi=0) == (0, dual_clustering.DONE)
    assert call() == (len(words), dual_clustering.DONE)


def test_the_door_of_refreshes():
    n, d, k, lanes = 20, 8, 3, 8
    good = {
        "outputs": np.zeros((n, d), np.float32), "alpha": np.zeros((n, k), np.float32), "clusters": np.arange(k, dtype=np.int32),
        "lo": 0, "hi": n, "pulls": np.zeros((lanes, d), np.float32), "curvature": np.zeros((lanes, d), np.float32),
        "means": np.zeros((lanes, d), np.float32), "bias": np.zeros(n, np.float32), "levels": np.zeros(k, np.float32),
        "shares": np.zeros((n, k), np.float32), "totals": np.zeros(k), "highest": np.zeros(k, np.float32),
        "product": np.zeros((lanes, d), np.float32), "squares": np.zeros((lanes, d), np.float32),
        "scratch": np.zeros((16 + lanes, d), np.float32),
    }  # fmt: skip
    for name, value in good.items():
        if isinstance(value, int):
            wrong = [-1, n + 1]
        elif name == "clusters":
            wrong = [value + np.int32(1), value - np.int32(1), value[:2]]
        else:
            wrong = [value[:-1]] + ([value[..., :-1].copy()] if value.ndim > 1 else [])
        for bad in wrong:
            with pytest.raises(ValueError):
                cluster_refresh.refresh(**{**good, name: bad})
    cluster_refresh.refresh(**good)
    assert np.array_equal(good["shares"], np.ones((n, k))) and np.array_equal(good["totals"], np.full(k, n))
