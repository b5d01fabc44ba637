// MemoryWatch: memory that the host has left for new pages, for callers that ask often.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace atl::common {

/// Memory in bytes, as seen by one process.
struct MemoryState {
    std::uint64_t available;  ///< to new pages, without swapping
    std::uint64_t total;      ///< that this process may use
};

/// Use it from one thread at a time.
class MemoryWatch {
  public:
    /// Asks the system, at most twenty times a second: each request is expensive
    /// (docs/measurements/2026-11-24-constants.md).
    MemoryWatch();
    /// Uses another source, asked at every call.
    explicit MemoryWatch(std::function<MemoryState()> source) : source_(std::move(source)) {}

    MemoryState state();

  private:
    std::function<MemoryState()> source_;
    std::uint64_t every_ns_ = 0;
    std::uint64_t next_check_ns_ = 0;
    MemoryState last_{};
};

}  // namespace atl::common
