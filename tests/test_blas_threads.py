"""Estimators give the same bytes however many threads BLAS would use by itself, and leave that number as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse

from tests.conftest import environment
from wordkit.models.sparse_coding import ForestCoder
from wordkit.monitor import Monitor
from wordkit.parallel import _openblas, map_blocks, one_blas_thread

pytestmark = pytest.mark.skipif(not _openblas(), reason="NumPy and SciPy do not use OpenBLAS here")


def threads() -> list[int]:
    return [tell() for tell, _ in _openblas()]


@pytest.fixture
def three():
    """BLAS on three threads."""
    before = threads()
    for _, put in _openblas():
        put(3)
    yield [3] * len(before)
    for (_, put), number in zip(_openblas(), before, strict=True):
        put(number)


def test_both_libraries_are_found():
    assert len(_openblas()) == 2 and min(threads()) >= 1


def test_blocks_in_each_other_and_in_threads(three):
    inside, outside = threading.Event(), threading.Event()

    def other():
        with one_blas_thread():
            inside.set()
            assert outside.wait(10)

    thread = threading.Thread(target=other)
    with pytest.raises(KeyError), one_blas_thread():
        with one_blas_thread():
            assert threads() == [1, 1]
        thread.start()
        assert inside.wait(10) and threads() == [1, 1]
        raise KeyError
    assert threads() == [1, 1]  # of the thread's block
    outside.set()
    thread.join()
    assert threads() == three
    assert map_blocks(lambda _: threads(), [0, 1], 2) == [[1, 1], [1, 1]] and threads() == three


def test_estimators_use_one(three):
    seen = []

    class Looks(Monitor):
        def epoch(self, record):
            seen.append(threads())

    X = scipy.sparse.random_array((200, 50), density=0.3, rng=np.random.default_rng(0), format="csr")
    ForestCoder(dim=13, epochs=2).fit(X, monitor=Looks())
    assert seen == [[1, 1], [1, 1]] and threads() == three


SCRIPT = """
import hashlib, numpy as np, scipy.sparse
from wordkit.models import ForestCoder
X = scipy.sparse.random_array((1500, 1200), density=0.1, rng=np.random.default_rng(0), format="csr")
coder = ForestCoder(dim=52, epochs=1, threads=2).fit(X)
print(hashlib.sha256(coder.codes_.tobytes() + coder.components_.tobytes()).hexdigest())
"""


def test_same_bytes_without_the_variable():
    def run(number: str) -> bytes:
        env = environment(OPENBLAS_NUM_THREADS=number)
        return subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, capture_output=True, check=True, timeout=300
        ).stdout

    assert run("1") == run(str(max(2, os.cpu_count() or 2)))
