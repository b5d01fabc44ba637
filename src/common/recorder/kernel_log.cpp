#include "common/recorder/kernel_log.hpp"

#include "common/recorder/ticks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace atl::common {

namespace {

using device::TraceClock;
using device::TraceLog;
using device::TraceRecord;

/// Converts times of a processor to the host's clock, by one or two moments that are known on both.
TickScale scale_of(const TraceLog& log) {
    const TraceClock& from = log.first;
    const TraceClock& to = log.last.host_ns != 0 ? log.last : from;
    return {{from.device_ns, from.host_ns}, {to.device_ns, to.host_ns}};
}

std::string name_of(const TraceRecord& record) {
    char name[device::trace_name_bytes];
    static_assert(sizeof name == sizeof record.words);
    std::memcpy(name, record.words, sizeof name);
    return {name, ::strnlen(name, sizeof name)};
}

KernelEvent event_of(const TraceRecord& record, Processor processor) {
    KernelEvent event;
    event.began = record.began;
    event.ended = std::max(record.began, record.ended);
    event.peer = record.peer;
    event.block = record.block;
    event.thread = record.thread;
    event.grid = record.grid;
    event.processor = processor;
    if (record.what == device::trace_range) {
        event.name = name_of(record);
        if (event.name.empty()) event.name = "range";
        return event;
    }
    event.operation = static_cast<int>(record.what);
    event.bytes = record.words[0];
    event.offset = record.words[1];
    event.value = record.words[2];
    return event;
}

}  // namespace

KernelLogCopy KernelLog::read(Processor processor) const {
    KernelLogCopy copy;
    const TraceLog& log = header();
    const std::uint64_t next = __atomic_load_n(&log.sink.next, __ATOMIC_ACQUIRE);
    copy.dropped = next > most_ ? next - most_ : 0;
    copy.gpu = log.gpu - 1;
    copy.clock_is_assumed = log.clock_is_assumed != 0;
    copy.clock_error_ns = std::max(log.first.error_ns, log.last.error_ns);
    const TickScale scale = scale_of(log);
    // A GPU counts in memory of its own, so the number of its records is unknown if the PE was killed.
    const std::uint64_t last = processor == Processor::cpu ? std::min(next, most_) : log.gpu != 0 ? most_ : 0;
    for (std::uint64_t i = 0; i < last; ++i) {
        const TraceRecord& record = records()[i];
        const bool is_written = __atomic_load_n(&record.ended, __ATOMIC_ACQUIRE) != 0 && record.began != 0;
        if (!is_written || record.what > device::trace_range) continue;
        KernelEvent event = event_of(record, processor);
        if (log.first.host_ns != 0) {
            event.began = scale.time_ns(event.began);
            event.ended = std::max(event.began, scale.time_ns(event.ended));
        }
        copy.events.push_back(std::move(event));
    }
    return copy;
}

}  // namespace atl::common
