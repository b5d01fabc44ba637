"""The value that kernels take for a team."""

from __future__ import annotations

from typing import NamedTuple


class DeviceTeam(NamedTuple):
    """A team as kernels take it, made by Team.device(): the fields of atl::device::Team, in order.

    Addresses are integers. Numba, Triton, CuTe and CuPy (atoll.cupy.team) take it by value.
    """

    my_pe: int
    n_pes: int
    window: int
    """Address of slot 0."""
    stride: int
    """Bytes from slot to slot."""
    my_slot: int
    first: int
    """Team PE i has slot first + i * step, or table[i] where table is not 0."""
    step: int
    table: int
    control: int
