// Origins: the PE where a delay of other PEs began.
#pragma once

#include "cli/trace/job_trace.hpp"

namespace atl::cli {

/// Finds the PEs that an awaited PE waited for itself, by signals and messages.
class Origins {
  public:
    /// `flows` are those of the trace. Refers to it.
    Origins(const JobTrace& trace, const std::vector<Flow>& flows);

    /// A part of a delay, and the PE that was not waiting for another one then.
    struct Part {
        int pe = 0;
        std::uint64_t began = 0, ended = 0;
    };
    /// Others waited from `began` to `ended` for the thread that made the call `late`.
    std::vector<Part> of(EventId late, std::uint64_t began, std::uint64_t ended) const;

  private:
    /// A PE, by its place in the trace, and a thread of it.
    using Thread = std::pair<std::size_t, std::uint16_t>;
    /// A wait of a thread until another PE began the operation that ended it.
    struct Wait {
        std::uint64_t began, ended;
        Thread from;
    };
    Thread thread_of(EventId id) const { return {id.pe, trace_.event(id).thread}; }
    void follow(Thread thread, std::uint64_t began, std::uint64_t ended, int depth,
                std::vector<Part>& parts) const;

    const JobTrace& trace_;
    std::map<Thread, std::vector<Wait>> waits_;  // in the order of their begins
};

}  // namespace atl::cli
