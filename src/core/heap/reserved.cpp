#include "core/heap/reserved.hpp"

#include "core/base/job_base.hpp"
#include "core/heap/symmetric_heap.hpp"
#include "core/team/gathered.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace atl::core {

namespace {

constexpr std::size_t alignment = 256;  // no two blocks share a cache line, nor a pair of them

/// `bytes` up to a multiple of the alignment; nothing if that overflows.
std::optional<std::size_t> whole_blocks(std::size_t bytes) {
    std::size_t sum = 0;
    if (__builtin_add_overflow(bytes, alignment - 1, &sum)) return std::nullopt;
    return sum / alignment * alignment;
}

Words world_pes(const Team& team) {
    const std::vector<int>& members = team.state().members();
    return {members.begin(), members.end()};
}

/// Region, start and stop of a block, then the PEs of its team.
Words key_of(const ReservedSpan& span) {
    Words key{span.region, span.start, span.stop};
    for (const std::uint64_t pe : world_pes(span.team)) key.push_back(pe);
    return key;
}

}  // namespace

void Reserved::add(std::size_t bytes) {
    // Blocks take multiples of the alignment, so an array of just these bytes fits.
    bytes = whole_blocks(bytes).value_or(bytes);  // the heap refuses what overflows
    const Allocation made = heap_.allocate(bytes, alignment, {});
    if (bytes == 0) return;
    regions_.push_back({static_cast<char*>(made.address), bytes, made.zeroed ? 0 : bytes});
}

/// A block of another team may become this one's, so what this PE put there must have arrived. The barrier
/// of `take` completes what it put by this team.
void Reserved::complete_dropped(const Team& team) {
    std::vector<Team> others;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& span : spans_)
            if (!span->is_used && !(span->team == team)) others.push_back(span->team);
    }
    for (const Team& other : others) other.context().quiet();
}

/// Returns the keys of blocks that a member of the team uses, or a PE outside it may use. Collective.
std::set<Words> Reserved::kept_by(const Team& team) {
    Words mine;  // for each block: the length of its key, the key, and a word that is 1 while it is used
    {
        const std::lock_guard lock(mutex_);
        for (const auto& span : spans_) {
            const Words key = key_of(*span);
            mine.push_back(key.size());
            mine.insert(mine.end(), key.begin(), key.end());
            mine.push_back(span->is_used ? 1 : 0);
        }
    }
    Words here = world_pes(team);
    std::sort(here.begin(), here.end());
    const auto is_here = [&](std::uint64_t pe) { return std::binary_search(here.begin(), here.end(), pe); };
    std::set<Words> kept;
    for (const Words& words : gathered(team, mine))
        for (auto at = words.begin(); at != words.end();) {
            const auto end = at + 1 + static_cast<std::ptrdiff_t>(*at);
            Words key(at + 1, end);
            if (*end != 0 || !std::all_of(key.begin() + 3, key.end(), is_here)) kept.insert(std::move(key));
            at = end + 1;
        }
    return kept;
}

std::optional<std::uint64_t> Reserved::first_gap(const std::set<Words>& kept, std::uint64_t region,
                                                 std::size_t bytes) const {
    std::uint64_t at = 0;
    for (const Words& key : kept) {  // in the order of regions and starts
        if (key[0] != region) continue;
        if (key[1] >= at && key[1] - at >= bytes) return at;
        at = std::max(at, key[2]);
    }
    const std::uint64_t size = regions_[region].bytes;
    return at <= size && size - at >= bytes ? std::optional(at) : std::nullopt;
}

std::shared_ptr<ReservedSpan> Reserved::put_at(const Team& team, std::uint64_t number, std::uint64_t start,
                                               std::size_t bytes) {
    Region& region = regions_[number];
    auto span = std::make_shared<ReservedSpan>();
    span->region = number;
    span->start = start;
    span->stop = start + bytes;
    span->team = team;
    span->address = region.memory + start;
    if (start < region.written)
        std::memset(span->address, 0, std::min<std::uint64_t>(span->stop, region.written) - start);
    region.written = std::max<std::size_t>(region.written, span->stop);
    const std::uint64_t offset = job_.window().heap_offset(span->address);
    job_.recorder->forget_updates(offset, offset + bytes);
    {
        const std::lock_guard lock(mutex_);
        spans_.push_back(span);
    }
    team.sync();  // all members see zeros
    return span;
}

std::shared_ptr<ReservedSpan> Reserved::take(const Team& team, std::size_t bytes) {
    complete_dropped(team);
    team.barrier();
    const std::set<Words> kept = kept_by(team);
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(spans_, [&](const auto& span) { return !kept.contains(key_of(*span)); });
    }
    const std::optional<std::size_t> rounded = whole_blocks(std::max(bytes, std::size_t{1}));
    if (!rounded) refuse(team, bytes);
    for (std::uint64_t region = 0; region < regions_.size(); ++region)
        if (const auto start = first_gap(kept, region, *rounded))
            return put_at(team, region, *start, *rounded);
    refuse(team, *rounded);
}

void Reserved::release(const ReservedSpan& span) {
    const std::lock_guard lock(mutex_);
    std::erase_if(spans_, [&](const auto& each) { return each.get() == &span; });
}

void Reserved::note_dropped(const Team& team) {
    const std::lock_guard lock(mutex_);
    if (std::find(dropped_teams_.begin(), dropped_teams_.end(), team) == dropped_teams_.end())
        dropped_teams_.push_back(team);
}

void Reserved::complete_dropped_teams() {
    std::vector<Team> teams;
    {
        const std::lock_guard lock(mutex_);
        teams.swap(dropped_teams_);
    }
    for (const Team& team : teams) team.context().quiet();
}

void Reserved::refuse(const Team& team, std::size_t bytes) const {
    std::size_t total = 0;
    for (const Region& region : regions_) total += region.bytes;
    throw Error(ErrorCode::out_of_memory,
                "An array over a team of " + std::to_string(team.n_pes()) + " PEs needs " +
                    std::to_string(bytes) + " bytes in one piece on each member; " +
                    (total == 0 ? "no memory is reserved for it"
                                : std::to_string(total) + " bytes are reserved" +
                                      (spans_.empty() ? "" : ", and the arrays there leave too little")) +
                    ". All PEs call job.reserve_for_teams(bytes) before.");
}

}  // namespace atl::core
