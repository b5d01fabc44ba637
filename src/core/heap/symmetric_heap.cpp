// The symmetric heap's collective calls. Every PE runs the same allocator on the same calls, and so gets the
// same offsets. The arguments of the calls are always compared.
#include "core/heap/symmetric_heap.hpp"

#include "common/text.hpp"
#include "core/base/job_base.hpp"
#include "core/team/predefined_teams.hpp"
#include "core/team/team_state.hpp"
#include "memory/round_up.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace atl::core {

namespace {

/// Freed blocks of this size and more have their pages counted. Pages beyond the kept limit are returned to
/// the system.
constexpr std::size_t counted_from_bytes = std::size_t{1} << 20;

std::size_t end_of(std::size_t offset, std::size_t bytes) {
    return offset + memory::round_up(bytes, memory::Allocator::granule);
}

}  // namespace

SymmetricHeap::SymmetricHeap(JobBase& job, const PredefinedTeams& teams)
    : job_(job), teams_(teams), devices_(job.devices()), reserved_(job, *this) {}

TeamState& SymmetricHeap::world() const { return teams_.world().state(); }

void SymmetricHeap::open() {
    const detail::Window& window = job_.window();
    mine_ = window.mine;
    heap_bytes_ = window.heap_bytes;
    using memory::Allocator;
    heap_ = std::make_unique<Allocator>(
        heap_bytes_, window.check_args ? Allocator::Lookup::by_table : Allocator::Lookup::by_allocator);
    blocks_ = heap_->table();
    freed_ = std::make_unique<memory::FreedPages>(heap_bytes_);
    const std::uint64_t keep = job_.settings().heap_keep_bytes;
    keep_most_bytes_ = keep == common::keep_by_heap_limit ? heap_bytes_ / 8 : static_cast<std::size_t>(keep);
    publish_use();
}

/// Runs a check that all PEs make. If it fails here, this PE still meets the others, which then learn of the
/// difference and remain in step.
template <class Check> std::size_t SymmetricHeap::checked_alike(const char* operation, Check&& check) {
    try {
        std::lock_guard lock(mutex_);
        return check();
    } catch (const Error&) {
        try {
            world().agree(refused_record(operation));
        } catch (const Error&) {
            // The caller needs to see this PE's own error.
        }
        throw;
    }
}

bool SymmetricHeap::hand_out(memory::FreedPages::Range range) {
    job_.recorder->forget_updates(range.begin, range.end);
    return freed_->hand_out(range);
}

Allocation SymmetricHeap::allocate(std::size_t bytes, std::size_t align, const AllocationHints& hints) {
    const bool on_device = hints.memory == Memory::device;
    const std::uint64_t hint_bits = (hints.atomics_remote ? allocation_bits::atomics_remote : 0) |
                                    (hints.signal_remote ? allocation_bits::signal_remote : 0) |
                                    (on_device ? allocation_bits::device : 0);
    checked_alike("allocate", [&] {
        if (align != 0 && !std::has_single_bit(align))
            throw Error(ErrorCode::invalid_argument,
                        "The alignment of a symmetric block must be a power of two; " +
                            std::to_string(align) + " was passed.");
        const std::size_t most = on_device ? gpu::device_alignment : job_.mapping()->base_alignment();
        if (align > most)
            throw Error(ErrorCode::invalid_argument, "The symmetric heap can align to " +
                                                         common::bytes_text(most) + " at most; " +
                                                         common::bytes_text(align) + " was asked for.");
        return std::size_t{0};
    });
    if (bytes == 0) return {};
    const Meetings::Within within(world().meetings(), "allocate");
    // Completes this PE's stores. Users order what others see of the new block by their own synchronisation.
    complete_puts();
    world().agree(call_record("allocate", bytes, align, hint_bits, world().elements));
    reclaim_dropped();
    if (on_device) {
        gpu::DeviceMemory& device = devices_.open();
        const std::uint64_t serial = ++serials_;
        void* const block = device.allocate(bytes, align, serial);
        sites_.note(block, bytes);
        publish_use();
        return {block, false, serial};
    }
    std::lock_guard lock(mutex_);
    const auto block = heap_->allocate(bytes, align);
    if (!block) throw_exhausted(bytes, align);
    const std::uint64_t serial = ++serials_;
    serial_of_[block->offset] = serial;
    offset_of_[serial] = block->offset;
    sites_.note(mine_ + block->offset, bytes);
    job_.recorder->note(common::EventKind::allocate, bytes, block->offset);
    const bool zero = hand_out({block->offset, end_of(block->offset, bytes)});
    release_kept(bytes);
    publish_use();
    return {mine_ + block->offset, zero, serial};
}

Allocation SymmetricHeap::register_buffer(void* memory, std::size_t bytes) {
    const Meetings::Within within(world().meetings(), "register");
    complete_puts();
    world().agree(call_record("register", bytes));
    reclaim_dropped();
    gpu::DeviceMemory& device = devices_.open();
    const std::uint64_t serial = ++serials_;
    return {device.register_buffer(memory, bytes, serial), false, serial};
}

Job::Registered SymmetricHeap::register_range(void* memory, std::size_t bytes) {
    const Meetings::Within within(world().meetings(), "register");
    complete_puts();
    world().agree(call_record("register", bytes, 0, 0, 1));
    reclaim_dropped();
    gpu::DeviceMemory& device = devices_.open();
    const gpu::DeviceRange whole = device.enclosing(memory, bytes);
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(memory) - whole.begin);
    world().agree(call_record("register", whole.bytes, offset));
    const std::uint64_t serial = ++serials_;
    void* view = device.register_buffer(whole.begin, whole.bytes, serial);
    return {{view, false, serial}, static_cast<char*>(view) + offset};
}

void SymmetricHeap::reset_device_heap() {
    const Meetings::Within within(world().meetings(), "heap_reset");
    complete_puts();
    world().agree(call_record("heap_reset"));
    if (devices_.owned()) devices_.owned()->reset();
    publish_use();
    world().sync("heap_reset");
}

Allocation SymmetricHeap::zeroed(std::size_t bytes, std::size_t align, const AllocationHints& hints) {
    if (bytes == 0) return allocate(bytes, align, hints);
    const Meetings::Within within(world().meetings(), "allocate");
    const Allocation block = allocate(bytes, align, hints);
    if (hints.memory == Memory::device) try {
            devices_.owned()->fill_on_all(block.address, 0, bytes);
            return {block.address, true, block.serial};
        } catch (...) {
            sites_.note_freed(block.address);
            devices_.owned()->free(block.address);  // all PEs free it
            throw;
        }
    if (!block.zeroed) std::memset(block.address, 0, bytes);
    world().sync("calloc");
    return {block.address, true, block.serial};
}

/// Publishes the allocated bytes on the job board, for `atoll top`.
void SymmetricHeap::publish_use() const {
    common::BoardEntry& entry = job_.board().entry(job_.pe());
    entry.heap_used_bytes.store(heap_->used_bytes(), std::memory_order_relaxed);
    if (devices_.memory() == nullptr) return;
    const Job::DeviceHeapUse use = devices_.memory()->use();
    entry.gpu_used_bytes.store(use.used_bytes, std::memory_order_relaxed);
    entry.gpu_number.store(use.number, std::memory_order_relaxed);
}

void SymmetricHeap::throw_exhausted(std::size_t bytes, std::size_t align) const {
    throw Error(ErrorCode::out_of_memory,
                "The symmetric heap has no room for " + common::bytes_text(bytes) +
                    (align > memory::Allocator::granule ? " aligned to " + std::to_string(align) : "") +
                    ": of " + common::bytes_text(heap_->limit_bytes()) + " a PE " +
                    common::bytes_text(heap_->used_bytes()) + " are used, and the largest free block is " +
                    common::bytes_text(heap_->largest_free_bytes()) +
                    ". Raise ATOLL_HEAP_SIZE (or SHMEM_SYMMETRIC_SIZE), or free unused memory.");
}

std::size_t SymmetricHeap::checked_block(const void* block, const char* operation) const {
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(block) - mine_);
    if (job_.window().heap_holds(block, 1) && heap_->is_block(offset)) return offset;
    std::string what = std::string(operation) + " needs the start of a block of the symmetric heap; " +
                       common::address_text(block) + " is ";
    if (!job_.window().heap_holds(block, 1))
        what += "not in this PE's heap.";
    else if (const auto inside = heap_->find(offset))
        what += "inside a block of " + common::bytes_text(inside->bytes) + " that starts " +
                common::bytes_text(offset - inside->offset) + " before it." + site_text(block);
    else
        throw Error(ErrorCode::use_after_free,
                    what + "in no block that is allocated now; it was freed already." + site_text(block));
    throw Error(ErrorCode::not_symmetric, what);
}

/// A sentence that names the block at an address, for the end of an error: " Block: the 64 bytes allocated at
/// solver.c:12 (main+0x4f)." Empty if unknown.
std::string SymmetricHeap::site_text(const void* address) const {
    const std::string name = sites_.name(address);
    if (!name.empty()) return " Block: " + name + ".";
    const std::string freed = sites_.freed_name(address);
    return freed.empty() ? std::string() : " Block: " + freed + ", freed since.";
}

std::size_t SymmetricHeap::block_offset(const void* block, const char* operation) const {
    return devices_.holds(block) ? devices_.memory()->checked_block(block, operation)
                                 : checked_block(block, operation);
}

void SymmetricHeap::release_block(std::size_t offset) {
    const auto block = heap_->find(offset);
    heap_->free(offset);
    sites_.note_freed(mine_ + offset);
    if (block) keep_pages(offset, end_of(offset, block->bytes));
    if (const auto it = serial_of_.find(offset); it != serial_of_.end()) {
        offset_of_.erase(it->second);
        serial_of_.erase(it);
    }
}

/// Keeps a freed block's pages if allowed: new pages cost more than zeroing old ones
/// (docs/decisions/0007-keep-freed-pages.md).
void SymmetricHeap::keep_pages(std::size_t begin, std::size_t end) {
    if (end - begin >= counted_from_bytes) freed_->keep({begin, end});
    release_kept(0);
}

/// Returns kept pages beyond the limit, and as many as the host lacks for `need` new bytes. No PE writes
/// there meanwhile: kept pages are in no block, and no PE leaves the next allocation before this one joins
/// it.
void SymmetricHeap::release_kept(std::size_t need) {
    if (freed_->kept_bytes() == 0) return;
    const std::size_t most =
        memory::may_keep(keep_most_bytes_, freed_->kept_bytes(), need, memory_watch_.state());
    for (const memory::FreedPages::Range& range : freed_->take_beyond(most)) release_pages(range);
}

/// Unpins pages before it returns them: a GPU would otherwise keep the old pages mapped.
void SymmetricHeap::release_pages(memory::FreedPages::Range freed) {
    const auto release_unpinned = [&](gpu::PinnedHeap::Range range) {
        const auto release = [&](std::uint64_t begin, std::uint64_t end) {
            if (job_.mapping()->release_pages(mine_ + begin, end - begin)) freed_->note_zero({begin, end});
        };
        job_.transport() ? job_.transport()->release(range.begin, range.end, release)
                         : release(range.begin, range.end);
    };
    if (!devices_.owned()) return release_unpinned({freed.begin, freed.end});
    const auto unused = [&](gpu::PinnedHeap::Range range) {
        return heap_->is_unused(range.begin, range.end);
    };
    for (const gpu::PinnedHeap::Range& range :
         devices_.owned()->local().pinned().unpin({freed.begin, freed.end}, unused))
        release_unpinned(range);
}

void SymmetricHeap::pin(const void* block, std::size_t bytes) const {
    if (!devices_.memory())
        throw Error(ErrorCode::not_initialized,
                    "pin is for kernels of this PE's GPU, which is not open yet. Allocate memory on the GPU "
                    "first, on all PEs (Memory::device; in Python device=\"cuda\").");
    if (!job_.window().heap_holds(block, bytes)) {
        if (!job_.window().holds(block, bytes)) detail::throw_not_symmetric(job_.job_state(), block, bytes);
        throw Error(ErrorCode::unsupported,
                    "pin takes blocks of the host heap; " + common::address_text(block) +
                        " is static data of the program, which kernels do not reach.");
    }
    check_symmetric(block, bytes);
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(block) - mine_);
    if (bytes != 0) devices_.memory()->local().pinned().pin({offset, offset + bytes});
}

/// Also those into arrays of dropped teams, whose memory may be handed out.
void SymmetricHeap::complete_puts() {
    reserved_.complete_dropped_teams();
    world().context().quiet();
}

void SymmetricHeap::free(void* block) {
    if (!block) return;
    const bool on_device = devices_.holds(block);
    const std::size_t offset = checked_alike("free", [&] { return block_offset(block, "free"); });
    const Meetings::Within within(world().meetings(), "free");
    complete_puts();
    world().agree(call_record("free", offset, 0, on_device ? allocation_bits::device : 0));
    if (on_device) {
        sites_.note_freed(block);
        devices_.owned()->free(block);
        return publish_use();
    }
    job_.recorder->note(common::EventKind::free_, offset);
    std::lock_guard lock(mutex_);
    release_block(offset);
    publish_use();
}

void* SymmetricHeap::reallocate(void* block, std::size_t bytes) {
    if (!block) return allocate(bytes, 0, {}).address;
    if (bytes == 0) {
        free(block);
        return nullptr;
    }
    const bool on_device = devices_.holds(block);
    const std::size_t offset = checked_alike("realloc", [&] { return block_offset(block, "realloc"); });
    const Meetings::Within within(world().meetings(), "realloc");
    complete_puts();
    world().agree(call_record("realloc", offset, bytes, on_device ? allocation_bits::device : 0));
    if (on_device) {
        void* moved = devices_.owned()->reallocate(block, bytes);
        if (moved != block) sites_.note_freed(block);
        sites_.note(moved, bytes);
        publish_use();
        world().sync("realloc");
        return moved;
    }
    const std::size_t old_bytes = heap_->find(offset)->bytes;
    void* moved = block;
    {
        std::lock_guard lock(mutex_);
        if (heap_->resize(offset, bytes)) {
            const std::size_t old_end = end_of(offset, old_bytes), new_end = end_of(offset, bytes);
            if (new_end > old_end) static_cast<void>(hand_out({old_end, new_end}));
            if (new_end < old_end) keep_pages(new_end, old_end);
            sites_.note(block, bytes);
        } else {
            const auto fresh = heap_->allocate(bytes, 0);
            if (!fresh) throw_exhausted(bytes, 0);
            static_cast<void>(hand_out({fresh->offset, end_of(fresh->offset, bytes)}));
            moved = mine_ + fresh->offset;
            sites_.note(moved, bytes);
            std::memcpy(moved, block, std::min(old_bytes, bytes));
            const std::uint64_t serial = serial_of_[offset];
            release_block(offset);
            serial_of_[fresh->offset] = serial;
            offset_of_[serial] = fresh->offset;
        }
        job_.recorder->note(common::EventKind::free_, offset);
        job_.recorder->note(common::EventKind::allocate, bytes,
                            static_cast<std::uint64_t>(static_cast<const char*>(moved) - mine_));
        publish_use();
    }
    // A barrier on exit too: no PE may write into the new block before its owner has moved the old contents.
    world().sync("realloc");
    return moved;
}

void SymmetricHeap::drop(std::uint64_t serial) noexcept {
    std::lock_guard lock(dropped_mutex_);
    dropped_.push_back(serial);
}

bool SymmetricHeap::is_symmetric(const void* address, std::size_t bytes) const {
    if (is_in_listed_block(address, bytes)) return true;
    if (devices_.holds(address)) return devices_.memory()->is_allocated(address, bytes);
    if (!job_.window().heap_holds(address, bytes)) return job_.window().holds(address, bytes);
    std::lock_guard lock(mutex_);
    return heap_->holds(static_cast<std::size_t>(static_cast<const char*>(address) - mine_), bytes);
}

SymmetricHeap::BlockAround SymmetricHeap::block_around(const void* address) const {
    if (!job_.window().heap_holds(address, 1)) return {};
    const std::unique_lock lock(mutex_, std::try_to_lock);  // its holder may wait for other PEs
    if (!lock) return {};
    const auto block = heap_->find(static_cast<std::size_t>(static_cast<const char*>(address) - mine_));
    return block ? BlockAround{block->offset, block->bytes} : BlockAround{};
}

void SymmetricHeap::check_symmetric(const void* address, std::size_t bytes) const {
    if (is_in_listed_block(address, bytes)) [[likely]]
        return;
    if (devices_.memory() && devices_.memory()->holds(address))
        return devices_.memory()->check(address, bytes);
    if (!job_.window().holds(address, bytes)) detail::throw_not_symmetric(job_.job_state(), address, bytes);
    if (!job_.window().heap_holds(address, bytes)) return;
    std::lock_guard lock(mutex_);
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(address) - mine_);
    if (heap_->holds(offset, bytes)) return;  // before any text is built
    try {
        heap_->check(offset, bytes, common::bytes_text(bytes) + " at " + common::address_text(address),
                     "symmetric heap");
    } catch (const Error& error) {
        throw Error(error.code(), error.what() + site_text(address));
    }
}

Job::HeapUse SymmetricHeap::heap_use() const {
    std::lock_guard lock(mutex_);
    return {heap_->limit_bytes(), heap_->used_bytes(), heap_->largest_free_bytes(), heap_->blocks(),
            freed_->kept_bytes()};
}

}  // namespace atl::core
