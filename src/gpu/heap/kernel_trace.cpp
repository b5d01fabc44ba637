#include "gpu/heap/kernel_trace.hpp"

#include "atoll/error.hpp"
#include "common/clock.hpp"

#include <algorithm>
#include <ctime>

namespace atl::gpu {

namespace {

std::uint64_t realtime_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

KernelTrace::KernelTrace(Gpu& gpu, const common::KernelLog& log) : gpu_(gpu), log_(log) {
    void* const seen = gpu.pinning().show(log.memory(), common::KernelLog::bytes(log.most()));
    records_ = reinterpret_cast<device::TraceRecord*>(static_cast<device::TraceLog*>(seen) + 1);
    log.header().gpu = gpu.facts().number + 1;
    const device::TraceClock now = compared_clocks();
    // Records of an earlier job of this process keep their clock.
    (log.header().first.host_ns == 0 ? log.header().first : log.header().last) = now;
}

/// Reads the GPU clock between two reads of the host clock, several times. Bounds the offset by the
/// intersection of these intervals.
device::TraceClock KernelTrace::compared_clocks() {
    constexpr int times = 16;
    std::int64_t least = INT64_MIN, most = INT64_MAX;
    std::uint64_t device_ns = 0;
    for (int i = 0; i < times; ++i) {
        const std::uint64_t before = common::now_ns();
        device_ns = gpu_.clock_ns();
        const std::uint64_t after = common::now_ns();
        if (device_ns == 0) break;
        least = std::max(least, static_cast<std::int64_t>(device_ns - after));
        most = std::min(most, static_cast<std::int64_t>(device_ns - before));
    }
    if (device_ns == 0) {
        log_.header().clock_is_assumed = 1;
        return {realtime_ns(), common::now_ns(), 0};
    }
    const std::int64_t offset = least + (most - least) / 2;
    const auto error = static_cast<std::uint64_t>(std::max<std::int64_t>(most - least, 0)) / 2;
    return {device_ns, device_ns - static_cast<std::uint64_t>(offset), error};
}

void KernelTrace::end(const device::TraceSink* sink) noexcept try {
    std::uint64_t counted = 0;
    gpu_.executor().copy(&counted, &sink->next, sizeof counted);
    log_.header().last = compared_clocks();
    __atomic_store_n(&log_.header().sink.next, counted, __ATOMIC_RELEASE);
} catch (const Error&) {
    // The GPU is lost. The records so far are in the log.
}

}  // namespace atl::gpu
