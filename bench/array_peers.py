"""Rows of bench/arrays.py beside MPI: mpi4py's persistent requests, mpi4py-fft and Global Arrays.

`mpirun -n 2 python bench/arrays.py peers` needs mpi4py, and takes mpi4py-fft if it is installed.

`mpirun -n 2 ga_python bench/arrays.py peers` takes Global Arrays, too. `peers/build.sh ga` makes it.

Both sides run in the same processes, so that they alternate in one run.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import atoll
import numpy as np
from atoll import arrays, fft

Compare = Callable[..., None]
PROGRAM = ctypes.CDLL(None)  # linked to Global Arrays if it is ga_python


def library(name: str) -> Any:
    """Return a module, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def rows(compare: Compare) -> None:
    """Print all rows whose peers are there; `compare` is that of arrays.py."""
    mpi = library("mpi4py.MPI")
    if mpi is None or mpi.COMM_WORLD.Get_size() != atoll.n_pes():
        if atoll.my_pe() == 0:
            print("peers: start the PEs by mpirun, with mpi4py installed", flush=True)
        return
    halos(compare, mpi)
    if library("mpi4py_fft") is not None:
        transforms(compare, mpi, library("mpi4py_fft"))
    if hasattr(PROGRAM, "NGA_Get"):
        global_arrays(compare)


def halos(compare: Compare, mpi: Any) -> None:
    """Print rows of exchanges between parts along the first axis, beside persistent requests."""
    n, comm = atoll.n_pes(), mpi.COMM_WORLD
    me = comm.Get_rank()
    for shape in ((512 * n, 512), (64 * n, 64, 64)):
        axes = len(shape)
        a = arrays.zeros(shape, grid=(n, *[1] * (axes - 1)), halo=[(1, 1), *[(0, 0)] * (axes - 1)])
        block = np.zeros(a.local_with_halo.shape)
        requests = []
        for pe, rim, halo in ((me - 1, 1, 0), (me + 1, -2, -1)):
            if 0 <= pe < n:
                requests += [comm.Send_init(block[rim], pe, axes), comm.Recv_init(block[halo], pe, axes)]

        def persistent(requests: Any = requests) -> None:
            mpi.Prequest.Startall(requests)
            mpi.Request.Waitall(requests)

        compare(
            f"halo, {axes}-D, by mpi4py's persistent requests", a.exchange_halo, persistent, 500, True, True
        )


def transforms(compare: Compare, mpi: Any, mpi4py_fft: Any) -> None:
    """Print rows of a transform of 256 x 256 x 256 complex numbers, and of its transpose."""
    shape = (256,) * 3
    plan = mpi4py_fft.PFFT(mpi.COMM_WORLD, shape, dtype=complex, backend="scipy")
    theirs, spectrum = mpi4py_fft.newDistArray(plan, False), mpi4py_fft.newDistArray(plan, True)
    theirs[...] = np.random.default_rng(1).random(theirs.shape)
    ours = arrays.from_mpi4py_fft(theirs)
    out = mpi4py_fft.newDistArray(plan, False).redistribute(0)
    whole_first = arrays.zeros(shape, complex, dist=["whole", "block", "whole"])
    with_fftw = mpi4py_fft.PFFT(mpi.COMM_WORLD, shape, dtype=complex, backend="fftw")
    given, found = mpi4py_fft.newDistArray(with_fftw, False), mpi4py_fft.newDistArray(with_fftw, True)
    given[...] = theirs

    def ours_forward() -> None:
        fft.fftn(ours, transposed=True).free()

    compare(
        "fftn, by mpi4py-fft with FFTW", ours_forward, partial(with_fftw.forward, given, found), 1, True, True
    )
    compare(
        "fftn, by mpi4py-fft with SciPy", ours_forward, partial(plan.forward, theirs, spectrum), 1, True, True
    )
    compare(
        "transpose, by mpi4py-fft",
        lambda: ours.redistribute(out=whole_first),
        lambda: theirs.redistribute(0, out=out),
        1,
        True,
        True,
    )


def global_arrays(compare: Compare) -> None:
    """Print rows of boxes in the other process's block, of which PE 0 makes all calls."""
    ga = PROGRAM
    n, other = atoll.n_pes(), atoll.n_pes() - 1
    ga.begin(1024 * n, 1024)
    a = arrays.zeros((1024 * n, 1024), grid=(n, 1))
    low = 1024 * other
    for side in (8, 64, 256):
        box, part = np.s_[low + 64 : low + 64 + side, 64 : 64 + side], np.ones((side, side))
        where = (low + 64, 64, side, part.ctypes.data_as(ctypes.c_void_p))
        times = 20_000 // side
        compare(
            f"get of {side} x {side}, by Global Arrays",
            partial(a.get, box, part),
            partial(ga.get, *where),
            times,
            False,
        )
        compare(
            f"put of {side} x {side}, by Global Arrays",
            partial(a.put, box, part),
            partial(ga.put, *where),
            times,
            False,
        )
        ours = partial(a.accumulate, box, part)
        compare(
            f"accumulate of {side} x {side}, by Global Arrays",
            ours,
            partial(ga.accumulate, *where),
            times,
            False,
        )
    ga.end()
