// WriteGuard: while static data move, running threads must not store to the old pages.
#pragma once

#include "memory/static_data.hpp"

namespace atl::memory {

/// Makes stores to the segments wait in a handler of SIGSEGV, for its lifetime. Does nothing in a process of
/// one thread.
class WriteGuard {
  public:
    explicit WriteGuard(const StaticData& data);
    ~WriteGuard();
    WriteGuard(const WriteGuard&) = delete;
    WriteGuard& operator=(const WriteGuard&) = delete;

  private:
    const StaticData& data_;
    bool armed_ = false;
};

}  // namespace atl::memory
