// The texts that `atoll report` and `atoll record FILE` print.
#pragma once

#include "cli/trace/job_trace.hpp"
#include "cli/trace/summary.hpp"

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace atl::cli {

/// Time in each operation, the collectives with the latest PEs, bytes between PEs, the heaviest call sites.
std::string report_text(const Summary& summary);

/// A trace of two that are compared. `title` is the name of its file.
struct Compared {
    std::string title;
    const Summary& summary;
};

/// The differences from `a` to `b`: times as a whole, by operation, by call site, and by the PE that was
/// late.
std::string compare_text(const Compared& a, const Compared& b);

/// A line on the rest of a list, of which only the first lines are shown; empty without a rest.
std::string more_text(std::size_t all, std::size_t shown);

/// Joins the parts, each a title and its lines after an empty line. Parts without lines are omitted.
std::string parts_text(std::initializer_list<std::pair<const char*, std::string>> parts);

/// Passes the events as lines of JSON.
void each_line(const JobTrace& trace, const std::function<void(const std::string& line)>& body);

}  // namespace atl::cli
