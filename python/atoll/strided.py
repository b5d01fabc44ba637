"""Moves of strided elements, between this PE and another one, or between all PEs.

The same names are in `atoll` itself. Completion of `atoll.` leaves out the rare ones.
"""

from . import alltoalls, ibget, ibput, iget, iput

__all__ = ["alltoalls", "ibget", "ibput", "iget", "iput"]
