// Requests of the library to a GPU, in stream order: small values with all addresses computed. So the core
// knows no CUDA, and the GPU's side knows no team bookkeeping. Kernels take them as arguments.
#pragma once

#include "atoll/detail/many_words.hpp"
#include "atoll/device/control.hpp"
#include "atoll/device/detail/far_ring.hpp"
#include "atoll/device/team.hpp"
#include "atoll/types.hpp"

#include <cstdint>
#include <variant>

namespace atl::gpu {

/// A CUstream, in CUDA's driver and runtime (cudaStream_t) alike.
using StreamHandle = void*;

/// Copies `bytes` from `src` to `dst`, each on this GPU, at a peer in the window, or in pinned host memory.
/// If `signal` is not null, that word is then set to or increased by `value`, after the data.
struct CopyCall {
    void* dst;
    const void* src;
    std::uint64_t bytes;
    std::uint64_t* signal;
    std::uint64_t value;
    SignalOp signal_op;
};

/// Copies `count` blocks; strides in bytes.
struct StridedCall {
    void* dst;
    const void* src;
    std::int64_t dst_stride;
    std::int64_t src_stride;
    std::uint64_t block_bytes;
    std::uint64_t count;
};

/// One atomic on a word; also stores 1 or 2 bytes (`set` of a narrow type). The previous value goes to
/// `result` if that is not null.
struct WordCall {
    void* word;
    void* result;
    std::uint64_t value;
    std::uint64_t compare;
    AtomicOp op;
    DType type;
};

/// Stores the GPU's clock to pinned memory of the host.
struct ClockCall {
    std::uint64_t* result;
};

/// Holds the stream until `*word compare value`. signal_consume then subtracts `value`, as uint64.
struct WaitCall {
    device::Team team;  ///< the wait ends if this team ends
    void* word;
    std::uint64_t value;
    Compare compare;
    DType type;
    device::Operation operation;     ///< wait_until, signal_wait_until or signal_consume
    device::Values reported_values;  ///< type of the word in reports
};

/// Waits or tests for many words of this PE. A wait holds the stream until it is satisfied, a test polls
/// once. Results go to `asked.out`.
struct WaitManyCall {
    device::Team team;  ///< the wait ends if this team ends
    detail::ManyWords asked;
    device::Operation operation;     ///< operation that waits
    device::Values reported_values;  ///< type of the words in reports
};

enum class Group : std::uint8_t {
    sync,
    broadcast,
    fcollect,
    alltoall,
    gather,
    scatter,
    reduce,
    reduce_scatter,
    /// The first half of a large reduce: this PE's part of the result, in its own dst. The team's next call
    /// is a sync, which completes it.
    reduce_part,
    // ---- folds over some of the members' sources; see is_ranged
    reduce_to,
    inscan,
    exscan,
    // ---- calls below that are not GroupCalls, or become several
    collect,
    alltoalls,
};

/// True if src has a separate block for each member.
ATOLL_ANYWHERE constexpr bool is_by_target(Group kind) {
    return kind == Group::alltoall || kind == Group::reduce_scatter || kind == Group::scatter;
}
/// True if dst has a separate block from each member.
ATOLL_ANYWHERE constexpr bool is_by_source(Group kind) {
    return kind == Group::fcollect || kind == Group::alltoall || kind == Group::gather;
}
ATOLL_ANYWHERE constexpr bool is_from_root(Group kind) {
    return kind == Group::broadcast || kind == Group::scatter;
}
/// True if the fold depends on the member that gets it. These have separate kernels.
ATOLL_ANYWHERE constexpr bool is_ranged(Group kind) {
    return kind == Group::reduce_to || kind == Group::inscan || kind == Group::exscan;
}
/// Number of members, from the first, over which the result of `pe` is folded. 0: it gets no result, or, in
/// exscan, zeros.
ATOLL_ANYWHERE constexpr int folded_for(Group kind, int pe, int n_pes, int root) {
    if (kind == Group::reduce_to) return pe == root ? n_pes : 0;
    return kind == Group::inscan ? pe + 1 : kind == Group::exscan ? pe : n_pes;
}

/// A PE's part of an array, in bytes: whole units of 16, so that no element is split.
struct GroupPart {
    std::uint64_t first, last;
};
ATOLL_ANYWHERE constexpr GroupPart group_part(std::uint64_t bytes, int n_pes, int pe) {
    const auto n = static_cast<std::uint64_t>(n_pes);
    const std::uint64_t each = ((bytes + 15) / 16 + n - 1) / n * 16;
    const std::uint64_t first = each * static_cast<std::uint64_t>(pe);
    return {first < bytes ? first : bytes, first + each < bytes ? first + each : bytes};
}

/// A collective. `bytes` is one PE's block; `memory` is the team's own memory in this PE's slot.
struct GroupCall {
    device::Team team;
    char* memory;
    unsigned words_bytes;         ///< size of its words: see GroupMemory
    device::Operation operation;  ///< name in errors; a step has the operation of its whole
    void* dst;
    const void* src;  ///< in broadcast and scatter only the root's is read
    std::uint64_t bytes;
    /// Distance between the blocks of consecutive PEs. Only messages of at most
    /// GroupMemory::exchange_limit_bytes may have strides other than `bytes`. Such messages may also be
    /// anywhere that this GPU can access, at different offsets on different PEs.
    std::uint64_t dst_stride, src_stride;
    double scale;  ///< factor of each source in sums
    int root;      ///< -1: no root
    Group kind;
    DType type;
    ReduceOp op;
};

/// A collect: members' sizes may differ. `group.bytes` is this member's; all are concatenated in dst. Sources
/// are anywhere in the device heap, dst anywhere that this GPU can access.
struct CollectCall {
    GroupCall group;
    std::uint64_t dst_bytes;  ///< a kernel that receives more stops with a report
};

/// A collective of arrays anywhere on the GPUs, at different addresses on different PEs. Its data go through
/// `stage`, symmetric memory that no other call uses at that time. All members have as much. See
/// StagedRounds.
struct StagedCall {
    GroupCall group;
    char* stage;
    std::uint64_t stage_bytes;
};

/// A message to or from a member of a team. `order`: number of earlier messages of the call with this peer
/// and direction.
struct Message {
    void* data;
    std::uint64_t bytes;
    int pe;
    unsigned order;
    bool is_send;
};

/// Messages that progress together. A source is in the device heap, and its receiver fetches it. `memory` is
/// the team's own in this PE's slot, see MessageMemory.
struct MessagesCall {
    static constexpr int most = 64;
    device::Team team;
    char* memory;
    int count;
    Message messages[most];
};

/// atl::Numbers for a kernel: the i-th is at `each` + i * step * bytes, or is `one` if that is null.
struct ElementNumbers {
    const void* each;
    std::int64_t one;
    unsigned bytes;  ///< 4 or 8, signed
    unsigned step;   ///< 0: the first for all
};

/// `count` single elements of one symmetric array, each by its index and PE. The kernel checks both. An
/// element takes `element_bytes / unit_bytes` accesses, of a size that divides all addresses.
struct ElementsCall {
    device::Team team;
    char* first;  ///< element 0, in this PE's slot
    std::int64_t step_bytes;
    std::uint64_t size;  ///< size of the array, in elements
    std::uint64_t count;
    std::uint64_t begin;  ///< number of the caller's elements before these
    ElementNumbers index, pe;
    char* values;  ///< written by take, read by the others; null: `value`
    std::uint64_t values_step_bytes;
    std::uint64_t value[2];
    std::uint64_t element_bytes;
    unsigned unit_bytes;          ///< 1, 2, 4, 8 or 16
    device::Operation operation;  ///< take, put_at or add_at
    DType type;                   ///< element type of add_at
    bool has_far;                 ///< a transport reaches some PEs of the team
};

using device::FarKind;
using device::FarRequest;
using device::FarRing;

/// Holds the stream until a thread of the host has carried out the request, with all effects visible.
struct FarCall {
    device::Team team;  ///< the wait ends if this team ends
    FarRing* ring;
    unsigned long long* tickets;  ///< number of tickets taken, in this GPU's memory
    FarRequest request;
};

enum class MailboxStep : std::uint8_t { post, receive, try_receive, try_post };

/// One message of a mailbox in the device heap, to or from a member of its team. See mailbox_on_device.hpp.
struct MailboxCall {
    device::Team team;
    char* block;  ///< see device::Mailbox
    std::uint64_t room;
    device::FlaggedPair* sizes;  ///< sizes of messages, by sender, in this PE's slot
    void* data;
    std::uint64_t bytes;    ///< bytes of the message, or the capacity of `data`
    std::int64_t* arrived;  ///< null, or set to the number of received elements; -1: no message, or no room
                            ///< for try_post
    std::uint64_t unit;     ///< bytes of an element
    int pe;
    MailboxStep step;
    bool refuses;  ///< a message that does not fit remains, and `arrived` reports it; else the kernel stops
};

using DeviceCall = std::variant<CopyCall, StridedCall, WordCall, WaitCall, WaitManyCall, GroupCall,
                                CollectCall, StagedCall, MessagesCall, FarCall, ElementsCall, MailboxCall>;

/// Layout of a team's memory for messages on streams. Sender and receiver of a pair count alike.
struct MessageMemory {
    static constexpr unsigned header_bytes = 32;  ///< address and size of the data, with their own flags
    int n_pes;

    ATOLL_ANYWHERE constexpr std::uint64_t sent_at(int to) const { return word_at(0, to); }
    ATOLL_ANYWHERE constexpr std::uint64_t received_at(int from) const { return word_at(1, from); }
    /// Written by the receiver: the number that it has received.
    ATOLL_ANYWHERE constexpr std::uint64_t done_at(int by) const { return word_at(2, by); }
    /// Number of blocks that have done their part of one message.
    ATOLL_ANYWHERE constexpr std::uint64_t parts_at(int message) const { return word_at(3, message); }
    ATOLL_ANYWHERE constexpr std::uint64_t finished_at() const { return parts_at(MessagesCall::most); }
    /// Written by the sender. A notification is reused only after a whole later call, by which it has been
    /// read.
    ATOLL_ANYWHERE constexpr std::uint64_t header_at(int from, unsigned number) const {
        const std::uint64_t start = (finished_at() + 4 + 127) / 128 * 128;
        return start + (std::uint64_t{static_cast<unsigned>(from)} * MessagesCall::most +
                        number % MessagesCall::most) *
                           header_bytes;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t bytes() const { return header_at(n_pes, 0); }

  private:
    ATOLL_ANYWHERE constexpr std::uint64_t word_at(unsigned row, int i) const {
        return (std::uint64_t{row} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(i)) * 4;
    }
};

/// Layout of a team's memory for collectives on streams. Each block of a kernel counts its meetings with the
/// same block on the other PEs. Every PE makes the same calls with the same grids, so these counts agree. So
/// a captured graph contains no number that must differ in its replay.
struct GroupMemory {
    static constexpr unsigned most_blocks = 128;
    static constexpr unsigned unit_bytes = 16;  ///< a thread moves this many at once
    static constexpr unsigned exchange_threads = 256;
    static constexpr unsigned collect_blocks = 64;  ///< at most
    int n_pes;
    unsigned words_bytes;  ///< for messages; smaller if memory is short

    /// Number of blocks for one-shot exchanges: each has room for a message from every PE, twice.
    ATOLL_ANYWHERE constexpr unsigned exchange_blocks() const {
        const unsigned fit = words_bytes / (2u * static_cast<unsigned>(n_pes) * slot_bytes());
        return fit < 1 ? 1 : fit > 64 ? 64 : fit;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t exchange_limit_bytes() const {
        return std::uint64_t{exchange_blocks()} * exchange_threads * unit_bytes;
    }
    /// A block's part of a message. Each 16 bytes of data are two 16-byte words of {data 4, flag 4, data 4,
    /// flag 4}.
    ATOLL_ANYWHERE static constexpr unsigned slot_bytes() { return exchange_threads * unit_bytes * 2; }

    ATOLL_ANYWHERE static constexpr std::uint64_t count_at(unsigned block) {
        return std::uint64_t{block} * 4;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t flag_at(unsigned block, int from) const {
        return count_at(most_blocks) +
               (std::uint64_t{block} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(from)) * 4;
    }
    /// Address of the root's word for a block. It contains an offset in the root's slot: of the source of a
    /// large broadcast or scatter, or the target of a large reduce_to.
    ATOLL_ANYWHERE constexpr std::uint64_t root_at(unsigned block) const {
        return flag_at(most_blocks, 0) + std::uint64_t{block} * 8;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t words_at(unsigned parity, int from, unsigned block) const {
        const std::uint64_t start = (root_at(most_blocks) + 127) / 128 * 128;
        const std::uint64_t slot =
            (std::uint64_t{parity} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(from)) *
                exchange_blocks() +
            block;
        return start + slot * slot_bytes();
    }
    /// Address of the two 8-byte words in which `from` gives a block the offset and size of its source of a
    /// collect.
    ATOLL_ANYWHERE constexpr std::uint64_t source_at(unsigned block, int from) const {
        return words_at(2, 0, 0) +
               (std::uint64_t{block} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(from)) * 16;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t bytes() const { return source_at(collect_blocks, 0); }
};

}  // namespace atl::gpu
