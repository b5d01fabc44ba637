// The device heap's memory for collectives and messages on streams: one block in every slot, with a place for
// each team.
#include "atoll/device/control.hpp"
#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "core/team/kernel_control.hpp"
#include "gpu/device_calls.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/heap/group_pages.hpp"

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
constexpr std::size_t pages_bytes = GroupPages::all * GroupPages::page_bytes;
constexpr std::size_t group_memory_bytes(int n_pes, std::size_t tickets_bytes) {
    return place_bytes(n_pes, world_words_bytes) + pages_bytes + tickets_bytes + core::line_bytes;
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

void DeviceMemory::reserve_group_memory() {
    const std::size_t bytes = group_memory_bytes(job_.n_pes(), team_tickets_bytes);
    // The library's whole use of a GPU before a user's first byte: 8 MiB in chunks of 2 MiB, for up to 128
    // PEs.
    static_assert(device::control_area_bytes <= 2u << 20 &&
                  group_memory_bytes(128, team_tickets_bytes) <= 6u << 20);
    void* block = allocate(bytes, 128, 0);
    group_offset_ = offset_of(block);
    group_bytes_ = bytes;
    own_chunks_ = chunk_bytes_.size();
    fill_on_all(block, 0, bytes);
}

/// At most a quarter of the free pages serves longer messages, so that later teams find room.
GroupPages group_pages_for(const core::TeamState& team, std::uint64_t offered) {
    const int n = team.n_pes();
    if (team.kernel_place() <= 0 || n > device::most_team_pes || core::first_far(team) >= 0) return {};
    const auto quarter = static_cast<unsigned>(std::popcount(offered)) / 4;
    const unsigned fewest = fewest_words_bytes(n);
    for (unsigned words = std::max(fewest, most_team_words_bytes);; words = std::max(fewest, words / 2)) {
        const unsigned count = pages_for(n, words);
        if (const std::uint64_t run = core::run_of(offered, count);
            run != 0 && (count <= quarter || words == fewest))
            return {run, words};
        if (words == fewest) return {};
    }
}

DeviceMemory::GroupPlace DeviceMemory::group_place(const core::TeamState& team) const {
    char* start = mine() + group_offset_;
    const std::size_t world_bytes = place_bytes(job_.n_pes(), world_words_bytes);
    if (team.kernel_place() == 0)
        return {start, world_words_bytes, start + collective_bytes(job_.n_pes(), world_words_bytes),
                world_bytes};
    const int n = team.n_pes();
    const GroupPages& pages = team.group_pages();
    if (pages.bits == 0)
        throw Error(ErrorCode::unsupported,
                    team.name() + " has no device memory for collectives on streams: of its " +
                        std::to_string(n) + " PEs it would take " +
                        common::bytes_text(pages_for(n, fewest_words_bytes(n)) * GroupPages::page_bytes) +
                        " on each, and when it was made, no such part was free on all of them; all teams but "
                        "the world have " +
                        common::bytes_text(pages_bytes) +
                        " together. Destroy unused teams, then create this one again.");
    start += world_bytes + pages.first() * GroupPages::page_bytes;
    return {start, pages.words_bytes, start + collective_bytes(n, pages.words_bytes),
            place_bytes(n, pages.words_bytes)};
}

void DeviceMemory::clear_group_place(const core::TeamState& team) const {
    if (team.group_pages().bits == 0) return;
    const GroupPlace place = group_place(team);
    fill(place.address, 0, place.bytes);
}

}  // namespace atl::gpu
