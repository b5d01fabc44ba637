// A collective in which every PE handles one slice of the data: it reads that slice of all sources and writes
// it to all targets. No other PE accesses the slice meanwhile, so targets may be the sources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/fetch.hpp"
#include "collective/state.hpp"

namespace atl::collective {

struct SliceArguments {
    const void* src = nullptr;
    void* dst = nullptr;
    std::size_t bytes = 0;
    bool wants_result = true;  ///< false: dst is ignored
};

/// Construct it and call `run(body)` once. `body(lo, hi)` works on bytes [lo, hi) of sources and targets.
/// Every byte of the arguments is in the range of exactly one PE. Ordinary memory is staged in pieces.
class Slices {
  public:
    Slices(State& state, const core::Called& call, const SliceArguments& mine);

    template <class Body> void run(Body&& body) {
        meet();
        do {
            for (auto [lo, hi] = my_slice(); lo < hi;) {
                const std::size_t end = std::min(hi, lo + fetch(lo, hi));
                body(lo, end);
                send(lo, end);
                lo = end;
            }
            meet_after_piece();
            copy_out();
        } while (next_piece());
        leave();
    }

    /// The address of a member's source at `at`, which must be in the range of the calling body.
    const char* source(int member, std::size_t at) const {
        if (state_.is_far(member)) [[unlikely]]
            return fetched(member) + (at - fetched_lo_);
        return state_.at(member, source_offset(member)) + at;
    }
    /// Undefined for members on other hosts.
    char* target(int member) const { return state_.at(member, target_offset(member)); }
    /// Writes to all members that want a result.
    void write(std::size_t at, const char* data, std::size_t bytes);

  private:
    enum : unsigned { src_staged = 1, dst_staged = 2, no_room = 4, wanted = 8 };
    struct Line {
        ArrayLocation src, dst;  ///< `src` with the flags of both
        std::uint64_t bytes;

        unsigned staged() const { return src.flags() & (src_staged | dst_staged | no_room); }
        bool wants_result() const { return (src.flags() & wanted) != 0; }
    };
    struct Range {
        std::size_t lo, hi;
    };
    const Line& line(int member) const {
        return *reinterpret_cast<const Line*>(state_.team().exchanged(member));
    }
    std::uint64_t source_offset(int member) const {
        return line(member).src.offset() + (line(member).staged() & src_staged ? 0 : piece_lo_);
    }
    std::uint64_t target_offset(int member) const {
        return line(member).dst.offset() + (line(member).staged() & dst_staged ? 0 : piece_lo_);
    }
    /// Fetches the sources of other hosts from `lo` on; returns the number of bytes fetched.
    std::size_t fetch(std::size_t lo, std::size_t hi) {
        return state_.spread() ? fetch_far(lo, hi) : hi - lo;
    }
    std::size_t fetch_far(std::size_t lo, std::size_t hi);
    const char* fetched(int member) const;
    void send(std::size_t lo, std::size_t hi) {
        if (state_.spread()) [[unlikely]]
            send_far(lo, hi);
    }
    void send_far(std::size_t lo, std::size_t hi);
    void meet_after_piece();
    void pass_on();
    void leave();
    int receiver(int part, int writer) const;
    Range slice_of(int member) const;
    void check(int member) const;
    void meet();
    void copy_in();
    void copy_out();
    bool next_piece();
    std::size_t piece_bytes() const { return std::min(piece_, mine_.bytes - piece_lo_); }
    Range my_slice() const { return slice_of(state_.my_pe()); }

    State& state_;
    const core::Called& call_;
    SliceArguments mine_;
    Line my_line_{};
    std::size_t piece_ = half_bytes;
    std::size_t piece_lo_ = 0;
    // Only between hosts:
    Fetch fetch_;
    std::vector<FarPiece> pieces_;
    std::size_t fetched_lo_ = 0;
    std::vector<char> out_;  ///< results that go to other hosts
};

}  // namespace atl::collective
