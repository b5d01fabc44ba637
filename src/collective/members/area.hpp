// Area: the shared memory that one member of a group gives to its non-blocking operations. Its owner writes
// the slots, the rings and the words of its own progress; the other members read them.
#pragma once

#include "common/bell.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::requests {

/// Data of a collective travels in rounds. Round r of a member is in its slot r % n_slots, until all other
/// members have consumed it.
inline constexpr int n_slots = 8;
inline constexpr std::size_t slot_bytes = 128 * 1024;
inline constexpr std::size_t ring_bytes = 128 * 1024;  ///< messages from one member to one other
inline constexpr std::size_t line_of_area = 64;
inline constexpr std::size_t inline_bytes = 32;
inline constexpr int most_members = 1024;

/// The announcement of a round, with small data in the same cache line.
struct alignas(line_of_area) SlotHeader {
    std::atomic<std::uint64_t> round;  ///< 1 + the round in the slot
    std::uint64_t bytes;               ///< size that the members compare
    std::uint32_t call;                ///< kind, operator, type and root, see Call::bits
    std::uint32_t number;              ///< number of the call within the group
    std::uint32_t rounds : 31;         ///< least number of rounds that this member needs
    std::uint32_t in_place : 1;        ///< `data` tells the place in the sender's heap, see InPlace
    std::uint32_t elements;            ///< element type that the front declares, see Call::elements
    unsigned char data[inline_bytes];
};
static_assert(sizeof(SlotHeader) == line_of_area);

enum class Stage : std::uint32_t { absent, joined, left, broken };

inline constexpr std::size_t reason_bytes = 1000, call_site_bytes = 160, heap_text_bytes = 512,
                             doorbell_bytes = 32;
struct alignas(line_of_area) MemberState {
    std::atomic<std::uint32_t> stage;
    std::int32_t process;       ///< process identifier
    std::int32_t code;          ///< ErrorCode of the reason
    char reason[reason_bytes];  ///< this and `code` are set before `stage` becomes `broken`
    /// 1 + the number of the call whose place in the program is in `site`. Set once calls differ.
    std::atomic<std::uint32_t> sited;
    char site[call_site_bytes];
    char heap[heap_text_bytes];     ///< address of the process heap, once data in it was sent
    char doorbell[doorbell_bytes];  ///< name of the member's Doorbell; only of groups over several hosts
};

/// A counter with a cache line of its own.
struct alignas(line_of_area) Counter {
    std::atomic<std::uint64_t> value;
};

/// The other members ring it after each step if it has sleepers.
using common::Bell;

/// The fixed part of an area. Behind it are the counters of the rings, sizes, slots and rings.
struct AreaHead {
    Counter consumed;       ///< rounds that this member no longer needs from the others
    Counter host_consumed;  ///< the same for all members of this host; in calls whose data cross the
                            ///< network once a host
    Bell bell;
    MemberState state;
    SlotHeader headers[n_slots];
};

/// An area at its address in this process. All memory of a new area is zero.
class Area {
  public:
    Area() = default;
    /// `first_ring`: the member whose ring is the first in memory. A copy for one member has only that ring.
    Area(char* base, int n, int first_ring = 0)
        : base_(base), n_(static_cast<std::size_t>(n)), first_ring_(static_cast<std::size_t>(first_ring)) {}
    explicit operator bool() const { return base_ != nullptr; }

    AreaHead& head() const { return *reinterpret_cast<AreaHead*>(base_); }
    /// Bytes that the owner has put into its ring to member `to`.
    std::atomic<std::uint64_t>& produced(int to) const { return counters()[to].value; }
    /// Bytes that the owner has taken out of the ring of member `from`.
    std::atomic<std::uint64_t>& taken(int from) const { return counters()[n_ + std::size_t(from)].value; }
    /// Sizes of the pieces for each member in a slot. Only all_to_all uses them.
    std::uint64_t* sizes(std::uint64_t round) const {
        return reinterpret_cast<std::uint64_t*>(base_ + sizes_offset(n_)) + (round % n_slots) * n_;
    }
    char* slot(std::uint64_t round) const {
        return base_ + slots_offset(n_) + (round % n_slots) * slot_bytes;
    }
    char* ring(int to) const {
        return base_ + slots_offset(n_) + n_slots * slot_bytes + (std::size_t(to) - first_ring_) * ring_bytes;
    }

    static std::size_t bytes(int n) { return bytes_without_rings(n) + std::size_t(n) * ring_bytes; }
    /// The size of an area for collectives alone.
    static std::size_t bytes_without_rings(int n) {
        return slots_offset(std::size_t(n)) + n_slots * slot_bytes;
    }

    /// The offset of the rings, of which a copy has one.
    static std::size_t rings_offset(int n) { return bytes_without_rings(n); }
    static std::size_t bytes_of_copy(int n) { return bytes_without_rings(n) + ring_bytes; }

  private:
    static std::size_t sizes_offset(std::size_t n) { return sizeof(AreaHead) + 2 * n * sizeof(Counter); }
    static std::size_t slots_offset(std::size_t n) {
        constexpr std::size_t page = 4096;
        return (sizes_offset(n) + n_slots * n * sizeof(std::uint64_t) + page - 1) / page * page;
    }
    Counter* counters() const { return reinterpret_cast<Counter*>(base_ + sizeof(AreaHead)); }

    char* base_ = nullptr;
    std::size_t n_ = 0;
    std::size_t first_ring_ = 0;
};

}  // namespace atl::requests
