// Finds why PEs wait: different calls, an absent PE, a circle of waits, a word that no PE sets.
#pragma once

#include "common/board/board.hpp"

#include <string>
#include <vector>

namespace atl::core {

struct Cause {
    /// One sentence without a full stop, which names the PE at fault. Empty if no PE waits. For example
    /// "PE 1 is in its own code at solver.py:61, and PE 0,2 wait for it in barrier at solver.py:88".
    std::string sentence;
    std::vector<int> pes;  ///< the PEs at fault
};
/// `doing` is by PE.
Cause find_cause(const std::vector<common::PeDoing>& doing);

/// The report of a job: the cause if it is known, a heading, and a line for all PEs that do the same. The PEs
/// at fault come first. `begin` begins the heading's line. There is no newline at the end.
std::string report_of(const std::vector<common::PeDoing>& doing, const Cause& cause,
                      const std::string& heading, const std::string& begin);
inline std::string report_of(const std::vector<common::PeDoing>& doing, const std::string& heading,
                             const std::string& begin) {
    return report_of(doing, find_cause(doing), heading, begin);
}

}  // namespace atl::core
