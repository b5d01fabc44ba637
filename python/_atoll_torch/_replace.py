"""Makes groups of gloo or NCCL by Atoll: for programs that name their backend (ATOLL_TORCH_REPLACE).

A group is Atoll's on all of its ranks, or the original's on all: the ranks agree by PyTorch's store.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

WAIT_SECONDS = 60
BUILD_SECONDS = 660  # a rank may compile the module meanwhile, or wait for another process that does
AGREED = "atoll "  # begins the answer of a rank that can use Atoll; the host's identity follows

CLASSES = {"gloo": "ProcessGroupGloo", "nccl": "ProcessGroupNCCL"}
_written: set[str] = set()


def replace(names: str) -> None:
    """Replace the classes of these backends, such as "gloo,nccl"."""
    import torch.distributed.distributed_c10d as c10d

    for name in filter(None, (part.strip().lower() for part in names.split(","))):
        if name not in CLASSES:
            _say(f"ATOLL_TORCH_REPLACE takes gloo and nccl; it has {name!r}, which is ignored.")
            continue
        original = getattr(c10d, CLASSES[name], None)
        if original is not None and not isinstance(original, _Replaced):
            setattr(c10d, CLASSES[name], _Replaced(name, original))


def _say(text: str) -> None:
    """Write a line on standard error, once."""
    if text not in _written:
        _written.add(text)
        print(f"atoll: {text}", file=sys.stderr, flush=True)


class _Replaced(type):
    """Replaces a class of PyTorch: calls make a group; attributes and `isinstance` are those of the original."""

    def __new__(cls, name: str, original: Any) -> _Replaced:
        return super().__new__(cls, original.__name__, (), {"__doc__": original.__doc__})

    def __init__(cls, name: str, original: Any) -> None:
        super().__init__(original.__name__, (), {})
        cls.name, cls.original = name, original
        # PyTorch checks the class of a backend that it has just made.
        cls.made: weakref.WeakSet[Any] = weakref.WeakSet()

    def __call__(cls, store: Any, rank: int, size: int, *rest: Any, **more: Any) -> Any:
        timeout = _timeout(rest, more)
        reason = _agree(store, rank, size, lambda: _refusal(rest, more))
        if reason:
            _say(f"a group of {cls.name} stays one of {cls.name}: {reason}")
            return cls.original(store, rank, size, *rest, **more)
        _say(f"groups of {cls.name} are made by Atoll (ATOLL_TORCH_REPLACE).")
        from atoll._c10d import create_on

        _lend(cls.original)
        backend = create_on(store, rank, size, timeout.total_seconds(), f"of {cls.name}", shown=cls.name)
        cls.made.add(backend)
        return backend

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.original) or instance in cls.made

    def __getattr__(cls, attribute: str) -> Any:
        return getattr(cls.__dict__["original"], attribute)


def _lend(original: Any) -> None:
    """Give PyTorch's base class of backends the methods of gloo's and NCCL's that programs call on a group's backend."""
    from torch._C._distributed_c10d import Backend

    for name in ("create_device", "create_default_device"):
        if hasattr(original, name) and not hasattr(Backend, name):
            setattr(Backend, name, staticmethod(getattr(original, name)))
    if hasattr(Backend, "set_timeout") and not hasattr(Backend, "_set_default_timeout"):
        Backend._set_default_timeout = Backend.set_timeout


def _timeout(rest: tuple[Any, ...], more: dict[str, Any]) -> timedelta:
    """Return the time-out: gloo's argument, or that of options. PyTorch takes seconds for it, too."""
    given = more.get("timeout")
    if given is None and rest:
        given = getattr(rest[0], "_timeout", rest[0])
    if isinstance(given, int | float):
        given = timedelta(seconds=given)
    return given if isinstance(given, timedelta) else timedelta(minutes=30)


def _refusal(rest: tuple[Any, ...], more: dict[str, Any]) -> str:
    """Return why Atoll cannot make this group; empty if it can."""
    if more.get("enable_reconfigure") or getattr(rest[0] if rest else None, "enable_reconfigure", False):
        return "it is to be reconfigured"
    options: Any = rest[0] if rest else None
    if hasattr(options, "is_high_priority_stream"):
        fresh = type(options)()
        if options.is_high_priority_stream or getattr(options, "split_from", None) is not None:
            return "its options ask for streams of high priority, or for a split"
        fields = [field for field in dir(getattr(fresh, "config", None)) if not field.startswith("_")]
        changed = [f for f in fields if getattr(options.config, f) != getattr(fresh.config, f)]
        if changed:
            return f"its options set {', '.join(changed)}"
    try:
        from atoll._c10d import module

        module()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _identity() -> str:
    """Return a text, equal for processes that can share a group."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {Path('/proc/self/ns/pid').readlink()} {os.getuid()}"


def _agree(store: Any, rank: int, size: int, refusal: Callable[[], str]) -> str:
    """Return the reason of the first rank that cannot use Atoll; empty if all can, on one host."""
    keys = [f"atoll/replace/{other}" for other in range(size)]
    store.set(f"{keys[rank]}/begun", "1")
    try:
        answer = refusal() or AGREED + _identity()
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    store.set(keys[rank], answer)
    _await(store, [f"{key}/begun" for key in keys], WAIT_SECONDS)
    _await(store, keys, BUILD_SECONDS)
    answers = [store.get(key).decode() for key in keys]
    for other, text in enumerate(answers):
        if not text.startswith(AGREED):
            return f"rank {other}: {text}"
    return "" if len(set(answers)) == 1 else "its ranks are on several hosts, or of several users"


def _await(store: Any, keys: list[str], seconds: float) -> None:
    """Wait until each rank has set its key."""
    end = time.monotonic() + seconds
    for rank, key in enumerate(keys):
        try:
            store.wait([key], timedelta(seconds=max(end - time.monotonic(), 0.1)))
        except Exception as error:
            raise RuntimeError(
                f"Rank {rank} of a group did not tell within {seconds} s whether it uses Atoll. Set "
                "ATOLL_TORCH_REPLACE on all ranks, or on none."
            ) from error
