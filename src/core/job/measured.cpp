#include "atoll/detail/measured.hpp"

#include "common/recorder/meter.hpp"
#include "core/job/job_state.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace atl::detail {

namespace {

/// Number of an operation, found by the address of its name once a call has seen it. A word holds the low
/// bits of an address and its number. Addresses of literals have 48 bits, so no two of them agree.
std::uint16_t number_of(const char* operation) noexcept {
    static std::array<std::atomic<std::uint64_t>, 64> seen;
    constexpr unsigned first_bits = 3;  // neighbouring literals differ above these
    constexpr unsigned number_bits = 16;
    const auto name = reinterpret_cast<std::uintptr_t>(operation);
    std::atomic<std::uint64_t>& known = seen[(name >> first_bits) % seen.size()];
    const std::uint64_t word = known.load(std::memory_order_relaxed);
    if (word >> number_bits == (name << number_bits) >> number_bits) return static_cast<std::uint16_t>(word);
    const std::uint16_t number = common::operation_number(operation);
    known.store(name << number_bits | number, std::memory_order_relaxed);
    return number;
}

std::uint64_t logged_offset(const core::JobState& job, const void* object) noexcept {
    const Window& window = job.window();
    const gpu::DeviceMemory* device = job.devices().memory();
    if (device == nullptr || window.heap_has(object)) return window.offset_of(object);
    const std::size_t offset = device->offset_of(object);
    return offset == SIZE_MAX ? window.offset_of(object) : common::offset_on_device | offset;
}

/// Moves of at least this size take longer than two reads of the clock.
constexpr std::size_t timed_bytes = 16384;

}  // namespace

void Measured::begin(core::JobState& job, Kind kind, const char* operation, std::size_t bytes,
                     int world_pe) noexcept {
    common::Meter* meter = job.meter.get();
    common::ThreadMeasurement* measurement = meter != nullptr ? common::Meter::enter() : nullptr;
    if (measurement == nullptr) return;
    measurement_ = measurement;
    meter_ = meter;
    job_ = &job;
    kind_ = kind;
    bytes_ = bytes;
    object_ = nullptr;
    value_ = 0;
    team_ = context_ = 0;
    began_ = waited_ = 0;
    weight_ = 1;
    peer_ = world_pe;
    if (kind != Kind::move && meter->log() != nullptr) measurement->exceptions = std::uncaught_exceptions();
    operation_ = number_of(operation);
    if (kind == Kind::move && bytes < timed_bytes && meter->log() == nullptr)
        weight_ = meter->weight_of_next(operation_);
    // A wait may outlive the job otherwise: finalize in another thread ends it, and waits for those that
    // enter.
    if (kind == Kind::wait) job.waits().enter();
    if (weight_ == 0) return;
    waited_ = measurement->waited;
    began_ = meter->now();
}

void Measured::end() noexcept {
    common::Meter::Ended call{operation_, bytes_, 0, 0, weight_};
    if (weight_ != 0) {
        call.ticks = meter_->now() - began_;
        call.waiting = kind_ == Kind::wait ? call.ticks : measurement_->waited - waited_;
    }
    meter_->add(call);
    if (meter_->log() != nullptr) {
        common::LoggedEvent event;
        event.kind = common::EventKind::move;
        if (kind_ != Kind::move && std::uncaught_exceptions() > measurement_->exceptions)
            event.state = common::EventState::failed;
        event.peer = peer_;
        event.team = team_;
        event.call = context_;
        event.began = began_;
        event.offset = object_ != nullptr ? logged_offset(*job_, object_) : 0;
        event.value = value_;
        meter_->log_call(event, call, *measurement_);
    }
    common::Meter::leave(*measurement_);
    if (kind_ == Kind::wait) job_->waits().leave();  // the last use of the job
}

}  // namespace atl::detail
