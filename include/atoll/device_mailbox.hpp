// DeviceMailbox: mailboxes between the memories of GPUs. The host, streams and kernels all post to and
// receive from the same mailbox.
#pragma once

#include "atoll/job.hpp"
#include "atoll/stream.hpp"

namespace atl {

namespace device {
struct Mailbox;  // atoll/device/mailbox.hpp
}

/// Messages of up to `nbytes` bytes from every PE to every PE of a team. All members must share memory.
/// Arrays are memory that this PE's GPU can access. Only one call at a time, of any kind, may use a pair of
/// PEs in one direction. A PE that uses several streams orders them by events. Up to `slots` messages to a PE
/// (at most `most_slots`) may be unread before `post` waits. From eight unread messages on, `post` always
/// waits. Construction and free() are collective over the *world*, since they allocate symmetric memory.
/// Neither may run while a stream is being captured.
///
/// Messages posted by kernels do not carry their length. A receiver here passes the posted size as the
/// capacity; a kernel that receives passes the posted size. Messages posted by the host or a stream may be
/// shorter than the receive buffer.
///
/// All throw Error: pe, shape_mismatch (longer than the mailbox's messages), use_after_free, not_initialized,
/// invalid_argument (ordinary memory of the host; a stream of another GPU), kernel.
///
/// Stream calls wait in kernels for room or for a message. Every call also waits in a kernel for the rest of
/// a message that has begun to arrive. These waits are bounded by ATOLL_WAIT_TIMEOUT; when it expires, the
/// kernel ends the job with a report. In the other calls the host waits and polls with a kernel. It throws
/// Error(timeout) after `timeout_s` (negative: ATOLL_WAIT_TIMEOUT, where 0 means no limit). It throws
/// Error(pe_died) if the other PE ends. The call can be repeated afterwards.
class ATOLL_API DeviceMailbox {
  public:
    static constexpr int most_slots = 4;

    /// Also throws Error: invalid_argument (slots, nbytes of 16 GiB), out_of_memory, collective_mismatch,
    /// unsupported (no GPU, or members that only a transport reaches).
    DeviceMailbox(Job& job, const Team& team, std::size_t nbytes, int slots = 2);
    ~DeviceMailbox();
    DeviceMailbox(DeviceMailbox&&) noexcept;
    DeviceMailbox& operator=(DeviceMailbox&&) noexcept;

    std::size_t capacity_bytes() const;
    /// The kernel argument for this mailbox. Local.
    device::Mailbox device() const;

    // ---- host calls, complete on return; several threads may post and receive concurrently
    /// Waits for room. A call that throws has posted nothing.
    void post(const void* src, std::size_t bytes, int pe, double timeout_s = -1);
    /// Returns the size of the message. If it exceeds `capacity`, throws shape_mismatch; the message can then
    /// be received with a larger buffer.
    std::size_t receive(void* dst, std::size_t capacity, int from_pe, double timeout_s = -1);
    /// Like receive, but returns `none` if no message has begun to arrive.
    std::size_t try_receive(void* dst, std::size_t capacity, int from_pe);

    // ---- in stream order, captured and replayed by graphs: atoll/stream.hpp
    void post(Stream stream, const void* src, std::size_t bytes, int pe) const;
    /// Stores the number of received elements to `*count`, memory that the GPU can access, unless it is null.
    /// `capacity` is a multiple of `element_bytes` (shape_mismatch). A message that exceeds it, or is not a
    /// whole number of elements, stops the kernel and the job with a report.
    void receive(Stream stream, void* dst, std::size_t capacity, int from_pe, std::int64_t* count = nullptr,
                 std::size_t element_bytes = 1) const;
    /// `*count` is -1 if no message had begun to arrive.
    void try_receive(Stream stream, void* dst, std::size_t capacity, int from_pe, std::int64_t* count,
                     std::size_t element_bytes = 1) const;

    /// Collective. Messages not received are lost.
    void free();
    /// Returns the mailbox's symmetric memory. The caller frees it after the mailbox's last use.
    Allocation release_block();

    struct State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace atl
