// Read access to the other members' sources: in place if symmetric, else piece by piece from their staging
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/fetch.hpp"
#include "collective/state.hpp"

namespace atl::collective {

/// This PE's source: `blocks` blocks; each piece covers the same range of all of them.
struct Source {
    const void* data = nullptr;
    std::size_t blocks = 1;
    std::size_t block_bytes = 0;
    bool contributes = true;  ///< false: no member reads it
    bool staged = false;      ///< goes through staging even if it is symmetric
    bool any_size = false;    ///< members' blocks may differ in size, as those of collect do
    /// The distance of a block's elements (alltoalls; the block is then staged). 0: a block is contiguous.
    std::size_t element_bytes = 0;
    std::ptrdiff_t stride = 1;
};

/// The part that `body` reads: block `block` of members [first, first + count). Used only if members are on
/// several hosts.
struct Reads {
    int first = 0;
    int count = -1;  ///< -1: all from `first` on
    std::size_t block = 0;
    bool agreed = true;  ///< all members of the team read the same
    int most = -1;       ///< the largest `count` of any member; -1: all
};

/// Construct it and call `run(body)` once. While `body` runs, `at(i, k)` is range [lo, lo + length(i)) of
/// block k of member i. Without staging there is one piece.
class Sources {
  public:
    Sources(State& state, const core::Called& call, const Source& mine, const Reads& reads = {});

    /// Synchronizes, calls `body` for every piece, and returns when this PE's source may be reused.
    template <class Body> void run(Body&& body) {
        meet();
        do {
            fetch();
            body();
        } while (next_piece());
        finish();
    }

    /// The parts of `run`, for callers that use the others' arguments before they read.
    void meet();
    void fetch() {
        if (state_.spread()) [[unlikely]]
            fetch_far();
    }
    bool next_piece();
    void finish();

    std::size_t lo() const { return lo_; }
    std::size_t length(int member) const {
        const std::size_t bytes = line(member).block_bytes;
        return bytes <= lo_ ? 0 : std::min(bytes - lo_, piece_);
    }
    const char* at(int member, std::size_t block) const {
        if (state_.is_far(member)) [[unlikely]]
            return fetched(member);
        return state_.at(member, offset_of(member, block));
    }
    std::size_t block_bytes(int member) const { return line(member).block_bytes; }

  private:
    enum : unsigned { kind_mask = 3, many_blocks = 4, second_half = 8 };
    enum class Kind : std::uint8_t { none, in_place, staged, no_room };
    struct Line {
        ArrayLocation location;
        std::uint64_t block_bytes;

        Kind kind() const { return static_cast<Kind>(location.flags() & kind_mask); }
        unsigned half() const { return (location.flags() & second_half) != 0 ? 1 : 0; }
    };
    const Line& line(int member) const {
        return *reinterpret_cast<const Line*>(state_.team().exchanged(member));
    }
    /// The offset of a piece of a member's block in its slot.
    std::uint64_t offset_of(int member, std::size_t block) const {
        const Line& theirs = line(member);
        if (theirs.kind() == Kind::in_place)
            return theirs.location.offset() + block * theirs.block_bytes + lo_;
        return theirs.location.offset() + ((theirs.half() + turn_) & 1) * half_bytes + block * piece_;
    }
    void say(Kind kind, const void* data, unsigned half);
    void check(int member) const;
    void copy_in();
    void fetch_far();
    const char* fetched(int member) const;

    State& state_;
    const core::Called& call_;
    Source mine_;
    Reads reads_;
    std::size_t most_ = SIZE_MAX;  ///< bytes of a block that are fetched from other hosts at once
    Fetch fetch_;
    std::vector<FarPiece> pieces_;
    Line my_line_{};
    std::size_t piece_;  ///< bytes of each block's piece
    std::size_t lo_ = 0;
    std::size_t end_ = 0;     ///< end of the longest block
    std::uint32_t turn_ = 0;  ///< pieces done
    bool in_place_ = false;   ///< some member's source is read in place
};

/// Copies [lo, lo + length) of a block whose elements are `stride` apart to `dst`, without gaps; and back.
void gather_strided(char* dst, const char* block, std::size_t element_bytes, std::ptrdiff_t stride,
                    std::size_t lo, std::size_t length);
void scatter_strided(char* block, const char* src, std::size_t element_bytes, std::ptrdiff_t stride,
                     std::size_t lo, std::size_t length);

}  // namespace atl::collective
