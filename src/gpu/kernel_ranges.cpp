#include "gpu/kernel_ranges.hpp"
#include "memory/round_up.hpp"

#include <algorithm>
#include <iterator>

namespace atl::gpu {

namespace {

constexpr std::uint64_t whole_units(std::uint64_t bytes) {
    return memory::round_up(bytes, KernelRanges::unit_bytes);
}

}  // namespace

void KernelRanges::open(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes >= unit_bytes) free_[0] = bytes / unit_bytes * unit_bytes;
}

std::uint64_t KernelRanges::take(std::uint64_t bytes, std::uint64_t from) {
    const std::uint64_t size = whole_units(bytes);
    const std::lock_guard lock(mutex_);
    for (auto it = free_.begin(); it != free_.end(); ++it) {
        const auto [begin, end] = *it;
        const std::uint64_t at = std::max(begin, whole_units(from));
        if (at > end || end - at < size) continue;
        free_.erase(it);
        if (at > begin) free_[begin] = at;
        if (at + size < end) free_[at + size] = end;
        return at;
    }
    return none;
}

void KernelRanges::release(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (offset == none) return;
    std::uint64_t end = offset + whole_units(bytes);
    const auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == end) {
        end = next->second;
        free_.erase(next);
    }
    const auto after = free_.lower_bound(offset);
    if (after != free_.begin() && std::prev(after)->second == offset)
        std::prev(after)->second = end;
    else
        free_[offset] = end;
}

std::uint64_t KernelRanges::free_bytes() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [begin, end] : free_) sum += end - begin;
    return sum;
}

}  // namespace atl::gpu
