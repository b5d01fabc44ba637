#define ATOLL_DEVICE_TRACE 1
#include "gpu/kernel_trace.hpp"

#include "atoll/device/detail/traced.hpp"

namespace atl::python {
namespace {

void write_event(device::TraceSink* trace, int what, unsigned long long began, int peer,
                 unsigned long long first, unsigned long long second, unsigned long long third) noexcept {
    device::detail::write_event(device::detail::TakenRecord(trace).record(), static_cast<unsigned>(what),
                                began, peer, first, second, third);
}

}  // namespace

WriteEvent* kernel_trace() noexcept { return &write_event; }

}  // namespace atl::python
