"""Put, get, and put with a signal. PEs are numbers of the world team."""

# mypy: ignore-errors
from __future__ import annotations

import cutlass.cute as cute

from .... import cute as dev
from ._signals import put_and_signal
from ._teams import world

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


def put(dst, src, pe):
    """Copy src to dst of PE pe, by one thread."""
    dev.put(world(), dst, src, pe, THREAD)


def put_warp(dst, src, pe):
    """Copy src to dst of PE pe, by all threads of a warp."""
    dev.put(world(), dst, src, pe, WARP)


def put_block(dst, src, pe):
    """Copy src to dst of PE pe, by all threads of a block."""
    dev.put(world(), dst, src, pe, BLOCK)


def get(dst, src, pe):
    """Copy src of PE pe to dst, by one thread."""
    dev.get(world(), dst, src, pe, THREAD)


def get_warp(dst, src, pe):
    """Copy src of PE pe to dst, by all threads of a warp."""
    dev.get(world(), dst, src, pe, WARP)


def get_block(dst, src, pe):
    """Copy src of PE pe to dst, by all threads of a block."""
    dev.get(world(), dst, src, pe, BLOCK)


def put_nbi(dst, src, pe):
    """put without waiting, by one thread."""
    dev.put_nbi(world(), dst, src, pe, THREAD)


def put_nbi_warp(dst, src, pe):
    """put without waiting, by all threads of a warp."""
    dev.put_nbi(world(), dst, src, pe, WARP)


def put_nbi_block(dst, src, pe):
    """put without waiting, by all threads of a block."""
    dev.put_nbi(world(), dst, src, pe, BLOCK)


def get_nbi(dst, src, pe):
    """get without waiting, by one thread."""
    dev.get_nbi(world(), dst, src, pe, THREAD)


def get_nbi_warp(dst, src, pe):
    """get without waiting, by all threads of a warp."""
    dev.get_nbi(world(), dst, src, pe, WARP)


def get_nbi_block(dst, src, pe):
    """get without waiting, by all threads of a block."""
    dev.get_nbi(world(), dst, src, pe, BLOCK)


def put_signal(dst, src, signal_var, signal_val, signal_op, pe):
    """put, then set or add to the signal there, by one thread."""
    put_and_signal(dev.put_signal, dst, src, signal_var, signal_val, signal_op, pe, THREAD)


def put_signal_warp(dst, src, signal_var, signal_val, signal_op, pe):
    """put, then set or add to the signal there, by all threads of a warp."""
    put_and_signal(dev.put_signal, dst, src, signal_var, signal_val, signal_op, pe, WARP)


def put_signal_block(dst, src, signal_var, signal_val, signal_op, pe):
    """put, then set or add to the signal there, by all threads of a block."""
    put_and_signal(dev.put_signal, dst, src, signal_var, signal_val, signal_op, pe, BLOCK)


def put_signal_nbi(dst, src, signal_var, signal_val, signal_op, pe):
    """put_nbi, then set or add to the signal there, by one thread."""
    put_and_signal(dev.put_signal_nbi, dst, src, signal_var, signal_val, signal_op, pe, THREAD)


def put_signal_nbi_warp(dst, src, signal_var, signal_val, signal_op, pe):
    """put_nbi, then set or add to the signal there, by all threads of a warp."""
    put_and_signal(dev.put_signal_nbi, dst, src, signal_var, signal_val, signal_op, pe, WARP)


def put_signal_nbi_block(dst, src, signal_var, signal_val, signal_op, pe):
    """put_nbi, then set or add to the signal there, by all threads of a block."""
    put_and_signal(dev.put_signal_nbi, dst, src, signal_var, signal_val, signal_op, pe, BLOCK)


def p(dst, src, pe):
    """Store a number, or the first element of a tensor, in the first element of dst on PE pe."""
    dev.p(world(), dst, src.iterator.load() if isinstance(src, cute.Tensor) else src, pe)


def g(src, pe):
    """Return the first element of src on PE pe."""
    return dev.g(world(), src, pe)
