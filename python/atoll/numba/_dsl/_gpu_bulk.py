"""Bulk copies by a multiprocessor's copy engine (atoll/device/bulk.hpp), on GPUs of sm_90 and later.

libNVVM knows the GPU that it compiles for, and drops the branch of the others. So a kernel, also one in the
disk cache, has the code of its own GPU.
"""

from __future__ import annotations

from llvmlite import ir

from ..._kernels import ptx
from .. import _primitives as p
from ._cpu import I64, nothing
from ._gpu import I32, asm, builds, compiles, i64

BULK_UNIT, BULK_LEAST = 16, 1024  # same values in atoll/device/bulk.hpp


def architecture(builder):
    """The value of __CUDA_ARCH__: 900 for sm_90. libNVVM treats it as a constant."""
    if not isinstance(builder, ir.IRBuilder):
        return builder.architecture()
    module, name = builder.module, "atoll_architecture"
    text = ir.Constant(ir.ArrayType(ir.IntType(8), 12), bytearray(b"__CUDA_ARCH\0"))
    variable = module.globals.get(name)
    if variable is None:
        variable = ir.GlobalVariable(module, text.type, name)
        variable.initializer, variable.global_constant, variable.linkage = text, True, "internal"
    pointer = ir.IntType(8).as_pointer()
    reflect = module.globals.get("__nvvm_reflect")
    if reflect is None:
        reflect = ir.Function(module, ir.FunctionType(I32, [pointer]), "__nvvm_reflect")
    return builder.call(reflect, [builder.bitcast(variable, pointer)])


def has_bulk(builder):
    return builder.icmp_unsigned(">=", architecture(builder), ir.Constant(I32, 900))


def with_bulk(stub, text: str, constraints: str, *kinds):
    """Implement `stub` by PTX without a result, on GPUs that have bulk copies."""

    @builds(stub, i64(*kinds))
    def _(context, builder, values):
        with builder.if_then(has_bulk(builder)):
            asm(builder, text, constraints, ir.VoidType(), list(values))
        return nothing(context)


with_bulk(p.see_shared, "fence.proxy.async.shared::cta;", "")
with_bulk(p.start_bulk, ptx.start_bulk(), "l,l,l", i64, i64, i64)
with_bulk(p.complete_bulk, "cp.async.bulk.wait_group 0;", "")
with_bulk(p.read_bulk, "cp.async.bulk.wait_group.read 0;", "")


def in_shared(address):
    """1 if the address is in the block's shared memory and the GPU has bulk copies."""


@builds(in_shared, i64(i64))
def _(context, builder, values):
    text = "{ .reg .pred p; isspacep.shared p, $1; selp.u64 $0, 1, 0, p; }"
    return builder.select(
        has_bulk(builder), asm(builder, text, "=l,l", I64, list(values)), ir.Constant(I64, 0)
    )


@compiles(p.can_bulk)
def can_bulk(to, source, nbytes):
    whole = (to | source | nbytes) % BULK_UNIT == 0
    return nbytes >= BULK_LEAST and whole and in_shared(source) != 0
