#include "stream/on_device.hpp"

#include "collective/arguments.hpp"
#include "common/text.hpp"
#include "core/context/route.hpp"

#include <algorithm>

namespace atl::stream {

namespace {

using gpu::Group;
using gpu::GroupArguments;
using gpu::GroupMemory;

/// A team's stream for calls that block the host. Threads in collectives of two teams thus wait for other
/// PEs, but not for one another.
class Lane final : public core::TeamAttachment {
  public:
    static Lane& of(core::TeamState& team) {
        if (!team.device_lane) team.device_lane = std::make_unique<Lane>(*team.job().devices().memory());
        return static_cast<Lane&>(*team.device_lane);
    }
    explicit Lane(const gpu::DeviceMemory& device) : device_(device), lane_(device.lanes().take()) {}
    void release() noexcept override { device_.lanes().release(lane_); }

    gpu::StreamHandle stream() const { return lane_.stream; }
    void start(const gpu::GroupCall& call) const { device_.streams().start(call, lane_.stream); }
    void finish() const { device_.streams().finish(lane_.stream); }
    const gpu::Lane& pinned() {
        device_.lanes().pin(lane_);
        return lane_;
    }
    /// Pinned memory for parts of arrays that the GPU cannot access: half of it for sources, half for
    /// targets.
    char* staged_src() { return pinned().pinned; }
    char* staged_dst() { return staged_src() + gpu::lane_pinned_bytes / 2; }

  private:
    const gpu::DeviceMemory& device_;
    gpu::Lane lane_;
};

// The location of an array without an offset in the device heap.
constexpr std::uint64_t on_gpu = ~std::uint64_t{0};  ///< elsewhere, but this PE's GPU reaches it
constexpr std::uint64_t on_host = ~std::uint64_t{1};
constexpr std::uint64_t unused = ~std::uint64_t{2};

/// The message of each member.
struct Arrays {
    std::uint64_t dst = unused, src = unused;
    std::int32_t code = 0;  ///< the error code if this member's arguments are wrong
    std::int32_t pad = 0;
    std::uint64_t src_bytes = 0;  ///< in collect this member's size; otherwise that of a block, equal on all
    std::uint64_t dst_bytes = 0;  ///< capacity of dst in collect
};
static_assert(sizeof(Arrays) <= core::exchange_bytes);

std::uint64_t array_offset(const core::JobState& job, const gpu::DeviceMemory& device, const char* operation,
                           const char* name, const void* array, std::size_t bytes) {
    if (device.in_window(array) && !device.holds(array))
        throw Error(ErrorCode::not_symmetric,
                    std::string(operation) + ": " + name + " (" + common::address_text(array) +
                        ") is in another PE's slot; pass the address in this PE's own device heap.");
    if (!array)
        throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + name + " is null, but " +
                                                     common::bytes_text(bytes) +
                                                     " of it are needed on this PE.");
    const core::Route own = core::route_of_own(job, array, bytes);
    if (own.path == core::Path::window) return on_host;
    if (own.local_on_gpu) return on_gpu;
    if (job.window().check) device.check(array, bytes);
    return own.offset;
}

Arrays describe(State& state, const char* operation, const GroupArguments& arguments) {
    const core::JobState& job = state.job();
    const gpu::DeviceMemory& device = *job.devices().memory();
    const int me = state.my_pe(), n = state.n_pes();
    Arrays arrays;
    arrays.src_bytes = arguments.bytes;
    if (arguments.kind == Group::collect) arrays.dst_bytes = arguments.room;
    if (arguments.writes(me))
        arrays.dst = array_offset(job, device, operation, "dst", arguments.dst, arguments.dst_bytes(n));
    if (arguments.reads(me))
        arrays.src = array_offset(job, device, operation, "src", arguments.src, arguments.src_bytes(n));
    check_overlap(operation, arguments, me, n);
    return arrays;
}

/// Synchronizes the members and returns the arrays of all. Throws on all members if the arguments of one are
/// wrong.
std::vector<Arrays> meet(State& state, const core::Called& called, const GroupArguments& arguments) {
    const char* const operation = called.operation();
    core::TeamState& team = state.team();
    Arrays mine;
    std::exception_ptr error;
    try {
        mine = describe(state, operation, arguments);
    } catch (const Error& e) {
        error = std::current_exception();
        mine.code = static_cast<std::int32_t>(e.code());
        mine.src_bytes = arguments.bytes;
    }
    team.exchange(called, &mine, sizeof mine);
    if (error) std::rethrow_exception(error);
    std::vector<Arrays> all(static_cast<std::size_t>(team.n_pes()));
    for (int i = 0; i < team.n_pes(); ++i) {
        Arrays& theirs = all[static_cast<std::size_t>(i)];
        std::memcpy(&theirs, team.exchanged(i), sizeof theirs);
        if (theirs.code != 0)
            throw Error(static_cast<ErrorCode>(theirs.code),
                        std::string(operation) + ": what PE " + std::to_string(team.world_pe(i)) +
                            " passed was refused; its own message says why. No PE's arrays were touched.");
        if (arguments.kind != Group::collect && theirs.src_bytes != arguments.bytes)
            collective::throw_sizes(state, operation, i, theirs.src_bytes, arguments.bytes);
    }
    return all;
}

/// The common offset of all arrays that are used, or `unused`.
std::uint64_t common_offset(const std::vector<Arrays>& all, std::uint64_t Arrays::*which) {
    std::uint64_t offset = unused;
    for (const Arrays& arrays : all) {
        const std::uint64_t at = arrays.*which;
        if (at == unused) continue;
        if (at == on_gpu || at == on_host || (offset != unused && at != offset)) return unused;
        offset = at;
    }
    return offset;
}

/// True if peers can access the arrays by this PE's offsets.
bool can_go_at_once(const std::vector<Arrays>& all, Group kind) {
    if (common_offset(all, &Arrays::src) == unused) return false;
    if (kind == Group::reduce || kind == Group::broadcast || gpu::is_ranged(kind))
        return common_offset(all, &Arrays::dst) != unused;
    return std::none_of(all.begin(), all.end(), [](const Arrays& a) { return a.dst == on_host; });
}

/// True if peers can access each source by the address in its PE's message.
bool can_collect_at_once(const std::vector<Arrays>& all) {
    return std::none_of(all.begin(), all.end(), [](const Arrays& a) {
        return a.src == on_gpu || a.src == on_host || a.dst == on_host;
    });
}

/// The total size of all blocks, for which each dst has room.
std::size_t total_of(const State& state, const std::vector<Arrays>& all) {
    std::uint64_t total = 0;
    for (const Arrays& a : all) total += a.src_bytes;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].dst_bytes < total)
            throw Error(ErrorCode::shape_mismatch,
                        "collect: dst of PE " + std::to_string(state.team().world_pe(static_cast<int>(i))) +
                            " has " + std::to_string(all[i].dst_bytes) + " bytes, the PEs of " +
                            state.team().name() + " sent " + std::to_string(total) +
                            " in all; pass a larger dst.");
    return total;
}

std::size_t most_at_once(const gpu::GroupCall& call) {
    return GroupMemory{call.team.n_pes, call.words_bytes}.exchange_limit_bytes();
}

/// Runs a collective in pieces through the team's own memory. Memory that the GPU cannot access is staged.
class Pieces {
  public:
    Pieces(Lane& lane, const gpu::GroupCall& call, const GroupArguments& arguments, const Arrays& mine)
        : lane_(lane), call_(call), n_(call.team.n_pes) {
        if (mine.src == on_host) src_blocks_ = arguments.src_blocks(n_);
        if (mine.dst == on_host) dst_blocks_ = arguments.dst_blocks(n_);
    }
    void run() const {
        const std::size_t most = most_at_once(call_);
        for (std::size_t at = 0; at < call_.bytes; at += most)
            move(at, std::min<std::size_t>(most, call_.bytes - at));
        lane_.finish();
    }

  private:
    /// PEs other than the root may pass a null pointer.
    template <class Char> static Char* after(Char* array, std::size_t bytes) {
        return array ? array + bytes : nullptr;
    }
    void move(std::size_t at, std::size_t bytes) const {
        gpu::GroupCall piece = call_;
        piece.bytes = bytes;
        if (src_blocks_ != 0) {
            char* staged = lane_.staged_src();
            for (std::size_t b = 0; b < src_blocks_; ++b)
                std::memcpy(staged + b * bytes, static_cast<const char*>(call_.src) + b * call_.bytes + at,
                            bytes);
            piece.src = staged;
            piece.src_stride = bytes;
        } else {
            piece.src = after(static_cast<const char*>(call_.src), at);
        }
        piece.dst = dst_blocks_ != 0 ? lane_.staged_dst() : after(static_cast<char*>(call_.dst), at);
        if (dst_blocks_ != 0) piece.dst_stride = bytes;
        lane_.start(piece);
        if (src_blocks_ != 0 || dst_blocks_ != 0) lane_.finish();
        for (std::size_t b = 0; b < dst_blocks_; ++b)
            std::memcpy(static_cast<char*>(call_.dst) + b * call_.bytes + at, lane_.staged_dst() + b * bytes,
                        bytes);
    }

    Lane& lane_;
    const gpu::GroupCall& call_;
    int n_;
    std::size_t src_blocks_ = 0, dst_blocks_ = 0;  ///< that are staged
};

}  // namespace

void run_on_device(State& state, const core::Called& called, const GroupArguments& arguments) {
    if (arguments.bytes == 0) return;
    const std::vector<Arrays> all = meet(state, called, arguments);
    const Arrays& mine = all[static_cast<std::size_t>(state.my_pe())];
    core::TeamState& team = state.team();
    if (is_far(team)) return run_by_host(team, arguments);
    const gpu::GroupCall call = group_call(team, arguments);
    Lane& lane = Lane::of(team);
    if (call.bytes <= most_at_once(call) || !can_go_at_once(all, arguments.kind))
        return Pieces(lane, call, arguments, mine).run();
    start_group(team, *team.job().devices().memory(), call, lane.stream());
    lane.finish();
}

std::size_t collect_on_device(State& state, const core::Called& called, const GroupArguments& arguments) {
    const std::vector<Arrays> all = meet(state, called, arguments);
    GroupArguments fitted = arguments;
    fitted.room = total_of(state, all);
    if (fitted.room == 0) return 0;
    core::TeamState& team = state.team();
    if (is_far(team) || !can_collect_at_once(all)) {
        run_by_host(team, fitted);
    } else {
        Lane& lane = Lane::of(team);
        const gpu::DeviceMemory& device = *team.job().devices().memory();
        start_collective(team, device, fitted, group_call(team, fitted), lane.stream());
        lane.finish();
    }
    return fitted.room;
}

void alltoalls_on_device(State& state, const core::Called& called, const GroupArguments& arguments) {
    if (arguments.is_empty()) return;
    const std::vector<Arrays> all = meet(state, called, arguments);
    core::TeamState& team = state.team();
    Lane& lane = Lane::of(team);
    if (is_far(team) || !can_go_at_once(all, arguments.kind))
        return run_by_host(team, arguments, &lane.pinned());
    const gpu::DeviceMemory& device = *team.job().devices().memory();
    start_collective(team, device, arguments, group_call(team, arguments), lane.stream());
    lane.finish();
}

}  // namespace atl::stream
