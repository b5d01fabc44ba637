// The page of `atoll report --html`: one file with its data, which a browser opens from disk.
#pragma once

#include "cli/trace/job_trace.hpp"
#include "cli/trace/summary.hpp"

#include <string>
#include <string_view>

namespace atl::cli {

/// A trace with its sums. `title` is the name of its file. `other` is the run with which it is compared, if
/// any.
struct PageSource {
    std::string title;
    const JobTrace& trace;
    const Summary& summary;
    std::string other_title;
    const Summary* other;
};

/// HTML. The page has no reference to another file, and texts of the trace cannot become markup or code.
std::string page_of(const PageSource& source);

/// Files of this folder, embedded when the launcher is built (cmake/AtollPage.cmake).
extern const std::string_view page_template, page_style, page_script;

}  // namespace atl::cli
