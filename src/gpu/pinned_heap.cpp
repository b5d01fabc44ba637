#include "gpu/pinned_heap.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"
#include "memory/round_up.hpp"

#include <algorithm>
#include <iterator>

namespace atl::gpu {

std::map<std::size_t, std::size_t>::const_iterator PinnedHeap::run_at(std::size_t offset) const {
    const auto next = runs_.upper_bound(offset);
    if (next == runs_.begin()) return next;
    const auto run = std::prev(next);
    return offset < run->second ? run : next;
}

void PinnedHeap::show(Range run) {
    char* const pages = heap_ + run.begin;
    const void* seen = gpu_.show(pages, run.end - run.begin);
    if (seen != pages) {
        gpu_.hide(pages);
        throw Error(
            ErrorCode::unsupported,
            "This GPU maps pinned host memory at other addresses (" + common::address_text(seen) + " for " +
                common::address_text(pages) +
                "), so kernels cannot use those of the host heap. Keep words that kernels wait for in the "
                "device heap.");
    }
    runs_[run.begin] = run.end;
    n_runs_.store(runs_.size(), std::memory_order_release);
}

void PinnedHeap::pin(Range range) {
    const std::lock_guard lock(mutex_);
    const std::size_t end = std::min(memory::round_up(range.end, chunk_bytes), bytes_);
    for (std::size_t at = range.begin / chunk_bytes * chunk_bytes; at < end;) {
        const auto run = run_at(at);
        if (run != runs_.end() && run->first <= at) {
            at = run->second;
            continue;
        }
        const std::size_t until = run == runs_.end() ? end : std::min(end, run->first);
        show({at, until});
        at = until;
    }
}

std::vector<PinnedHeap::Range> PinnedHeap::unpin(Range freed, const std::function<bool(Range)>& unused) {
    const std::lock_guard lock(mutex_);
    std::vector<Range> free;
    for (auto run = run_at(freed.begin); run != runs_.end() && run->first < freed.end;) {
        const Range here{run->first, run->second};
        if (unused(here)) {
            gpu_.hide(heap_ + here.begin);
            run = runs_.erase(run);
            freed = {std::min(freed.begin, here.begin), std::max(freed.end, here.end)};
        } else {
            if (freed.begin < here.begin) free.push_back({freed.begin, here.begin});
            freed.begin = here.end;
            ++run;
        }
    }
    n_runs_.store(runs_.size(), std::memory_order_release);
    if (freed.begin < freed.end) free.push_back(freed);
    return free;
}

bool PinnedHeap::covers(const void* address, std::size_t bytes) const {
    const std::size_t begin = offset_of(address);
    if (n_runs_.load(std::memory_order_acquire) == 0 || begin >= bytes_) return false;
    const std::lock_guard lock(mutex_);
    std::size_t at = begin;
    for (auto run = run_at(begin); run != runs_.end() && run->first <= at; ++run) {
        at = run->second;
        if (at - begin >= bytes) return true;
    }
    return false;
}

std::size_t PinnedHeap::piece(const void* address, std::size_t bytes) const {
    const std::size_t begin = offset_of(address);
    if (n_runs_.load(std::memory_order_acquire) == 0 || begin >= bytes_) return bytes;
    const std::lock_guard lock(mutex_);
    const auto run = run_at(begin);
    if (run == runs_.end()) return bytes;
    return std::min(bytes, (run->first <= begin ? run->second : run->first) - begin);
}

}  // namespace atl::gpu
