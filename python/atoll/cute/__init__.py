"""Communication inside kernels written in NVIDIA's CuTe DSL (nvidia-cutlass-dsl 4.8).

    import atoll, atoll.cute as dev, cutlass.cute as cute

    @cute.kernel
    def exchange(team: dev.Team, x: cute.Tensor, flags: cute.Tensor, step: cutlass.Int32):
        right = (team.my_pe + 1) % team.n_pes
        dev.put_signal(team, x[1, None], x[0, None], flags, step, dev.SET, right, scope=dev.BLOCK)
        dev.signal_wait_until(team, flags, dev.GE, step, scope=dev.BLOCK)
        dev.sync(team, scope=dev.BLOCK)

    @cute.jit
    def run(team: dev.Team, x: cute.Tensor, flags: cute.Tensor, step: cutlass.Int32, stream: cuda.CUstream):
        exchange(team, x, flags, step).launch(grid=[1, 1, 1], block=[256, 1, 1], stream=stream)

    run(dev.team(atoll.WORLD), dev.tensor(x), dev.tensor(flags), 1, stream)

Arrays are cute.Tensor; sizes and types come from them. A one-word argument (a signal, a counter) is a tensor,
whose first element is used, or a cute.Pointer: `flags.iterator + 3`. Names, order of arguments and memory
order are those of atoll/device/*.hpp. All is inline PTX, so nothing is linked.

docs/kernels.md is the guide, api/kernels.toml the list of operations, from which their docstrings come.
"""

# mypy: ignore-errors
from __future__ import annotations

from . import _installed as _installed  # the first import: it raises an error if CuTe DSL is missing

# isort: split
from .. import _kernels
from .._kernels.arguments import mailbox_bytes
from ._checks import checked
from ._collectives import Meeting
from ._host import mailbox, most_resident_blocks, tensor
from ._mailboxes import Inbox, Mailbox, Outbox
from ._tracing import traced
from ._types import Team, team

__all__ = [
    "Inbox",
    "Mailbox",
    "Meeting",
    "Outbox",
    "Team",
    "mailbox",
    "mailbox_bytes",
    "most_resident_blocks",
    "team",
]
__all__ += [
    "tensor",
    *_kernels.publish("cute", globals(), lambda name, function: checked(name, traced(name, function))),
]
