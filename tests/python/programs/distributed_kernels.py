"""Elements of distributed arrays by global index in kernels: numba, or triton under TRITON_INTERPRET=1, on CPUs.

distributed_kernels.py LANGUAGE [cuda]
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import atoll
import numpy as np
from atoll import arrays

DISTS: list[Any] = ["block", "cyclic", ["cyclic(2)", "block"], ["whole", "cyclic(3)"]]
SHAPE = (9, 7)
language = sys.argv[1]
place: dict[str, Any] = {"device": "cuda", "xp": "torch"} if "cuda" in sys.argv[2:] else {}


def cases() -> Any:
    for dist, halo in [*itertools.product(DISTS, (0,)), ("block", 1)]:
        a = arrays.from_function(lambda i, j: 100.0 * i + j, SHAPE, dist=dist, halo=halo, **place)
        yield a, arrays.zeros(SHAPE[::-1], dist=dist, halo=halo, **place)


def expect(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found.to_numpy() if hasattr(found, "to_numpy") else found, expected)


def wait(array: Any) -> None:
    """Wait for this PE's kernel, then for the other PEs."""
    if place:
        import torch

        torch.cuda.synchronize()
    array.barrier()


def in_numba() -> None:
    import atoll.numba as dev
    from atoll.arrays import numba as dist

    @dev.kernel
    def transpose(team: Any, a: Any, x: Any, b: Any, y: Any, rows: int, columns: int) -> None:
        for k in dev.grid_range(rows * columns):
            i, j = k // columns, k % columns
            if i % team.n_pes == team.my_pe:
                dist.put(team, b, y, (j, i), dist.get(team, a, x, (i, j)))

    @dev.kernel
    def count(team: Any, a: Any, x: Any, n: int) -> None:
        for k in dev.grid_range(n):
            dist.add(team, a, x, (k,), 2)

    @dev.kernel
    def in_four(team: Any, a: Any, x: Any, b: Any, y: Any) -> None:
        for k in dev.grid_range(16):
            i, j = k // 8, k // 4 % 2
            if team.my_pe == 0:
                dist.put(team, a, x, (i, j, k // 2 % 2, k % 2), k)
                dist.put(team, b, y, (i, j, k % 4), k)

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
    import atoll.triton as dev
    import triton.language as tl
    from atoll.arrays import triton as dist

    @dev.kernel
    def transpose(team, a, x, b, y, rows, columns, N: tl.constexpr):  # type: ignore[no-untyped-def]
        i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
        inside = (i < rows) & (j < columns) & (i % team.n_pes == team.my_pe)
        value = tl.load(dist.ptr(team, a, x, (i, j)), mask=inside)
        tl.store(dist.ptr(team, b, y, (j, i)), value, mask=inside)

    globals().update(dist=dist, tl=tl)
    for a, b in cases():
        team = atoll.WORLD.device("device" if place else "host")
        transpose[(1,)](team, *a.device(), *b.device(), *SHAPE, N=16)
        wait(a)
        expect(b, a.to_numpy().T)


atoll.init()
{"numba": in_numba, "triton": in_triton}[language]()
if atoll.n_pes() > 1:
    uneven = arrays.zeros(7, dist=[0, *range(1, atoll.n_pes()), 7])
    try:
        uneven.device()
    except atoll.Unsupported as error:
        assert "a.redistribute('block')" in str(error), error
    else:
        raise AssertionError("no error")
atoll.barrier_all()
print("done")
