"""Programs under torch.compile that change symmetric tensors in place, compared with the same without it.

Argument: `cuda` or `cpu`.
"""

import sys
from collections.abc import Callable
from typing import Any

import atoll
import atoll.torch as at
import numpy as np
import torch

where = sys.argv[1] if len(sys.argv) > 1 else "cpu"
atoll.init()
me, n = atoll.my_pe(), atoll.n_pes()
right = (me + 1) % n


def symmetric(make: Callable[..., Any], *arguments: Any) -> Any:
    if where == "cuda":
        return make(*arguments, device="cuda", xp=torch)
    return torch.from_numpy(make(*arguments))


x, y, total = (symmetric(atoll.zeros, 8, np.float64) for _ in range(3))
every = symmetric(atoll.zeros, (n, 8), np.float64)
words = symmetric(atoll.signal, 1)
if where == "cuda":
    torch.cuda.set_device(x.device)


def settle() -> None:
    if where == "cuda":
        torch.cuda.synchronize()
    atoll.barrier_all()


def natural(x: Any, y: Any, total: Any, every: Any, words: Any) -> Any:
    """Changes in place before, between and after; views made inside; a value that was read before a change is
    used after it.
    """
    x.mul_(2)
    at.put_signal(y, x, words, 1, "add", right)
    at.signal_consume(words, 1)
    before = y + 0
    y.add_(1)
    half = x[4:]
    half.mul_(3)
    at.sum_reduce(total, y)
    total.add_(1)
    at.fcollect(every, x)
    at.barrier(y)
    old = total * 1
    at.barrier(total)
    at.put(total[2:4], old[0:2], right)
    at.barrier(total)
    at.reduce(total, total, "max")
    return total * 2 + every.sum() - before, half


def sums_what_it_changes(x: Any, y: Any, total: Any, every: Any, words: Any) -> Any:
    x.mul_(2)
    at.sum_reduce(total, x)
    return (total + 1,)


def puts(x: Any, y: Any, total: Any, every: Any, words: Any) -> Any:
    """Programs for any backend that writes changes to the argument's own memory."""
    x.mul_(2)
    at.put(y, x, right)
    at.barrier(y)
    at.sum_reduce(total, y)
    total.add_(1)
    return (total * 2,)


def does_nothing_elsewhere(x: Any, y: Any, total: Any, every: Any, words: Any) -> Any:
    x.mul_(2)
    return (x + y,)


@torch.library.custom_op("atoll_test::twice_right", mutates_args=("dst",))
def twice_right(dst: torch.Tensor) -> None:
    """A user's operator, which needs the memory itself."""
    twice = dst * 2
    at.barrier(dst)
    at.put(dst, twice, right)
    at.barrier(dst)


@twice_right.register_fake
def _(dst: torch.Tensor) -> None: ...


def with_an_operator_of_ones_own(x: Any, y: Any, total: Any, every: Any, words: Any) -> Any:
    y.add_(x)
    twice_right(y)
    return (y - 1,)


def results(function: Callable[..., Any]) -> list[Any]:
    """Return the effects and results of three calls."""
    settle()
    for number, tensor in enumerate((x, y, total)):
        tensor.copy_(torch.arange(8.0) + 10 * number + 100 * me)
    every.zero_()
    settle()
    for _ in range(3):
        returned = function(x, y, total, every, words)
        settle()
    return [each.clone() for each in (x, y, total, every, *returned)]


def compiled(function: Callable[..., Any], **how: Any) -> Callable[..., Any]:
    torch._dynamo.reset()
    made: Callable[..., Any] = torch.compile(function, fullgraph=True, **how)
    return made


def compare(function: Callable[..., Any], **how: Any) -> None:
    expected, found = results(function), results(compiled(function, **how))
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        assert torch.equal(one, other), (me, function.__name__, how, number, one, other)


inners = ["eager", "aot_eager", "inductor"] if "quick" not in sys.argv else ["eager", "aot_eager"]
for inner in inners:
    options = {"inner": inner}
    for function in (
        natural,
        sums_what_it_changes,
        puts,
        does_nothing_elsewhere,
        with_an_operator_of_ones_own,
    ):
        compare(function, backend=at.backend, options=options)
    compare(natural, backend=at.backend, options=options, dynamic=True)
if where == "cpu":  # by its name, which an installed Atoll has registered with PyTorch
    compare(puts, backend="atoll", options={"inner": "eager"})
if "inductor" in inners:
    compare(puts, backend="inductor")
    compare(natural, backend=at.backend, mode="max-autotune-no-cudagraphs")

# A compiler that passes a copy gets an error, before anything goes to another PE.
refused = [("aot_eager", natural), ("aot_eager", puts)]
if "inductor" in inners:
    refused += [("inductor", natural)]
for other, function in refused:
    settle()
    try:
        compiled(function, backend=other)(x, y, total, every, words)
    except atoll.NotSymmetric as error:
        assert "backend=atoll.torch.backend" in str(error), error
    else:
        raise AssertionError(f"{other} gave the memory itself; document it in docs/python.md")
    settle()


# Calls of atoll end Dynamo's graph, so every change is made before the next call reads it.
def with_breaks(x: Any, y: Any, total: Any, every: Any, words: Any) -> Any:
    x.mul_(2)
    if where == "cuda":
        atoll.put(y, x, right, stream="current")
        atoll.barrier_all(stream=torch.cuda.current_stream())
        atoll.sum_reduce(total, x, stream="current")
    else:
        atoll.put(y.numpy(), x.numpy(), right)
        atoll.barrier_all()
        atoll.sum_reduce(total.numpy(), x.numpy())
    total.add_(y)
    return (total * 2,)


torch._dynamo.reset()
expected = results(with_breaks)
for backend in inners:
    found = results(torch.compile(with_breaks, backend=backend))
    assert all(torch.equal(one, other) for one, other in zip(expected, found, strict=True)), backend
print("PE", me, "done")
atoll.finalize()
