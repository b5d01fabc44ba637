// Statistics of a job's operations, from the counters of its PEs: a human-readable table, and
// OpenMetrics for monitors.
#pragma once

#include "atoll/export.hpp"
#include "common/recorder/meter.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace atl::common {

/// One operation of one PE.
struct OperationStatistics {
    std::uint16_t operation = 0;  ///< in operation_names
    std::uint64_t calls = 0, bytes = 0;
    double total_s = 0, longest_s = 0, waiting_s = 0;
};

/// One PE's operations that it has called.
struct PeStatistics {
    int pe = 0;
    std::vector<OperationStatistics> operations;
};

/// An operation of all PEs that called it.
struct OperationSum {
    OperationStatistics sum;
    int least_pe = -1, most_pe = -1;  ///< by total time
    double least_s = 0, most_s = 0;

    void add(int pe, const OperationStatistics& one);
};

/// The most time comes first.
std::vector<OperationSum> operation_sums(const std::vector<PeStatistics>& pes);

/// Returns a text such as "1.23 ms", with three digits.
std::string time_text(double seconds);

/// Reads the counters of a PE of this host. Any process may call it at any moment.
ATOLL_API PeStatistics read_statistics(int pe, const PeCounters& counters);

/// The table, a line for each operation, each with a newline at its end. The most time comes first. Empty if
/// no PE has called an operation.
std::string statistics_table(const std::vector<PeStatistics>& pes);

/// OpenMetrics text, with the labels `pe` and `operation`, up to "# EOF".
ATOLL_API std::string statistics_openmetrics(const std::vector<PeStatistics>& pes);

}  // namespace atl::common
