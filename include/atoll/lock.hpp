// Lock: mutual exclusion among all PEs, first come first served (OpenSHMEM 1.6, section 9.13).
#pragma once

#include "atoll/job.hpp"

#include <cstdint>
#include <string_view>

namespace atl {

/// Operations on a lock word: symmetric, zeroed before use, one 64-bit word on every PE, modified only by the
/// library. PEs acquire the lock in order of arrival. `clear_lock` first completes this PE's puts on the
/// default context. A PE holds a lock, not a thread: its threads must not call these concurrently for one
/// lock. A wait that ends with an error gives up its place in the queue.
///
/// Throws Error: not_symmetric, timeout, pe_died (names the holder of the lock, or the PE that waited before
/// this one). Throws Error(invalid_argument) for setting a lock that this PE holds, or clearing one that it
/// does not hold. `called` is the name of the user's call in errors and in the state shown for this PE.
ATOLL_API void set_lock(Job& job, std::int64_t* lock, double timeout_s = -1, const char* called = "set_lock");
/// Never waits. Returns true if this PE now holds the lock; false if any PE held it already, this PE
/// included.
ATOLL_API bool test_lock(Job& job, std::int64_t* lock);
ATOLL_API void clear_lock(Job& job, std::int64_t* lock, const char* called = "clear_lock");

/// A lock with its own symmetric word. Making and free() are collective. Works with std::lock_guard and
/// std::unique_lock.
class ATOLL_API Lock {
  public:
    explicit Lock(Job& job);
    ~Lock();  ///< local: marks the lock as no longer needed by this PE
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

namespace detail {

/// For language fronts: the place in the program where this PE has acquired a lock, for reports of hangs. It
/// is an address in the program, or a text, which takes precedence.
ATOLL_API void note_holder(const Job& job, const std::int64_t* lock, const void* caller,
                           std::string_view site = {}) noexcept;

}  // namespace detail

}  // namespace atl
