#include "stream/kernels/kernel_wait.hpp"

#include "common/recorder/operation_names.hpp"
#include "core/job/job_state.hpp"
#include "stream/kernels/kernel_control.hpp"

namespace atl::stream {

namespace {

core::JobState& job_of(const device::Watch& watch) { return *static_cast<core::JobState*>(watch.job); }

/// False for words of control blocks, which the program does not know. They lie in this PE's slot.
bool is_of_program(const core::JobState& job, const void* word) {
    if (word == nullptr) return false;
    if (job.window().heap_holds(word, 1)) return job.heap().block_around(word).bytes != 0;
    if (job.window().holds(word, 1)) return true;
    const auto offset =
        reinterpret_cast<std::uintptr_t>(word) - reinterpret_cast<std::uintptr_t>(job.window().mine);
    return offset >= job.mapping()->layout().stride();
}

/// Sets the word, and how reports read its two values.
void set_word(detail::WaitReason& reason, const device::Report& waiting) {
    using device::Values;
    reason.word = reinterpret_cast<const void*>(waiting.address);
    if (waiting.subject != device::Subject::word) return;
    reason.word_bytes = waiting.word_bytes;
    reason.word_signed = waiting.values == Values::int32 || waiting.values == Values::int64;
    reason.word_floating = waiting.values == Values::float32 || waiting.values == Values::float64;
    reason.compare = waiting.compare;
    reason.expected = waiting.expected;
    if (waiting.values == Values::int32)
        reason.expected =
            static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(waiting.expected)});
}

detail::WaitReason reason_of(const device::Watch& watch, const device::Report& waiting) {
    core::JobState& job = job_of(watch);
    detail::WaitReason reason;
    reason.operation = common::device_operation_name(static_cast<std::uint32_t>(waiting.operation));
    reason.team = waiting.team;
    if (waiting.peer >= 0) reason.peer = world_pe(job, watch, waiting.team, waiting.peer);
    reason.tag = waiting.tag;
    if (is_of_program(job, reinterpret_cast<const void*>(waiting.address))) set_word(reason, waiting);
    return reason;
}

/// In seconds; negative: ATOLL_WAIT_TIMEOUT. Without checks only the call's own bound counts.
double bound_of(const core::JobState& job, const device::Report& waiting) {
    constexpr double none_s = 1e9;
    if (waiting.bound_ns != 0) return static_cast<double>(waiting.bound_ns) * 1e-9;
    return job.settings().check == common::CheckLevel::none ? none_s : -1;
}

}  // namespace

KernelWait::KernelWait(const device::Watch& watch, const device::Report& waiting)
    : job_(job_of(watch)),
      team_(waiting.team),
      reason_(reason_of(watch, waiting)),
      slow_(job_, reason_, bound_of(job_, waiting)) {}

void KernelWait::pause() {
    if (std::string text = job_.kernels().stream_differences->text_of(team_); !text.empty())
        throw Error(ErrorCode::collective_mismatch, text);
    slow_.pause();
}

}  // namespace atl::stream
