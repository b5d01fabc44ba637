"""Compiles the kernels of a ported example by numba-cuda, for a GPU that is not needed: ported_kernels.py PROGRAM."""

import re
import runpy
import sys
from types import SimpleNamespace

import atoll.compat

atoll.compat.install("nvshmem")

import numba.cuda.dispatcher  # noqa: E402
import nvshmem.core  # noqa: E402
from numba import cuda, float32, uint64  # noqa: E402

numba.cuda.dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
nvshmem.core.init()
names = runpy.run_path(sys.argv[1], run_name="ported")
arguments = {
    "one_shot": (float32[::1], float32[:, ::1], float32[::1], uint64[::1]),
    "by_library": (float32[::1], float32[::1]),
}
kernels = {name for name, value in names.items() if hasattr(value, "py_func")}
assert kernels == set(arguments), kernels
for name, types in arguments.items():
    ptx, _ = cuda.compile(names[name].py_func, types, device=False, cc=(9, 0), output="ptx", abi="numba")
    called = set(re.findall(r"\bcall\.uni\s+(?:\(\w+\),\s*)?(\w+)", str(ptx)))
    assert ".entry" in str(ptx)
    assert all(one.startswith("atoll_") or one == "vprintf" for one in called), f"not inlined: {called}"
    print(name)
nvshmem.core.finalize()
