// Copies of data of members that share no memory with this PE, fetched by the transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective/state.hpp"

namespace atl::collective {

struct FarPiece {
    int member;
    std::uint64_t offset;  ///< in its slot
    std::size_t bytes;
};

/// Call `for_me` or `for_all_here`; then `at(i)` is piece i until the next call.
class Fetch {
  public:
    Fetch(State& state, const core::Called& call) : state_(state), call_(call) {}

    /// Fetches for this PE alone.
    void for_me(const std::vector<FarPiece>& pieces);
    /// Fetches for all members of this PE's host, which pass the same pieces. Each fetches a share, so each
    /// byte is sent to a host once. Synchronizes these members.
    void for_all_here(const std::vector<FarPiece>& pieces);
    const char* at(std::size_t i) const { return base_ + starts_[i]; }

  private:
    std::size_t assign_starts(const std::vector<FarPiece>& pieces);
    void get(const FarPiece& piece, std::size_t lo, std::size_t hi, char* to) const;

    State& state_;
    const core::Called& call_;
    std::vector<std::size_t> starts_;
    std::vector<char> own_;
    const char* base_ = nullptr;
};

}  // namespace atl::collective
