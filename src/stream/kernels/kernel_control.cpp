#include "stream/kernels/kernel_control.hpp"

#include "atoll/device/detail/far.hpp"
#include "atoll/device/wait.hpp"
#include "atoll/team.hpp"
#include "common/clock.hpp"
#include "common/text.hpp"
#include "core/base/stream_services.hpp"
#include "core/context/route.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/exited_pes.hpp"
#include "core/sync/job_over.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/report_text.hpp"
#include "stream/kernels/kernel_wait.hpp"
#include "stream/kernels/team_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace atl::stream {

namespace {

char* area_of(const core::JobState& job, Memory memory) {
    return memory == Memory::device ? job.devices().memory()->mine()
                                    : job.window().mine + job.mapping()->layout().arena_offset();
}

device::Control* block_of(const core::TeamState& team, Memory memory) {
    return reinterpret_cast<device::Control*>(area_of(team.job(), memory) + team.kernels.offset);
}

/// Writes to the start of a block, or at `offset` in it.
void write(core::JobState& job, Memory memory, device::Control* block, std::size_t offset, const void* from,
           std::size_t bytes) {
    char* const to = reinterpret_cast<char*>(block) + offset;
    if (memory == Memory::device)
        job.devices().memory()->copies().put(to, from, bytes, job.pe());
    else
        std::memcpy(to, from, bytes);
}

/// Size of the fields before the words that kernels write.
constexpr std::size_t head_bytes = offsetof(device::Control, sync_epoch);

static_assert(offsetof(device::Control, trace) % 16 == 0, "Triton compiles one kernel for all PEs");

/// The sink of the trace for kernels whose control block is in `memory`; null without a trace.
device::TraceSink* trace_of(core::JobState& job, Memory memory) {
    if (!job.board().header().traces_kernels()) return nullptr;
    if (memory == Memory::host)
        return &job.board().kernel_log(job.pe(), common::Processor::cpu).header().sink;
    const gpu::DeviceMemory& device = *job.devices().memory();
    return device.streams().trace() ? trace_sink(job, device.mine()) : nullptr;
}

void write_head(core::TeamState& team, Memory memory, device::Control* block) {
    core::JobState& job = team.job();
    device::Control head{};
    head.version = device::control_version;
    head.team = team.kernels.key;
    const bool bounded = job.settings().check != common::CheckLevel::none;
    const double bound_s = bounded ? std::min(job.settings().wait_timeout_s, 1e9) : 0;
    head.bound_ns = static_cast<unsigned long long>(bound_s * 1e9);
    head.checks = bounded;
    head.watch =
        memory == Memory::device ? job.devices().memory()->streams().watch() : job.kernels().host_watch.get();
    const device::ControlLayout at{team.n_pes()};
    std::vector<int> members;  // slots, then numbers in the world
    for (int i = 0; i < team.n_pes(); ++i) {
        const int pe = team.world_pe(i);
        members.push_back(core::path_to(job, Memory::host, pe) == core::Path::window
                              ? job.topology().slot(pe).number()
                              : device::detail::far_slot(pe));
    }
    for (int i = 0; i < team.n_pes(); ++i) members.push_back(team.world_pe(i));
    head.pes_of = device::detail::array_at<const int>(block, at.pes_of());
    if (memory == Memory::device && core::first_far(team) >= 0) {
        const core::StreamServices::Requests requests = job.devices().services()->requests();
        head.far_ring = requests.ring;
        head.far_tickets = requests.tickets;
    }
    write(job, memory, block, at.slots_of(), members.data(), members.size() * sizeof(int));
    write(job, memory, block, 0, &head, head_bytes);
    const std::lock_guard lock(job.kernels().mutex);
    job.kernels().offset_of[team.kernels.key] = team.kernels.offset;
}

}  // namespace

device::TraceSink* trace_sink(const core::JobState& job, char* gpu_memory) {
    if (!job.world_state().kernels.has_range()) return nullptr;
    const std::size_t world = job.world_state().kernels.offset;
    return &reinterpret_cast<device::Control*>(gpu_memory + world)->trace;
}

device::Control* kernel_control(core::TeamState& team, Memory memory) {
    team.check_alive();
    if (!team.kernels.has_range())
        throw Error(
            ErrorCode::unsupported,
            team.name() + " cannot be used in kernels. It needs " +
                common::bytes_text(device::ControlLayout{team.n_pes()}.bytes()) +
                " in one piece on each of its " + std::to_string(team.n_pes()) +
                " PEs. No such piece was free on all of them when it was made. All teams have " +
                common::bytes_text(team.job().kernels().area_bytes) +
                " together. Destroy unused teams, or raise ATOLL_TEAM_MEMORY, then create this one again.");
    device::Control* block = block_of(team, memory);
    std::call_once(team.kernels.once[static_cast<int>(memory)], [&] {
        write_head(team, memory, block);
        team.kernels.set_ready(memory);
    });
    return block;
}

void check_near(const core::TeamState& team, const std::string& who, const std::string& instead) {
    const int far = core::first_far(team);
    if (far < 0) return;
    throw Error(ErrorCode::unsupported, who + " reach PEs by the window only; in " + team.name() + " PE " +
                                            std::to_string(far) + " is reached by " +
                                            std::string(team.job().topology().route_to(far)) +
                                            " (another host, or ATOLL_TRANSPORT). Use " + instead +
                                            ", or a team of PEs that share memory: Job::shared().");
}

device::Team kernel_team(core::TeamState& team, Memory memory, bool far_too) {
    core::JobState& job = team.job();
    if (memory == Memory::device && !job.devices().memory())
        throw Error(ErrorCode::not_initialized,
                    "There is no device heap yet; allocate memory on the GPU first (Memory::device; in "
                    "Python device=\"cuda\").");
    const int far = core::first_far(team);
    if (far >= 0 && !(far_too && memory == Memory::device &&
                      core::path_to(job, Memory::device, far) == core::Path::staged))
        check_near(team,
                   memory == Memory::host ? "Functions of kernels on the host heap"
                   : far_too              ? "Kernels and operations on streams"
                                          : "Collectives and messages on streams",
                   "the calls of the host (put, get, atomics, signals, collectives)");
    const detail::TeamMap map = team.map();
    device::Control* control = kernel_control(team, memory);
    device::Team value{map.my_pe, map.n_pes, nullptr, 0,       0,
                       map.first, map.step,  nullptr, control, trace_of(job, memory)};
    if (map.table || far >= 0)
        value.table =
            device::detail::array_at<const int>(control, device::ControlLayout{map.n_pes}.slots_of());
    value.my_slot = job.window().my_slot;
    if (memory == Memory::host) {
        value.window = job.mapping()->slot(0);
        value.stride = static_cast<long long>(job.mapping()->layout().stride());
    } else {
        value.window = job.devices().memory()->window().slot(0);
        value.stride = static_cast<long long>(job.devices().memory()->window().stride);
    }
    return value;
}

void release_kernel_control(core::TeamState& team) noexcept {
    core::JobState& job = team.job();
    // A team without a place takes the lock as well. So its threads' writes to the team's memory come before
    // those of another thread that has since taken a range, for the next team.
    if (!team.kernels.has_range()) return job.kernels().ranges.release(gpu::KernelRanges::none, 0);
    const std::size_t bytes = device::ControlLayout{team.n_pes()}.bytes();
    try {
        {
            const std::lock_guard lock(job.kernels().mutex);
            job.kernels().offset_of.erase(team.kernels.key);
        }
        std::memset(static_cast<void*>(block_of(team, Memory::host)), 0, bytes);
        if (job.devices().memory()) {
            job.devices().memory()->copies().fill(block_of(team, Memory::device), 0, bytes);
            clear_team_memory(team);
        }
        const gpu::StreamRange& range = team.kernels.stream_range;
        job.kernels().stream_ranges.release(range.offset,
                                            gpu::stream_range_bytes(team.n_pes(), range.words_bytes));
        job.kernels().ranges.release(team.kernels.offset, bytes);
    } catch (const Error&) {
        // The GPU is lost; the place remains taken.
    }
}

int world_pe(core::JobState& job, const device::Watch& watch, int team, int pe) {
    const Memory memory = &watch == job.kernels().host_watch.get() ? Memory::host : Memory::device;
    const std::lock_guard lock(job.kernels().mutex);
    const auto found = job.kernels().offset_of.find(team);
    if (found == job.kernels().offset_of.end()) return pe;
    const auto* control = reinterpret_cast<const device::Control*>(area_of(job, memory) + found->second);
    return control->version == device::control_version ? control->pes_of[pe] : pe;
}

namespace {

/// Throws if the awaited PE has ended. The first time it only records that: the caller must check once more,
/// since the PE's last writes may not have been seen.
void check_for_exited(core::JobState& job, const device::Watch& watch, const device::Report& waiting) {
    thread_local std::uint64_t since_ns = 0;
    const int pe = waiting.peer < 0 ? -1 : world_pe(job, watch, waiting.team, waiting.peer);
    const core::ExitedPes exited =
        pe < 0 ? core::ExitedPes::with_all_others(job) : core::ExitedPes::among(job, &pe, 1);
    if (!exited) {
        since_ns = 0;
        return;
    }
    if (since_ns == 0) {
        since_ns = common::now_ns();
        return;
    }
    if (exited.is_final(since_ns))
        throw Error(ErrorCode::pe_died,
                    exited.text() + std::string(core::cannot_end) + gpu::report_text(waiting) + ".");
}

void check_from_host(const device::Watch& watch, const device::Report& waiting,
                     unsigned long long waited_ns) {
    core::JobState& job = *static_cast<core::JobState*>(watch.job);
    if (waiting.subject == device::Subject::wrong_pe)
        throw Error(ErrorCode::pe, "No such PE, in " + gpu::report_text(waiting) + ".");
    if (waiting.subject == device::Subject::wrong_address)
        throw Error(ErrorCode::not_symmetric, "Not symmetric, in " + gpu::report_text(waiting) + ".");
    if (waiting.subject == device::Subject::wrong_index)
        throw Error(ErrorCode::invalid_argument, "No such element, in " + gpu::report_text(waiting) + ".");
    if (waiting.subject == device::Subject::not_reached)
        throw Error(ErrorCode::unsupported, "Not for this PE: " + gpu::report_text(waiting) + ".");
    if (waited_ns < device::detail::longest_spin_ns) return;  // pause() finds the same and names the array
    const common::BoardHeader& header = job.board().header();
    if (header.abort.load(std::memory_order_acquire) != 0) core::throw_over(job, gpu::report_text(waiting));
    if (job.waits().is_over())
        throw Error(ErrorCode::not_initialized,
                    "Another thread of this PE finalized the job during " + gpu::report_text(waiting) + ".");
    if (std::string text = job.kernels().stream_differences->text_of(waiting.team); !text.empty())
        throw Error(ErrorCode::collective_mismatch, text);
    if (header.exited.load(std::memory_order_acquire) != 0) check_for_exited(job, watch, waiting);
    const double bound_s = waiting.bound_ns != 0 ? static_cast<double>(waiting.bound_ns) * 1e-9
                           : job.settings().check == common::CheckLevel::none ? 0
                                                                              : job.settings().wait_timeout_s;
    if (bound_s <= 0 || static_cast<double>(waited_ns) < bound_s * 1e9) return;
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3g", bound_s);
    throw Error(ErrorCode::timeout,
                "Timed out after " + std::string(seconds) + " s in " + gpu::report_text(waiting) +
                    (waiting.bound_ns != 0 ? ". Give this wait more time" : ". Raise ATOLL_WAIT_TIMEOUT") +
                    ", or find out why the awaited update did not come.");
}

void* pause_from_host(const device::Watch& watch, const device::Report& waiting, void* wait) {
    std::unique_ptr<KernelWait> mine(wait != nullptr ? static_cast<KernelWait*>(wait)
                                                     : new KernelWait(watch, waiting));
    mine->pause();
    return mine.release();
}

void end_from_host(void* wait) { delete static_cast<KernelWait*>(wait); }

}  // namespace

std::shared_ptr<device::Watch> make_host_watch(core::JobState& job) {
    auto watch = std::make_shared<device::Watch>();
    set_host_check(job, *watch);
    return watch;
}

void set_host_check(core::JobState& job, device::Watch& watch) {
    watch.check = check_from_host;
    watch.pause = pause_from_host;
    watch.end = end_from_host;
    watch.job = &job;
}

}  // namespace atl::stream

namespace atl {

device::Team Team::device(Memory memory, bool far) const {
    if (memory == Memory::device && !far && state().job().devices().memory())
        stream::check_near(state(), "Kernels that are compiled without ATOLL_DEVICE_FAR=1",
                           "-DATOLL_DEVICE_FAR=1 for their source (CUDA C++, CuPy), the calls of the host");
    const device::Team team = stream::kernel_team(state(), memory, far);
    if (far && core::first_far(state()) >= 0) state().job().devices().services()->serve_kernels();
    return team;
}

}  // namespace atl
