// RangeNegotiation: how the members of a new team find memory for kernels and streams that is free on all of
// them.
#pragma once

#include "core/base/kernel_memory.hpp"

#include <cstdint>
#include <vector>

namespace atl::core {

class JobBase;

/// A member's proposal: offsets in units of KernelRanges.
struct RangeProposal {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t control = none;   ///< number of its control block
    std::uint32_t stream = none;    ///< for collectives on streams
    std::uint32_t words_bytes = 0;  ///< see gpu::StreamRange; 0: none is wanted
};

/// One member's part. It proposes the lowest range that is free here. If another member proposes a later one,
/// so do all. The ranges stay taken meanwhile, so that threads that split at once get different ones.
class RangeNegotiation {
  public:
    /// `for_streams`: the team also wants memory for collectives on streams.
    RangeNegotiation(JobBase& job, int n_pes, bool for_streams);
    const RangeProposal& proposal() const { return proposal_; }
    /// Makes the next proposal, if those of all members differ.
    void go_on(const std::vector<RangeProposal>& proposals);
    /// Gives the team its memory, once the proposals of all members are settled.
    void keep(const std::vector<RangeProposal>& proposals, TeamKernels& kernels);

    /// True if these proposals, of all members of a team, need no further round.
    static bool is_settled(const std::vector<RangeProposal>& proposals);

  private:
    void propose_control(std::uint64_t from);
    void propose_stream(std::uint64_t from);

    int n_pes_;
    gpu::KernelRange control_, stream_;
    RangeProposal proposal_;
};

}  // namespace atl::core
