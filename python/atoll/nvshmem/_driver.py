"""Copies to memory of a GPU by CUDA's driver, in no stream of the program."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._state import NvshmemError

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING


class Copies:
    """A GPU's primary context, and a stream for copies to its memory. `with` makes the context current."""

    def __init__(self, gpu: int, purpose: str) -> None:
        self.driver, self._purpose = ctypes.CDLL("libcuda.so.1"), purpose
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), gpu)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.stream = ctypes.c_void_p()
        with self:
            # Not the default stream. It would wait for a kernel that waits for another PE.
            self.call("cuStreamCreate", ctypes.byref(self.stream), _NON_BLOCKING)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises NvshmemError for its errors."""
        failed = getattr(self.driver, name)(*arguments)
        if failed:
            raise NvshmemError(f"{self._purpose}: {name}: CUDA error {failed}.")

    def __enter__(self) -> None:
        self.call("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *_: object) -> None:
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def copy(self, address: int, values: np.ndarray) -> None:
        """Copy an array to an address, and wait until kernels that start later find it."""
        with self:
            at, source = ctypes.c_uint64(address), ctypes.c_void_p(values.ctypes.data)
            self.call("cuMemcpyHtoDAsync_v2", at, source, ctypes.c_size_t(values.nbytes), self.stream)
            self.call("cuStreamSynchronize", self.stream)
