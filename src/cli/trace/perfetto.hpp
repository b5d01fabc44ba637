// Trace files for Perfetto's UI (ui.perfetto.dev), written and read.
#pragma once

#include "cli/trace/job_trace.hpp"

#include <string>

namespace atl::cli {

/// Writes a trace. Returns the error, or an empty text.
std::string write_perfetto(const JobTrace& trace, const std::string& path);

/// Reads a trace that `write_perfetto` wrote. Throws UsageError: no such file, not a trace of Atoll, of
/// another version, cut short.
JobTrace read_perfetto(const std::string& path);

}  // namespace atl::cli
