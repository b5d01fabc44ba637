// KernelRanges: ranges of memory that kernels use, one for each team, assigned by all members of a team.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace atl::gpu {

/// The ranges of one PE. Members of a new team propose their lowest free range, and then later ones, until
/// all propose the same.
class KernelRanges {
  public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};
    /// Ranges are whole units, so that no two share a line of a cache.
    static constexpr std::uint64_t unit_bytes = 128;

    /// Adds `bytes` free bytes from offset 0. Called once, before the first range is taken.
    void open(std::uint64_t bytes);
    /// Takes the lowest free range of `bytes` that begins at `from` or later. Returns its offset, or none.
    std::uint64_t take(std::uint64_t bytes, std::uint64_t from = 0);
    /// Frees a range. Its memory must be zero again. Nothing is freed at offset `none`.
    void release(std::uint64_t offset, std::uint64_t bytes);
    std::uint64_t free_bytes() const;

  private:
    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::uint64_t> free_;  ///< begin → end, never adjacent
};

/// A range that is given back unless it is kept.
class KernelRange {
  public:
    explicit KernelRange(KernelRanges& ranges) : ranges_(ranges) {}
    ~KernelRange() { drop(); }
    KernelRange(const KernelRange&) = delete;
    KernelRange& operator=(const KernelRange&) = delete;
    /// Replaces the range by the lowest one of `bytes` from `from` on; see offset().
    void take(std::uint64_t bytes, std::uint64_t from) {
        drop();
        offset_ = ranges_.take(bytes, from);
        bytes_ = bytes;
    }
    void drop() { ranges_.release(std::exchange(offset_, KernelRanges::none), bytes_); }
    std::uint64_t offset() const { return offset_; }
    /// Leaves the range to the caller.
    std::uint64_t keep() { return std::exchange(offset_, KernelRanges::none); }

  private:
    KernelRanges& ranges_;
    std::uint64_t offset_ = KernelRanges::none, bytes_ = 0;
};

}  // namespace atl::gpu
