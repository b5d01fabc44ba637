#include "core/team/range_negotiation.hpp"

#include "atoll/device/control.hpp"
#include "core/base/job_base.hpp"

#include <algorithm>

namespace atl::core {

namespace {

using gpu::KernelRanges;

std::uint32_t in_units(std::uint64_t offset) {
    return offset == KernelRanges::none ? RangeProposal::none
                                        : static_cast<std::uint32_t>(offset / KernelRanges::unit_bytes);
}

/// The proposals of all members for one of the two memories.
struct Proposals {
    std::uint32_t least = RangeProposal::none, most = 0;
    bool has_none = false;

    void add(std::uint32_t offset) {
        has_none = has_none || offset == RangeProposal::none;
        least = std::min(least, offset);
        most = std::max(most, offset);
    }
    bool agree() const { return has_none || least == most; }
    std::uint64_t latest() const { return std::uint64_t{most} * KernelRanges::unit_bytes; }
};

struct AllProposals {
    Proposals controls, streams;
    std::uint32_t least_words = ~0u, most_words = 0;
    int n_pes = 0;

    explicit AllProposals(const std::vector<RangeProposal>& proposals)
        : n_pes(static_cast<int>(proposals.size())) {
        for (const RangeProposal& proposal : proposals) {
            controls.add(proposal.control);
            streams.add(proposal.stream);
            least_words = std::min(least_words, proposal.words_bytes);
            most_words = std::max(most_words, proposal.words_bytes);
        }
    }
    /// True if a member has no range of this size, and a smaller one would do.
    bool can_shrink() const { return streams.has_none && least_words > gpu::fewest_words_bytes(n_pes); }
    bool streams_agree() const {
        return least_words == most_words && (least_words == 0 || (streams.agree() && !can_shrink()));
    }
};

}  // namespace

RangeNegotiation::RangeNegotiation(JobBase& job, int n_pes, bool for_streams)
    : n_pes_(n_pes), control_(job.kernels().ranges), stream_(job.kernels().stream_ranges) {
    propose_control(0);
    if (!for_streams) return;
    proposal_.words_bytes = gpu::words_bytes_for(n_pes, job.kernels().stream_ranges.free_bytes());
    propose_stream(0);
}

void RangeNegotiation::propose_control(std::uint64_t from) {
    control_.take(device::ControlLayout{n_pes_}.bytes(), from);
    proposal_.control = in_units(control_.offset());
}

void RangeNegotiation::propose_stream(std::uint64_t from) {
    stream_.take(gpu::stream_range_bytes(n_pes_, proposal_.words_bytes), from);
    proposal_.stream = in_units(stream_.offset());
}

bool RangeNegotiation::is_settled(const std::vector<RangeProposal>& proposals) {
    const AllProposals all(proposals);
    return all.controls.agree() && all.streams_agree();
}

void RangeNegotiation::go_on(const std::vector<RangeProposal>& proposals) {
    const AllProposals all(proposals);
    if (all.controls.has_none) {
        control_.drop();
        proposal_.control = RangeProposal::none;
    } else if (!all.controls.agree()) {
        propose_control(all.controls.latest());
    }
    if (all.streams_agree()) {
        if (!all.streams.has_none) return;
        stream_.drop();
        proposal_.stream = RangeProposal::none;
    } else if (all.least_words != all.most_words || all.can_shrink()) {
        proposal_.words_bytes = all.least_words != all.most_words
                                    ? all.least_words
                                    : std::max(all.least_words / 2, gpu::fewest_words_bytes(n_pes_));
        propose_stream(0);
    } else {
        propose_stream(all.streams.latest());
    }
}

void RangeNegotiation::keep(const std::vector<RangeProposal>& proposals, TeamKernels& kernels) {
    const AllProposals all(proposals);
    if (all.controls.has_none) return;  // such a team has no memory for streams either
    kernels.offset = control_.keep();
    if (!all.streams.has_none) kernels.stream_range = {stream_.keep(), proposal_.words_bytes};
}

}  // namespace atl::core
