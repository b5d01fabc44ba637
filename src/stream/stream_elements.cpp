// take, put_at and add_at on arrays of GPUs: checks arguments; in stream order or complete on return. The
// kernel computes each element's address (src/gpu/cuda/kernels/elements.cuh).
#include "atoll/stream.hpp"

#include "atoll/device/control.hpp"

#include "common/text.hpp"
#include "core/context/route.hpp"
#include "core/job/job_state.hpp"
#include "gpu/heap/borrowed_lane.hpp"
#include "memory/round_up.hpp"
#include "stream/stream_checks.hpp"
#include "transport/apply_atomic.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace atl {
namespace {

using gpu::ElementsCall;

constexpr std::size_t most_copied_bytes = sizeof ElementsCall::value;

device::Operation name_of(ElementsOp op) {
    return op == ElementsOp::take     ? device::Operation::take
           : op == ElementsOp::put_at ? device::Operation::put_at
                                      : device::Operation::add_at;
}

gpu::ElementNumbers numbers_of(const Numbers& numbers) {
    if (numbers.each() && reinterpret_cast<std::uintptr_t>(numbers.each()) % numbers.bytes() != 0)
        detail::throw_misaligned(numbers.each(), numbers.bytes());
    return {numbers.each(), numbers.one(), numbers.bytes(), numbers.is_for_all() ? 0u : 1u};
}

/// The largest word size, up to 16, of which all of these are multiples.
unsigned unit_of(std::uintptr_t all) {
    return static_cast<unsigned>(std::min<std::uintptr_t>(all & (~all + 1), 16));
}

void check_array(const core::JobState& job, const gpu::DeviceMemory& device, const Elements& e) {
    if (e.size == 0)
        throw Error(ErrorCode::invalid_argument,
                    "The array has no elements, and " + std::to_string(e.count) +
                        " of it are asked for; pass none, or an array that has some.");
    const std::ptrdiff_t span = e.step_bytes * static_cast<std::ptrdiff_t>(e.size - 1);
    const char* low = static_cast<const char*>(e.first) + std::min<std::ptrdiff_t>(span, 0);
    stream::check_on_device(job, device, low, static_cast<std::size_t>(std::abs(span)) + e.element_bytes);
}

void check_one_number(const Elements& e) {
    const auto size = static_cast<std::int64_t>(e.size);
    const std::int64_t one = e.index.one();
    if (!e.index.each() && (one < -size || one >= size))
        throw Error(ErrorCode::invalid_argument, "There is no element " + std::to_string(one) +
                                                     "; the array has " + std::to_string(size) +
                                                     " elements, so indices are " + std::to_string(-size) +
                                                     " to " + std::to_string(size - 1) + ".");
}

void check_one_pe(const Elements& e, int n_pes) {
    const std::int64_t pe = e.pe.one();
    if (!e.pe.each() && (pe < 0 || pe >= n_pes))
        detail::throw_pe(static_cast<int>(std::clamp<std::int64_t>(pe, -1, INT32_MAX)), n_pes);
}

/// Sets the unit of the moves. Additions use whole words; other elements are moved in parts if they are
/// misaligned.
void set_unit(ElementsCall& call, const Elements& e) {
    const std::uintptr_t array =
        reinterpret_cast<std::uintptr_t>(e.first) | static_cast<std::uintptr_t>(call.step_bytes);
    const auto values = reinterpret_cast<std::uintptr_t>(call.values);
    call.unit_bytes = unit_of(array | values | call.element_bytes);
    if (e.op != ElementsOp::add_at || call.unit_bytes >= call.element_bytes) return;
    const bool is_array = unit_of(array) < call.element_bytes;
    detail::throw_misaligned(is_array ? e.first : e.values, call.element_bytes);
}

ElementsCall call_of(core::ContextState& context, const device::Team& team, const Elements& e) {
    const core::JobState& job = context.job();
    check_array(job, *job.devices().memory(), e);
    check_one_number(e);
    check_one_pe(e, context.team().n_pes());
    ElementsCall call{};
    call.team = team;
    call.first = static_cast<char*>(e.first);
    call.step_bytes = e.step_bytes;
    call.size = e.size;
    call.count = e.count;
    call.index = numbers_of(e.index);
    call.pe = numbers_of(e.pe);
    call.operation = name_of(e.op);
    call.type = e.type;
    call.element_bytes = e.element_bytes;
    if (e.op == ElementsOp::add_at) transport::check_atomic(AtomicOp::add, e.type);
    if (e.kind == ElementsValues::copied) {
        if (e.element_bytes > most_copied_bytes)
            throw Error(ErrorCode::invalid_argument,
                        "One value for all of " + common::bytes_text(e.element_bytes) +
                            " cannot be copied into the call; pass one in memory that the GPU reaches.");
        std::memcpy(call.value, e.values, e.element_bytes);
    } else {
        if (!e.values && e.count != 0)
            throw Error(ErrorCode::invalid_argument,
                        "take, put_at and add_at: the address of the values is null, for " +
                            std::to_string(e.count) + " elements.");
        call.values = static_cast<char*>(e.values);
        call.values_step_bytes = e.kind == ElementsValues::each ? e.element_bytes : 0;
    }
    set_unit(call, e);
    call.has_far = core::first_far(context.team()) >= 0;
    return call;
}

void check_pinned(const gpu::DeviceMemory& device, const ElementsCall& call) {
    const auto check = [&](const void* memory, std::size_t step, std::size_t bytes) {
        if (memory) device.local().check_pinned(memory, step * (call.count - 1) + bytes);
    };
    check(call.index.each, call.index.step * call.index.bytes, call.index.bytes);
    check(call.pe.each, call.pe.step * call.pe.bytes, call.pe.bytes);
    check(call.values, call.values_step_bytes, call.element_bytes);
}

/// Starts the host's service for PEs beyond the window, before the kernel that needs it.
void serve(const core::JobState& job, const ElementsCall& call) {
    if (call.has_far) job.devices().services()->serve_kernels();
}

/// Stages memory that the GPU cannot access in a lane's pinned memory, a piece at a time.
class Pieces {
  public:
    Pieces(const core::JobState& job, const gpu::DeviceMemory& device, const ElementsCall& call)
        : job_(job),
          device_(device),
          call_(call),
          operands_{operand(call.index.each, call.index.step * call.index.bytes, call.index.bytes),
                    operand(call.pe.each, call.pe.step * call.pe.bytes, call.pe.bytes),
                    operand(call.values, call.values_step_bytes, call.element_bytes)},
          lane_(device, staging()) {}

    void run() {
        const std::uint64_t most = most_at_once();
        for (std::uint64_t first = 0; first < call_.count; first += most)
            move(first, std::min(most, call_.count - first));
    }

  private:
    /// An operand: `step` bytes between elements (0: one for all), `bytes` each.
    struct Operand {
        char* memory;
        std::uint64_t step, bytes;
        bool is_staged;
        char* staged;
        std::uint64_t extent(std::uint64_t n) const { return step * (n - 1) + bytes; }
    };
    static constexpr std::uint64_t line_bytes = 128;

    Operand operand(const void* memory, std::uint64_t step, std::uint64_t bytes) const {
        auto* at = static_cast<char*>(const_cast<void*>(memory));
        return {at, step, bytes, at && !device_.local().reaches(at, step * (call_.count - 1) + bytes),
                nullptr};
    }
    gpu::BorrowedLane::Staging staging() const {
        const bool stages = std::any_of(std::begin(operands_), std::end(operands_),
                                        [](const Operand& o) { return o.is_staged; });
        return stages ? gpu::BorrowedLane::Staging::pinned : gpu::BorrowedLane::Staging::none;
    }
    /// Number of elements per piece. Each staged operand has its part of the lane's memory.
    std::uint64_t most_at_once() {
        std::uint64_t each = 0, once = 0;
        for (const Operand& o : operands_) {
            if (!o.is_staged) continue;
            each += o.step;
            once += o.bytes + line_bytes;
        }
        if (once == 0) return call_.count;
        if (once + each > gpu::lane_pinned_bytes)
            throw Error(ErrorCode::unsupported, "Elements of " + common::bytes_text(call_.element_bytes) +
                                                    " are too large for this call; use put and get.");
        const std::uint64_t most = each == 0 ? call_.count : (gpu::lane_pinned_bytes - once) / each;
        char* next = lane_.pinned();
        for (Operand& o : operands_) {
            if (!o.is_staged) continue;
            o.staged = next;
            next += memory::round_up(o.extent(std::min(most, call_.count)), line_bytes);
        }
        return most;
    }
    static char* address_of(const Operand& o, std::uint64_t first) {
        return o.is_staged ? o.staged : o.memory ? o.memory + first * o.step : nullptr;
    }
    void move(std::uint64_t first, std::uint64_t n) const {
        const bool takes = call_.operation == device::Operation::take;
        const Operand& values = operands_[2];
        for (const Operand& o : operands_)
            if (o.is_staged && !(takes && &o == &values))
                std::memcpy(o.staged, o.memory + first * o.step, o.extent(n));
        ElementsCall piece = call_;
        piece.count = n;
        piece.begin = first;
        piece.index.each = address_of(operands_[0], first);
        piece.pe.each = address_of(operands_[1], first);
        piece.values = address_of(values, first);
        serve(job_, piece);
        lane_.run(piece);
        if (takes && values.is_staged)
            std::memcpy(values.memory + first * values.step, values.staged, values.extent(n));
    }

    const core::JobState& job_;
    const gpu::DeviceMemory& device_;
    const ElementsCall& call_;
    Operand operands_[3];
    gpu::BorrowedLane lane_;  // pinned if an operand is staged
};

/// Checks numbers in host memory before anything is moved.
void check_numbers(const gpu::DeviceMemory& device, const Elements& e, const Numbers& numbers,
                   std::int64_t low, std::int64_t high, bool are_pes) {
    if (!numbers.each() || device.local().is_on_gpu(numbers.each())) return;
    const std::size_t n = numbers.is_for_all() ? 1 : e.count;
    const gpu::ElementNumbers each = numbers_of(numbers);
    for (std::size_t i = 0; i < n; ++i) {
        Elements one = e;
        const std::int64_t number = each.bytes == 8 ? static_cast<const std::int64_t*>(each.each)[i]
                                                    : static_cast<const std::int32_t*>(each.each)[i];
        if (number >= low && number < high) continue;
        (are_pes ? one.pe : one.index) = number;
        if (are_pes)
            check_one_pe(one, static_cast<int>(high));
        else
            check_one_number(one);
    }
}

}  // namespace

void StreamContext::elements(const Elements& which) const {
    const gpu::DeviceMemory& device = stream::device_for_streams(state_->job(), stream_.handle);
    if (which.count == 0) return;
    const ElementsCall call = call_of(*state_, team_, which);
    check_pinned(device, call);
    serve(state_->job(), call);
    device.streams().start(call, stream_.handle);
}

void move_elements(const Context& context, const Elements& elements) {
    core::ContextState& state = context.state();
    const gpu::DeviceMemory& device = stream::device_for_streams(state.job(), nullptr);
    if (elements.count == 0) return;
    const ElementsCall call = call_of(state, stream::stream_team(state.team(), {}, true), elements);
    const auto size = static_cast<std::int64_t>(elements.size);
    check_numbers(device, elements, elements.index, -size, size, false);
    check_numbers(device, elements, elements.pe, 0, state.team().n_pes(), true);
    Pieces(state.job(), device, call).run();
}

}  // namespace atl
