"""Types of nvshmem.core: errors, versions, teams by name, streams."""

from __future__ import annotations

import enum
import importlib
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any, TypeAlias

from ._state import NvshmemError as NvshmemError
from ._state import NvshmemInvalid as NvshmemInvalid
from ._state import WithMessage

__all__ = [
    "BufferTypes",
    "MutableEnum",
    "NvshmemError",
    "NvshmemInvalid",
    "NvshmemKernelObject",
    "NvshmemResource",
    "NvshmemStream",
    "NvshmemStreamsType",
    "Teams",
    "Version",
]


class NvshmemWarning(WithMessage, UserWarning):
    """A warning of nvshmem.core."""


class MutableEnum:
    """Named values, to which names can be added."""

    def __init__(self, **kwargs: Any) -> None:
        self._members: dict[str, Any] = dict(kwargs)

    @classmethod
    def from_enum(cls, enum_cls: type[enum.Enum]) -> MutableEnum:
        """Return the names and values of an enumeration."""
        return cls(**{name: member.value for name, member in enum_cls.__members__.items()})

    def add(self, key: str, value: Any) -> None:
        """Add a name. Raises ValueError if it exists."""
        if key in self._members:
            raise ValueError(f"Member {key!r} already exists; choose another name.")
        self._members[key] = value

    def remove(self, key: str) -> None:
        """Remove a name. Raises ValueError if it does not exist."""
        if key not in self._members:
            raise ValueError(f"Member {key!r} does not exist; there are: {', '.join(self._members)}.")
        del self._members[key]

    def remove_by_value(self, value: Any) -> None:
        """Remove the first name of a value, if there is one."""
        for key in [key for key, found in self._members.items() if found == value][:1]:
            del self._members[key]

    def __getattr__(self, item: str) -> Any:
        members = self.__dict__.get("_members", {})
        if item in members:
            return members[item]
        raise AttributeError(f"No such member: {item}; there are: {', '.join(members)}.")

    def __getitem__(self, item: str) -> Any:
        if item in self._members:
            return self._members[item]
        raise KeyError(f"No such member: {item}; there are: {', '.join(self._members)}.")

    def __contains__(self, item: object) -> bool:
        return item in self._members

    def __repr__(self) -> str:
        return f"<MutableEnum {', '.join(f'{key}={value}' for key, value in self._members.items())}>"

    def keys(self) -> KeysView[str]:
        """Return the names."""
        return self._members.keys()

    def values(self) -> ValuesView[Any]:
        """Return the values."""
        return self._members.values()

    def items(self) -> ItemsView[str, Any]:
        """Return pairs of names and values."""
        return self._members.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)


PREDEFINED = {
    "TEAM_INVALID": -1,
    "TEAM_WORLD": 0,
    "TEAM_WORLD_INDEX": 0,
    "TEAM_SHARED": 1,
    "TEAM_SHARED_INDEX": 1,
    "TEAM_NODE": 2,
    "TEAM_NODE_INDEX": 2,
    "TEAM_SAME_MYPE_NODE": 3,
    "TEAM_SAME_MYPE_NODE_INDEX": 3,
    "TEAM_SAME_GPU": 4,
    "TEAM_SAME_GPU_INDEX": 4,
    "TEAM_GPU_LEADERS": 5,
    "TEAM_GPU_LEADERS_INDEX": 5,
    "TEAM_MC_SHARED": 6,
    "TEAM_MC_SHARED_INDEX": 6,
    "TEAMS_MIN": 7,
    "TEAM_INDEX_MAX": 32767,
}
Teams = MutableEnum(**PREDEFINED)
"""The handles of teams by name; team_split_strided and team_split_2d add theirs."""


class Version:
    """Versions as texts."""

    def __init__(
        self, openshmem_spec_version: str = "", nvshmem4py_version: str = "", libnvshmem_version: str = ""
    ) -> None:
        self.openshmem_spec_version = openshmem_spec_version
        self.nvshmem4py_version = nvshmem4py_version
        self.libnvshmem_version = libnvshmem_version

    def __repr__(self) -> str:
        return (
            f"\nNVSHMEM4Py Library:\n    NVSHMEM Library version: {self.libnvshmem_version}\n"
            f"    OpenShmem Spec version: {self.openshmem_spec_version}\n"
            f"    NVSHMEM4Py version: {self.nvshmem4py_version}\n"
        )


class NvshmemStream:
    """A stream of PyTorch, by cuda.core's protocol."""

    def __init__(self, pt_stream: Any) -> None:
        self.pt_stream = pt_stream
        self.handle = pt_stream.cuda_stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.pt_stream.cuda_stream


NvshmemStreamsType: TypeAlias = Any


class BufferTypes(enum.IntEnum):
    """Kinds of buffers."""

    NORMAL = 0
    PEER = 1
    MULTIMEM = 2
    EXTERNAL = 3


class NvshmemKernelObject:
    """The handle of a module of kernels, for library_init and module_init."""

    handle: int

    def __new__(cls, *args: Any, **kwargs: Any) -> NvshmemKernelObject:
        raise RuntimeError(
            "NvshmemKernelObject is not made directly; call from_handle or another of its functions."
        )

    @classmethod
    def _init(cls, handle: Any) -> NvshmemKernelObject:
        made = super().__new__(cls)
        made.handle = int(handle)
        return made

    @staticmethod
    def from_handle(handle: Any = None) -> NvshmemKernelObject:
        """Return the object of a CUmodule's or CUlibrary's address."""
        if handle is None:
            raise NvshmemInvalid("NvshmemKernelObject.from_handle: pass the handle, an integer.")
        return NvshmemKernelObject._init(handle)

    @staticmethod
    def from_obj(obj: Any) -> NvshmemKernelObject:
        """Return the object of a cuda.core.ObjectCode."""
        return NvshmemKernelObject._init(obj.handle)

    @staticmethod
    def from_obj_bytes(obj_bytes: bytes) -> NvshmemKernelObject:
        """Return the object of a cubin's bytes."""
        core = importlib.import_module("cuda.core")
        return NvshmemKernelObject._init(core.ObjectCode.from_cubin(obj_bytes).handle)

    @staticmethod
    def from_triton(triton_kernel: Any) -> NvshmemKernelObject:
        """Return the object of a compiled kernel of Triton."""
        return NvshmemKernelObject._init(triton_kernel.handle)

    @staticmethod
    def from_cuda_bindings(cuda_kernel: Any) -> NvshmemKernelObject:
        """Return the object of a CUmodule of cuda.bindings."""
        return NvshmemKernelObject._init(cuda_kernel)


def cuda_core() -> Any:
    """Return the module cuda.core, or None where it is missing."""
    for name in ("cuda.core", "cuda.core.experimental"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if not getattr(module, "is_substitute", False) and hasattr(module, "MemoryResource"):
            return module
    return None


_Base: Any = getattr(cuda_core(), "MemoryResource", object)


class NvshmemResource(_Base):  # type: ignore[misc]
    """Symmetric memory as a memory resource of cuda.core: allocate is buffer(); free() frees what it returned."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def allocate(
        self, size: int, stream: Any = None, release: bool = False, except_on_del: bool = True
    ) -> Any:
        """Return a new Buffer of `size` bytes. Collective over all PEs."""
        from .memory import buffer

        return buffer(size, release=release, except_on_del=except_on_del)

    def deallocate(self, ptr: int, size: int, stream: Any = None) -> None:
        """Do nothing when a Buffer is closed or dropped: free() frees its memory, on all PEs together."""

    def get_peer_buffer(self, buffer: Any, pe: int) -> Any:
        """Return PE pe's copy of a Buffer."""
        from .memory import get_peer_buffer

        return get_peer_buffer(buffer, pe)

    def get_mc_buffer(self, team: Any, buffer: Any) -> Any:
        """Raise NvshmemInvalid: there is no multicast memory."""
        from .memory import get_multicast_buffer

        return get_multicast_buffer(team, buffer)

    def set_freed(self, buffer: Any) -> None:
        """Do nothing: free() needs no mark."""

    def register_external_buffer(
        self, buffer: Any, call_register: bool = True, preferred_address: Any = None
    ) -> Any:
        """Return a symmetric Buffer over memory of another library. Collective over all PEs."""
        from .memory import register_external_buffer

        return register_external_buffer(buffer, preferred_address) if call_register else buffer

    def unregister_external_buffer(self, buffer: Any) -> None:
        """End a registration. Collective over all PEs."""
        from .memory import unregister_external_buffer

        unregister_external_buffer(buffer)

    @property
    def is_device_accessible(self) -> bool:
        """True if kernels reach the memory."""
        from ._state import STATE

        return STATE.on_gpu

    @property
    def is_host_accessible(self) -> bool:
        """True if the host reaches the memory."""
        return not self.is_device_accessible

    @property
    def device_id(self) -> int:
        """The number of the GPU; -1 is the host."""
        return int(getattr(self.device, "device_id", self.device))

    def __repr__(self) -> str:
        return f"<NvshmemResource device={self.device!r}>"
