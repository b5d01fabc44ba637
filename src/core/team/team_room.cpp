#include "core/team/team_room.hpp"

#include "atoll/device/control.hpp"
#include "core/base/job_base.hpp"

#include <algorithm>

namespace atl::core {

namespace {

using gpu::KernelPlaces;

std::uint32_t in_units(std::uint64_t offset) {
    return offset == KernelPlaces::none ? RoomOffer::none
                                        : static_cast<std::uint32_t>(offset / KernelPlaces::unit_bytes);
}

/// The proposals of all members for one of the two memories.
struct Proposals {
    std::uint32_t least = RoomOffer::none, most = 0;
    bool has_none = false;

    void add(std::uint32_t offset) {
        has_none = has_none || offset == RoomOffer::none;
        least = std::min(least, offset);
        most = std::max(most, offset);
    }
    bool agree() const { return has_none || least == most; }
    std::uint64_t latest() const { return std::uint64_t{most} * KernelPlaces::unit_bytes; }
};

struct AllProposals {
    Proposals places, rooms;
    std::uint32_t least_words = ~0u, most_words = 0;
    int n_pes = 0;

    explicit AllProposals(const std::vector<RoomOffer>& offers) : n_pes(static_cast<int>(offers.size())) {
        for (const RoomOffer& offer : offers) {
            places.add(offer.place);
            rooms.add(offer.room);
            least_words = std::min(least_words, offer.words_bytes);
            most_words = std::max(most_words, offer.words_bytes);
        }
    }
    /// True if a member has no range of this size, and a smaller one would do.
    bool can_shrink() const { return rooms.has_none && least_words > gpu::fewest_words_bytes(n_pes); }
    bool rooms_agree() const {
        return least_words == most_words && (least_words == 0 || (rooms.agree() && !can_shrink()));
    }
};

}  // namespace

TeamRoom::TeamRoom(JobBase& job, int n_pes, bool for_streams)
    : n_pes_(n_pes), place_(job.kernels().places), room_(job.kernels().rooms) {
    propose_place(0);
    if (!for_streams) return;
    offer_.words_bytes = gpu::words_bytes_for(n_pes, job.kernels().rooms.free_bytes());
    propose_room(0);
}

void TeamRoom::propose_place(std::uint64_t from) {
    place_.take(device::ControlLayout{n_pes_}.bytes(), from);
    offer_.place = in_units(place_.offset());
}

void TeamRoom::propose_room(std::uint64_t from) {
    room_.take(gpu::group_room_bytes(n_pes_, offer_.words_bytes), from);
    offer_.room = in_units(room_.offset());
}

bool TeamRoom::is_settled(const std::vector<RoomOffer>& offers) {
    const AllProposals all(offers);
    return all.places.agree() && all.rooms_agree();
}

void TeamRoom::go_on(const std::vector<RoomOffer>& offers) {
    const AllProposals all(offers);
    if (all.places.has_none) {
        place_.drop();
        offer_.place = RoomOffer::none;
    } else if (!all.places.agree()) {
        propose_place(all.places.latest());
    }
    if (all.rooms_agree()) {
        if (!all.rooms.has_none) return;
        room_.drop();
        offer_.room = RoomOffer::none;
    } else if (all.least_words != all.most_words || all.can_shrink()) {
        offer_.words_bytes = all.least_words != all.most_words
                                 ? all.least_words
                                 : std::max(all.least_words / 2, gpu::fewest_words_bytes(n_pes_));
        propose_room(0);
    } else {
        propose_room(all.rooms.latest());
    }
}

void TeamRoom::keep(const std::vector<RoomOffer>& offers, TeamKernels& kernels) {
    const AllProposals all(offers);
    if (all.places.has_none) return;  // such a team has no memory for streams either
    kernels.place = place_.keep();
    if (!all.rooms.has_none) kernels.group_room = {room_.keep(), offer_.words_bytes};
}

}  // namespace atl::core
