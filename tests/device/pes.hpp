// PEs for the suites of this folder: threads, or the PEs of the job if a program of tests/multi includes a
// suite.
#pragma once

#include "atoll/device/device.hpp"

#include "support/setups.hpp"

namespace atl::testing {

/// 0: the PEs of the current job.
inline std::vector<int> device_pe_counts() { return pes_are_processes ? std::vector<int>{0} : pe_counts; }

inline void run_device_pes(int n, const std::function<void(Job&)>& body) {
    if (n != 0) return run_pes(n, body);
    Job& job = current_job();
    job.free(job.malloc(1));  // reclaims blocks dropped by earlier tests first
    body(job);
}

}  // namespace atl::testing
