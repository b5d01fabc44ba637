#include "atoll/job.hpp"

#include "atoll/version.hpp"
#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "front/new_job.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace atl {

namespace {

std::unique_ptr<core::JobState> start(const JobOptions& options) {
    common::Settings settings = common::read_settings();
    if (options.checks_args_by_default && !settings.check_given) settings.check = common::CheckLevel::args;
    settings.static_data = options.static_data;
    settings.raise_kernel_errors = options.raise_kernel_errors;
    settings.front_notes_signals = options.notes != JobOptions::Notes::none;
    settings.front_notes_writes = options.notes == JobOptions::Notes::all;
    return front::new_job(bootstrap::choose(options, settings), settings);
}

/// Keeps the state of a job that has ended while threads wait in it: they must find that it is over.
void keep_for_ever(std::shared_ptr<core::JobState> state) {
    static std::mutex mutex;
    static auto& kept = *new std::vector<std::shared_ptr<core::JobState>>;
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(state));
}

}  // namespace

Job::Job(const JobOptions& options) : state_(start(options)) {}
Job::Job(std::shared_ptr<core::JobState> state) : state_(std::move(state)) {}
Job::~Job() = default;
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;

core::JobState& Job::state() const {
    if (!state_)
        throw Error(ErrorCode::not_initialized, "This job has been finalized; it takes no more calls.");
    return *state_;
}

void Job::finalize() {
    state().finalize();
    if (state_->waits().are_left()) keep_for_ever(std::move(state_));
    state_.reset();
}

int Job::my_pe() const { return state().pe(); }
int Job::n_pes() const { return state().n_pes(); }
const Team& Job::world() const { return state().world(); }
const Team& Job::shared() const { return state().teams().shared(); }
const Team& Job::host() const { return state().teams().host(); }
const Team& Job::rail() const { return state().teams().rail(); }
std::uint64_t Job::get_team_unique_id() const { return state().team_ids.make(state()); }
Team Job::team_init(std::uint64_t unique_id, int n_pes, int my_pe) const {
    return core::make_team(state(), unique_id, n_pes, my_pe);
}
const Context& Job::context() const { return state().world_state().context(); }

Allocation Job::allocate(std::size_t bytes, std::size_t align, const AllocationHints& hints) {
    return state().heap().allocate(bytes, align, hints);
}

Allocation Job::allocate_zeroed(std::size_t bytes, std::size_t align, const AllocationHints& hints) {
    return state().heap().zeroed(bytes, align, hints);
}

void Job::reserve_for_teams(std::size_t bytes) { state().heap().reserved().add(bytes); }

void* Job::calloc(std::size_t count, std::size_t bytes, Memory memory) {
    std::size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) total = SIZE_MAX;
    return state().heap().zeroed(total, 0, {.memory = memory}).address;
}

void* Job::realloc(void* block, std::size_t bytes) { return state().heap().reallocate(block, bytes); }
Allocation Job::register_buffer(void* memory, std::size_t bytes) {
    return state().heap().register_buffer(memory, bytes);
}
Job::Registered Job::register_range(void* memory, std::size_t bytes) {
    return state().heap().register_range(memory, bytes);
}
void Job::check_kernels() const {
    if (const gpu::DeviceMemory* device = state().devices().memory()) device->streams().check_kernels();
}
void Job::note_kernel(std::string_view name, unsigned blocks, unsigned threads) const {
    if (const gpu::DeviceMemory* device = state().devices().memory())
        device->streams().note_kernel(name, blocks, threads);
}
void Job::reset_device_heap() { state().heap().reset_device_heap(); }
void Job::free(void* block) { state().heap().free(block); }
void Job::pin_bytes(const void* block, std::size_t bytes) const { state().heap().pin(block, bytes); }
void Job::drop(std::uint64_t serial) noexcept {
    if (state_) state_->heap().drop(serial);
}
bool Job::is_symmetric(const void* address, std::size_t bytes) const {
    return state().heap().is_symmetric(address, bytes);
}
void Job::check_symmetric(const void* address, std::size_t bytes) const {
    state().heap().check_symmetric(address, bytes);
}
Job::HeapUse Job::heap_use() const { return state().heap().heap_use(); }
Job::DeviceHeapUse Job::device_heap_use() const {
    const gpu::DeviceMemory* device = state().devices().memory();
    return device ? device->use() : DeviceHeapUse{};
}
std::shared_ptr<const void> Job::memory() const { return state().mapping(); }

void Job::global_exit(int status, const std::string& sentence) {
    const std::string text = bootstrap::sentence_of_end(my_pe(), status, sentence);
    // Before any PE notices and ends in some other way, whose status MPI would report as the job's.
    state().bootstrap().abort_by_others(status, text);
    state().board().abort(my_pe(), status, text);
    state().bootstrap().abort(status, sentence);  // adds PE and status itself
    std::fflush(nullptr);
    // No destructors: other threads of this PE may be anywhere.
    std::_Exit(status);
}

std::string Job::end_reason() const {
    const common::BoardHeader& header = state().board().header();
    return header.abort.load(std::memory_order_acquire) != 0 ? header.abort_text : std::string();
}

Version version() noexcept { return {ATOLL_VERSION_MAJOR, ATOLL_VERSION_MINOR, ATOLL_VERSION_PATCH}; }

}  // namespace atl
