// Origins: the PE where a delay of other PEs began.
#pragma once

#include "cli/trace/job_trace.hpp"

namespace atl::cli {

/// Finds for a PE that others waited for the PEs that it waited for itself, by signals and messages.
class Origins {
  public:
    explicit Origins(const JobTrace& trace);

    /// A part of a delay, and the PE that was not waiting for another one then.
    struct Part {
        int pe = 0;
        std::uint64_t began = 0, ended = 0;
    };
    /// Others waited for the PE, by its place in the trace, from `began` to `ended`.
    std::vector<Part> of(std::size_t pe, std::uint64_t began, std::uint64_t ended) const;

  private:
    /// A wait of a PE until another one began the operation that ended it.
    struct Wait {
        std::uint64_t began, ended;
        std::size_t from;
    };
    void follow(std::size_t pe, std::uint64_t began, std::uint64_t ended, int depth,
                std::vector<Part>& parts) const;

    const JobTrace& trace_;
    std::vector<std::vector<Wait>> waits_;  // by PE, in the order of their begins
};

}  // namespace atl::cli
