"""The host's part: arrays and mailboxes in the form that kernels take."""

# mypy: ignore-errors
from __future__ import annotations

from cutlass import Int64
from cutlass.cute.runtime import from_dlpack

from .._device import freed, is_freed, mailbox_address, mailbox_parts
from .._kernels.arguments import mailbox_bytes
from .._kernels.resident import kernel_of, most_blocks
from ._mailboxes import Mailbox

HOST = 1
"""DLPack's device type of host memory."""


def tensor(x, assumed_align: int | None = None):
    """Return an array in GPU memory as a cute.Tensor. On the host.

    Parameters
    ----------
    x
        An array of any library that has DLPack.
    assumed_align
        Bytes, a divisor of its address. For a whole symmetric array, 16 makes the choice of a copy's form
        shorter.

    Returns
    -------
    cute.Tensor
        The same memory.

    Raises
    ------
    TypeError, UseAfterFree
        `x` is not an array in GPU memory, or was freed.
    ValueError
        The address is not a multiple of assumed_align.

    Notes
    -----
    Local.
    """
    if not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            f"atoll.cute.tensor: x is {type(x).__name__}; it must be an array in GPU memory that has DLPack, as those "
            "of Atoll, PyTorch and CuPy have"
        )
    if x.__dlpack_device__()[0] == HOST:
        raise TypeError(
            f"atoll.cute.tensor: x is {type(x).__name__}, of shape {tuple(x.shape)}, in host memory; pass an array in GPU memory: "
            "atoll.zeros(..., device='cuda')"
        )
    if is_freed(x):
        raise freed("atoll.cute.tensor: x", x)
    made = from_dlpack(x, assumed_align=assumed_align)
    if assumed_align is not None and made.data_ptr % assumed_align != 0:
        raise ValueError(
            f"atoll.cute.tensor: assumed_align is {assumed_align}, but the array's address {made.data_ptr:#x} is not a multiple of "
            "it; leave it out, or pass the view's alignment"
        )
    return made


def mailbox(block, room: int | None = None) -> Mailbox:
    block, room = mailbox_parts(block, room, "atoll.cute.mailbox")
    address = mailbox_address("atoll.cute.mailbox", block, room, mailbox_bytes(1, max(room, 0)))
    return Mailbox(Int64(address), Int64(room))


def most_resident_blocks(compiled, threads: int, shared: int = 0) -> int:
    kernels = getattr(compiled, "kernel_info", None)
    if not kernels:
        raise TypeError(
            f"atoll.cute.most_resident_blocks: compiled is {type(compiled).__name__}; it must be the result of cute.compile(run, ...) "
            "for a function that starts a kernel"
        )
    library = int(compiled.library)
    return min(most_blocks(kernel_of(library, name), threads, shared) for name in kernels)
