"""The small modules that everything stands on: errors, tally, random streams, signatures, threads."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from wordkit import parallel, rng
from wordkit.errors import DataError, DataWarning
from wordkit.signature import signature
from wordkit.tally import Tally


def test_data_error_is_one_line_with_its_place():
    assert str(DataError("f.txt", 7, "9 columns", "10")) == "f.txt:7: 9 columns, expected 10"
    assert str(DataError("f.txt", None, "is empty")) == "f.txt: is empty"


def test_tally_raises_or_counts_by_its_policy():
    error = DataError("f", 3, "bad")
    with pytest.raises(DataError):
        Tally().invalid(error)
    with pytest.raises(DataError):
        Tally(strict=True).warn("odd", error)
    tally = Tally(skip_invalid=True)
    tally.invalid(error, "bad line")
    tally.warn("odd", error)
    tally.warn("odd", DataError("f", 9, "later"), times=3)
    assert tally.counts == {"bad line skipped": 1, "odd": 4}
    assert list(tally.lines()) == ["f:3: bad (bad line skipped)", "f:3: bad (4 x odd)"]
    with pytest.warns(DataWarning) as caught:
        tally.emit()
    assert [str(warning.message) for warning in caught] == list(tally.lines())


def test_streams_depend_on_seed_and_key_alone():
    a = rng.stream(1, rng.SHUFFLE, 3).random(4)
    assert np.array_equal(a, rng.stream(1, rng.SHUFFLE, 3).random(4))
    others = [rng.stream(1, rng.SHUFFLE, 4), rng.stream(2, rng.SHUFFLE, 3), rng.stream(1, rng.FOLDS, 3)]
    assert all(not np.array_equal(a, other.random(4)) for other in others)
    generator = np.random.default_rng(1)
    assert rng.as_generator(generator) is generator
    assert rng.as_generator(5).random() == rng.as_generator(5).random()


def test_signature_is_ordered_and_leaves_out_what_is_not_given():
    line = signature("x", {"b": 0.5, "a": None, "c": True, "d": "p|q"}, [{"sha256": "0123456789abcdef"}])
    assert line.startswith("command:x|b:0.5|c:yes|d:p/q|data:0123456789ab|version:")


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_map_blocks_keeps_the_order(threads):
    def late_first(i):
        time.sleep(0.002 * (5 - i))
        return i * i

    assert parallel.map_blocks(late_first, range(5), threads) == [0, 1, 4, 9, 16]
    assert parallel.map_blocks(late_first, [], threads) == []


def test_map_blocks_bounds_threads_and_raises_the_first_error():
    running, most, lock = set(), [0], threading.Lock()

    def work(i):
        with lock:
            running.add(i)
            most[0] = max(most[0], len(running))
        time.sleep(0.005)
        with lock:
            running.discard(i)
        if i in (2, 5):
            raise ValueError(str(i))

    with pytest.raises(ValueError, match="2"):
        parallel.map_blocks(work, range(8), 3)
    assert most[0] <= 3 and not running


def test_threads_follow_omp_num_threads(monkeypatch):
    for value, expected in [("1", 1), ("nonsense", None), ("0", None), ("100000", None)]:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        parallel.available_threads.cache_clear()
        found = parallel.available_threads()
        assert found == expected if expected else found >= 1
    parallel.available_threads.cache_clear()
