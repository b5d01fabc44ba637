"""Types of nccl.core: errors, data types, operators and other enumerations, specifications of arguments."""

from __future__ import annotations

import enum
import importlib
from typing import Any, TypeAlias

import numpy as np

from ._errors import NcclInvalid as NcclInvalid

__all__ = [  # noqa: RUF022
    "NcclDataType",
    "NcclRedOp",
    "NcclGinType",
    "NcclGinConnectionType",
    "NcclHostCftMode",
    "NcclNvlsHostMode",
    "NcclCftTeamMode",
    "NcclCftCap",
    "NcclCommMemStat",
    "NcclBufferSpec",
    "NcclScalarSpec",
    "NcclDeviceSpec",
    "NcclStreamSpec",
    "NcclEventSpec",
    "NcclInvalid",
    "INT8",
    "CHAR",
    "UINT8",
    "INT32",
    "INT",
    "UINT32",
    "INT64",
    "UINT64",
    "FLOAT16",
    "HALF",
    "FLOAT32",
    "FLOAT",
    "FLOAT64",
    "DOUBLE",
    "BFLOAT16",
    "FLOAT8E4M3",
    "FLOAT8E5M2",
    "SUM",
    "PROD",
    "MAX",
    "MIN",
    "AVG",
]


class NcclRedOp(enum.IntEnum):
    """Operators of reductions."""

    SUM = 0
    PROD = 1
    MAX = 2
    MIN = 3
    AVG = 4


class NcclDataType(enum.IntEnum):
    """Types of elements. NcclDataType("float32") also takes dtypes of NumPy."""

    INT8 = 0
    CHAR = 0
    UINT8 = 1
    INT32 = 2
    INT = 2
    UINT32 = 3
    INT64 = 4
    UINT64 = 5
    FLOAT16 = 6
    HALF = 6
    FLOAT32 = 7
    FLOAT = 7
    FLOAT64 = 8
    DOUBLE = 8
    BFLOAT16 = 9
    FLOAT8E4M3 = 10
    FLOAT8E5M2 = 11

    @classmethod
    def _missing_(cls, value: object) -> NcclDataType | None:
        try:
            dtype = np.dtype(value)  # type: ignore[call-overload]
        except (TypeError, ValueError):
            return None
        return cls.from_numpy_dtype(dtype)

    @classmethod
    def from_numpy_dtype(cls, dtype: np.dtype[Any]) -> NcclDataType:
        """Return the type of a dtype of NumPy or ml_dtypes. Raises NcclInvalid for other dtypes."""
        found = named(dtype.name)
        if found is None:
            raise NcclInvalid(
                f"NCCL has no data type for {dtype}; it has {', '.join(NUMPY_NAMES.values())}. Convert the array, or pass a "
                "view of its bytes to calls without arithmetic."
            )
        return found

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return ITEM_BYTES[self]

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of NumPy, or of ml_dtypes for bfloat16 and 8-bit floats. Raises NcclInvalid without ml_dtypes."""
        name = NUMPY_NAMES[self]
        if self not in NARROW:
            return np.dtype(name)
        try:
            found: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
        except ImportError as error:
            raise NcclInvalid(
                f"{self.name}: NumPy has no such type without the package ml_dtypes; install it, or use tensors of PyTorch."
            ) from error
        return found


NUMPY_NAMES = {
    NcclDataType.INT8: "int8",
    NcclDataType.UINT8: "uint8",
    NcclDataType.INT32: "int32",
    NcclDataType.UINT32: "uint32",
    NcclDataType.INT64: "int64",
    NcclDataType.UINT64: "uint64",
    NcclDataType.FLOAT16: "float16",
    NcclDataType.FLOAT32: "float32",
    NcclDataType.FLOAT64: "float64",
    NcclDataType.BFLOAT16: "bfloat16",
    NcclDataType.FLOAT8E4M3: "float8_e4m3fn",
    NcclDataType.FLOAT8E5M2: "float8_e5m2",
}
"""The names that NumPy, ml_dtypes and PyTorch use."""
INTEGERS = {
    NcclDataType.INT8,
    NcclDataType.UINT8,
    NcclDataType.INT32,
    NcclDataType.UINT32,
    NcclDataType.INT64,
    NcclDataType.UINT64,
}
NARROW = {NcclDataType.BFLOAT16, NcclDataType.FLOAT8E4M3, NcclDataType.FLOAT8E5M2}
"""Types that NumPy itself has not."""
ITEM_BYTES = {
    kind: 2 if kind is NcclDataType.BFLOAT16 else 1 if kind in NARROW else np.dtype(name).itemsize
    for kind, name in NUMPY_NAMES.items()
}
_KINDS = {name: kind for kind, name in NUMPY_NAMES.items()}


def named(name: str) -> NcclDataType | None:
    """Return the type of NumPy's, ml_dtypes' or PyTorch's name, or nothing."""
    return _KINDS.get(name)


INT8 = NcclDataType.INT8
CHAR = NcclDataType.CHAR
UINT8 = NcclDataType.UINT8
INT32 = NcclDataType.INT32
INT = NcclDataType.INT
UINT32 = NcclDataType.UINT32
INT64 = NcclDataType.INT64
UINT64 = NcclDataType.UINT64
FLOAT16 = NcclDataType.FLOAT16
HALF = NcclDataType.HALF
FLOAT32 = NcclDataType.FLOAT32
FLOAT = NcclDataType.FLOAT
FLOAT64 = NcclDataType.FLOAT64
DOUBLE = NcclDataType.DOUBLE
BFLOAT16 = NcclDataType.BFLOAT16
FLOAT8E4M3 = NcclDataType.FLOAT8E4M3
FLOAT8E5M2 = NcclDataType.FLOAT8E5M2
SUM = NcclRedOp.SUM
PROD = NcclRedOp.PROD
MAX = NcclRedOp.MAX
MIN = NcclRedOp.MIN
AVG = NcclRedOp.AVG


class NcclCommMemStat(enum.IntEnum):
    """Figures of Communicator.get_mem_stat."""

    GPU_MEM_SUSPEND = 0
    GPU_MEM_SUSPENDED = 1
    GPU_MEM_PERSIST = 2
    GPU_MEM_TOTAL = 3
    GpuMemSuspend = 0
    GpuMemSuspended = 1
    GpuMemPersist = 2
    GpuMemTotal = 3


class NcclGinType(enum.IntEnum):
    """Kinds of NCCL's network for kernels. Communicators of Atoll report NONE."""

    NONE = 0
    PROXY = 2
    GDAKI = 3
    GPI = 4
    EFA_GDA = 5


class NcclGinConnectionType(enum.IntEnum):
    """Peers that kernels reach by NCCL's network."""

    NONE = 0
    FULL = 1
    RAIL = 2
    CUSTOM_STRIDE = 3


class NcclHostCftMode(enum.IntEnum):
    """Modes of NVLink's compute fabric transport."""

    DEFAULT = -2147483648
    ENABLE = 1
    DISABLE = 2
    FALLBACK = 3


class NcclNvlsHostMode(enum.IntFlag):
    """Modes of NVLink SHARP."""

    ENABLE = 0
    DISABLE_TRANSPORT = 1
    DISABLE_SYMMETRIC_MULTIMEM = 2
    DISABLE = 2147483647


class NcclCftTeamMode(enum.IntEnum):
    """Layouts of a team of the compute fabric transport."""

    FLAT = 0
    HIER_MULTIMEM = 1
    HIER_LSA = 2


class NcclCftCap(enum.IntFlag):
    """Abilities of the compute fabric transport."""

    NONE = 0
    CFT = 1
    MULTIMEM = 2


NcclBufferSpec: TypeAlias = Any
"""An array of NumPy or CuPy, a tensor, a Buffer, or an object with DLPack's or CUDA's array interface."""
NcclScalarSpec: TypeAlias = Any
"""A number, or a buffer of one element."""
NcclDeviceSpec: TypeAlias = Any
"""A cuda.core.Device or its number."""
NcclStreamSpec: TypeAlias = Any
"""A stream of cuda.core, CuPy or PyTorch, or its handle."""
NcclEventSpec: TypeAlias = Any
"""An event of cuda.core or its handle."""
