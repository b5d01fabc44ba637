// Mailbox: small messages between pairs of PEs. Their words carry their own flags, so none waits for a fence.
#pragma once

#include "atoll/job.hpp"

namespace atl {

/// `slots` messages of up to `nbytes` bytes from every PE to every PE of a team;
/// docs/decisions/0010-mailboxes.md. `receive` acquires the message's own words and nothing else. One poster
/// at a time per pair. A slot is reused only after its credit has returned, so `post` waits while `slots`
/// messages to that PE are unread. `elements` of both sides are compared if both give them and ATOLL_CHECK is
/// not none. Construction and free() are collective over the *world*, since they allocate symmetric memory.
class ATOLL_API Mailbox {
  public:
    Mailbox(Job& job, std::size_t nbytes, int slots = 2);
    Mailbox(Job& job, const Team& team, std::size_t nbytes, int slots);
    ~Mailbox();
    Mailbox(Mailbox&&) noexcept;
    Mailbox& operator=(Mailbox&&) noexcept;

    std::size_t capacity_bytes() const;
    /// Copies `bytes` (at most the capacity) to `pe`. Throws Error: pe, shape_mismatch, timeout, pe_died.
    void post(const void* src, std::size_t bytes, int pe, double timeout_s = -1,
              MessageElements elements = {});
    /// Copies the next message from `from_pe` to `dst` and returns its size. Throws Error: pe, timeout,
    /// pe_died, shape_mismatch if the message exceeds `capacity`, dtype_mismatch if its elements are others.
    /// It can then be received with another buffer.
    std::size_t receive(void* dst, std::size_t capacity, int from_pe, double timeout_s = -1,
                        MessageElements elements = {});
    /// Like receive, but returns `none` at once if no message has arrived.
    std::size_t try_receive(void* dst, std::size_t capacity, int from_pe, MessageElements elements = {});
    /// Collective. Messages not received are lost.
    void free();

    struct State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace atl
