"""The kernel of classes on sparse rows against its twin, with the clusters' pass in between; what its doors refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import dcme as twin
from wordkit._kernels import class_pass, class_training, dual_clustering
from wordkit.models import class_clusters
from wordkit.models.base import row_arrays
from wordkit.models.class_clusters import ClassClusters, aligned_zeros
from wordkit.models.window_training import Noise
from wordkit.parallel import Workers

FEATURES, N, CURVATURE = 30, 37, 4.0  # groups of 16, 16 and 5 classes


class Setting:
    """A kernel's arrays and its twin on the same rows."""

    def __init__(self, seed: int, objective: str, *, k: int = 3, top: int = 3, rows: int = 40) -> None:
        draw = np.random.default_rng(seed)
        dense = draw.normal(size=(rows, FEATURES)) * (draw.random((rows, FEATURES)) < 0.2)
        dense[1] = 0  # an empty row
        self.dense = dense.astype(np.float32)
        self.matrix = row_arrays(scipy.sparse.csr_array(self.dense))
        self.classes = draw.integers(0, N, rows).astype(np.int32)
        self.order = draw.permutation(rows).astype(np.int64)
        self.cells = aligned_zeros(FEATURES, N)
        counts = draw.permutation(N) + 1  # none alike: which classes are the top is not open
        self.bias = np.log(counts / counts.sum()).astype(np.float32)
        self.code = dual_clustering.OBJECTIVES[objective]
        self.clusters = self.noise = None
        if objective in ("dcme", "printed"):
            self.clusters = ClassClusters(
                self.bias, features=FEATURES, clusters=k, beta=1, top=top, printed=objective == "printed"
            )
        elif objective != "gd":
            self.noise = Noise.of(counts, 0.75, 5)
        self.twin = twin.Classes(self.cells[:, :N], self.bias, objective=objective, clusters=self.clusters,
                                 noise=self.noise, key=77)  # fmt: skip
        self.sums = np.zeros(2)

    def arrays(self) -> tuple:
        if self.clusters:
            return self.clusters.arrays(self.clusters.totals)
        return (*self.noise, 77) if self.noise else ()

    def refresh(self, threads: int = 1) -> bool:
        return self.clusters.refresh(self.cells, CURVATURE, Workers(threads))

    @property
    def columns(self) -> np.ndarray:
        return self.clusters.place[self.classes] if self.clusters else self.classes

    def train(self, lo: int, hi: int, rate: float = 0.3, slope: float = -0.002, **changed) -> int:
        given = {"order": self.order, "classes": self.columns, "arrays": self.arrays(), "code": self.code,
                 "bias": self.clusters.bias if self.clusters else self.bias,
                 "scratch": np.empty(class_training.scratch_size(self.cells.shape[1], 5, 9), dtype=np.float32),
                 "items": np.empty(20, dtype=np.int32), "cells": self.cells}  # fmt: skip
        given |= changed
        return class_training.train_rows(
            *self.matrix, given["classes"], given["order"], lo, hi, given["code"], given["arrays"], given["cells"], given["bias"],
            rate + slope * lo, slope, given["scratch"], given["items"], self.sums,
        )  # fmt: skip

    def train_twin(self, lo: int, hi: int, rate: float = 0.3, slope: float = -0.002) -> float:
        rows = ((t, self.order[t]) for t in range(lo, hi))
        return sum(
            self.twin.step(self.dense[r].astype(float), self.classes[r], rate + slope * t, t) for t, r in rows
        )


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(["dcme", "printed", "nce", "ns", "gd"]), st.sampled_from([0, 3, 20, 37]),
       st.sampled_from([1, 3, 9]))  # fmt: skip
def test_equals_its_twin(seed, objective, top, k):
    case = Setting(seed, objective, top=top, k=k)
    gained = 0.0
    for lo, hi in ((0, 9), (9, 9), (9, 22), (22, 40)):
        assert case.train(lo, hi) == hi - lo
        gained += case.train_twin(lo, hi)
        if case.clusters and hi < 40:
            assert case.refresh()
            case.twin.refresh(CURVATURE)
    near = {"rtol": 2e-3, "atol": 2e-4}
    if case.clusters:
        true = case.clusters.true_cells(case.cells)
        np.testing.assert_allclose(true, case.twin.true(), **near)
        np.testing.assert_allclose(case.clusters.alpha[case.clusters.place], case.twin.alpha, **near)
        np.testing.assert_allclose(case.clusters.rho[case.clusters.place], case.twin.rho, **near)
        np.testing.assert_allclose(case.clusters.totals[2:4], [case.twin.pending, case.twin.refreshed])
        if objective == "dcme":
            np.testing.assert_allclose(
                case.clusters.records[:, :k],
                true[:, case.clusters.order] @ case.clusters.alpha,
                rtol=1e-3,
                atol=1e-4,
            )
    else:
        np.testing.assert_allclose(case.cells[:, :N], case.twin.W, **near)
    assert not case.cells[:, N:].any()
    np.testing.assert_allclose(case.sums, [gained, 40], rtol=1e-3)


def test_all_classes_exact_is_maximum_likelihood():
    """Where all groups are exact nothing is left to approximate, whatever the clusters say."""
    dual, full = Setting(3, "dcme", top=N), Setting(3, "gd")
    for lo, hi in ((0, 10), (10, 25), (25, 40)):
        dual.train(lo, hi)
        dual.refresh()
        full.train(lo, hi)
    np.testing.assert_allclose(dual.clusters.true_cells(dual.cells), full.cells[:, :N], atol=2e-3)
    np.testing.assert_allclose(dual.sums[0], full.sums[0], rtol=1e-3)


@pytest.mark.parametrize("top", [3, 20, N])
def test_steps_that_threads_lose_do_little(top):
    """Threads without locks lose some of each other's steps; no sums of large ones that cancel may depend on them."""
    largest = []
    for lost in (0.0, 0.3):
        draw, case = np.random.default_rng(8), Setting(7, "dcme", top=top, rows=3000)
        for lo in range(0, 3000, 5):
            before = case.clusters.records.copy()
            assert case.train(lo, lo + 5, rate=2, slope=-2 / 3000) == 5
            again = draw.random(FEATURES) < lost
            case.clusters.records[again] = before[again]
            if lo % 200 == 195:
                assert case.refresh()
        largest.append(np.abs(case.clusters.true_cells(case.cells)).max())
    assert largest[1] < 3 * largest[0]


def test_pass_is_the_same_on_any_number_of_threads():
    cases = [Setting(5, "dcme") for _ in range(2)]
    for case, threads in zip(cases, (1, 3), strict=True):
        case.train(0, 40)
        class_clusters._LEAST_FEATURES, before = 8, class_clusters._LEAST_FEATURES
        assert case.refresh(threads)
        class_clusters._LEAST_FEATURES = before
    for name in ("shares", "records", "totals", "gram"):
        assert np.array_equal(*(getattr(case.clusters, name) for case in cases))
    assert np.array_equal(cases[0].cells, cases[1].cells)


@pytest.mark.parametrize("top", [0, 16, 32])
def test_exact_classes_are_the_likeliest_groups_of_an_order_by_clusters(top):
    case = Setting(2, "dcme", top=top, rows=300)
    clusters = case.clusters
    for lo in range(0, 300, 60):
        case.train(lo, lo + 60, slope=-0.0005)
        pending, before, passes = (
            clusters.totals[2].copy(),
            clusters.order.copy(),
            clusters.totals[3].max() + 1,
        )
        assert case.refresh()
        assert np.array_equal(np.sort(clusters.order), np.arange(N))
        assert np.array_equal(clusters.order[clusters.place], np.arange(N))
        np.testing.assert_array_equal(clusters.bias, case.bias[clusters.order])
        assert np.array_equal(clusters.order, before) or passes in (1, 2, 4)
        if passes in (1, 2, 4):
            owners = (clusters.alpha * np.maximum(pending, 1)).argmax(axis=1)
            assert (np.diff(owners) >= 0).all()
        masses = np.add.reduceat(clusters.alpha, range(0, N, 16), axis=0)
        for c, groups in enumerate(clusters.top_groups):
            others = np.delete(masses[:, c], groups)
            assert not len(groups) or not len(others) or masses[groups, c].min() >= others.max()
            rest = ~np.isin(np.arange(N) // 16, groups)
            assert not clusters.rho[~rest, c].any()
            np.testing.assert_allclose(
                clusters.rho[rest, c], clusters.alpha[rest, c] / clusters.alpha[rest, c].sum(), rtol=1e-4
            )


@pytest.mark.parametrize("total", [1, 60, 700, 10**5])
@pytest.mark.parametrize("beta", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("printed", [False, True])
def test_passes_end_before_the_training_and_are_no_nearer_than_they_are_worth(total, beta, printed):
    clusters = ClassClusters(
        np.zeros(N, np.float32), features=2, clusters=3, beta=beta, top=0, printed=printed
    )
    times = clusters.pass_times(total)
    assert times == sorted(set(times)) and times[-1] == (total if printed else -(-total * 7 // 10))
    steps, least = np.diff([0, *times]), 3 * 32
    assert len(times) == 1 or times[1] > least  # the first alone may come early
    if len(times) > 1:
        assert times[0] >= least / 4 and (steps[1:] >= 0.75 * least - 1).all()
        assert (steps <= max(least, beta * N * 3) + 1).all()
        assert (np.array(times[1:]) <= 4 * np.array(times[:-1])).all()


def test_pass_doors():
    cells, records, k = aligned_zeros(20, 40), aligned_zeros(20, 12), 3
    width = cells.shape[1]
    rho, scales, scores = (
        np.zeros((k, width), np.float32),
        np.ones(k, np.float32),
        np.zeros((k, width), np.float32),
    )
    scratch = np.zeros(class_pass.fold_scratch(k, width), np.float32)
    good = [cells, records, rho, scales, 1.0, 0, 20, scores, scratch]
    class_pass.fold(*good)
    for place, wrong in (
        (0, cells[:10]), (1, records[:, :8].copy()), (2, rho[:2]), (3, scales[:2]), (5, 21), (6, 21), (5, -1), (7, scores[:2]),
        (8, scratch[1:]), (0, cells[:, :40].copy()),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            class_pass.fold(*good[:place], wrong, *good[place + 1 :])
    rho, rest, exact = np.zeros((8, width), np.float32), np.ones(k, np.float32), np.zeros((k, 32), np.float32)
    groups, order = np.zeros((k, 2), np.int32), np.arange(40, dtype=np.int32)
    good = [cells, records, rho, rest, exact, groups, order, 0, 20, np.zeros((9, width), np.float32)]
    class_pass.measure(*good)
    for place, wrong in (
        (1, records[:, :8].copy()), (2, rho[:3]), (3, rest[:2]), (4, exact[:, :16].copy()), (5, groups + np.int32(3)),
        (5, groups - np.int32(1)), (6, order + np.int32(10)), (6, -order), (6, np.zeros(49, np.int32)), (8, 21), (9, rho),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            class_pass.measure(*good[:place], wrong, *good[place + 1 :])


def test_not_finite_is_told():
    for objective in ("dcme", "printed", "nce", "ns", "gd"):
        case = Setting(1, objective)
        if case.order[0] == 1:  # the empty row meets no weight
            case.order[:2] = case.order[1::-1]
        case.cells[:] = np.nan
        assert case.train(0, 40) == 0
    case = Setting(1, "dcme")
    case.train(0, 40)
    case.cells[0, 0] = np.inf
    assert not case.refresh()


def test_doors():
    data, indices, indptr = Setting(0, "gd").matrix
    for arrays in (
        (data, indices + np.int32(FEATURES), indptr), (data, -indices - np.int32(1), indptr), (data[:-1], indices, indptr),
        (data, indices, indptr[::-1].copy()), (data, indices, indptr[:0]), (data, indices, indptr + 1),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            class_training.check_rows(*arrays, FEATURES)
    case = Setting(0, "ns")
    for changed in (
        {"order": case.order + 100}, {"classes": case.classes + np.int32(N)}, {"code": 7}, {"scratch": np.empty(5, np.float32)},
        {"items": np.empty(3, np.int32)}, {"classes": case.classes[:-1]}, {"bias": case.bias[:1]},
        {"cells": np.zeros((FEATURES, N), np.float32)}, {"arrays": (*case.noise[:3], 1 << 20, 1)},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            case.train(0, 40, **changed)
    with pytest.raises(ValueError):
        case.train(0, 41)
    dual = Setting(0, "dcme")
    good = dual.arrays()
    for place, array in (
        (0, good[0][:, :-1].copy()),
        (1, good[1][:1]),
        (2, good[2][:1]),
        (3, good[3][:4]),
        (4, good[4] + 50),
        (4, good[4] - 1),
        (4, np.repeat(good[4], 2, axis=1)),
    ):
        with pytest.raises(ValueError):
            dual.train(0, 1, arrays=(*good[:place], np.ascontiguousarray(array), *good[place + 1 :]))
    assert case.train(3, 3) == 0
