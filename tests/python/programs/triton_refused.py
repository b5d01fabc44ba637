"""Launches of Triton kernels that are refused, with simulated GPU memory; and those that the interpreter
accepts.
"""

from __future__ import annotations

from typing import Any

import atoll
import atoll.triton as dev
import numpy as np
import triton.language as tl
from atoll.triton import _host
from checks import raises, run

atoll.init()


class Tensor:
    """The part of a tensor that a launch checks before it starts anything."""

    def __init__(self, array: Any) -> None:
        self.interface, self.shape = array.__cuda_array_interface__, array.shape

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.interface

    def data_ptr(self) -> int:
        return int(self.interface["data"][0])


@dev.kernel
def one(team, x, y):
    dev.p(team, x, 1, 0)


def check_freed_arrays() -> None:
    memory, kept = atoll.zeros(8, np.int64, device="cuda"), atoll.zeros(8, np.int64, device="cuda")
    x, y = Tensor(memory), Tensor(kept)
    team = atoll.WORLD.device("device")
    atoll.free(memory)
    words = "one: argument 2, an array of shape (8,), was freed by atoll.free()"
    raises(atoll.UseAfterFree, lambda: one[(1,)](team, x, y), words)
    raises(atoll.UseAfterFree, lambda: one[(1,)](team, y, y=x), "one: argument y, an array")


@dev.kernel
def moves(team, x, y, n, pe):
    dev.put(team, x, y, n, pe)


@dev.kernel
def sums(team, x, y, n):
    dev.reduce(team, x, y, n, dev.SUM)


@dev.kernel
def posts(team, block, x, pe):
    dev.post(team, block, 64, x, 1, pe)


@dev.kernel
def stores_a_part(team, x, pe):
    at = tl.arange(0, 8) - 4
    dev.p(team, x + at, at, pe)


@dev.kernel
def stores_around(team, address, pe, ALL: tl.constexpr):
    """Store the eight words on both sides of an address; or only compute pointers to them."""
    x = address.to(tl.pointer_type(tl.int64)) + tl.arange(0, 8) - 4
    if ALL:
        dev.p(team, x, 1, pe)
    else:
        tl.store(dev.ptr(team, x, pe), 1, mask=tl.arange(0, 8) < 0)


@dev.kernel
def sends(team, x, y):
    dev.broadcast(team, x, y, 2048, 0)


@dev.kernel
def gathers(team, x, y):
    dev.tile_allgather(team, x, y, 8, 8, 4, 4)


@dev.kernel
def exchanges(team, block, room, x, y):
    x, y = x.to(tl.pointer_type(tl.int64)), y.to(tl.pointer_type(tl.int64))
    right = (team.my_pe + 1) % team.n_pes
    left = (team.my_pe + team.n_pes - 1) % team.n_pes
    dev.receive(team, block, room, y, 5, left, tag=1)
    for k in range(10):
        dev.post(team, block, room, x + k, 5, right, tag=2, bound_ns=60_000_000_000)
        dev.receive(team, block, room, y + 5 * k, 5, left, bound_ns=60_000_000_000)
    dev.post(team, block, room, x, 5, right)


def check_mailboxes_of_the_host() -> None:
    """Use an atoll.Mailbox, whose first and last message the host sends and receives."""
    me, n = atoll.my_pe(), atoll.n_pes()
    right, left = (me + 1) % n, (me - 1) % n
    x, y = atoll.zeros(15, np.int64, device="cuda"), atoll.zeros(50, np.int64, device="cuda")
    x[:] = np.arange(15) + 100 * me
    with atoll.Mailbox(40, device="cuda") as box:
        box.post(x[:5], right)
        team, room = atoll.WORLD.device("device"), box.capacity_bytes()
        exchanges[(1,)](team, box.block.ptr, room, x.ptr, y.ptr)
        came = np.arange(15) + 100 * left
        assert y.numpy().tolist() == [*np.concatenate([came[k : k + 5] for k in range(10)])]
        assert box.receive(y[:5], left) == 5 and y[:5].numpy().tolist() == [*came[:5]]


def check_ordinary_arrays() -> None:
    """Ordinary arrays in place of symmetric ones are refused: their addresses are arbitrary memory on other PEs."""
    x, y, team = np.zeros(2048), atoll.zeros(2048), atoll.WORLD.device("host")
    right, other = (atoll.my_pe() + 1) % atoll.n_pes(), np.zeros(4096, np.int64)
    begin = team.window + team.my_slot * team.stride  # begin of this PE's symmetric memory
    for name, call in {
        f"atoll.triton.put: {x.ctypes.data:#x} is": lambda: moves[(1,)](team, x, y, 3, right),
        ": atoll.triton.reduce": lambda: sums[(1,)](team, x, x, 2048),
        ": atoll.triton.post": lambda: posts[(1,)](team, other, other, right),
        ": atoll.triton.p": lambda: stores_a_part[(1,)](team, other, right),
        f"p: {begin - 32:#x} is": lambda: stores_around[(1,)](team, begin, right, ALL=True),
        ": atoll.triton.ptr": lambda: stores_around[(1,)](team, begin - 64, right, ALL=False),
        ": atoll.triton.put_signal": lambda: announces[(1,)](team, y.view(np.int64), other, 1),
        ": atoll.triton.broadcast": lambda: sends[(1,)](team, x, y),
        ": atoll.triton.tile_allgather": lambda: gathers[(1,)](team, x, y),
        "one: an address is ordinary memory: atoll.triton.p": lambda: one[(1,)](
            atoll.WORLD.device("device"), y, y
        ),
    }.items():
        raises(atoll.NotSymmetric, call, name, "is not in the symmetric memory", "atoll.zeros()")
    moves[(1,)](team, y, x, 3, right)  # a source may be any array
    stores_around[(1,)](team, begin, right, ALL=False)  # some of a block of pointers may be masked out
    stores_a_part[(1,)](team, y[8:].view(np.int64), right)
    atoll.barrier_all()


def check_arrays_of_numpy() -> None:
    """Interpreted kernels accept NumPy's arrays; compiled ones do not start."""
    x, y = atoll.zeros(2, np.int16), atoll.zeros(2, np.int16)
    team = atoll.WORLD.device("host")
    one[(1,)](team, x, y)
    atoll.barrier_all()
    assert x[0] == (atoll.my_pe() == 0)
    atoll.free(x)
    raises(atoll.UseAfterFree, lambda: one[(1,)](team, x, y), "one: argument 2, an array of shape (2,)")
    _host.INTERPRETED = False
    words = "one: argument 3 is an array of NumPy, in host memory; pass a tensor of PyTorch"
    raises(TypeError, lambda: one[(1,)](team, 1, np.zeros(3)), words)
    _host.INTERPRETED = True


@dev.kernel
def waits(team, flag, value, CMP: tl.constexpr):
    dev.wait_until(team, flag, CMP, value)


@dev.kernel
def announces(team, x, flag, OP: tl.constexpr):
    dev.put_signal(team, x + 1, x, 1, flag, 1, OP, team.my_pe)


@dev.kernel
def stores(team, x, value):
    dev.p(team, x, value, team.my_pe)


@dev.kernel
def puts(team, x, y):
    dev.put(team, x, y, 2, (team.my_pe + 1) % team.n_pes)


def check_constants() -> None:
    """Interpreted kernels raise the errors of compiled ones (triton_ptx.py), and do not go on with another
    constant.
    """
    flag, team = atoll.zeros(2, np.int64), atoll.WORLD.device("host")
    compares = "it must be one of dev.EQ, dev.NE, dev.GT, dev.GE, dev.LT, dev.LE"
    for wrong in (">=", 99, dev.SUM):
        words = f"waits: atoll.triton.wait_until: cmp is {getattr(wrong, 'value', wrong)!r}; {compares}"
        raises(TypeError, lambda wrong=wrong: waits[(1,)](team, flag, 1, wrong), words)
    words = "put_signal: op is 77; it must be one of dev.SET, dev.ADD"
    raises(TypeError, lambda: announces[(1,)](team, flag, flag, 77), words)
    raises(
        TypeError,
        lambda: stores[(1,)](team, flag, 1.5),
        "stores: atoll.triton.p: value is 1.5; it must be an integer",
    )
    assert not flag.any()


@dev.kernel
def stores_a_constant(team, x, WIDE: tl.constexpr):
    dev.p(team, x, WIDE >> 99, team.my_pe)


def check_constants_of_kernels() -> None:
    """A constant may be any integer."""
    x = atoll.zeros(1, np.int64)
    stores_a_constant[(1,)](atoll.WORLD, x, 1 << 100)
    assert x[0] == 2, x


def check_teams() -> None:
    """A Team is converted for kernels; numbers replace constants."""
    flag = atoll.zeros(2, np.int64)
    flag[0] = 7
    waits[(1,)](atoll.WORLD, flag, 7, dev.EQ)
    waits[(1,)](flag=flag, value=7, CMP=0, team=atoll.WORLD)
    announces[(1,)](atoll.WORLD, flag, flag, dev.ADD)
    announces[(1,)](atoll.WORLD, flag, flag, 1)
    assert flag.tolist() == [9, 8], flag


def check_which_is_ordinary() -> None:
    """An ordinary target has no copy on other PEs and is refused by name. An ordinary source is valid."""
    x, ordinary = atoll.zeros(2, np.int64), np.arange(4)[2:]
    words = "argument 2 is ordinary memory: atoll.triton.p"
    raises(atoll.NotSymmetric, lambda: stores[(1,)](atoll.WORLD, ordinary, 1), "stores: " + words)
    puts[(1,)](atoll.WORLD, x, ordinary)
    atoll.barrier_all()
    assert x.tolist() == [2, 3], x
    raises(atoll.NotSymmetric, lambda: puts[(1,)](atoll.WORLD, ordinary, x), "puts: " + words)


def check_arguments() -> None:
    team = atoll.WORLD.device("host")
    raises(
        OverflowError,
        lambda: stores[(1,)](team, 1, 2**70),
        "argument 3 is 1180591620717411303424, which does not fit 64 bits",
    )
    raises(
        TypeError,
        lambda: stores[(1,)](team, atoll.zeros(1, np.complex64), 1),
        "argument 2 is of complex64, which Triton does not have",
    )


run(globals())
