// TraceRange: a named range of the program in traces (atoll run --trace).
#pragma once

#include "atoll/export.hpp"

#include <cstdint>
#include <string_view>

namespace atl {

class Job;

/// Appears in the trace under its name, from construction to destruction. Without a trace it does nothing.
/// Local. Names are cut at 95 bytes; a job has room for about 1000 different ones.
class TraceRange {
  public:
    ATOLL_API TraceRange(const Job& job, std::string_view name);
    ATOLL_API ~TraceRange();
    TraceRange(const TraceRange&) = delete;
    TraceRange& operator=(const TraceRange&) = delete;

  private:
    const Job& job_;
    std::uint64_t began_ = 0;  ///< 0: there is no trace
    std::uint16_t name_ = 0;
};

}  // namespace atl
