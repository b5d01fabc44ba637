// Texts of the reports that waiting kernels leave (device::Report).
#pragma once

#include <string>

namespace atl::device {
struct Report;
}

namespace atl::gpu {

/// "signal_wait_until".
std::string operation_text(const device::Report& report);
/// "signal_wait_until of team 2 in a kernel: found 3 at 0x…, waiting for >= 4, for PE 1, tag 7".
std::string report_text(const device::Report& report);

}  // namespace atl::gpu
