// The arena: the library's own shared memory, one for each PE, behind its heap. Only its owner allocates
// there; every PE loads and stores.
#include "common/text.hpp"
#include "core/job/job_state.hpp"

#include <cstring>

namespace atl::core {

void* JobState::arena_allocate(std::size_t bytes) {
    std::lock_guard lock(arena_mutex_);
    const auto block = arena_->allocate(bytes, memory::Allocator::granule);
    if (!block)
        throw Error(ErrorCode::out_of_memory,
                    "Atoll's own shared memory of PE " + std::to_string(pe_) +
                        " is used up: " + common::bytes_text(bytes) + " wanted, " +
                        common::bytes_text(arena_->largest_free_bytes()) + " free of " +
                        common::bytes_text(arena_->limit_bytes()) +
                        "; destroy unused teams, or raise ATOLL_HEAP_SIZE, which also raises this limit.");
    char* address = window_.mine + mapping_->layout().arena_offset() + block->offset;
    if (!block->untouched) std::memset(address, 0, bytes);
    return address;
}

void JobState::arena_free(void* block) noexcept {
    std::lock_guard lock(arena_mutex_);
    arena_->free(static_cast<std::size_t>(static_cast<char*>(block) - window_.mine) -
                 mapping_->layout().arena_offset());
}

std::uint64_t JobState::arena_offset(const void* address) const {
    return static_cast<std::uint64_t>(static_cast<const char*>(address) - window_.mine);
}

void* JobState::arena_address(int pe, std::uint64_t offset) const {
    return mapping_->slot(host_slot(pe)) + offset;
}

void JobState::retire_control(ControlBlock* block, int n_pes) {
    std::lock_guard lock(arena_mutex_);
    retired_.emplace_back(block, n_pes);
}

void JobState::sweep_control() {
    std::vector<ControlBlock*> free;
    {
        std::lock_guard lock(arena_mutex_);
        std::erase_if(retired_, [&](const auto& entry) {
            const auto left = entry.first->left.flag.value.load(std::memory_order_acquire);
            if (left != static_cast<std::uint32_t>(entry.second)) return false;
            free.push_back(entry.first);
            return true;
        });
    }
    for (ControlBlock* block : free) arena_free(block);
}

}  // namespace atl::core
