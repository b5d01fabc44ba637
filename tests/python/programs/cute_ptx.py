"""Counts checks in the PTX of CuTe DSL kernels that make one call each: of addresses, and of a wait's own
bound.

It needs no GPU, but CUTE_DSL_ARCH and CUTE_DSL_KEEP=ptx. It prints JSON: a kernel's name and the functions
that it calls out of line.

    cute_ptx.py places | bounds
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import atoll.cute as dev
import cutlass
import cutlass.cute as cute
from atoll._device import DeviceTeam
from atoll._kernels.ptx import AT
from cutlass import Float32, Int32, Int64
from cutlass.cute.runtime import make_fake_compact_tensor

TEAM = dev.team(DeviceTeam(0, 2, 0, 1 << 40, 0, 0, 1, 0, 0, 0))
WRONG_ADDRESS = (
    f"st.relaxed.sys.global.u32 [w+{AT['report'] + AT['report_subject']}], {AT['subject wrong_address']};"
)


def whole_way(team: Any, box: Any, x: Any, **bound: Any) -> None:
    out = dev.outbox(team, box, 1, **bound)
    dev.close(dev.post_next(out, x))


def whole_way_in(team: Any, box: Any, x: Any, **bound: Any) -> None:
    come = dev.inbox(team, box, 1, **bound)
    dev.close(dev.receive_next(come, x))


def parts_in(team: Any, box: Any, x: Any, **bound: Any) -> None:
    come = dev.begin(dev.inbox(team, box, 1, **bound))
    x[0] = Float32(dev.load(come, 0))
    dev.close(dev.end(come))


def meetings(team: Any, **bound: Any) -> None:
    dev.close(dev.sync_next(dev.meeting(team, **bound)))


TO_PEERS = {
    "put": lambda team, x, y, two, flags, box: dev.put(team, x, y, 1),
    "put_nbi": lambda team, x, y, two, flags, box: dev.put_nbi(team, x, y, 1),
    "get": lambda team, x, y, two, flags, box: dev.get(team, x, y, 1),
    "get_nbi": lambda team, x, y, two, flags, box: dev.get_nbi(team, x, y, 1),
    "iput": lambda team, x, y, two, flags, box: dev.iput(team, x, y, 2, 2, 4, 1),
    "iget": lambda team, x, y, two, flags, box: dev.iget(team, x, y, 2, 2, 4, 1),
    "async_put": lambda team, x, y, two, flags, box: dev.async_put(team, x, y, 1),
    "tile_put": lambda team, x, y, two, flags, box: dev.tile_put(team, two, two, 1),
    "tile_get": lambda team, x, y, two, flags, box: dev.tile_get(team, two, two, 1),
    "p": lambda team, x, y, two, flags, box: dev.p(team, x, 1.0, 1),
    "g": lambda team, x, y, two, flags, box: dev.p(team, x, dev.g(team, flags, 1) * 1.0, 0),
    "atomic_fetch": lambda team, x, y, two, flags, box: dev.atomic_fetch(team, flags, 1),
    "atomic_set": lambda team, x, y, two, flags, box: dev.atomic_set(team, flags, 1, 1),
    "atomic_swap": lambda team, x, y, two, flags, box: dev.atomic_swap(team, flags, 1, 1),
    "atomic_compare_swap": lambda team, x, y, two, flags, box: dev.atomic_compare_swap(team, flags, 1, 2, 1),
    "atomic_add": lambda team, x, y, two, flags, box: dev.atomic_add(team, flags, 1, 1),
    "signal_set": lambda team, x, y, two, flags, box: dev.signal_set(team, flags, 1, 1),
    "signal_add": lambda team, x, y, two, flags, box: dev.signal_add(team, flags, 1, 1),
    "put_signal": lambda team, x, y, two, flags, box: dev.put_signal(team, x, y, flags, 1, dev.SET, 1),
    "put_signal_nbi": lambda team, x, y, two, flags, box: dev.put_signal_nbi(
        team, x, y, flags, 1, dev.ADD, 1
    ),
    "ptr": lambda team, x, y, two, flags, box: dev.ptr(team, x, 1),
    "peer": lambda team, x, y, two, flags, box: dev.peer(team, x, 1),
    "post": lambda team, x, y, two, flags, box: dev.post(team, box, x, 1),
    "receive": lambda team, x, y, two, flags, box: dev.receive(team, box, x, 1),
    "try_receive": lambda team, x, y, two, flags, box: dev.try_receive(team, box, x, 1),
    "outbox": lambda team, x, y, two, flags, box: whole_way(team, box, x),
    "inbox": lambda team, x, y, two, flags, box: whole_way_in(team, box, x),
    "broadcast": lambda team, x, y, two, flags, box: dev.broadcast(team, x, y, 0),
    "fcollect": lambda team, x, y, two, flags, box: dev.fcollect(team, x, y),
    "collect": lambda team, x, y, two, flags, box: dev.collect(team, x, y, 3),
    "alltoall": lambda team, x, y, two, flags, box: dev.alltoall(team, x, y),
    "reduce": lambda team, x, y, two, flags, box: dev.reduce(team, x, y, dev.SUM),
    "reduce_scatter": lambda team, x, y, two, flags, box: dev.reduce_scatter(team, x, y, dev.SUM),
    "tile_reduce": lambda team, x, y, two, flags, box: dev.tile_reduce(team, two, two, dev.SUM),
    "tile_allgather": lambda team, x, y, two, flags, box: dev.tile_allgather(team, two, two),
}
"""Calls that access a peer's copy of the data at a local address."""
WAITS = {
    "sync": lambda team, x, y, two, box, bound: dev.sync(team, **bound),
    "relaxed sync": lambda team, x, y, two, box, bound: dev.sync(team, order=dev.RELAXED, **bound),
    "barrier": lambda team, x, y, two, box, bound: dev.barrier(team, scope=dev.BLOCK, **bound),
    "meeting": lambda team, x, y, two, box, bound: meetings(team, **bound),
    "broadcast": lambda team, x, y, two, box, bound: dev.broadcast(team, x, y, 0, **bound),
    "fcollect": lambda team, x, y, two, box, bound: dev.fcollect(team, x, y, **bound),
    "collect": lambda team, x, y, two, box, bound: dev.collect(team, x, y, 3, **bound),
    "alltoall": lambda team, x, y, two, box, bound: dev.alltoall(team, x, y, **bound),
    "reduce": lambda team, x, y, two, box, bound: dev.reduce(team, x, y, dev.SUM, scope=dev.BLOCK, **bound),
    "reduce_scatter": lambda team, x, y, two, box, bound: dev.reduce_scatter(team, x, y, dev.MAX, **bound),
    "tile_reduce": lambda team, x, y, two, box, bound: dev.tile_reduce(team, two, two, dev.SUM, **bound),
    "tile_allgather": lambda team, x, y, two, box, bound: dev.tile_allgather(team, two, two, **bound),
    "post": lambda team, x, y, two, box, bound: dev.post(team, box, x, 1, **bound),
    "receive": lambda team, x, y, two, box, bound: dev.receive(team, box, x, 1, **bound),
    "try_receive": lambda team, x, y, two, box, bound: dev.try_receive(team, box, x, 1, **bound),
    "outbox": lambda team, x, y, two, box, bound: whole_way(team, box, x, **bound),
    "inbox": lambda team, x, y, two, box, bound: whole_way_in(team, box, x, **bound),
    "parts": lambda team, x, y, two, box, bound: parts_in(team, box, x, **bound),
}
"""Calls that may wait."""


@cute.jit
def go(kernel: cutlass.Constexpr, team: dev.Team, values: Any, bound: Int64):
    kernel(team, values, bound).launch(grid=[1, 1, 1], block=[64, 1, 1])


def calls_of(name: str, function: Any) -> None:
    """Compile a kernel that calls `function(team, values, bound)`; print its out-of-line calls of the
    library, and how often.
    """

    @cute.kernel
    def one(team: dev.Team, values: Any, bound: Int64):
        function(team, values, bound)

    def array(kind: Any, *shape: int) -> Any:
        return make_fake_compact_tensor(kind, shape, stride_order=tuple(reversed(range(len(shape)))))

    # 512 bytes: a collective of them fits into one exchange of few PEs, which checks no address, not of many.
    values = (array(Float32, 128), array(Float32, 128), array(Float32, 4, 4), array(Int64, 1))
    compiled = cute.compile(go, one, TEAM, (*values, dev.Mailbox(Int64(0), Int64(64))), Int64(1))
    ptx = compiled.__ptx__
    entry = re.search(r"\.entry [^{]*\{(.*?)^\}", ptx, re.S | re.M)
    assert entry is not None, name
    called = re.findall(r"\b(atoll_(?:refuse_address|check_job|check_within))_\w*", entry[1])
    called_once = {one: called.count(one) for one in sorted(set(called))}
    found[name] = {"called": called_once, "wrong_address": ptx.count(WRONG_ADDRESS)}


found: dict[str, Any] = {}
if "places" in sys.argv:
    for name, call in TO_PEERS.items():
        calls_of(name, lambda team, values, bound, call=call: call(team, *values))
else:
    for name, call in WAITS.items():
        for how, given in {"left out": {}, "0": 0, "of its own": 500_000_000, "dynamic": None}.items():

            def waiting(team: Any, values: Any, bound: Int64, call: Any = call, given: Any = given) -> None:
                x, y, two, _, box = values
                options = given
                if not isinstance(given, dict):
                    options = {"tag": Int32(7), "bound_ns": bound if given is None else given}
                call(team, x, y, two, box, options)

            calls_of(f"{name}: {how}", waiting)
print(json.dumps(found))
