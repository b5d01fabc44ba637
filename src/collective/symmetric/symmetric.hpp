// Symmetric: one block of memory on each member of a group of processes. Members access each other's blocks,
// and meet by words beside them.
#pragma once

#include "memory/process_heap.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace atl::symmetric {

/// The bounds of a wait.
struct Bounds {
    double timeout_s = 0;  ///< 0: none
    /// Called now and then in a long wait; may throw. May be null.
    std::function<void()> interrupted;
};

/// A block of this process that it brings to a group, with words for the group's meetings.
class Offer {
  public:
    /// `address` is in a block of this process's heap. Throws Error(not_symmetric, out_of_memory).
    Offer(const void* address, int members);
    Offer(Offer&&) = default;
    ~Offer();

    /// A line of text with which the other members find the block.
    std::string text() const;

  private:
    friend class Symmetric;
    memory::ProcessHeap::Block block_;
    memory::ProcessHeap::Block words_;
    memory::BlockHold block_hold_, words_hold_;
};

struct Membership {
    int rank = 0;
    std::vector<std::string> texts;  ///< offers of all members, in the order of their ranks
    std::vector<int> names;          ///< the number of each member in errors; empty: its rank
    std::string label;               ///< part of errors, such as " of group 3"; may be empty
};

class Symmetric {
  public:
    /// Collective. Throws Error(shape_mismatch) on every member if the blocks have different sizes.
    Symmetric(Offer offer, Membership membership, const Bounds& bounds);

    int n() const { return static_cast<int>(members_.size()); }
    int rank() const { return membership_.rank; }
    std::size_t bytes() const { return bytes_; }
    std::size_t pad_bytes() const { return pad_bytes_; }
    char* data(int member) const { return at(member).block.data(); }
    char* pad(int member) const;
    /// Channels of barriers and signals, as many as a pad has words for each member.
    int channels() const { return channels_; }

    /// Waits for all members. Their writes before it are visible behind it.
    void barrier(int channel, const Bounds& bounds);
    /// Sets this member's word of the channel in the other's pad from 0 to 1. Waits until it is 0.
    void put_signal(int member, int channel, const Bounds& bounds);
    /// Waits for that word in this member's pad, and sets it back to 0.
    void wait_signal(int member, int channel, const Bounds& bounds);
    /// Counts a notification at another member.
    void notify(int member);
    /// Takes one notification of another member.
    void await(int member, const Bounds& bounds);

  private:
    friend class Operations;
    struct Member {
        memory::BlockHold block, words;
    };
    using Word = std::atomic<std::uint32_t>;

    const Member& at(int member) const { return members_[std::size_t(member)]; }
    void check_member(int member, const char* operation) const;
    void check_channel(int channel, const char* operation) const;
    void refuse_if_broken() const;
    /// The word by which `from` announces itself to `to` in a row of words: that of a channel, or a further
    /// one.
    Word& word(int to, int row, int from) const;
    Word& signal_word(int to, int channel, int from) const;
    int own_row() const { return channels_; }  ///< row for the barriers of operations
    int notify_row() const { return channels_ + 1; }
    void meet(int row, const std::string& operation, const Bounds& bounds);
    /// Waits for the other member. `begin` is when the operation began to wait; 0 if it did not wait yet.
    template <class Ready>
    void wait(int member, Ready&& ready, const std::string& operation, const Bounds& bounds,
              std::uint64_t& begin);
    template <class Ready>
    void wait_once(int member, Ready&& ready, const std::string& operation, const Bounds& bounds) {
        std::uint64_t begin = 0;
        wait(member, ready, operation, bounds, begin);
    }
    [[noreturn]] void fail(int member, const std::string& operation, double timeout_s);
    std::string name(int member) const;

    Membership membership_;
    std::vector<Member> members_;
    std::size_t bytes_, pad_bytes_;
    int channels_;
    int spins_;
    std::vector<std::uint32_t> epochs_;  ///< by row
    std::vector<std::uint32_t> taken_;   ///< notifications, by member
    std::string broken_;
};

}  // namespace atl::symmetric
