// Stream-ordered tests, and waits for many words.
#include "atoll/detail/stream_waits.hpp"

#include "common/text.hpp"
#include "core/job/job_state.hpp"
#include "core/team/context_state.hpp"
#include "stream/stream_checks.hpp"

namespace atl {

namespace stream {

void* own_words(const core::ContextState& context, const gpu::DeviceMemory& device, void* words,
                std::size_t bytes, std::size_t each) {
    if (bytes == 0) return words;
    const core::JobState& job = context.job();
    const bool is_pinned = device.local().pinned().has(words);
    if (is_pinned) {
        job.heap().check_symmetric(words, bytes);
        device.local().check_pinned(words, bytes);
    } else {
        check_on_device(job, device, words, bytes);
    }
    if ((is_pinned || job.window().check) && reinterpret_cast<std::uintptr_t>(words) % each != 0)
        detail::throw_misaligned(words, each);
    return is_pinned ? words : device.at(words, job.pe());
}

device::Values reported_values(DType type) {
    if (static_cast<int>(type) > static_cast<int>(DType::uint64))
        throw Error(ErrorCode::dtype_mismatch, "Waits on a stream take integers of 8, 16, 32 or 64 bits.");
    const bool is_signed =
        type == DType::int8 || type == DType::int16 || type == DType::int32 || type == DType::int64;
    return is_signed ? device::Values::int64 : device::Values::unsigned_word;
}

}  // namespace stream

namespace detail {

namespace {

/// The Operation for a wait's report, by the name that its caller used; tests report nothing.
device::Operation operation_of(const ManyWords& asked) {
    using device::Operation;
    constexpr Operation names[][2] = {{Operation::wait_until_all, Operation::wait_until_all_vector},
                                      {Operation::wait_until_any, Operation::wait_until_any_vector},
                                      {Operation::wait_until_some, Operation::wait_until_some_vector}};
    return names[static_cast<int>(asked.kind)][asked.values ? 1 : 0];
}

/// A GPU traps on misaligned words, and its context is lost.
void check_aligned(const void* array, std::size_t each) {
    if (reinterpret_cast<std::uintptr_t>(array) % each != 0) throw_misaligned(array, each);
}

std::size_t product(std::uint64_t n, std::size_t bytes) {
    std::size_t all = 0;
    return __builtin_mul_overflow(n, bytes, &all) ? SIZE_MAX : all;
}

}  // namespace

void StreamWaits::many(const ManyWords& asked) const {
    const core::JobState& job = state_->job();
    const gpu::DeviceMemory& device = stream::device_for_streams(job, stream_.handle);
    const device::Values values = stream::reported_values(asked.type);
    const std::size_t each = size_of(asked.type), bytes = product(asked.n, each);
    gpu::WaitManyCall call{team_, asked, operation_of(asked), values};
    call.asked.words = stream::own_words(*state_, device, const_cast<void*>(asked.words), bytes, each);
    const bool finds = !asked.waits || asked.kind != Many::all;
    if (finds && !asked.out)
        throw Error(
            ErrorCode::invalid_argument,
            "out is null: a test on a stream, and a wait for any or some words there, needs an address "
            "for its result.");
    check_aligned(asked.out, sizeof(std::int64_t));
    check_aligned(asked.status, sizeof(int));
    check_aligned(asked.values, each);
    if (asked.out)
        device.local().check_pinned(asked.out,
                                    (asked.kind == Many::some ? asked.n + 1 : 1) * sizeof(std::int64_t));
    if (asked.status) device.local().check_pinned(asked.status, asked.n * sizeof(int));
    if (asked.values) device.local().check_pinned(asked.values, bytes);
    if (asked.n == 0 && !finds) return;
    device.streams().start(call, stream_.handle);
}

}  // namespace detail
}  // namespace atl
