"""nvshmem.core's names (NVSHMEM4Py 0.4) on Atoll: host calls on CuPy, PyTorch, or NumPy where there is no GPU.

Programs reach it unchanged by `python -m atoll.compat nvshmem program.py`, by ATOLL_COMPAT=nvshmem, or by
atoll.compat.install("nvshmem"). Signatures and meaning are NVSHMEM4Py's. The job and its arrays are those of
`import atoll`. docs/from-nvshmem4py.md lists the differences. The originals are documented at
https://docs.nvidia.com/nvshmem/api/latest/api/language_bindings/python/index.html.
"""

from __future__ import annotations

# ruff: noqa: F403
from . import amo, collective, direct, init_fini, interop, memory, nvshmem_types, rma, teams
from . import utils as utils
from .amo import *
from .collective import *
from .direct import *
from .init_fini import *
from .interop.cupy import *
from .interop.torch import *
from .memory import *
from .nvshmem_types import *
from .rma import *
from .teams import *

__all__ = (
    memory.__all__
    + init_fini.__all__
    + nvshmem_types.__all__
    + interop.cupy.__all__
    + interop.torch.__all__
    + direct.__all__
    + collective.__all__
    + rma.__all__
    + amo.__all__
    + teams.__all__
)

_MISSING = {
    "device": "import nvshmem.core.device.numba or nvshmem.core.device.cute",
    "Buffer": "cuda.core has it, or call nvshmem.core.buffer(size)",
    "fence": "NVSHMEM4Py has none for the host; call quiet(stream)",
}


def __getattr__(name: str) -> object:
    reason = _MISSING.get(name)
    if reason is None and not name.startswith("_"):
        import difflib

        near = difflib.get_close_matches(name, __all__, 1)
        reason = f"did you mean {near[0]!r}?" if near else "docs/nvshmem4py-coverage.md lists the names"
    raise AttributeError(f"nvshmem.core has no attribute {name!r}" + (f": {reason}" if reason else ""))
