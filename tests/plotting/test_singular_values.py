"""Figures of singular values."""

from __future__ import annotations

import numpy as np
import pytest

from wordkit.errors import WordkitError
from wordkit.plotting.singular_values import singular_values_figure

pytest.importorskip("matplotlib")


def test_writes_a_figure(tmp_path):
    values = {"one": np.array([3.0, 1, 0]), "none": np.zeros(3)}
    singular_values_figure(values, tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert text.startswith("<?xml") and len(text) > 5000
    with pytest.raises(WordkitError, match="a figure ends in"):
        singular_values_figure(values, tmp_path / "x.txt")
