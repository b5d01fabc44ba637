// Allocator: an allocator of offsets. Deterministic, so that PEs that make the same calls get the same
// offsets. Its records are outside the managed memory, so that no stray put can overwrite them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "memory/block_table.hpp"

namespace atl::memory {

class Allocator {
  public:
    enum class Lookup { by_allocator, by_table };
    /// With `by_table`, `table()` finds blocks, if the system has the addresses for it.
    explicit Allocator(std::size_t limit_bytes, Lookup lookup = Lookup::by_allocator);

    struct Block {
        std::size_t offset;
        std::size_t bytes;  ///< requested size
        bool untouched;     ///< never allocated before
    };

    /// Allocates by best fit, lowest offset first. `align` is a power of two. Empty if no free block is large
    /// enough.
    std::optional<Block> allocate(std::size_t bytes, std::size_t align);
    void free(std::size_t offset);
    /// Changes the size in place if the adjacent space allows it.
    bool resize(std::size_t offset, std::size_t bytes);

    /// The allocated block that contains `offset`.
    std::optional<Block> find(std::size_t offset) const;
    bool is_block(std::size_t offset) const { return used_.contains(offset); }
    /// True if no allocated block has a byte of the range.
    bool is_unused(std::size_t begin, std::size_t end) const;
    /// True if the range lies in one allocated block.
    bool holds(std::size_t offset, std::size_t bytes) const;
    /// Throws Error unless it does: use_after_free, not_symmetric. `what` describes the bytes, `heap` the
    /// heap of the offsets.
    void check(std::size_t offset, std::size_t bytes, const std::string& what, const std::string& heap) const;

    /// For threads that do not hold the allocator's lock. May be null; never changes.
    const BlockTable* table() const { return table_.get(); }

    std::size_t limit_bytes() const { return limit_; }
    std::size_t used_bytes() const { return used_bytes_; }
    std::size_t largest_free_bytes() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }
    std::size_t blocks() const { return used_.size(); }

    static constexpr std::size_t granule = 64;  ///< a cache line: no two blocks share one

  private:
    struct Used {
        std::size_t bytes;
        std::size_t reserved;
        BlockTable::Index entry = 0;
    };
    void release(std::size_t offset, std::size_t size);
    void add_free(std::size_t offset, std::size_t bytes);
    void remove_free(std::size_t offset, std::size_t bytes);

    std::size_t limit_;
    std::size_t used_bytes_ = 0;
    std::size_t high_water_ = 0;
    std::map<std::size_t, std::size_t> free_;                // offset → size
    std::set<std::pair<std::size_t, std::size_t>> by_size_;  // (size, offset)
    std::map<std::size_t, Used> used_;
    std::unique_ptr<BlockTable> table_;
};

}  // namespace atl::memory
