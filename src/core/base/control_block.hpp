// ControlBlock: the shared words of a team's barriers and exchanges. It is in the arena of the team's first
// member; all members load and store it. Every word has its own cache line, together with the data that it
// announces.
#pragma once

#include "atoll/detail/wait.hpp"
#include "common/futex.hpp"
#include "memory/round_up.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::core {

inline constexpr std::size_t line_bytes = 64;
constexpr std::size_t line_up(std::size_t bytes) noexcept { return memory::round_up(bytes, line_bytes); }
inline constexpr std::size_t exchange_bytes = 48;  ///< data beside a flag in one line

/// A flag, with the fingerprint of its setter's call (called.hpp). If the setter may be one meeting ahead of
/// a reader, there are two fingerprints, by parity of the epoch.
struct alignas(line_bytes) SyncLine {
    detail::Flag flag;
    std::uint32_t calls[2];
};

/// A flag and its data, in one cache line: two lines would take twice the time.
struct alignas(line_bytes) ExchangeLine {
    detail::Flag flag;
    std::uint32_t call;
    std::uint32_t spare;
    unsigned char data[exchange_bytes];
};
static_assert(sizeof(ExchangeLine) == line_bytes);

/// A cache line shared by two members. It moves between cores twice per meeting; two lines would move twice
/// each (docs/measurements/2026-11-24-constants.md). Data and fingerprints have two places, by parity of the
/// epoch. The member that arrives second then owns the line, and enters the next meeting without waiting for
/// it.
inline constexpr std::size_t pair_bytes = 8;
struct PairHalf {
    unsigned char data[2][pair_bytes];
    std::uint32_t calls[2];
    detail::Flag flag;
};
struct alignas(line_bytes) PairLine {
    PairHalf half[2];
};
static_assert(sizeof(PairLine) == line_bytes);

inline constexpr int max_rounds = 12;  ///< dissemination up to 4096 members of one host

/// A member's core and group in meetings of oversubscribed teams. Read at every meeting, written when a
/// member moves.
struct alignas(line_bytes) CoreLine {
    /// Core + 1 on which the member last waited longer than a line travels; 0: unknown. Written by itself, in
    /// teams that are not oversubscribed.
    std::atomic<std::int32_t> waits_on;
    std::atomic<std::int32_t> core;   ///< core on which the member last entered a meeting; written by itself
    std::atomic<std::int32_t> group;  ///< first member of its group; written by the member that ends a
                                      ///< meeting
};

/// Arrivals of one group, at its first member. While the group's members run on one core, the line stays in
/// that core's cache.
struct alignas(line_bytes) GroupLine {
    /// Arrivals in the lower half; above them the sum of the calls' fingerprints, which reveals a different
    /// one.
    std::atomic<std::uint64_t> at_sync, at_exchange;
    std::atomic<std::uint32_t> size;  ///< 0: all members, while there is one group
};

/// Counts the groups that have arrived. Also holds the state of the grouping, so that one cache line carries
/// both at the end of a meeting.
struct alignas(line_bytes) GroupsLine {
    /// Arrivals in the lowest 8 bits, since there are at most `most` groups; above them the sum of the
    /// fingerprints.
    static constexpr std::size_t most = 64;
    std::atomic<std::uint32_t> at_sync, at_exchange;
    std::atomic<std::uint32_t> groups;   ///< 0: one
    std::atomic<std::uint32_t> moved;    ///< a member entered on another core than before
    unsigned char data[exchange_bytes];  ///< data of the exchange in progress, see oversubscribed.cpp
};
static_assert(sizeof(GroupsLine) == line_bytes);

/// The call in which a member waits, for other members to read. Written before the member sleeps, and when it
/// reports that calls differ. `sequence` is incremented before and after, so it is odd meanwhile.
struct CallLine {
    static constexpr std::size_t words = 6;
    alignas(line_bytes) std::atomic<std::uint32_t> sequence;
    std::atomic<std::uint32_t> meeting;        ///< number of this member's meeting on the team
    std::atomic<std::uint32_t> call;           ///< its fingerprint
    std::atomic<std::uint32_t> kind;           ///< kind of words by which that meeting goes
    std::atomic<std::uint64_t> record[words];  ///< CallRecord
    std::atomic<std::uint32_t> sited;          ///< meeting to which `site` belongs
    std::atomic<std::uint32_t> failed;         ///< 1: a meeting ended by an error here; none follows
    std::atomic<char> site[184];               ///< such as "program.py:12", terminated by a zero
};
static_assert(sizeof(CallLine) == 4 * line_bytes);

struct MemberBlock {
    ExchangeLine exchange[2];  ///< by parity of the epoch, see lines.cpp
    SyncLine arrived;          ///< epoch of the last sync this member entered (only when oversubscribed)
    CoreLine core_line;        ///< also for oversubscribed teams, like `group`
    GroupLine group;
    SyncLine taken;  ///< for src/collective: segments whose copy to this member has begun
    SyncLine round[max_rounds];
    CallLine called;
    SyncLine doorbell;  ///< rung for this member when it sleeps in a message call, see messages.cpp
    std::atomic<std::uint64_t>
        outbox;  ///< arena offset + 1 of the table of this member's channels; 0: not yet made
    std::atomic<std::uint64_t>
        requests;  ///< arena offset + 1 of the area of this member's non-blocking collectives; 0: not yet
    std::atomic<std::uint64_t>
        stream_calls;  ///< arena offset + 1 of this member's calls on streams; 0: not yet
    unsigned char outbox_pad[line_bytes - 24];
};

struct ControlBlock {
    GroupsLine groups;              ///< arrivals, when PEs outnumber cores
    SyncLine release;               ///< the epoch of the current sync once all have arrived
    ExchangeLine exchange_release;  ///< with the data of all members, if one line holds them
    PairLine pair_sync;             ///< for teams of two
    PairLine pair_exchange;         ///< holds up to pair_bytes; more goes into the members' lines
    SyncLine left;                  ///< members that destroyed the team
    /// 1 + the member that has found different collectives on streams. Read by each of them, rarely written.
    alignas(line_bytes) std::atomic<std::uint32_t> streams_differ;
    // MemberBlock[n] follows

    MemberBlock& member(int i) { return reinterpret_cast<MemberBlock*>(this + 1)[i]; }
    static std::size_t bytes(int n) {
        return sizeof(ControlBlock) + sizeof(MemberBlock) * static_cast<std::size_t>(n);
    }
};

/// Publishes `value` and wakes sleepers. A full barrier, so that it cannot miss a PE that is about to sleep.
inline void set_flag(detail::Flag& flag, std::uint32_t value) noexcept {
    // An exchange rather than a store: the load of `sleepers` must not move before it.
    flag.value.exchange(value, std::memory_order_seq_cst);
    if (flag.sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]]
        common::futex_wake_all(flag.value);
}

/// First half of set_flag, for PEs that poll another flag in between: the store travels meanwhile.
inline void publish_flag(detail::Flag& flag, std::uint32_t value) noexcept {
    flag.value.store(value, std::memory_order_release);
}
/// Second half of set_flag. Must follow before this PE sleeps or continues.
void wake_sleepers(detail::Flag& flag) noexcept;

/// Polls a flag for about the time that it takes from core to core.
inline bool poll_briefly(const detail::Flag& flag, std::uint32_t value) noexcept {
    for (int i = 0; i < detail::tight_spins; ++i)
        if (detail::reached(flag.value.load(std::memory_order_acquire), value)) return true;
    return false;
}

/// Polls a flag for about two turns of the scheduler (docs/measurements/2026-11-24-constants.md). After that
/// its setter is not running.
inline bool poll_for_a_turn(const detail::Flag& flag, std::uint32_t value) noexcept {
    for (int i = 0; i < 100; ++i) {
        if (detail::reached(flag.value.load(std::memory_order_acquire), value)) return true;
        detail::cpu_pause();
    }
    return false;
}

}  // namespace atl::core
