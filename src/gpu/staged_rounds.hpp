// StagedRounds: how a collective through the stage divides arrays among blocks and rounds, and the slots of
// the stage. The kernel and its tests on the host use it.
#pragma once

#include "gpu/device_calls.hpp"

namespace atl::gpu {

/// Bytes of an array.
struct Span {
    std::uint64_t at, bytes;
};

/// The rounds of one block. All PEs and blocks have the same number of them.
class StagedRounds {
  public:
    static constexpr unsigned in_flight = 3;
    static constexpr unsigned threads = 768;  ///< threads per block
    /// Blocks of one kernel, at most. More are not faster, and a multiprocessor holds one block. So five
    /// groups run at once on a GPU with 132 multiprocessors.
    static constexpr unsigned most_blocks = 24;
    /// Limits of a slot: docs/measurements/2026-11-27-staged-collectives.md has the times.
    static constexpr std::uint64_t least_chunk_bytes = std::uint64_t{16} << 10;
    static constexpr std::uint64_t most_chunk_bytes = std::uint64_t{64} << 10;
    /// Words by which each PE tells how many rounds it has pushed, merged and collected.
    static constexpr unsigned kinds_of_flags = 3;

    ATOLL_ANYWHERE StagedRounds(const StagedCall& call, unsigned block, unsigned blocks)
        : group_(call.group), block_(block), blocks_(blocks), chunk_(chunk_bytes(call, blocks)) {
        const std::uint64_t together = chunk_ * blocks;
        count_ = static_cast<unsigned>((longest(call.group) + together - 1) / together);
    }
    /// True if each PE has a part of one block, in src and dst alike. PEs then push results to others.
    ATOLL_ANYWHERE static bool is_divided(Group kind) {
        return kind == Group::reduce || kind == Group::reduce_to || kind == Group::broadcast;
    }
    /// Bytes of the largest part that one PE pushes to another.
    ATOLL_ANYWHERE static std::uint64_t longest(const GroupCall& call) {
        return is_divided(call.kind) ? group_part(call.bytes, call.team.n_pes, 0).last : call.bytes;
    }
    ATOLL_ANYWHERE static std::uint64_t flags_bytes(int n_pes) {
        return (std::uint64_t{kinds_of_flags} * static_cast<unsigned>(n_pes) * 4 + 127) / 128 * 128;
    }
    /// Bytes of a slot, in whole units: as many as fit, within the limits. A short array is one round of all
    /// blocks.
    ATOLL_ANYWHERE static std::uint64_t chunk_bytes(const StagedCall& call, unsigned blocks) {
        const int n = call.group.team.n_pes;
        const std::uint64_t slots = std::uint64_t{2} * in_flight * static_cast<unsigned>(n);
        const std::uint64_t fit = (call.stage_bytes / blocks - flags_bytes(n)) / slots /
                                  GroupMemory::unit_bytes * GroupMemory::unit_bytes;
        const std::uint64_t most = fit < most_chunk_bytes ? fit : most_chunk_bytes;
        const std::uint64_t share = (longest(call.group) + blocks - 1) / blocks;
        const std::uint64_t wanted = share < least_chunk_bytes ? least_chunk_bytes : share;
        const std::uint64_t units = (wanted + GroupMemory::unit_bytes - 1) / GroupMemory::unit_bytes;
        return wanted < most ? units * GroupMemory::unit_bytes : most;
    }
    ATOLL_ANYWHERE unsigned count() const { return count_; }
    ATOLL_ANYWHERE std::uint64_t chunk() const { return chunk_; }

    /// Offset in the stage of a flag that `from` stores. `kind` is below kinds_of_flags.
    ATOLL_ANYWHERE std::uint64_t flag(unsigned kind, int from) const {
        return block_at() + (std::uint64_t{kind} * static_cast<unsigned>(group_.team.n_pes) +
                             static_cast<unsigned>(from)) *
                                4;
    }
    /// Offset in the stage of what `from` stores in a round. `results`: 0 for what it pushes, 1 for results.
    ATOLL_ANYWHERE std::uint64_t slot(unsigned round, unsigned results, int from) const {
        const auto n = static_cast<unsigned>(group_.team.n_pes);
        return block_at() + flags_bytes(group_.team.n_pes) +
               ((std::uint64_t{round % in_flight} * 2 + results) * n + static_cast<unsigned>(from)) * chunk_;
    }
    /// The part of src that is pushed to `pe`, or that this PE itself takes from its own.
    ATOLL_ANYWHERE Span pushed(unsigned round, int pe) const {
        if (is_divided(group_.kind)) return divided(round, pe);
        return undivided(round, is_by_target(group_.kind) ? pe : 0);
    }
    /// The part of dst that gets what `pe` pushed, or the result of `pe`.
    ATOLL_ANYWHERE Span merged(unsigned round, int pe) const {
        if (is_divided(group_.kind)) return divided(round, pe);
        return undivided(round, is_by_source(group_.kind) ? pe : 0);
    }

  private:
    ATOLL_ANYWHERE std::uint64_t block_at() const {
        const int n = group_.team.n_pes;
        return block_ * (flags_bytes(n) + std::uint64_t{2} * in_flight * static_cast<unsigned>(n) * chunk_);
    }
    ATOLL_ANYWHERE Span divided(unsigned round, int pe) const {
        const GroupPart part = group_part(group_.bytes, group_.team.n_pes, pe);
        return piece(round, part.first, part.last - part.first);
    }
    ATOLL_ANYWHERE Span undivided(unsigned round, int block) const {
        return piece(round, static_cast<unsigned>(block) * group_.bytes, group_.bytes);
    }
    ATOLL_ANYWHERE Span piece(unsigned round, std::uint64_t first, std::uint64_t bytes) const {
        const std::uint64_t at = (std::uint64_t{round} * blocks_ + block_) * chunk_;
        if (at >= bytes) return {first, 0};
        return {first + at, bytes - at < chunk_ ? bytes - at : chunk_};
    }

    const GroupCall& group_;
    unsigned block_, blocks_;
    std::uint64_t chunk_;
    unsigned count_;
};

}  // namespace atl::gpu
