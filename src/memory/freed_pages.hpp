// FreedPages: the free parts of a heap: pages kept for later blocks, and bytes that are known to be zero.
#pragma once

#include "common/memory_watch.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace atl::memory {

/// Records the free ranges of one PE's heap, by offset. It does not touch memory: the caller returns pages to
/// the system and then reports this here.
class FreedPages {
  public:
    struct Range {
        std::size_t begin, end;
    };

    /// A new heap is all zero, and keeps no pages.
    explicit FreedPages(std::size_t heap_bytes) { zero_.emplace(0, heap_bytes); }

    /// Records that a block was made of the range. True if all of it is known to be zero.
    bool hand_out(Range range);
    /// Records that a block of this range was freed and its pages are kept.
    void keep(Range range);
    /// Forgets kept ranges, the oldest first, until at most `most` bytes are kept; returns them.
    std::vector<Range> take_beyond(std::size_t most);
    /// Records that the range is in no block, and reads as zero.
    void note_zero(Range range);

    std::size_t kept_bytes() const { return kept_bytes_; }

  private:
    struct Kept {
        std::size_t end;
        std::uint64_t age;
    };
    void add_kept(Range range, std::uint64_t age);
    void forget_kept(Range range);
    void forget_zero(Range range);

    std::map<std::size_t, Kept> kept_;                        // begin → end
    std::set<std::pair<std::uint64_t, std::size_t>> by_age_;  // (age, begin)
    std::map<std::size_t, std::size_t> zero_;                 // begin → end, neighbours merged
    std::size_t kept_bytes_ = 0;
    std::uint64_t ages_ = 0;
};

/// Returns the bytes that a PE may keep: at most `limit`. Fewer if a block of `need` bytes would leave the
/// host less than a sixteenth of its memory.
std::size_t may_keep(std::size_t limit, std::size_t kept, std::size_t need,
                     const common::MemoryState& memory);

}  // namespace atl::memory
