"""The packages that atoll.compat offers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Package:
    """Atoll's form of a package: the modules and names that its programs import."""

    name: str
    form: str
    """The end of the sentence "import NAME finds ..."."""
    modules: dict[str, str] = field(default_factory=dict)
    """A module's full name, and Atoll's module of the same contents."""
    values: dict[str, str] = field(default_factory=dict)
    """Names of the package itself: "module:name" of Atoll's, or a text."""
    refused: dict[str, str] = field(default_factory=dict)
    """Modules that Atoll has not, and the reason with the way round."""
    substitutes: dict[str, str] = field(default_factory=dict)
    """Modules of other packages for machines without NVIDIA's driver, and Atoll's modules in their place. An empty text
    is a package without contents, unless such a package is installed."""
    launched: dict[str, str] = field(default_factory=dict)
    """The same for processes that `atoll run` started."""
    always: dict[str, str] = field(default_factory=dict)
    """The same on every machine. ":nvshmem" is a package without contents in the folder of NVSHMEM's names."""


_NVSHMEM_PARTS = ("amo", "collective", "direct", "mem", "rma")
_NVSHMEM_CORE = (
    "_internal_tracking",
    "amo",
    "collective",
    "device",
    "device.cute",
    "device.numba",
    "device.numba_cuda_mlir",
    *(f"device.{language}.{part}" for language in ("numba", "cute") for part in _NVSHMEM_PARTS),
    "direct",
    "init_fini",
    "interop",
    "interop.cupy",
    "interop.cute",
    "interop.torch",
    "memory",
    "nvshmem_types",
    "rma",
    "teams",
    "utils",
)

_NCCL_CORE = (
    "buffer",
    "communicator",
    "constants",
    "group",
    "interop",
    "interop.cupy",
    "interop.torch",
    "params",
    "resources",
    "team",
    "typing",
    "utils",
)

_NBSHMEM = (
    "alloc",
    "alloc_like",
    "allreduce_1d_sum",
    "allreduce_1d_sum_bcast",
    "allreduce_2d_sum",
    "allreduce_sum",
    "alltoall_1d",
    "alltoall_2d",
    "array",
    "barrier_all",
    "barrier_all_host",
    "barrier_all_host_on_stream",
    "barrier_all_volatile",
    "broadcast_1d",
    "broadcast_2d",
    "fence",
    "get_1d_threadidx_in_grid",
    "get_idx_1d_block",
    "get_num_threads_in_grid",
    "init",
    "wait_until",
    "wait_until_bool",
)

_CUDA_CORE = {
    "cuda": "",
    "cuda.core": "atoll.compat._cuda_core",
    "cuda.core.experimental": "atoll.compat._cuda_core",
}

ABSENT = {
    "mpi4py": "Atoll has no form of mpi4py. Port the program by the table of docs/from-mpi4py.md, or start it by mpiexec and "
    "call atoll.init(comm=MPI.COMM_WORLD) in it.",
}
"""Packages that users look for, and what takes their part."""

_MPI4PY = {"mpi4py": "", "mpi4py.MPI": "atoll.compat._mpi4py"}

PACKAGES = {
    package.name: package
    for package in (
        Package(
            "nvshmem",
            form="atoll.nvshmem, which has the names of nvshmem.core of NVSHMEM4Py 0.4.1",
            modules={
                "nvshmem.core": "atoll.nvshmem",
                "nvshmem.bindings": "atoll.nvshmem.bindings",
                "nvshmem.bindings.nvshmem": "atoll.nvshmem.bindings",
                **{f"nvshmem.core.{name}": f"atoll.nvshmem.{name}" for name in _NVSHMEM_CORE},
            },
            values={"__version__": "0.4.1", "version": "0.4.1"},
            refused={
                **dict.fromkeys(
                    ("nvshmem.device", "nvshmem.bindings.device"),
                    "it is NVSHMEM4Py's layer of C. Use nvshmem.core.device.",
                ),
            },
            substitutes=_CUDA_CORE,
            launched=_MPI4PY,
            always={
                "cuda": "",
                "cuda.pathfinder": "atoll.compat._pathfinder",
                "nvidia": "",
                "nvidia.nvshmem": ":nvshmem",
            },
        ),
        Package(
            "nccl",
            form="atoll.nccl, which has the names of nccl.core of NCCL4Py 0.6",
            modules={
                "nccl.core": "atoll.nccl",
                **{f"nccl.core.{name}": f"atoll.nccl.{name}" for name in _NCCL_CORE},
                "nccl.bindings": "atoll.nccl.bindings",
                "nccl.bindings.nccl": "atoll.nccl.bindings.nccl",
            },
            values={"__version__": "atoll.nccl:__version__"},
            refused={
                "nccl.core.device": "write kernels by Atoll's names, with atoll.cute, atoll.numba or atoll.triton "
                "(docs/from-nvshmem4py.md).",
                "nccl.ep": "Atoll has no calls for experts. Use alltoall, or put and signals (docs/from-nccl4py.md).",
                "nccl.m2n": "it is no part of nccl.core. Use send and recv, or put (docs/from-nccl4py.md).",
            },
            substitutes=_CUDA_CORE,
            launched=_MPI4PY,
        ),
        Package(
            "nbshmem",
            form="atoll.nbshmem, which has the names of nbshmem",
            modules={"nbshmem.device": "atoll.nbshmem.device"},
            values={name: f"atoll.nbshmem:{name}" for name in _NBSHMEM},
            substitutes=_CUDA_CORE,
            launched=_MPI4PY,
        ),
        Package(
            "shmem4py",
            form="atoll.shmem, which has the names of shmem4py 1.0",
            modules={"shmem4py.shmem": "atoll.shmem"},
            values={"rc": "atoll:rc", "Rc": "atoll._rc:Rc", "__version__": "1.0.0"},
            refused={
                "shmem4py.api": "it is shmem4py's layer of C, and Atoll's calls need none. Use shmem4py.shmem, or build "
                "shmem4py itself on Atoll (docs/porting.md)."
            },
        ),
    )
}
