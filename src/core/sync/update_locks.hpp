// UpdateLocks: words by which PEs that add to many elements of a block exclude each other. Inside they add by
// plain loads and stores, which are several times as fast as atomic operations.
//
// Every PE has a table of words in its arena. A block's word is found by the number of its allocation, which
// is equal on all PEs. Blocks may share a word; they then exclude each other, too.
//
// Atomic operations on single elements take no lock. Before a PE's first one on such a block it closes the
// block's word on every PE that shares memory. From then on all PEs add to the block by atomic operations.
#pragma once

#include "atoll/export.hpp"
#include "core/base/update_words.hpp"

#include <cstdint>

namespace atl::core {

class JobState;

/// Holds a word for its life, unless the word is closed. Not recursive. Throws what ends a wait: a timeout,
/// Ctrl-C, the end of the holder. Throws at once if the job has ended, also if the word is free.
class UpdateLock {
  public:
    ATOLL_API UpdateLock(JobState& job, UpdateWord& word, const char* operation);
    ~UpdateLock() {
        if (is_held_) word_.store(0, std::memory_order_release);
    }
    UpdateLock(const UpdateLock&) = delete;
    UpdateLock& operator=(const UpdateLock&) = delete;

    /// False if the block's elements change by atomic operations alone.
    bool is_held() const noexcept { return is_held_; }
    /// Closes the word for the rest of the job.
    void close() noexcept {
        if (is_held_) word_.store(closed_updates, std::memory_order_release);
        is_held_ = false;
    }

  private:
    bool try_enter() noexcept;
    static int holder(const void* lock, int* pes, int most);

    UpdateWord& word_;
    std::uint32_t mark_;
    bool is_held_ = false;
};

/// Closes the word of a block on every PE that shares memory with this one.
ATOLL_API void close_updates(JobState& job, std::uint64_t serial);

}  // namespace atl::core
