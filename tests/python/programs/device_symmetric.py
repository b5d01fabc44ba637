"""Symmetric tensors on GPUs by the plain C interface (atoll/symmetric.h), on the simulated GPU, which Python reads."""

from __future__ import annotations

import ctypes
from typing import Any

import atoll
import numpy as np
from checks import raises

CALL = ctypes.CFUNCTYPE
POINTER, SIZE, INT = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
MEBIBYTE = 1 << 20
PAD = 1000


class Block(ctypes.Structure):
    _fields_ = [
        ("data", POINTER), ("bytes", SIZE), ("pad", POINTER), ("pad_bytes", SIZE), ("twin", POINTER), ("device", INT),
    ]  # fmt: skip


class Meeting(ctypes.Structure):
    _fields_ = [
        ("texts", ctypes.POINTER(ctypes.c_char_p)), ("rank", INT), ("size", INT), ("names", POINTER),
        ("label", ctypes.c_char_p), ("timeout_s", ctypes.c_double), ("interrupted", POINTER),
    ]  # fmt: skip


class Table(ctypes.Structure):
    _fields_ = [
        ("version", INT),
        ("allocate", CALL(POINTER, INT, SIZE, SIZE)),
        ("free", CALL(None, POINTER)),
        ("find", CALL(INT, POINTER, ctypes.POINTER(Block))),
        ("describe", CALL(INT, POINTER, ctypes.c_char_p, SIZE)),
        ("reach", CALL(INT, POINTER, ctypes.POINTER(Meeting), ctypes.POINTER(POINTER))),
        ("exchange", CALL(INT, POINTER, POINTER, ctypes.c_uint, ctypes.c_uint, ctypes.c_double, POINTER)),
    ]


class HostTable(ctypes.Structure):
    _fields_ = [
        ("version", INT),
        *[(name, POINTER) for name in ("allocate", "free", "find", "usage")],
        ("offer", CALL(POINTER, POINTER, INT, ctypes.c_char_p, SIZE)),
        ("withdraw", POINTER),
        ("join", CALL(POINTER, POINTER, ctypes.POINTER(Meeting))),
        ("leave", CALL(None, POINTER)),
    ]


class Errors(ctypes.Structure):
    _fields_ = [("version", INT), ("last_error", CALL(ctypes.c_char_p))]


def table_of(function: str, kind: Any) -> Any:
    """Return a table of the library."""
    getattr(library, function).restype = ctypes.POINTER(kind)
    return getattr(library, function)().contents


library = ctypes.CDLL("libatoll.so")
table = table_of("atoll_device_memory", Table)
host = table_of("atoll_symmetric_memory", HostTable)
errors = table_of("atoll_groups", Errors)


def checked(result: int) -> None:
    """Raise the library's error if a call failed."""
    if result != 0:
        raise RuntimeError(errors.last_error().decode())


def meeting_of(texts: list[str], timeout_s: float = 60.0) -> Meeting:
    """Describe a meeting of all PEs, which have these texts."""
    lines = (ctypes.c_char_p * len(texts))(*[text.encode() for text in texts])
    return Meeting(lines, atoll.my_pe(), atoll.n_pes(), None, b"", timeout_s, None)


def exchanged(text: bytes) -> list[str]:
    """Return the texts of all PEs."""
    room = atoll.zeros(512, dtype=np.uint8)
    every = atoll.zeros(512 * atoll.n_pes(), dtype=np.uint8)
    room[: len(text)] = np.frombuffer(text, np.uint8)
    atoll.fcollect(every, room)
    return [bytes(part).rstrip(b"\0").decode() for part in np.asarray(every).reshape(-1, 512)]


def described(data: int) -> bytes:
    """Return the text of a block."""
    room = ctypes.create_string_buffer(512)
    checked(table.describe(data, room, 512))
    return room.value


def block_of(address: int) -> Block:
    """Return the block of an address."""
    block = Block()
    assert table.find(address, block) == 1, hex(address)
    return block


def reached(data: int, texts: list[str]) -> list[int]:
    """Return the addresses of all PEs' blocks."""
    found = (POINTER * len(texts))()
    checked(table.reach(data, meeting_of(texts), found))
    return [int(address or 0) for address in found]


def numbers(address: int, count: int) -> Any:
    """Return the memory at an address as an array; the simulated GPU's memory is that of the host."""
    return np.frombuffer((ctypes.c_uint32 * count).from_address(address), np.uint32)


def check_blocks(data: int, blocks: list[int], count: int) -> None:
    """Write to all PEs' blocks, and read what they wrote."""
    me, n = atoll.my_pe(), atoll.n_pes()
    assert blocks[me] == data
    for pe, block in enumerate(blocks):
        numbers(block, count)[me :: n + 1] = 100 * me + pe
    atoll.barrier_all()
    for pe in range(n):
        assert numbers(data, count)[pe] == 100 * pe + me, (pe, numbers(data, count)[:8])
    assert numbers(data, count)[count - 1 - (count - 1) % (n + 1) + me] in (0, 100 * me + me)
    atoll.barrier_all()


def main() -> None:
    me, n = atoll.my_pe(), atoll.n_pes()
    # Offsets and numbers of chunks differ between PEs.
    kept = [table.allocate(0, 3 * MEBIBYTE, 0) for _ in range(12 * me)]
    assert all(kept), errors.last_error()
    for size in (4 * MEBIBYTE, 40 * MEBIBYTE):
        data = int(table.allocate(0, size, PAD))
        block = block_of(data + size - 1)
        assert (block.data, block.bytes, block.pad_bytes, block.device) == (data, size, PAD, 0)
        assert data % 512 == 0
        assert not numbers(block.pad, PAD // 4).any()
        blocks = reached(data, exchanged(described(data)))
        check_blocks(data, blocks, size // 4)

        distance = data - block.pad
        word, to_right = 5 * n + me, blocks[(me + 1) % n] - distance
        checked(table.exchange(data, to_right + 4 * word, 0, 7, 0.0, None))
        mine = block.pad + 4 * (5 * n + (me - 1) % n)
        checked(table.exchange(data, mine, 7, 0, 60.0, None))
        assert numbers(block.pad, PAD // 4)[5 * n + (me - 1) % n] == 0
        atoll.barrier_all()

    # Memory is used again when no PE holds its twin.
    text = ctypes.create_string_buffer(512)
    offer = host.offer(block.twin, n, text, 512)
    joined = host.join(offer, meeting_of(exchanged(text.value)))
    assert joined, errors.last_error()
    atoll.barrier_all()
    table.free(data)
    assert table.find(data, Block()) == 0
    other = int(table.allocate(0, 40 * MEBIBYTE, PAD))
    assert other != data, "memory that others hold was used again"
    atoll.barrier_all()
    host.leave(joined)
    atoll.barrier_all()
    again = int(table.allocate(0, 40 * MEBIBYTE, PAD))
    assert again == data, (hex(again), hex(data))

    table.free(other)
    raises(RuntimeError, lambda: described(other), "was freed")
    raises(RuntimeError, lambda: described(block.twin), "is not in this process's symmetric memory of a GPU")
    assert table.allocate(0, 1 << 62, 0) is None
    assert b"has room" in errors.last_error(), errors.last_error()
    odd = int(table.allocate(0, 100 + 4 * me, 0))
    texts = exchanged(described(odd))
    if n > 1:
        raises(RuntimeError, lambda: reached(odd, texts), "must have equal sizes")
    print("done")


atoll.init()
main()
atoll.finalize()
