"""Kernels that get an ordinary NumPy array in place of a symmetric one: each operation is named, and nothing
is moved.
"""

from __future__ import annotations

from typing import Any

import atoll
import atoll.numba as dev
import numpy as np

atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
x, ordinary = (
    atoll.zeros((4, 2048), "i8"),
    np.zeros((4, 2048), "i8"),
)  # rows that are too long for the slots of collectives
box = dev.mailbox(8)
no_box = dev.Mailbox(np.zeros_like(box.block), 8)
# The arguments of each: team, symmetric, ordinary, the next PE, a mailbox that is an ordinary array.
CALLS: dict[str, tuple[str, Any]] = {
    "p": ("p", lambda team, x, y, pe, box: dev.p(team, y[0], 1, pe)),
    "g": ("g", lambda team, x, y, pe, box: dev.g(team, y[0], pe)),
    "put": ("put", lambda team, x, y, pe, box: dev.put(team, y[0], x[0], pe)),
    "get": ("get", lambda team, x, y, pe, box: dev.get(team, x[0], y[0], pe)),
    "put_nbi": ("put_nbi", lambda team, x, y, pe, box: dev.put_nbi(team, y[0], x[0], pe)),
    "get_nbi": ("get_nbi", lambda team, x, y, pe, box: dev.get_nbi(team, x[0], y[0], pe)),
    "async_put": ("async_put", lambda team, x, y, pe, box: dev.async_put(team, y[0], x[0], pe)),
    "iput": ("iput", lambda team, x, y, pe, box: dev.iput(team, y[0], x[0], 1, 1, 2, pe)),
    "iget": ("iget", lambda team, x, y, pe, box: dev.iget(team, x[0], y[0], 1, 1, 2, pe)),
    "signal_set": ("signal_set", lambda team, x, y, pe, box: dev.signal_set(team, y[0], 1, pe)),
    "signal_add": ("signal_add", lambda team, x, y, pe, box: dev.signal_add(team, y[0], 1, pe)),
    "put_signal, its dst": (
        "put_signal", lambda team, x, y, pe, box: dev.put_signal(team, y[0], x[0], x[1], 1, dev.SET, pe),
    ),
    "put_signal_nbi": (
        "put_signal_nbi", lambda team, x, y, pe, box: dev.put_signal_nbi(team, y[0], x[0], x[1], 1, dev.SET, pe),
    ),
    "put_signal, its signal": (
        "put_signal", lambda team, x, y, pe, box: dev.put_signal(team, x[0], x[2], y[1], 1, dev.ADD, pe),
    ),
    "atomic_add": ("an atomic", lambda team, x, y, pe, box: dev.atomic_add(team, y[0], 1, pe)),
    "atomic_fetch": ("an atomic", lambda team, x, y, pe, box: dev.atomic_fetch(team, y[0], pe)),
    "atomic_compare_swap": ("an atomic", lambda team, x, y, pe, box: dev.atomic_compare_swap(team, y[0], 0, 1, pe)),
    "tile_put": ("tile_put", lambda team, x, y, pe, box: dev.tile_put(team, y, x, pe)),
    "tile_get": ("tile_get", lambda team, x, y, pe, box: dev.tile_get(team, x, y, pe)),
    "peer": ("peer", lambda team, x, y, pe, box: dev.peer(team, y, pe)[0, 0]),
    "broadcast": ("broadcast", lambda team, x, y, pe, box: dev.broadcast(team, y[0], x[0], 0)),
    "fcollect": ("fcollect", lambda team, x, y, pe, box: dev.fcollect(team, y[0], x[0])),
    "collect": ("collect", lambda team, x, y, pe, box: dev.collect(team, y[0], x[0])),
    "alltoall": ("alltoall", lambda team, x, y, pe, box: dev.alltoall(team, y[0], x[0])),
    "reduce, its dst": ("reduce", lambda team, x, y, pe, box: dev.reduce(team, y[0], x[0], dev.SUM)),
    "reduce, its src": ("reduce", lambda team, x, y, pe, box: dev.reduce(team, x[0], y[0], dev.SUM)),
    "reduce_scatter": ("reduce_scatter", lambda team, x, y, pe, box: dev.reduce_scatter(team, x[0], y[0], dev.SUM)),
    "tile_reduce, its dst": ("tile_reduce", lambda team, x, y, pe, box: dev.tile_reduce(team, y, x, dev.SUM)),
    "tile_reduce, its src": ("tile_reduce", lambda team, x, y, pe, box: dev.tile_reduce(team, x, y, dev.SUM)),
    "tile_allgather": ("tile_allgather", lambda team, x, y, pe, box: dev.tile_allgather(team, y, x)),
    "ptr": ("peer", lambda team, x, y, pe, box: dev.ptr(team, y, pe)),
    "post": ("post", lambda team, x, y, pe, box: dev.post(team, box, y[0, :1], pe)),
    "receive": ("receive", lambda team, x, y, pe, box: dev.receive(team, box, y[0, :1], pe)),
    "outbox": ("post", lambda team, x, y, pe, box: dev.close(dev.outbox(team, box, pe))),
    "inbox": ("receive", lambda team, x, y, pe, box: dev.close(dev.inbox(team, box, pe))),
}  # fmt: skip


def refused(function: Any, *arguments: Any) -> str:
    try:
        dev.launch(dev.kernel(function, cache=True), 1, 1)(atoll.WORLD, *arguments)
    except atoll.NotSymmetric as error:
        return str(error)
    raise AssertionError("a kernel took an array that is not symmetric")


def one_is_named() -> None:
    """Only the argument at fault is named, even if others are ordinary, and a peer's memory is not called
    ordinary.
    """

    def fetch(team, result, words, pe):
        result[0] = dev.g(team, words, pe)

    def own(team, pe):
        words = np.zeros(1, np.int64)
        dev.p(team, words, 1, pe)

    there, result = (me + 1) % n, np.zeros(1, "i8")
    for words in (ordinary[0], ordinary[0, ::-1], ordinary.T[0]):
        said = refused(fetch, result, words, there)
        assert said.startswith("fetch: argument 3 is ordinary memory: "), said
        assert "argument 2" not in said, said
    for view in (atoll.peer(x, there)[0], atoll.global_view(x)[there, 1]):
        said = refused(fetch, result, view, there)
        wanted = "fetch: argument 3 is a view of another PE's memory (atoll.peer, atoll.global_view); pass this PE's own array: "
        assert said.startswith(wanted), said
    said = refused(own, there)
    assert said.startswith("own: an array of the kernel's own is ordinary memory: "), said


def main() -> None:
    for name, (operation, function) in CALLS.items():
        function.__name__ = name.split(",")[0]
        argument = 5 if operation in ("post", "receive") else 3
        try:
            dev.launch(dev.kernel(function, cache=True), 1, 1)(atoll.WORLD, x, ordinary, (me + 1) % n, no_box)
        except atoll.NotSymmetric as error:
            wanted = (
                f"{function.__name__}: argument {argument} is ordinary memory: ",
                f"in {operation} at 0x",
                "this PE's symmetric memory is 0x",
            )
            assert all(words in str(error) for words in wanted), f"{name}: {error}; wanted {wanted}"
        else:
            raise AssertionError(f"{name} took an ordinary array")
    one_is_named()
    atoll.barrier_all()
    assert not x.any()
    assert not ordinary.any()
    print("all places are looked at")


if __name__ == "__main__":
    main()
