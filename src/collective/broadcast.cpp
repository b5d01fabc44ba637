#include <algorithm>
#include <cstring>
#include <vector>

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
    ArrayLocation location;
    std::uint64_t bytes;

    bool is_reachable() const { return (location.flags() & reachable) != 0; }
    bool is_of_root() const { return (location.flags() & of_root) != 0; }
};

ArrayLocation location_of(const State& state, const void* p, std::size_t bytes, unsigned flags) {
    const bool reachable = state.reachable(p, bytes);
    return {reachable ? state.offset_of(p, bytes) : 0, flags | (reachable ? BroadcastLine::reachable : 0u)};
}

/// Throws unless `line` of `member` belongs to this call, because memory is accessed by its contents.
void check_line(const State& state, const BroadcastLine& line, std::size_t bytes, int member, int root) {
    if (line.is_of_root() != (member == root) || !state.is_in_slot(line.location.offset(), 0) ||
        (line.is_reachable() && !state.is_in_slot(line.location.offset(), line.bytes)))
        throw_other_call(state, "broadcast", member);
    if (line.bytes != bytes) throw_sizes(state, "broadcast", member, line.bytes, bytes);
}

/// The segments of a broadcast, which the root and a target share out between them.
class Segments {
  public:
    Segments(State& state, std::size_t bytes)
        : state_(state),
          bytes_(bytes),
          each_(std::clamp<std::size_t>(bytes / 64, least, most) / core::line_bytes * core::line_bytes) {}

    std::size_t count() const { return (bytes_ + each_ - 1) / each_; }
    /// Takes one from the counter that the root and one target share. They start from opposite ends, so the
    /// counter is all the synchronization that they need.
    bool take(core::SyncLine& taken) const {
        return taken.flag.value.fetch_add(1, std::memory_order_relaxed) < count();
    }
    /// Copies segment `k` to the same place in the target of `member`.
    void copy(std::size_t k, int member, char* target, const char* source) const {
        const std::size_t at = k * each_, length = std::min(each_, bytes_ - at);
        if (member != state_.my_pe() && bytes_ >= CopyChoices::others_from_bytes)
            state_.copies().others.copy(target + at, source + at, length);
        else if (bytes_ >= CopyChoices::own_from_bytes)
            state_.copies().own.copy(target + at, source + at, length);
        else
            std::memcpy(target + at, source + at, length);
    }

  private:
    /// Bounds of a segment: small enough to share out evenly, large enough that the cost of taking one is
    /// small beside the copy.
    static constexpr std::size_t least = 8 * 1024, most = 64 * 1024;
    State& state_;
    std::size_t bytes_, each_;
};

/// Meets the other members and returns their checked lines.
std::vector<BroadcastLine> meet_for_both(State& state, const core::Called& call, const BroadcastLine& mine,
                                         int root) {
    core::TeamState& team = state.team();
    team.member(state.my_pe()).taken.flag.value.store(0, std::memory_order_relaxed);
    team.exchange(call, &mine, sizeof mine);
    std::vector<BroadcastLine> lines(static_cast<std::size_t>(state.n_pes()));
    for (int i = 0; i < state.n_pes(); ++i) {
        BroadcastLine& line = lines[static_cast<std::size_t>(i)];
        std::memcpy(&line, team.exchanged(i), sizeof line);
        check_line(state, line, mine.bytes, i, root);
    }
    return lines;
}

/// Meets, and returns the root's own target; null if it is the source, or if others cannot access it.
char* own_target(State& state, const core::Called& call, const void* dst, const void* src, std::size_t bytes,
                 int root) {
    core::TeamState& team = state.team();
    const ArrayLocation mine = dst != src ? location_of(state, dst, bytes, 0) : ArrayLocation();
    team.exchange(call, &mine, sizeof mine);
    ArrayLocation own;
    std::memcpy(&own, team.exchanged(root), sizeof own);
    if ((own.flags() & BroadcastLine::reachable) == 0) return nullptr;
    if (!state.is_in_slot(own.offset(), bytes)) throw_other_call(state, "broadcast", root);
    return state.at(root, own.offset());
}

/// Each target reads from the front, and the root writes to it from the back, until they meet. Both cores
/// work, and the faster direction does more. False if the root's source is not accessible.
bool broadcast_both(State& state, const core::Called& call, void* dst, const void* src, std::size_t bytes,
                    int root) {
    core::TeamState& team = state.team();
    const int me = state.my_pe();
    const ArrayLocation location =
        location_of(state, me == root ? src : dst, bytes, me == root ? BroadcastLine::of_root : 0u);
    const std::vector<BroadcastLine> lines = meet_for_both(state, call, {location, bytes}, root);
    const auto line = [&](int i) -> const BroadcastLine& { return lines[static_cast<std::size_t>(i)]; };
    const auto taken = [&](int i) -> core::SyncLine& { return team.member(i).taken; };
    if (!line(root).is_reachable()) return false;

    const Segments segments(state, bytes);
    // Caches hold less than this, so each segment is read once for two targets: the next member's and the
    // root's own.
    const int next = (root + 1) % state.n_pes();
    const bool is_for_two = bytes >= CopyChoices::own_from_bytes && line(next).is_reachable();
    char* const own = is_for_two ? own_target(state, call, dst, src, bytes, root) : nullptr;
    if (me != root) {
        const char* from = state.at(root, line(root).location.offset());
        for (std::size_t k = 0; segments.take(taken(me)); ++k) {
            segments.copy(k, me, static_cast<char*>(dst), from);
            if (own && me == next) segments.copy(k, root, own, from);
        }
    } else {
        const auto* from = static_cast<const char*>(src);
        for (std::size_t k = 0; k < segments.count() && !own && dst != src; ++k)
            segments.copy(k, me, static_cast<char*>(dst), from);
        for (int d = 1; d < state.n_pes(); ++d) {
            const int i = (root + d) % state.n_pes();
            if (!line(i).is_reachable()) continue;
            char* to = state.at(i, line(i).location.offset());
            for (std::size_t k = segments.count(); segments.take(taken(i)); --k) {
                segments.copy(k - 1, i, to, from);
                if (own && i == next) segments.copy(k - 1, root, own, from);
            }
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
    const core::Meetings::Within within(state.team().meetings(), "broadcast");
    // Only the root's source is read; on other members it may be empty.
    const std::size_t passed = state.my_pe() == root || src_bytes != 0 ? src_bytes : dst_bytes;
    const core::Called call = check_call(state, "broadcast", {dst_bytes, root, 0, state.elements()},
                                         {dst_bytes, root, passed, state.elements()});
    check_root(state, root);
    check_size("broadcast", "src", passed, dst_bytes);
    if (is_on_device(state, "broadcast", dst, src)) [[unlikely]]
        return run_on_device(
            state, call,
            {.kind = gpu::Group::broadcast, .dst = dst, .src = src, .bytes = dst_bytes, .root = root});
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
