#include "memory/freed_pages.hpp"

#include <algorithm>
#include <iterator>

namespace atl::memory {

namespace {

constexpr std::size_t page = 4096;          // the smallest page size
constexpr std::uint64_t reserve_part = 16;  // the part of the host's memory that is left to others

/// The first of these disjoint ranges that ends after `offset`.
template <class Ranges, class End> auto first_behind(Ranges& ranges, std::size_t offset, End end) {
    auto at = ranges.upper_bound(offset);
    if (at != ranges.begin() && end(std::prev(at)->second) > offset) --at;
    return at;
}

}  // namespace

bool FreedPages::hand_out(Range range) {
    const auto run = first_behind(zero_, range.begin, [](std::size_t end) { return end; });
    const bool all_zero = run != zero_.end() && run->first <= range.begin && run->second >= range.end;
    forget_zero(range);
    forget_kept(range);
    return all_zero;
}

void FreedPages::keep(Range range) {
    forget_kept(range);
    add_kept(range, ++ages_);
}

std::vector<FreedPages::Range> FreedPages::take_beyond(std::size_t most) {
    std::vector<Range> taken;
    while (kept_bytes_ > most) {
        const auto [age, begin] = *by_age_.begin();
        const std::size_t end = kept_.at(begin).end;
        const std::size_t excess = kept_bytes_ - most;
        // Release the tail: blocks are made at the lowest offset.
        const std::size_t cut = excess < end - begin ? std::max((end - excess) / page * page, begin) : begin;
        taken.push_back({cut, end});
        forget_kept({cut, end});
    }
    return taken;
}

void FreedPages::note_zero(Range range) {
    if (range.begin >= range.end) return;
    forget_zero(range);
    const auto next = zero_.find(range.end);
    if (next != zero_.end()) {
        range.end = next->second;
        zero_.erase(next);
    }
    const auto after = zero_.lower_bound(range.begin);
    if (after != zero_.begin() && std::prev(after)->second == range.begin)
        std::prev(after)->second = range.end;
    else
        zero_.emplace(range.begin, range.end);
}

void FreedPages::add_kept(Range range, std::uint64_t age) {
    if (range.begin >= range.end) return;
    kept_.emplace(range.begin, Kept{range.end, age});
    by_age_.emplace(age, range.begin);
    kept_bytes_ += range.end - range.begin;
}

void FreedPages::forget_kept(Range range) {
    for (auto at = first_behind(kept_, range.begin, [](const Kept& kept) { return kept.end; });
         at != kept_.end() && at->first < range.end;) {
        const auto [begin, kept] = *at;
        at = kept_.erase(at);
        by_age_.erase({kept.age, begin});
        kept_bytes_ -= kept.end - begin;
        add_kept({begin, range.begin}, kept.age);
        add_kept({range.end, kept.end}, kept.age);
    }
}

void FreedPages::forget_zero(Range range) {
    for (auto at = first_behind(zero_, range.begin, [](std::size_t end) { return end; });
         at != zero_.end() && at->first < range.end;) {
        const auto [begin, end] = *at;
        at = zero_.erase(at);
        if (begin < range.begin) zero_.emplace(begin, range.begin);
        if (end > range.end) zero_.emplace(range.end, end);
    }
}

std::size_t may_keep(std::size_t limit, std::size_t kept, std::size_t need,
                     const common::MemoryState& memory) {
    const std::uint64_t wanted = need + (memory.total / reserve_part);
    if (memory.available >= wanted) return limit;
    const std::uint64_t missing = wanted - memory.available;
    return missing >= kept ? 0 : std::min<std::size_t>(limit, kept - missing);
}

}  // namespace atl::memory
