// A channel of messages from one member of a team to another: a ring of cells in the sender's arena.
#pragma once

#include "common/board/board.hpp"
#include "core/base/control_block.hpp"
#include "core/calls/element_codes.hpp"
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"

#include <atomic>
#include <cstdint>

namespace atl::collective {

/// Messages are divided into cells. Number, length and the first bytes of data share a cache line, so a short
/// message is one line.
struct alignas(core::line_bytes) Cell {
    static constexpr std::size_t bytes = 4096;
    static constexpr std::size_t data_bytes = bytes - 16;

    std::atomic<std::uint32_t> number;  ///< 1, 2, 3, … along the channel, stored last
    std::uint32_t head;                 ///< Head
    std::uint64_t message_bytes;        ///< bytes of the whole message
    unsigned char data[data_bytes];
};
static_assert(sizeof(Cell) == Cell::bytes);

/// One word of a cell: the bytes of data in it, and the elements of the message.
class Head {
  public:
    static constexpr unsigned length_bits = 12;
    static_assert(Cell::data_bytes < 1U << length_bits);

    Head(std::size_t length, MessageElements elements)
        : word_(static_cast<std::uint32_t>(length) | core::packed(elements) << length_bits) {}
    explicit Head(std::uint32_t word) : word_(word) {}

    std::uint32_t word() const { return word_; }
    std::size_t length() const { return word_ & ((1U << length_bits) - 1); }
    MessageElements elements() const { return core::unpacked(word_ >> length_bits); }

  private:
    std::uint32_t word_;
};

struct Channel {
    alignas(core::line_bytes) std::atomic<std::uint32_t> taken;  ///< cells that the receiver is done with
    // Cell[n] follow

    Cell& cell(std::uint32_t i) {
        return reinterpret_cast<Cell*>(reinterpret_cast<char*>(this) + core::line_bytes)[i];
    }
    static std::size_t total_bytes(std::uint32_t n) { return core::line_bytes + sizeof(Cell) * n; }
};

/// One direction between this PE and another: this PE's own state of it.
struct Endpoint {
    Channel* channel = nullptr;
    /// Messages sent or received on it so far. Atomic because threads that receive from others read it.
    std::atomic<std::uint32_t> cells{0};
    std::uint32_t taken = 0;        ///< sender: as last looked at
    bool broken = false;            ///< an operation ended by an error halfway through a message
    std::uint64_t blocked = 0;      ///< the sweep of a group in which an earlier message could not end
    std::unique_ptr<Cell> fetched;  ///< receiver, of a sender on another host: room for a cell
};

/// All channels of this PE in one team.
class Messages final : public core::TeamAttachment {
  public:
    /// The team's messages, created on first use.
    static Messages& of(core::TeamState& team);
    explicit Messages(core::TeamState& team);
    void release() noexcept override;
    void subscribe() override;

    Endpoint& sender(int pe) { return senders_[static_cast<std::size_t>(pe)]; }
    Endpoint& receiver(int pe) { return receivers_[static_cast<std::size_t>(pe)]; }
    /// Announces the channel to `pe`. Throws Error(out_of_memory).
    void open(int pe);
    /// True once `pe` has made its channel to this PE.
    bool find(int pe);
    /// The only message that has come from another member than `awaited`, and of which no part was
    /// received.
    common::OtherMessage other_than(int awaited);
    std::uint32_t ring() const { return ring_; }
    core::TeamState& team() { return team_; }

  private:
    using Entry = std::atomic<std::uint64_t>;  ///< arena offset + 1 of a channel

    Channel* channel_from(int pe);

    core::TeamState& team_;
    std::uint32_t ring_;  ///< cells in a channel
    std::mutex mutex_;
    Entry* outbox_ = nullptr;  ///< one entry a member, in this PE's arena
    std::vector<Endpoint> senders_, receivers_;
};

/// A send or receive in progress.
class Transfer {
  public:
    enum class Progress { stuck, moved, done };

    Transfer(Messages& messages, const MessageGroup::Message& message);
    /// Moves as many cells as possible now.
    Progress advance();
    bool done() const { return done_; }
    bool is_send() const { return is_send_; }
    /// A message of another member, which a receive leaves where it is.
    common::OtherMessage other() const {
        return is_send_ || far_ ? common::OtherMessage() : messages_->other_than(pe_);
    }
    int world_pe() const { return messages_->team().world_pe(pe_); }
    Endpoint& endpoint() const { return is_send_ ? messages_->sender(pe_) : messages_->receiver(pe_); }
    /// Marks a channel with an incomplete message as broken after an error; it cannot be continued.
    void abandon() {
        if (begun_ && !done_) endpoint().broken = true;
    }
    /// Throws Error(shape_mismatch) if the sizes of the message and the receiver's buffer differ,
    /// Error(dtype_mismatch) if only their elements do.
    void check_received() const;

  private:
    Progress send();
    Progress receive();
    /// The next cell to receive, or null if it has not arrived, and the time when it was read.
    const Cell* next_cell();
    void release_cells();
    void check_usable() const;
    bool same_elements() const;

    Messages* messages_;
    bool far_ = false;  ///< the other shares no memory with this PE
    char* data_;
    std::size_t bytes_;
    int pe_;
    bool is_send_;
    bool begun_ = false;
    bool done_ = false;
    bool compares_ = false;  ///< elements, where both sides give them
    MessageElements elements_;
    std::size_t moved_ = 0;
    std::uint64_t message_bytes_ = 0;   ///< receiver: as given by the sender
    MessageElements message_elements_;  ///< likewise
};

}  // namespace atl::collective
