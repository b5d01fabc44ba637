#include "core/base/topology.hpp"

#include "common/pe_ranges.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <map>

namespace atl::core {

void Topology::assign_slots(const bootstrap::HostSegment& segment) {
    all_in_window_ = segment.heap_memory != nullptr;
    slots_.assign(static_cast<std::size_t>(n_pes_), detail::Slot());
    for (std::size_t i = 0; i < hosts_.members.size(); ++i) {
        const int pe = hosts_.members[i];
        slots_[static_cast<std::size_t>(pe)] = detail::Slot(all_in_window_ ? pe : static_cast<int>(i));
        file_slots_.push_back(file_slot_of(segment, pe));
    }
}

int file_slot_of(const bootstrap::HostSegment& segment, int pe) {
    const auto found = std::lower_bound(segment.pes.begin(), segment.pes.end(), pe);
    return found != segment.pes.end() && *found == pe ? static_cast<int>(found - segment.pes.begin()) : -1;
}

bool Topology::has_window_to(int pe) const { return slot(pe).is_near(); }

bool Topology::maps(int pe) const { return host_slot(pe).is_near(); }

int Topology::first_far(const std::vector<int>& pes) const {
    const auto found = std::find_if(pes.begin(), pes.end(), [&](int pe) { return !has_window_to(pe); });
    return found == pes.end() ? -1 : *found;
}

std::string Topology::location_text(int pe) const {
    const auto host = static_cast<std::size_t>(hosts_.host_of[static_cast<std::size_t>(pe)]);
    return "PE " + std::to_string(pe) + " (host " + hosts_.names[host] + ")";
}

std::string_view Topology::route_to(int pe) const {
    if (pe == pe_) return "itself";
    return has_window_to(pe) ? "window" : transport_->name();
}

std::string Topology::reaches_text() const {
    std::map<std::string_view, std::vector<int>> routes;
    for (int pe = 0; pe < n_pes_; ++pe)
        if (pe != pe_) routes[route_to(pe)].push_back(pe);
    std::string text;
    for (const auto& [route, pes] : routes)
        text += (text.empty() ? "" : ", ") + std::string(route) + " to PE " + common::pe_ranges(pes);
    return location_text(pe_) + ": " + (text.empty() ? "alone" : text) + note_text();
}

std::string Topology::note_text() const {
    const std::string note = transport_ ? transport_->note() : std::string();
    return note.empty() ? note : " (" + note + ")";
}

std::string Topology::routes_text() const {
    std::string text;
    for (int host = 0; host < hosts_.n_hosts(); ++host) {
        std::vector<int> pes;
        for (int pe = 0; pe < n_pes_; ++pe)
            if (hosts_.host_of[static_cast<std::size_t>(pe)] == host) pes.push_back(pe);
        text += (host == 0 ? "  host " : "; host ") + hosts_.names[static_cast<std::size_t>(host)] + ": PE " +
                common::pe_ranges(pes) + " by ";
        std::vector<std::string_view> routes;
        for (const int pe : pes)
            if (const auto route = route_to(pe);
                route != "itself" && std::find(routes.begin(), routes.end(), route) == routes.end())
                routes.push_back(route);
        if (routes.empty()) routes.emplace_back("its own loads and stores");
        for (std::size_t i = 0; i < routes.size(); ++i) text += (i ? " and " : "") + std::string(routes[i]);
    }
    return text + note_text();
}

}  // namespace atl::core
