"""Comparisons of waits, operators of reductions and operations of signals. Texts such as ">=" and "sum" work too.

The same names are in `atoll` itself. Completion of `atoll.` leaves out the rare ones.
"""

from . import (
    AND,
    AVG,
    EQ,
    GE,
    GT,
    LE,
    LT,
    MAX,
    MIN,
    NE,
    OR,
    PROD,
    SIGNAL_ADD,
    SIGNAL_SET,
    SUM,
    XOR,
    Compare,
    ReduceOp,
    SignalOp,
)

__all__ = [
    "AND",
    "AVG",
    "EQ",
    "GE",
    "GT",
    "LE",
    "LT",
    "MAX",
    "MIN",
    "NE",
    "OR",
    "PROD",
    "SIGNAL_ADD",
    "SIGNAL_SET",
    "SUM",
    "XOR",
    "Compare",
    "ReduceOp",
    "SignalOp",
]
