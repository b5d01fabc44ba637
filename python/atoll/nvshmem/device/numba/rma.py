"""Put, get, and put with a signal. PEs are numbers of the world team."""

from __future__ import annotations

from numba.core import types

from .... import numba as dev
from ...._kernels.bodies._signals import PUT_SIGNAL, PUT_SIGNAL_NBI
from ....numba import _primitives as prim
from ....numba._dsl._registration import vocabulary
from ....numba._moves import unit_of
from ....numba._signals import put_and_signal
from ._teams import for_kernels, world
from ._words import is_setting

__all__ = [
    "g",
    "get",
    "get_block",
    "get_nbi",
    "get_nbi_block",
    "get_nbi_warp",
    "get_warp",
    "p",
    "put",
    "put_block",
    "put_nbi",
    "put_nbi_block",
    "put_nbi_warp",
    "put_signal",
    "put_signal_block",
    "put_signal_nbi",
    "put_signal_nbi_block",
    "put_signal_nbi_warp",
    "put_signal_warp",
    "put_warp",
]
THREAD, WARP, BLOCK = dev.THREAD, dev.WARP, dev.BLOCK


@for_kernels
def put(dst, src, pe):
    """Copy src to dst of PE pe, as much as the smaller holds, by one thread."""
    dev.put(world(), dst, src, pe, THREAD)


@for_kernels
def put_warp(dst, src, pe):
    """Copy src to dst of PE pe, as much as the smaller holds, by all threads of a warp."""
    dev.put(world(), dst, src, pe, WARP)


@for_kernels
def put_block(dst, src, pe):
    """Copy src to dst of PE pe, as much as the smaller holds, by all threads of a block."""
    dev.put(world(), dst, src, pe, BLOCK)


@for_kernels
def get(dst, src, pe):
    """Copy src of PE pe to dst, as much as the smaller holds, by one thread."""
    dev.get(world(), dst, src, pe, THREAD)


@for_kernels
def get_warp(dst, src, pe):
    """Copy src of PE pe to dst, as much as the smaller holds, by all threads of a warp."""
    dev.get(world(), dst, src, pe, WARP)


@for_kernels
def get_block(dst, src, pe):
    """Copy src of PE pe to dst, as much as the smaller holds, by all threads of a block."""
    dev.get(world(), dst, src, pe, BLOCK)


@for_kernels
def put_nbi(dst, src, pe):
    """put without waiting, by one thread."""
    dev.put_nbi(world(), dst, src, pe, THREAD)


@for_kernels
def put_nbi_warp(dst, src, pe):
    """put without waiting, by all threads of a warp."""
    dev.put_nbi(world(), dst, src, pe, WARP)


@for_kernels
def put_nbi_block(dst, src, pe):
    """put without waiting, by all threads of a block."""
    dev.put_nbi(world(), dst, src, pe, BLOCK)


@for_kernels
def get_nbi(dst, src, pe):
    """get without waiting, by one thread."""
    dev.get_nbi(world(), dst, src, pe, THREAD)


@for_kernels
def get_nbi_warp(dst, src, pe):
    """get without waiting, by all threads of a warp."""
    dev.get_nbi(world(), dst, src, pe, WARP)


@for_kernels
def get_nbi_block(dst, src, pe):
    """get without waiting, by all threads of a block."""
    dev.get_nbi(world(), dst, src, pe, BLOCK)


@for_kernels
def put_signal(dst, src, signal_var, signal_val, signal_op, pe):
    """put, then set or add to the signal there, by one thread."""
    put_and_signal(world(), PUT_SIGNAL, dst, src, signal_var, signal_val, is_setting(signal_op), pe, THREAD)


@for_kernels
def put_signal_warp(dst, src, signal_var, signal_val, signal_op, pe):
    """put, then set or add to the signal there, by all threads of a warp."""
    put_and_signal(world(), PUT_SIGNAL, dst, src, signal_var, signal_val, is_setting(signal_op), pe, WARP)


@for_kernels
def put_signal_block(dst, src, signal_var, signal_val, signal_op, pe):
    """put, then set or add to the signal there, by all threads of a block."""
    put_and_signal(world(), PUT_SIGNAL, dst, src, signal_var, signal_val, is_setting(signal_op), pe, BLOCK)


@for_kernels
def put_signal_nbi(dst, src, signal_var, signal_val, signal_op, pe):
    """put_nbi, then set or add to the signal there, by one thread."""
    put_and_signal(
        world(), PUT_SIGNAL_NBI, dst, src, signal_var, signal_val, is_setting(signal_op), pe, THREAD
    )


@for_kernels
def put_signal_nbi_warp(dst, src, signal_var, signal_val, signal_op, pe):
    """put_nbi, then set or add to the signal there, by all threads of a warp."""
    put_and_signal(world(), PUT_SIGNAL_NBI, dst, src, signal_var, signal_val, is_setting(signal_op), pe, WARP)


@for_kernels
def put_signal_nbi_block(dst, src, signal_var, signal_val, signal_op, pe):
    """put_nbi, then set or add to the signal there, by all threads of a block."""
    put_and_signal(
        world(), PUT_SIGNAL_NBI, dst, src, signal_var, signal_val, is_setting(signal_op), pe, BLOCK
    )


@vocabulary
def value_of(dst, src):
    """The value that p stores: a number, or an array's first element."""
    if isinstance(src, types.Array):
        return lambda dst, src: prim.load(unit_of(src), prim.address(src))
    return lambda dst, src: src


@for_kernels
def p(dst, src, pe):
    """Store a number, or the first element of an array, in the first element of dst on PE pe."""
    dev.p(world(), dst, value_of(dst, src), pe)


@for_kernels
def g(src, pe):
    """Return the first element of src on PE pe."""
    return dev.g(world(), src, pe)
