// The parts of the page's data that are sampled, so that a page stays small for any number of events.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/trace/page/page_data.hpp"

namespace atl::cli {

/// The time line: the longest calls, and the shares of waiting and of moving data in equal steps of time.
nlohmann::ordered_json time_line_of(const JobTrace& trace, const PageRows& rows);

/// Calls by the size of their data, in powers of two.
nlohmann::ordered_json sizes_of(const JobTrace& trace);

/// Bytes of the heap in use over time: in each step the most of the PE with the least, and with the most.
nlohmann::ordered_json heap_of(const JobTrace& trace);

}  // namespace atl::cli
