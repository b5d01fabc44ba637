// DeviceMailbox: mailboxes whose messages go from memory of one GPU to memory of another, posted and received
// by the host, in the order of streams, and by kernels, all in one mailbox.
#pragma once

#include "atoll/job.hpp"
#include "atoll/stream.hpp"

namespace atl {

namespace device {
struct Mailbox;  // atoll/device/mailbox.hpp
}

/// Messages of up to `nbytes` bytes from every PE to every PE of a team, whose PEs all share memory. Arrays
/// are memory that this PE's GPU reaches. Per pair and direction one call at a time, of whichever kind:
/// streams of a PE that use one way are ordered by events. `slots` (at most `most_slots`) messages to a PE
/// may be unread before `post` waits; from eight on it does. Making one and free() are collective over the
/// *world* (it allocates symmetric memory); not while a stream is captured.
///
/// Messages of kernels do not say how long they are: who receives one here passes its size as the capacity;
/// kernels that receive pass the size that was posted. Others may be shorter than what they are received in.
///
/// All throw Error: pe, shape_mismatch (longer than the mailbox's messages), use_after_free, not_initialized,
/// invalid_argument (ordinary memory of the host; a stream of another GPU), kernel. On streams kernels wait
/// for room and for a message, and in all calls for the rest of one that has begun to come: no longer than
/// ATOLL_WAIT_TIMEOUT, and then they end the job with a report. In the other calls the host waits, and tries
/// by a kernel each time: longer than `timeout_s` (negative: ATOLL_WAIT_TIMEOUT, 0 there meaning for ever)
/// throws Error(timeout), the end of the other PE Error(pe_died). The call can be made again.
class ATOLL_API DeviceMailbox {
  public:
    static constexpr int most_slots = 4;

    /// Throws Error also: invalid_argument (slots, nbytes of 16 GiB), out_of_memory, collective_mismatch,
    /// unsupported (no GPU, or members that only a transport reaches).
    DeviceMailbox(Job& job, const Team& team, std::size_t nbytes, int slots = 2);
    ~DeviceMailbox();
    DeviceMailbox(DeviceMailbox&&) noexcept;
    DeviceMailbox& operator=(DeviceMailbox&&) noexcept;

    std::size_t capacity_bytes() const;
    /// What kernels of the team take. Local.
    device::Mailbox device() const;

    // ---- returns when it is done; threads of the host may post and receive at once
    /// Waits for room; what throws has posted nothing.
    void post(const void* src, std::size_t bytes, int pe, double timeout_s = -1);
    /// The size of the message. One that `capacity` does not hold can then be received with more
    /// (shape_mismatch).
    std::size_t receive(void* dst, std::size_t capacity, int from_pe, double timeout_s = -1);
    /// Like receive, or `none` where no message has begun to come.
    std::size_t try_receive(void* dst, std::size_t capacity, int from_pe);

    // ---- in the order of a stream, captured and replayed by graphs: atoll/stream.hpp
    void post(Stream stream, const void* src, std::size_t bytes, int pe) const;
    /// How many elements came goes to `*count`, memory that the GPU reaches, unless that is null. `capacity`
    /// is a multiple of `element_bytes` (shape_mismatch). A message that it does not hold, or that is no
    /// whole number of elements, stops the kernel, and the job, with a report.
    void receive(Stream stream, void* dst, std::size_t capacity, int from_pe, std::int64_t* count = nullptr,
                 std::size_t element_bytes = 1) const;
    /// `*count` is -1 where no message had begun to come.
    void try_receive(Stream stream, void* dst, std::size_t capacity, int from_pe, std::int64_t* count,
                     std::size_t element_bytes = 1) const;

    /// Collective. Messages not received are lost.
    void free();
    /// The symmetric memory behind it, which is the caller's to free from here on, after its last use.
    Allocation release_block();

    struct State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace atl
