#include "core/job/job_state.hpp"

#include "atoll/device/control.hpp"
#include "atoll/version.hpp"
#include "common/log.hpp"
#include "common/recorder/statistics.hpp"
#include "common/wait_hooks.hpp"
#include "core/job/end_of_job.hpp"
#include "core/job/start_watch.hpp"
#include "core/job/ucx_transport.hpp"

#include <unistd.h>

#include <cstring>
#include <numeric>
#include <optional>

namespace atl::core {

JobState::JobState(std::unique_ptr<bootstrap::Bootstrap> bootstrap, const common::Settings& settings,
                   const UpperLayers& upper)
    : JobBase(*this, std::move(bootstrap), settings, upper),
      upper_(upper),
      process_(::getpid()),
      heap_(*this, teams_) {
    try {
        join();
    } catch (const std::exception& error) {
        // The others would wait for this PE; they learn why it does not come.
        end_job(*this, error.what());
        throw;
    }
    upper_.started(*this);
    if (pe_ == 0) announce_start();
}

/// All meetings of init are one call in statistics and traces.
void JobState::meet_in_init() {
    const Meetings::Within within(world_state().meetings(), "init");
    meet_at_start();
    monitor_ = bootstrap_->monitor(segment_.board);
    world_state().sync("init");
    if (topology_.hosts().n_domains > 1) teams_.split_world();
}

void JobState::announce_start() const {
    const bool is_watched = board().has_launcher() || board().header().log_events != 0 || segment_.lacks_logs;
    if (!is_watched && (!settings_.trace.empty() || !settings_.record.empty()))
        common::warn(
            "ATOLL_TRACE and ATOLL_RECORD have no effect here: `atoll run` writes these files. Start the "
            "program by it.");
    if (settings_.version || settings_.info) common::say("Atoll " ATOLL_VERSION ", OpenSHMEM 1.6");
    if (!settings_.info) return;
    const bool several = topology_.hosts().n_domains > 1;
    common::say(
        "job of " + std::to_string(n_pes_) + (n_pes_ == 1 ? " PE" : " PEs") + ", started by " +
        std::string(bootstrap_->name()) + ", heap limit " + std::to_string(window_.heap_bytes) +
        " bytes a PE, " +
        (several ? std::to_string(topology_.hosts().n_hosts()) + " hosts, between them " : "transport ") +
        std::string(transport_ ? transport_->name() : "window") +
        (several ? std::string() : topology_.note_text()));
    if (several) common::say(topology_.routes_text());
    for (common::SettingRow row : common::describe_settings()) {
        if (row.name == "ATOLL_CHECK" && !settings_.check_given)
            row.value = settings_.checks(common::CheckLevel::args) ? "args" : "basic";
        common::say("  " + row.name + " = " + row.value + " (" + row.source + "): " + row.meaning);
    }
}

void JobState::join() {
    const StartWaits::Scope start(waits_.at_start);
    find_hosts();
    pace_ = pace_of(settings_, segment_.board.header().usable_cpus, topology_.machine_pes());
    map_window();
    if (uses_ucx()) agree_on_ucx(*this);
    std::optional<StartWatch> watch;
    if (topology_.hosts().n_domains > 1 && settings_.transport != common::TransportChoice::loopback)
        watch.emplace(*this);
    make_transport();
    segment_.board.set_state(pe_, common::PeState::running);
    make_world();
    meet_in_init();
    world_state().meetings().recorded.restart();  // so that numbers count the program's own calls only
    recorder->note(common::EventKind::init, static_cast<std::uint64_t>(n_pes_));
}

JobState::~JobState() {
    const bool is_forked = ::getpid() != process_;
    upper_.ends(*this, is_forked);
    if (is_forked) {
        // A forked child: the parent remains the PE, and the monitor's thread does not exist here.
        static_cast<void>(monitor_.release());
        devices_.abandon();
        static_cast<void>(bootstrap_.release());
        return;
    }
    announce(false);
    waits_.end();  // threads that serve streams may wait for other PEs
    monitor_.reset();
    devices_.close();  // its threads use the teams and the job
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
    topology_.assign_slots(segment_);
    const auto n_slots = static_cast<int>(topology_.hosts().members.size());
    if (segment_.heap_memory)
        mapping_ = std::make_shared<memory::Mapping>(segment_.heap_memory, layout_, n_pes_);
    else
        mapping_ = std::make_shared<memory::Mapping>(
            segment_.heap_fd, layout_, static_cast<int>(segment_.pes.size()), topology_.file_slots(),
            topology_.host_slot(pe_).number());
    window_.my_slot = topology_.host_slot(pe_).number();
    window_.mine = mapping_->slot(window_.my_slot);
    const bool counts_moves = settings_.stats || (log && segment_.board.header().log_moves != 0);
    window_.set_heap(layout_.heap_bytes, settings_.checks(common::CheckLevel::args) || counts_moves);
    window_.stride_log2 = layout_.stride_log2;
    window_.n_slots = segment_.heap_memory ? n_pes_ : n_slots;
    window_.nontemporal_bytes = settings_.nontemporal_bytes;
    window_.statics.image = static_data_.image;
    window_.statics.image_bytes = static_data_.image_end - static_data_.image;
    window_.check = settings_.checks(common::CheckLevel::basic);
    window_.counts = counts_moves;
    window_.check_args = settings_.checks(common::CheckLevel::args);
    heap_.open();
    arena_.open(mapping_, window_.mine);
}

void JobState::make_world() {
    std::vector<int> all_pes(static_cast<std::size_t>(n_pes_));
    std::iota(all_pes.begin(), all_pes.end(), 0);
    // The first blocks of arenas: every PE knows their offsets, and new memory is zero. Every arena begins
    // with the control blocks of device functions and the words of update locks. In the arena of each
    // domain's first PE, the world team's block follows.
    const std::size_t world_bytes = device::ControlLayout{n_pes_}.bytes();
    kernels_.area_bytes = settings_.team_bytes + (n_pes_ > device::few_pes ? world_bytes : 0);
    kernels_.ranges.open(kernels_.area_bytes);
    kernels_.stream_ranges.open(settings_.team_bytes);
    const std::uint64_t kernel_offset = kernels_.ranges.take(world_bytes);
    arena_.take_first(kernels_.area_bytes);
    arena_.take_updates();
    const std::uint64_t offset =
        layout_.arena_offset() + kernels_.area_bytes + update_words * sizeof(UpdateWord);
    const Parts parts(*this, all_pes, pe_);
    TeamMemory memory;
    memory.control = static_cast<ControlBlock*>(arena_.address(topology_.hosts().members.front(), offset));
    if (parts.count() > 1) memory.offsets.assign(parts.first.size(), offset);
    memory.doubled = TeamMemory::is_doubled(*this, parts);
    if (parts.leads(pe_)) arena_.take_first(TeamMemory::allocation_bytes(*this, parts));
    kernels_.host_watch = upper_.host_watch(*this);
    if (board().header().traces_kernels()) board().kernel_log(pe_, common::Processor::cpu).open_for_cpu();
    teams_.set_world(Team(std::make_shared<TeamState>(*this, 0, std::move(all_pes), pe_, memory)));
    world_state().kernels.offset = kernel_offset;
}

/// Shares static objects, if all PEs run the same executable. The sync of init follows: no PE may store into
/// another's static data before it is mapped into the slot.
void JobState::share_statics() {
    detail::StaticRange& statics = window_.statics;
    if (!same_executable()) {  // constants lie at other addresses in another executable
        statics = {};
    } else {
        statics.data = static_data_.begin();
        statics.data_bytes = static_data_.bytes();
        if (n_pes_ > 1) {  // a single PE finds them at their own addresses
            const std::size_t offset =
                static_cast<std::size_t>(file_slot_of(segment_, pe_)) * layout_.stride() +
                layout_.statics_offset();
            memory::share_static_data(static_data_, segment_.heap_fd.get(), offset);
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
    std::uint64_t gathers_statistics;  ///< counts operations, and no launcher prints them
};

StartNote start_note_of(TeamState& world, int pe) {
    StartNote note;
    std::memcpy(&note, world.exchanged(pe), sizeof note);
    return note;
}

}  // namespace

bool JobState::same_executable() {
    bool same = static_data_.bytes() <= mapping_->layout().statics_bytes;
    for (int pe = 0; pe < n_pes_; ++pe)
        same = same && start_note_of(world_state(), pe).executable == static_data_.identity;
    return same;
}

void JobState::meet_at_start() {
    const bool gathers = settings_.stats && !board().has_launcher();
    const StartNote mine{settings_.static_data ? static_data_.identity : 0,
                         common::wait_hooks().names_dtypes ? 1U : 0U, gathers ? 1U : 0U};
    world_state().exchange("init", &mine, sizeof mine);
    compares_dtypes_ = settings_.compares_calls();
    for (int pe = 0; pe < n_pes_; ++pe) {
        const StartNote note = start_note_of(world_state(), pe);
        compares_dtypes_ = compares_dtypes_ && note.names_dtypes != 0;
        gathers_statistics_ = gathers_statistics_ || note.gathers_statistics != 0;
    }
    if (settings_.static_data) share_statics();
}

void JobState::finalize() {
    if (ended_) throw Error(ErrorCode::not_initialized, "finalize was called on a job that has ended.");
    const bool alone = world_state().meetings().broken() && !met;
    if (alone || met) {
        complete_all();
    } else {
        meet_at_end();
    }
    if (alone)
        common::warn("PE " + std::to_string(pe_) +
                     " leaves without waiting for the others: an earlier collective ended here by an error.");
    devices_.hide();
    announce(!alone);
    devices_.close();  // after the transport, which may still send from its pinned memory
    waits_.end();
}

void JobState::complete_all() {
    world_state().context().quiet();
    devices_.end_services();
    if (transport_) transport_->expect_end();
}

/// All of it is one call in statistics and traces.
void JobState::meet_at_end() {
    const Meetings::Within within(world_state().meetings(), "finalize");
    complete_all();
    world_state().meetings().agree_to("finalize");
    // All PEs are in finalize, and none has announced its end, which would be another error of requests.
    waits_.end_requests();
    if (gathers_statistics_) gather_statistics();
    world_state().sync("finalize");
    if (world_state().spread()) world_state().spread()->complete();  // others wait for what it sent
}

/// Without a launcher that reads all counters, PE 0 prints them. A PE that counts nothing has zeros.
void JobState::gather_statistics() {
    const common::PeStatistics mine = common::read_statistics(pe_, segment_.board.counters(pe_));
    std::vector<common::PeStatistics> all(static_cast<std::size_t>(n_pes_));
    for (int pe = 0; pe < n_pes_; ++pe) all[static_cast<std::size_t>(pe)].pe = pe;
    for (std::size_t operation = 0; operation < common::operation_count; ++operation) {
        common::OperationStatistics one;
        one.operation = static_cast<std::uint16_t>(operation);
        for (const common::OperationStatistics& known : mine.operations)
            if (known.operation == operation) one = known;
        static_assert(sizeof one <= exchange_bytes);
        world_state().exchange("finalize", &one, sizeof one);
        for (int pe = 0; pe < n_pes_; ++pe) {
            std::memcpy(&one, world_state().exchanged(pe), sizeof one);
            if (one.calls != 0) all[static_cast<std::size_t>(pe)].operations.push_back(one);
        }
    }
    const std::string table = pe_ == 0 ? common::statistics_table(all) : std::string();
    if (!table.empty()) common::say("operations of all PEs:\n" + table.substr(0, table.size() - 1));
}

void JobState::announce(bool finalized) noexcept {
    if (ended_.exchange(true)) return;  // the process may end while a thread is in finalize
    if (transport_) transport_->close();
    monitor_.reset();
    if (finalized) recorder->note(common::EventKind::finalize);
    segment_.board.set_state(pe_, finalized ? common::PeState::finalized : common::PeState::left);
    bootstrap_->goodbye(finalized);
}

}  // namespace atl::core
