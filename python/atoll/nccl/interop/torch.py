"""Tensors of PyTorch in memory for windows: on the GPU, or on the CPU without one."""

from __future__ import annotations

import importlib
from typing import Any

from ..._device import is_tensor
from .._errors import NcclInvalid, translated
from .._lines import line_of
from ..buffer import allocate_array
from ..typing import ITEM_BYTES, NARROW, NcclDataType, named

__all__ = ["empty", "resolve_tensor"]


@translated
def empty(*size: Any, dtype: Any = None, device: Any = None, morder: str = "C") -> Any:
    """Return a tensor with undefined contents in memory for windows.

    Local on the host; on a GPU collective over all PEs of the job.

    Parameters
    ----------
    size
        The shape: ints, or one tuple.
    dtype
        A dtype of PyTorch; None is its default dtype.
    device
        Not used: the tensor is on this PE's GPU, or on the CPU without one.
    morder
        "C" or "F".

    Raises
    ------
    NcclInvalid
        A wrong argument, or a dtype that NCCL has not.
    NCCLError
        The memory that is set aside is full.
    ModuleNotFoundError
        PyTorch is not installed.
    """
    try:
        torch: Any = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "nccl.core.torch.empty needs PyTorch: pip install torch. nccl.core.mem_alloc needs NumPy alone.",
            name="torch",
        ) from error
    name = str(torch.get_default_dtype() if dtype is None else dtype).removeprefix("torch.")
    kind = named(name)
    if kind is None:
        raise NcclInvalid(f"nccl.core: torch.empty: NCCL has no data type for {name}; pass another dtype.")
    shape = size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size
    codes = f"int{8 * ITEM_BYTES[kind]}" if kind in NARROW else name
    if codes.startswith("uint") and codes != "uint8":
        codes = codes[1:]
    made: Any = allocate_array("torch.empty", shape, codes, morder)
    tensor = made.torch() if hasattr(made, "torch") else torch.from_numpy(made)
    return tensor if codes == name else tensor.view(getattr(torch, name))


def resolve_tensor(tensor: Any) -> tuple[int, int, NcclDataType, int]:
    """Return a tensor's address, number of elements, data type and device; -1 is the CPU. Raises NcclInvalid."""
    if not is_tensor(tensor):
        raise NcclInvalid(f"nccl.core: resolve_tensor: a {type(tensor).__name__} is no tensor of PyTorch.")
    line = line_of(tensor, "tensor")
    return line.address, len(line), line.kind, int(tensor.device.index) if line.on_gpu else -1
