// Routes between PEs, decided once when the job starts.
#include "bootstrap/host/host_segment.hpp"
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
        topology_.set_hosts(bootstrap::Hosts::one(n_pes_, pe_));
        return;
    }
    std::vector<std::string> notes;
    topology_.set_hosts(bootstrap::find_hosts(
        *bootstrap_, settings_, segment_.pes,
        memory::layout_note(settings_, static_data_.bytes(), static_cast<int>(segment_.pes.size())), notes));
    if (!one_board) layout_ = memory::agree_on_layout(notes, pe_);
}

bool JobState::uses_ucx() const {
    return settings_.transport == common::TransportChoice::ucx ||
           (settings_.transport == common::TransportChoice::automatic && topology_.hosts().n_domains > 1);
}

void JobState::make_transport() {
    const bool several = topology_.hosts().n_domains > 1;
    if (settings_.transport == common::TransportChoice::loopback)
        transport_ = make_loopback();
    else if (uses_ucx())
        transport_ = make_ucx(*this);
    // On one host the window reaches every PE, so a transport is used only if it is forced.
    topology_.set_transport(transport_.get(), transport_ && !several);
    window_.routed = transport_ != nullptr;
    window_.orders = window_.routed || window_.counts;
    if (several) check_reached();
    if (transport_ && settings_.ucx_connect_all) transport_->connect_all();
}

/// The reference transport loads and stores, so it also maps the memory of simulated hosts.
std::unique_ptr<transport::Transport> JobState::make_loopback() const {
    std::shared_ptr<memory::Mapping> all = mapping_;
    if (topology_.hosts().n_domains > 1 && !segment_.heap_memory)
        all = std::make_shared<memory::Mapping>(
            segment_.heap_fd, layout_, static_cast<int>(segment_.pes.size()), file_slot_of(segment_, pe_));
    std::vector<char*> bases;
    for (int pe = 0; pe < n_pes_; ++pe) {
        const int in_file = segment_.heap_memory ? pe : file_slot_of(segment_, pe);
        bases.push_back(topology_.maps(pe) ? mapping_->slot(topology_.host_slot(pe).number())
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
        if (topology_.maps(pe)) continue;
        if (transport_ && transport_->reaches(pe) && !(one_memory_only && file_slot_of(segment_, pe) < 0))
            continue;
        throw Error(
            ErrorCode::unsupported,
            topology_.location_text(pe_) + " cannot reach " + topology_.location_text(pe) +
                ": they share no memory, and with ATOLL_TRANSPORT=" + common::name_of(settings_.transport) +
                (transport_ ? " (" + std::string(transport_->name()) + ") nothing goes"
                            : " there is no transport") +
                " between them. `atoll info` lists the transports of this installation.");
    }
}

}  // namespace atl::core
