"""The names of atoll.triton for kernels whose source PyTorch's Inductor copies: torch.library.triton_op in
torch.compile.

    from atoll.triton.inductor import GE, SET, put_signal, signal_wait_until, team_at, team_tensor

    @triton.jit def exchange(state, x, flags, n: tl.constexpr):
        team = team_at(state)                   # state = team_tensor(atoll.WORLD), an argument of the
        operation right = (team.my_pe + 1) % team.n_pes put_signal(team, x + n, x, n, flags, 1, SET, right)
        signal_wait_until(team, flags, GE, 1)

Inductor copies the source of a kernel and of its functions into one file, without imports and modules. Its
arguments are tensors and numbers. So names are imported one by one. Each represents its function by an
expression that Inductor copies, and the team is passed as a tensor. Constants are copied as numbers: there a
wrong kind (SUM for EQ) goes undetected.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import Any

import triton.language as tl

from .. import triton as _all
from .._kernels.fingerprints import fingerprint
from ._types import INTERPRETED

_FINGERPRINT = fingerprint("triton")[:16]


class _Named:
    """A function of atoll.triton whose repr() is an expression that evaluates to it."""

    __triton_builtin__ = True  # so Triton passes the code generator to __call__

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        # The name contains a fingerprint of the sources, because Triton's cache of kernels sees only the name.
        return f"__import__({__name__!r}, fromlist=['_'])._named({self.name!r}, {_FINGERPRINT!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Named) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __deepcopy__(self, memo: object) -> _Named:
        return self

    def __call__(self, *args: Any, _generator: Any, **kwargs: Any) -> Any:
        return _generator.call_JitFunction(getattr(_all, self.name), list(args), kwargs)


def _named(name: str, fingerprint: str) -> _Named:
    """Evaluated by source that Inductor has written."""
    return _Named(name)


def __getattr__(name: str) -> Any:
    if name not in _all.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_all, name)
    if isinstance(found, tl.constexpr):
        return tl.constexpr(int(found.value))  # Inductor copies the value's repr()
    if not hasattr(found, "fn") or INTERPRETED:
        return found
    return tl.constexpr(_Named(name))


def team_tensor(team: Any) -> Any:
    """Return ten int64 in PyTorch's memory on the current GPU, for team_at() in kernels. Local; make it
    once, and keep it.
    """
    import torch

    return torch.tensor([int(field) for field in team.device("device")], dtype=torch.int64, device="cuda")
