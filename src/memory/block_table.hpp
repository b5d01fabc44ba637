// BlockTable: finds the block at an offset of a heap, for any thread and without a lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace atl::memory {

/// A table of two levels. A region of 64 KiB within one block has one entry. Any other region has an entry
/// for each granule of 64 bytes, in memory that the system commits at the first write. A block costs 4 bytes
/// for each of its regions and 16 for itself; small blocks also cost a sixteenth of their size. One thread
/// writes at a time. A block that is not being changed is always found.
class BlockTable {
  public:
    /// Null if the system refuses the addresses.
    static std::unique_ptr<BlockTable> create(std::size_t heap_bytes) noexcept;
    ~BlockTable();
    BlockTable(const BlockTable&) = delete;
    BlockTable& operator=(const BlockTable&) = delete;

    /// Identifies a block. The block owns `reserved` bytes, in whole granules; users may access `bytes`.
    using Index = std::uint32_t;
    Index insert(std::size_t offset, std::size_t bytes, std::size_t reserved);
    void resize(Index block, std::size_t offset, std::size_t old_reserved, std::size_t bytes,
                std::size_t reserved);
    void erase(Index block, std::size_t offset, std::size_t reserved);

    /// True only if the bytes, 1 or more, lie in one block. Always false for blocks beyond the first four
    /// million: ask the allocator then. `offset` is below the heap's size.
    bool holds(std::size_t offset, std::size_t bytes) const noexcept {
        Index block = regions_[offset >> region_bits].load(std::memory_order_acquire);
        if (block == nothing) block = granules_[offset >> granule_bits].load(std::memory_order_acquire);
        const Record& record = records_[block];
        const std::size_t before = offset - record.offset.load(std::memory_order_relaxed);
        const std::size_t size = record.bytes.load(std::memory_order_relaxed);
        return before < size && bytes <= size - before;
    }

    static constexpr int granule_bits = 6;
    static constexpr int region_bits = 16;

  private:
    struct Record {
        std::atomic<std::size_t> offset, bytes;
    };
    static constexpr Index nothing = 0;   ///< its record is empty
    static constexpr Index unlisted = 1;  ///< also has an empty record: for blocks without a record of their
                                          ///< own

    BlockTable(void* memory, std::size_t heap_bytes) noexcept;
    void mark(Index block, std::size_t begin, std::size_t end);

    void* memory_;
    std::size_t memory_bytes_;
    std::atomic<Index>* regions_;
    std::atomic<Index>* granules_;
    Record* records_;
    Index most_records_;
    Index next_ = 2;
    std::vector<Index> free_;
};

}  // namespace atl::memory
