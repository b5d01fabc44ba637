// Spread: a team whose members do not all share memory. It consists of parts, one for each domain. The
// members of a part meet through its control block; the parts' first members meet by transport.
#pragma once

#include "core/base/control_block.hpp"
#include "core/calls/called.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace atl::core {

class JobBase;
class TeamState;

/// The division of a team's members, in order, into domains. Parts are numbered in the order of their first
/// members.
struct Parts {
    std::vector<int> part_of;   ///< by member
    std::vector<int> first;     ///< by part: the index of its first member
    std::vector<int> size;      ///< by part
    std::vector<int> index_of;  ///< by member: its index within its part
    int mine = 0;               ///< this PE's part
    std::vector<int> local;     ///< members of it

    Parts() = default;
    Parts(const JobBase& job, const std::vector<int>& world_pes, int my_pe);
    int count() const { return static_cast<int>(first.size()); }
    bool leads(int my_pe) const { return first[static_cast<std::size_t>(mine)] == my_pe; }
};

/// The memory of a team's words: passed by its members to TeamState.
struct TeamMemory {
    ControlBlock* control = nullptr;  ///< control block of this PE's part, in the arena of its first member
    bool owned = false;               ///< this PE owns it
    /// By part: offset of its block in its owner's slot. Empty if the team has one part.
    std::vector<std::uint64_t> offsets;
    bool doubled = false;  ///< a second block of the same size follows each, for the team's twin

    /// Finds the block of this PE's part, from `offsets`. `members` are world PEs.
    void find_control(const JobBase& job, const Parts& parts, const std::vector<int>& members);
    [[noreturn]] static void fail_no_room(int world_pe);
    /// Bytes in which a part's members meet.
    static std::size_t bytes(const Parts& parts, int part);
    /// True if streams may need a twin of such a team (TeamState::twin): a small one with members that only a
    /// transport reaches.
    static bool is_doubled(const JobBase& job, const Parts& parts);
    /// Bytes that the first member of this PE's part allocates.
    static std::size_t allocation_bytes(const JobBase& job, const Parts& parts) {
        return bytes(parts, parts.mine) * (is_doubled(job, parts) ? 2 : 1);
    }
};

/// Words that other parts put to. Follows the control block of a part.
struct SpreadBlock {
    static constexpr int most_rounds = 24;
    static constexpr std::size_t most_inbox_bytes = std::size_t{4} << 20;

    /// Epoch and fingerprint, put together as one word. There is one for each parity of the epoch, since
    /// another part may be one meeting ahead.
    struct Arrival {
        std::uint32_t epoch, call;
    };
    struct alignas(line_bytes) RoundLine {
        std::atomic<std::uint64_t> arrivals[2];
    };
    RoundLine round[most_rounds];
    // Rows of exchanges follow: two for each member, part by part. Then inboxes: one for each member of the
    // part, with a notification for each member of the team.

    /// The signal "cells are ready": sent by a sender of messages to a receiver in another part, see
    /// src/collective/messages/far_channel.hpp.
    struct Notification {
        std::uint64_t channel;  ///< its offset in the sender's slot, plus one
        std::atomic<std::uint32_t> cells;
        std::uint32_t spare;
    };

    static std::size_t rows_bytes(std::size_t n_pes) { return n_pes * exchange_bytes; }
    static std::size_t row_at(std::size_t n_pes, int parity, std::size_t row) {
        return sizeof(SpreadBlock) + static_cast<std::size_t>(parity) * rows_bytes(n_pes) +
               row * exchange_bytes;
    }
    static std::size_t notification_at(std::size_t n_pes, int reader_index, int writer) {
        return line_up(sizeof(SpreadBlock) + 2 * rows_bytes(n_pes)) +
               (static_cast<std::size_t>(reader_index) * n_pes + static_cast<std::size_t>(writer)) *
                   sizeof(Notification);
    }
    static bool has_inboxes(std::size_t n_pes, std::size_t part_size) {
        return part_size * n_pes * sizeof(Notification) <= most_inbox_bytes;
    }
    static std::size_t bytes(std::size_t n_pes, std::size_t part_size) {
        return line_up(sizeof(SpreadBlock) + 2 * rows_bytes(n_pes)) +
               (has_inboxes(n_pes, part_size) ? part_size * n_pes * sizeof(Notification) : 0);
    }
};

class Spread {
  public:
    Spread(TeamState& team, Parts parts, const TeamMemory& memory);
    ~Spread();
    Spread(const Spread&) = delete;
    Spread& operator=(const Spread&) = delete;

    const Parts& parts() const { return parts_; }
    /// TeamMemory::places.
    const std::vector<std::uint64_t>& offsets() const { return offsets_; }
    /// The members of this PE's part, as a team whose members all share memory.
    TeamState& local() const { return *local_; }
    bool is_local(int member) const {
        return parts_.part_of[static_cast<std::size_t>(member)] == parts_.mine;
    }
    int local_index(int member) const { return parts_.index_of[static_cast<std::size_t>(member)]; }

    /// Implement Meetings::sync and exchange; member i's data are at `rows() + i * exchange_bytes`. Return
    /// false on all members if their fingerprints differ.
    bool sync(const Called& call, std::uint32_t fingerprint);
    bool exchange(const Called& call, std::uint32_t fingerprint, const void* mine, std::size_t bytes);
    unsigned char* rows() const { return rows_; }

    // ---- the transport, through a separate context of the team
    transport::Transport& transport() const { return *transport_; }
    /// Offset of a member's CallLine, in the slot of the first member of its part.
    std::uint64_t call_offset(int member) const;
    /// Starts reading from `offset` of a member's slot; done after `complete`.
    void get(int member, std::uint64_t offset, void* dst, std::size_t bytes) const;
    void put(int member, std::uint64_t offset, const void* src, std::size_t bytes,
             transport::Completion completion = transport::Completion::local) const;
    /// Orders puts to a member: earlier ones arrive before later ones.
    void order(int member) const;
    void complete() const;
    /// Calls `begin`, which starts operations on `buffer`, and completes them. If that throws, other PEs may
    /// not know yet, and their answers still arrive: the buffer is then kept forever.
    template <class Buffer, class Begin> void complete_on(Buffer& buffer, Begin&& begin) const {
        try {
            begin();
            complete();
        } catch (...) {
            static_cast<void>(new Buffer(std::move(buffer)));
            throw;
        }
    }
    /// Makes earlier unacknowledged puts to a member complete, too, once `complete` returns.
    void subscribe(int member) const;
    // ---- notifications between members of different parts
    /// Offset of the notification from `writer` to `reader`, in the slot of the first member of the reader's
    /// part.
    std::uint64_t notification_offset(int reader, int writer) const;
    /// The notification from `writer` to this PE.
    SpreadBlock::Notification& my_notification(int writer) const;
    int first_of_part(int member) const {
        return parts_.first[static_cast<std::size_t>(parts_.part_of[static_cast<std::size_t>(member)])];
    }
    /// False if there would be too many inboxes.
    bool has_inbox(int member) const;

  private:
    bool meet(const Called& call, std::uint32_t fingerprint, bool carries);
    bool meet_parts(const char* operation, std::uint32_t fingerprint, bool carries);
    void send_rows(int to, int from, int count);
    std::uint32_t await_round(const char* operation, int round, int from);
    std::uint64_t block_offset(int part) const;  ///< offset of the part's SpreadBlock
    std::size_t row_at(std::size_t row) const {
        return SpreadBlock::row_at(parts_.part_of.size(), parity_, row);
    }
    char* row_of(std::size_t member) const;

    TeamState& team_;
    JobBase& job_;
    Parts parts_;
    std::vector<std::uint64_t> offsets_;
    std::vector<std::size_t> first_row_;  ///< by part, and one after the last
    bool in_order_ = true;                ///< rows are in the order of members
    char* block_;                         ///< my part's SpreadBlock
    std::uint32_t epoch_ = 0;             ///< meetings of any kind
    int parity_ = 0;                      ///< parity of exchanges
    std::shared_ptr<transport::Transport> transport_;
    transport::ContextId context_ = 0;
    std::vector<unsigned char> sorted_;
    unsigned char* rows_ = nullptr;
    std::unique_ptr<TeamState> local_;
};

}  // namespace atl::core
