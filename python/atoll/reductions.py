"""Reductions and scans over the PEs of a team. All members call them together.

The same names are in `atoll` itself. Completion of `atoll.` leaves out the rare ones.
"""

from . import (
    and_reduce,
    avg_reduce,
    max_reduce,
    min_reduce,
    or_reduce,
    premul_sum_reduce,
    premul_sum_reduce_scatter,
    prod_reduce,
    reduce,
    reduce_object,
    reduce_scatter,
    sum_exscan,
    sum_inscan,
    sum_reduce,
    xor_reduce,
)

__all__ = [
    "and_reduce",
    "avg_reduce",
    "max_reduce",
    "min_reduce",
    "or_reduce",
    "premul_sum_reduce",
    "premul_sum_reduce_scatter",
    "prod_reduce",
    "reduce",
    "reduce_object",
    "reduce_scatter",
    "sum_exscan",
    "sum_inscan",
    "sum_reduce",
    "xor_reduce",
]
