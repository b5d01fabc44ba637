"""MLIR instructions under the names of llvmlite, for what _gpu*.py builds."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

from llvmlite import ir
from numba.core import types
from numba_cuda_mlir._mlir import ir as mlir
from numba_cuda_mlir._mlir.dialects import arith, builtin, func, llvm, memref, nvvm, scf
from numba_cuda_mlir.lowering_utilities import (
    convert,
    get_or_insert_function,
    get_type_size_bytes,
    memref_data_pointer,
    memref_descriptor_type,
)


def i64():
    return mlir.IntegerType.get_signless(64)


def mlir_type(kind):
    if isinstance(kind, ir.VoidType):
        return None
    if isinstance(kind, ir.IntType):
        return mlir.IntegerType.get_signless(kind.width)
    if isinstance(kind, ir.LiteralStructType):
        return llvm.StructType.get_literal([mlir_type(one) for one in kind.elements])
    return mlir.F32Type.get() if isinstance(kind, ir.FloatType) else mlir.F64Type.get()


def llvm_type(kind):
    """Return llvmlite's name for the type of a value."""
    if isinstance(kind, mlir.IntegerType):
        return ir.IntType(kind.width)
    return {mlir.F32Type: ir.FloatType, mlir.F64Type: ir.DoubleType}[type(kind)]()


class Value:
    """A value of MLIR, in place of llvmlite's."""

    def __init__(self, value):
        self.value = value

    @property
    def type(self):
        return llvm_type(self.value.type)


def raw(value):
    if isinstance(value, Value):
        return value.value
    if isinstance(value, ir.Constant):
        return arith.constant(mlir_type(value.type), value.constant)
    return value


def as_i64(value):
    return convert(value, i64(), signed=True)


def as_list(results):
    return [results] if isinstance(results, mlir.Value) else list(results)


def strides(array, axis: int):
    """Return the stride in bytes."""
    array = raw(array)
    rank = mlir.MemRefType(array.type).rank
    elements = as_i64(list(memref.extract_strided_metadata(array))[2 + rank + axis])
    nbytes = get_type_size_bytes(mlir.MemRefType(array.type).element_type)
    return arith.muli(elements, arith.constant(i64(), nbytes))


class Context:
    """The part of Numba's target context that the builds use."""

    @staticmethod
    def make_array(kind):
        return lambda context, builder, value: SimpleNamespace(data=Value(memref_data_pointer(raw(value))))

    @staticmethod
    def make_tuple(builder, kind, values):
        return tuple(raw(value) for value in values)

    @staticmethod
    def get_value_type(kind):
        return ir.FloatType() if kind == types.float32 else ir.DoubleType()


def internal():
    return mlir.Attribute.parse("#llvm.linkage<internal>")


class Builder:
    """The methods of llvmlite's IRBuilder that the builds call."""

    def __init__(self, lower):
        self.lower = lower

    def call(self, function, values):
        """Call inline PTX."""
        result = mlir_type(function.type)
        operands = [raw(value) for value in values]
        effects = function.side_effect
        found = llvm.inline_asm(result, operands, function.asm, function.constraint, has_side_effects=effects)
        return None if result is None else Value(found)

    def extract_value(self, value, k: int):
        if isinstance(value, tuple):
            return Value(value[k])
        kind = llvm.StructType(raw(value).type).body[k]
        return Value(llvm.extractvalue(kind, raw(value), mlir.DenseI64ArrayAttr.get([k])))

    def _cast(self, operation, value, to):
        return Value(operation(mlir_type(to), raw(value)))

    def trunc(self, value, to):
        return self._cast(arith.trunci, value, to)

    def zext(self, value, to):
        return self._cast(arith.extui, value, to)

    def bitcast(self, value, to):
        return self._cast(arith.bitcast, value, to)

    def ptrtoint(self, value, to):
        return self._cast(llvm.ptrtoint, value, to)

    def _both(self, operation, a, b):
        return Value(operation(raw(a), raw(b)))

    def add(self, a, b):
        return self._both(arith.addi, a, b)

    def sub(self, a, b):
        return self._both(arith.subi, a, b)

    def mul(self, a, b):
        return self._both(arith.muli, a, b)

    def udiv(self, a, b):
        return self._both(arith.divui, a, b)

    def icmp_unsigned(self, how: str, a, b):
        which = {">=": arith.CmpIPredicate.uge}[how]
        return Value(arith.cmpi(which, raw(a), raw(b)))

    def select(self, condition, a, b):
        return Value(arith.select(raw(condition), raw(a), raw(b)))

    @contextlib.contextmanager
    def if_then(self, condition):
        whether = scf.IfOp(raw(condition))
        with mlir.InsertionPoint(whether.then_block):
            yield
            scf.yield_([])

    # Methods that _gpu*.py calls in place of code for llvmlite.

    def special(self, name: str):
        """Read a special register of 32 bits."""
        return Value(
            getattr(nvvm, "read_ptx_sreg_" + name.replace(".", "_"))(
                results=[mlir.IntegerType.get_signless(32)]
            )
        )

    def architecture(self):
        """Call __nvvm_reflect, since a compiled device function is used in kernels for any GPU."""
        pointer, i32 = llvm.PointerType.get(), mlir.IntegerType.get_signless(32)
        self._once("atoll_architecture", self._name_of_architecture)
        name_address = llvm.mlir_addressof(pointer, "atoll_architecture")
        kind = mlir.FunctionType.get([pointer], [i32])
        reflect = get_or_insert_function("__nvvm_reflect", kind, self.lower.mlir_gpu_module)
        return Value(as_list(func.call([i32], reflect.name.value, [name_address]))[0])

    def _name_of_architecture(self) -> None:
        text = mlir.StringAttr.get("__CUDA_ARCH\0")
        kind = llvm.ArrayType.get(mlir.IntegerType.get_signless(8), 12)
        llvm.GlobalOp(kind, "atoll_architecture", internal(), constant=True, value=text)

    def _once(self, name: str, make):
        """Add a global to the module, once."""
        module = self.lower.mlir_gpu_module.regions[0].blocks[0]
        if not any(isinstance(one, llvm.GlobalOp) and one.sym_name.value == name for one in module):
            with mlir.InsertionPoint.at_block_begin(module):
                make()

    def shared_word(self, name: str):
        self._once(name, lambda: llvm.GlobalOp(i64(), name, internal(), addr_space=3, alignment=8))
        return Value(llvm.ptrtoint(i64(), llvm.mlir_addressof(llvm.PointerType.get(3), name)))

    def slot_in(self, first, step, table, pe):
        listed = arith.cmpi(arith.CmpIPredicate.ne, raw(table), arith.constant(i64(), 0))
        either = scf.IfOp(listed, [i64()], has_else=True)
        with mlir.InsertionPoint(either.then_block):
            at = self.add(table, self.mul(pe, ir.Constant(ir.IntType(64), 4)))
            loaded = llvm.load(
                mlir.IntegerType.get_signless(32), llvm.inttoptr(llvm.PointerType.get(), raw(at))
            )
            scf.yield_([arith.extsi(i64(), loaded)])
        with mlir.InsertionPoint(either.else_block):
            scf.yield_([raw(self.add(first, self.mul(pe, step)))])
        return Value(either.results[0])

    def moved(self, array, distance):
        """Return the array at that many bytes beyond this one."""
        array = raw(array)
        rank = mlir.MemRefType(array.type).rank
        (words,) = as_list(builtin.unrealized_conversion_cast([memref_descriptor_type(rank)], [array]))
        pointer = llvm.PointerType.get()
        for k in (0, 1):
            at = mlir.DenseI64ArrayAttr.get([k])
            there = arith.addi(llvm.ptrtoint(i64(), llvm.extractvalue(pointer, words, at)), raw(distance))
            words = llvm.insertvalue(words, llvm.inttoptr(pointer, there), at)
        return as_list(builtin.unrealized_conversion_cast([array.type], [words]))[0]
