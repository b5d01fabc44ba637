#include <algorithm>
#include <cstring>

#include "atoll/team.hpp"
#include "collective/arguments.hpp"
#include "collective/on_device.hpp"
#include "collective/sources.hpp"

namespace atl {

namespace collective {
namespace {

void broadcast_line(State& state, const core::Called& call, void* dst, const void* src, std::size_t bytes,
                    int root) {
    const bool is_root = state.my_pe() == root;
    state.team().exchange(call, is_root ? src : nullptr, bytes);
    // The result of the root is in dst, too.
    if (!is_root)
        copy_bytes(dst, state.team().exchanged(root), bytes);
    else if (dst != src)
        copy_bytes(dst, src, bytes);
}

/// Every member reads the root's source, or its copy in staging.
void broadcast_read(State& state, const core::Called& call, void* dst, const void* src, std::size_t bytes,
                    int root, bool staged) {
    const bool is_root = state.my_pe() == root;
    Sources sources(state, call,
                    {.data = src, .block_bytes = bytes, .contributes = is_root, .staged = staged},
                    {.first = root, .count = 1, .most = 1});
    sources.run([&] {
        if (!is_root)
            copy_bytes(static_cast<char*>(dst) + sources.lo(), sources.at(root, 0), sources.length(root));
        else if (dst != src)
            copy_bytes(static_cast<char*>(dst) + sources.lo(), static_cast<const char*>(src) + sources.lo(),
                       sources.length(root));
    });
}

/// Describes the root's source or another member's target, and whether other members can access it.
struct BroadcastLine {
    enum : unsigned { reachable = 1, of_root = 2 };
    Place place;
    std::uint64_t bytes;

    bool is_reachable() const { return (place.flags() & reachable) != 0; }
    bool is_of_root() const { return (place.flags() & of_root) != 0; }
};

/// Throws unless `line` of `member` belongs to this call, because memory is accessed by its contents.
void check_line(const State& state, const BroadcastLine& line, std::size_t bytes, int member, int root) {
    if (line.is_of_root() != (member == root) || !state.is_in_slot(line.place.offset(), 0) ||
        (line.is_reachable() && !state.is_in_slot(line.place.offset(), line.bytes)))
        throw_other_call(state, "broadcast", member);
    if (line.bytes != bytes) throw_sizes(state, "broadcast", member, line.bytes, bytes);
}

/// The size of a segment: small enough to share out evenly, large enough that the cost of taking one is small
/// beside the copy.
std::size_t segment_bytes(std::size_t bytes) {
    return std::clamp<std::size_t>(bytes / 64, 8 * 1024, 64 * 1024) / core::line_bytes * core::line_bytes;
}

/// Takes one of `segments` from the counter that the root and one target share. They start from opposite
/// ends, so the counter is all the synchronization that they need.
bool take_segment(core::SyncLine& taken, std::size_t segments) {
    return taken.flag.value.fetch_add(1, std::memory_order_relaxed) < segments;
}

/// Each target reads from the front, and the root writes to it from the back, until they meet. Both cores
/// work, and the faster direction does more. False if the root's source is not accessible.
bool broadcast_both(State& state, const core::Called& call, void* dst, const void* src, std::size_t bytes,
                    int root) {
    core::TeamState& team = state.team();
    const int me = state.my_pe();
    const void* told = me == root ? src : dst;
    const bool reachable = state.reachable(told, bytes);
    const BroadcastLine mine{
        Place(reachable ? state.offset_of(told, bytes) : 0,
              (reachable ? BroadcastLine::reachable : 0u) | (me == root ? BroadcastLine::of_root : 0u)),
        bytes};
    const auto line = [&](int i) { return reinterpret_cast<const BroadcastLine*>(team.exchanged(i)); };
    const auto taken = [&](int i) -> core::SyncLine& { return team.member(i).taken; };
    taken(me).flag.value.store(0, std::memory_order_relaxed);
    team.exchange(call, &mine, sizeof mine);
    for (int i = 0; i < state.n_pes(); ++i) check_line(state, *line(i), bytes, i, root);
    if (!line(root)->is_reachable()) return false;

    const std::size_t segment = segment_bytes(bytes);
    const std::size_t segments = (bytes + segment - 1) / segment;
    const auto copy = [&](std::size_t k, char* to, const char* from) {
        std::memcpy(to + k * segment, from + k * segment, std::min(segment, bytes - k * segment));
    };
    if (me != root) {
        const char* from = state.at(root, line(root)->place.offset());
        for (std::size_t k = 0; take_segment(taken(me), segments); ++k)
            copy(k, static_cast<char*>(dst), from);
    } else {
        if (dst != src) copy_bytes(dst, src, bytes);
        for (int d = 1; d < state.n_pes(); ++d) {
            const int i = (root + d) % state.n_pes();
            if (!line(i)->is_reachable()) continue;
            char* to = state.at(i, line(i)->place.offset());
            for (std::size_t k = segments; take_segment(taken(i), segments); --k)
                copy(k - 1, to, static_cast<const char*>(src));
        }
    }
    team.sync(call);
    return true;
}

}  // namespace
}  // namespace collective

void Team::broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                           int root) const {
    using namespace collective;
    State& state = State::of(this->state());
    // Only the root's source is read; on other members it may be empty.
    const std::size_t passed = state.my_pe() == root || src_bytes != 0 ? src_bytes : dst_bytes;
    const core::Called call = check_call(state, "broadcast", {dst_bytes, root, 0, state.elements()},
                                         {dst_bytes, root, passed, state.elements()});
    check_root(state, root);
    check_size("broadcast", "src", passed, dst_bytes);
    if (is_on_device(state, "broadcast", dst, src)) [[unlikely]]
        return run_on_device(
            state, call,
            {.kind = heap::Group::broadcast, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
    check_given(state, "broadcast", dst, dst_bytes, src, state.my_pe() == root ? dst_bytes : 0);
    switch (const Algorithm algorithm = state.choose(Collective::broadcast, dst_bytes, dst_bytes)) {
        case Algorithm::line:
            return broadcast_line(state, call, dst, src, dst_bytes, root);
        case Algorithm::both:
            if (broadcast_both(state, call, dst, src, dst_bytes, root)) return;
            [[fallthrough]];
        default:
            return broadcast_read(state, call, dst, src, dst_bytes, root, algorithm == Algorithm::staged);
    }
}

}  // namespace atl
