// Reclaims blocks that every PE has dropped, in the next collective allocation. A PE drops when its
// language's garbage collector does, so the lists differ. The PEs compare them, a few serial numbers per
// meeting.
#include "core/base/job_base.hpp"
#include "core/heap/symmetric_heap.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>
#include <cstring>

namespace atl::core {

namespace {

constexpr std::size_t per_meeting = exchange_bytes / sizeof(std::uint64_t) - 1;

/// One PE's message in a meeting: some of its dropped serials, and the number of all beyond `after`.
struct Part {
    std::uint64_t remaining = 0;
    std::uint64_t serials[per_meeting] = {};
};
static_assert(sizeof(Part) == exchange_bytes);

Part part_of(const std::vector<std::uint64_t>& sorted, std::uint64_t after) {
    Part part;
    auto it = std::upper_bound(sorted.begin(), sorted.end(), after);
    part.remaining = static_cast<std::uint64_t>(sorted.end() - it);
    for (std::size_t i = 0; i < per_meeting && it != sorted.end(); ++i) part.serials[i] = *it++;
    return part;
}

bool holds(const Part& part, std::uint64_t serial) {
    return std::find(std::begin(part.serials), std::end(part.serials), serial) != std::end(part.serials);
}

/// The largest serial up to which this part is complete.
std::uint64_t complete_up_to(const Part& part) {
    return part.remaining > per_meeting ? part.serials[per_meeting - 1] : ~std::uint64_t{0};
}

}  // namespace

void SymmetricHeap::reclaim_dropped() {
    std::vector<std::uint64_t> mine;
    {
        std::lock_guard lock(dropped_mutex_);
        mine = dropped_;
    }
    std::sort(mine.begin(), mine.end());
    TeamState& world = this->world();
    std::vector<std::uint64_t> common;
    for (std::uint64_t after = 0;;) {
        const Part part = part_of(mine, after);
        world.exchange("allocate", &part, sizeof part);
        std::vector<Part> parts(static_cast<std::size_t>(job_.n_pes()));
        bool nothing = false;
        std::uint64_t complete = ~std::uint64_t{0};
        for (int i = 0; i < job_.n_pes(); ++i) {
            std::memcpy(&parts[static_cast<std::size_t>(i)], world.exchanged(i), sizeof(Part));
            nothing |= parts[static_cast<std::size_t>(i)].remaining == 0;
            complete = std::min(complete, complete_up_to(parts[static_cast<std::size_t>(i)]));
        }
        if (nothing) break;
        for (const std::uint64_t serial : part.serials)
            if (serial != 0 && serial <= complete &&
                std::all_of(parts.begin(), parts.end(),
                            [&](const Part& other) { return holds(other, serial); }))
                common.push_back(serial);
        if (complete == ~std::uint64_t{0}) break;
        after = complete;
    }
    if (common.empty()) return;
    {
        std::lock_guard lock(mutex_);
        for (const std::uint64_t serial : common)
            if (const auto it = offset_of_.find(serial); it != offset_of_.end())
                release_block(it->second);
            else if (devices_.owned())
                devices_.owned()->reclaim(serial);
    }
    {
        std::lock_guard lock(dropped_mutex_);
        std::erase_if(dropped_, [&](std::uint64_t s) {
            return std::find(common.begin(), common.end(), s) != common.end();
        });
    }
    // Large blocks returned their pages. No PE may put into a block made of them before its owner has done
    // so.
    world.sync("allocate");
}

}  // namespace atl::core
