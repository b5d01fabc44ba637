// The device heap's memory for collectives and messages on streams: one block in every slot, with a place for
// each team.
#include "gpu/heap/team_places.hpp"
#include "atoll/device/control.hpp"
#include "gpu/device_calls.hpp"
#include "gpu/kernel_places.hpp"

#include <algorithm>
#include <bit>

namespace atl::gpu {

namespace {

// Memory for collectives on streams. The world team's fits messages of 256 KiB between two PEs; other teams
// get less.
constexpr unsigned world_words_bytes = 2u << 20;
constexpr unsigned most_team_words_bytes = 256u << 10;

/// Bytes of a team's memory for collectives, rounded up; its messages follow.
constexpr std::size_t collective_bytes(int n_pes, unsigned words_bytes) {
    return (GroupMemory{n_pes, words_bytes}.bytes() + 127) / 128 * 128;
}
constexpr std::size_t place_bytes(int n_pes, unsigned words_bytes) {
    return (collective_bytes(n_pes, words_bytes) + MessageMemory{n_pes}.bytes() + 127) / 128 * 128;
}
/// The word of `tickets` has a cache line of its own.
constexpr std::size_t tickets_line_bytes = 64;
/// Words that count the tickets of teams' servers: two for each kernel place.
constexpr std::size_t team_tickets_bytes = 64 * 2 * sizeof(std::uint64_t);
constexpr std::size_t all_places_bytes(int n_pes) {
    return place_bytes(n_pes, world_words_bytes) + GroupPages::all_bytes + team_tickets_bytes +
           tickets_line_bytes;
}

/// Room for a message of 4 KiB from each member, twice.
constexpr unsigned fewest_words_bytes(int n_pes) {
    return 2u * static_cast<unsigned>(n_pes) * GroupMemory::slot_bytes();
}
constexpr unsigned pages_for(int n_pes, unsigned words_bytes) {
    return static_cast<unsigned>((place_bytes(n_pes, words_bytes) + GroupPages::page_bytes - 1) /
                                 GroupPages::page_bytes);
}
static_assert(pages_for(device::most_team_pes, fewest_words_bytes(device::most_team_pes)) <= GroupPages::all,
              "the largest team that kernels serve has room");

}  // namespace

std::size_t TeamPlaces::bytes(int n_pes) {
    // The library's whole use of a GPU before a user's first byte: 8 MiB in chunks of 2 MiB, for up to 128
    // PEs.
    static_assert(device::control_area_bytes <= 2u << 20 && all_places_bytes(128) <= 6u << 20);
    return all_places_bytes(n_pes);
}

/// At most a quarter of the free pages serves longer messages, so that later teams find room.
GroupPages group_pages_for(int n_pes, std::uint64_t offered) {
    const auto quarter = static_cast<unsigned>(std::popcount(offered)) / 4;
    const unsigned fewest = fewest_words_bytes(n_pes);
    for (unsigned words = std::max(fewest, most_team_words_bytes);; words = std::max(fewest, words / 2)) {
        const unsigned count = pages_for(n_pes, words);
        if (const std::uint64_t run = run_of(offered, count);
            run != 0 && (count <= quarter || words == fewest))
            return {run, words};
        if (words == fewest) return {};
    }
}

std::size_t fewest_pages_bytes(int n_pes) {
    return pages_for(n_pes, fewest_words_bytes(n_pes)) * GroupPages::page_bytes;
}

TeamPlaces::Place TeamPlaces::world() const noexcept {
    return {start_, world_words_bytes, start_ + collective_bytes(n_pes_, world_words_bytes),
            place_bytes(n_pes_, world_words_bytes)};
}

TeamPlaces::Place TeamPlaces::of(int n_pes, const GroupPages& pages) const noexcept {
    char* const start =
        start_ + place_bytes(n_pes_, world_words_bytes) + pages.first() * GroupPages::page_bytes;
    return {start, pages.words_bytes, start + collective_bytes(n_pes, pages.words_bytes),
            place_bytes(n_pes, pages.words_bytes)};
}

unsigned long long* TeamPlaces::tickets() const noexcept {
    return reinterpret_cast<unsigned long long*>(start_ + bytes(n_pes_) - tickets_line_bytes);
}

unsigned long long* TeamPlaces::team_tickets(int kernel_place) const noexcept {
    char* const first = start_ + bytes(n_pes_) - tickets_line_bytes - team_tickets_bytes;
    return reinterpret_cast<unsigned long long*>(first) + 2 * static_cast<std::size_t>(kernel_place);
}

}  // namespace atl::gpu
