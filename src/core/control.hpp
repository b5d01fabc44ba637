// The shared control block of a team: words by which its members meet. It stands in the arena of the team's
// first member; all members load and store it. Every word has a cache line of its own, with the data it
// announces.
#pragma once

#include "atoll/detail/wait.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::core {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t exchange_bytes = 48;  ///< data beside a flag in one line

/// Beside a flag stands the fingerprint of the call (called.hpp) that its setter is in. Where the setter may
/// be one meeting ahead of a reader there are two, by parity of the epoch.
struct alignas(line_bytes) SyncLine {
    detail::Flag flag;
    std::uint32_t calls[2];
};

/// Flag and data in one line: two lines would take twice the time.
struct alignas(line_bytes) ExchangeLine {
    detail::Flag flag;
    std::uint32_t call;
    std::uint32_t spare;
    unsigned char data[exchange_bytes];
};
static_assert(sizeof(ExchangeLine) == line_bytes);

/// Two members that share a line: it goes to and fro once a meeting, where two lines would each go twice (58
/// ns against 140 a barrier, between two cores of a Sapphire Rapids).
inline constexpr std::size_t pair_bytes = 16;
struct PairHalf {
    unsigned char data[pair_bytes];  ///< first, so that it is aligned for any element
    std::uint32_t calls[2];
    detail::Flag flag;
};
struct alignas(line_bytes) PairLine {
    PairHalf half[2];
};
static_assert(sizeof(PairLine) == line_bytes);

inline constexpr int max_rounds = 12;  ///< dissemination up to 4096 members of one host

/// Where a member is among crowded ones; read at every meeting, written when somebody moves.
struct alignas(line_bytes) PlaceLine {
    std::atomic<std::int32_t> core;   ///< on which it last entered a meeting; by itself
    std::atomic<std::int32_t> group;  ///< the first member of its group; by whom a meeting ended with
};

/// Arrivals of one group, at its first member: as long as its members do run on one core, the line stays
/// there.
struct alignas(line_bytes) GroupLine {
    /// Arrivals in the lower half; above them the sum of their calls, by which one is found to differ.
    std::atomic<std::uint64_t> at_sync, at_exchange;
    std::atomic<std::uint32_t> size;  ///< 0: all members, as long as there is one group
};

/// Groups that have arrived; what concerns grouping goes with the line that ends every meeting.
struct alignas(line_bytes) GroupsLine {
    /// Arrivals in the lowest 8 bits, as there are at most `most` groups; above them the sum of their calls.
    static constexpr std::size_t most = 64;
    std::atomic<std::uint32_t> at_sync, at_exchange;
    std::atomic<std::uint32_t> groups;   ///< 0: one
    std::atomic<std::uint32_t> moved;    ///< some member entered on another core than before
    unsigned char data[exchange_bytes];  ///< of an exchange, while it meets, see crowd.cpp
};
static_assert(sizeof(GroupsLine) == line_bytes);

/// The call that a member waits in, for the others to look at: written before it sleeps, and by whoever
/// reports that calls differ. Between two increments of `sequence`, which is odd meanwhile.
struct CallLine {
    static constexpr std::size_t words = 6;
    alignas(line_bytes) std::atomic<std::uint32_t> sequence;
    std::atomic<std::uint32_t> meeting;        ///< which of this member's meetings on the team
    std::atomic<std::uint32_t> call;           ///< its fingerprint
    std::atomic<std::uint32_t> way;            ///< by which words that meeting goes
    std::atomic<std::uint64_t> record[words];  ///< CallRecord
    std::atomic<std::uint32_t> sited;          ///< `site` is of this meeting
    std::atomic<char> site[188];               ///< "program.py:12", ends by a zero
};
static_assert(sizeof(CallLine) == 4 * line_bytes);

struct MemberBlock {
    ExchangeLine exchange[2];  ///< by parity of the epoch, see exchange.cpp
    SyncLine arrived;          ///< epoch of the last sync this member entered (only when crowded)
    PlaceLine place;           ///< these two for crowded meetings as well
    GroupLine group;
    SyncLine taken;  ///< for src/collective: segments that somebody has begun to copy to this member
    SyncLine round[max_rounds];
    CallLine called;
    SyncLine doorbell;  ///< rung for this member when it sleeps over a message, see messages.cpp
    std::atomic<std::uint64_t>
        outbox;  ///< arena offset + 1 of the table of this member's channels, 0 = none yet
    unsigned char outbox_pad[line_bytes - 8];
};

struct ControlBlock {
    GroupsLine groups;              ///< arrivals, when PEs outnumber cores
    SyncLine release;               ///< the epoch of the current sync once all have arrived
    ExchangeLine exchange_release;  ///< with what all passed, if a line holds it
    PairLine pair_sync;             ///< for teams of two
    PairLine pair_exchange[2];      ///< by parity of the epoch, for up to pair_bytes
    SyncLine left;                  ///< members that destroyed the team
    // MemberBlock[n] follows

    MemberBlock& member(int i) { return reinterpret_cast<MemberBlock*>(this + 1)[i]; }
    static std::size_t bytes(int n) {
        return sizeof(ControlBlock) + sizeof(MemberBlock) * static_cast<std::size_t>(n);
    }
};

/// Publishes `value` and wakes sleepers. A full barrier, so that it cannot miss one that is about to sleep.
void set_flag(detail::Flag& flag, std::uint32_t value) noexcept;

/// set_flag in two halves, for those who look at another flag in between: the store travels while they look.
inline void publish_flag(detail::Flag& flag, std::uint32_t value) noexcept {
    flag.value.store(value, std::memory_order_release);
}
/// The second half. Must follow before this PE sleeps or goes its way.
void wake_sleepers(detail::Flag& flag) noexcept;

/// Looks at a flag for about as long as it takes from core to core.
inline bool look_for(const detail::Flag& flag, std::uint32_t value) noexcept {
    for (int i = 0; i < detail::tight_spins; ++i)
        if (detail::reached(flag.value.load(std::memory_order_acquire), value)) return true;
    return false;
}

/// Looks at a flag for about two turns of the scheduler (1 µs; 5 where a pause takes long), after which
/// whoever was to set it no longer runs.
inline bool look_for_a_turn(const detail::Flag& flag, std::uint32_t value) noexcept {
    for (int i = 0; i < 100; ++i) {
        if (detail::reached(flag.value.load(std::memory_order_acquire), value)) return true;
        detail::cpu_pause();
    }
    return false;
}

}  // namespace atl::core
