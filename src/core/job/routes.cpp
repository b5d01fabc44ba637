// Routes between PEs, decided once when the job starts.
#include "bootstrap/host/host_segment.hpp"
#include "common/pe_ranges.hpp"
#include "core/job/job_state.hpp"
#include "core/job/ucx_transport.hpp"
#include "transport/loopback/loopback.hpp"

#include <algorithm>

namespace atl::core {

/// Finds the PEs that share memory with this one.
void JobState::find_hosts() {
    if (settings_.static_data && !segment_.heap_memory) static_data_ = memory::find_static_data();
    if (segment_.pes.empty()) segment_.pes = bootstrap::all_pes(n_pes_);
    const bool one_board = static_cast<int>(segment_.pes.size()) == n_pes_;
    if (one_board)
        layout_ = memory::agree_on_layout(segment_.board, settings_, static_data_.bytes(), pe_, n_pes_);
    if (one_board && settings_.host_ids.empty()) {
        hosts_ = bootstrap::Hosts::one(n_pes_, pe_);
        return;
    }
    std::vector<std::string> notes;
    hosts_ = bootstrap::find_hosts(
        *bootstrap_, settings_, segment_.pes,
        memory::layout_note(settings_, static_data_.bytes(), static_cast<int>(segment_.pes.size())), notes);
    if (!one_board) layout_ = memory::agree_on_layout(notes, pe_);
}

/// Assigns slots of the window to the PEs of this PE's domain, in PE order. If PEs are threads, to all PEs.
void JobState::place_slots() {
    slots_.assign(static_cast<std::size_t>(n_pes_), -1);
    for (std::size_t i = 0; i < hosts_.members.size(); ++i) {
        const int pe = hosts_.members[i];
        slots_[static_cast<std::size_t>(pe)] = segment_.heap_memory ? pe : static_cast<int>(i);
        file_slots_.push_back(file_slot_of(pe));
    }
}

/// Index of a PE's slot in heap_fd; -1 if it is not there.
int JobState::file_slot_of(int pe) const {
    const auto found = std::lower_bound(segment_.pes.begin(), segment_.pes.end(), pe);
    return found != segment_.pes.end() && *found == pe ? static_cast<int>(found - segment_.pes.begin()) : -1;
}

int JobState::pe_of_slot(int slot) const {
    return segment_.heap_memory ? slot : hosts_.members[static_cast<std::size_t>(slot)];
}

bool JobState::uses_ucx() const {
    return settings_.transport == common::TransportChoice::ucx ||
           (settings_.transport == common::TransportChoice::automatic && hosts_.n_domains > 1);
}

void JobState::make_transport() {
    const bool several = hosts_.n_domains > 1;
    if (settings_.transport == common::TransportChoice::loopback)
        transport_ = make_loopback();
    else if (uses_ucx())
        transport_ = make_ucx(*this);
    // On one host the window reaches every PE, so a transport is used only if it is forced.
    everything_routed_ = transport_ && !several;
    window_.routed = transport_ != nullptr;
    if (several) check_reached();
    if (transport_ && settings_.ucx_connect_all) transport_->connect_all();
}

/// The reference transport loads and stores, so it also maps the memory of pretended hosts.
std::unique_ptr<transport::Transport> JobState::make_loopback() const {
    std::shared_ptr<memory::Mapping> all = mapping_;
    if (hosts_.n_domains > 1 && !segment_.heap_memory)
        all = std::make_shared<memory::Mapping>(segment_.heap_fd, layout_,
                                                static_cast<int>(segment_.pes.size()), file_slot_of(pe_));
    std::vector<char*> bases;
    for (int pe = 0; pe < n_pes_; ++pe) {
        const int in_file = segment_.heap_memory ? pe : file_slot_of(pe);
        bases.push_back(host_slot(pe) >= 0 ? mapping_->slot(host_slot(pe))
                        : in_file >= 0     ? all->slot(in_file)
                                           : nullptr);
    }
    return transport::create_loopback(
        n_pes_, [all, mapping = mapping_, bases](int pe) { return bases[static_cast<std::size_t>(pe)]; });
}

/// Throws for the first PE that neither the window nor a transport reaches.
void JobState::check_reached() const {
    const bool one_memory_only = settings_.transport == common::TransportChoice::loopback;
    for (int pe = 0; pe < n_pes_; ++pe) {
        if (host_slot(pe) >= 0) continue;
        if (transport_ && transport_->reaches(pe) && !(one_memory_only && file_slot_of(pe) < 0)) continue;
        const auto place = [&](int of) {
            return "PE " + std::to_string(of) + " (host " +
                   hosts_.names[static_cast<std::size_t>(hosts_.host_of[static_cast<std::size_t>(of)])] + ")";
        };
        throw Error(
            ErrorCode::unsupported,
            place(pe_) + " cannot reach " + place(pe) +
                ": they share no memory, and with ATOLL_TRANSPORT=" + common::name_of(settings_.transport) +
                (transport_ ? " (" + std::string(transport_->name()) + ") nothing goes"
                            : " there is no transport") +
                " between them. `atoll info` lists the transports of this installation.");
    }
}

void JobState::make_predefined_teams() {
    const auto me = static_cast<std::size_t>(pe_);
    const int host = hosts_.host_of[me];
    const auto split = [&](int color) {
        auto team = core::split(world_state(), color, pe_, call_record("init"));
        team->set_predefined();
        return Team(std::move(team));
    };
    shared_ = split(hosts_.domain_of[me]);
    host_ = split(host);
    const auto before = std::count(hosts_.host_of.begin(), hosts_.host_of.begin() + pe_, host);
    rail_ = split(static_cast<int>(before));
}

/// The rail team. On one host it is this PE alone. Created when first needed.
const Team& JobState::rail() {
    const std::lock_guard lock(rail_mutex_);
    if (!rail_) {
        auto* control = static_cast<ControlBlock*>(arena_allocate(ControlBlock::bytes(1)));
        auto team = std::make_shared<TeamState>(*this, next_team_number(), std::vector<int>{pe_}, 0,
                                                TeamMemory{control, true, {}});
        team->set_predefined();
        rail_ = Team(std::move(team));
    }
    return rail_;
}

std::string_view JobState::route_to(int pe) const {
    if (pe == pe_) return "itself";
    return slot(pe) >= 0 ? "window" : transport_->name();
}

std::string JobState::reaches_text() const {
    std::map<std::string_view, std::vector<int>> ways;
    for (int pe = 0; pe < n_pes_; ++pe)
        if (pe != pe_) ways[route_to(pe)].push_back(pe);
    std::string text;
    for (const auto& [way, pes] : ways)
        text += (text.empty() ? "" : ", ") + std::string(way) + " to PE " + common::pe_ranges(pes);
    return "PE " + std::to_string(pe_) + " (host " +
           hosts_.names[static_cast<std::size_t>(hosts_.host_of[static_cast<std::size_t>(pe_)])] +
           "): " + (text.empty() ? "alone" : text) + note_text();
}

/// The transport's own note, in parentheses.
std::string JobState::note_text() const {
    const std::string note = transport_ ? transport_->note() : std::string();
    return note.empty() ? note : " (" + note + ")";
}

std::string JobState::routes_text() const {
    std::string text;
    for (int host = 0; host < hosts_.n_hosts(); ++host) {
        std::vector<int> pes;
        for (int pe = 0; pe < n_pes_; ++pe)
            if (hosts_.host_of[static_cast<std::size_t>(pe)] == host) pes.push_back(pe);
        text += (host == 0 ? "  host " : "; host ") + hosts_.names[static_cast<std::size_t>(host)] + ": PE " +
                common::pe_ranges(pes) + " by ";
        std::vector<std::string_view> ways;
        for (const int pe : pes)
            if (const auto way = route_to(pe);
                way != "itself" && std::find(ways.begin(), ways.end(), way) == ways.end())
                ways.push_back(way);
        if (ways.empty()) ways.emplace_back("its own loads and stores");
        for (std::size_t i = 0; i < ways.size(); ++i) text += (i ? " and " : "") + std::string(ways[i]);
    }
    return text + note_text();
}

}  // namespace atl::core
