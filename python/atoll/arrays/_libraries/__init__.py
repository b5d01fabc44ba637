"""The library whose arrays the parts of a distributed array are: NumPy on hosts, CuPy or PyTorch on GPUs."""

from __future__ import annotations

from typing import Any

import atoll

from ._library import Library as Library

HOST = Library()
others: list[Library] = []
"""The libraries besides HOST that have arrays in this process, each once."""


def chosen(device: Any, xp: Any, call: str) -> Library:
    """Return the library that `device=` and `xp=` of a call choose.

    Raises
    ------
    InvalidArgument
        If they are unknown, or do not fit each other.
    Unsupported
        If the library is not installed, or has no CUDA.
    """
    name = xp if isinstance(xp, str) else getattr(xp, "__name__", None)
    if device in (None, "cpu") and name in (None, "numpy"):
        return HOST
    from ..._device import check_library, device_of

    on_gpu = device_of("cpu" if device is None else device, call)
    name = name or ("cupy" if on_gpu else "numpy")
    if name not in (("cupy", "torch") if on_gpu else ("numpy", "torch")):
        raise atoll.InvalidArgument(
            f"{call}(): xp is {xp!r}; pass "
            + (
                '"cupy" or "torch" (or the module) with device="cuda".'
                if on_gpu
                else '"numpy" or "torch" on hosts.'
            )
        )
    kind, _, number = str(device).partition(":") if on_gpu else ("cpu", "", "")
    found = next((each for each in others if (each.name, each.device) == (name, kind)), None)
    if found is None:
        if on_gpu:
            check_library(name)
        found = _make(name, kind)
        others.append(found)
    if number:
        found.require_number(number, call)
    return found


def _make(name: str, device: str) -> Library:
    if name == "torch":
        from ._torch import Torch

        return Torch(device)
    from ._cupy import CuPy

    return CuPy(device)


def finish() -> None:
    """Wait for what this thread has given to GPUs by the libraries in use: their current streams."""
    for library in others:
        library.finish()


def on_host(value: Any) -> Any:
    """Return an array of any library as a NumPy array; one of a GPU is copied. Other values stay what they are."""
    if isinstance(value, atoll.DeviceArray):
        return value.numpy()
    if type(value).__module__.partition(".")[0] == "torch":
        return value.detach().resolve_conj().resolve_neg().cpu().numpy()
    return value.get() if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get") else value
