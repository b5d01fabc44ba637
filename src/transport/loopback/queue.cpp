#include "transport/loopback/queue.hpp"

#include "atoll/detail/memory_ops.hpp"
#include "transport/apply_atomic.hpp"

#include <cstring>

namespace atl::transport::loopback {
namespace {

/// The limit of delayed operations: a longer delay would find no further mistakes, only use memory.
constexpr std::size_t most_operations = 256;

/// Copies the upper half first. A program that polls the last byte (or the first) to see whether all have
/// arrived is wrong; most poll the last. Aligned words are copied whole.
void copy_upside_down(void* dst, const void* src, std::size_t bytes) {
    if (bytes <= 64) return detail::copy(dst, src, bytes);
    const auto start = reinterpret_cast<std::uintptr_t>(dst);
    const std::size_t lower = ((start + bytes / 2) & ~std::uintptr_t{15}) - start;
    std::memcpy(static_cast<char*>(dst) + lower, static_cast<const char*>(src) + lower, bytes - lower);
    std::memcpy(dst, src, lower);
}

}  // namespace

void Queue::put(std::uint64_t offset, const void* src, std::size_t bytes, Completion completion) {
    Operation operation{.kind = Kind::put, .offset = offset, .bytes = bytes, .src = src};
    if (completion != Completion::at_quiet) {
        operation.copy = std::make_unique_for_overwrite<char[]>(bytes);
        std::memcpy(operation.copy.get(), src, bytes);
        operation.src = operation.copy.get();
    }
    const std::lock_guard lock(mutex_);
    add(std::move(operation));
}

void Queue::get(std::uint64_t offset, void* dst, std::size_t bytes, Completion completion) {
    const std::lock_guard lock(mutex_);
    if (completion == Completion::at_quiet)
        return add({.kind = Kind::get, .offset = offset, .bytes = bytes, .dst = dst});
    // Earlier puts of this PE need not have arrived yet, so they have not. They are delivered afterwards, so
    // that a program that polls by get proceeds.
    detail::copy(dst, base_ + offset, bytes);
    deliver();
}

std::uint64_t Queue::atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                            std::uint64_t compare) {
    check_atomic(op, type);
    const std::lock_guard lock(mutex_);
    if (!is_fetching(op)) {
        add({.kind = Kind::atomic, .op = op, .type = type, .offset = offset, .value = value});
        return 0;
    }
    // The atomic is carried out at once, after all that precedes a fence. The rest is delivered afterwards,
    // as for get.
    if (!fences_.empty()) deliver_epochs(fences_.back());
    const std::uint64_t before = apply_atomic(op, type, base_ + offset, value, compare);
    deliver();
    return before;
}

void Queue::fence() {
    const std::lock_guard lock(mutex_);
    const bool is_noted = !fences_.empty() && fences_.back() == operations_.size();
    if (!operations_.empty() && !is_noted) fences_.push_back(operations_.size());
}

void Queue::deliver_all() {
    const std::lock_guard lock(mutex_);
    deliver();
}

void Queue::try_deliver_all() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) deliver();
}

void Queue::add(Operation operation) {
    if (operations_.size() == most_operations) deliver();
    operations_.push_back(std::move(operation));
    pending_->fetch_add(1, std::memory_order_relaxed);
}

void Queue::deliver() { deliver_epochs(operations_.size()); }

/// Carries out the first `end` operations. Between two fences the last one comes first.
void Queue::deliver_epochs(std::size_t end) {
    if (end == 0) return;
    std::size_t start = 0;
    std::size_t done_fences = 0;
    while (start < end) {
        std::size_t stop = end;
        if (done_fences < fences_.size() && fences_[done_fences] <= end) stop = fences_[done_fences++];
        for (std::size_t i = stop; i > start; --i) carry_out(operations_[i - 1]);
        // Makes this epoch visible before the next to PEs that poll without a lock.
        std::atomic_thread_fence(std::memory_order_release);
        start = stop;
    }
    operations_.erase(operations_.begin(), operations_.begin() + static_cast<std::ptrdiff_t>(end));
    fences_.erase(fences_.begin(), fences_.begin() + static_cast<std::ptrdiff_t>(done_fences));
    for (std::size_t& fence : fences_) fence -= end;
    pending_->fetch_sub(end, std::memory_order_relaxed);
}

void Queue::carry_out(const Operation& operation) {
    char* remote = base_ + operation.offset;
    switch (operation.kind) {
        case Kind::put:
            return copy_upside_down(remote, operation.src, operation.bytes);
        case Kind::get:
            return copy_upside_down(operation.dst, remote, operation.bytes);
        case Kind::atomic:
            apply_atomic(operation.op, operation.type, remote, operation.value, 0);
            return;
    }
}

}  // namespace atl::transport::loopback
