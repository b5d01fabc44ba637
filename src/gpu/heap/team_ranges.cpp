// The device heap's memory for collectives and messages on streams: one block in every slot, with a range for
// each team.
#include "gpu/heap/team_ranges.hpp"
#include "gpu/device_calls.hpp"
#include "memory/round_up.hpp"

#include <algorithm>

namespace atl::gpu {

namespace {

// Memory for collectives on streams. The world team's fits messages of 256 KiB between two PEs; other teams
// get less.
constexpr unsigned world_words_bytes = 2u << 20;
constexpr unsigned most_team_words_bytes = 256u << 10;

constexpr std::size_t whole_lines(std::size_t bytes) { return memory::round_up(bytes, 128); }
/// Bytes of a team's memory for collectives; its messages follow.
constexpr std::size_t collective_bytes(int n_pes, unsigned words_bytes) {
    return whole_lines(GroupMemory{n_pes, words_bytes}.bytes());
}
constexpr std::size_t range_bytes(int n_pes, unsigned words_bytes) {
    return whole_lines(collective_bytes(n_pes, words_bytes) + MessageMemory{n_pes}.bytes());
}
/// The word of `tickets` has a cache line of its own.
constexpr std::size_t tickets_line_bytes = 128;
/// Words that count the tickets of teams' servers: two for each team.
constexpr std::size_t team_tickets_bytes(std::size_t most_teams) {
    return whole_lines(most_teams * 2 * sizeof(std::uint64_t));
}
constexpr std::size_t all_bytes(int n_pes, std::size_t teams_bytes, std::size_t most_teams) {
    return range_bytes(n_pes, world_words_bytes) + whole_lines(teams_bytes) + team_tickets_bytes(most_teams) +
           tickets_line_bytes;
}
// The library's whole use of a GPU before a user's first byte is 8 MiB in chunks of 2 MiB, for up to 64 PEs.
// Teams in kernels have 2 MiB of it.
static_assert(all_bytes(64, 2u << 20, 128) <= 6u << 20);

}  // namespace

std::uint64_t stream_range_bytes(int n_pes, unsigned words_bytes) { return range_bytes(n_pes, words_bytes); }

/// Room for a message of 4 KiB from each member, twice.
unsigned fewest_words_bytes(int n_pes) {
    return 2u * static_cast<unsigned>(n_pes) * GroupMemory::slot_bytes();
}

/// Returns the bytes for longer messages: at most a quarter of the free memory, so that later teams find
/// room.
unsigned words_bytes_for(int n_pes, std::uint64_t free_bytes) {
    const unsigned fewest = fewest_words_bytes(n_pes);
    unsigned words = std::max(fewest, most_team_words_bytes);
    while (words > fewest && range_bytes(n_pes, words) > free_bytes / 4) words = std::max(fewest, words / 2);
    return words;
}

std::size_t TeamRanges::bytes(const Sizes& sizes) {
    return all_bytes(sizes.n_pes, sizes.teams_bytes, sizes.most_teams);
}

TeamRanges::Range TeamRanges::world() const noexcept {
    return {start_, world_words_bytes, start_ + collective_bytes(sizes_.n_pes, world_words_bytes),
            range_bytes(sizes_.n_pes, world_words_bytes)};
}

TeamRanges::Range TeamRanges::of(int n_pes, const StreamRange& range) const noexcept {
    char* const start = start_ + range_bytes(sizes_.n_pes, world_words_bytes) + range.offset;
    return {start, range.words_bytes, start + collective_bytes(n_pes, range.words_bytes),
            range_bytes(n_pes, range.words_bytes)};
}

unsigned long long* TeamRanges::tickets() const noexcept {
    return reinterpret_cast<unsigned long long*>(start_ + bytes(sizes_) - tickets_line_bytes);
}

unsigned long long* TeamRanges::team_tickets(std::size_t team) const noexcept {
    char* const first = start_ + bytes(sizes_) - tickets_line_bytes - team_tickets_bytes(sizes_.most_teams);
    return reinterpret_cast<unsigned long long*>(first) + 2 * team;
}

}  // namespace atl::gpu
