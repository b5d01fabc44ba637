"""Configurations and properties of communicators. Most fields tune NCCL's own algorithms, and change nothing here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import NcclInvalid
from .constants import CTAPolicy
from .team import NCCLTeam
from .typing import (
    NcclCftCap,
    NcclEventSpec,
    NcclGinConnectionType,
    NcclGinType,
    NcclHostCftMode,
    NcclNvlsHostMode,
)


@dataclass(kw_only=True)
class NCCLConfig:
    """Options of a communicator. `comm_name`, `num_rma_ctx` and `num_rma_sig` have an effect."""

    blocking: bool | None = None
    cga_cluster_size: int | None = None
    min_ctas: int | None = None
    max_ctas: int | None = None
    net_name: str | None = None
    split_share: bool | None = None
    traffic_class: int | None = None
    comm_name: str | None = None
    collnet_enable: bool | None = None
    cta_policy: CTAPolicy | None = None
    shrink_share: bool | None = None
    nvls_ctas: int | None = None
    n_channels_per_net_peer: int | None = None
    nvlink_centric_sched: bool | None = None
    graph_usage_mode: int | None = None
    num_rma_ctx: int | None = None
    max_p2p_peers: int | None = None
    graph_stream_ordering: int | None = None
    launch_order_implicit: bool | None = None
    num_rma_sig: int | None = None
    rma_eager_init: bool | None = None
    host_cft_mode: NcclHostCftMode | None = None
    nvls_host_mode: NcclNvlsHostMode | None = None


@dataclass(frozen=True)
class VendorOption:
    """An option of another vendor's library. It changes nothing."""

    vendor_id: int
    option_id: int
    int_value: int | None = None
    str_value: str | None = None
    raw_value: int | None = None

    def __post_init__(self) -> None:
        given = [self.int_value, self.str_value, self.raw_value]
        if len(given) - given.count(None) != 1:
            raise NcclInvalid(
                "nccl.core: VendorOption: pass exactly one of int_value, str_value and raw_value."
            )


@dataclass(kw_only=True)
class NCCLCollConfig:
    """Options of one collective. They change nothing."""

    min_ctas: int | None = None
    max_ctas: int | None = None
    nvls_ctas: int | None = None
    cga_cluster_size: int | None = None
    alg_selection: str | None = None
    force_alg_selection: bool | None = None
    cta_policy: CTAPolicy | None = None
    user_profiler_tag: int | None = None
    launch_completion_event: NcclEventSpec | None = None
    vendor_options: tuple[VendorOption, ...] = ()

    def __post_init__(self) -> None:
        options: Any = self.vendor_options
        if not isinstance(options, Sequence) or not all(isinstance(x, VendorOption) for x in options):
            raise NcclInvalid("nccl.core: NCCLCollConfig: vendor_options must be a sequence of VendorOption.")
        if len({(x.vendor_id, x.option_id) for x in options}) < len(options):
            raise NcclInvalid("nccl.core: NCCLCollConfig: vendor_options names an option twice.")


@dataclass(frozen=True, kw_only=True)
class NCCLCommProperties:
    """The properties that a communicator reports."""

    rank: int
    n_ranks: int
    cuda_dev: int
    nvml_dev: int
    device_api_support: bool
    multimem_support: bool
    gin_type: NcclGinType
    n_lsa_teams: int
    host_rma_support: bool
    railed_gin_type: NcclGinType
    comm_hash: int | None = None
    gin_min_stride: int | None = None
    gin_connection_type: NcclGinConnectionType | None = None
    available_gin_types: frozenset[NcclGinType] | None = None
    dev_comm_runtime_version_size: int | None = None
    cft_support: bool | None = None
    cft_multicast_support: bool | None = None
    cft_counted_support: bool | None = None


@dataclass(frozen=True)
class WaitSignalDesc:
    """Signals of a rank for which wait_signal waits."""

    peer: int
    op_count: int = 1
    """How many."""
    signal_index: int = 0
    context: int = 0


KERNELS = (
    "NCCL's library for kernels does not run on Atoll. Kernels have these operations by Atoll's names, and take the team as an "
    "argument: see atoll.cute, atoll.numba, atoll.triton and atoll.cupy (docs/from-nvshmem4py.md)."
)


class ForKernels:
    """A class of NCCL's API for kernels, which cannot be made."""

    def __post_init__(self) -> None:
        raise no_kernels(type(self).__name__)


def no_kernels(name: str) -> NcclInvalid:
    """Return the error of a name that serves kernels only."""
    return NcclInvalid(f"nccl.core: {name}: {KERNELS}")


@dataclass(frozen=True)
class TeamRequirement(ForKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    team: NCCLTeam
    multimem: bool = False


@dataclass(frozen=True)
class LsaBarrierRequirement(ForKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    team: NCCLTeam
    n_barriers: int


@dataclass(frozen=True)
class GinBarrierRequirement(ForKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    team: NCCLTeam
    n_barriers: int


@dataclass(frozen=True)
class LLA2ARequirement(ForKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    n_blocks: int
    max_elements: int
    max_element_size: int


@dataclass(kw_only=True)
class NCCLDevCommRequirements(ForKernels):
    """Raise NcclInvalid: kernels of Atoll take a team."""

    lsa_multimem: bool | None = None
    barrier_count: int | None = None
    lsa_barrier_count: int | None = None
    rail_gin_barrier_count: int | None = None
    lsa_ll_a2a_block_count: int | None = None
    lsa_ll_a2a_slot_count: int | None = None
    gin_force_enable: bool | None = None
    gin_context_count: int | None = None
    gin_signal_count: int | None = None
    gin_counter_count: int | None = None
    gin_connection_type: NcclGinConnectionType | None = None
    gin_exclusive_contexts: bool | None = None
    gin_queue_depth: int | None = None
    gin_traffic_class: int | None = None
    world_gin_barrier_count: int | None = None
    gin_strong_signals_required: bool | None = None
    gin_va_signals_required: bool | None = None
    gin_custom_stride: int | None = None
    gin_type: NcclGinType | None = None
    cft_caps: NcclCftCap | None = None
    cft_barrier_count: int | None = None
    teams: tuple[TeamRequirement, ...] = ()
    resources: tuple[LsaBarrierRequirement | GinBarrierRequirement | LLA2ARequirement, ...] = ()
