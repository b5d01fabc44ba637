"""Properties of a communicator."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

from ._base import Base
from ._configuration import NCCLCommProperties
from ._errors import NcclInvalid
from ._world import world
from .resources import no_fabric
from .team import NCCLTeam
from .typing import NcclCftTeamMode, NcclGinType


class Queries(Base):
    """Ranks, devices and teams of a communicator. All are local, and raise NcclInvalid for a communicator that is not initialized."""

    @property
    def ptr(self) -> int:
        """A number of the communicator in this process; 0: it is not initialized, or was destroyed."""
        return 0 if self._state is None else self._state.pointer

    @property
    def is_valid(self) -> bool:
        """True if the communicator is initialized and was not destroyed."""
        return self._state is not None

    @property
    def nranks(self) -> int:
        """The number of ranks."""
        return self._of("nranks").engine.size

    @property
    def rank(self) -> int:
        """This rank."""
        return self._of("rank").engine.rank

    @property
    def device(self) -> Any:
        """The cuda.core.Device of this PE's GPU. Without a GPU a substitute."""
        self._of("device")
        from .communicator import device_class

        return device_class()(world().device)

    @property
    def properties(self) -> NCCLCommProperties:
        """All properties at once."""
        state = self._of("properties")
        return NCCLCommProperties(
            rank=self.rank,
            n_ranks=self.nranks,
            cuda_dev=self.cuda_dev,
            nvml_dev=self.nvml_dev,
            device_api_support=self.device_api_support,
            multimem_support=self.multimem_support,
            gin_type=self.gin_type,
            n_lsa_teams=self.n_lsa_teams,
            host_rma_support=self.host_rma_support,
            railed_gin_type=self.railed_gin_type,
            comm_hash=zlib.crc32(state.order),
            available_gin_types=frozenset(),
            cft_support=False,
            cft_multicast_support=False,
            cft_counted_support=False,
        )

    @property
    def cuda_dev(self) -> int:
        """The number of this PE's GPU; 0 without one."""
        self._of("cuda_dev")
        return world().device

    @property
    def nvml_dev(self) -> int:
        """The same as cuda_dev."""
        return self.cuda_dev

    @property
    def device_api_support(self) -> bool:
        """False: kernels have these operations by Atoll's names."""
        self._of("device_api_support")
        return False

    @property
    def multimem_support(self) -> bool:
        """False."""
        self._of("multimem_support")
        return False

    @property
    def gin_type(self) -> NcclGinType:
        """NONE."""
        self._of("gin_type")
        return NcclGinType.NONE

    @property
    def railed_gin_type(self) -> NcclGinType:
        """NONE."""
        return self.gin_type

    @property
    def host_rma_support(self) -> bool:
        """True."""
        self._of("host_rma_support")
        return True

    @property
    def n_lsa_teams(self) -> int:
        """The number of groups of ranks that load and store each other's memory, taken as of equal size."""
        return -(-self.nranks // self.team_lsa.n_ranks)

    @property
    def team_world(self) -> NCCLTeam:
        """All ranks."""
        return NCCLTeam(self.nranks, self.rank, 1)

    @property
    def team_lsa(self) -> NCCLTeam:
        """The ranks that load and store each other's memory; this rank alone if they are not at equal distances."""
        engine = self._of("team_lsa").engine
        ranks = [rank for rank, pe in enumerate(engine.pes) if pe in world().here]
        steps = {later - earlier for earlier, later in itertools.pairwise(ranks)} or {1}
        if len(steps) > 1:
            return NCCLTeam(1, 0, 1)
        return NCCLTeam(len(ranks), ranks.index(engine.rank), steps.pop())

    @property
    def team_rail(self) -> NCCLTeam:
        """The ranks with this rank's number in their team_lsa."""
        here = self.team_lsa
        if here.stride != 1 or self.nranks % here.n_ranks:
            return NCCLTeam(1, 0, 1)
        return NCCLTeam(self.nranks // here.n_ranks, self.rank // here.n_ranks, here.n_ranks)

    def team_cft(self, mode: NcclCftTeamMode = NcclCftTeamMode.FLAT) -> NCCLTeam:
        """Raise NcclInvalid: Atoll does not use the compute fabric transport."""
        raise no_fabric("team_cft")

    @property
    def team_cft_multimem(self) -> NCCLTeam:
        """Raise NcclInvalid: Atoll does not use the compute fabric transport."""
        raise no_fabric("team_cft_multimem")

    def team_rank_to_world(self, team: NCCLTeam, team_rank: int) -> int:
        """Return the communicator's rank of a member of a team, of which this rank is one too."""
        _check(team, team_rank, "team_rank_to_world")
        return self.rank + (team_rank - team.rank) * team.stride

    def team_rank_to_lsa(self, team: NCCLTeam, team_rank: int) -> int:
        """Return the number in team_lsa of a member of a team, of which this rank is one too; -1: it is not there."""
        here = self.team_lsa
        steps, rest = divmod(self.team_rank_to_world(team, team_rank) - self.rank, here.stride)
        found = here.rank + steps
        return found if rest == 0 and 0 <= found < here.n_ranks else -1


def _check(team: NCCLTeam, team_rank: int, name: str) -> None:
    if not 0 <= team_rank < team.n_ranks:
        raise NcclInvalid(f"nccl.core: {name}: team_rank is {team_rank}; pass 0 to {team.n_ranks - 1}.")
