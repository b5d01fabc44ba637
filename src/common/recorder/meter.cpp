#include "common/recorder/meter.hpp"

namespace atl::common {

namespace {

thread_local ThreadMeasurement this_thread;

void grow(std::atomic<std::uint64_t>& counter, std::uint64_t by, bool is_alone) noexcept {
    if (is_alone)
        counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    else
        counter.fetch_add(by, std::memory_order_relaxed);
}

void raise_to(std::atomic<std::uint64_t>& counter, std::uint64_t value) noexcept {
    std::uint64_t seen = counter.load(std::memory_order_relaxed);
    while (seen < value && !counter.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

}  // namespace

Meter::Meter(PeCounters& counters, EventLog* log) noexcept
    : counters_(counters),
      log_(log),
      owner_(__builtin_thread_pointer()),
      uses_counter_(has_steady_counter()) {
    if (counters_.is_on.load(std::memory_order_relaxed) != 0) return;  // on since this PE's earlier job
    const ClockPair began = ClockPair::now(uses_counter_);
    counters_.uses_counter.store(uses_counter_ ? 1 : 0, std::memory_order_relaxed);
    counters_.began_ticks.store(began.ticks, std::memory_order_relaxed);
    counters_.began_ns.store(began.ns, std::memory_order_relaxed);
    counters_.is_on.store(1, std::memory_order_release);
}

std::uint64_t Meter::weight_of_next(std::uint16_t operation) const noexcept {
    const std::uint64_t calls = of(operation).calls.load(std::memory_order_relaxed);
    if (calls < timed_at_first) return 1;
    return calls % sample == sample - 1 ? sample : 0;
}

void Meter::add(const Ended& call) noexcept {
    const bool is_alone = is_owner();
    OperationCounters& counters = of(call.operation);
    grow(counters.calls, 1, is_alone);
    if (call.bytes != 0) grow(counters.bytes, call.bytes, is_alone);
    if (call.weight == 0) return;
    grow(counters.ticks, call.ticks * call.weight, is_alone);
    if (call.waiting != 0) grow(counters.waiting, call.waiting * call.weight, is_alone);
    if (counters.longest.load(std::memory_order_relaxed) < call.ticks) raise_to(counters.longest, call.ticks);
}

void Meter::log_call(LoggedEvent event, const Ended& call, ThreadMeasurement& measurement) const noexcept {
    event.operation = call.operation;
    event.bytes = call.bytes;
    event.ended = event.began + call.ticks;
    event.waiting = call.waiting;
    if (call.ticks >= log_->site_ticks()) event.site = log_->site_number();
    if (measurement.writer == nullptr) measurement.writer = &EventLog::writer();
    log_->add(event, *measurement.writer);
}

ThreadMeasurement* Meter::enter() noexcept {
    ThreadMeasurement& measurement = this_thread;
    if (measurement.within_call) return nullptr;
    measurement.within_call = true;
    return &measurement;
}

bool Meter::begin_wait() const noexcept {
    ThreadMeasurement& measurement = this_thread;
    if (measurement.within_wait) return false;
    measurement.within_wait = true;
    measurement.wait_began = now();
    return true;
}

void Meter::end_wait() const noexcept {
    ThreadMeasurement& measurement = this_thread;
    measurement.within_wait = false;
    measurement.waited += now() - measurement.wait_began;
}

}  // namespace atl::common
