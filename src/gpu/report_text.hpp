// Texts of the reports that waiting kernels leave (device::Report).
#pragma once

#include <string>

namespace atl::device {
struct Report;
}

namespace atl::gpu {

/// Returns a text such as "signal_wait_until".
std::string operation_text(const device::Report& report);
/// Returns a text such as "thread 31 of block 2". Empty for device functions that run on the host.
std::string thread_text(const device::Report& report);
/// Returns a text such as "signal_wait_until of team 2 at 0x…: found 3, waiting for >= 4, tag 7, in thread 31
/// of block 2".
std::string report_text(const device::Report& report);

}  // namespace atl::gpu
