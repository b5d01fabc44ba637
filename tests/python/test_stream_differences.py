"""Collectives that PEs enqueue differently on streams, on a simulated GPU: the host of every PE raises an error."""

from __future__ import annotations

import pytest
from jobs import Job
from simulated import needs_plugin

# Calls of one size in bytes on all PEs but the last, and on the last; then parts of the error.
DIFFERENT = {
    "sizes": (
        "sum_reduce(y, x, {})",
        "sum_reduce(y[:2], x[:2], {})",
        ("bytes=32", "bytes=16", "differ in bytes"),
    ),
    "dtypes": (
        "broadcast(y, x, 0, {})",
        "broadcast(yi, xi, 0, {})",
        ("dtype=float64", "dtype=int64", "differ in dtype"),
    ),
    "types of a sum": ("sum_reduce(y, x, {})", "sum_reduce(yi, xi, {})", ("dtype=float64", "dtype=int64")),
    "roots": ("broadcast(y, x, 0, {})", "broadcast(y, x, 1, {})", ("root=0", "root=1", "differ in root")),
    "roots of a reduction": (
        "reduce(y, x, 'sum', 0, {})",
        "reduce(y, x, 'sum', 1, {})",
        ("root=0", "root=1"),
    ),
    "operators": (
        "sum_reduce(y, x, {})",
        "max_reduce(y, x, {})",
        ("sum_reduce(", "max_reduce(", "differ in op"),
    ),
    "operations": ("sum_reduce(y, x, {})", "broadcast(y, x, 0, {})", ("reduce(", "broadcast(")),
    "strides": (
        "alltoalls(wide, wide2, 1, 1, 1, {})",
        "alltoalls(wide, wide2, 1, 2, 1, {})",
        ("src_stride=1", "src_stride=2"),
    ),
    "an empty call": ("sum_reduce(y, x, {})", "sum_reduce(y[:0], x[:0], {})", ("bytes=32", "bytes=0")),
}

PROGRAM = """
import atoll

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x, y = atoll.zeros(4, device="cuda"), atoll.zeros(4, device="cuda")
xi, yi = (atoll.zeros(4, "int64", device="cuda") for _ in range(2))
wide, wide2 = (atoll.zeros(8 * n, device="cuda") for _ in range(2))
team = atoll.WORLD.split(0)
on = dict(team=team, stream=1)
for _ in range(300):  # more than are kept
    atoll.sum_reduce(y, x, **on)
atoll.collect(wide, x[: me + 1], **on)  # sizes may differ
"""


@needs_plugin
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("what", DIFFERENT)
def test_every_pe_learns_of_a_difference(job: Job, package: str, what: str, n: int) -> None:
    usual, other, parts = DIFFERENT[what]
    done = job(
        PROGRAM
        + f"""
def call():
    if me == n - 1:
        atoll.{other.format("**on")}
    else:
        atoll.{usual.format("**on")}

try:
    call()
    atoll.sum_reduce(y, x, **on)  # the next call, if the first was no wait
    atoll.sum_reduce(y, x, **on)
except atoll.CollectiveMismatch as error:
    for part in {parts!r} + ("call 302 of the team", f"PE {{n - 1}} called", "team 1"):
        assert part in str(error), f"{{part}} is not in {{error}}"
else:
    raise AssertionError("no error")
try:
    atoll.sum_reduce(y, x, **on)
except atoll.CollectiveMismatch:
    pass
else:
    raise AssertionError("the team can still be used on streams")
assert atoll.sum_reduce(1, team=team) == n
atoll.sum_reduce(y, x, stream=1)  # another team
print("named")
atoll.barrier_all()
""",
        n,
        PYTHONPATH=package,
    )
    assert done.stdout.count("named") == n, done.stdout + done.stderr


@needs_plugin
def test_nothing_is_compared_without_checks(job: Job, package: str) -> None:
    done = job(
        PROGRAM
        + """
if me == 0:
    atoll.broadcast(y, x, 0, **on)
else:
    atoll.broadcast(yi, xi, 0, **on)
print("done")
atoll.barrier_all()
""",
        2,
        PYTHONPATH=package,
        ATOLL_CHECK="none",
    )
    assert done.stdout.count("done") == 2
