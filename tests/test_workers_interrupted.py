"""Signals that cut off a map at any place: it ends, and the workers serve on."""

import signal
import subprocess
import sys

import pytest

from tests.conftest import environment

# Each round is cut off at another place. A lock left held would make a round, or the end of the process, wait for ever.
ROUNDS = """
import random, signal, time
from wordkit.parallel import Workers

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
random.seed(1)
ended, cut, workers = time.monotonic() + 1.5, 0, Workers(3)
while time.monotonic() < ended:
    if cut % 50 == 0:
        workers = Workers(3)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + 1e-3 * random.random())
        while True:
            workers.map(str, range(5))
    except KeyboardInterrupt:
        cut += 1
    assert workers.map(str, range(5)) == list("01234")
print(cut > 100)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
def test_a_map_cut_off_anywhere_ends():
    done = subprocess.run(
        [sys.executable, "-c", ROUNDS], capture_output=True, env=environment(), timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == (b"True\n", b"")
