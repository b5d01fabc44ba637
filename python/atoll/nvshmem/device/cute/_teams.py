"""The teams of kernels that are given none: read from the table at a constant address."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass
import cutlass.cute as cute
from cutlass import Int32, Int64
from cutlass._mlir.dialects import llvm
from cutlass.cutlass_dsl import dsl_user_op

from ....cute._primitives import apart, kernel_name
from ....cute._types import WIDE, Team
from .. import _table

FIELDS = Team._fields
NO_TEAM = (
    "nvshmem.core.device.cute: a kernel uses a team without this PE, a destroyed team, or one with PEs of other hosts. Or "
    "the job is not joined (nvshmem.core.init)."
)


@dsl_user_op
def _field(at, *, loc=None, ip=None):
    """Load a field without side effects, so that the compiler drops unused and repeated loads."""
    found = llvm.inline_asm(
        Int64.mlir_type, [at.ir_value(loc=loc, ip=ip)], "ld.global.nc.u64 $0, [$1];", "=l,l",
        has_side_effects=False, asm_dialect=0, loc=loc, ip=ip,
    )  # fmt: skip
    return Int64(found)


def team_or_empty(handle) -> Team:
    """Return the team of a handle, an integer of Python or of the kernel. A handle without a team has one of no PEs."""
    table = _table.device_address("nvshmem.core.device.cute")
    if isinstance(handle, int):
        at = Int64(table + _table.ROW_BYTES * (handle if 0 <= handle < _table.CAPACITY else _table.CAPACITY))
    else:
        at = Int64(table) + Int64(_within(Int32(handle))) * _table.ROW_BYTES
    fields = [_field(at + 8 * k) for k in range(len(FIELDS))]
    return Team(*(one if name in WIDE else Int32(one) for name, one in zip(FIELDS, fields, strict=True)))


@cute.jit
def _within(handle: Int32):
    row = Int32(_table.CAPACITY)
    if (handle >= 0) & (handle < _table.CAPACITY):
        row = handle
    return row


@cute.jit
def _require(n_pes: Int32):
    if n_pes == 0:
        cute.printf(cutlass.const_expr(NO_TEAM))
        apart(f"atoll_no_team_{kernel_name()}", "trap;", "", None, [])


def team_of(handle) -> Team:
    """Return the team of a handle. A handle that has none ends the kernel."""
    team = team_or_empty(handle)
    _require(team.n_pes)
    return team


def world() -> Team:
    """Return the team of all PEs."""
    return team_of(0)
