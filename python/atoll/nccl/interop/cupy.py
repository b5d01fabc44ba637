"""Arrays of CuPy, or of NumPy where there is no GPU, in memory for windows."""

from __future__ import annotations

from typing import Any

from ... import _atoll
from .._errors import translated
from .._lines import line_of
from ..buffer import allocate_array
from ..typing import NcclDataType

__all__ = ["empty", "resolve_array"]


@translated
def empty(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    """Return an array with undefined contents in memory for windows.

    Local on the host; on a GPU collective over all PEs of the job.

    Parameters
    ----------
    shape
        An int or a tuple of ints.
    dtype
        A dtype of NumPy.
    order
        "C" or "F".

    Returns
    -------
    array
        CuPy's on a GPU, or an atoll.DeviceArray without CuPy; else NumPy's.

    Raises
    ------
    NcclInvalid
        A wrong argument, or a dtype that NCCL has not.
    NCCLError
        The memory that is set aside is full.
    """
    NcclDataType(dtype)
    made = allocate_array("cupy.empty", shape, dtype, order)
    try:
        return made.cupy() if hasattr(made, "cupy") else made
    except _atoll.Unsupported:  # CuPy is not installed
        return made


def resolve_array(array: Any) -> tuple[int, int, NcclDataType, int]:
    """Return an array's address, number of elements, data type and device; -1 is the host. Raises NcclInvalid."""
    line = line_of(array, "array")
    device = getattr(array, "device", -1) if line.on_gpu else -1
    return line.address, len(line), line.kind, int(getattr(device, "id", device))
