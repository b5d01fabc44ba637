"""Teams of nccl.core: ranks of a communicator at equal distances."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NCCLTeam"]


@dataclass(frozen=True)
class NCCLTeam:
    """Ranks of a communicator at equal distances, of which this rank is one."""

    n_ranks: int
    rank: int
    """This rank's number in the team."""
    stride: int
    """The distance of its members' ranks in the communicator."""
