"""The synthetic de-noising task: how it is drawn, and that RPA wins where words are seen again."""

import subprocess
import sys

import numpy as np
import pytest

from wordkit.evaluation import denoising
from wordkit.evaluation.denoising import (
    NoisePoint,
    curve_table,
    denoising_accuracy,
    denoising_curve,
    denoising_data,
    denoising_example,
)

SMALL_GRID = {"C": (0.1, 10.0), "lam": (0.01, 1.0), "epochs": (1, 10)}


def test_samples_realize_words_of_their_half():
    data = denoising_data(40, 100, sigma=2.0, seed=3)
    assert data.rows.shape == (40, 100) and data.vectors.shape == (100, 2)
    assert np.array_equal(np.diff(data.rows.indptr), np.ones(40))
    assert np.array_equal(data.rows.data, np.ones(40, dtype=np.float32))
    assert np.array_equal(data.rows.indices < 50, data.labels == 1)
    assert np.array_equal(data.labels, [1] * 20 + [-1] * 20)
    assert np.array_equal(data.hidden, [[1, 0]] * 50 + [[0, 1]] * 50)


def test_split_is_80_10_10_and_covers_every_sample_once():
    data = denoising_data(50, 20, seed=1)
    assert [len(part) for part in (data.train, data.dev, data.test)] == [40, 5, 5]
    assert np.array_equal(np.sort(np.concatenate(data[4:])), np.arange(50))


def test_several_words_are_indicators():
    data = denoising_data(40, 10, seed=1, words=8)
    assert set(data.rows.data) == {1.0}
    assert np.diff(data.rows.indptr).min() > 1 and np.diff(data.rows.indptr).max() <= 5


def test_noise_has_its_standard_deviation_and_a_draw_of_its_own():
    quiet, loud = denoising_data(10, 20_000, 0.0, seed=4), denoising_data(10, 20_000, 3.0, seed=4)
    assert np.array_equal(quiet.vectors, quiet.hidden)
    assert np.array_equal(quiet.rows.indices, loud.rows.indices)
    noise = loud.vectors - loud.hidden
    assert noise.std() == pytest.approx(3.0, rel=0.02)
    assert abs(noise.mean()) < 0.05
    assert not np.array_equal(loud.vectors, denoising_data(10, 20_000, 3.0, seed=5).vectors)


@pytest.mark.parametrize("n, p, sigma", [(8, 20, 1.0), (21, 20, 1.0), (20, 5, 1.0), (20, 20, -1.0)])
def test_impossible_sizes_are_refused(n, p, sigma):
    with pytest.raises(ValueError, match="expected"):
        denoising_data(n, p, sigma)


@pytest.mark.parametrize("algorithm", denoising.ALGORITHMS)
def test_without_noise_both_are_perfect(algorithm):
    assert denoising_accuracy(algorithm, denoising_data(100, 200, 0.0, 1), grid=SMALL_GRID) == 1.0


def test_figure_1_at_large_noise():
    """RPA sets right the third of the words that it has seen, PA is near chance."""
    pa, rpa = denoising_curve([5.0], initializations=6, grid=SMALL_GRID)
    assert (pa.algorithm, rpa.algorithm) == ("pa", "rpa")
    assert 0.45 < pa.accuracy < 0.62
    assert 0.6 < rpa.accuracy < 0.8


def test_threads_change_nothing():
    def curve(threads):
        return denoising_curve([0.5, 2.0], n=60, p=40, initializations=2, grid=SMALL_GRID, threads=threads)

    assert curve(1) == curve(3)


def test_example_of_figure_2():
    example = denoising_example()
    assert example.before.shape == example.after.shape == (200, 2)
    assert example.is_train.sum() == 160
    right = example.labels * (example.after @ example.rpa_weights) > 0
    assert right[example.is_train].mean() > 0.95
    assert right.mean() > (example.labels * (example.before @ example.pa_weights) > 0).mean() + 0.1


def test_table_is_aligned():
    points = [NoisePoint(s, a, 0.5, 0.01) for s in (0.5, 10.0) for a in denoising.ALGORITHMS]
    assert curve_table(points) == [
        "noise  PA              RPA",
        "0.5    0.500 +- 0.010  0.500 +- 0.010",
        "10.0   0.500 +- 0.010  0.500 +- 0.010",
    ]


def test_main_prints_the_table(monkeypatch, capsys):
    monkeypatch.setattr(denoising, "QUICK_SIGMAS", (0.0,))
    monkeypatch.setattr(denoising, "GRID", SMALL_GRID)
    denoising.main()
    assert capsys.readouterr().out.splitlines()[1].split() == [
        "0.0",
        "1.000",
        "+-",
        "0.000",
        "1.000",
        "+-",
        "0.000",
    ]


def test_needs_no_matplotlib():
    code = "import sys, wordkit.evaluation.denoising; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
