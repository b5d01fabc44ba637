"""Groups on GPUs by the plain C interface (atoll/groups.h), with arrays outside the device heap.

    device_groups.py FOLDER

FOLDER is a place for the files of the store.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import atoll
import numpy as np
from checks import raises

KINDS = [
    "barrier", "broadcast", "reduce", "all_reduce", "all_gather", "gather", "scatter", "reduce_scatter",
    "all_to_all", "send", "receive",
]  # fmt: skip
TYPES = {"int32": 2, "float32": 8, "float64": 9, "complex64": 11}
OPS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "avg": 7}
E4M3 = 16


class Span(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Call(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_int) for name in ("kind", "root", "tag", "type", "op")],
        ("ins", ctypes.POINTER(Span)),
        ("n_in", ctypes.c_size_t),
        ("outs", ctypes.POINTER(Span)),
        ("n_out", ctypes.c_size_t),
        ("timeout_s", ctypes.c_double),
    ]


PUT = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)
GIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, GIVE)


class Store(ctypes.Structure):
    _fields_ = [("state", ctypes.c_void_p), ("put", PUT), ("get", GET)]


class Options(ctypes.Structure):
    _fields_ = [
        *[(name, ctypes.c_int) for name in ("rank", "size", "device", "for_messages")],
        ("timeout_s", ctypes.c_double),
        ("join_timeout_s", ctypes.c_double),
    ]


class Table(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("join", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Store), ctypes.POINTER(Options))),
        ("leave", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        (
            "start",
            ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Call), ctypes.c_size_t, ctypes.c_void_p
            ),
        ),
    ]


class Errors(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("last_error", ctypes.CFUNCTYPE(ctypes.c_char_p))]


def tables() -> tuple[Table, Errors]:
    library = ctypes.CDLL("libatoll.so")
    library.atoll_device_groups.restype = ctypes.POINTER(Table)
    library.atoll_groups.restype = ctypes.POINTER(Errors)
    return library.atoll_device_groups().contents, library.atoll_groups().contents


table, errors = tables()
folder = Path(sys.argv[1])


def store_in(name: str) -> Store:
    """Return a store of files, whose keys begin with `name`."""

    def file(key: bytes) -> Path:
        return folder / f"{name}-{key.decode().replace('/', '-')}"

    def put(_: Any, key: bytes, value: Any, size: int) -> int:
        new = file(key).with_suffix(".new")
        new.write_bytes(ctypes.string_at(value, size))
        new.rename(file(key))
        return 0

    def get(_: Any, key: bytes, sink: Any, give: Any) -> int:
        while not file(key).exists():
            time.sleep(0.001)
        value = file(key).read_bytes()
        give(sink, value, len(value))
        return 0

    return Store(None, PUT(put), GET(get))


class Group:
    def __init__(self, name: str, rank: int, size: int, for_messages: bool = False) -> None:
        self.rank, self.size = rank, size
        self.store = store_in(name)
        self.handle = table.join(self.store, Options(rank, size, 0, int(for_messages), 60.0, 0.0))
        assert self.handle, errors.last_error()

    def start(self, *calls: Call) -> None:
        result = table.start(self.handle, (Call * len(calls))(*calls), len(calls), None)
        if result != 0:
            raise RuntimeError(errors.last_error().decode())

    def run(self, kind: str, source: Any = None, target: Any = None, **more: Any) -> None:
        self.start(call(kind, source, target, **more))

    def leave(self) -> None:
        table.leave(self.handle)


def spans(arrays: Any) -> tuple[Any, int]:
    if arrays is None:
        return None, 0
    each = arrays if isinstance(arrays, list) else [arrays]
    return (Span * len(each))(*[Span(a.ctypes.data, a.nbytes) for a in each]), len(each)


def call(kind: str, source: Any, target: Any, root: int = 0, op: str = "sum", dtype: str = "float32") -> Call:
    ins, outs = spans(source), spans(target)
    return Call(KINDS.index(kind), root, 0, TYPES[dtype], OPS[op], *ins, *outs, 0.0)


def values(rank: int, count: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return (np.arange(count) % 5 + rank % 3).astype(dtype)


def check(got: Any, expected: Any, *what: Any) -> None:
    assert np.array_equal(got, expected), (what, got, expected)


def reductions(group: Group, count: int) -> None:
    n, me = group.size, group.rank
    folds: dict[str, Callable[[Sequence[Any]], Any]] = {
        "sum": lambda all_: sum(all_[1:], all_[0]),
        "max": lambda all_: np.maximum.reduce(all_),
    }
    for dtype in ("float32", "int32", "float64", "complex64"):
        for op, fold in folds.items():
            if dtype == "complex64" and op == "max":
                continue
            expected = fold([values(rank, count, dtype) for rank in range(n)])
            array = values(me, count, dtype)
            group.run("all_reduce", array, array, op=op, dtype=dtype)
            check(array, expected, "all_reduce", dtype, op, count)
            source = values(me, count, dtype)
            target = np.zeros_like(source)
            group.run("all_reduce", source, target, op=op, dtype=dtype)
            check(target, expected, "all_reduce to another array", dtype, op, count)
            root = n - 1
            group.run("reduce", source, target if me == root else None, root=root, op=op, dtype=dtype)
            check(target, expected, "reduce", dtype, op, count)
            wide = np.concatenate([source] * n)
            part = np.zeros_like(source)
            group.run("reduce_scatter", wide, part, op=op, dtype=dtype)
            check(part, expected, "reduce_scatter", dtype, op, count)
            own = wide[me * count : (me + 1) * count]
            group.run("reduce_scatter", wide, own, op=op, dtype=dtype)
            check(own, expected, "reduce_scatter in place", dtype, op, count)
    array = 4 * values(me, count)
    group.run("all_reduce", array, array, op="avg")
    mean = sum(4 * values(rank, count, "float64") for rank in range(n)) / n
    np.testing.assert_allclose(array, mean, rtol=1e-6)


def moves(group: Group, count: int) -> None:
    n, me = group.size, group.rank
    for root in range(n):
        array = values(root if me == root else 77, count)
        group.run("broadcast", array if me == root else None, None if me == root else array, root=root)
        check(array, values(root, count), "broadcast", root, count)
        parts = np.zeros(n * count, "float32")
        group.run("gather", values(me, count), parts if me == root else None, root=root)
        if me == root:
            check(parts, np.concatenate([values(rank, count) for rank in range(n)]), "gather", root, count)
        group.run("scatter", parts if me == root else None, array, root=root)
        check(array, values(me, count), "scatter", root, count)
    wide = np.concatenate([values(me + 10 * rank, count) for rank in range(n)])
    every = np.zeros_like(wide)
    group.run("all_gather", values(me, count), every)
    check(every, np.concatenate([values(rank, count) for rank in range(n)]), "all_gather", count)
    own = every[me * count : (me + 1) * count]
    group.run("all_gather", own, every)
    check(every, np.concatenate([values(rank, count) for rank in range(n)]), "all_gather in place", count)
    swapped = np.zeros_like(wide)
    group.run("all_to_all", wide, swapped)
    check(swapped, np.concatenate([values(rank + 10 * me, count) for rank in range(n)]), "all_to_all", count)
    group.run("barrier")


def uneven(group: Group, unit: int) -> None:
    n, me = group.size, group.rank
    sources = [values(me, unit * (me + 2 * to)) for to in range(n)]
    targets = [np.zeros(unit * (source + 2 * me), "float32") for source in range(n)]
    group.run("all_to_all", sources, targets)
    for source, target in enumerate(targets):
        check(target, values(source, target.size), "uneven all_to_all", source, unit)


def messages(group: Group, count: int) -> None:
    """Rings in both directions; all messages progress together."""
    n, me = group.size, group.rank
    if n == 1:
        return
    right, left = (me + 1) % n, (me - 1) % n
    sent, got = [values(me, count), values(me + 1, 7)], [np.zeros(count, "float32"), np.zeros(7, "float32")]
    calls = [call("send", array, None, root=right) for array in sent]
    group.start(*calls, *[call("receive", None, array, root=left) for array in got])
    check(got[0], values(left, count), "messages", count)
    check(got[1], values(left + 1, 7), "the second message", count)
    group.start(call("receive", None, got[0], root=me), call("send", sent[0], None, root=me))
    check(got[0], values(me, count), "a message to itself", count)
    raises(
        RuntimeError,
        lambda: group.start(calls[0], call("send", sent[0], None, root=me)),
        "sends 1 messages to itself",
    )


def pairs(rank: int, count: int) -> None:
    """A group for messages; the simulated GPU blocks, so one side receives first."""
    group = Group(f"pair-{count}", rank, 2, for_messages=True)
    array = values(rank, count)
    steps = [call("send", array, None, root=1 - rank), call("receive", None, array, root=1 - rank)]
    for step in steps if rank == 0 else reversed(steps):
        group.start(step)
    check(array, values(0, count), "sent and received back", count)
    raises(RuntimeError, lambda: group.start(*steps), "go in one direction")
    group.leave()


def main() -> None:
    rank, size = atoll.my_pe(), atoll.n_pes()
    groups = [Group(name, rank, size) for name in ("a", "b")]
    for count in (
        1,
        1000,
        500_000,
        5_000_000,
    ):  # the last ones go through the stage, in one and several parts
        for group in groups if count < 5_000_000 else groups[:1]:
            if count < 5_000_000:
                reductions(group, count)
            moves(group, count)
            messages(group, count)
    uneven(groups[1], 1000)
    uneven(groups[0], 300_000)
    pattern = np.arange(20_000_000, dtype="float32") % 1009
    big = pattern * (rank + 1)
    wanted = pattern * (size * (size + 1) // 2)
    groups[0].run("all_reduce", big, big)
    check(big, wanted, "80 MB in place")
    result, big = np.zeros(2_100_003, "float32"), (pattern * (rank + 1))[:2_100_003]
    groups[0].run("all_reduce", big, result)
    check(result, wanted[: result.size], "8 MB")
    check(big, (pattern * (rank + 1))[: big.size], "8 MB, the source")
    wrong = call("all_reduce", big, big)
    wrong.type = E4M3
    raises(RuntimeError, lambda: groups[0].start(wrong), "convert 8-bit")
    groups[0].leave()
    moves(groups[1], 10)
    groups[1].leave()
    if size == 2:
        pairs(rank, 10)
        pairs(rank, 5_000_000)
    print("done")


atoll.init()
main()
atoll.finalize()
