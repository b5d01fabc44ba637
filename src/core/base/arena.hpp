// Arena: the library's own shared memory of each PE, behind its heap. Only its owner allocates there; every
// PE loads and stores.
#pragma once

#include "core/base/control_block.hpp"
#include "core/base/update_words.hpp"
#include "memory/allocator.hpp"
#include "memory/mapping.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace atl::core {

class Topology;

/// A PE's arena. All calls are local and thread-safe.
class Arena {
  public:
    Arena(int pe, const Topology& topology) : pe_(pe), topology_(topology) {}
    /// Called once the window is mapped. `mine` is this PE's slot.
    void open(std::shared_ptr<memory::Mapping> mapping, char* mine);

    /// Returns zeroed memory. Throws Error(out_of_memory).
    void* allocate(std::size_t bytes);
    /// Allocates the first blocks, whose offsets every PE knows. New memory is zero.
    void take_first(std::size_t bytes) { blocks_->allocate(bytes, memory::Allocator::granule); }
    /// The same for the words of update locks.
    void take_updates();
    /// This PE's table of them.
    UpdateWord* updates() const { return updates_; }
    void free(void* block) noexcept;
    /// Offset in the slot of an address in this PE's arena. Its inverse for any PE is `address`.
    std::uint64_t offset(const void* address) const {
        return static_cast<std::uint64_t>(static_cast<const char*>(address) - mine_);
    }
    /// Null if this PE does not map the memory of `pe`.
    void* address(int pe, std::uint64_t offset) const;
    /// Range of the offsets in all arenas.
    std::uint64_t begin() const { return mapping_->layout().arena_offset(); }
    std::uint64_t bytes() const { return mapping_->layout().arena_bytes(); }
    /// Frees a destroyed team's control block later: its owner does so when it next makes one.
    void retire(ControlBlock* block, int n_pes);
    void sweep();

  private:
    int pe_;
    const Topology& topology_;
    std::shared_ptr<memory::Mapping> mapping_;
    char* mine_ = nullptr;
    UpdateWord* updates_ = nullptr;
    std::mutex mutex_;  // guards the members below
    std::unique_ptr<memory::Allocator> blocks_;
    std::vector<std::pair<ControlBlock*, int>> retired_;
};

}  // namespace atl::core
