#include "core/job/job_state.hpp"

#include "atoll/device/control.hpp"
#include "atoll/version.hpp"
#include "common/clock.hpp"
#include "common/log.hpp"
#include "common/wait_hooks.hpp"
#include "core/job/start_watch.hpp"
#include "core/job/ucx_transport.hpp"
#include "core/job/world_view.hpp"
#include "core/team/kernel_control.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

namespace atl::core {

/// Number of pauses before a wait yields: if every PE of the host has its own core, and if not.
constexpr int spins_with_cores = 1000;
constexpr int spins_without = 10;
constexpr double line_trip_ns = 60;

/// Number of pauses that take this long. A pause takes from 10 to 50 ns, depending on the processor.
int pauses_in(double ns) {
    constexpr int n = 16;
    double least = 1e9;
    for (int attempt = 0; attempt < 4; ++attempt) {
        const std::uint64_t start = common::now_ns();
        for (int i = 0; i < n; ++i) detail::cpu_pause();
        least = std::min(least, static_cast<double>(common::now_ns() - start) / n);
    }
    return std::clamp(static_cast<int>(ns / std::max(least, 1.0)), 1, 8);
}

JobState::JobState(std::unique_ptr<bootstrap::Bootstrap> bootstrap, const common::Settings& settings,
                   const UpperLayers& upper)
    : settings_(settings),
      upper_(upper),
      bootstrap_(std::move(bootstrap)),
      pe_(bootstrap_->pe()),
      n_pes_(bootstrap_->n_pes()),
      process_(::getpid()) {
    segment_ = bootstrap_->host_segment();
    try {
        join();
    } catch (const std::exception& error) {
        // The others would wait for this PE; they learn why it does not come.
        segment_.board.abort(pe_, 1, error.what());
        bootstrap_->abort(1, error.what());
        throw;
    }
    if (pe_ == 0) announce_start();
}

void JobState::announce_start() const {
    if (settings_.version || settings_.info) common::say("Atoll " ATOLL_VERSION ", OpenSHMEM 1.6");
    if (!settings_.info) return;
    common::say(
        "job of " + std::to_string(n_pes_) + (n_pes_ == 1 ? " PE" : " PEs") + ", started by " +
        std::string(bootstrap_->name()) + ", heap limit " + std::to_string(window_.heap_bytes) +
        " bytes a PE, " +
        (hosts_.n_domains > 1 ? std::to_string(hosts_.n_hosts()) + " hosts, between them " : "transport ") +
        std::string(transport_ ? transport_->name() : "window") +
        (hosts_.n_domains > 1 ? std::string() : note_text()));
    if (hosts_.n_domains > 1) common::say(routes_text());
    for (common::SettingRow row : common::describe_settings()) {
        if (row.name == "ATOLL_CHECK" && !settings_.check_given)
            row.value = settings_.checks(common::CheckLevel::args) ? "args" : "basic";
        common::say("  " + row.name + " = " + row.value + " (" + row.source + "): " + row.meaning);
    }
}

void JobState::join() {
    const StartWaits::Scope start(start_waits_);
    find_hosts();
    usable_cpus_ = segment_.board.header().usable_cpus;
    const bool has_cores = machine_pes() <= usable_cpus_;
    spins_ = settings_.spin >= 0 ? settings_.spin : (has_cores ? spins_with_cores : spins_without);
    pauses_of_a_line_ = pauses_in(line_trip_ns);
    map_window();
    if (uses_ucx()) agree_on_ucx(*this);
    std::optional<StartWatch> watch;
    if (hosts_.n_domains > 1 && settings_.transport != common::TransportChoice::loopback)
        watch.emplace(*this);
    make_transport();
    segment_.board.set_state(pe_, common::PeState::running);
    make_world();
    meet_at_start();
    monitor_ = bootstrap_->monitor(segment_.board);
    world_state().sync("init");
    if (hosts_.n_domains > 1) make_predefined_teams();
}

JobState::~JobState() {
    if (::getpid() != process_) {
        // A forked child: the parent remains the PE, and the monitor's thread does not exist here.
        static_cast<void>(monitor_.release());
        static_cast<void>(services_.release());
        static_cast<void>(device_.release());
        static_cast<void>(view_.release());
        static_cast<void>(bootstrap_.release());
        return;
    }
    announce(false);
    over_.store(true, std::memory_order_seq_cst);  // threads that serve streams may wait for other PEs
    monitor_.reset();
}

void JobState::leave() noexcept {
    if (::getpid() == process_) announce(false);
}

std::vector<int> JobState::not_started() const {
    std::vector<int> pes;
    for (const int pe : segment_.pes)
        if (segment_.board.state(pe) == common::PeState::absent) pes.push_back(pe);
    return pes;
}

void JobState::map_window() {
    place_slots();
    const auto n_slots = static_cast<int>(hosts_.members.size());
    if (segment_.heap_memory)
        mapping_ = std::make_shared<memory::Mapping>(segment_.heap_memory, layout_, n_pes_);
    else
        mapping_ = std::make_shared<memory::Mapping>(
            segment_.heap_fd, layout_, static_cast<int>(segment_.pes.size()), file_slots_, host_slot(pe_));
    window_.mine = mapping_->slot(host_slot(pe_));
    window_.set_heap(layout_.heap_bytes, settings_.checks(common::CheckLevel::args));
    window_.stride_log2 = layout_.stride_log2;
    window_.my_slot = host_slot(pe_);
    window_.n_slots = segment_.heap_memory ? n_pes_ : n_slots;
    window_.nontemporal_bytes = settings_.nontemporal_bytes;
    window_.statics.image = static_data_.image;
    window_.statics.image_bytes = static_data_.image_end - static_data_.image;
    window_.check = settings_.checks(common::CheckLevel::basic);
    window_.check_args = settings_.checks(common::CheckLevel::args);
    using memory::Allocator;
    heap_ =
        std::make_unique<Allocator>(layout_.heap_bytes, window_.check_args ? Allocator::Lookup::by_table
                                                                           : Allocator::Lookup::by_allocator);
    blocks_ = heap_->table();
    freed_ = std::make_unique<memory::FreedPages>(layout_.heap_bytes);
    keep_most_bytes_ = settings_.heap_keep_bytes == common::keep_by_heap_limit
                           ? layout_.heap_bytes / 8
                           : static_cast<std::size_t>(settings_.heap_keep_bytes);
    arena_ = std::make_unique<memory::Allocator>(layout_.arena_bytes());
}

void JobState::make_world() {
    std::vector<int> everybody(static_cast<std::size_t>(n_pes_));
    std::iota(everybody.begin(), everybody.end(), 0);
    // The first blocks of arenas: every PE knows their offsets, and new memory is zero. Every arena begins
    // with the control blocks of device functions. In the arena of each domain's first PE, the world team's
    // block follows.
    arena_->allocate(device::control_area_bytes, memory::Allocator::granule);
    const std::uint64_t place = layout_.arena_offset() + device::control_area_bytes;
    const Parts parts(*this, everybody, pe_);
    TeamMemory memory;
    memory.control = static_cast<ControlBlock*>(arena_address(hosts_.members.front(), place));
    if (parts.count() > 1) memory.places.assign(parts.first.size(), place);
    memory.doubled = TeamMemory::is_doubled(*this, parts);
    if (parts.leads(pe_))
        arena_->allocate(TeamMemory::allocation_bytes(*this, parts), memory::Allocator::granule);
    host_watch_ = std::make_unique<device::Watch>();
    host_watch_->look = look_from_host;
    host_watch_->job = this;
    world_ = Team(std::make_shared<TeamState>(*this, 0, std::move(everybody), pe_, memory));
    world_state().set_kernel_place(0);
}

/// Shares static objects, if all PEs run the same executable. The sync of init follows: no PE may store into
/// another's static data before it is mapped into the slot.
void JobState::share_statics() {
    detail::StaticRange& statics = window_.statics;
    if (!same_executable()) {  // then its constants differ as well
        statics = {};
    } else {
        statics.data = static_data_.begin();
        statics.data_bytes = static_data_.bytes();
        if (n_pes_ > 1) {  // a single PE finds them at their own addresses
            const std::size_t place =
                static_cast<std::size_t>(file_slot_of(pe_)) * layout_.stride() + layout_.statics_offset();
            memory::share_static_data(static_data_, segment_.heap_fd.get(), place);
            statics.shift =
                reinterpret_cast<std::uintptr_t>(window_.mine) + layout_.statics_offset() - statics.data;
        }
    }
    world_state().renew_context();
}

namespace {

/// Exchanged by all PEs at the start, whatever their fronts are.
struct StartNote {
    std::uint64_t executable;  ///< identity of an executable whose static objects are to be symmetric; 0:
                               ///< static objects are private
    std::uint64_t names_dtypes;
};

StartNote told_by(TeamState& world, int pe) {
    StartNote note;
    std::memcpy(&note, world.exchanged(pe), sizeof note);
    return note;
}

}  // namespace

bool JobState::same_executable() {
    bool same = static_data_.bytes() <= mapping_->layout().statics_bytes;
    for (int pe = 0; pe < n_pes_; ++pe)
        same = same && told_by(world_state(), pe).executable == static_data_.identity;
    return same;
}

void JobState::meet_at_start() {
    const StartNote mine{settings_.static_data ? static_data_.identity : 0,
                         common::wait_hooks().names_dtypes ? 1U : 0U};
    world_state().exchange("init", &mine, sizeof mine);
    compares_dtypes_ = settings_.compares_calls();
    for (int pe = 0; pe < n_pes_; ++pe)
        compares_dtypes_ = compares_dtypes_ && told_by(world_state(), pe).names_dtypes != 0;
    if (settings_.static_data) share_statics();
}

void JobState::finalize() {
    if (ended_) throw Error(ErrorCode::not_initialized, "finalize was called on a job that has ended.");
    world_state().context().quiet();
    if (services_) services_->end();
    if (transport_) transport_->expect_end();
    const bool alone = world_state().broken();
    if (alone)
        common::warn("PE " + std::to_string(pe_) +
                     " leaves without waiting for the others: an earlier collective ended here by an error.");
    else {
        world_state().agree_to("finalize");
        world_state().sync("finalize");
        if (world_state().spread()) world_state().spread()->complete();  // others wait for what it sent
    }
    has_devices_.store(false, std::memory_order_relaxed);
    opened_device_.store(nullptr, std::memory_order_release);
    announce(!alone);
    services_.reset();
    device_.reset();  // after the transport, which may still send from its pinned memory
    over_.store(true, std::memory_order_seq_cst);
}

void JobState::announce(bool finalized) noexcept {
    if (ended_.exchange(true)) return;  // the process may end while a thread is in finalize
    if (transport_) transport_->close();
    monitor_.reset();
    segment_.board.set_state(pe_, finalized ? common::PeState::finalized : common::PeState::left);
    bootstrap_->goodbye(finalized);
}

}  // namespace atl::core
