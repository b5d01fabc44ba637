#include "memory/block_table.hpp"
#include "memory/round_up.hpp"

#include <algorithm>

#include <new>
#include <sys/mman.h>

namespace atl::memory {

namespace {

constexpr std::size_t granule = std::size_t{1} << BlockTable::granule_bits;
constexpr std::size_t region = std::size_t{1} << BlockTable::region_bits;
constexpr std::size_t most_blocks = std::size_t{1} << 22;

/// Sizes of the table's three parts.
struct Parts {
    std::size_t regions, granules, records;

    explicit Parts(std::size_t heap_bytes)
        : regions(heap_bytes / region + 1),
          granules(heap_bytes / granule + 1),
          records(std::min(heap_bytes / granule, most_blocks) + 2) {}
    std::size_t granules_at() const { return round_up(regions * sizeof(BlockTable::Index), 64); }
    std::size_t records_at() const {
        return round_up(granules_at() + granules * sizeof(BlockTable::Index), 64);
    }
    std::size_t bytes() const { return records_at() + records * 2 * sizeof(std::size_t); }
};

}  // namespace

std::unique_ptr<BlockTable> BlockTable::create(std::size_t heap_bytes) noexcept {
    const std::size_t bytes = Parts(heap_bytes).bytes();
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);  // one entry would commit 2 MiB
    std::unique_ptr<BlockTable> table(new (std::nothrow) BlockTable(memory, heap_bytes));
    if (!table) ::munmap(memory, bytes);
    return table;
}

BlockTable::BlockTable(void* memory, std::size_t heap_bytes) noexcept : memory_(memory) {
    const Parts parts(heap_bytes);
    auto* bytes = static_cast<char*>(memory);
    memory_bytes_ = parts.bytes();
    regions_ = reinterpret_cast<std::atomic<Index>*>(bytes);
    granules_ = reinterpret_cast<std::atomic<Index>*>(bytes + parts.granules_at());
    records_ = reinterpret_cast<Record*>(bytes + parts.records_at());
    most_records_ = static_cast<Index>(parts.records);
}

BlockTable::~BlockTable() { ::munmap(memory_, memory_bytes_); }

void BlockTable::mark(Index block, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
        const std::size_t next = std::min(round_up(at + 1, region), end);
        if (next - at == region) {
            regions_[at >> region_bits].store(block, std::memory_order_release);
        } else {
            for (std::size_t i = at >> granule_bits; i < next >> granule_bits; ++i)
                granules_[i].store(block, std::memory_order_release);
        }
        at = next;
    }
}

BlockTable::Index BlockTable::insert(std::size_t offset, std::size_t bytes, std::size_t reserved) {
    Index block = unlisted;
    if (!free_.empty()) {
        block = free_.back();
        free_.pop_back();
    } else if (next_ < most_records_) {
        block = next_++;
    }
    if (block != unlisted) {
        records_[block].offset.store(offset, std::memory_order_relaxed);
        records_[block].bytes.store(bytes, std::memory_order_relaxed);
    }
    mark(block, offset, offset + reserved);
    return block;
}

void BlockTable::resize(Index block, std::size_t offset, std::size_t old_reserved, std::size_t bytes,
                        std::size_t reserved) {
    mark(nothing, offset, offset + old_reserved);
    if (block != unlisted) records_[block].bytes.store(bytes, std::memory_order_relaxed);
    mark(block, offset, offset + reserved);
}

void BlockTable::erase(Index block, std::size_t offset, std::size_t reserved) {
    mark(nothing, offset, offset + reserved);
    if (block == unlisted) return;
    records_[block].bytes.store(0, std::memory_order_relaxed);
    free_.push_back(block);
}

}  // namespace atl::memory
