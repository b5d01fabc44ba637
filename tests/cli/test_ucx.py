"""Errors if UCX is not installed or cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "release" / "multi" / "ucx"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        (
            {"ATOLL_UCX_LIBRARY": "/no/such/libucp.so.0"},
            ["UCX, which was not found", "/no/such/libucp.so.0", "apt-get install libucx0", "[ucx]"],
        ),
        ({"UCX_NET_DEVICES": "nosuch0"}, ["UCX_NET_DEVICES=nosuch0", "Network devices here: ", "lo"]),
        ({"ATOLL_UCX_CONNECT": "sometimes"}, ["ATOLL_UCX_CONNECT=sometimes", "one of lazy, all"]),
        ({"ATOLL_UCX_PROGRESS": "magic"}, ["ATOLL_UCX_PROGRESS=magic", "one of none, thread"]),
        ({"ATOLL_UCX_RMA": "maybe"}, ["ATOLL_UCX_RMA=maybe", "one of auto, on, device, off"]),
    ],
)
def test_a_missing_library_is_named(atoll, environment, said):
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    result = atoll("run", "-n", 2, PROGRAM, env={"ATOLL_TRANSPORT": "ucx", **environment})
    assert result.returncode != 0
    for text in said:
        assert text in result.stderr
