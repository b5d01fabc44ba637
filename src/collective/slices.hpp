// Every PE works on a slice of everybody's data: it reads that slice of all sources and writes it to all
// targets. Nobody else touches the slice meanwhile, so targets may be the sources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collective/state.hpp"

namespace atl::collective {

struct SliceArguments {
    const void* src = nullptr;
    void* dst = nullptr;
    std::size_t bytes = 0;
    bool wants_result = true;  ///< false: dst is not looked at
};

/// Use: construct, `run(body)` once. `body(lo, hi)` works on bytes [lo, hi) of sources and targets; every
/// byte of the arguments is in the range of exactly one PE. Ordinary memory goes through staging, in pieces.
class Slices {
  public:
    Slices(State& state, const char* operation, const SliceArguments& mine);

    template <class Body> void run(Body&& body) {
        meet();
        do {
            const auto [lo, hi] = my_slice();
            if (lo < hi) body(lo, hi);
            state_.team().sync(operation_);
            copy_out();
        } while (next_piece());
    }

    const char* source(int member) const {
        return state_.at(member, line(member).src) + (line(member).staged & src_staged ? 0 : piece_lo_);
    }
    char* target(int member) const {
        return state_.at(member, line(member).dst) + (line(member).staged & dst_staged ? 0 : piece_lo_);
    }

  private:
    enum : std::uint32_t { src_staged = 1, dst_staged = 2, no_room = 4 };
    struct Line {
        std::uint64_t src, dst;
        std::uint32_t staged;
    };
    struct Range {
        std::size_t lo, hi;
    };
    const Line& line(int member) const {
        return *reinterpret_cast<const Line*>(state_.team().exchanged(member));
    }
    void meet();
    void copy_in();
    void copy_out();
    bool next_piece();
    std::size_t piece_bytes() const { return std::min(piece_, mine_.bytes - piece_lo_); }
    Range my_slice() const;

    State& state_;
    const char* operation_;
    SliceArguments mine_;
    Line my_line_{};
    std::size_t piece_ = half_bytes;
    std::size_t piece_lo_ = 0;
};

}  // namespace atl::collective
