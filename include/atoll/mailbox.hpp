// Mailbox: small messages between pairs of PEs whose words carry their own flags, so that none waits for a
// fence.
#pragma once

#include "atoll/job.hpp"

namespace atl {

/// `slots` messages of up to `nbytes` bytes from every PE to every PE of a team; design, section 6.
/// Contract: `receive` acquires the message's own words and nothing else; one poster at a time per pair; a
/// slot is reused only after its credit came back, so `post` waits while `slots` messages to that PE are
/// unread. Making one and free() are collective over the *world* (it allocates symmetric memory).
class ATOLL_API Mailbox {
  public:
    Mailbox(Job& job, std::size_t nbytes, int slots = 2);
    Mailbox(Job& job, const Team& team, std::size_t nbytes, int slots);
    ~Mailbox();
    Mailbox(Mailbox&&) noexcept;
    Mailbox& operator=(Mailbox&&) noexcept;

    std::size_t capacity_bytes() const;
    /// Copies `bytes` (at most the capacity) to `pe`. Throws Error: pe, shape_mismatch, timeout, pe_died.
    void post(const void* src, std::size_t bytes, int pe, double timeout_s = -1);
    /// The next message from `from_pe`; returns its size. Throws Error: pe, shape_mismatch when `capacity`
    /// does not hold it (it can then be received with more), timeout, pe_died.
    std::size_t receive(void* dst, std::size_t capacity, int from_pe, double timeout_s = -1);
    /// Like receive, or `none` at once when no message has come.
    std::size_t try_receive(void* dst, std::size_t capacity, int from_pe);
    /// Collective. Messages not received are lost.
    void free();

    struct State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace atl
