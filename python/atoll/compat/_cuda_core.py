"""A substitute for cuda.core where NVIDIA's driver is missing, for programs of NVSHMEM4Py on host memory.

It has what such a program takes from cuda.core before its kernels: devices, streams and events. A stream is always
empty, since calls on host memory are complete on return.
"""

from __future__ import annotations

import functools
import sys
import time
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ._installed import module_of

is_substitute = True
__path__: list[str] = []  # import takes it for a package, which has cuda.core.experimental


class Event:
    """A point in a stream, and the time of the host's clock at which it was recorded."""

    def __init__(self) -> None:
        self._seconds = time.perf_counter()

    @property
    def is_done(self) -> bool:
        """True."""
        return True

    def sync(self) -> None:
        """Do nothing: the event is reached."""

    def close(self) -> None:
        """Do nothing."""

    def __sub__(self, other: Event) -> float:
        return (self._seconds - other._seconds) * 1000


@dataclass
class EventOptions:
    """Options of an event, which change nothing here."""

    enable_timing: bool | None = False
    busy_waited_sync: bool | None = False
    ipc_enabled: bool | None = False


@dataclass
class StreamOptions:
    """Options of a stream, which change nothing here."""

    nonblocking: bool = True
    priority: int | None = None


class Stream:
    """A stream without work."""

    def __init__(self, device: Device, handle: int = 0) -> None:
        self.device = device
        self.handle = handle

    @staticmethod
    def from_handle(handle: int) -> Stream:
        """Return the stream of an address, which another library made."""
        return Stream(Device(), int(handle))

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def sync(self) -> None:
        """Do nothing: no work is left."""

    def wait(self, event_or_stream: Any) -> None:
        """Do nothing: what it waits for is complete."""

    def record(self, event: Event | None = None, options: Any = None) -> Event:
        """Return an event of this moment; set `event` to it if given."""
        made = Event() if event is None else event
        made._seconds = time.perf_counter()
        return made

    def close(self) -> None:
        """Do nothing."""


class DeviceProperties:
    """Abilities of a device by which programs choose a path."""

    multicast_supported = False
    virtual_memory_management_supported = False

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"Device.properties has no attribute {name!r} {_WITHOUT}")


class Device:
    """A device of any number. It is the host; its memory is symmetric memory of the host."""

    properties = DeviceProperties()

    def __init__(self, device_id: int | None = None) -> None:
        self.device_id = 0 if device_id is None else device_id
        self.name = "host memory, by Atoll's substitute for cuda.core"
        self.pci_bus_id = "none"

    def set_current(self, ctx: Any = None) -> None:
        """Do nothing."""

    def sync(self) -> None:
        """Do nothing: no work is left."""

    @property
    def default_stream(self) -> Stream:
        """A stream."""
        return Stream(self)

    def create_stream(self, obj: Any = None, options: Any = None) -> Any:
        """Return a new stream, or `obj` itself, a stream of another library."""
        return Stream(self) if obj is None else obj

    def create_event(self, options: Any = None) -> Event:
        """Return a new event."""
        return Event()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.device_id == other.device_id

    def __hash__(self) -> int:
        return hash(self.device_id)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"Device has no attribute {name!r} {_WITHOUT}")

    def __repr__(self) -> str:
        return f"<Device {self.device_id} ({self.name})>"


class System:
    """The machine, as one with a device: programs divide their rank by the number of devices."""

    num_devices = 1

    @property
    def devices(self) -> tuple[Device, ...]:
        """The device."""
        return (Device(0),)

    def get_num_devices(self) -> int:
        """Return 1."""
        return self.num_devices

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"cuda.core.system has no attribute {name!r} {_WITHOUT}")


_WITHOUT = (
    "in Atoll's substitute for cuda.core, which is used where NVIDIA's driver cannot be loaded; run this part "
    "on a machine with a GPU."
)
system = System()


_OF_GPUS = (
    "DeviceMemoryResource",
    "Kernel",
    "LaunchConfig",
    "LegacyPinnedMemoryResource",
    "Linker",
    "LinkerOptions",
    "ObjectCode",
    "PinnedMemoryResource",
    "Program",
    "ProgramOptions",
    "VirtualMemoryResource",
    "VirtualMemoryResourceOptions",
    "launch",
)


class _OfGpus(type):
    """The type of classes that only GPUs have."""

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"cuda.core.{cls.__name__} has no attribute {name!r} {_WITHOUT}")


@functools.cache
def _refusing(name: str) -> Any:
    """Return a class or function in place of one that kernels or memory of GPUs need, so that a program can import it.

    A class has no objects; `isinstance` answers False.
    """

    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"cuda.core.{name} does not exist {_WITHOUT}")

    return refuse if name == "launch" else _OfGpus(name, (), {"__new__": refuse})


def __getattr__(name: str) -> Any:
    if name in _OF_GPUS:
        return _refusing(name)
    if name == "Buffer":
        from ..nvshmem.memory import Buffer

        return Buffer
    raise AttributeError(
        f"cuda.core has no attribute {name!r}" + ("" if name.startswith("_") else f" {_WITHOUT}")
    )


def in_place_of(name: str) -> ModuleType:
    """Return the module for `import NAME`: this one, or the installed package with the names of this one.

    numba-cuda needs other parts of the installed package, also to compile kernels that no GPU runs.
    """
    mine = sys.modules[__name__]
    made = module_of(name)
    if made is None:
        return mine
    for own in ("Device", "Event", "EventOptions", "Stream", "StreamOptions", "is_substitute", "system"):
        setattr(made, own, getattr(mine, own))
    return made
