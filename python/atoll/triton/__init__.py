"""Communication inside kernels written in Triton: pointer arithmetic and Triton's own atomics at system scope.

    import atoll, atoll.triton as dev, triton.language as tl

    @dev.kernel
    def exchange(team, x, flags, n: tl.constexpr):
        right = (team.my_pe + 1) % team.n_pes
        dev.put_signal(team, x + n, x, n, flags, 1, dev.SET, right)
        dev.signal_wait_until(team, flags, dev.GE, 1)

    exchange[(1,)](atoll.WORLD, x, flags, 1024)        # x and flags of PyTorch, device="cuda"

All threads of a program (Triton's block) call the functions: there is one scope. Arrays are pointers, or
blocks of pointers where a function's text allows them, and sizes count elements. Names, order of arguments
and memory order are those of atoll/device/*.hpp.

docs/kernels.md is the guide, api/kernels.toml the list of operations, from which their docstrings come.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _installed as _installed  # the first import: it raises an error if Triton is missing

# isort: split
from .. import _kernels
from .._kernels.arguments import mailbox_bytes
from ._addresses import team_at
from ._checks import checked
from ._host import kernel, most_resident_blocks, most_resident_programs
from ._tracing import traced

_ABSENT = {
    **dict.fromkeys(_kernels.SCOPE, "Triton has no scopes: a program calls as one; leave scope out"),
    **_kernels.absent("triton"),
}

if not TYPE_CHECKING:  # with __getattr__, a type checker would accept any name

    def __getattr__(name):
        why = _ABSENT.get(name)
        message = f"atoll.triton.{name}: {why}" if why else f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name)


__all__ = ["kernel", "mailbox_bytes", "most_resident_blocks", "most_resident_programs", "team_at"]
__all__ += _kernels.publish("triton", globals(), lambda name, function: checked(name, traced(name, function)))
