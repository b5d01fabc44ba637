// What the library asks of a GPU in the order of a stream: small values with all addresses worked out, so
// that the core knows no CUDA and the GPU's side knows no teams' bookkeeping. Kernels take them as arguments.
#pragma once

#include "atoll/detail/many_words.hpp"
#include "atoll/device/control.hpp"
#include "atoll/device/far_ring.hpp"
#include "atoll/device/team.hpp"
#include "atoll/types.hpp"

#include <cstdint>
#include <variant>

namespace atl::heap {

/// A CUstream, as CUDA's driver and its runtime (cudaStream_t) both know it.
using StreamHandle = void*;

/// `bytes` from `src` to `dst`, any of them this GPU's, a peer's in the window, or pinned host memory. Then,
/// where `signal` is not null, that word is set to or increased by `value`, after the data.
struct CopyCall {
    void* dst;
    const void* src;
    std::uint64_t bytes;
    std::uint64_t* signal;
    std::uint64_t value;
    SignalOp signal_op;
};

/// `count` blocks, strides in bytes.
struct StridedCall {
    void* dst;
    const void* src;
    std::int64_t dst_stride;
    std::int64_t src_stride;
    std::uint64_t block_bytes;
    std::uint64_t count;
};

/// One atomic on a word; a store of 1 or 2 bytes too (`set` of a narrow type). What stood there before goes
/// to `result` where that is not null.
struct WordCall {
    void* word;
    void* result;
    std::uint64_t value;
    std::uint64_t compare;
    AtomicOp op;
    DType type;
};

/// The stream goes on once `*word compare value`; `value` is then subtracted by signal_consume, of uint64.
struct WaitCall {
    device::Team team;  ///< whose end ends the wait
    void* word;
    std::uint64_t value;
    Compare compare;
    DType type;
    device::Operation operation;  ///< wait_until, signal_wait_until or signal_consume
    int reported_values;          ///< of device::Report::compare, beside the comparison
};

/// Many words of this PE. A wait holds the stream until what it is for is there, a test looks once; what is
/// found goes to `asked.out`.
struct WaitManyCall {
    device::Team team;  ///< whose end ends the wait
    detail::ManyWords asked;
    device::Operation operation;  ///< of a wait
    int reported_values;          ///< as WaitCall's
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
    /// The first half of a large reduce: this PE's part of the result, in its own dst. The next call of the
    /// team is a sync, which ends what this one began.
    reduce_part,
    // ---- what a member gets is folded from some members' sources; see is_ranged
    reduce_to,
    inscan,
    exscan,
    // ---- of the calls below that are not GroupCalls, or become several
    collect,
    alltoalls,
};

/// What these fold depends on who gets it: they have kernels of their own.
ATOLL_ANYWHERE constexpr bool is_ranged(Group kind) {
    return kind == Group::reduce_to || kind == Group::inscan || kind == Group::exscan;
}
/// Of how many members, the first ones, `pe` gets the fold. 0: none, or, of exscan, zeros.
ATOLL_ANYWHERE constexpr int folded_for(Group kind, int pe, int n_pes, int root) {
    if (kind == Group::reduce_to) return pe == root ? n_pes : 0;
    return kind == Group::inscan ? pe + 1 : kind == Group::exscan ? pe : n_pes;
}

/// Bytes of an array of which every PE has a part: whole units of 16, so that no element is cut.
struct GroupPart {
    std::uint64_t first, last;
};
ATOLL_ANYWHERE constexpr GroupPart group_part(std::uint64_t bytes, int n_pes, int pe) {
    const auto n = static_cast<std::uint64_t>(n_pes);
    const std::uint64_t each = ((bytes + 15) / 16 + n - 1) / n * 16;
    const std::uint64_t first = each * static_cast<std::uint64_t>(pe);
    return {first < bytes ? first : bytes, first + each < bytes ? first + each : bytes};
}

/// A collective. `bytes` is one PE's block; `memory` the team's own memory in this PE's slot.
struct GroupCall {
    device::Team team;
    char* memory;
    unsigned words_bytes;         ///< of that memory: see GroupMemory
    device::Operation operation;  ///< for people; of steps that of their whole
    void* dst;
    const void* src;  ///< of broadcast and scatter the root's alone is looked at
    std::uint64_t bytes;
    /// From one PE's block to the next's. Only messages of at most GroupMemory::exchange_limit_bytes may have
    /// them differ from `bytes`; such messages may also stand anywhere that this GPU reaches, at other places
    /// on other PEs.
    std::uint64_t dst_stride, src_stride;
    double scale;  ///< what sums multiply each source by
    int root;      ///< -1: none
    Group kind;
    DType type;
    ReduceOp op;
};

/// What members pass may have other sizes: `group.bytes` is this one's, and all are put one behind the other
/// in dst. Sources stand anywhere in the device heap, dst anywhere that this GPU reaches.
struct CollectCall {
    GroupCall group;
    std::uint64_t dst_bytes;  ///< a kernel that finds more stops with a report
};

/// A message to or from a member of a team. `order`: how many of the same call go the same way before it.
struct Message {
    void* data;
    std::uint64_t bytes;
    int pe;
    unsigned order;
    bool is_send;
};

/// Messages that progress together; what is sent stands in the device heap, and its receiver fetches it.
/// `memory` is the team's own in this PE's slot, see MessageMemory.
struct MessagesCall {
    static constexpr int most = 64;
    device::Team team;
    char* memory;
    int count;
    Message messages[most];
};

/// Numbers as atl::Numbers has them: the i-th is at `each` + i * step * bytes, or `one` where that is null.
struct ElementNumbers {
    const void* each;
    std::int64_t one;
    unsigned bytes;  ///< 4 or 8, signed
    unsigned step;   ///< 0: the first for all
};

/// `count` single elements of one symmetric array, each by its number and PE. The kernel checks both. An
/// element goes in `element_bytes / unit_bytes` accesses, of a size that all addresses are multiples of.
struct ElementsCall {
    device::Team team;
    char* first;  ///< element 0, in this PE's slot
    std::int64_t step_bytes;
    std::uint64_t size;  ///< of the array, in elements
    std::uint64_t count;
    std::uint64_t begin;  ///< how many of the caller's elements stand before these
    ElementNumbers index, pe;
    char* values;  ///< what take writes and the others read; null: `value`
    std::uint64_t values_step_bytes;
    std::uint64_t value[2];
    std::uint64_t element_bytes;
    unsigned unit_bytes;          ///< 1, 2, 4, 8 or 16
    device::Operation operation;  ///< take, put_at or add_at
    DType type;                   ///< of add_at
    bool has_far;                 ///< a transport reaches some PEs of the team
};

using device::FarKind;
using device::FarRequest;
using device::FarRing;

/// The stream goes on when a thread of the host has done what is asked, with all that others see of it.
struct FarCall {
    device::Team team;  ///< whose end ends the wait
    FarRing* ring;
    unsigned long long* tickets;  ///< in this GPU's memory: how many were taken
    FarRequest request;
};

enum class MailboxStep : std::uint8_t { post, receive, try_receive, try_post };

/// One message of a mailbox in the device heap, to or from a member of its team. How: mailbox_on_device.hpp.
struct MailboxCall {
    device::Team team;
    char* block;  ///< as device::Mailbox has them
    std::uint64_t room;
    device::FlaggedPair* sizes;  ///< of messages, by sender, in this PE's slot
    void* data;
    std::uint64_t bytes;    ///< of the message, or what `data` has room for
    std::int64_t* arrived;  ///< null, or told how many elements came; -1: none, or try_post found no room
    std::uint64_t unit;     ///< bytes of an element
    int pe;
    MailboxStep step;
    bool refuses;  ///< a message that does not fit stays, and `arrived` says so; else the kernel stops
};

using DeviceCall = std::variant<CopyCall, StridedCall, WordCall, WaitCall, WaitManyCall, GroupCall,
                                CollectCall, MessagesCall, FarCall, ElementsCall, MailboxCall>;

/// Where a team's memory for messages on streams holds what. Sender and receiver of a pair count alike.
struct MessageMemory {
    static constexpr unsigned letter_bytes = 32;  ///< where data are and how many, with their own flags
    int n_pes;

    ATOLL_ANYWHERE constexpr std::uint64_t sent_at(int to) const { return word_at(0, to); }
    ATOLL_ANYWHERE constexpr std::uint64_t received_at(int from) const { return word_at(1, from); }
    /// Written by the receiver: how many it has.
    ATOLL_ANYWHERE constexpr std::uint64_t done_at(int by) const { return word_at(2, by); }
    /// Blocks that have done their part: of one message, of all.
    ATOLL_ANYWHERE constexpr std::uint64_t parts_at(int message) const { return word_at(3, message); }
    ATOLL_ANYWHERE constexpr std::uint64_t finished_at() const { return parts_at(MessagesCall::most); }
    /// Written by the sender. A letter is written again only after a whole later call, which found it read.
    ATOLL_ANYWHERE constexpr std::uint64_t letter_at(int from, unsigned number) const {
        const std::uint64_t start = (finished_at() + 4 + 127) / 128 * 128;
        return start + (std::uint64_t{static_cast<unsigned>(from)} * MessagesCall::most +
                        number % MessagesCall::most) *
                           letter_bytes;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t bytes() const { return letter_at(n_pes, 0); }

  private:
    ATOLL_ANYWHERE constexpr std::uint64_t word_at(unsigned row, int i) const {
        return (std::uint64_t{row} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(i)) * 4;
    }
};

/// Where a team's memory for collectives on streams holds what. A block of a kernel counts how often it met
/// its namesakes on the other PEs; since every PE makes the same calls with the same grids, these counts
/// agree, and no captured graph holds a number that its replay must not see again.
struct GroupMemory {
    static constexpr unsigned most_blocks = 128;
    static constexpr unsigned unit_bytes = 16;  ///< what a thread moves at once
    static constexpr unsigned exchange_threads = 256;
    static constexpr unsigned collect_blocks = 64;  ///< at most
    int n_pes;
    unsigned words_bytes;  ///< for messages; less where there is less room

    /// One-shot exchanges: blocks that have room for a message from every PE, twice.
    ATOLL_ANYWHERE constexpr unsigned exchange_blocks() const {
        const unsigned fit = words_bytes / (2u * static_cast<unsigned>(n_pes) * slot_bytes());
        return fit < 1 ? 1 : fit > 64 ? 64 : fit;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t exchange_limit_bytes() const {
        return std::uint64_t{exchange_blocks()} * exchange_threads * unit_bytes;
    }
    /// A block's part of a message: each 16 bytes of data are two 16-byte words of {data 4, flag 4, data 4,
    /// flag 4}.
    ATOLL_ANYWHERE static constexpr unsigned slot_bytes() { return exchange_threads * unit_bytes * 2; }

    ATOLL_ANYWHERE static constexpr std::uint64_t count_at(unsigned block) {
        return std::uint64_t{block} * 4;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t flag_at(unsigned block, int from) const {
        return count_at(most_blocks) +
               (std::uint64_t{block} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(from)) * 4;
    }
    /// Where the source of a large broadcast or scatter stands in the root's slot, told by the root's block;
    /// of a large reduce_to its target.
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
    /// Where `from` tells a block where its source of a collect stands in its slot, and of how many bytes:
    /// two words of 8.
    ATOLL_ANYWHERE constexpr std::uint64_t told_at(unsigned block, int from) const {
        return words_at(2, 0, 0) +
               (std::uint64_t{block} * static_cast<unsigned>(n_pes) + static_cast<unsigned>(from)) * 16;
    }
    ATOLL_ANYWHERE constexpr std::uint64_t bytes() const { return told_at(collect_blocks, 0); }
};

}  // namespace atl::heap
