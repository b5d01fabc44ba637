// StreamCalls: the collectives that a team's members enqueue on streams, compared between the members.
//
// The hosts compare them in shared memory when they enqueue, which costs the GPU nothing. The later of two
// members finds a difference before its kernel starts. Each member writes its call, with a hash of all its
// calls so far, then reads those of its two neighbours. So of two neighbours that differ, at least one finds
// it, and tells all members. Replays of a captured graph are not compared.
#pragma once

#include "core/base/stream_differences.hpp"
#include "core/team/team_state.hpp"
#include "gpu/group_arguments.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atl::stream {

/// The shared memory of one member. All memory of a new one is zero.
struct StreamCallRing {
    struct alignas(64) Call {
        std::atomic<std::uint64_t> number;  ///< from 1; 0 while its owner writes
        std::atomic<std::uint64_t> hash;    ///< hash of this and all earlier calls
        std::atomic<std::uint64_t> record[6];
    };
    static constexpr std::uint64_t length = 128;
    static constexpr std::size_t text_bytes = 1000;

    alignas(64) std::atomic<std::uint64_t> count;  ///< calls so far
    /// 1: `text` is being written, 2: it is valid. Written when this member finds a difference.
    std::atomic<std::uint32_t> state;
    char text[text_bytes];
    Call calls[length];

    Call& call(std::uint64_t number) { return calls[number % length]; }
};

class StreamCalls final : public core::TeamAttachment {
  public:
    explicit StreamCalls(core::TeamState& team);
    ~StreamCalls() override;
    StreamCalls(const StreamCalls&) = delete;
    StreamCalls& operator=(const StreamCalls&) = delete;

    /// Compares a call that this member is about to enqueue. Does nothing with ATOLL_CHECK=none, and for
    /// teams over several hosts, whose calls the host carries out and compares. Throws
    /// Error(collective_mismatch) on this call or, for a member that enqueued before the others, on a later
    /// one. The team's collectives on streams are unusable afterwards.
    static void compare(core::TeamState& team, const gpu::GroupArguments& arguments);
    void release() noexcept override;

  private:
    struct Difference {
        std::uint64_t number = 0;
        core::CallRecord mine, theirs;
    };
    void announce(const core::CallRecord& record, std::uint64_t more);
    void compare_with(int member);
    Difference first_difference(StreamCallRing& other, std::uint64_t last) const;
    void tell(int member, const Difference& difference);
    StreamCallRing* ring_of(int member);
    /// The error that a member has found; empty if none has.
    std::string found();

    core::TeamState& team_;
    std::shared_ptr<core::StreamDifferences>
        differences_;                 ///< belongs to the job, which may end before a team's handle
    StreamCallRing* mine_ = nullptr;  ///< null: there is no memory for it
    std::mutex mutex_;                ///< guards `rings_` and the calls of this member
    std::vector<StreamCallRing*> rings_;
    std::uint64_t count_ = 0, hash_ = 0;
};

}  // namespace atl::stream
