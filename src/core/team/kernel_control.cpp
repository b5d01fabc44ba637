#include "core/team/kernel_control.hpp"

#include "atoll/device/far.hpp"
#include "common/clock.hpp"
#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/gone_pes.hpp"
#include "gpu/heap/device_memory.hpp"
#include "stream/stream_server.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace atl::core {

static_assert(device::most_teams == 64, "places are bits of one word");

KernelPlaces::Offer::Offer(KernelPlaces& places) : places_(places) {
    const std::lock_guard lock(places_.mutex_);
    bits_ = std::exchange(places_.free_, 0);
}

KernelPlaces::Offer::~Offer() {
    const std::lock_guard lock(places_.mutex_);
    places_.free_ |= bits_;
}

int KernelPlaces::Offer::take(std::uint64_t common) {
    if (common == 0) return -1;
    const int place = std::countr_zero(common);
    bits_ &= ~(std::uint64_t{1} << place);
    return place;
}

std::uint64_t run_of(std::uint64_t bits, unsigned count) {
    if (count == 0 || count > 64) return 0;
    std::uint64_t starts = bits;  // positions from which `count` bits follow
    for (unsigned i = 1; i < count && starts != 0; ++i) starts &= bits >> i;
    if (starts == 0) return 0;
    const std::uint64_t run = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    return run << std::countr_zero(starts);
}

std::uint64_t KernelPlaces::Offer::take_run(std::uint64_t common, unsigned count) {
    const std::uint64_t taken = run_of(common, count);
    bits_ &= ~taken;
    return taken;
}

void KernelPlaces::give_back_run(std::uint64_t places) {
    const std::lock_guard lock(mutex_);
    free_ |= places;
}

void KernelPlaces::give_back(int place) {
    const std::lock_guard lock(mutex_);
    if (place >= 0) free_ |= std::uint64_t{1} << place;
}

namespace {

device::Control* block_of(const TeamState& team, Memory memory) {
    const JobState& job = team.job();
    char* area = memory == Memory::device ? job.device()->mine()
                                          : job.window().mine + job.mapping()->layout().arena_offset();
    return reinterpret_cast<device::Control*>(area + static_cast<std::size_t>(team.kernel_place()) *
                                                         device::control_bytes);
}

/// Size of the fields before the words that kernels write.
constexpr std::size_t head_bytes = offsetof(device::Control, sync_epoch);

void write_head(TeamState& team, Memory memory, device::Control* block) {
    JobState& job = team.job();
    device::Control head{};
    head.version = device::control_version;
    head.team = team.number();
    const bool bounded = job.settings().check != common::CheckLevel::none;
    const double bound_s = bounded ? std::min(job.settings().wait_timeout_s, 1e9) : 0;
    head.bound_ns = static_cast<unsigned long long>(bound_s * 1e9);
    head.checks = bounded;
    head.watch = memory == Memory::device ? job.device()->watch() : &job.host_watch();
    bool has_far = false;
    for (int i = 0; i < team.n_pes(); ++i) {
        const int pe = team.world_pe(i), slot = job.slot(pe);
        has_far = has_far || slot < 0;
        head.slots_of[i] = slot < 0 ? device::detail::far_slot(pe) : slot;
        head.pes_of[i] = pe;
    }
    if (has_far && memory == Memory::device) {
        head.far_ring = &job.device()->stream_server().ring();
        head.far_tickets = job.device()->stream_server().tickets();
    }
    if (memory == Memory::device)
        job.device()->put(block, &head, head_bytes, job.pe());
    else
        std::memcpy(static_cast<void*>(block), &head, head_bytes);
}

const char* name_of(int operation) {
    static constexpr const char* names[] = {"a wait",
                                            "signal_wait_until",
                                            "signal_consume",
                                            "local_wait_until",
                                            "wait_until",
                                            "wait_until_all",
                                            "wait_until_any",
                                            "wait_until_some",
                                            "wait_until_all_vector",
                                            "wait_until_any_vector",
                                            "wait_until_some_vector",
                                            "receive",
                                            "post",
                                            "send",
                                            "recv",
                                            "sync of a grid",
                                            "sync",
                                            "barrier",
                                            "broadcast",
                                            "fcollect",
                                            "collect",
                                            "alltoall",
                                            "gather",
                                            "scatter",
                                            "reduce",
                                            "reduce_scatter",
                                            "tile_reduce",
                                            "tile_allgather",
                                            "peer",
                                            "ptr",
                                            "p",
                                            "g",
                                            "put",
                                            "get",
                                            "put_nbi",
                                            "get_nbi",
                                            "iput",
                                            "iget",
                                            "an atomic",
                                            "atomic_fetch",
                                            "atomic_set",
                                            "atomic_swap",
                                            "atomic_compare_swap",
                                            "atomic_add",
                                            "atomic_fetch_add",
                                            "atomic_and",
                                            "atomic_fetch_and",
                                            "atomic_or",
                                            "atomic_fetch_or",
                                            "atomic_xor",
                                            "atomic_fetch_xor",
                                            "signal_set",
                                            "signal_add",
                                            "put_signal",
                                            "put_signal_nbi",
                                            "async_put",
                                            "tile_put",
                                            "tile_get",
                                            "quiet",
                                            "fence",
                                            "flush",
                                            "take",
                                            "put_at",
                                            "add_at",
                                            "alltoalls",
                                            "scan"};
    static_assert(std::size(names) == static_cast<int>(device::Operation::scan) + 1);
    return operation >= 0 && operation < static_cast<int>(std::size(names)) ? names[operation] : names[0];
}

std::string number_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", number);
    return text;
}

/// Text of a word of a report, by its type.
std::string value_text(device::Values values, unsigned long long bits) {
    switch (values) {
        case device::Values::int32:
            return std::to_string(static_cast<std::int32_t>(bits));
        case device::Values::int64:
            return std::to_string(static_cast<std::int64_t>(bits));
        case device::Values::float32:
            return number_text(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        case device::Values::float64:
            return number_text(std::bit_cast<double>(bits));
        default:
            return std::to_string(bits);
    }
}

std::string comparison_text(const device::Report& report) {
    constexpr int compares = (1 << device::compare_bits) - 1;
    const auto values = static_cast<device::Values>(report.compare >> device::compare_bits);
    return common::address_text(reinterpret_cast<const void*>(report.address)) + ": found " +
           value_text(values, report.found) + ", waiting for " +
           common::compare_sign(static_cast<std::uint32_t>(report.compare & compares)) + " " +
           value_text(values, report.expected);
}

}  // namespace

device::Control* kernel_control(TeamState& team, Memory memory) {
    team.check_alive();
    if (team.n_pes() > device::most_team_pes)
        throw Error(ErrorCode::unsupported, "Kernels take teams of at most " +
                                                std::to_string(device::most_team_pes) + " PEs; " +
                                                team.name() + " has more.");
    if (team.kernel_place() < 0)
        throw Error(
            ErrorCode::unsupported,
            team.name() + " cannot be used in kernels: at most " + std::to_string(device::most_teams) +
                " teams can at once, including the world team and teams that other threads were creating; "
                "destroy unused teams, then create this one again.");
    device::Control* block = block_of(team, memory);
    std::call_once(team.kernels_once[static_cast<int>(memory)], [&] {
        write_head(team, memory, block);
        team.set_ready_for_kernels(memory);
    });
    return block;
}

int first_far(const TeamState& team) {
    for (int i = 0; i < team.n_pes(); ++i)
        if (team.job().slot(team.world_pe(i)) < 0) return team.world_pe(i);
    return -1;
}

void check_near(const TeamState& team, const std::string& who, const std::string& instead) {
    const int far = first_far(team);
    if (far < 0) return;
    throw Error(ErrorCode::unsupported, who + " reach PEs by the window only; in " + team.name() + " PE " +
                                            std::to_string(far) + " is reached by " +
                                            std::string(team.job().route_to(far)) +
                                            " (another host, or ATOLL_TRANSPORT). Use " + instead +
                                            ", or a team of PEs that share memory: Job::shared().");
}

device::Team kernel_team(TeamState& team, Memory memory, bool far_too) {
    const JobState& job = team.job();
    if (memory == Memory::device && !job.device())
        throw Error(ErrorCode::not_initialized,
                    "There is no device heap yet; allocate memory on the GPU first (Memory::device; in "
                    "Python device=\"cuda\").");
    const int far = first_far(team);
    if (far >= 0 && !(far_too && memory == Memory::device && job.device()->is_far(far)))
        check_near(team,
                   memory == Memory::host ? "Functions of kernels on the host heap"
                   : far_too              ? "Kernels and operations on streams"
                                          : "Collectives and messages on streams",
                   "the calls of the host (put, get, atomics, signals, collectives)");
    const detail::TeamMap map = team.map();
    device::Control* control = kernel_control(team, memory);
    device::Team value{map.my_pe, map.n_pes, nullptr,  0,
                       0,         map.first, map.step, map.table || far >= 0 ? control->slots_of : nullptr,
                       control};
    value.my_slot = job.host_slot(job.pe());
    if (memory == Memory::host) {
        value.window = job.mapping()->slot(0);
        value.stride = static_cast<long long>(job.mapping()->layout().stride());
    } else {
        value.window = job.device()->slot(0);
        value.stride = static_cast<long long>(job.device()->stride());
    }
    return value;
}

void release_kernel_control(TeamState& team) noexcept {
    JobState& job = team.job();
    // A team without a place takes the lock as well. So its threads' writes to the team's memory come before
    // those of another thread that has since made an offer, for the next team.
    if (team.kernel_place() < 0) return job.kernel_places().give_back(-1);
    try {
        std::memset(static_cast<void*>(block_of(team, Memory::host)), 0, device::control_bytes);
        if (job.device()) {
            job.device()->fill(block_of(team, Memory::device), 0, device::control_bytes);
            job.device()->clear_group_place(team);
        }
        job.group_pages().give_back_run(team.group_pages().bits);
        job.kernel_places().give_back(team.kernel_place());
    } catch (const Error&) {
        // The GPU is lost; the place remains taken.
    }
}

namespace {
std::string far_text(const device::Report& report) {
    const auto pe = static_cast<int>(report.found);
    const std::string name = pe < 0 ? "" : "PE " + std::to_string(pe);
    if (report.compare == device::not_reached) return "; " + name;
    return name.empty() ? "" : " at " + name;
}

std::string hex(unsigned long long address) {
    char text[20];
    std::snprintf(text, sizeof text, "%#llx", address);
    return text;
}
}  // namespace

std::string operation_text(const device::Report& report) { return name_of(report.operation); }

std::string report_text(const device::Report& report) {
    std::string text = name_of(report.operation);
    if (report.team != 0) text += " of team " + std::to_string(report.team);
    if (report.compare == device::wrong_pe)
        return text + " for team PE " + std::to_string(report.peer) + "; the team has PEs 0 to " +
               std::to_string(static_cast<long long>(report.expected) - 1);
    if (report.compare == device::wrong_index) {
        const auto size = static_cast<long long>(report.expected);
        return text + " for element " + std::to_string(static_cast<long long>(report.found)) + ", index " +
               std::to_string(report.address) + " of the call; the array has " + std::to_string(size) +
               " elements, so indices are " + std::to_string(-size) + " to " + std::to_string(size - 1);
    }
    if (report.compare == device::wrong_place)
        return text + " at " + hex(report.address) + "; this PE's symmetric memory is " +
               hex(report.expected) + " to " + hex(report.found) +
               ", and a peer's copy is addressed by it: pass a symmetric array of this job, such as from "
               "atoll.zeros() or SymmetricArray";
    if (report.compare == device::far_wait)
        return text + ", which a thread of the host carries out" + far_text(report);
    if (report.compare == device::not_reached)
        return text + ", which kernels can do only with PEs in the window" + far_text(report) +
               " is reached by a transport; use put, get, p, g, atomics, signals, sync, or the calls of the "
               "host";
    if (report.compare >= 0) text += " at " + comparison_text(report);
    if (report.peer >= 0) text += ", waiting for team PE " + std::to_string(report.peer);
    if (report.tag != 0) text += ", tag " + std::to_string(report.tag);
    return text;
}

namespace {

/// World number of a team's PE, from the team's control block. `watch` identifies the memory.
int world_pe(const JobState& job, const device::Watch& watch, int team, int pe) {
    const char* area = &watch == &job.host_watch()
                           ? job.window().mine + job.mapping()->layout().arena_offset()
                           : job.device()->mine();
    for (int place = 0; place < device::most_teams; ++place, area += device::control_bytes) {
        const auto& control = *reinterpret_cast<const device::Control*>(area);
        if (control.version == device::control_version && control.team == team) return control.pes_of[pe];
    }
    return pe;
}

/// Throws if the awaited PE has ended. The first time it only records that: the caller must look once more,
/// since the PE's last writes may not have been seen.
void look_for_gone(const JobState& job, const device::Watch& watch, const device::Report& waiting) {
    thread_local std::uint64_t since_ns = 0;
    const int pe = waiting.peer < 0 ? -1 : world_pe(job, watch, waiting.team, waiting.peer);
    const Gone gone = pe < 0 ? Gone::with_all_others(job) : Gone::among(job, &pe, 1);
    if (!gone) {
        since_ns = 0;
        return;
    }
    if (since_ns == 0) {
        since_ns = common::now_ns();
        return;
    }
    if (gone.is_final(since_ns))
        throw Error(ErrorCode::pe_died, gone.text() + ", so this cannot end: " + report_text(waiting) + ".");
}

}  // namespace

void look_from_host(const device::Watch& watch, const device::Report& waiting, unsigned long long waited_ns) {
    const JobState& job = *static_cast<const JobState*>(watch.job);
    const common::BoardHeader& header = job.board().header();
    if (header.abort.load(std::memory_order_acquire) != 0)
        throw Error(ErrorCode::pe_died,
                    std::string(header.abort_text) + " (noticed in " + report_text(waiting) + ")");
    if (job.is_over())
        throw Error(ErrorCode::not_initialized,
                    "Another thread of this PE finalized the job during " + report_text(waiting) + ".");
    if (waiting.compare == device::wrong_pe)
        throw Error(ErrorCode::pe, "No such PE, in " + report_text(waiting) + ".");
    if (waiting.compare == device::wrong_place)
        throw Error(ErrorCode::not_symmetric, "Not symmetric, in " + report_text(waiting) + ".");
    if (waiting.compare == device::wrong_index)
        throw Error(ErrorCode::invalid_argument, "No such element, in " + report_text(waiting) + ".");
    if (waiting.compare == device::not_reached)
        throw Error(ErrorCode::unsupported, "Not for this PE: " + report_text(waiting) + ".");
    if (header.gone.load(std::memory_order_acquire) != 0) look_for_gone(job, watch, waiting);
    const double bound_s = waiting.bound_ns != 0 ? static_cast<double>(waiting.bound_ns) * 1e-9
                           : job.settings().check == common::CheckLevel::none ? 0
                                                                              : job.settings().wait_timeout_s;
    if (bound_s <= 0 || static_cast<double>(waited_ns) < bound_s * 1e9) return;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3g", bound_s);
    throw Error(ErrorCode::timeout,
                "Timed out after " + std::string(seconds) + " s in " + report_text(waiting) +
                    (waiting.bound_ns != 0 ? ". Give this wait more time" : ". Raise ATOLL_WAIT_TIMEOUT") +
                    ", or find out why the awaited update did not come.");
}

}  // namespace atl::core
