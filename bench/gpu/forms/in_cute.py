"""The kernels of bench/gpu/kernels.py in CuTe DSL.

This program compiles them on a machine that has CuTe DSL; it needs no GPU. It writes one cubin for each row,
which bench/gpu/kernels.py launches through CuPy. So a run does not wait for a compiler.

    python bench/gpu/forms/in_cute.py FOLDER
"""

# mypy: ignore-errors
from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()
FOLDER.mkdir(parents=True, exist_ok=True)
# CuTe DSL reads these when it is imported.
os.environ.update(CUTE_DSL_ARCH="sm_90a", CUTE_DSL_KEEP="ptx,cubin", CUTE_DSL_DUMP_DIR=str(FOLDER))

import atoll.cute as dev
import cutlass
import cutlass.cute as cute
from atoll._device import DeviceTeam
from cuda.bindings.driver import CUstream
from cutlass import Float32, Int32, Int64
from cutlass.cute.runtime import make_fake_compact_tensor, make_fake_tensor

sys.path.insert(0, str(Path(__file__).parent))
import rows


@cute.kernel
def flags(team: dev.Team, flag: cute.Tensor, first: Int64, rounds: Int32):
    peer = 1 - team.my_pe
    i = first
    while i < first + rounds:
        if team.my_pe == 0:
            dev.p(team, flag, i, peer)
        dev.signal_wait_until(team, flag, dev.GE, i)
        if team.my_pe == 1:
            dev.p(team, flag, i, peer)
        i += 1


@cute.kernel
def put_signals(
    team: dev.Team, dst: cute.Tensor, src: cute.Tensor, flag: cute.Tensor, first: Int64, rounds: Int32
):
    peer = 1 - team.my_pe
    i = first
    while i < first + rounds:
        if team.my_pe == 0:
            dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)
        dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
        if team.my_pe == 1:
            dev.put_signal(team, dst, src, flag, i, dev.SET, peer, scope=dev.BLOCK)
        i += 1


@cute.kernel
def messages(team: dev.Team, box: dev.Mailbox, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
    peer = 1 - team.my_pe
    for _ in cutlass.range(rounds, unroll=1):
        if team.my_pe == 0:
            dev.post(team, box, src, peer, scope=dev.BLOCK)
        dev.receive(team, box, dst, peer, scope=dev.BLOCK)
        if team.my_pe == 1:
            dev.post(team, box, src, peer, scope=dev.BLOCK)


@cute.kernel
def ways(team: dev.Team, box: dev.Mailbox, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
    peer = 1 - team.my_pe
    out, come = dev.outbox(team, box, peer, dev.BLOCK), dev.inbox(team, box, peer, dev.BLOCK)
    for _ in cutlass.range(rounds, unroll=1):
        if team.my_pe == 0:
            out = dev.post_next(out, src)
        come = dev.receive_next(come, dst)
        if team.my_pe == 1:
            out = dev.post_next(out, src)
    dev.close(out)
    dev.close(come)


@cute.kernel
def meetings(team: dev.Team, rounds: Int32):
    met = dev.meeting(team, dev.BLOCK)
    for _ in cutlass.range(rounds, unroll=1):
        met = dev.sync_next(met)
    dev.close(met)


@cute.kernel
def tiles(team: dev.Team, dst: cute.Tensor, src: cute.Tensor, flag: cute.Tensor, first: Int64, rounds: Int32):
    peer = 1 - team.my_pe
    i = first
    while i < first + rounds:
        if team.my_pe == 0:
            dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
            if dev.rank(dev.BLOCK) == 0:
                dev.signal_set(team, flag, i, peer)
        dev.signal_wait_until(team, flag, dev.GE, i, scope=dev.BLOCK)
        if team.my_pe == 1:
            dev.tile_put(team, dst, src, peer, scope=dev.BLOCK)
            if dev.rank(dev.BLOCK) == 0:
                dev.signal_set(team, flag, i, peer)
        i += 1


@cute.kernel
def syncs(team: dev.Team, rounds: Int32):
    for _ in cutlass.range(rounds, unroll=1):
        dev.sync(team, scope=dev.BLOCK)


@cute.kernel
def reduces(team: dev.Team, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
    for _ in cutlass.range(rounds, unroll=1):
        dev.reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)


@cute.kernel
def tile_reduces(team: dev.Team, dst: cute.Tensor, src: cute.Tensor, rounds: Int32):
    for _ in cutlass.range(rounds, unroll=1):
        dev.tile_reduce(team, dst, src, dev.SUM, scope=dev.BLOCK)


@cute.kernel
def barriers(team: dev.Team, rounds: Int32):
    for _ in cutlass.range(rounds, unroll=1):
        dev.barrier(team, scope=dev.BLOCK)


@cute.jit
def go(kernel: cutlass.Constexpr, threads: cutlass.Constexpr, stream: CUstream, team: dev.Team, values):
    kernel(team, *values).launch(grid=[1, 1, 1], block=[threads, 1, 1], stream=stream)


def arguments(row: rows.Row) -> tuple[object, ...]:
    """Return the kernel's arguments after the team: values of the right types."""
    kind = Float32 if row.kernel in ("reduces", "tiles", "tile_reduces") else Int32

    def tensor():
        if row.is_tiled:
            return make_fake_tensor(kind, (row.rows, 64), (256, 1), assumed_align=16)
        return make_fake_compact_tensor(kind, (row.nbytes // 4,), stride_order=(0,), assumed_align=16)

    box = (dev.Mailbox(Int64(0), Int64(rows.ROOM)),) if row.kernel in ("messages", "ways") else ()
    data = (tensor(), tensor()) if row.moves else ()
    flag = (make_fake_compact_tensor(Int64, (1,), stride_order=(0,), assumed_align=8),)
    return (*box, *data, *((*flag, Int64(1)) if row.is_numbered else ()), Int32(1))


def main() -> None:
    team = dev.team(DeviceTeam(0, 2, 0, 1 << 40, 0, 0, 1, 0, 0, 0))
    entries = {}
    for row in rows.ROWS:
        cute.compile(go, globals()[row.kernel], row.threads, CUstream(0), team, arguments(row))
        (ptx,), (cubin,) = FOLDER.glob("*.ptx"), FOLDER.glob("*.cubin")
        entries[row.key] = re.search(r"[.]entry (\w+)", ptx.read_text())[1]
        cubin.rename(FOLDER / f"{row.key}.bin")  # the next row's cubin is then the only one
        ptx.unlink()
    (FOLDER / "entries.json").write_text(json.dumps(entries, indent=1))
    print(len(entries), "kernels")


main()
