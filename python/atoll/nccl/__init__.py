"""nccl.core's names (NCCL4Py 0.6) on Atoll: host calls on arrays of NumPy, CuPy and PyTorch.

Programs reach it unchanged by `python -m atoll.compat nccl program.py`, by ATOLL_COMPAT=nccl, or by
atoll.compat.install("nccl"). Signatures and meaning are NCCL4Py's. A communicator consists of PEs of a job of Atoll.
docs/from-nccl4py.md lists the differences. The originals are documented at
https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/nccl4py.html.
"""

from __future__ import annotations

# ruff: noqa: F403, F405
from . import buffer, communicator, constants, resources, team, typing, utils
from .buffer import *
from .communicator import *
from .constants import *
from .group import GroupSimInfo, group, group_end, group_start
from .params import dump_params, params
from .resources import *
from .team import *
from .typing import *
from .utils import *
from .utils import VERSION as __version__

__all__ = (
    typing.__all__
    + constants.__all__
    + communicator.__all__
    + team.__all__
    + resources.__all__
    + utils.__all__
    + buffer.__all__
    + ["GroupSimInfo", "group", "group_end", "group_start", "dump_params", "params"]
    + ["__version__", "cupy", "torch"]
)

_MISSING = {
    "device": "NCCL's kernels are written by Atoll's names here: atoll.cute, atoll.numba and atoll.triton",
}


def __getattr__(name: str) -> object:
    if name in ("cupy", "torch"):
        import importlib

        return importlib.import_module(f"atoll.nccl.interop.{name}")
    reason = _MISSING.get(name)
    if reason is None and not name.startswith("_"):
        import difflib

        near = difflib.get_close_matches(name, __all__, 1)
        reason = f"did you mean {near[0]!r}?" if near else "docs/nccl4py-coverage.md lists the names"
    raise AttributeError(f"nccl.core has no attribute {name!r}" + (f": {reason}" if reason else ""))
