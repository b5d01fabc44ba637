"""The calls on a stream that bench/gpu/peers.py measures: Atoll, NVSHMEM4Py, NCCL4Py and torch.distributed, 8
bytes each.

A side that is not installed, or does not have such a call, raises.
"""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import atoll
import numpy as np
import torch

Call = Callable[[], object]
OPS = ("put", "signal", "put_signal", "sum_reduce", "barrier", "send_recv")


@dataclass
class Side:
    """One library: its calls by operation, and the reasons why operations are missing."""

    name: str
    calls: dict[str, Call]
    missing: dict[str, str] = field(default_factory=dict)
    close: Call = lambda: None


class Job:
    """The state that all sides share: the PE, its GPU, one stream."""

    def __init__(self) -> None:
        self.me, self.n = atoll.my_pe(), atoll.n_pes()
        self.right, self.left = (self.me + 1) % self.n, (self.me - 1) % self.n
        self.gpu = atoll.zeros(1, device="cuda").device
        torch.cuda.set_device(self.gpu)
        self.stream = torch.cuda.Stream(self.gpu)

    def from_first(self, data: Any) -> Any:
        """Return PE 0's bytes on all PEs."""
        return atoll.broadcast(np.ascontiguousarray(data, np.uint8), 0)


def cuda_core_stream(job: Job) -> Any:
    """Return the job's stream as a cuda.core.Stream, the fastest form that NVSHMEM4Py and NCCL4Py take."""
    from cuda.core import Stream

    return Stream.from_handle(job.stream.cuda_stream)


def atoll_side(job: Job, name: str, xp: Any) -> Side:
    x = atoll.zeros(2, "float32", device="cuda", xp=xp)
    y = atoll.zeros(2, "float32", device="cuda", xp=xp)
    words = atoll.signal(1, device="cuda", xp=xp)
    on = job.stream

    def send_recv() -> None:
        with atoll.group():
            atoll.send(x, job.right, stream=on)
            atoll.recv(y, job.left, stream=on)

    return Side(name, {
        "put": lambda: atoll.put(y, x, job.right, stream=on),
        "signal": lambda: atoll.signal_add(words, 1, job.right, stream=on),
        "put_signal": lambda: atoll.put_signal(y, x, words, 1, atoll.SIGNAL_ADD, job.right, stream=on),
        "sum_reduce": lambda: atoll.sum_reduce(y, x, stream=on),
        "barrier": lambda: atoll.barrier_all(stream=on),
        "send_recv": send_recv,
    })  # fmt: skip


def init_nvshmem(job: Job) -> Any:
    """Return nvshmem.core, with this PE in NVSHMEM's world."""
    import nvshmem.core as nvshmem
    from cuda.core import Device

    gpu = Device(job.gpu)
    gpu.set_current()
    uid = nvshmem.get_unique_id(empty=job.me != 0)
    if job.n > 1:
        data = uid._data.view(np.uint8)
        data[...] = job.from_first(data).reshape(data.shape)
    nvshmem.init(device=gpu, uid=uid, rank=job.me, nranks=job.n, initializer_method="uid")
    if (nvshmem.my_pe(), nvshmem.n_pes()) != (job.me, job.n):
        raise RuntimeError(f"PE {nvshmem.my_pe()} of {nvshmem.n_pes()}, not {job.me} of {job.n}")
    return nvshmem


NO_MESSAGES = {"send_recv": "NVSHMEM has no messages"}


def nvshmem_buffers(job: Job, nvshmem: Any) -> Side:
    on = cuda_core_stream(job)
    add, world = nvshmem.SignalOp.SIGNAL_ADD, nvshmem.Teams.TEAM_WORLD
    a, b, word = (nvshmem.buffer(8) for _ in range(3))
    calls: dict[str, Call] = {
        "put": lambda: nvshmem.put(b, a, job.right, stream=on),
        "signal": lambda: nvshmem.signal_op(word, 1, add, job.right, stream=on),
        "put_signal": lambda: nvshmem.put_signal(b, a, word, 1, add, job.right, stream=on),
        "sum_reduce": lambda: nvshmem.collective_on_buffer("reduce", world, b, a, dtype="float", op="sum", stream=on),
        "barrier": lambda: nvshmem.barrier_all(stream=on),
    }  # fmt: skip
    return Side("nvshmem4py Buffer", calls, NO_MESSAGES, lambda: [nvshmem.free(one) for one in (a, b, word)])


def nvshmem_tensors(job: Job, nvshmem: Any) -> Side:
    on = cuda_core_stream(job)
    add, world, word = nvshmem.SignalOp.SIGNAL_ADD, nvshmem.Teams.TEAM_WORLD, nvshmem.buffer(8)
    x, y = (nvshmem.tensor((2,), dtype=torch.float32) for _ in range(2))
    calls: dict[str, Call] = {
        "put": lambda: nvshmem.put(y, x, job.right, stream=on),
        "put_signal": lambda: nvshmem.put_signal(y, x, word, 1, add, job.right, stream=on),
        "sum_reduce": lambda: nvshmem.reduce(world, y, x, "sum", stream=on),
    }
    missing = NO_MESSAGES | dict.fromkeys(("signal", "barrier"), "takes no tensor: as with Buffer")

    def close() -> None:
        nvshmem.free(word)
        for tensor in (x, y):
            nvshmem.free_tensor(tensor)

    return Side("nvshmem4py torch.Tensor", calls, missing, close)


def nccl_side(job: Job) -> Side:
    import nccl.core as nccl

    on = cuda_core_stream(job)
    uid = nccl.get_unique_id()
    if job.n > 1:
        mine = np.frombuffer(uid.as_bytes, np.uint8)
        uid = nccl.UniqueId.from_bytes(bytes(job.from_first(mine)))
    comm = nccl.Communicator.init(nranks=job.n, rank=job.me, unique_id=uid)
    x, y = (torch.zeros(2, device=f"cuda:{job.gpu}") for _ in range(2))
    calls: dict[str, Call] = {"sum_reduce": lambda: comm.allreduce(x, y, nccl.SUM, stream=on)}
    missing = {"put": "NCCL has put only with a signal", "barrier": "NCCL has no barrier on a stream"}

    def send_recv() -> None:
        with nccl.group():
            comm.send(x, job.right, stream=on)
            comm.recv(y, job.left, stream=on)

    calls["send_recv"] = send_recv
    try:
        version = nccl_version()
        if version < (2, 29):
            raise RuntimeError(f"NCCL {'.'.join(map(str, version))} has none, 2.29 has")
        from nccl.core.interop.torch import empty

        source, target = (empty((2,), dtype=torch.float32, device=job.gpu) for _ in range(2))
        windows = [comm.register_window(each) for each in (source, target)]
        calls["signal"] = lambda: comm.signal(job.right, stream=on)
        calls["put_signal"] = lambda: comm.put_signal(source, job.right, windows[1], stream=on)
    except Exception as error:
        missing |= dict.fromkeys(("signal", "put_signal"), f"{type(error).__name__}: {error}")
    return Side("nccl4py torch.Tensor", calls, missing, comm.destroy)


def nccl_version() -> tuple[int, ...]:
    """Return the version of the library that is loaded: torch's."""
    return tuple(torch.cuda.nccl.version())


def torch_side(job: Job) -> Side:
    os.environ.update(
        RANK=str(job.me), WORLD_SIZE=str(job.n), MASTER_ADDR="127.0.0.1",
        MASTER_PORT=os.environ.get("PEERS_PORT", "29537"),
    )  # fmt: skip
    from torch import distributed

    distributed.init_process_group("nccl", device_id=torch.device("cuda", job.gpu))
    x = torch.zeros(2, device=f"cuda:{job.gpu}")
    y = torch.zeros_like(x)

    def all_reduce() -> None:
        with torch.cuda.stream(job.stream):
            distributed.all_reduce(x)

    def send_recv() -> None:
        with torch.cuda.stream(job.stream):
            both = [
                distributed.P2POp(distributed.isend, x, job.right),
                distributed.P2POp(distributed.irecv, y, job.left),
            ]
            for work in distributed.batch_isend_irecv(both):
                work.wait()

    calls: dict[str, Call] = {"sum_reduce": all_reduce, "send_recv": send_recv}
    why = "torch.distributed has none"
    missing = {
        "put": why, "signal": why, "put_signal": why, "barrier": "its barrier waits on the host",
    }  # fmt: skip
    if job.n == 1:  # PyTorch refuses it
        del calls["send_recv"]
        missing["send_recv"] = "no messages of a process to itself"
    return Side("torch.distributed", calls, missing, distributed.destroy_process_group)


def nbshmem_side(_: Job) -> Side:
    try:
        import nbshmem
    except ImportError as error:
        raise RuntimeError(
            f"{error}; PyPI has no package of that name, and no source of it could be fetched"
        ) from error
    raise RuntimeError(f"{nbshmem.__file__} is installed, but this benchmark has no part for it")


def sides_of(peer: str, job: Job, loaded: types.SimpleNamespace) -> dict[str, Callable[[], Side]]:
    """Return the functions that make a library's sides. `loaded` keeps its set-up: kernels use NVSHMEM, too."""
    if peer == "atoll":
        names: dict[str, Any] = {"atoll DeviceArray": None, "atoll torch.Tensor": torch}
        return {name: functools.partial(atoll_side, job, name, xp) for name, xp in names.items()}
    if peer == "nvshmem4py":
        loaded.nvshmem = init_nvshmem(job)
        makers = {"nvshmem4py Buffer": nvshmem_buffers, "nvshmem4py torch.Tensor": nvshmem_tensors}
        return {name: functools.partial(maker, job, loaded.nvshmem) for name, maker in makers.items()}
    side = {"nccl4py": nccl_side, "torch": torch_side, "nbshmem": nbshmem_side}[peer](job)
    return {side.name: lambda: side}
