"""The teams of kernels that are given none: read from the table at a constant address."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import types

from ...._device import DeviceTeam
from ....numba._dsl import _registration
from ....numba._dsl._registration import HOST, TARGETS, emit, helper, implement
from ..._state import NvshmemInvalid
from .. import _table
from ._words import op_of

i64, I64 = types.int64, ir.IntType(64)
CAPACITY, ROW_BYTES = _table.CAPACITY, _table.ROW_BYTES
TEAM = types.NamedUniTuple(i64, _table.FIELDS, _registration.TEAM or DeviceTeam)
NO_TEAM = (
    "nvshmem.core.device.numba: a kernel uses a team without this PE, a destroyed team, or one with PEs of other hosts. Or "
    "the job is not joined (nvshmem.core.init)."
)


def for_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that raises an error outside kernels."""

    @functools.wraps(function)
    def outside(*arguments: Any, **keywords: Any) -> Any:
        name = f"nvshmem.core.device.numba.{function.__name__}"
        said = _registration.outside_kernels(name, "numba.cuda.jit, numba.njit")
        raise NvshmemInvalid(f"{said}; the host calls nvshmem.core's functions.")

    return outside


def for_kernels(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of this name for kernels, which is compiled as it is written.

    `of_text` replaces texts for a compiler that passes none on.
    """
    outside = for_host(function)
    outside.of_text = op_of  # type: ignore[attr-defined]
    for target in TARGETS:
        implement(target, outside)(lambda *kinds, **keywords: function)
    return outside


def load_team(row):
    """The team in a row of the table."""


def no_team(handle):
    """End the kernel: the table has no such team."""


# Compiled code has the table by name, which also works for cached code.
llvmlite.binding.add_symbol("atoll_nvshmem_teams", _table.HOST.ctypes.data)


@emit(HOST, load_team)
def _(row):
    def build(context, builder, values):
        name, module = "atoll_nvshmem_teams", builder.module
        table = module.globals.get(name) or ir.GlobalVariable(module, I64, name)
        at = builder.add(builder.ptrtoint(table, I64), builder.mul(values[0], ir.Constant(I64, ROW_BYTES)))
        addresses = [builder.add(at, ir.Constant(I64, 8 * k)) for k in range(_table.FIELDS)]
        fields = [builder.load(builder.inttoptr(address, I64.as_pointer())) for address in addresses]
        return context.make_tuple(builder, TEAM, fields)

    return TEAM(i64), build


@implement(HOST, no_team)
def _(handle):
    def no_team(handle):
        raise NvshmemInvalid(NO_TEAM)

    return no_team


class _OnGpu:
    """Refers a compiled kernel to the table of a GPU. Numba does not cache kernels that refer to such memory."""

    def __init__(self, address: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (CAPACITY + 1, _table.FIELDS), "typestr": "<i8", "data": (address, True), "version": 3,
        }  # fmt: skip


def keep_from_cache(context, address: int) -> None:
    library: Any = getattr(context, "active_code_library", None)
    if hasattr(library, "referenced_objects"):
        library.referenced_objects[address] = _OnGpu(address)


def load_on_gpu(row):
    def build(context, builder, values):
        address = _table.device_address("nvshmem.core.device.numba")
        keep_from_cache(context, address)
        at = builder.add(ir.Constant(I64, address), builder.mul(values[0], ir.Constant(I64, ROW_BYTES)))
        # Without side effects, so that a field that is not used is not loaded, and one that is used twice once.
        load = ir.InlineAsm(ir.FunctionType(I64, [I64]), "ld.global.nc.u64 $0, [$1];", "=l,l")
        addresses = [builder.add(at, ir.Constant(I64, 8 * k)) for k in range(_table.FIELDS)]
        return context.make_tuple(builder, TEAM, [builder.call(load, [address]) for address in addresses])

    return TEAM(i64), build


def end_on_gpu(handle):
    from ....numba._dsl._gpu import apart

    def build(context, builder, values):
        if isinstance(builder, ir.IRBuilder) and "atoll_no_team" not in builder.module.globals:
            _end_with_words(context, builder.module)
        if isinstance(builder, ir.IRBuilder):
            builder.call(builder.module.globals["atoll_no_team"], [])
        else:
            apart(builder, "", "trap;", "", ir.VoidType(), [])
        return ir.Constant(I64, 0)

    return i64(i64), build


def _end_with_words(context, module: ir.Module) -> None:
    """Define a function that prints NO_TEAM and ends the kernel."""
    from numba.cuda import nvvmutils

    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "atoll_no_team")
    function.linkage = "internal"
    function.attributes.add("noinline")
    inside = ir.IRBuilder(function.append_basic_block())
    words = context.insert_string_const_addrspace(inside, f"{NO_TEAM}\n")
    inside.call(nvvmutils.declare_vprint(module), [words, ir.Constant(words.type, None)])
    inside.call(ir.InlineAsm(ir.FunctionType(ir.VoidType(), []), "trap;", "~{memory}", side_effect=True), [])
    inside.ret_void()


if _registration.DEVICE is not None:
    emit(_registration.DEVICE, load_team)(load_on_gpu)
    emit(_registration.DEVICE, no_team)(end_on_gpu)


@helper
def team_or_empty(handle):
    number = i64(handle)
    return load_team(number if number >= 0 and number < CAPACITY else CAPACITY)


@helper
def team_of(handle):
    """Return the team of a handle. A handle that has none ends the kernel."""
    team = team_or_empty(handle)
    if team.n_pes == 0:
        no_team(i64(handle))
    return team


@helper
def world():
    """Return the team of all PEs."""
    return team_of(0)
