// Bytes in flight: those of non-blocking puts and gets that no quiet has completed yet.
#pragma once

#include "cli/trace/job_trace.hpp"

#include <cstdint>
#include <vector>

namespace atl::cli {

struct BytesInFlight {
    std::uint64_t time_ns = 0, bytes = 0;  ///< from this time on
};
/// The changes of a PE, in the order of their times.
std::vector<BytesInFlight> bytes_in_flight(const PeTrace& pe);

}  // namespace atl::cli
