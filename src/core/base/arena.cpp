#include "core/base/arena.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"
#include "core/base/topology.hpp"

#include <cstring>

namespace atl::core {

void Arena::open(std::shared_ptr<memory::Mapping> mapping, char* mine) {
    mapping_ = std::move(mapping);
    mine_ = mine;
    blocks_ = std::make_unique<memory::Allocator>(mapping_->layout().arena_bytes());
}

void* Arena::allocate(std::size_t bytes) {
    std::lock_guard lock(mutex_);
    const auto block = blocks_->allocate(bytes, memory::Allocator::granule);
    if (!block)
        throw Error(ErrorCode::out_of_memory,
                    "Atoll's own shared memory of PE " + std::to_string(pe_) +
                        " is used up: " + common::bytes_text(bytes) + " wanted, " +
                        common::bytes_text(blocks_->largest_free_bytes()) + " free of " +
                        common::bytes_text(blocks_->limit_bytes()) +
                        ". Destroy unused teams, or raise ATOLL_HEAP_SIZE, which also raises this limit.");
    char* address = mine_ + mapping_->layout().arena_offset() + block->offset;
    if (!block->untouched) std::memset(address, 0, bytes);
    return address;
}

void Arena::free(void* block) noexcept {
    std::lock_guard lock(mutex_);
    blocks_->free(static_cast<std::size_t>(static_cast<char*>(block) - mine_) -
                  mapping_->layout().arena_offset());
}

void* Arena::address(int pe, std::uint64_t offset) const {
    if (!topology_.maps(pe)) return nullptr;
    // Static data lies outside of the slot: its offset wraps around.
    const auto slot = reinterpret_cast<std::uintptr_t>(mapping_->slot(topology_.host_slot(pe).number()));
    return reinterpret_cast<void*>(slot + offset);
}

void Arena::take_updates() {
    const auto block = blocks_->allocate(update_words * sizeof(UpdateWord), memory::Allocator::granule);
    updates_ = reinterpret_cast<UpdateWord*>(mine_ + begin() + block->offset);
}

void Arena::retire(ControlBlock* block, int n_pes) {
    std::lock_guard lock(mutex_);
    retired_.emplace_back(block, n_pes);
}

void Arena::sweep() {
    std::vector<ControlBlock*> unused;
    {
        std::lock_guard lock(mutex_);
        std::erase_if(retired_, [&](const auto& entry) {
            const auto left = entry.first->left.flag.value.load(std::memory_order_acquire);
            if (left != static_cast<std::uint32_t>(entry.second)) return false;
            unused.push_back(entry.first);
            return true;
        });
    }
    for (ControlBlock* block : unused) free(block);
}

}  // namespace atl::core
