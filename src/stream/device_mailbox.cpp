// Mailboxes of the device heap: checks arguments, computes addresses. The library's kernels post and receive
// (gpu/mailbox_on_device.hpp).
#include "atoll/device_mailbox.hpp"

#include "atoll/detail/wait.hpp"
#include "atoll/device/mailbox.hpp"
#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "core/job/largest_team.hpp"
#include "core/team/team_state.hpp"
#include "gpu/heap/borrowed_lane.hpp"
#include "gpu/mailbox_on_device.hpp"
#include "stream/stream_checks.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace atl {

namespace {

using gpu::MailboxCall;
using gpu::MailboxStep;

constexpr std::size_t sizes_of_one = device::Mailbox::depth * sizeof(device::FlaggedPair);

/// Pauses between two tries of a waiting host. Each try launches a kernel.
constexpr std::chrono::microseconds first_pause{10}, longest_pause{100};

[[noreturn]] void throw_misfit(std::size_t bytes, std::size_t capacity) {
    throw Error(ErrorCode::shape_mismatch, "The message has " + common::bytes_text(bytes) +
                                               ", the array room for " + common::bytes_text(capacity) +
                                               "; it can still be received with a larger one.");
}

/// The host's tries to post or to receive the next message. Each is a kernel that does not wait for room or
/// for a message. No lane is kept between tries: another thread would need a new one, and pinning may wait
/// for kernels that wait.
class Tries {
  public:
    Tries(const gpu::DeviceMemory& device, const MailboxCall& asked) : device_(device), asked_(asked) {
        asked_.refuses = true;
    }
    bool posted() const { return stored_result() != gpu::no_room; }
    /// The size of the received message, or `none`.
    std::size_t received() const {
        const std::int64_t arrived = stored_result();
        if (gpu::is_refused(arrived)) throw_misfit(gpu::refused_bytes(arrived), asked_.bytes);
        return arrived == gpu::no_message ? none : static_cast<std::size_t>(arrived);
    }

  private:
    std::int64_t stored_result() const {
        const gpu::BorrowedLane lane(device_, gpu::BorrowedLane::Staging::pinned);
        MailboxCall call = asked_;
        call.arrived = reinterpret_cast<std::int64_t*>(lane.pinned());
        *call.arrived = 0;
        lane.run(call);
        return *call.arrived;
    }

    const gpu::DeviceMemory& device_;
    MailboxCall asked_;
};

/// Creates two lanes, for a thread that posts and for the receiving one. Both must exist before kernels wait.
void pin_lanes(const gpu::DeviceMemory& device) {
    const gpu::BorrowedLane one(device, gpu::BorrowedLane::Staging::pinned);
    const gpu::BorrowedLane other(device, gpu::BorrowedLane::Staging::pinned);
}

}  // namespace

struct DeviceMailbox::State {
    std::weak_ptr<core::JobState> job;
    core::JobState* job_state = nullptr;  ///< valid while `job` has not expired
    Team team;
    device::Team members{};
    std::size_t capacity = 0;
    char* memory = nullptr;
    std::uint64_t serial = 0;
    bool owns_memory = false;

    ~State() {
        if (memory && owns_memory) Job(job.lock()).drop(serial);
    }
    void allocate(Job& owner);
    const gpu::DeviceMemory& check() const;
    const gpu::DeviceMemory& check(const void* stream, int pe, const void* array, std::size_t bytes) const;
    MailboxCall call(MailboxStep step, const void* array, std::size_t bytes, int pe) const;
    MailboxCall post(MailboxStep step, const void* src, std::size_t bytes, int pe) const;
    Tries to_receive(void* dst, std::size_t room, int pe) const;
    template <class Done> void wait(const char* operation, int pe, double timeout_s, const Done& done) const;
    void take(MailboxStep step, Stream stream, void* dst, std::size_t room, int pe, std::int64_t* count,
              std::size_t element_bytes) const;
};

void DeviceMailbox::State::allocate(Job& owner) {
    job = owner.handle();
    job_state = &owner.state();
    const auto n = static_cast<std::size_t>(core::largest_team(owner, team));
    std::size_t bytes = device::mailbox_bytes(1, capacity) + sizes_of_one;
    if (__builtin_mul_overflow(bytes, n, &bytes)) bytes = SIZE_MAX;  // allocate reports the lack of room
    const Allocation block = owner.allocate_zeroed(bytes, 128, {.memory = Memory::device});
    memory = static_cast<char*>(block.address);
    serial = block.serial;
    owns_memory = true;
    pin_lanes(*job_state->devices().memory());
    if (!team) return;
    members = stream::stream_team(team.state());
}

const gpu::DeviceMemory& DeviceMailbox::State::check() const {
    if (job.expired())
        throw Error(ErrorCode::not_initialized, "The job that this mailbox belongs to has been finalized.");
    if (!memory) throw Error(ErrorCode::use_after_free, "This mailbox was freed; make a new one.");
    if (!team)
        throw Error(ErrorCode::invalid_argument,
                    "This PE is not a member of the mailbox's team; it can only free the mailbox.");
    return *job_state->devices().memory();
}

/// `stream` is null for the library's own stream.
const gpu::DeviceMemory& DeviceMailbox::State::check(const void* stream, int pe, const void* array,
                                                     std::size_t bytes) const {
    const gpu::DeviceMemory& device = check();
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(team.n_pes())) detail::throw_pe(pe, team.n_pes());
    stream::device_for_streams(*job_state, stream);
    if (bytes != 0) device.local().check_pinned(array, bytes);
    return device;
}

MailboxCall DeviceMailbox::State::call(MailboxStep step, const void* array, std::size_t bytes, int pe) const {
    MailboxCall call{};
    call.team = members;
    call.block = memory;
    call.room = capacity;
    call.sizes =
        reinterpret_cast<device::FlaggedPair*>(memory + device::mailbox_bytes(members.n_pes, capacity));
    call.data = const_cast<void*>(array);
    call.bytes = bytes;
    call.unit = 1;
    call.pe = pe;
    call.step = step;
    return call;
}

MailboxCall DeviceMailbox::State::post(MailboxStep step, const void* src, std::size_t bytes, int pe) const {
    if (bytes > capacity)
        throw Error(ErrorCode::shape_mismatch,
                    "A message of " + common::bytes_text(bytes) + " does not fit into a mailbox of " +
                        common::bytes_text(capacity) + "; make one with a larger nbytes.");
    return call(step, src, bytes, pe);
}

Tries DeviceMailbox::State::to_receive(void* dst, std::size_t room, int pe) const {
    return {check(nullptr, pe, dst, room), call(MailboxStep::try_receive, dst, room, pe)};
}

/// Tries until `done()`. A long wait yields, and leaves the GPU to others.
template <class Done>
void DeviceMailbox::State::wait(const char* operation, int pe, double timeout_s, const Done& done) const {
    if (done()) return;
    detail::WaitReason why;
    why.operation = operation;
    why.team = team.state().number();
    why.peer = team.state().world_pe(pe);
    detail::SlowWait slow(*job_state, why, timeout_s);
    slow.check();  // 0 polls once
    std::chrono::microseconds pause = first_pause;
    while (!done()) {
        if (!slow.must_sleep()) continue;  // it yielded instead
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, longest_pause);
    }
}

void DeviceMailbox::State::take(MailboxStep step, Stream stream, void* dst, std::size_t room, int pe,
                                std::int64_t* count, std::size_t element_bytes) const {
    const gpu::DeviceMemory& device = check(stream.handle, pe, dst, room);
    if (element_bytes == 0)
        throw Error(ErrorCode::invalid_argument,
                    "A mailbox's messages have elements of 1 byte or more; 0 "
                    "were passed.");
    if (room % element_bytes != 0)
        throw Error(ErrorCode::shape_mismatch, "The array has room for " + common::bytes_text(room) +
                                                   ", which is not a multiple of the element size, " +
                                                   common::bytes_text(element_bytes) + "; pass a multiple.");
    if (count) {
        if (reinterpret_cast<std::uintptr_t>(count) % sizeof *count != 0)
            detail::throw_misaligned(count, sizeof *count);
        device.local().check_pinned(count, sizeof *count);
    } else if (step == MailboxStep::try_receive) {
        throw Error(ErrorCode::invalid_argument,
                    "try_receive on a stream needs a word that it can tell whether a message came: pass "
                    "`count`.");
    }
    // No message is longer, and a message posted by a kernel counts as full length.
    const std::size_t most = std::min(room, capacity / element_bytes * element_bytes);
    MailboxCall asked = call(step, dst, most, pe);
    asked.arrived = count;
    asked.unit = element_bytes;
    device.streams().start(asked, stream.handle);
}

// ---- the object

DeviceMailbox::DeviceMailbox(Job& job, const Team& team, std::size_t nbytes, int slots)
    : state_(std::make_unique<State>()) {
    const core::Meetings::Within within(job.state().world_state().meetings(), "device_mailbox");
    // All PEs compare the arguments before any of them rejects its own.
    job.state().world_state().agree(
        core::call_record("device_mailbox", nbytes, static_cast<std::uint64_t>(slots)));
    if (slots < 1 || slots > most_slots)
        throw Error(ErrorCode::invalid_argument, "A mailbox on GPUs has 1 to " + std::to_string(most_slots) +
                                                     " slots; " + std::to_string(slots) + " were asked for.");
    if (nbytes >> gpu::detail::size_bits != 0)
        throw Error(ErrorCode::invalid_argument, "A mailbox's messages on GPUs have less than 16 GiB; " +
                                                     common::bytes_text(nbytes) +
                                                     " were asked for. Use put_signal for large data.");
    state_->team = team;
    state_->capacity = nbytes;
    state_->allocate(job);
}

DeviceMailbox::~DeviceMailbox() = default;
DeviceMailbox::DeviceMailbox(DeviceMailbox&&) noexcept = default;

DeviceMailbox& DeviceMailbox::operator=(DeviceMailbox&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}

static DeviceMailbox::State& present(const std::unique_ptr<DeviceMailbox::State>& state) {
    if (!state) throw Error(ErrorCode::use_after_free, "This mailbox was moved from.");
    return *state;
}

std::size_t DeviceMailbox::capacity_bytes() const { return present(state_).capacity; }

device::Mailbox DeviceMailbox::device() const {
    const State& state = present(state_);
    state.check();
    return {state.memory, state.capacity};
}

void DeviceMailbox::post(const void* src, std::size_t bytes, int pe, double timeout_s) {
    const State& state = present(state_);
    const gpu::DeviceMemory& device = state.check(nullptr, pe, src, bytes);
    const Tries tries(device, state.post(MailboxStep::try_post, src, bytes, pe));
    state.wait("mailbox post", pe, timeout_s, [&] { return tries.posted(); });
}

std::size_t DeviceMailbox::receive(void* dst, std::size_t capacity, int from_pe, double timeout_s) {
    const State& state = present(state_);
    const Tries tries = state.to_receive(dst, capacity, from_pe);
    std::size_t bytes = none;
    state.wait("mailbox receive", from_pe, timeout_s, [&] { return (bytes = tries.received()) != none; });
    return bytes;
}

std::size_t DeviceMailbox::try_receive(void* dst, std::size_t capacity, int from_pe) {
    return present(state_).to_receive(dst, capacity, from_pe).received();
}

void DeviceMailbox::post(Stream stream, const void* src, std::size_t bytes, int pe) const {
    const State& state = present(state_);
    const gpu::DeviceMemory& device = state.check(stream.handle, pe, src, bytes);
    device.streams().start(state.post(MailboxStep::post, src, bytes, pe), stream.handle);
}

void DeviceMailbox::receive(Stream stream, void* dst, std::size_t capacity, int from_pe, std::int64_t* count,
                            std::size_t element_bytes) const {
    present(state_).take(MailboxStep::receive, stream, dst, capacity, from_pe, count, element_bytes);
}

void DeviceMailbox::try_receive(Stream stream, void* dst, std::size_t capacity, int from_pe,
                                std::int64_t* count, std::size_t element_bytes) const {
    present(state_).take(MailboxStep::try_receive, stream, dst, capacity, from_pe, count, element_bytes);
}

void DeviceMailbox::free() {
    State& state = present(state_);
    if (state.memory && state.owns_memory) Job(state.job.lock()).free(state.memory);
    state.memory = nullptr;
}

Allocation DeviceMailbox::release_block() {
    State& state = present(state_);
    state.check();
    state.owns_memory = false;
    return {state.memory, true, state.serial};
}

}  // namespace atl
