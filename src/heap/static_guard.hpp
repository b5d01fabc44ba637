// While static data move, threads that run already must not store to the pages that are left behind.
#pragma once

#include "heap/static_data.hpp"

namespace atl::heap {

/// As long as it lives, stores to the segments wait in a handler of SIGSEGV. Does nothing in a process of one
/// thread.
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

}  // namespace atl::heap
