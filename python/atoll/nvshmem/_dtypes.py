"""NVSHMEM's names of types."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._device import numpy_dtype as of_library

NAMES = {
    "half": "float16",
    "fp16": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "char": "int8",
    "schar": "int8",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "longlong": "int64",
    "ulonglong": "uint64",
    "ptrdiff": "int64",
    "size": "uint64",
    "int32_t": "int32",
    "uint32_t": "uint32",
    "int64_t": "int64",
    "uint64_t": "uint64",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""NVSHMEM's names of types, and NumPy's."""


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return NumPy's dtype for NVSHMEM's name, or for a dtype of NumPy or PyTorch."""
    return of_library(NAMES.get(dtype, dtype) if isinstance(dtype, str) else dtype)
