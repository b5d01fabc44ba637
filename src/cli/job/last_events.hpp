// The last events of the PEs that matter at the end of a job.
#pragma once

#include "common/board/board.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace atl::cli {

/// A PE's last events, and its activity now.
struct PeHistory {
    int pe = 0;
    std::string activity;  ///< such as "in its own code"; empty if the PE waits or has ended
    std::vector<common::EventCopy> events;
};

/// The lines that show these events, each with a newline at its end. PEs with the same events share them, in
/// the order of `histories`. Times are relative to `end_ns`. Empty if no PE has made a collective call or
/// waited.
std::string history_text(const std::vector<PeHistory>& histories, std::uint64_t end_ns);

/// The events of the program: without the library's own before the end of init, unless init has not ended.
std::vector<common::EventCopy> since_init(const std::vector<common::EventCopy>& all);

/// A call with its arguments, if they are known: "reduce(bytes=24, dtype=float64, op=sum)".
std::string call_of(const common::EventCopy& event);
/// Returns a text such as "call 17 of the world team", "non-blocking call 1 of the world team".
std::string call_number_text(const common::EventCopy& event);

/// The last events of the PEs that matter: `guilty` (-1: none), the PEs at fault by the hang report, and the
/// others. Reads memory that remains after a PE was killed.
std::string last_events(const common::BoardView& board, int guilty);

}  // namespace atl::cli
