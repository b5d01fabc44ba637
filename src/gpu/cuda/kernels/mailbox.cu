// Messages of mailboxes in stream order.
#include "gpu/mailbox_on_device.hpp"

namespace atl::kernels {

using gpu::MailboxCall;

namespace {

/// Stops the kernel if a message is larger than the array of the receiver.
__device__ void stop(const MailboxCall& call, std::uint64_t bytes) {
    const device::Watch* watch = call.team.control->watch;
    if (!watch) return;
    device::Report report =
        device::detail::waiting(call.team.control, {device::Operation::receive, 0, 0}, call.data, call.pe);
    report.subject = device::Subject::word;
    report.compare = device::Compare::le;
    report.expected = call.bytes;
    report.found = bytes;
    device::detail::report_and_trap(const_cast<device::Watch*>(watch), report, 4);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(1024) atoll_mailbox(const MailboxCall call) {
    gpu::perform_mailbox(call, device::Block{}, [&](std::uint64_t bytes) { stop(call, bytes); });
}

}  // namespace atl::kernels
