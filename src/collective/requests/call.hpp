// Call: the arguments of one non-blocking operation, and Request: its state until it is done.
// Announcement: the part of a collective that its members compare.
#pragma once

#include "atoll/error.hpp"
#include "collective/requests/chain.hpp"
#include "collective/requests/folding.hpp"
#include "common/elf/call_site.hpp"
#include "common/recorder/recorder.hpp"
#include "core/calls/call_record.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace atl::requests {

enum class Kind : std::uint8_t {
    barrier,
    broadcast,
    reduce,
    all_reduce,
    all_gather,
    gather,
    scatter,
    reduce_scatter,
    all_to_all,
    send,
    receive,
};
inline constexpr int n_kinds = 11;
const char* name_of(Kind kind);
/// The name of the blocking collective of a team.
const char* team_name_of(Kind kind);

struct Call;
/// The name by which programs of PyTorch call it: "recv".
const char* operation_of(const Call& call);

/// Memory of the caller, valid until the request is done.
struct Span {
    char* data = nullptr;
    std::size_t bytes = 0;
};

/// A member's span, or the only one.
inline const Span& span_for(const std::vector<Span>& spans, int member) {
    return spans[spans.size() > 1 ? std::size_t(member) : 0];
}

/// The sender of a receive that takes a message of any member.
inline constexpr int any_source = -1;

struct Call {
    Kind kind = Kind::barrier;
    int root = 0;  ///< root, or the other member of a message, or any_source
    int tag = 0;   ///< tag of a message
    int type = 0;  ///< DType, or an 8-bit type of folding.hpp; only reductions use it
    ReduceOp op = ReduceOp::sum;
    /// The data that this member gives: one span, or one for each member (scatter at the root,
    /// reduce_scatter, all_to_all).
    std::vector<Span> in{};
    /// The place for what it receives: one span, or one for each member (all_gather, gather at the root,
    /// all_to_all).
    std::vector<Span> out{};
    /// The element type, encoded as in core/team/elements.hpp; 0 if it is not compared.
    std::uint64_t elements = 0;
    /// The pieces of an all_to_all have one size on all members.
    bool equal_pieces = false;

    /// Kind, operator, type and root, as bits.
    std::uint32_t bits() const;
    /// Returns a text such as "all_reduce (sum) of 16 bytes of float32".
    std::string text(std::uint64_t bytes) const;
    bool is_message() const { return kind == Kind::send || kind == Kind::receive; }
    bool folds() const {
        return kind == Kind::reduce || kind == Kind::all_reduce || kind == Kind::reduce_scatter;
    }
};

/// A collective as a member announces it beside its data. All of it must be equal on all members.
struct Announcement {
    std::uint32_t call = 0;      ///< Call::bits
    std::uint32_t elements = 0;  ///< letter and size of the element type; 0 if it is not compared
    std::uint32_t number = 0;    ///< number of the call within the group
    std::uint64_t bytes = 0;

    bool operator==(const Announcement&) const = default;
    /// Returns a text such as "all_reduce (sum) of 16 bytes".
    std::string text() const;
    /// The call as the blocking collectives of a team of `n` compare it.
    core::CallRecord record(int n) const;
};

enum class Status : int { pending, done, failed };

/// An operation in progress. The group writes it under its lock. After `status` has changed, anyone may read
/// it.
struct Request {
    Call call;
    Folding folding;
    std::uint64_t deadline_ns = 0;  ///< 0: none
    double timeout_s = 0;
    /// Runs once with the data in place, before `status` becomes done; under the group's lock.
    std::function<void()> finish;
    /// Runs once after `status` has changed, without the lock. The request then drops what these two hold.
    std::function<void(const Request&)> notify;

    std::atomic<Status> status{Status::pending};
    ErrorCode code = ErrorCode::system;
    std::string error;
    int source = -1;      ///< the sender of a received message
    bool is_run = false;  ///< the call that started it waits for it

    // ---- progress of a collective
    bool started = false;      ///< true once it was the oldest incomplete collective
    std::uint32_t number = 0;  ///< within the group, from 0
    std::uint64_t bytes = 0;   ///< that the members compare
    common::CallSite site;     ///< the program's line that started it; empty if that is not shown
    common::Recorder::Entry event;
    common::TickClock clock;                         ///< clock of the log
    std::uint64_t began_ticks = 0, ended_ticks = 0;  ///< for a log; 0: without one
    std::size_t piece = 0;                           ///< bytes for one member in one round
    std::uint32_t rounds = 1;
    std::uint32_t published = 0, consumed = 0;
    int arrived = 0;             ///< members whose data of the current round has been handled
    bool sends = false;          ///< this member publishes
    bool sliced = false;         ///< an all_reduce of two rounds a chunk
    bool shared = false;         ///< data for all members cross the network once for each host
    std::optional<Chain> chain;  ///< chain of an all_reduce that passes from host to host
    bool in_place = false;       ///< the others read this member's data where it lies
    bool drained = false;        ///< they have read all of it

    // ---- progress of a message
    std::uint64_t moved = 0;

    /// The announcement of this member, with a size of `of_bytes`.
    Announcement announcement(std::uint64_t of_bytes) const;
    /// Marks the end. Call it once, under the group's lock.
    void set_status(Status end) {
        if (event.event != nullptr)
            common::Recorder::set_state(
                event, end == Status::failed ? common::EventState::failed : common::EventState::ended);
        if (began_ticks != 0) ended_ticks = clock.now();
        status.store(end, std::memory_order_release);
    }
    bool is_over() const { return status.load(std::memory_order_acquire) != Status::pending; }
};
using RequestPtr = std::shared_ptr<Request>;

}  // namespace atl::requests
