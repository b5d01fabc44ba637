// Lock: mutual exclusion among all PEs, first come first served (OpenSHMEM 1.6, section 9.13).
#pragma once

#include "atoll/job.hpp"

namespace atl {

/// The words behind a lock: symmetric, zeroed before use, one 64-bit word on every PE, which the library
/// alone touches. PEs queue in order of arrival. `clear_lock` completes this PE's puts on the default context
/// first. A PE holds a lock, not a thread: its threads must not call these for one lock at once. A wait that
/// ends by an error gives its place up. Throws Error: not_symmetric, pe_died (naming who held the lock, or
/// waited before this PE), timeout, invalid_argument (setting a lock that this PE holds, clearing one that it
/// does not hold).
/// `called` is the name of the user's call in errors and in what this PE is shown to wait for.
ATOLL_API void set_lock(Job& job, std::int64_t* lock, double timeout_s = -1, const char* called = "set_lock");
/// Never waits. True if the lock is now held by this PE; false if anybody holds it, this PE included.
ATOLL_API bool test_lock(Job& job, std::int64_t* lock);
ATOLL_API void clear_lock(Job& job, std::int64_t* lock, const char* called = "clear_lock");

/// A lock with its own symmetric word. Making and free() are collective. Works with std::lock_guard and
/// std::unique_lock.
class ATOLL_API Lock {
  public:
    explicit Lock(Job& job);
    ~Lock();  ///< local: tells that this PE needs the lock no more
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    void lock();
    bool try_lock();
    void unlock();
    void free();

  private:
    std::weak_ptr<core::JobState> job_;
    std::int64_t* word_;
    std::uint64_t serial_;
};

}  // namespace atl
