// Events of kernels in Python that run on the host.
#pragma once

namespace atl::device {
struct TraceSink;
}

namespace atl::python {

/// Writes an event of the trace, which ends now: what and three words as in device::TraceRecord.
using WriteEvent = void(device::TraceSink* trace, int what, unsigned long long began, int peer,
                        unsigned long long first, unsigned long long second, unsigned long long third);
WriteEvent* kernel_trace() noexcept;

}  // namespace atl::python
