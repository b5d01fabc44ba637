// The current blocks of a PE's pool, in its host heap, for other PEs to read. The allocating thread writes it
// under the pool's lock; other PEs may read it at any time.
#pragma once

#include "atoll/context.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace atl::python {

/// Offsets count from the slab's start. `number` counts a PE's allocations in the pool from 1.
struct PoolBlock {
    std::uint64_t offset, bytes, number;  ///< 0 bytes: none
    friend bool operator==(const PoolBlock&, const PoolBlock&) = default;
};

class PoolTable {
  public:
    PoolTable() = default;
    /// A table over `memory`: `bytes` of zeros in the host heap, at the same offset on all PEs.
    PoolTable(void* memory, std::size_t bytes) noexcept
        : head_(static_cast<Head*>(memory)), room_((bytes - sizeof(Head)) / sizeof(PoolBlock)) {}

    static std::size_t bytes_for(std::size_t blocks) noexcept {
        return sizeof(Head) + blocks * sizeof(PoolBlock);
    }

    explicit operator bool() const noexcept { return head_ != nullptr; }

    /// If the table is full, the block is counted, but other PEs cannot see it.
    void enter(const PoolBlock& block) noexcept {
        if (head_ == nullptr) return;
        std::size_t i = 0;
        while (i < room_ && blocks()[i].bytes != 0) ++i;
        change([&] {
            store(head_->made, block.number);
            if (i == room_) return;
            write(blocks()[i], block);
            if (i >= head_->used) store(head_->used, i + 1);
        });
    }
    void remove(std::uint64_t number) noexcept {
        if (head_ == nullptr) return;
        for (std::size_t i = 0; i < head_->used; ++i)
            if (blocks()[i].bytes != 0 && blocks()[i].number == number)
                return change([&] { write(blocks()[i], {}); });
    }

    struct Seen {
        std::uint64_t made = 0;  ///< allocations so far
        std::vector<PoolBlock> blocks;
    };
    /// Reads the table of `pe`; empty if that PE keeps changing it.
    std::optional<Seen> read(const Context& ctx, int pe) const {
        for (int attempt = 0; attempt < 8; ++attempt) {
            const Head before = fetch(ctx, pe);
            if (before.version % 2 != 0) continue;
            Seen seen{before.made, std::vector<PoolBlock>(before.used)};
            if (before.used != 0)
                ctx.get_bytes(seen.blocks.data(), blocks(), before.used * sizeof(PoolBlock), pe);
            std::atomic_thread_fence(std::memory_order_acquire);
            if (fetch(ctx, pe).version == before.version) return seen;
        }
        return std::nullopt;
    }

  private:
    struct Head {
        std::uint64_t version, made, used;  ///< odd versions: being changed; `used`: of the places for blocks
    };

    PoolBlock* blocks() const noexcept { return reinterpret_cast<PoolBlock*>(head_ + 1); }
    static void store(std::uint64_t& word, std::uint64_t value) noexcept {
        std::atomic_ref(word).store(value, std::memory_order_relaxed);
    }
    static void write(PoolBlock& entry, const PoolBlock& block) noexcept {
        store(entry.offset, block.offset);
        store(entry.bytes, block.bytes);
        store(entry.number, block.number);
    }
    template <class Change> void change(Change&& changes) noexcept {
        store(head_->version, head_->version + 1);
        std::atomic_thread_fence(std::memory_order_release);
        changes();
        std::atomic_ref(head_->version).store(head_->version + 1, std::memory_order_release);
    }
    Head fetch(const Context& ctx, int pe) const {
        Head head{};
        ctx.get_bytes(&head, head_, sizeof head, pe);
        std::atomic_thread_fence(std::memory_order_acquire);
        return head;
    }

    Head* head_ = nullptr;
    std::size_t room_ = 0;
};

}  // namespace atl::python
