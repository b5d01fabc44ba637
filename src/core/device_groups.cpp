// A device heap's memory for collectives and messages on streams: one block of every slot, a place a team.
#include "atoll/device/control.hpp"
#include "core/device_memory.hpp"
#include "core/job_state.hpp"
#include "heap/device_calls.hpp"

namespace atl::core {

namespace {

// For collectives on streams: the world team has room for messages of 256 KiB between two PEs, a few others
// for less.
constexpr unsigned world_words_bytes = 2u << 20;
constexpr unsigned team_words_bytes = 256u << 10;
constexpr int most_group_places = 8;
constexpr int most_members = 16;  ///< of such a team: a message of 4 KiB from each, twice

/// What a team's messages stand behind.
constexpr std::size_t collective_bytes(int n_pes, unsigned words_bytes) {
    return (heap::GroupMemory{n_pes, words_bytes}.bytes() + 127) / 128 * 128;
}
constexpr std::size_t place_bytes(int n_pes, unsigned words_bytes) {
    return (collective_bytes(n_pes, words_bytes) + heap::MessageMemory{n_pes}.bytes() + 127) / 128 * 128;
}
constexpr std::size_t team_place_bytes = place_bytes(most_members, team_words_bytes);
constexpr std::size_t group_memory_bytes(int n_pes, std::size_t tickets_bytes) {
    return place_bytes(n_pes, world_words_bytes) + (most_group_places - 1) * team_place_bytes +
           tickets_bytes + line_bytes;
}

}  // namespace

void DeviceMemory::reserve_group_memory() {
    const std::size_t bytes = group_memory_bytes(job_.n_pes(), team_tickets_bytes);
    // All that is taken of a GPU before a user's first byte: 8 MiB in chunks of 2 MiB, of up to 128 PEs.
    static_assert(device::control_area_bytes <= 2u << 20 &&
                  group_memory_bytes(128, team_tickets_bytes) <= 6u << 20);
    void* block = allocate(bytes, 128, 0);
    group_offset_ = offset_of(block);
    group_bytes_ = bytes;
    own_chunks_ = chunk_bytes_.size();
    fill_on_all(block, 0, bytes);
}

DeviceMemory::GroupPlace DeviceMemory::group_place(const TeamState& team) const {
    char* start = mine() + group_offset_;
    const int place = team.kernel_place();
    const std::size_t world_bytes = place_bytes(job_.n_pes(), world_words_bytes);
    if (place == 0)
        return {start, world_words_bytes, start + collective_bytes(job_.n_pes(), world_words_bytes),
                world_bytes};
    if (place < 0 || place >= most_group_places || team.n_pes() > most_members)
        throw Error(ErrorCode::unsupported,
                    team.name() +
                        " has no device memory for collectives on streams: there is some for the world "
                        "team and " +
                        std::to_string(most_group_places - 1) + " others alive at once, of " +
                        std::to_string(most_members) +
                        " PEs at most; destroy teams that are no longer used.");
    start += world_bytes + static_cast<std::size_t>(place - 1) * team_place_bytes;
    return {start, team_words_bytes, start + collective_bytes(most_members, team_words_bytes),
            team_place_bytes};
}

void DeviceMemory::clear_group_place(const TeamState& team) const {
    if (team.kernel_place() <= 0 || team.kernel_place() >= most_group_places || team.n_pes() > most_members)
        return;
    const GroupPlace place = group_place(team);
    fill(place.address, 0, place.bytes);
}

}  // namespace atl::core
