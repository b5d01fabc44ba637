// SymmetricHeap: a PE's symmetric memory for programs, in host memory and on its GPU.
#pragma once

#include "atoll/job.hpp"
#include "common/memory_watch.hpp"
#include "core/base/device_access.hpp"
#include "core/heap/allocation_sites.hpp"
#include "core/heap/reserved.hpp"
#include "memory/allocator.hpp"
#include "memory/freed_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace atl::core {

class JobBase;
class PredefinedTeams;
class TeamState;

/// Allocation of symmetric memory. Every PE runs the same allocator on the same calls, and so gets the same
/// offsets. Owns the host heap's allocator; GPU memory is DeviceMemory's.
class SymmetricHeap {
  public:
    /// `teams` has the world team, once the job has made it.
    SymmetricHeap(JobBase& job, const PredefinedTeams& teams);
    /// Called once the window is mapped.
    void open();

    // ---- collective over the world
    Allocation allocate(std::size_t bytes, std::size_t align, const AllocationHints& hints);
    void* reallocate(void* block, std::size_t bytes);
    void free(void* block);
    Allocation register_buffer(void* memory, std::size_t bytes);
    Job::Registered register_range(void* memory, std::size_t bytes);
    void reset_device_heap();
    void drop(std::uint64_t serial) noexcept;
    bool is_symmetric(const void* address, std::size_t bytes) const;
    /// True only if the bytes, 1 or more, lie in one block of the host heap. Always false below
    /// ATOLL_CHECK=args. Takes no lock.
    bool is_in_listed_block(const void* address, std::size_t bytes) const noexcept {
        const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - mine_);
        return blocks_ != nullptr && offset < heap_bytes_ && blocks_->holds(offset, bytes);
    }
    void check_symmetric(const void* address, std::size_t bytes) const;
    /// The allocation in the host heap that contains an address. Zeros without one, or while an allocation is
    /// being made.
    struct BlockAround {
        std::size_t begin = 0, bytes = 0;  ///< offset in the heap
    };
    BlockAround block_around(const void* address) const;
    Job::HeapUse heap_use() const;
    Allocation zeroed(std::size_t bytes, std::size_t align, const AllocationHints& hints);
    /// Replaces the source of the host's free memory: for tests.
    void watch_memory_by(common::MemoryWatch watch) { memory_watch_ = std::move(watch); }
    /// Implements Job::pin. Local.
    void pin(const void* block, std::size_t bytes) const;
    /// The program's calls that allocated the blocks.
    const AllocationSites& sites() const { return sites_; }
    /// Memory of distributed arrays over teams.
    Reserved& reserved() { return reserved_; }

  private:
    TeamState& world() const;
    [[noreturn]] void throw_exhausted(std::size_t bytes, std::size_t align) const;
    void complete_puts();
    void reclaim_dropped();
    void publish_use() const;
    void release_block(std::size_t offset);
    /// Gives a range of the host heap a new use. True if it is known to be zero.
    bool hand_out(memory::FreedPages::Range range);
    void keep_pages(std::size_t begin, std::size_t end);
    void release_kept(std::size_t need);
    void release_pages(memory::FreedPages::Range freed);
    std::size_t block_offset(const void* block, const char* operation) const;
    template <class Check> std::size_t checked_alike(const char* operation, Check&& check);
    std::string site_text(const void* address) const;
    std::size_t checked_block(const void* block, const char* operation) const;

    JobBase& job_;
    const PredefinedTeams& teams_;
    DeviceAccess& devices_;
    char* mine_ = nullptr;        ///< this PE's slot
    std::size_t heap_bytes_ = 0;  ///< size of the host heap

    AllocationSites sites_;
    mutable std::mutex mutex_;
    std::unique_ptr<memory::Allocator> heap_;
    std::unique_ptr<memory::FreedPages> freed_;
    std::size_t keep_most_bytes_ = 0;
    common::MemoryWatch memory_watch_;
    const memory::BlockTable* blocks_ = nullptr;  ///< the heap's; null below ATOLL_CHECK=args
    std::uint64_t serials_ = 0;
    std::map<std::size_t, std::uint64_t> serial_of_;  // offset → serial
    std::map<std::uint64_t, std::size_t> offset_of_;  // serial → offset
    std::mutex dropped_mutex_;
    std::vector<std::uint64_t> dropped_;
    Reserved reserved_;
};

}  // namespace atl::core
