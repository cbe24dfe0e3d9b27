"""The UTF-8 check against Python's decoder."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wordkit._kernels import utf8_check

EDGES = bytes.fromhex("00 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")


def decoder(block):
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return -1


def test_every_edge_of_every_range():
    for size in (1, 2, 3, 4):
        for values in itertools.product(EDGES, repeat=size) if size < 4 else four_bytes():
            block = bytes(values)
            assert utf8_check.first_fault(block) == decoder(block), block


def four_bytes():
    return itertools.product(EDGES[-8:], EDGES[:9], EDGES[:9:2], [0x7F, 0x80, 0xBF, 0xC2])


@settings(max_examples=300)
@given(
    st.lists(st.text(max_size=20).map(str.encode) | st.just(b"a" * 40) | st.binary(max_size=3)).map(b"".join)
)
@example("é".encode() * 70)
@example(b"a" * 31 + "é".encode() + b"a" * 31 + b"\xe2\x82")
def test_equals_the_decoder(block):
    for part in (block, block[:-1], block[1:]):
        assert utf8_check.first_fault(part) == decoder(part)


def test_empty_and_read_only():
    assert utf8_check.first_fault(b"") == -1
    assert utf8_check.first_fault(np.frombuffer(b"abc", np.uint8)) == -1


def test_a_cut_in_every_place():
    line = "Zurbarán – “naïve” 中文 \U0001f600 ".encode() * 4
    for at in range(len(line)):
        assert utf8_check.first_fault(line[:at]) == decoder(line[:at])
        assert utf8_check.first_fault(line[at:]) == decoder(line[at:])
