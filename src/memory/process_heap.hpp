// ProcessHeap: shared memory of one process, which other processes of its host map as a whole. Its owner
// allocates and frees alone. So it needs no job, and no process waits for another.
#pragma once

#include "common/bell.hpp"
#include "common/descriptors/process_watch.hpp"
#include "memory/allocator.hpp"
#include "memory/freed_pages.hpp"
#include "memory/shared_file.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atl::memory {

/// Lies in front of the data of each block. Memory of the block is not used again while processes hold it.
struct alignas(64) BlockHead {
    std::atomic<std::uint32_t> holders;
};
inline BlockHead& head_of(char* data) { return reinterpret_cast<BlockHead*>(data)[-1]; }

/// The distance from a block's pad to its data.
constexpr std::size_t pad_distance(std::size_t pad_bytes) {
    return sizeof(BlockHead) + (pad_bytes + 63) / 64 * 64;
}

/// A process heap as mapped in this process. The owner's own heap is one too.
class HeapView {
  public:
    explicit HeapView(SharedFile file) : file_(std::move(file)), watch_(file_.process()) {}
    /// Returns the heap with this address, mapped once for all users. Throws Error, as SharedFile::join.
    static std::shared_ptr<HeapView> of(const std::string& address);

    char* base() const { return file_.base(); }
    std::size_t bytes() const { return file_.bytes(); }
    const std::string& address() const { return file_.address(); }
    int process() const { return file_.process(); }
    bool contains(const void* address, std::size_t bytes) const {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        const auto begin = reinterpret_cast<std::uintptr_t>(base());
        return at - begin < file_.bytes() && bytes <= file_.bytes() - (at - begin);
    }
    std::size_t offset_of(const void* address) const {
        return static_cast<std::size_t>(static_cast<const char*>(address) - base());
    }
    /// On which the owner's threads sleep. It is behind the token.
    common::Bell& bell() const { return *reinterpret_cast<common::Bell*>(base() + SharedFile::token_bytes); }
    /// True if the owner has ended.
    bool has_ended();

  private:
    SharedFile file_;
    std::mutex mutex_;
    common::ProcessWatch watch_;
};

/// Keeps a block of any heap from being used again, also after its owner has freed it.
class BlockHold {
  public:
    BlockHold() = default;
    /// `offset` is that of the block's data.
    BlockHold(std::shared_ptr<HeapView> heap, std::size_t offset);
    BlockHold(BlockHold&&) = default;
    BlockHold& operator=(BlockHold&& other) noexcept;
    ~BlockHold() { release(); }
    /// Keeps the block forever, because another process may take it up without notice.
    void abandon() { heap_.reset(); }
    char* data() const { return heap_->base() + offset_; }
    HeapView& heap() const { return *heap_; }

  private:
    void release();

    std::shared_ptr<HeapView> heap_;
    std::size_t offset_ = 0;
    int process_ = 0;  ///< a forked child does not release what its parent holds
};

class ProcessHeap {
  public:
    struct Block {
        std::size_t offset;  ///< offset of the data
        std::size_t bytes;
        std::size_t pad_bytes;
    };

    /// The heap of this process, made at the first call. Throws Error(out_of_memory, system, settings).
    static ProcessHeap& mine();
    /// The same, or null before the first call of `mine`.
    static ProcessHeap* existing() noexcept;

    /// Allocates `bytes` of undefined contents, with a pad of `pad_bytes` zeros. Throws Error(out_of_memory,
    /// unsupported).
    Block allocate(std::size_t bytes, std::size_t pad_bytes);
    /// Frees the block with its data at `offset`. Its memory is used again when no process holds it.
    void free(std::size_t offset);
    /// The block whose data contains the address. A block of no bytes contains the address of its data.
    std::optional<Block> find(const void* address);

    const std::shared_ptr<HeapView>& view() const { return view_; }
    std::size_t used_bytes();
    std::size_t limit_bytes() const { return limit_; }
    char* at(std::size_t offset) const { return view_->base() + offset; }
    /// The offset of a block's pad, which is its start.
    static std::size_t pad_offset(const Block& block) { return block.offset - pad_distance(block.pad_bytes); }

    /// A heap of `limit_bytes`, for tests; programs use `mine`.
    explicit ProcessHeap(std::size_t limit_bytes);

  private:
    static constexpr std::size_t page = 4096;
    void check_process() const;
    [[noreturn]] void refuse(std::size_t bytes) const;
    void sweep();
    void drop(const Block& block);

    std::size_t limit_;
    std::shared_ptr<HeapView> view_;
    int process_;
    std::mutex mutex_;
    Allocator allocator_;  ///< its offsets count from the second page
    FreedPages pages_;
    std::map<std::size_t, Block> blocks_;  ///< by the offset of the data
    std::vector<Block> leaving_;           ///< freed, but other processes hold them
};

}  // namespace atl::memory
