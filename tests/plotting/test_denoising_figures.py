"""Figures are files: written without a display, and a missing matplotlib is told in one line."""

import subprocess
import sys

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.evaluation.denoising import Example, NoisePoint
from wordkit.plotting.denoising import hyperplane_figure, noise_figure

POINTS = [NoisePoint(s, a, 0.9 - s / 10, 0.02) for s in (0.0, 1.0, 2.0) for a in ("pa", "rpa")]
PNG, SIZE_AT = b"\x89PNG\r\n\x1a\n", slice(16, 24)


def example() -> Example:
    points = np.random.default_rng(1).standard_normal((20, 2))
    labels = np.repeat([1, -1], 10)
    return Example(labels, np.arange(20) % 5 > 0, points, points + labels[:, None], np.zeros(2), np.ones(2))


def size_of(path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content.startswith(PNG)
    width, height = np.frombuffer(content[SIZE_AT], dtype=">u4")
    return int(width), int(height)


@pytest.fixture(autouse=True)
def no_display(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("DISPLAY", "bad:0")
    monkeypatch.setenv("MPLBACKEND", "tkagg")


def test_both_figures_are_written(tmp_path):
    noise_figure(POINTS, tmp_path / "1.png")
    hyperplane_figure(example(), tmp_path / "2.png")
    assert size_of(tmp_path / "1.png") == (900, 600)
    assert size_of(tmp_path / "2.png") == (1350, 630)


def test_pyplot_is_not_imported(tmp_path):
    """It would look for a display. In a process of its own: other tests may have imported it."""
    code = (
        "import sys\n"
        "from wordkit.evaluation.denoising import NoisePoint\n"
        "from wordkit.plotting.denoising import noise_figure\n"
        "noise_figure([NoisePoint(0.0, 'pa', 1.0, 0.0)], sys.argv[1])\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "1.png")], check=True)
    assert (tmp_path / "1.png").exists()


@pytest.mark.parametrize("suffix, head", [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_suffix_names_the_format(tmp_path, suffix, head):
    path = tmp_path / f"figure.{suffix}"
    noise_figure(POINTS, path)
    assert path.read_bytes().startswith(head)


@pytest.mark.parametrize("name", ["figure.xyz", "figure"])
def test_other_suffixes_are_refused_before_writing(tmp_path, name):
    with pytest.raises(WordkitError, match=r"a figure ends in \.png"):
        noise_figure(POINTS, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_missing_matplotlib_names_the_extra(tmp_path):
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from wordkit.evaluation.denoising import NoisePoint\n"
        "from wordkit.plotting.denoising import noise_figure\n"
        "from wordkit.errors import WordkitError\n"
        "try: noise_figure([NoisePoint(0.0, 'pa', 1.0, 0.0)], 'x.png')\n"
        "except WordkitError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "figures need matplotlib: pip install matplotlib (or wordkit with its extra plot)\n"
