#include "memory/process_heap.hpp"

#include "atoll/error.hpp"
#include "common/machine.hpp"
#include "common/settings/settings.hpp"
#include "common/text.hpp"
#include "memory/round_up.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

namespace atl::memory {
namespace {

constexpr const char* purpose = "symmetric tensors";
std::atomic<ProcessHeap*> the_heap{nullptr};

/// The limit by the settings. By default all memory of the machine, since only touched pages take space.
std::size_t limit_by_settings() {
    if (const std::uint64_t wanted = common::read_settings().heap_bytes; wanted != 0) return wanted;
    std::uint64_t bytes = common::memory_limit_bytes();
    rlimit file{};
    if (::getrlimit(RLIMIT_FSIZE, &file) == 0) bytes = std::min<std::uint64_t>(bytes, file.rlim_cur);
    return bytes;
}

}  // namespace

// ---- HeapView

std::shared_ptr<HeapView> HeapView::of(const std::string& address) {
    static std::mutex mutex;
    static auto& known = *new std::map<std::string, std::weak_ptr<HeapView>>;
    if (ProcessHeap* const mine = ProcessHeap::existing(); mine && mine->view()->address() == address)
        return mine->view();
    const std::lock_guard lock(mutex);
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<HeapView>& entry = known[address];
    std::shared_ptr<HeapView> view = entry.lock();
    if (!view) entry = view = std::make_shared<HeapView>(SharedFile::join(address, purpose));
    return view;
}

bool HeapView::has_ended() {
    const std::lock_guard lock(mutex_);
    return watch_.has_ended();
}

// ---- BlockHold

BlockHold::BlockHold(std::shared_ptr<HeapView> heap, std::size_t offset)
    : heap_(std::move(heap)), offset_(offset), process_(::getpid()) {
    head_of(data()).holders.fetch_add(1, std::memory_order_acq_rel);
}

BlockHold& BlockHold::operator=(BlockHold&& other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(offset_, other.offset_);
    std::swap(process_, other.process_);
    return *this;
}

void BlockHold::release() {
    if (!heap_ || process_ != ::getpid()) return;
    head_of(data()).holders.fetch_sub(1, std::memory_order_acq_rel);
    heap_.reset();
}

// ---- ProcessHeap

ProcessHeap::ProcessHeap(std::size_t limit_bytes)
    : limit_(round_up(std::max<std::size_t>(limit_bytes, page), page)),
      view_(std::make_shared<HeapView>(SharedFile::create(page + limit_, purpose))),
      process_(::getpid()),
      allocator_(limit_),
      pages_(limit_) {}

ProcessHeap* ProcessHeap::existing() noexcept { return the_heap.load(std::memory_order_acquire); }

ProcessHeap& ProcessHeap::mine() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (existing() == nullptr) the_heap.store(new ProcessHeap(limit_by_settings()));
    return *existing();  // never destroyed: tensors may outlive static objects
}

void ProcessHeap::check_process() const {
    if (::getpid() != process_)
        throw Error(
            ErrorCode::unsupported,
            "This process was forked after its parent had made symmetric tensors; only the parent can "
            "make more. Start new processes instead.");
}

void ProcessHeap::refuse(std::size_t bytes) const {
    throw Error(ErrorCode::out_of_memory,
                "There is no room for a symmetric tensor of " + common::bytes_text(bytes) + ": " +
                    common::bytes_text(allocator_.used_bytes()) + " of " + common::bytes_text(limit_) +
                    " are in use, and the largest free block has " +
                    common::bytes_text(allocator_.largest_free_bytes()) +
                    ". Drop tensors, or raise ATOLL_HEAP_SIZE (by default the memory of the machine); only "
                    "pages in use take memory.");
}

ProcessHeap::Block ProcessHeap::allocate(std::size_t bytes, std::size_t pad_bytes) {
    const std::lock_guard lock(mutex_);
    check_process();
    sweep();
    const std::size_t front = pad_distance(pad_bytes);
    // The size may have been computed from a negative number.
    if (bytes > limit_) refuse(bytes);
    const auto found = allocator_.allocate(front + bytes, 64);
    if (!found) refuse(bytes);
    pages_.hand_out({found->offset, found->offset + front + bytes});
    const Block block{page + found->offset + front, bytes, pad_bytes};
    std::memset(at(pad_offset(block)), 0, front);
    blocks_.emplace(block.offset, block);
    return block;
}

void ProcessHeap::free(std::size_t offset) {
    const std::lock_guard lock(mutex_);
    if (::getpid() != process_) return;
    const auto it = blocks_.find(offset);
    if (it == blocks_.end()) return;
    leaving_.push_back(it->second);
    blocks_.erase(it);
    sweep();
}

/// Gives back the freed blocks that no process holds any more.
void ProcessHeap::sweep() {
    std::erase_if(leaving_, [&](const Block& block) {
        if (head_of(at(block.offset)).holders.load(std::memory_order_acquire) != 0) return false;
        drop(block);
        return true;
    });
}

void ProcessHeap::drop(const Block& block) {
    const std::size_t begin = pad_offset(block) - page;
    const std::size_t end = block.offset - page + block.bytes;
    allocator_.free(begin);
    // Keeps pages that other blocks share.
    const FreedPages::Range inner{round_up(begin, page), end / page * page};
    if (inner.begin >= inner.end) return;
    pages_.keep(inner);
    for (const FreedPages::Range& range : pages_.take_beyond(limit_ / 8))
        if (::madvise(at(page + range.begin), range.end - range.begin, MADV_REMOVE) == 0)
            pages_.note_zero(range);
}

std::optional<ProcessHeap::Block> ProcessHeap::find(const void* address) {
    if (!view_->contains(address, 0)) return {};
    const std::size_t offset = view_->offset_of(address);
    const std::lock_guard lock(mutex_);
    auto it = blocks_.upper_bound(offset);
    if (it == blocks_.begin()) return {};
    const Block& block = (--it)->second;
    if (offset != block.offset && offset >= block.offset + block.bytes) return {};
    return block;
}

std::size_t ProcessHeap::used_bytes() {
    const std::lock_guard lock(mutex_);
    sweep();
    return allocator_.used_bytes();
}

}  // namespace atl::memory
