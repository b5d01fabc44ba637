"""Atomic operations: they update one element on any PE, and lose no update of another PE.

The same names are in `atoll` itself. Completion of `atoll.` leaves out the rare ones.
"""

from . import (
    atomic_add,
    atomic_and,
    atomic_compare_swap,
    atomic_compare_swap_nbi,
    atomic_fetch,
    atomic_fetch_add,
    atomic_fetch_add_nbi,
    atomic_fetch_and,
    atomic_fetch_and_nbi,
    atomic_fetch_inc,
    atomic_fetch_inc_nbi,
    atomic_fetch_nbi,
    atomic_fetch_or,
    atomic_fetch_or_nbi,
    atomic_fetch_xor,
    atomic_fetch_xor_nbi,
    atomic_inc,
    atomic_or,
    atomic_set,
    atomic_swap,
    atomic_swap_nbi,
    atomic_xor,
)

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_compare_swap",
    "atomic_compare_swap_nbi",
    "atomic_fetch",
    "atomic_fetch_add",
    "atomic_fetch_add_nbi",
    "atomic_fetch_and",
    "atomic_fetch_and_nbi",
    "atomic_fetch_inc",
    "atomic_fetch_inc_nbi",
    "atomic_fetch_nbi",
    "atomic_fetch_or",
    "atomic_fetch_or_nbi",
    "atomic_fetch_xor",
    "atomic_fetch_xor_nbi",
    "atomic_inc",
    "atomic_or",
    "atomic_set",
    "atomic_swap",
    "atomic_swap_nbi",
    "atomic_xor",
]
