"""Elements of distributed arrays by global index in kernels.

distributed_kernels.py numba|triton [cuda|compile]   on CPUs (Triton by its interpreter), on GPUs, or compiled for GPUs alone
"""

from __future__ import annotations

import itertools
import sys
from types import SimpleNamespace
from typing import Any

import atoll
import numpy as np
from atoll import arrays

DISTS: list[Any] = ["block", "cyclic", ["cyclic(2)", "block"], ["whole", "cyclic(3)"]]
SHAPE = (9, 7)
language, *how = sys.argv[1:]
place: dict[str, Any] = {"device": "cuda", "xp": "torch"} if "cuda" in how else {}

if language == "numba":
    import atoll.numba as dev
    from atoll.arrays import numba as dist

    @dev.kernel(cache=True)
    def transpose(team: Any, a: Any, x: Any, b: Any, y: Any, rows: int, columns: int) -> None:
        for k in dev.grid_range(rows * columns):
            i, j = k // columns, k % columns
            if i % team.n_pes == team.my_pe:
                dist.put(team, b, y, (j, i), dist.get(team, a, x, (i, j)))

    @dev.kernel(cache=True)
    def count(team: Any, a: Any, x: Any, n: int) -> None:
        for k in dev.grid_range(n):
            dist.add(team, a, x, (k,), 2)

    @dev.kernel(cache=True)
    def in_four(team: Any, a: Any, x: Any, b: Any, y: Any) -> None:
        for k in dev.grid_range(16):
            i, j = k // 8, k // 4 % 2
            if team.my_pe == 0:
                dist.put(team, a, x, (i, j, k // 2 % 2, k % 2), k)
                dist.put(team, b, y, (i, j, k % 4), k)
else:
    import atoll.triton as dev  # type: ignore[no-redef]
    import triton.language as tl
    from atoll.arrays import triton as dist  # type: ignore[no-redef]

    @dev.kernel
    def transpose(team, a, x, b, y, rows, columns, N: tl.constexpr):  # type: ignore[no-redef, no-untyped-def]
        i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
        inside = (i < rows) & (j < columns) & (i % team.n_pes == team.my_pe)
        value = tl.load(dist.ptr(team, a, x, (i, j)), mask=inside)
        tl.store(dist.ptr(team, b, y, (j, i)), value, mask=inside)


def cases() -> Any:
    for distribution, halo in [*itertools.product(DISTS, (0,)), ("block", 1)]:
        a = arrays.from_function(lambda i, j: 100.0 * i + j, SHAPE, dist=distribution, halo=halo, **place)
        yield a, arrays.zeros(SHAPE[::-1], dist=distribution, halo=halo, **place)


def expect(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.to_numpy(), expected)


def wait(array: Any) -> None:
    """Wait for this PE's kernel, then for the other PEs."""
    if place:
        import torch

        torch.cuda.synchronize()
    array.barrier()


def in_numba() -> None:
    for a, b in cases():
        dev.launch(transpose, 1, 64)(atoll.WORLD, *a.device(), *b.device(), *SHAPE)
        wait(a)
        expect(b, a.to_numpy().T)
    for dealt in ("block", "cyclic(2)"):
        c = arrays.arange(13, dist=dealt, **place)
        dev.launch(count, 1, 64)(atoll.WORLD, *c.device(), 13)
        wait(c)
        expect(c, np.arange(13) + 2 * atoll.n_pes())
    four, three = arrays.zeros((2, 2, 2, 2), int, **place), arrays.zeros((2, 2, 4), int, **place)
    dev.launch(in_four, 1, 16)(atoll.WORLD, *four.device(), *three.device())
    wait(four)
    expect(four, np.arange(16).reshape(2, 2, 2, 2))
    expect(three, np.arange(16).reshape(2, 2, 4))


def in_triton() -> None:
    for a, b in cases():
        team = atoll.WORLD.device("device" if place else "host")
        transpose[(1,)](team, *a.device(), *b.device(), *SHAPE, N=16)  # type: ignore[index]
        wait(a)
        expect(b, a.to_numpy().T)


def bounds_are_refused() -> None:
    n = atoll.n_pes()
    uneven = arrays.zeros(2 * n, dist=[0, *range(n + 1, 2 * n + 1)], **place)
    try:
        uneven.device()
    except atoll.Unsupported as error:
        assert "a.redistribute('block')" in str(error), error
    else:
        assert atoll.n_pes() == 1


def compiled_by_numba() -> None:
    import numba.cuda.dispatcher
    from atoll._device import DeviceTeam
    from atoll.arrays._kernel_view import AxisView
    from numba import cuda

    numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
    axis = AxisView(9, 2, 4, 1, 0, 0, 1, 7)
    team, view = numba.typeof(DeviceTeam(*[0] * 10)), numba.typeof((axis, axis))
    block, n = numba.types.Array(numba.float64, 1, "C"), numba.int64
    function = transpose.function  # type: ignore[attr-defined]
    ptx, _ = cuda.compile_ptx(function, (team, view, block, view, block, n, n), cc=(9, 0))
    assert ptx.count("ld.") > 2


def compiled_by_triton() -> None:
    import triton
    from atoll.arrays._kernel_view import AxisView
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton_compiling import TEAM

    axis: Any = AxisView(*["i32"] * 8)  # type: ignore[arg-type]
    of = {
        "team": TEAM,
        "a": (axis, axis),
        "x": "*fp64",
        "b": (axis, axis),
        "y": "*fp64",
        "rows": "i32",
        "columns": "i32",
    }
    source = ASTSource(fn=transpose, signature={**of, "N": "constexpr"}, constexprs={(7,): 16})
    assert "st.global" in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


if "compile" in how:
    {"numba": compiled_by_numba, "triton": compiled_by_triton}[language]()
else:
    atoll.init()
    {"numba": in_numba, "triton": in_triton}[language]()
    bounds_are_refused()
    atoll.barrier_all()
print("done")
